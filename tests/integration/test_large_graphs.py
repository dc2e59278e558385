"""Graphs that are large in one way or another: a million nodes are read by a background job and shown folded, constants of
100 MB are neither kept nor copied. Memory and what is answered are checked, time is not."""

import json
import pathlib
import sys
import time

import pytest
from api_client import Api
from command import field, varint
from serve_driver import Seaboard

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "conformance"))
import sbctypes as sb  # noqa: E402

MB = 1 << 20


def write(run, graph):
    with sb.Writer(run, style=sb.TF1) as writer:  # ours: the checksum of 100 MB takes Python half a minute
        writer.graph(graph)


def memory(server, what):
    with open(f"/proc/{server.process.pid}/status") as lines:
        return next(int(line.split()[1]) for line in lines if line.startswith(what)) / 1024


def source_of(api):
    (graph,) = api.get("graphs")["graphs"]
    return {"graph": {"run": graph["run"], "tag": graph["tag"]}}, graph["bytes"]


def finished(api, job):
    while job["state"] in ("waiting", "running"):
        assert 0 <= job["done"] <= max(job["total"], 1)
        time.sleep(0.05)
        job = api.get(f"job?id={job['id']}")["job"]
    return job


def submit(api, source, **more):
    body = {"kind": "graph", "args": {"source": source, **more}}
    _, _, reply = api.call("jobs", body, headers={"X-Seaboard-Request": "1"})
    return json.loads(reply)["job"]


def result(api, job):
    return json.loads(api.call(f"job/result?id={job['id']}")[2])


def send(api, data):
    headers = {"Content-Type": "application/octet-stream", "X-Seaboard-Request": "1"}
    return json.loads(api.call("graph/file", data, headers=headers)[2])


@pytest.fixture(scope="module")
def million(tmp_path_factory):
    """A thousand blocks of a thousand operations, each fed by the one before."""
    # one block as a pattern, which is written a thousand times: with the numbers of the block and of the one before it
    block, before = b"", b"net/block_@@@/n999x"
    for i in range(1000):
        name = b"net/block_###/n%dx" % i
        block += field(1, field(1, name) + field(2, b"Relu" if i % 2 else b"MatMul") + field(3, before))
        before = name
    blocks = [block.replace(b"###", b"%03d" % i).replace(b"@@@", b"%03d" % (i - 1)) for i in range(1, 1000)]
    first = b"the_very_first_node"  # as long as the name in whose place it stands
    start = block.replace(b"net/block_@@@/n999x", first).replace(b"###", b"000")
    root = tmp_path_factory.mktemp("million")
    write(root / "run", field(1, field(1, first) + field(2, b"Placeholder")) + start + b"".join(blocks))
    with Seaboard(root) as server:
        server.loaded()
        yield server, Api(server)


def test_a_million_nodes_are_read_by_a_job_and_shown_folded(million):
    server, api = million
    source, size = source_of(api)
    assert size > 30 * MB
    ask = {"source": source, "open": [], "auto": True}
    assert api.post("graph/draw", ask)["isLarge"]  # a request does not read it
    code, why = api.error("graph/find", {"source": source, "query": "x"})
    assert code == 409 and why["code"] == "large" and "job" in why["message"]
    job, same = submit(api, source, auto=True), submit(api, source, auto=True)
    assert same["id"] == job["id"]
    assert finished(api, job)["state"] == "done"
    drawing = api.post("graph/draw", ask)
    assert "isLarge" not in drawing
    made = result(api, job)
    assert {**made, "version": 0} == {**drawing, "version": 0}
    assert drawing["totals"]["ops"] == 1_000_001 and drawing["odds"] == []
    assert drawing["boxes"]["name"] == ["net", "the_very_first_node", "net/block[0-999]"]
    assert api.post("graph/find", {"source": source, "query": "block_777/n5x"})["total"] == 1
    # the whole log, the model, and what is needed to make it
    assert memory(server, "VmHWM") < 1500


def test_a_layout_of_very_many_boxes_is_made_by_a_job_that_can_be_cancelled(million):
    server, api = million
    source, _ = source_of(api)
    finished(api, submit(api, source, auto=True))
    blocks = [f"net/block_{i:03}" for i in range(20)]
    ask = {"source": source, "open": ["net", "net/block[0-999]", *blocks]}
    reply = api.post("graph/draw", ask)
    assert reply["isLarge"] and reply["boxes"]["name"] == []
    job = submit(api, **ask)
    headers = {"X-Seaboard-Request": "1"}
    api.call(f"job?id={job['id']}", method="DELETE", headers=headers)
    # who comes later gets a drawing of its own
    drawing = result(api, finished(api, submit(api, **ask)))
    assert len(drawing["boxes"]["name"]) == 3 + 1000 + 20 * 1000
    assert drawing["w"] > 0 and len(drawing["lines"]["from"]) > 20_000


def test_a_large_file_is_read_by_a_job_and_a_small_one_at_once(million):
    _, api = million
    large = b"".join(
        field(1, field(1, b"net/a%07dx" % i) + field(2, b"MatMul" if i % 2 else b"Relu")) for i in range(400_000)
    )
    assert len(large) > 8 * MB
    sent = send(api, large)
    assert sent["isLarge"] and sent["format"] == ""
    assert send(api, large)["file"] == sent["file"]
    source = {"graph": {"file": sent["file"]}}
    assert api.post("graph/draw", {"source": source, "open": []})["isLarge"]
    job = submit(api, source, auto=True)
    assert submit(api, source, auto=True)["id"] == job["id"]
    drawing = result(api, finished(api, job))
    assert drawing["format"] == "GraphDef" and drawing["totals"]["ops"] == 400_000
    assert not send(api, large)["isLarge"]  # the server has read it
    small = send(api, field(1, field(1, b"a") + field(2, b"Relu")))
    assert not small["isLarge"] and small["format"] == "GraphDef"
    cut = send(api, b"\xff" + large)
    assert cut["isLarge"]
    job = finished(api, submit(api, {"graph": {"file": cut["file"]}}))
    assert job["state"] == "failed" and "not a graph" in job["error"]


def test_a_job_for_a_graph_that_is_not_there_says_so(million):
    _, api = million
    job = finished(api, submit(api, {"graph": {"run": 4711, "tag": "__run_graph__"}}))
    assert job["state"] == "failed" and "no such run" in job["error"]
    body = {"kind": "graph", "args": {"source": {"graph": {"run": "x"}}}}
    code, _ = api.error("jobs", body, headers={"X-Seaboard-Request": "1"})
    assert code == 400


def constants(count, size):
    value = field(8, varint(1 << 3) + varint(1) + field(4, b"\x3f" * size))  # a TensorProto: dtype, tensor_content
    attr = field(5, field(1, b"value") + field(2, value))
    nodes = [field(1, field(1, b"net/c%dx" % i) + field(2, b"Const") + attr) for i in range(count)]
    user = field(1, b"sum") + field(2, b"AddN") + b"".join(field(3, b"net/c%dx" % i) for i in range(count))
    return b"".join(nodes) + field(1, user)


@pytest.mark.parametrize("way", ["log", "file"])
def test_constants_of_100_megabytes_are_neither_kept_nor_copied(tmp_path, way):
    graph = constants(25, 4 * MB)
    if way == "log":
        write(tmp_path / "logs/run", graph)
    (tmp_path / "logs").mkdir(exist_ok=True)
    with Seaboard(tmp_path / "logs") as server:
        server.loaded()
        api = Api(server)
        if way == "log":
            source, _ = source_of(api)
        else:
            source = {"graph": {"file": send(api, graph)["file"]}}
        drawing = result(api, finished(api, submit(api, source, open=["net"])))
        assert drawing["totals"]["ops"] == 26
        assert [(odd["kind"], odd["n"]) for odd in drawing["odds"]] == [("large", 25)]
        node = api.post("graph/node", {"source": source, "name": "net/c3x"})
        assert [attr["value"] for attr in node["attrs"]] == ['"4194316 bytes, left out"']
        assert memory(server, "VmHWM") < 100 * 2 + 80  # it is read once; a body that comes in pieces may be moved once
        assert memory(server, "VmRSS") < 80
