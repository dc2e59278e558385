"""Images over a real server: lists, thumbnails, comparisons, contact sheets, and pictures that are damaged or far too large."""

import concurrent.futures
import io
import json
import math
import signal
import struct
import urllib.error
import urllib.parse
import urllib.request
import xml.etree.ElementTree
import zlib

import numpy as np
import pytest
from PIL import Image

from api_client import Api
from command import field, frame, varint
from http_driver import PATIENCE
from serve_driver import Seaboard

MAGIC, ENTRY = b"SBM1", 80
COLUMNS = ("step", "wall", "offset", "crc", "count", "bytes", "type", "width", "height", "rate", "frames")


def tensor_of(strings):
    """A TensorProto of strings in one dimension."""
    return b"\x08\x07" + field(2, field(2, b"\x08" + varint(len(strings)))) + b"".join(field(8, s) for s in strings)


def image_event(tag, step, blobs, size=(0, 0), wall=1_700_000_000.0):
    texts = [str(side).encode() for side in size]
    value = field(1, tag.encode()) + field(8, tensor_of([*texts, *blobs])) + field(9, field(1, field(1, b"images")))
    return frame(b"\x09" + struct.pack("<d", wall + step) + b"\x10" + varint(step) + field(5, field(1, value)))


def encoded(pixels, kind="PNG", **options):
    out = io.BytesIO()
    Image.fromarray(pixels).save(out, kind, **options)
    return out.getvalue()


def noise(width, height, seed=0, channels=3):
    rng = np.random.default_rng(seed)
    return rng.integers(0, 256, (height, width, channels), dtype=np.uint8)


def wide_png(width, height):
    """A picture of one colour, one bit a pixel: few bytes, many pixels."""
    chunk = lambda kind, body: struct.pack(">I", len(body)) + kind + body + struct.pack(">I", zlib.crc32(kind + body))
    pack = zlib.compressobj(1)
    row = bytes(1 + (width + 7) // 8)
    body = b"".join(pack.compress(row * 500) for _ in range(height // 500)) + pack.compress(row * (height % 500)) + pack.flush()
    head = struct.pack(">IIBBBBB", width, height, 1, 0, 0, 0, 0)
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", head) + chunk(b"IDAT", body) + chunk(b"IEND", b"")


SVG = b'<svg xmlns="http://www.w3.org/2000/svg"><script>alert(1)</script></svg>'
PICTURES = {
    "png": encoded(noise(96, 64)),
    "jpeg": encoded(np.full((64, 96, 3), (200, 40, 90), np.uint8), "JPEG", quality=95),
    "webp": encoded(np.full((64, 96, 3), (20, 140, 90), np.uint8), "WEBP"),
    "one": encoded(noise(1, 1)),
    "cut": encoded(noise(96, 64))[:4000],
    "liar": encoded(noise(96, 64)).replace(struct.pack(">II", 96, 64), struct.pack(">II", 960, 640), 1),
    "huge": wide_png(20000, 20000),
    "bomb": wide_png(40000, 40000),
    "svg": SVG,
    "text": b"this is no picture",
    "empty": b"",
}


def damaged():
    """Good pictures of four kinds, cut at many places and with bytes changed."""
    rng = np.random.default_rng(3)
    gif = io.BytesIO()
    Image.fromarray(noise(24, 16)).save(gif, "GIF")
    for whole in (encoded(noise(24, 16)), PICTURES["jpeg"], PICTURES["webp"], gif.getvalue()):
        for cut in np.linspace(1, len(whole) - 1, 8, dtype=int):
            yield whole[:cut]
        for _ in range(12):
            changed = bytearray(whole)
            for at in rng.integers(0, min(len(whole), 200), 3):
                changed[at] = rng.integers(256)
            yield bytes(changed)


@pytest.fixture(scope="module")
def log(tmp_path_factory):
    folder = tmp_path_factory.mktemp("images") / "run"
    folder.mkdir()
    with open(folder / "events.out.tfevents.1.h", "wb") as f:
        for step in range(50):
            f.write(image_event("steps", step, [encoded(noise(8, 8, step)), encoded(noise(8, 8, 1000 + step))], (8, 8)))
        for tag, blob in PICTURES.items():
            f.write(image_event(tag, 1, [blob]))
        for step, blob in enumerate(damaged()):
            f.write(image_event("odd", step, [blob]))
        base = noise(64, 48, 1) // 2 + 64
        other = np.clip(base.astype(int) + noise(64, 48, 2) % 24 - 12, 0, 255).astype(np.uint8)
        f.write(image_event("a", 1, [encoded(base)]))
        f.write(image_event("b", 1, [encoded(other)]))
        frames = [Image.fromarray(np.full((12, 16, 3), 60 * i, np.uint8)) for i in range(4)]
        gif = io.BytesIO()
        frames[0].save(gif, "GIF", save_all=True, append_images=frames[1:], duration=80)
        f.write(image_event("gif", 1, [gif.getvalue()]))
    return folder.parent, base, other


@pytest.fixture(scope="module")
def api(log):
    with Seaboard(str(log[0])) as served:
        served.loaded()
        yield Api(served)


def lists(api, *series, plugin="images"):
    _, _, data = api.call(plugin, {"series": list(series)})
    assert data[:4] == MAGIC
    found = []
    for i in range(struct.unpack_from("<I", data, 4)[0]):
        at = 16 + i * ENTRY
        run, flags, epoch, n, points, samples = struct.unpack_from("<IIQQII", data, at)
        places = dict(zip(COLUMNS, struct.unpack_from("<11I", data, at + 32)))
        kinds = {"step": "<f8", "wall": "<f8", "offset": "<f8", "type": "u1"}
        columns = {k: np.frombuffer(data, kinds.get(k, "<u4"), points, 8 * v) if v else [] for k, v in places.items()}
        found.append({"run": run, "flags": flags, "epoch": epoch, "n": n, "points": points, "samples": samples, **columns})
    return found


def named(api, tag, index=0, suffix=""):
    """The words of a query that name the first picture of a tag."""
    one = lists(api, {"run": run_of(api), "tag": tag})[0]
    pairs = {"run": one["run"], "tag": tag, "at": f"{int(one['offset'][0])}-{one['crc'][0]}", "index": index}
    return urllib.parse.urlencode({key + suffix: value for key, value in pairs.items()})


def run_of(api):
    return api.get("runs")["runs"][0]["id"]


def opened(png):
    return np.asarray(Image.open(io.BytesIO(png)).convert("RGB"))


def test_every_step_is_listed_with_size_and_type_and_only_news_come_again(api):
    run = run_of(api)
    (steps, gif, none) = lists(api, {"run": run, "tag": "steps"}, {"run": run, "tag": "gif"}, {"run": run, "tag": "no such"})
    assert steps["n"] == steps["points"] == 50 and steps["samples"] == 2 and steps["flags"] == 0
    assert list(steps["step"]) == list(range(50)) and set(steps["count"]) == {2}
    assert set(steps["width"]) == set(steps["height"]) == {8} and set(steps["type"]) == {1}
    assert (gif["width"][0], gif["height"][0], gif["type"][0]) == (16, 12, 3)
    assert none["flags"] == 1 and none["points"] == 0
    assert lists(api, {"run": run, "tag": "cut"})[0]["type"][0] == 1 + 128  # its end is missing
    again = lists(api, {"run": run, "tag": "steps", "epoch": steps["epoch"], "n": 50})[0]
    assert again["flags"] == 2 and again["points"] == 0
    part = lists(api, {"run": run, "tag": "steps", "epoch": steps["epoch"], "n": 40})[0]
    assert part["flags"] == 4 and list(part["step"]) == list(range(40, 50))
    whole = lists(api, {"run": run, "tag": "steps", "epoch": steps["epoch"] + 1, "n": 40})[0]
    assert whole["flags"] == 0 and whole["points"] == 50
    assert api.error("images", {"series": 3})[0] == 400
    # what is listed leads to the bytes
    for sample in (0, 1):
        path = f"blob?{named(api, 'steps', sample + 2)}"
        assert (opened(api.call(path)[2]) == noise(8, 8, 1000 * sample)).all()
    assert api.error(f"blob?run={run}&tag=steps&at=1-1&index=2")[0] == 410


def test_a_thumbnail_is_the_mean_of_areas_and_is_made_once(api):
    path = f"thumbnail?{named(api, 'png')}&size=48"
    _, headers, first = api.call(path)
    want = noise(96, 64).reshape(32, 2, 48, 2, 3).mean(axis=(1, 3))
    assert opened(first).shape == (32, 48, 3) and abs(opened(first) - want).max() <= 0.5
    assert headers["Content-Type"] == "image/png" and "immutable" in headers["Cache-Control"]
    assert "sandbox" in headers["Content-Security-Policy"] and headers["X-Content-Type-Options"] == "nosniff"
    assert api.call(path)[2] == first
    with pytest.raises(urllib.error.HTTPError) as same:
        api.call(path, headers={"If-None-Match": headers["ETag"]})
    assert same.value.code == 304
    assert (opened(api.call(f"thumbnail?{named(api, 'png')}&size=0")[2]) == noise(96, 64)).all()
    assert (opened(api.call(f"thumbnail?{named(api, 'png')}&size=512")[2]) == noise(96, 64)).all()  # never enlarged
    for tag, colour in (("jpeg", (200, 40, 90)), ("webp", (20, 140, 90))):
        small = opened(api.call(f"thumbnail?{named(api, tag)}&size=24")[2])
        assert small.shape == (16, 24, 3) and abs(small - np.array(colour)).max() <= 6
    for wrong in ("size=7", "size=4096", "size=x", "frame=-1"):
        assert api.error(f"thumbnail?{named(api, 'png')}&{wrong}")[0] == 400
    assert api.error("thumbnail?run=0&tag=png")[0] == 400


def test_frames_of_an_animation(api):
    about = api.get(f"picture?{named(api, 'gif')}")
    assert about["type"] == "image/gif" and about["frames"] == 4 and about["delays"] == [80] * 4
    assert (about["width"], about["height"]) == (16, 12)
    for i in range(4):
        assert (opened(api.call(f"thumbnail?{named(api, 'gif')}&frame={i}&size=0")[2]) == 60 * i).all()
    assert api.error(f"thumbnail?{named(api, 'gif')}&frame=4&size=0")[0] == 415


def test_what_cannot_be_shown_says_why(api):
    for tag, status, code, word, words in (
        ("cut", 422, "corrupt", "damaged", "rows"),
        ("liar", 422, "corrupt", "damaged", "PNG"),
        ("bomb", 413, "limit", "large", "40000 x 40000 pixels"),
        ("svg", 415, "not_found", "format", "image/svg+xml"),
        ("text", 415, "not_found", "format", "no picture"),
        ("empty", 415, "not_found", "format", "no picture"),
    ):
        got, error = api.error(f"thumbnail?{named(api, tag)}&size=64")
        assert (got, error["code"]) == (status, code) and words in error["message"], (tag, error)
        about = api.get(f"picture?{named(api, tag)}&check=1")
        assert about["trouble"] == word and words in about["problem"], (tag, about)
    assert not {"trouble", "problem"} & set(api.get(f"picture?{named(api, 'png')}&check=1"))
    assert opened(api.call(f"thumbnail?{named(api, 'one')}&size=64")[2]).shape == (1, 1, 3)
    # 400 million pixels in a few bytes: made small row by row
    assert opened(api.call(f"thumbnail?{named(api, 'huge')}&size=64")[2]).shape == (64, 64, 3)
    headers = api.call(f"blob?{named(api, 'svg', 2)}")[1]
    assert headers["Content-Disposition"].startswith("attachment") and "sandbox" in headers["Content-Security-Policy"]


def test_two_pictures_are_compared(api, log):
    _, a, b = log
    got = api.get(f"compare?{named(api, 'a')}&{named(api, 'b', suffix='2')}")
    difference = abs(a.astype(int) - b.astype(int))
    assert math.isclose(got["psnr"], 10 * math.log10(255**2 / (difference**2).mean()), rel_tol=1e-9)
    assert math.isclose(got["mean"], difference.mean(), rel_tol=1e-9) and got["largest"] == difference.max()
    assert math.isclose(got["share"], (difference.max(axis=2) > 8).mean(), rel_tol=1e-9)
    assert 0.5 < got["ssim"] < 1 and (got["width"], got["height"]) == (64, 48)
    same = api.get(f"compare?{named(api, 'a')}&{named(api, 'a', suffix='2')}")
    assert same["psnr"] == "Infinity" and math.isclose(same["ssim"], 1) and same["share"] == 0
    assert api.get(f"compare?{named(api, 'a')}&{named(api, 'b', suffix='2')}") == {**got, "version": same["version"]}  # from the cache
    png = Image.open(io.BytesIO(api.call(f"difference?{named(api, 'a')}&{named(api, 'b', suffix='2')}&full=100")[2]))
    alpha = np.asarray(png.convert("RGBA"))[:, :, 3]
    assert (alpha == np.minimum(255, difference.max(axis=2) * 255 // 100)).all()
    status, error = api.error(f"compare?{named(api, 'a')}&{named(api, 'png', suffix='2')}")
    assert status == 400 and "64 x 48 and 96 x 64" in error["message"]
    assert api.error(f"compare?{named(api, 'a')}")[0] == 400
    assert api.error(f"compare?{named(api, 'a')}&{named(api, 'cut', suffix='2')}")[0] == 422


def test_two_tags_in_one_record_never_share_what_is_made_of_them(tmp_path):
    """Offset and checksum of both are the same: the tag tells them apart, in thumbnails, comparisons and pictures of clips."""
    folder = tmp_path / "run"
    folder.mkdir()
    colours = {"one": (250, 10, 10), "two": (10, 250, 10)}
    values = b""
    for tag, colour in colours.items():
        blobs = [b"8", b"8", encoded(np.full((8, 8, 3), colour, np.uint8))]
        values += field(1, field(1, tag.encode()) + field(8, tensor_of(blobs)) + field(9, field(1, field(1, b"images"))))
    for tag, seconds in (("short", 1), ("long", 2)):
        clip = wav_of(np.zeros(8000 * seconds, np.int16))
        values += field(1, field(1, tag.encode()) + field(8, tensor_of([clip])) + field(9, field(1, field(1, b"audio"))))
    (folder / "events.out.tfevents.1.h").write_bytes(frame(b"\x09" + struct.pack("<d", 1.7e9) + b"\x10\x01" + field(5, values)))
    with Seaboard(str(tmp_path)) as served:
        served.loaded()
        api = Api(served)
        run = run_of(api)
        places = {tuple(lists(api, {"run": run, "tag": tag})[0]["offset"]) for tag in colours}
        assert len(places) == 1  # one record
        for _ in range(2):  # made, and from the cache
            for tag, colour in colours.items():
                assert (opened(api.call(f"thumbnail?{named(api, tag)}&size=8")[2]) == colour).all()
            assert api.get(f"compare?{named(api, 'one')}&{named(api, 'two', suffix='2')}")["largest"] == 240
            assert api.get(f"compare?{named(api, 'one')}&{named(api, 'one', suffix='2')}")["largest"] == 0
            for tag, seconds in (("short", 1), ("long", 2)):
                assert api.get(f"audio/picture?run={run}&tag={tag}&step=1")["seconds"] == seconds


def wav_of(samples, rate=8000):
    data = samples.tobytes()
    head = b"WAVEfmt " + struct.pack("<IHHIIHH", 16, 1, 1, rate, 2 * rate, 2, 16) + b"data" + struct.pack("<I", len(data))
    return b"RIFF" + struct.pack("<I", len(head) + len(data)) + head + data


def test_clips_are_listed_as_columns_and_only_news_come_again(tmp_path):
    folder = tmp_path / "run"
    folder.mkdir()
    with open(folder / "events.out.tfevents.1.h", "wb") as f:
        for step in range(30):
            blobs = [wav_of(np.zeros(100 + step, np.int16))] * (1 + step % 2)
            value = field(1, b"voice") + field(8, tensor_of(blobs)) + field(9, field(1, field(1, b"audio")))
            f.write(frame(b"\x09" + struct.pack("<d", 1.7e9 + step) + b"\x10" + varint(step) + field(5, field(1, value))))
    with Seaboard(str(tmp_path)) as served:
        served.loaded()
        api = Api(served)
        run = run_of(api)
        (voice, none) = lists(api, {"run": run, "tag": "voice"}, {"run": run, "tag": "none"}, plugin="audio")
        assert voice["n"] == voice["points"] == 30 and voice["samples"] == 2 and none["flags"] == 1
        assert list(voice["step"]) == list(range(30)) and list(voice["count"]) == [1, 2] * 15
        assert set(voice["rate"]) == {8000} and list(voice["frames"]) == [100 + step for step in range(30)]
        assert len(voice["width"]) == 0 and len(voice["height"]) == 0  # columns of pictures
        part = lists(api, {"run": run, "tag": "voice", "epoch": voice["epoch"], "n": 28}, plugin="audio")[0]
        assert part["flags"] == 4 and list(part["step"]) == [28, 29]
        at = f"{int(voice['offset'][1])}-{voice['crc'][1]}"
        assert api.call(f"blob?run={run}&tag=voice&index=1&at={at}")[2] == wav_of(np.zeros(101, np.int16))
        assert api.error("audio", {"series": 3})[0] == 400


def test_damaged_bytes_never_answer_with_a_failure_of_the_server(api):
    """An answer, or a refusal with a reason, on every route that looks into a picture."""
    one = lists(api, {"run": run_of(api), "tag": "odd"})[0]
    refused = 0
    for offset, crc in zip(one["offset"], one["crc"]):
        name = f"run={one['run']}&tag=odd&at={int(offset)}-{crc}&index=0"
        assert api.call(f"picture?{name}&check=1")[0] == 200
        for path in (f"thumbnail?{name}&size=64", f"compare?{name}&{name.replace('=', '2=')}", f"difference?{name}&{name.replace('=', '2=')}"):
            try:
                assert api.call(path)[0] == 200
            except urllib.error.HTTPError as error:
                assert error.code in (413, 415, 422), (path, error.code)
                assert json.loads(error.read())["error"]["message"]
                refused += 1
    assert refused > 50


def test_a_contact_sheet_is_a_safe_document_with_all_pictures(api):
    one = lists(api, {"run": run_of(api), "tag": "steps"})[0]
    cell = lambda i, label: {"run": one["run"], "tag": "steps", "at": f"{int(one['offset'][i])}-{one['crc'][i]}", "sample": 0, "label": label}
    hostile = '"><script>alert(1)</script>&\x01中文'
    rows = [{"label": hostile, "cells": [cell(0, "step 0"), None, cell(1, hostile)]}, {"label": "b", "cells": [{**cell(2, ""), "at": "1-1"}]}]
    _, headers, body = api.call("sheet", {"title": hostile, "size": 32, "rows": rows})
    assert headers["Content-Type"] == "image/svg+xml" and headers["Content-Disposition"].startswith("attachment")
    sheet = xml.etree.ElementTree.fromstring(body)
    space = "{http://www.w3.org/2000/svg}"
    assert {e.tag for e in sheet.iter()} == {space + name for name in ("svg", "style", "rect", "text", "image")}
    assert len(sheet.findall(space + "image")) == 2 and len([r for r in sheet.findall(space + "rect") if r.get("class") == "none"]) == 1
    assert any("中文" in (text.text or "") for text in sheet.findall(space + "text"))
    for wrong in ({"rows": []}, {"size": 32, "rows": rows, "title": ""} | {"size": 5000}, {"size": 32, "rows": [{"cells": [None] * 3000}]}):
        assert api.error("sheet", wrong)[0] == 400


# ---- what is made of pictures: once, within the memory of requests, and never in the way of an end ----


def at_once(jobs):
    """The answers of calls that are made at the same time."""
    with concurrent.futures.ThreadPoolExecutor(len(jobs)) as pool:
        return [job.result() for job in [pool.submit(job) for job in jobs]]


def served(folder, *pictures, options=()):
    """A server over one run with these pictures, one a tag."""
    (folder / "run").mkdir()
    with open(folder / "run" / "events.out.tfevents.1.h", "wb") as f:
        for i, blob in enumerate(pictures):
            f.write(image_event(f"picture{i}", 1, [blob]))
    return Seaboard(str(folder), *options)


def bytes_read(server):
    with open(f"/proc/{server.process.pid}/io") as lines:
        return next(int(line.split()[1]) for line in lines if line.startswith("rchar"))


def test_equal_questions_at_once_are_answered_from_one_reading_and_one_decoding(tmp_path):
    large = encoded(noise(1200, 1000))
    with served(tmp_path, large) as server:
        server.loaded()
        path = f"/api/v1/thumbnail?{named(Api(server), 'picture0')}&size=64"
        before = bytes_read(server)
        answers = at_once([lambda: server.get(path)] * 12)
        assert {reply.status for reply in answers} == {200} and len({reply.body for reply in answers}) == 1
        assert len(large) <= bytes_read(server) - before < 2 * len(large)


def test_many_large_pictures_at_once_stay_within_the_memory_of_requests(tmp_path):
    most = 48 << 10  # kilobytes
    with served(tmp_path, *[wide_png(6000, 6000 + i) for i in range(12)], options=("--request_memory", f"{most}K")) as server:
        server.loaded()
        api = Api(server)
        paths = [f"/api/v1/thumbnail?{named(api, f'picture{i}')}&size=1024" for i in range(12)]
        before = server.memory("VmHWM")
        for _ in range(50):
            answers = at_once([lambda path=path: server.get(path) for path in paths])
            assert {reply.status for reply in answers} <= {200, 503}
            if all(reply.status == 200 for reply in answers):
                break
        assert [max(opened(reply.body).shape) for reply in answers] == [1024] * len(paths)
        assert server.memory("VmHWM") - before < most + (24 << 10)  # stacks of threads, and what the allocator keeps


def test_a_server_that_is_told_to_end_does_not_wait_for_a_thumbnail(tmp_path):
    with served(tmp_path, wide_png(23000, 23000)) as server:
        server.loaded()
        path = f"/api/v1/thumbnail?{named(Api(server), 'picture0')}&size=512"
        with server.connect() as client:
            client.request(path)
            server.process.send_signal(signal.SIGTERM)
            assert server.process.wait(PATIENCE) == 0
            # cut off or refused, but not made to its end first
            try:
                status = client.response().status
            except (EOFError, ConnectionError):
                status = 0
            assert status != 200
