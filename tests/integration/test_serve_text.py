"""Texts: as they were logged, parts of tensors, formulas, the search through all of them, and all of a series to take away."""

import csv
import io
import json
import struct

import pytest
from api_client import Api
from command import FIXTURES, field, frame, varint
from serve_driver import Seaboard


def texts(tag, step, strings, dims=None):
    shape = b"" if dims is None else field(2, b"".join(field(2, b"\x08" + varint(n)) for n in dims))
    tensor = field(8, b"\x08\x07" + (shape or field(2, b"")) + b"".join(field(8, text) for text in strings))
    summary = field(1, field(1, tag) + tensor + field(9, field(1, field(1, b"text"))))
    return b"\x09" + struct.pack("<d", 1.7e9 + step) + b"\x10" + varint(step) + field(5, summary)


KEEPER = "The lighthouse keeper wrote *down* the height of the Sea, step {}."


@pytest.fixture(scope="module")
def api(tmp_path_factory):
    root = tmp_path_factory.mktemp("logs")
    for run in ("a", "b"):
        (root / run).mkdir()
        events = [texts(b"samples/keeper", step, [KEEPER.format(step).encode()]) for step in range(0, 40, 10)]
        if run == "b":
            events.append(texts(b"cube", 1, [f"{i}{j}{k}".encode() for i in range(2) for j in range(3) for k in range(2)], [2, 3, 2]))
            events.append(texts(b"maths", 1, [b"Loss $a_1 * b_1 * c_1$ costs $5\n\n$$\\frac{1}{2}$$ `$x$`"]))
            events.append(texts(b"broken", 1, [b"a\xff\xfeb lighthouse \xc3"]))
            events.append(texts(b"chinese", 1, ["守塔人写下了海浪的高度，灯塔很高。".encode()]))
        (root / run / "x.tfevents").write_bytes(b"".join(map(frame, events)))
    with Seaboard(root) as served:
        served.loaded()
        yield Api(served)


def ids(api):
    return {run["name"]: run["id"] for run in api.get("runs")["runs"]}


def one(api, tag, more=""):
    return api.get(f"text?run={ids(api)['b']}&tag={tag}&count=1{more}")["points"][0]


def test_a_text_comes_as_it_was_logged(api):
    point = one(api, "samples/keeper", "&raw=1")
    assert point["strings"] == [KEEPER.format(30)] and "html" not in point and "dims" not in point
    cut = one(api, "samples/keeper", "&raw=1&max=7")
    assert cut["strings"] == ["The lig"] and cut["bytes"] == len(KEEPER.format(30))
    whole = one(api, "chinese", "&raw=1")["strings"][0]
    assert whole.startswith("守塔人")
    assert one(api, "chinese", "&raw=1&max=4")["strings"] == ["守"]
    bad = one(api, "broken")
    assert bad["badBytes"] == 3 and "\ufffd" in bad["html"]


def test_every_plane_of_a_tensor_can_be_seen(api):
    for at, first in (("", "000"), ("&slice=0", "000"), ("&slice=1", "100"), ("&slice=99", "100")):
        point = one(api, "cube", at)
        assert point["dims"] == [2, 3, 2]
        assert f"<td><p>{first}</p></td>" in point["html"] and point["html"].count("<tr>") == 3
        assert "Warning" not in point["html"]
    assert one(api, "cube", "&raw=1&slice=1")["strings"] == ["100", "101", "110", "111", "120", "121"]
    for wrong in ("&slice=x", "&slice=1,,2", "&raw=2", "&maths=x"):
        assert api.error(f"text?run={ids(api)['b']}&tag=cube{wrong}")[0] == 400


def test_formulas_are_taken_out_of_markdown(api):
    point = one(api, "maths", "&maths=1")
    assert point["maths"] == [
        {"tex": "a_1 * b_1 * c_1", "display": False},
        {"tex": "\\frac{1}{2}", "display": True},
    ]
    assert "\ue0000\ue001" in point["html"] and "\ue0001\ue001" in point["html"]
    assert "costs $5" in point["html"] and "<code>$x$</code>" in point["html"]
    assert "maths" not in one(api, "maths") and "$$" in one(api, "maths")["html"]


def find(api, text, **more):
    return api.post("text/search", {"text": text, **more})


def test_a_search_goes_through_all_texts_of_all_runs(api):
    reply = find(api, "LIGHTHOUSE")
    assert (reply["total"], reply["searched"], reply["hits"]) == (12, 12, 9)
    where = [(one["run"], one["tag"], one["step"]) for one in reply["found"]]
    run = ids(api)
    assert where[:4] == [(run["a"], "samples/keeper", step) for step in (30, 20, 10, 0)]
    assert (run["b"], "broken", 1) in where
    first = reply["found"][0]
    assert (first["before"], first["match"], first["count"]) == ("The ", "lighthouse", 1)
    assert first["after"].startswith(" keeper wrote")
    assert find(api, "LIGHTHOUSE", case=True)["found"] == []
    assert find(api, "*down*")["hits"] == 8  # these very characters
    assert find(api, "k\\w+r", regex=True, runs=[run["a"]])["hits"] == 4
    assert find(api, "灯塔")["found"][0]["before"].endswith("，")
    assert find(api, "STEP 1", case=False)["hits"] == 2


def test_a_search_is_bounded_and_goes_on(api):
    seen, skip = [], 0
    while skip is not None:
        reply = find(api, "keeper", max=3, skip=skip)
        assert len(reply["found"]) <= 3
        seen += [(one["run"], one["step"]) for one in reply["found"]]
        skip = reply.get("next")
    assert len(seen) == 8 == len(set(seen))
    for wrong in ({}, {"text": 3}, {"text": "a", "max": 0}, {"text": "a", "max": 1000}, {"text": "a", "runs": 3}, {"text": ""}):
        assert api.error("text/search", wrong)[0] == 400
    status, error = api.error("text/search", {"text": "(a", "regex": True})
    assert status == 400 and error["message"]
    status, error = api.error("text/search", {"text": "(.*.*)*x{9}$", "regex": True})
    assert status == 400 and "too long" in error["message"]


def test_all_texts_of_a_series_can_be_taken_away(api):
    run = ids(api)["b"]
    _, headers, body = api.call(f"text/export?run={run}&tag=samples/keeper&format=csv")
    rows = list(csv.reader(io.StringIO(body.decode(), newline="")))
    assert headers["Content-Type"].startswith("text/csv") and headers["Content-Disposition"] == "attachment"
    assert rows[0] == ["step", "wall_time", "index", "text"] and [row[0] for row in rows[1:]] == ["0", "10", "20", "30"]
    assert rows[1][3] == KEEPER.format(0)
    everything = json.loads(api.call(f"text/export?run={run}&tag=cube&format=json")[2])
    assert everything[0]["dims"] == [2, 3, 2] and len(everything[0]["strings"]) == 12
    assert api.error(f"text/export?run={run}&tag=cube&format=xml")[0] == 400
    assert api.error(f"text/export?run={run}&tag=nope")[0] == 404
    assert api.call(f"blob?run={run}&tag=broken&step=1")[2] == b"a\xff\xfeb lighthouse \xc3"


def test_texts_of_tensorflow_and_torch_are_found():
    with Seaboard(FIXTURES) as served:
        served.loaded()
        api = Api(served)
        reply = find(api, ".", regex=True)
        assert reply["total"] == reply["searched"] > 3
        assert {one["run"] for one in reply["found"]} <= {run["id"] for run in api.get("runs")["runs"]}
        assert len({one["run"] for one in reply["found"]}) >= 2
