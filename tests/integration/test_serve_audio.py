"""Clips: the list of steps, waveform, spectrogram and measures, and clips that lie about themselves."""

import base64
import math
import struct
import urllib.parse

import pytest
from api_client import Api
from command import FIXTURES, field, frame, varint
from serve_driver import Seaboard


def clips(tag, step, blobs, plugin_content=b"\x10\x0b"):
    """An event with one string tensor of clips, as tf.summary.audio writes it."""
    shape = field(2, field(2, b"\x08" + varint(len(blobs))))
    tensor = field(8, b"\x08\x07" + shape + b"".join(field(8, blob) for blob in blobs))
    metadata = field(9, field(1, field(1, b"audio") + field(2, plugin_content)))
    summary = field(1, field(1, tag) + tensor + metadata)
    return b"\x09" + struct.pack("<d", 1.7e9 + step) + b"\x10" + varint(step) + field(5, summary)


def wav(data, form=1, channels=1, bits=16, rate=16000, claimed=None, align=None):
    align = channels * bits // 8 if align is None else align
    head = struct.pack("<HHIIHH", form, channels, rate, rate * align, align, bits)
    data = struct.pack("<I", len(data) if claimed is None else claimed) + data
    body = b"WAVEfmt " + struct.pack("<I", len(head)) + head + b"data" + data
    return b"RIFF" + struct.pack("<I", len(body)) + body


def tone(hertz, seconds=1.0, size=0.5, rate=16000):
    count = int(seconds * rate)
    return b"".join(struct.pack("<h", int(32767 * size * math.sin(2 * math.pi * hertz * i / rate))) for i in range(count))


ODD = {
    b"empty": wav(b""),
    b"not_a_wav": b"<html><script>alert(1)</script>",
    b"nothing": b"",
    b"no_channels": wav(b"abcd", channels=0),
    b"wrong_align": wav(b"abcdefgh", align=7),
    b"adpcm": wav(b"abcdefgh", form=2, bits=4, align=1),
    b"promises": wav(tone(440, 0.1), claimed=1 << 31),
    b"clipped": wav(struct.pack("<h", 32767) * 100),
    b"float": wav(struct.pack("<4f", 0.5, math.nan, math.inf, -0.25), form=3, bits=32),
    b"pcm24": wav(b"\0\0\x40" * 300, bits=24),
    b"pcm8": wav(b"\xc0" * 300, bits=8),
    b"cut_header": wav(b"abcd")[:30],
}


@pytest.fixture(scope="module")
def api(tmp_path_factory):
    root = tmp_path_factory.mktemp("logs")
    run = root / "a"
    run.mkdir()
    events = [clips(b"voice", step, [wav(tone(440)), wav(tone(880), rate=8000)]) for step in range(0, 50, 10)]
    events += [clips(tag, 3, [blob]) for tag, blob in ODD.items()]
    (run / "x.tfevents").write_bytes(b"".join(map(frame, events)))
    with Seaboard(root) as served:
        served.loaded()
        yield Api(served)


def listed(api, tag, more=""):
    return api.get(f"audio?run=0&tag={urllib.parse.quote(tag)}{more}")


def run_of(api):
    return api.get("runs")["runs"][0]["id"]


def picture(api, tag, step=3, more=""):
    return api.get(f"audio/picture?run={run_of(api)}&tag={tag}&step={step}{more}")


def test_a_page_of_clips_has_what_ingest_saw(api):
    run = run_of(api)
    everything = api.get(f"audio?run={run}&tag=voice")
    assert [point["step"] for point in everything["points"]] == [0, 10, 20, 30, 40]
    assert (everything["samples"], everything["total"], everything["from"]) == (2, 5, 0)
    for point in everything["points"]:
        assert (point["type"], point["rate"], point["channels"], point["frames"]) == ("audio/wav", 16000, 1, 16000)
        assert point["bytes"] == 44 + 32000 and len(point["blobs"]) == 2
    for more, steps, first in (
        ("&from=1&count=2", [10, 20], 1),
        ("&back=0&count=1", [40], 4),
        ("&back=4&count=1", [0], 0),
        ("&back=99&count=1", [0], 0),
        ("&at=24&count=1", [20], 2),
        ("&at=25&count=1", [30], 3),
        ("&from=9", [], 5),
        ("&sample=1&count=1", [0], 0),
        ("&sample=2", [], 0),
    ):
        reply = api.get(f"audio?run={run}&tag=voice{more}")
        assert ([point["step"] for point in reply["points"]], reply["from"]) == (steps, first), more
    for wrong in ("&from=x", "&at=1.5", "&count=-1", "&sample=99999999999"):
        assert api.error(f"audio?run={run}&tag=voice{wrong}")[0] == 400


def test_a_clip_has_a_waveform_a_spectrogram_and_measures(api):
    reply = picture(api, "voice", 10, "&columns=50&rows=40&scale=linear")
    assert (reply["seconds"], reply["rate"], reply["channels"], reply["bits"]) == (1.0, 16000, 1, 16)
    assert abs(reply["peak"] - 0.5) < 1e-3 and abs(reply["rms"] - 0.5 / math.sqrt(2)) < 1e-3
    assert -11 < reply["loudness"] < -8 and reply["clipped"] == 0
    low, high = base64.b64decode(reply["low"]), base64.b64decode(reply["high"])
    assert len(low) == len(high) == 50
    assert all(abs(a - 64) <= 1 and abs(b - 191) <= 1 for a, b in zip(low, high))
    spectrum = base64.b64decode(reply["spectrum"])
    assert len(spectrum) == 50 * 40
    rows = [max(spectrum[row * 50 + 5 : row * 50 + 45]) for row in range(40)]
    assert rows.index(max(rows)) == 39 - int(440 / 8000 * 40)
    second = picture(api, "voice", 10, "&columns=50&rows=40&scale=linear&index=1")
    assert (second["rate"], second["seconds"]) == (8000, 2.0)
    assert picture(api, "voice", 10, "&columns=50&rows=40&scale=linear") == reply


def test_a_picture_may_be_kept_for_ever_and_is_gone_when_the_bytes_are(api):
    run = run_of(api)
    blob = api.get(f"audio?run={run}&tag=voice&count=1")["points"][0]["blobs"][0]
    path = "audio/picture" + blob.removeprefix("blob") + "&columns=10&rows=10"
    for _ in range(2):
        _, headers, _ = api.call(path)
        assert "immutable" in headers["Cache-Control"] and headers["Content-Type"] == "application/json"
    assert api.error(path.replace("&at=", "&at=9"))[0] == 410
    for wrong in ("&columns=0", "&columns=5000", "&rows=600", "&scale=bark", "&index=x"):
        assert api.error(f"audio/picture?run={run}&tag=voice&step=0{wrong}")[0] == 400
    assert api.error(f"audio/picture?run={run}&tag=voice&step=5")[0] == 404
    assert api.error(f"audio/picture?run={run}&tag=voice&step=0&index=2")[0] == 404


def test_clips_that_are_no_clips_say_so(api):
    run = run_of(api)
    troubles = {tag: picture(api, tag.decode()).get("trouble") for tag in ODD}
    assert troubles == {
        b"empty": None,
        b"not_a_wav": "format",
        b"nothing": "format",
        b"no_channels": "header",
        b"wrong_align": "header",
        b"adpcm": "packed",
        b"promises": None,
        b"clipped": None,
        b"float": None,
        b"pcm24": None,
        b"pcm8": None,
        b"cut_header": "header",
    }
    for tag in ODD:
        point = api.get(f"audio?run={run}&tag={tag.decode()}")["points"][0]
        assert ("rate" in point) == (troubles[tag] is None)
        assert point["bytes"] == len(ODD[tag])
        _, headers, body = api.call(point["blobs"][0])
        assert body == ODD[tag] and "html" not in headers["Content-Type"] and "sandbox" in headers["Content-Security-Policy"]
    assert "no channels" not in picture(api, "no_channels")["message"] and picture(api, "no_channels")["message"]
    empty = picture(api, "empty")
    assert (empty["seconds"], empty["loudness"], empty["peak"]) == (0, "-Infinity", 0)
    assert picture(api, "promises")["isCut"] and abs(picture(api, "promises")["seconds"] - 0.1) < 1e-6
    assert picture(api, "clipped")["clipped"] == 99
    assert (picture(api, "float")["notFinite"], picture(api, "float")["peak"]) == (2, 0.5)
    assert picture(api, "pcm24")["peak"] == 0.5 and picture(api, "pcm8")["peak"] == 0.5


def test_clips_of_tensorflow_and_torch_are_drawn():
    with Seaboard(FIXTURES) as served:
        served.loaded()
        api = Api(served)
        runs = {run["id"]: run["name"] for run in api.get("runs")["runs"]}
        seen = 0
        for tag in api.get("tags?plugin=audio")["tags"]:
            for run in runs if tag["runs"] == "all" else tag["runs"]:
                point = api.get(f"audio?run={run}&tag={urllib.parse.quote(tag['tag'])}&back=0&count=1")["points"][0]
                drawn = api.get("audio/picture" + point["blobs"][0].removeprefix("blob"))
                assert "trouble" not in drawn, (runs[run], tag["tag"], drawn)
                assert drawn["rate"] == point["rate"] and drawn["seconds"] == point["frames"] / point["rate"]
                seen += 1
        assert seen >= 3
