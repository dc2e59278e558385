"""What two log directories hold, as real TensorBoard reads it, and whether it is the same.

Runs, tags, steps, values and metadata are compared exactly. Pictures are compared by their pixels, since encoders
differ; the last bits of a histogram's sum of squares are numpy's own; messages with maps are compared as messages.
"""

import io
import os
import wave

import numpy as np
import PIL.Image
from tensorboard.backend.event_processing import event_accumulator
from tensorboard.backend.event_processing.event_file_loader import RawEventFileLoader
from tensorboard.compat.proto import event_pb2, graph_pb2
from tensorboard.plugins.hparams import plugin_data_pb2

ALL = {kind: 0 for kind in ("scalars", "histograms", "compressedHistograms", "images", "audio", "tensors")}


def runs(logdir):
    """{run: sorted paths of its event files}"""
    found = {}
    for folder, _, files in os.walk(str(logdir)):
        paths = sorted(os.path.join(folder, name) for name in files if "tfevents" in name)
        if paths:
            found[os.path.relpath(folder, str(logdir))] = paths
    return found


def events(logdir):
    """{run: events, in the order of the files and as written}; headers are left out."""
    found = {}
    for run, paths in runs(logdir).items():
        all_of = [event_pb2.Event.FromString(record) for path in paths for record in RawEventFileLoader(path).Load()]
        found[run] = [event for event in all_of if not event.HasField("file_version") or event.step]
    return found


def pixels(data):
    """Mode and frames of an encoded picture."""
    image = PIL.Image.open(io.BytesIO(data))
    frames = []
    for index in range(getattr(image, "n_frames", 1)):
        image.seek(index)
        frames.append(np.asarray(image.convert("RGBA")))
    return image.mode, np.stack(frames).tolist()


def samples(data):
    with wave.open(io.BytesIO(data)) as clip:
        return clip.getparams(), clip.readframes(clip.getnframes())


def plain_value(value):
    """A summary's value as something that == compares."""
    value = type(value).FromString(value.SerializeToString())
    kept = {"tag": value.tag}
    if value.HasField("image"):
        kept["picture"] = pixels(value.image.encoded_image_string) if value.image.encoded_image_string else None
        value.image.encoded_image_string = b""
    if value.HasField("audio"):
        kept["sound"] = samples(value.audio.encoded_audio_string)
        value.audio.encoded_audio_string = b""
    if value.HasField("histo"):
        kept["sum of squares"] = f"{value.histo.sum_squares:.9g}"
        value.histo.sum_squares = 0
    name = value.metadata.plugin_data.plugin_name
    if name == "images" and value.HasField("tensor"):
        kept["pictures"] = [pixels(data) for data in value.tensor.string_val[2:]]
        del value.tensor.string_val[2:]
    if name == "audio" and value.HasField("tensor"):
        kept["sounds"] = [samples(data) if data else None for data in value.tensor.string_val]
        del value.tensor.string_val[:]
    if name == "hparams":
        kept["hparams"] = plugin_data_pb2.HParamsPluginData.FromString(value.metadata.plugin_data.content)
        value.metadata.plugin_data.content = b""
    kept["rest"] = str(value), value.SerializeToString(deterministic=True)  # NaN is not equal to itself
    return kept


def plain(event):
    kept = {"step": event.step, "what": event.WhichOneof("what")}
    if event.HasField("summary"):
        kept["values"] = [plain_value(value) for value in event.summary.value]
    elif event.HasField("graph_def"):
        kept["graph"] = str(graph_pb2.GraphDef.FromString(event.graph_def)).splitlines()
    elif event.HasField("tagged_run_metadata"):
        kept["run metadata"] = event.tagged_run_metadata
    elif event.HasField("session_log"):
        kept["session"] = event.session_log
    elif event.HasField("meta_graph_def"):
        kept["meta graph"] = True
    return kept


def accumulated(path):
    """What EventAccumulator makes of a run: the tags of every kind, and steps and values of each."""
    reader = event_accumulator.EventAccumulator(path, size_guidance=ALL, purge_orphaned_data=False)
    reader.Reload()
    tags = reader.Tags()
    return {
        "tags": {kind: sorted(found) if isinstance(found, list) else found for kind, found in tags.items()},
        "scalars": {tag: [(p.step, repr(p.value)) for p in reader.Scalars(tag)] for tag in tags["scalars"]},
        "plugins": {
            tag: reader.SummaryMetadata(tag).plugin_data.plugin_name for tag in tags["tensors"] if tag in reader.summary_metadata
        },
        "steps": {tag: [p.step for p in reader.Tensors(tag)] for tag in tags["tensors"]},
    }


def assert_same(ours, theirs, rename=lambda run: run):
    """Both directories hold the same runs with the same events, as real TensorBoard reads them."""
    mine, real = events(ours), events(theirs)
    mine = {rename(run): found for run, found in mine.items()}
    real = {rename(run): found for run, found in real.items()}
    assert sorted(mine) == sorted(real)
    for run in real:
        left, right = [plain(event) for event in mine[run]], [plain(event) for event in real[run]]
        assert len(left) == len(right), (run, left, right)
        for index, (a, b) in enumerate(zip(left, right)):
            assert a == b, (run, index)
    for run in runs(theirs):
        twin = next(name for name in runs(ours) if rename(name) == rename(run))
        assert accumulated(os.path.join(str(ours), twin)) == accumulated(os.path.join(str(theirs), run))
