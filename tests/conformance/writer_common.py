"""What the tests of the writer share: reading events back, and telling whether two events are the same.

"Same" is strict: equal bytes but for the wall time. Where that can't be (PNG encoders differ, map entries come
in any order) the events are compared as messages, pictures by their pixels.
"""

import glob
import io
import os

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")

import numpy as np
import PIL.Image
import tensorflow as tf
from tensorboard.compat.proto import event_pb2

import sbctypes as sb

TIME_BYTES = 9  # key and value of wall_time, the first field of every event


def records(logdir):
    """All payloads of the directory's event files, in order of name, with TensorFlow's own reader."""
    found = []
    for path in sorted(glob.glob(os.path.join(str(logdir), "*tfevents*"))):
        if not path.endswith(".profile-empty"):
            found += list(tf.compat.v1.io.tf_record_iterator(path))
    return found


def events(logdir):
    """The events behind the header, parsed."""
    return [event_pb2.Event.FromString(record) for record in records(logdir)[1:]]


def timeless(record):
    assert record[0] == 0x09, "the first field of an event is its wall time"
    return record[TIME_BYTES:]


def write(tmp_path, style, call, name="ours"):
    """The records of one call (or several) of our writer."""
    logdir = tmp_path / name
    with sb.Writer(logdir, style) as writer:
        call(writer)
    return records(logdir)[1:]


def assert_same_bytes(ours, real):
    assert len(ours) == len(real)
    for mine, theirs in zip(ours, real):
        mine, theirs = timeless(mine), timeless(theirs)
        if mine != theirs:
            shown = [str(event_pb2.Event.FromString(data)) for data in (mine, theirs)]
            assert shown[0] == shown[1]
            assert mine.hex() == theirs.hex()


def pixels_of(data):
    image = PIL.Image.open(io.BytesIO(data))
    frames = []
    for index in range(getattr(image, "n_frames", 1)):
        image.seek(index)
        frames.append(np.asarray(image.convert("RGBA")))
    return image.mode, np.stack(frames)


def take_pictures(event):
    """The pictures of an event, which are taken out of it."""
    found = []
    for value in event.summary.value:
        if value.HasField("image"):
            found.append(value.image.encoded_image_string)
            value.image.encoded_image_string = b""
        if value.metadata.plugin_data.plugin_name == "images":
            found += value.tensor.string_val[2:]
            del value.tensor.string_val[2:]
    return found


def assert_same_pictures(ours, real):
    """Equal events but for the encoding of pictures, which have equal pixels and the same mode."""
    assert len(ours) == len(real)
    for mine, theirs in zip(ours, real):
        mine, theirs = event_pb2.Event.FromString(mine), event_pb2.Event.FromString(theirs)
        mine.wall_time = theirs.wall_time = 0
        pictures = take_pictures(mine), take_pictures(theirs)
        assert mine == theirs
        assert len(pictures[0]) == len(pictures[1])
        for left, right in zip(*pictures):
            (left_mode, left), (right_mode, right) = pixels_of(left), pixels_of(right)
            assert left_mode == right_mode
            np.testing.assert_array_equal(left, right)


def assert_same_messages(ours, real, parse_content):
    """Equal events where the plugin's content is a message with a map, whose entries have no order."""
    assert len(ours) == len(real)
    for mine, theirs in zip(ours, real):
        assert len(mine) == len(theirs)
        mine, theirs = event_pb2.Event.FromString(mine), event_pb2.Event.FromString(theirs)
        mine.wall_time = theirs.wall_time = 0
        for left, right in zip(mine.summary.value, theirs.summary.value):
            assert parse_content(left.metadata.plugin_data.content) == parse_content(
                right.metadata.plugin_data.content
            )
            left.metadata.plugin_data.content = right.metadata.plugin_data.content = b""
        assert mine == theirs


def random_arrays():
    """Values for histograms: name, array. Several types, shapes and kinds of spread."""
    rng = np.random.default_rng(7)
    normal = rng.normal(size=5000)
    return {
        "normal_float32": normal.astype(np.float32),
        "normal_float64": normal,
        "shifted": normal * 1e-3 + 100,
        "tiny": normal * 1e-13,
        "huge": normal * 1e19,
        "beyond_the_edges": np.concatenate([normal * 1e25, normal]),
        "log_uniform": np.exp(rng.uniform(-60, 60, 4000)) * rng.choice([-1, 1], 4000),
        "half": normal.astype(np.float16),
        "int8": rng.integers(-128, 127, (10, 20), np.int8),
        "uint8": rng.integers(0, 255, (3, 4, 5), np.uint8),
        "int16": rng.integers(-30000, 30000, 777, np.int16),
        "int32": rng.integers(-(2**31), 2**31 - 1, 300, np.int32),
        "int64": rng.integers(-(2**62), 2**62, 300, np.int64),
        "uint16": rng.integers(0, 65535, 100, np.uint16),
        "uint32": rng.integers(0, 2**32 - 1, 100, np.uint32),
        "uint64": rng.integers(0, 2**63, 100, np.uint64),
        "one_value": np.array([3.25]),
        "scalar": np.float32(-2.5),
        "all_the_same": np.full(17, 0.1, np.float32),
        "zeros": np.zeros(9, np.float32),
        "two_values": np.array([0.0, 1.0]),
        "integers_on_edges": np.arange(31.0),
        "negative": -np.abs(normal),
        "edges_themselves": 1e-12 * 1.1 ** np.arange(700),
        "many": rng.normal(size=200001).astype(np.float32),
    }
