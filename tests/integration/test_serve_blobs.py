"""Pictures, sound and graphs as they go out: what they may do in a browser, conditional and partial requests, and what
happens when the log has changed underneath."""

import shutil

import pytest
from command import FIXTURES
from serve_driver import Seaboard


@pytest.fixture(scope="module")
def server():
    with Seaboard(FIXTURES / "tf") as running:
        running.loaded()
        yield running


def first(server, plugin, listing, single, run, tag):
    steps = server.json(f"/data/plugin/{plugin}/{listing}?run={run}&tag={tag}")
    return f"/data/plugin/{plugin}/{single}?" + steps[0]["query"]


def image_of(server):
    return first(server, "images", "images", "individualImage", "v2/train", "examples")


def clip_of(server):
    return first(server, "audio", "audio", "individualAudio", "v2/train", "tone")


def test_blobs_cannot_act(server):
    for path in (image_of(server), clip_of(server)):
        reply = server.get(path)
        assert reply.status == 200
        assert reply["Content-Security-Policy"] == "sandbox; default-src 'none'"
        assert reply["X-Content-Type-Options"] == "nosniff"
        assert reply["Content-Encoding"] is None


def test_a_blob_that_the_client_has_is_not_sent_again(server):
    path = image_of(server)
    whole = server.get(path)
    again = server.get(path, f"If-None-Match: {whole['ETag']}")
    assert (again.status, again.body) == (304, b"")
    assert server.get(path, 'If-None-Match: "other"').body == whole.body


def test_a_player_may_ask_for_a_part(server):
    path = clip_of(server)
    whole = server.get(path)
    assert whole["Accept-Ranges"] == "bytes" and whole["Content-Type"] == "audio/wav"
    part = server.get(path, "Range: bytes=10-19")
    assert (part.status, part.body) == (206, whole.body[10:20])
    assert part["Content-Range"] == f"bytes 10-19/{len(whole.body)}"


def test_a_client_does_not_choose_what_a_browser_takes_it_for(server):
    path = clip_of(server)
    for wanted in ("text/html", "image/svg+xml", "audio/wav; x=y", "AUDIO/WAV"):
        reply = server.get(path.replace("audio%2Fwav", wanted.replace("/", "%2F").replace(" ", "+").replace(";", "%3B")))
        assert reply.status == 400
        assert reply["Content-Type"] == "text/plain; charset=utf-8"


def test_a_key_leads_to_blobs_of_its_plugin_only(server):
    """A key for a clip, handed to the route of images, and the other way round."""
    image, clip = image_of(server), clip_of(server)
    image_key = image.split("blob_key=")[1]
    clip_key = clip.split("blob_key=")[1].split("&")[0]
    assert server.get(f"/data/plugin/images/individualImage?blob_key={clip_key}").status == 404
    assert server.get(f"/data/plugin/timeseries/imageData?imageId={clip_key}").status == 404
    assert server.get(f"/data/plugin/audio/individualAudio?content_type=audio/wav&blob_key={image_key}").status == 404


def test_head_says_what_get_would(server):
    path = image_of(server)
    whole, head = server.get(path), server.get(path, method="HEAD")
    assert head.body == b"" and head["Content-Length"] == str(len(whole.body))


def test_a_log_that_went_is_told_by_410_or_404(tmp_path):
    """The bytes stay in the log: when that is gone, nobody gets another file's."""
    logs = tmp_path / "logs"
    shutil.copytree(FIXTURES / "tf/v2/train", logs)
    with Seaboard(logs, "--reload_interval", "1000", "--no_inotify") as server:
        server.loaded()
        path = first(server, "images", "images", "individualImage", ".", "examples")
        assert server.get(path).status == 200
        for file in logs.glob("*tfevents*"):
            file.write_bytes(b"x" * file.stat().st_size)
        reply = server.get(path)
        assert reply.status in (404, 410), (reply.status, reply.body[:200])
        assert b"x" * 20 not in reply.body
        assert len(reply.body) > 5
        for file in logs.glob("*tfevents*"):
            file.unlink()
        assert server.get(path).status in (404, 410)
