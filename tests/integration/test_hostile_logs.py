"""Log directories that are damaged, lying, huge or strange: loading goes on with the rest, the status names the
file, memory stays within bounds, and what can be read is answered rightly."""

import json
import os
import pathlib
import shutil
import socket
import struct
import subprocess
import urllib.parse

import pytest

from command import FIXTURES, field, frame, masked_crc, scalar, varint
from http_driver import programs
from serve_driver import Seaboard

AWKWARD = FIXTURES / "tf/awkward"
WALL = 1700000000.0


def value(tag, rest):
    return field(1, field(1, tag) + rest)


def event(step, *values):
    return b"\x09" + struct.pack("<d", WALL + step) + b"\x10" + varint(step) + field(5, b"".join(values))


def simple(number):
    return b"\x15" + struct.pack("<f", number)


def put(path, *payloads, tail=b""):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(b"".join(map(frame, payloads)) + tail)
    return path


def put_good(folder, name="events.out.tfevents.1700000000.good"):
    """A log that must be there whatever stands beside it."""
    return put(folder / name, *(scalar(b"loss", step, step / 2) for step in range(50)))


def ask(server, route, **params):
    return server.get(f"/data/plugin/{route}?{urllib.parse.urlencode(params)}")


def points(server, run, tag="loss"):
    return [(step, number) for _, step, number in ask(server, "scalars/scalars", run=run, tag=tag).json()]


def points_if_read(server, run, tag="loss"):
    """The same for a run that may not have been read yet: a run is listed before its first points are."""
    known = ask(server, "scalars/scalars", run=run, tag=tag).status != 404
    return points(server, run, tag) if known else []


def assert_good(server, run="good"):
    assert points(server, run) == [(step, step / 2) for step in range(50)]


def files(server):
    """What the status says of each file, by its name and its folder's."""
    found = server.json("/api/v1/status?files=1")["files"]
    return {"/".join(entry["path"].split("/")[-2:]): entry for entry in found}


# ---- the awkward fixtures: what is shown of each, and why -------------------------------------------------------

NAME = "events.out.tfevents.1700000000.host.1.0"
EXPECTED = {
    # the one flipped bit is in the payload of step 14: that record is lost, and no other
    "bitflip": [(step, float(step)) for step in range(30) if step != 14],
    # the last record is cut: it may still be being written
    "truncated": [(step, float(step)) for step in range(29)],
    # a second file began after the first one's last event and went over the same steps again
    "restart": [(step, float(step)) for step in range(10)] + [(step, step + 90.0) for step in range(10, 25)],
    # the same in one file, told by a SessionLog START
    "restart_same_file": [(step, float(step)) for step in range(5)] + [(step, 5.0 - step) for step in range(5, 15)],
}
WEIRD = ["", " sp ace", "../../etc/passwd", "/lead", "<b>&\"'", "a//b", "üñí/çode"]


@pytest.fixture(scope="module")
def awkward():
    with Seaboard(AWKWARD) as server:
        server.loaded()
        yield server


@pytest.mark.parametrize("run", sorted(EXPECTED))
def test_awkward_run_shows_what_can_be_read(awkward, run):
    assert points(awkward, run, "a") == EXPECTED[run]


def test_awkward_tags_are_tags_like_any_other(awkward):
    tags = awkward.json("/data/plugin/scalars/tags")["weird tags"]
    assert sorted(tag for tag in tags if len(tag) < 100) == sorted(WEIRD)
    assert any(len(tag) >= 500 for tag in tags)
    for tag in tags:
        assert points(awkward, "weird tags", tag) == [(0, 1.0), (-3, 1.0), (1 << 40, 1.0)], tag


def test_awkward_event_with_many_values_gives_them_all(awkward):
    assert len(awkward.json("/data/plugin/scalars/tags")["many_values_one_event"]) == 200
    for i in (0, 1, 99, 199):
        assert points(awkward, "many_values_one_event", f"t{i}") == [(1, float(i))]


def test_awkward_damage_is_told_per_file(awkward):
    told = files(awkward)
    damaged = told.pop("bitflip/" + NAME)
    assert (damaged["damaged"], damaged["lost"], damaged["records"]) == (1, 39, 30)
    assert "offset 584" in damaged["trouble"]
    for name, entry in told.items():
        assert (entry["damaged"], entry["trouble"]) == (0, ""), name
    cut = told["truncated/" + NAME]
    assert cut["read"] < cut["size"] and cut["records"] == 30


# ---- lies --------------------------------------------------------------------------------------------------------


def lying_header(claim):
    length = struct.pack("<Q", claim)
    return length + struct.pack("<I", masked_crc(length))


@pytest.mark.parametrize("claim", [1 << 60, (1 << 64) - 1, (1 << 63) - 16, 3 << 30])
def test_record_that_claims_more_than_there_is(tmp_path, claim):
    """Memory is asked for by what is there, not by what a record says."""
    put_good(tmp_path / "good")
    put(tmp_path / "end/x.tfevents", scalar(b"loss", 1, 1.0), tail=lying_header(claim) + b"short")
    put(tmp_path / "middle/x.tfevents", scalar(b"loss", 1, 1.0), tail=lying_header(claim) + frame(scalar(b"loss", 2, 2.0)))
    with Seaboard(tmp_path) as server:
        server.loaded()
        assert_good(server)
        assert points(server, "end") == [(1, 1.0)]
        assert points(server, "middle")[:1] == [(1, 1.0)]
        for run in ("end", "middle"):
            entry = files(server)[f"{run}/x.tfevents"]
            assert entry["read"] < entry["size"] or entry["damaged"], entry
        assert server.memory("VmPeak") < 64 << 30 and server.memory("VmHWM") < 1 << 20


def tensor(dtype, dims, content=b"", rest=b""):
    shape = b"".join(field(2, b"\x08" + varint(dim)) for dim in dims)
    return field(8, b"\x08" + bytes([dtype]) + field(2, shape) + (field(4, content) if content else b"") + rest)


def metadata(plugin):
    return field(9, field(1, field(1, plugin)))


SHAPES = [[1 << 62, 1 << 62], [1 << 63, 2], [(1 << 64) - 1], [1 << 32, 1 << 32], [0, 1 << 63], [3, 1 << 61], [1] * 300]
PLUGINS = [b"scalars", b"histograms", b"text", b"images", b"audio", b"pr_curves", b"mesh", b"hparams", b"custom_scalars"]


def test_tensors_whose_shapes_overflow(tmp_path):
    put_good(tmp_path / "good")
    events = []
    for plugin in PLUGINS:
        for number, shape in enumerate(SHAPES):
            for dtype, content in ((1, b"\0\0\x80\x3f"), (2, b"\0" * 8), (7, b""), (10, b"\1")):
                tag = b"%s/%d/%d" % (plugin, number, dtype)
                rest = field(8, b"text") if dtype == 7 else b""
                events.append(event(1, value(tag, tensor(dtype, shape, content, rest) + metadata(plugin))))
    put(tmp_path / "lies/x.tfevents", *events, scalar(b"loss", 7, 3.0))
    with Seaboard(tmp_path) as server:
        server.loaded()
        assert_good(server)
        assert points(server, "lies") == [(7, 3.0)]
        routes = {
            "scalars/tags": "scalars/scalars",
            "histograms/tags": "histograms/histograms",
            "distributions/tags": "distributions/distributions",
            "images/tags": "images/images",
            "audio/tags": "audio/audio",
            "text/tags": "text/text",
            "pr_curves/tags": "pr_curves/pr_curves",
            "mesh/tags": "mesh/meshes",
        }
        with server.connect() as client:
            for listing, route in routes.items():
                listed = client.ask(f"/data/plugin/{listing}")
                assert listed.status == 200
                for tag in listed.json().get("lies", []):
                    query = urllib.parse.urlencode({"run": "lies", "tag": tag, "sample": 0})
                    assert client.ask(f"/data/plugin/{route}?{query}").status < 500, (route, tag)
            assert client.ask("/data/plugin/hparams/experiment", "Content-Type: application/json", method="POST", body=b"{}").status < 500
            assert client.ask("/data/plugin/custom_scalars/layout").status < 500
        assert_good(server)
        assert server.memory("VmHWM") < 1 << 20


# ---- very many ---------------------------------------------------------------------------------------------------


MOST_TAGS = 1_000_000  # of one run; what comes beyond is counted


def test_ten_million_tags_in_one_file(tmp_path):
    """The first million is kept, each at the cost of its series; the rest is counted and told, for the file too."""
    count, each = 10 * MOST_TAGS, 100
    put_good(tmp_path / "good")
    (tmp_path / "many").mkdir()
    subprocess.run([programs("many_tags")[0], tmp_path / "many/x.tfevents", str(count), str(each)], check=True)
    with Seaboard(tmp_path) as server:
        status = server.loaded()
        assert status["loading"]["points"] == MOST_TAGS + 50
        assert status["plugins"] == {"scalars": MOST_TAGS + 1}
        assert_good(server)
        assert points(server, "many", "tag/0") == [(0, 0.0)]
        assert points(server, "many", f"tag/{MOST_TAGS - 1}") == [(MOST_TAGS // each - 1, each - 1.0)]
        assert ask(server, "scalars/scalars", run="many", tag=f"tag/{MOST_TAGS}").status == 404
        run = next(run for run in server.json("/api/v1/runs")["runs"] if run["name"] == "many")
        assert (run["series"], run["droppedTags"], run["damaged"]) == (MOST_TAGS, count - MOST_TAGS, 0)
        told = files(server)["many/x.tfevents"]
        assert told["records"] == count // each and str(count - MOST_TAGS) in told["trouble"]
        changes = server.json("/api/v1/changes?since=1")
        assert changes["more"] and len(changes["series"]) <= 10_000
        assert server.memory("VmRSS") < 700 << 10  # 0.7 KiB a tag
        assert len(server.json("/data/plugin/scalars/tags")["many"]) == MOST_TAGS
        assert server.memory("VmHWM") < 2 << 20


def put_many(folder, count, first=0):
    """Files one after the other: each begins after the one before it, one step further."""
    folder.mkdir(exist_ok=True)
    for number in range(first, first + count):
        name = folder / f"events.out.tfevents.{number:06d}"
        name.write_bytes(frame(event(number, value(b"loss", simple(number % 1000)))))


def test_a_hundred_thousand_files_of_one_run(tmp_path):
    """What is superseded is found without comparing all with all, and the sums of the files are not made anew."""
    count = 100_000
    put_many(tmp_path / "together", count)
    with Seaboard(tmp_path, "--reload_interval", 1) as server:
        status = server.loaded()
        assert (status["loading"]["files"], status["loading"]["runs"]) == (count, 1)
        truth = [(step, float(step % 1000)) for step in range(count)]
        assert points(server, "together") == truth
        assert len(os.listdir(f"/proc/{server.process.pid}/fd")) < 500
        assert server.memory("VmRSS") < 400 << 10
        run = server.json("/api/v1/runs")["runs"][0]
        assert (run["attempts"], run["points"]) == (count, count)
        assert len(files(server)) == count
        # a file that began after all of them goes over the upper half again
        again = event(count // 2, value(b"loss", simple(0.5)))
        again = again[:1] + struct.pack("<d", WALL + 2 * count) + again[9:]
        put(tmp_path / "together/events.out.tfevents.999999", again)
        server.wait(lambda: len(points(server, "together")), lambda n: n == count // 2 + 1)
        assert points(server, "together") == truth[: count // 2] + [(count // 2, 0.5)]


def test_very_many_runs(tmp_path):
    count = 10_000
    log = frame(scalar(b"loss", 1, 1.0))
    for number in range(count):
        folder = tmp_path / f"run{number}"
        folder.mkdir()
        (folder / "x.tfevents").write_bytes(log)
    with Seaboard(tmp_path) as server:
        status = server.loaded()
        assert (status["loading"]["files"], status["loading"]["runs"]) == (count, count)
        assert status["plugins"] == {"scalars": 1}
        assert points(server, "run9999") == [(1, 1.0)]
        assert len(os.listdir(f"/proc/{server.process.pid}/fd")) < 500
        assert server.memory("VmRSS") < 150 << 10


# ---- what is no plain file ---------------------------------------------------------------------------------------


def test_pipes_and_sockets_with_an_event_files_name_hold_nobody_up(tmp_path):
    put_good(tmp_path / "good")
    os.mkfifo(tmp_path / "good/pipe.tfevents")
    (tmp_path / "other").mkdir()
    os.mkfifo(tmp_path / "other/pipe.tfevents")
    os.symlink("/dev/zero", tmp_path / "other/zero.tfevents")
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(os.path.relpath(tmp_path / "other/socket.tfevents"))
        with Seaboard(tmp_path) as server:
            server.loaded()
            assert_good(server)
            assert server.json("/data/runs") == ["good"]


def test_file_that_turns_into_a_pipe_holds_nobody_up(tmp_path):
    put_good(tmp_path / "good")
    turned = put(tmp_path / "turned/x.tfevents", scalar(b"loss", 1, 1.0))
    with Seaboard(tmp_path, "--reload_interval", 1) as server:
        server.loaded()
        os.mkfifo(tmp_path / "pipe")
        os.rename(tmp_path / "pipe", turned)
        server.wait(lambda: server.json("/data/runs"), lambda runs: runs == ["good"])
        assert_good(server)


def test_pipe_as_the_log_directory_holds_nobody_up(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    with Seaboard(tmp_path / "pipe") as server:
        server.loaded()
        assert server.status()["loading"]["points"] == 0


def test_loops_of_links_end(tmp_path):
    put_good(tmp_path / "good")
    os.symlink(".", tmp_path / "good/itself")
    os.symlink("..", tmp_path / "good/above")
    os.symlink("b", tmp_path / "a")
    os.symlink("a", tmp_path / "b")
    os.symlink("x.tfevents", tmp_path / "good/x.tfevents")
    os.symlink("/nowhere/x", tmp_path / "good/nowhere.tfevents")
    with Seaboard(tmp_path) as server:
        server.loaded()
        assert_good(server)
        assert server.json("/data/runs") == ["good"]


class Unprivileged(Seaboard):
    """Even as root without the right to read everything."""

    def __init__(self, *args):
        super().__init__(*args)
        if os.geteuid() == 0:
            self.command = ["setpriv", "--bounding-set", "-dac_override,-dac_read_search", *self.command]


def test_what_may_not_be_read_is_named_and_left_out(tmp_path):
    put_good(tmp_path / "good")
    secret = put(tmp_path / "mixed/a.tfevents", scalar(b"loss", 1, 1.0))
    put(tmp_path / "mixed/b.tfevents", scalar(b"loss", 2, 2.0))
    closed = put(tmp_path / "closed/x.tfevents", scalar(b"loss", 1, 1.0)).parent
    secret.chmod(0)
    closed.chmod(0)
    try:
        with Unprivileged(tmp_path, "--reload_interval", 1) as server:
            status = server.loaded()
            assert_good(server)
            assert points(server, "mixed") == [(2, 2.0)]
            entry = files(server)["mixed/a.tfevents"]
            assert entry["state"] == "failed" and "ermission denied" in entry["trouble"], entry
            assert status["loading"]["problems"] == 1 and "closed" in status["loading"]["problem"], status["loading"]
            secret.chmod(0o600)
            closed.chmod(0o700)
            server.wait(lambda: points(server, "mixed"), lambda found: found == [(1, 1.0), (2, 2.0)])
            server.wait(lambda: server.json("/data/runs"), lambda runs: "closed" in runs)
    finally:
        closed.chmod(0o700)


def test_file_whose_bytes_cannot_be_had_is_named(tmp_path):
    """/proc/self/mem looks like a file and answers a read at its start with an error."""
    put_good(tmp_path / "good")
    (tmp_path / "odd").mkdir()
    os.symlink("/proc/self/mem", tmp_path / "odd/mem.tfevents")
    with Seaboard(tmp_path) as server:
        server.loaded()
        assert_good(server)
        entry = files(server).get("odd/mem.tfevents")
        assert entry is None or entry["records"] == 0


# ---- comings and goings ------------------------------------------------------------------------------------------


def test_log_directory_that_goes_away_and_comes_back(tmp_path):
    logdir, away = tmp_path / "logs", tmp_path / "away"
    put_good(logdir / "good")
    with Seaboard(logdir, "--reload_interval", 1) as server:
        server.loaded()
        assert_good(server)
        logdir.rename(away)
        server.wait(lambda: server.json("/data/runs"), lambda runs: runs == [])
        assert server.json("/data/plugin/scalars/tags") == {}
        assert ask(server, "scalars/scalars", run="good", tag="loss").status == 404
        away.rename(logdir)
        server.wait(lambda: server.json("/data/runs"), lambda runs: runs == ["good"])
        server.wait(lambda: len(points_if_read(server, "good")), lambda n: n == 50)
        assert_good(server)
        shutil.rmtree(logdir)
        logdir.write_bytes(b"a file now")
        server.wait(lambda: server.json("/data/plugin/scalars/tags"), lambda tags: tags == {})


# ---- names -------------------------------------------------------------------------------------------------------

NAMES = [
    b"it's \"quoted\"",
    b"new\nline\rtab\t",
    "emoji \U0001f680 \u202e".encode(),
    b"bad\xff\xfe",
    b"bad\xfe\xff",
    b"<script>alert(1)<script>",
    b"..%2f..%2fetc",
    b"a\\b;c&d=e#f?g",
    b"\x01\x02\x7f",
    b"x" * 255,
    b"-",
    b" ",
    b"...",
    "e\u0301".encode(),
]
TAGS = NAMES + [b"../../../../etc/passwd", b"/etc/passwd", b"nul\0inside", b"<img src=x onerror=alert(1)>", b"\xed\xa0\x80", b"\xc0\xae"]


def test_names_of_any_bytes(tmp_path):
    """What is listed is valid text and may be asked for by what it is listed as; nothing is shown twice or lost."""
    base = os.fsencode(tmp_path)
    for number, name in enumerate(NAMES):
        folder = os.path.join(base, name)
        os.mkdir(folder)
        with open(os.path.join(folder, b"x.tfevents"), "wb") as log:
            log.write(frame(scalar(b"loss", number, number)))
    with Seaboard(tmp_path) as server:
        server.loaded()
        runs = server.json("/data/runs")
        assert len(runs) == len(set(runs)) == len(NAMES)
        seen = sorted(points(server, run)[0] for run in runs)
        assert seen == [(number, float(number)) for number in range(len(NAMES))]
        own = {run["name"] for run in server.json("/api/v1/runs")["runs"]}
        assert own == set(runs)
        for name in NAMES:
            if b"bad" not in name:
                assert name.decode() in runs


def test_tags_of_any_bytes(tmp_path):
    put(tmp_path / "r/x.tfevents", *(event(1, value(tag, simple(number))) for number, tag in enumerate(TAGS)))
    with Seaboard(tmp_path) as server:
        server.loaded()
        tags = list(server.json("/data/plugin/scalars/tags")["r"])
        shown = [tag.decode(errors="replace") for tag in TAGS]
        clean = [tag.decode() for tag in TAGS if tag.decode(errors="ignore").encode() == tag]
        assert set(clean) <= set(tags) and len(tags) <= len(shown)
        for tag in clean:
            number = shown.index(tag)
            assert points(server, "r", tag) == [(1, float(number))], tag
            reply = ask(server, "scalars/scalars", run="r", tag=tag, format="csv")
            assert reply.status == 200 and reply["Content-Type"].startswith("text/csv")
        for tag in tags:
            assert ask(server, "scalars/scalars", run="r", tag=tag).status in (200, 404)


# ---- damage of every kind --------------------------------------------------------------------------------------


def test_cut_at_every_byte_the_whole_records_remain(tmp_path):
    whole = [frame(scalar(b"loss", step, step)) for step in range(1, 4)]
    log = b"".join(whole)
    for size in range(len(log)):
        folder = tmp_path / f"cut{size:03d}"
        folder.mkdir()
        (folder / "x.tfevents").write_bytes(log[:size])
    with Seaboard(tmp_path) as server:
        server.loaded()
        tags = server.json("/data/plugin/scalars/tags")
        for size in range(len(log)):
            run, count = f"cut{size:03d}", size // len(whole[0])
            assert bool(tags.get(run)) == (count > 0)
            if count:
                assert points(server, run) == [(step, float(step)) for step in range(1, count + 1)]


def test_a_flip_of_any_bit_costs_one_record_at_most(tmp_path):
    whole = [frame(scalar(b"loss", step, step)) for step in range(1, 4)]
    log, size = b"".join(whole), len(whole[0])
    for at in range(size, 2 * size):
        folder = tmp_path / f"flip{at:03d}"
        folder.mkdir()
        damaged = bytearray(log)
        damaged[at] ^= 1 << at % 8
        (folder / "x.tfevents").write_bytes(damaged)
    with Seaboard(tmp_path) as server:
        server.loaded()
        for at in range(size, 2 * size):
            assert points(server, f"flip{at:03d}") == [(1, 1.0), (3, 3.0)], at
        told = server.status()["damage"]
        assert told["files"] == size and told["records"] == size


def test_wrong_contents_in_good_records(tmp_path):
    """Payloads with good checksums that are no events, or events of nonsense."""
    put_good(tmp_path / "good")
    junk = [
        b"",
        b"\xff" * 40,
        b"\x2a\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01",
        b"\x2a\x05\x0a\xff\xff\xff\xff",
        field(5, field(1, field(1, b"t") + field(8, b"\xff" * 9))),
        b"\x0b" * 200,
        field(3, b"brain.Event:99"),
        b"\x10" + b"\x80" * 10 + b"\x01",
        event(-5, value(b"loss", simple(float("nan")))),
        b"\x09" + struct.pack("<d", float("inf")) + b"\x10\x01" + field(5, value(b"loss", simple(float("inf")))),
        b"\x2a\x02\x08\x01" * 50,
    ]
    put(tmp_path / "junk/x.tfevents", *junk, scalar(b"loss", 99, 1.5))
    with Seaboard(tmp_path) as server:
        server.loaded()
        assert_good(server)
        shown = points(server, "junk")
        assert shown[-1] == (99, 1.5) and (-5, "NaN") in shown and (1, "Infinity") in shown
        json.dumps(shown, allow_nan=False)


def test_the_rest_is_served_while_files_are_strange(tmp_path):
    put_good(tmp_path / "good")
    odd = tmp_path / "odd"
    odd.mkdir()
    (odd / "zeros.tfevents").write_bytes(b"\0" * 100_000)
    (odd / "text.tfevents").write_text("this is no log\n" * 1000)
    (odd / "gzip.tfevents").write_bytes(b"\x1f\x8b\x08" + b"\xff" * 100)
    (odd / "ends.tfevents").write_bytes(b"\x1f\x8b")
    pathlib.Path(odd / "folder.tfevents").mkdir()
    with Seaboard(tmp_path) as server:
        server.loaded()
        assert_good(server)
        told = files(server)
        for name in ("zeros", "text", "gzip"):
            entry = told[f"odd/{name}.tfevents"]
            assert entry["records"] == 0 and (entry["read"] < entry["size"] or entry["damaged"] or entry["trouble"]), entry
