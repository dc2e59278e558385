"""seaboard dump --json beside what TensorBoard's own loader gives for the same files."""

import base64
import gzip
import json
import math

import numpy
import pytest
from command import FIXTURES, event_files, frame, scalar, seaboard
from google.protobuf import json_format
from tensorboard.backend.event_processing import event_file_loader
from tensorboard.util import tensor_util


def dump(path):
    result = seaboard("dump", "--json", path)
    assert result.stderr == b""
    return result.returncode, [json.loads(line) for line in result.stdout.splitlines()]


def without_long(ours, theirs):
    """Replaces what we shorten by what stands there in theirs, after a look at size and beginning."""
    if isinstance(ours, dict) and set(ours) == {"bytes", "head"}:
        data = base64.b64decode(theirs)
        assert len(data) == ours["bytes"]
        assert data.startswith(bytes.fromhex(ours["head"]))
        return theirs
    if isinstance(ours, dict) and isinstance(theirs, dict):
        return {key: without_long(value, theirs.get(key)) for key, value in ours.items()}
    if isinstance(ours, list) and isinstance(theirs, list) and len(ours) == len(theirs):
        return [without_long(a, b) for a, b in zip(ours, theirs)]
    return ours


def same_value(ours, value):
    kind = value.WhichOneof("value")
    assert ours["tag"] == value.tag
    if kind is None:
        assert ours["kind"] == "no value"
    elif kind == "simple_value":
        assert ours["kind"] == "scalar"
        assert float(ours["value"]) == value.simple_value or math.isnan(value.simple_value)
    elif kind == "image":
        assert (ours["width"], ours["height"]) == (value.image.width, value.image.height)
        assert ours["bytes"] == [len(value.image.encoded_image_string)]
    elif kind == "audio":
        assert ours["bytes"] == [len(value.audio.encoded_audio_string)]
    elif kind == "histo":
        assert ours["kind"] == "histogram"
        assert sum(row[2] for row in ours["rows"]) == sum(value.histo.bucket)
        assert (ours["min"], ours["max"]) == (value.histo.min, value.histo.max)
    else:
        same_tensor(ours, tensor_util.make_ndarray(value.tensor))


def same_tensor(ours, array):
    kind = ours["kind"]
    if kind == "scalar":
        assert float(ours["value"]) == array.item() or math.isnan(array.item())
    elif kind == "histogram":
        assert numpy.array_equal(numpy.array(ours["rows"]).reshape(-1, 3), array)
    elif kind == "images":
        strings = array.ravel().tolist()
        assert [str(ours["width"]).encode(), str(ours["height"]).encode()] == strings[:2]
        assert ours["bytes"] == [len(x) for x in strings[2:]]
    elif kind == "audio":
        assert ours["bytes"] == [len(row[0]) for row in array]
    else:
        assert ours["shape"] == list(array.shape)
        items = array.ravel()[:1024].tolist()
        if array.dtype == object and kind == "tensor":
            assert ours["bytes"] == [len(x) for x in items]
        elif array.dtype == object:
            assert ours["items"] == [x.decode("utf-8", "replace") for x in items]
        else:
            assert numpy.array_equal(numpy.array(ours["items"], dtype=float), numpy.array(items, dtype=float))


@pytest.mark.parametrize("path", event_files(), ids=lambda path: str(path.relative_to(FIXTURES)))
def test_every_record_of_the_fixtures(path):
    code, lines = dump(path)
    assert code == (3 if path.parent.name == "bitflip" else 0)
    at = 0
    for line in lines:  # the file is covered without a gap
        assert line["offset"] == at
        at += line["size"]
    assert at == path.stat().st_size
    good = [line for line in lines if line["status"] == "ok"]
    if path.parent.name == "bitflip":
        return  # TensorBoard ends at the damage
    events = list(event_file_loader.LegacyEventFileLoader(str(path)).Load())
    assert len(good) == len(events)
    for ours, event in zip(good, events):
        assert ours["step"] == event.step
        assert float(ours["wall_time"]) == event.wall_time
        assert ours["size"] == event.ByteSize() + 16
        theirs = json_format.MessageToDict(event, preserving_proto_field_name=True)
        assert without_long(ours["event"], theirs) == theirs
        values = ours.get("values", [])
        assert len(values) == len(event.summary.value)
        for mine, value in zip(values, event.summary.value):
            same_value(mine, value)


def test_damage_stands_in_its_place(tmp_path):
    parts = [frame(scalar(b"loss", i, i)) for i in range(6)]
    at = [sum(map(len, parts[:i])) for i in range(7)]
    data = bytearray(b"".join(parts))
    data[at[1] + 15] ^= 0x40
    data[at[3]] ^= 0x40
    log = tmp_path / "x"
    log.write_bytes(bytes(data) + b"\x05\x00\x00")
    code, lines = dump(log)
    assert code == 3
    assert [line["status"] for line in lines] == ["ok", "bad_payload", "ok", "bad_length", "ok", "ok", "cut"]
    assert [line["offset"] for line in lines] == at
    assert (lines[1]["length_crc"], lines[1]["payload_crc"]) == ("ok", "bad")
    assert lines[3]["length_crc"] == "bad"
    assert lines[6]["size"] == 3
    text = seaboard("dump", log)
    assert text.returncode == 3
    assert f"byte {at[1]}: {len(parts[1])} bytes, payload checksum bad".encode() in text.stdout
    assert f"byte {at[3]}: {len(parts[3])} bytes, length checksum bad".encode() in text.stdout
    assert f"byte {at[6]}: 3 bytes, a record that is cut".encode() in text.stdout


def test_numbers_that_json_has_no_word_for(tmp_path):
    log = tmp_path / "x"
    values = [math.nan, math.inf, -math.inf, 0.1]
    log.write_bytes(b"".join(frame(scalar(b"x", i, v, wall_time=v)) for i, v in enumerate(values)))
    _, lines = dump(log)
    assert [line["values"][0]["value"] for line in lines[:3]] == ["NaN", "Infinity", "-Infinity"]
    assert [line["wall_time"] for line in lines] == ["NaN", "Infinity", "-Infinity", 0.1]
    text = seaboard("dump", log).stdout.decode()
    assert '"x" scalar NaN' in text and "time -Infinity" in text


def test_steps_at_the_ends_of_their_range(tmp_path):
    log = tmp_path / "x"
    steps = [-1, 2**63 - 1, -(2**63), 0]
    log.write_bytes(b"".join(frame(scalar(b"x", step, 1.0)) for step in steps))
    _, lines = dump(log)
    assert [line["step"] for line in lines] == steps
    for step in steps:
        assert f"step {step}, ".encode() in seaboard("dump", log).stdout


def test_archives_and_empty_files(tmp_path):
    log = tmp_path / "x.gz"
    plain = b"".join(frame(scalar(b"loss", i, i)) for i in range(100))
    log.write_bytes(gzip.compress(plain))
    code, lines = dump(log)
    assert code == 0
    assert len(lines) == 100
    assert lines[-1]["offset"] + lines[-1]["size"] == len(plain)
    log.write_bytes(b"")
    assert dump(log) == (0, [])


def test_text_of_every_fixture_has_a_line_for_each_record():
    for path in event_files():
        _, lines = dump(path)
        text = seaboard("dump", path).stdout.decode()
        heads = [line for line in text.splitlines() if line.startswith("byte ")]
        assert len(heads) == len(lines)
        for head, line in zip(heads, lines):
            assert head.startswith(f"byte {line['offset']}: {line['size']} bytes, ")
