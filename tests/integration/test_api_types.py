"""Every JSON reply of /api/v1 is what the tables in src/server/api say: no field more, none less, each of its type.

The web app's types are written from the same tables (tools/check_api), so what is held here holds for the page.
"""

import json
import math
import pathlib
import shutil
import sys
import time
import urllib.parse

import pytest
from tensorboard.compat.proto import event_pb2, graph_pb2
from api_client import Api, write_scalars
from command import frame
from serve_driver import Seaboard
from test_serve_audio import clips
from test_serve_text import texts

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tools"))
import apitypes  # noqa: E402

REPLIES = apitypes.Replies(ROOT)
ROUTES = {f"{method} {path}": (ask, reply) for method, path, ask, reply in apitypes.routes(ROOT)}
NEVER_MADE_HERE = {
    ("TextPoint", "error"),  # the log changed between loading and looking
    ("HistogramPoint", "error"),
    ("Job", "error"),  # a disk that is full
    ("Job", "code"),  # a large file that is no graph; browser test "why a file is refused is told in Chinese too"
    ("Job", "fault"),  # likewise
    ("GraphDrawing", "fault"),  # the test of reasons below
    *(("TextFault", field) for field in ("reason", "line", "column", "token")),  # likewise
    ("GraphDrawing", "isLarge"),  # test_large_graphs.py
    ("GraphNode", "otherName"),  # two Keras models; browser test "layers of two Keras models are matched"
    ("ProfileCapture", "trouble"),  # a file that is no capture; browser test "why a capture is refused"
    ("Picture", "trouble"),  # a damaged picture: test_images.py
    ("Picture", "problem"),
}


@pytest.fixture(scope="module")
def api(tmp_path_factory):
    root = tmp_path_factory.mktemp("logs")
    for kind in ("tf/v1", "tf/v2", "torch_writer/hp"):
        shutil.copytree(ROOT / "tests/fixtures" / kind, root / kind)
    write_scalars(root / "odd", "loss", [1, 2**60, 3], [math.nan, math.inf, 1.0])
    write_scalars(root / "odd", "bad", [1], [math.nan])
    (root / "odd/clip.tfevents").write_bytes(frame(clips(b"a hum", 1, [b"no clip"])))
    (root / "graph").mkdir()
    (root / "graph/odd.tfevents").write_bytes(frame(odd_graph_event()))
    strange = [texts(b"odd text", step, [b"\xff $x$ x"], [1]) for step in (1, 2)]
    (root / "odd/text.tfevents").write_bytes(b"".join(map(frame, strange)))
    (root / "odd/named.tfevents").write_bytes(frame(named_event()))
    write_scalars(root / "deleted", "loss", [1], [1.0])
    shutil.copytree(ROOT / "tests/fixtures/profile/torch", root / "torch")
    shutil.copytree(ROOT / "tests/fixtures/tf/keras/logs/train/plugins", root / "torch/plugins")
    with Seaboard(root, "--reload_interval", "0.1") as served:
        served.loaded()
        shutil.rmtree(root / "deleted")
        served.wait(lambda: served.json("/api/v1/changes?since=1")["gone"])
        yield Api(served)


def odd_graph_event():
    """A graph with an input that is not there, blocks that are alike, and an operation that no TPU runs."""
    graph = graph_pb2.GraphDef()
    graph.versions.producer = 1395
    graph.node.add(name="a", op="PyFunc", input=["nowhere"]).attr["f"].func.name = "some_function"
    for scope in "pq":
        graph.node.add(name=f"{scope}/r", op="Relu", input=["a"], device=f"/device:CPU:{scope == 'p':d}")
    return event_pb2.Event(wall_time=1.0, graph_def=graph.SerializeToString()).SerializeToString()


def named_event():
    """A scalar with a name to be shown in place of its tag."""
    event = event_pb2.Event(wall_time=1.0, step=1)
    value = event.summary.value.add(tag="named")
    value.tensor.dtype = 1
    value.tensor.float_val.append(1.0)
    value.metadata.plugin_data.plugin_name = "scalars"
    value.metadata.display_name = "A name"
    return event.SerializeToString()


def each_of(api, plugin):
    for tag in api.get(f"tags?plugin={plugin}")["tags"]:
        run = api.get("runs")["runs"][0]["id"] if tag["runs"] == "all" else tag["runs"][0]
        yield {"run": run, "tag": tag["tag"]}


def first_of(api, plugin):
    return next(each_of(api, plugin))


def by_query(path, one):
    return f"{path}?run={one['run']}&tag={urllib.parse.quote(one['tag'])}"


def picture_of(api, route, suffixes=("",)):
    """A question about the first picture there is."""
    path = api.get(by_query("images", first_of(api, "images")))["points"][0]["blobs"][0]
    words = dict(urllib.parse.parse_qsl(path.split("?")[1]))
    pairs = {key + suffix: words[key] for suffix in suffixes for key in ("run", "tag", "at")}
    return f"{route}?{urllib.parse.urlencode(pairs)}"


def open_capture(api, name):
    """The id of a capture, once it is parsed."""
    found = until(lambda: [c for c in api.get("profile/captures")["captures"] if c["name"].startswith(name)])
    capture = found[0]["id"]
    until(lambda: api.post("profile/open", {"capture": capture})["capture"]["state"] == "open")
    return capture


def until(condition):
    end = time.monotonic() + 60
    while not (answer := condition()):
        assert time.monotonic() < end
        time.sleep(0.05)
    return answer


def profile_questions(api):
    capture = open_capture(api, "gpu_plain")
    ranks = open_capture(api, "ddp.rank")
    keras = open_capture(api, "2026_11_15")
    odd = open_capture(api, "cpu_full")
    tracks = api.get(f"profile/tracks?capture={capture}")["tracks"]
    stream = next(t for t in tracks if t["kind"] == "stream")
    window = {"capture": capture, "from": 0, "to": 1e12}
    return {
        "GET profile/captures": [("profile/captures", None)],
        "POST profile/open": [("profile/open", {"capture": capture})],
        "GET profile/tracks": [(f"profile/tracks?capture={capture}", None), (f"profile/tracks?capture={odd}", None)],
        "GET profile/names": [(f"profile/names?capture={capture}&n=10", None)],
        "GET profile/slice": [(f"profile/slice?capture={capture}&track={stream['id']}&index=20", None)],
        "POST profile/flows": [("profile/flows", {**window, "limit": 5})],
        "POST profile/totals": [("profile/totals", {**window, "by": "name", "find": "aten", "sort": "self", "offset": 0, "limit": 5})],
        "GET profile/search": [(f"profile/search?capture={capture}&q=gemm&limit=3", None)],
        "GET profile/overview": [(f"profile/overview?capture={one}", None) for one in (capture, odd)],
        "GET profile/operators": [(f"profile/operators?capture={capture}&side=device&group=shape&limit=5", None)],
        "GET profile/kernels": [(f"profile/kernels?capture={capture}&sort=mean&descending=0&limit=5", None)],
        "GET profile/memory": [(f"profile/memory?capture={odd}", None)],
        "GET profile/input": [(f"profile/input?capture={keras}", None)],
        "GET profile/modules": [(f"profile/modules?capture={odd}", None)],
        "GET profile/path": [(f"profile/path?capture={one}", None) for one in (capture, odd)],
        "GET profile/waits": [(f"profile/waits?capture={ranks}", None)],
        "GET profile/distributed": [(f"profile/distributed?capture={ranks}", None)],
        "GET profile/difference": [(f"profile/difference?capture={capture}&other={odd}&by=operators&limit=3", None)],
    }


def questions(api):
    """Route -> [(path, body)]; what is asked together shows every field of the replies."""
    odd = next(run["id"] for run in api.get("runs")["runs"] if run["name"] == "odd")
    series = [{"run": odd, "tag": tag} for tag in ("loss", "bad", "nope")]
    histograms = [first_of(api, "histograms"), {"run": 4_000_000_000, "tag": "w"}]
    smoothing = {"kind": "ema", "weight": 0.5}
    clip = next(one for one in each_of(api, "audio") if one["tag"] == "tone")
    graphs = {(g["kind"], g["hasStats"]): g for g in api.get("graphs")["graphs"]}
    measured = graphs["stats", True]
    source = {"graph": {"run": measured["run"], "tag": "__run_graph__"}, "stats": measured["tag"]}
    broken = {"graph": {"run": next(r["id"] for r in api.get("runs")["runs"] if r["name"] == "graph"), "tag": "__run_graph__"}}
    everything = {"auto": True, "extract": True, "constants": True, "ungrouped": [], "main": ["loss"], "side": ["save"]}
    profiles = profile_questions(api)
    parsed = min(job["id"] for job in api.get("jobs")["jobs"])  # the first one of this server, which parsed a profile
    return {
        **profiles,
        "GET graphs": [("graphs", None)],
        "POST graph/draw": [
            ("graph/draw", {"source": source, "open": ["loss", "nope"], "reveal": ["hidden1/MatMul"], "trace": "loss", **everything}),
            ("graph/draw", {"source": broken, "open": [], "path": ["a", "p"]}),
            ("graph/draw", {"source": {**source, "other": broken["graph"]}, "open": []}),
        ],
        "POST graph/node": [
            ("graph/node", {"source": source, "name": "hidden1/Relu"}),
            ("graph/node", {"source": source, "name": "loss"}),
            *(("graph/node", {"source": broken, "name": name}) for name in ("a", "p", "p/r")),
        ],
        "POST graph/find": [("graph/find", {"source": source, "query": "loss", "regex": False, "from": 0, "count": 2})],
        "POST graph/path": [("graph/path", {"source": source, "from": "hidden1", "to": "loss"})],
        "GET status": [("status", None), ("status?files=1", None)],
        "GET runs": [("runs", None)],
        "GET tags": [("tags", None), ("tags?plugin=scalars", None)],
        "GET changes": [("changes?since=0", None), ("changes?since=1", None)],
        "POST summaries": [("summaries", {"tags": ["loss", "bad"]}), ("summaries", {"tags": ["loss"], "runs": [odd, 4_000_000_000]})],
        "POST measure": [
            ("measure", {"x": "step", "from": 0, "to": 1e300, "smoothing": smoothing, "series": series}),
            ("measure", {"x": "wall", "from": 0, "to": None, "smoothing": smoothing, "compare": {"run": odd, "kind": "ratio"}, "series": series}),
        ],
        "POST histograms": [
            ("histograms", {"series": histograms, "maxSteps": 3, "mode": "histogram"}),
            ("histograms", {"series": histograms, "mode": "distribution", "superseded": True, "range": [0, 5]}),
        ],
        "GET text": [
            (by_query("text", first_of(api, "text")), None),
            (by_query("text", {"run": odd, "tag": "odd text"}) + "&max=1&maths=1", None),
            (by_query("text", {"run": odd, "tag": "odd text"}) + "&raw=1", None),
        ],
        "POST text/search": [
            ("text/search", {"text": "x", "regex": True, "case": True, "runs": [odd], "max": 1, "skip": 0}),
        ],
        "GET images": [(by_query("images", first_of(api, "images")), None)],
        "GET audio": [(by_query("audio", clip), None)],
        "GET audio/picture": [
            (by_query("audio/picture", clip) + "&step=0", None),
            (by_query("audio/picture", {"run": odd, "tag": "a hum"}) + "&step=1", None),
        ],
        "GET picture": [(picture_of(api, "picture") + "&check=1", None)],
        "GET compare": [(picture_of(api, "compare", ("", "2")), None)],
        "POST jobs": [("jobs", {"kind": "export", "args": {"runs": ["odd"], "tags": ["loss"], "format": "json", "superseded": True}})],
        "GET jobs": [("jobs", None)],
        "GET job": [(f"job?id={parsed}", None)],
        "DELETE job": [(f"job?id={parsed}", None)],
        "GET state": [("state", None)],
        "PATCH state": [("state", {"revision": api.get("state")["revision"], "items": {"run/odd": {"note": "a"}}})],
    }


def needed(checker, name, found):
    """All objects that a reply of this type may hold."""
    if name in found or name not in REPLIES.objects:
        return found
    found.add(name)
    for field in REPLIES.objects[name][1]:
        for inner in checker.names_in(field.type):
            needed(checker, inner, found)
    return found


def test_replies_hold_what_the_tables_say_and_every_field_was_seen(api):
    checker, asked = apitypes.Checker(REPLIES), questions(api)
    objects = set()
    assert set(asked) == {route for route, (_, reply) in ROUTES.items() if reply != "Bytes"}
    for route, tries in asked.items():
        method = route.split()[0]
        ask, reply = ROUTES[route]
        needed(checker, reply, objects)
        for path, body in tries:
            assert (body is None) == (ask == "none")
            assert body is None or checker.wrong(body, ask, path) == []
            _, headers, answer = api.call(path, body, method, {"X-Seaboard-Request": "1"})
            assert headers["Content-Type"].startswith("application/json")
            assert checker.wrong(json.loads(answer), reply, path) == []
    fields = {(name, field.name) for name in objects for field in REPLIES.objects[name][1]}
    assert fields - checker.seen == NEVER_MADE_HERE


def test_refusals_hold_what_the_table_says(api):
    checker = apitypes.Checker(REPLIES)
    for path, body in (("nothing", None), ("scalars", {"series": 3}), ("changes?since=x", None), ("images?run=0&tag=nope", None)):
        status, error = api.error(path, body)
        assert status >= 400 and checker.wrong({"error": error}, "Refusal") == []


@pytest.mark.parametrize(
    "reason, text, token",
    [
        ("quote", "node { name: 'a", ""),
        ("quoted", "node { name: 7 }", "7"),
        ("escape", "node { name: '\\q' }", "'\\q'"),
        ("utf8", "node { name: '\\xff' }", ""),
        ("whole", "versions { producer: x }", "x"),
        ("range", "versions { producer: 9999999999 }", "9999999999"),
        ("number", "node { attr { value { f: x } } }", "x"),
        ("flag", "node { attr { value { b: maybe } } }", "maybe"),
        ("value", "node { attr { value { type: DT_NONE } } }", "DT_NONE"),
        ("brace", "node: 1", "1"),
        ("deep", "node { " + "attr { value { func { " * 40, ""),
        ("list", "node { input: ['a' 7] }", "7"),
        ("name", "层 { }", "层"),
        ("field", "node {\n  nodde: 1 }", "nodde"),
        ("twice", "node { name: 'a' name: 'b' }", "name"),
        ("colon", "node { name 'a' }", "'a'"),
        ("block", "node { name: 'a'", ""),
    ],
)
def test_why_a_text_is_no_graph_is_a_word_a_place_and_what_stands_there(api, reason, text, token):
    checker = apitypes.Checker(REPLIES)
    headers = {"Content-Type": "application/octet-stream", "X-Seaboard-Request": "1"}
    status, error = api.error("graph/file", text.encode(), headers=headers)
    assert (status, error["code"]) == (422, "syntax")
    assert checker.wrong({"error": error}, "Refusal") == []
    fault = error["fault"]
    assert (fault["reason"], fault["token"]) == (reason, token)
    assert f"line {fault['line']}, column {fault['column']}: " in error["message"]


def test_each_reason_why_a_text_is_no_graph_is_tested(api):
    words = next(field.type for field in REPLIES.objects["TextFault"][1] if field.name == "reason")
    tested = test_why_a_text_is_no_graph_is_a_word_a_place_and_what_stands_there.pytestmark[0].args[1]
    assert {word.strip(" '") for word in words.split("|")} == {reason for reason, _, _ in tested}


@pytest.mark.parametrize(
    "change",
    [
        lambda run: run.pop("name"),
        lambda run: run.update(id="4"),
        lambda run: run.update(state="asleep"),
        lambda run: run.update(more=1),
        lambda run: run.update(hparams={"lr": [1]}),
    ],
)
def test_a_reply_that_differs_is_noticed(api, change):
    runs = api.get("runs")
    change(runs["runs"][0])
    assert len(apitypes.Checker(REPLIES).wrong(runs, "Runs")) == 1
