"""What seaboard serves is what TensorBoard serves: every data route, every run, every tag, value by value.

Real TensorBoard (both of its loaders) and seaboard run over the same directories: the fixtures, and logs written for
this test. Where the two loaders differ we must equal one of them; where we differ from both on purpose,
differences.py says so. The fast loader is part of TensorBoard's default, so both always run.
"""

import gzip
import json
import pathlib

import pytest

import differences
import serve_logs
from serve_crawl import crawl
from serve_peers import Trio

FIXTURES = pathlib.Path(__file__).resolve().parent.parent / "fixtures"
PLUGINS = [
    "core",
    "scalars",
    "timeseries",
    "images",
    "audio",
    "text",
    "histograms",
    "distributions",
    "graphs",
    "pr_curves",
    "mesh",
    "custom_scalars",
    "hparams",
    "debugger-v2",
]


class Directories:
    """The directories, each with its answers; made and asked when first wanted."""

    def __init__(self, tmp):
        self.tmp = tmp
        self.answers = {}
        self.trios = {}
        self.used = set()

    def options(self, name):
        if name == "tf":
            return {"options": [f"--logdir={FIXTURES}/tf"]}
        if name == "torch_writer":
            return {"options": [f"--logdir={FIXTURES}/torch_writer"]}
        if name == "everything":
            return {"options": [f"--logdir={serve_logs.everything(self.tmp / name)}"]}
        if name == "sessions":
            return {"options": [f"--logdir={serve_logs.sessions(self.tmp / name)}"]}
        if name == "one run, prefix":
            options = [f"--logdir={FIXTURES}/tf/v2/train", "--path_prefix=/some/where/", "--window_title=A & B"]
            return {"options": options, "prefix": "/some/where/experiment/defaultExperimentId"}
        if name == "spec":
            spec = f"a:{FIXTURES}/tf/v2,{FIXTURES}/torch_writer/hp,b:{FIXTURES}/tf/v1"
            return {"options": [f"--logdir_spec={spec}"], "fast": False}
        raise KeyError(name)

    def trio(self, name):
        """The servers of a directory; those of another are ended first."""
        if name not in self.trios:
            self.close()
            self.trios[name] = Trio(**self.options(name))
        return self.trios[name]

    def of(self, name):
        if name not in self.answers:
            trio = self.trio(name)
            self.answers[name] = {peer: crawl(server) for peer, server in trio.peers.items()}
        return self.answers[name]

    def close(self):
        for trio in self.trios.values():
            trio.close()
        self.trios.clear()


@pytest.fixture(scope="module")
def directories(tmp_path_factory):
    made = Directories(tmp_path_factory.mktemp("logs"))
    yield made
    made.close()


# the last one's servers go on for the tests behind
NAMES = ["torch_writer", "everything", "sessions", "one run, prefix", "spec", "tf"]


# what readers in other languages than Python tell apart: 2 and 2.0, 1 and true
EXACT = {("scalars", "points"), ("scalars", "multirun"), ("timeseries", "scalars")}


def same(key, ours, theirs):
    if key[:2] in EXACT:
        return any(json.dumps(ours, sort_keys=True) == json.dumps(value, sort_keys=True) for value in theirs.values())
    return any(ours == value for value in theirs.values())


@pytest.mark.parametrize("plugin", PLUGINS)
@pytest.mark.parametrize("name", NAMES)
def test_every_answer_is_tensorboards(directories, name, plugin):
    answers = dict(directories.of(name))
    ours = answers.pop("seaboard")
    keys = {key for found in (ours, *answers.values()) for key in found if key[0] == plugin}
    wrong = []
    for key in sorted(keys, key=repr):
        mine = ours.get(key, differences.MISSING)
        theirs = {peer: found.get(key, differences.MISSING) for peer, found in answers.items()}
        if same(key, mine, theirs):
            continue
        entry = differences.entry_for(name, key)
        if entry is not None and differences.DATA[entry][2](mine, theirs):
            directories.used.add(entry)
            continue
        shown = "".join(f"\n    {peer:9}{value!r:.600}" for peer, value in {"ours": mine, **theirs}.items())
        wrong.append(f"{key}{shown}")
    assert not wrong, f"{len(wrong)} of {len(keys)} answers differ:\n" + "\n".join(wrong[:10])


def test_there_is_something_of_every_kind(directories):
    """A crawl that found nothing would agree with everything."""
    kinds = {key[:2] for name in NAMES for key in directories.of(name)["seaboard"]}
    wanted = {
        ("scalars", "points"), ("scalars", "csv"), ("scalars", "multirun"), ("timeseries", "scalars"),
        ("timeseries", "histograms"), ("timeseries", "images"), ("images", "steps"), ("audio", "steps"),
        ("text", "texts"), ("histograms", "points"), ("distributions", "points"), ("graphs", "run_graph"),
        ("graphs", "op_graph"), ("graphs", "conceptual"), ("graphs", "run_metadata"), ("graphs", "limited"),
        ("pr_curves", "curves"), ("mesh", "data"), ("custom_scalars", "layout"), ("custom_scalars", "scalars"),
        ("hparams", "groups"), ("hparams", "evals"), ("hparams", "sorted"), ("hparams", "filtered"),
        ("hparams", "aggregated"), ("hparams", "download"),
    }  # fmt: skip
    assert wanted <= kinds, wanted - kinds
    blobs = [
        value
        for name in NAMES
        for key, value in directories.of(name)["seaboard"].items()
        if key[0] == "images" and key[1] == "steps"
    ]
    assert sum(len(steps) for steps in blobs) > 20
    assert all(step["bytes"][0] == 200 for steps in blobs for step in steps)


def test_every_deliberate_difference_is_one(directories):
    """What the table forgives must still be needed."""
    for name in NAMES:
        directories.of(name)
    seen = set()
    for i, (name, pattern, check, _) in enumerate(differences.DATA):
        answers = dict(directories.of(name))
        ours = answers.pop("seaboard")
        for key, mine in ours.items():
            if differences.entry_for(name, key) != i:
                continue
            theirs = {peer: found.get(key, differences.MISSING) for peer, found in answers.items()}
            if not same(key, mine, theirs) and check(mine, theirs):
                seen.add(i)
    assert seen == set(range(len(differences.DATA))), [differences.DATA[i][:2] for i in range(len(differences.DATA)) if i not in seen]


# ---- requests that make no sense ------------------------------------------------------------------------------------

WHERE = {"run": "v2/train", "tag": "loss"}
# path, query, further arguments of Peer.ask; those marked True are 500 in TensorBoard, where we say 400 or better
REQUESTS = [
    ("/nope", None, {}, False),
    ("/data/nope", None, {}, False),
    ("/data//runs", None, {}, False),
    ("//data/runs", None, {}, False),
    ("/data/runs/", None, {}, False),
    ("/DATA/runs", None, {}, False),
    ("/favicon.ico", None, {}, False),
    ("/experiment", None, {}, False),
    ("/experiment/x/data/runs", None, {}, False),
    ("/experiment/x/experiment/y/data/runs", None, {}, False),
    ("/data/plugin/scalars/scalars", None, {}, False),
    ("/data/plugin/scalars/scalars", {"run": "v2/train"}, {}, False),
    ("/data/plugin/scalars/scalars", {"tag": "it's"}, {}, False),
    ("/data/plugin/scalars/scalars", {"run": "v2/train", "tag": "zz"}, {}, False),
    ("/data/plugin/scalars/scalars", {"run": "zz\n\"'\\é", "tag": "loss"}, {}, False),
    ("/data/plugin/scalars/scalars", {**WHERE, "format": "xml"}, {}, False),
    ("/data/plugin/scalars/scalars", {"run": "v2/train", "tag": "examples"}, {}, False),
    ("/data/plugin/scalars/scalars_multirun", None, {}, False),
    ("/data/plugin/scalars/scalars_multirun", None, {"method": "POST"}, False),
    ("/data/plugin/scalars/scalars_multirun", None, {"method": "POST", "body": "tag=loss", "headers": {"Content-Type": "application/x-www-form-urlencoded"}}, False),
    ("/data/plugin/scalars/scalars_multirun", None, {"method": "POST", "body": "tag=a&tag=b&runs=x", "headers": {"Content-Type": "application/x-www-form-urlencoded"}}, False),
    ("/data/plugin/timeseries/timeSeries", None, {}, False),
    ("/data/plugin/timeseries/timeSeries", {"requests": ""}, {}, False),
    ("/data/plugin/timeseries/timeSeries", {"requests": "{"}, {}, False),
    ("/data/plugin/timeseries/timeSeries", {"requests": "{}"}, {}, False),
    ("/data/plugin/timeseries/timeSeries", {"requests": "[1]"}, {}, True),
    ("/data/plugin/timeseries/timeSeries", None, {"method": "POST", "body": "[]", "headers": {"Content-Type": "application/json"}}, False),
    ("/data/plugin/timeseries/timeSeries", {"requests": json.dumps([{}, {"tag": 1}, {"tag": "x", "plugin": "y"}, {"tag": "x", "plugin": "images"}, {"tag": "x", "plugin": "images", "run": "r"}, {"tag": "x", "plugin": "histograms"}, {"tag": "loss", "plugin": "scalars", "run": ""}, {"tag": "zz", "plugin": "scalars", "run": "v2/train", "sample": 3}])}, {}, False),
    ("/data/plugin/timeseries/imageData", None, {}, False),
    ("/data/plugin/timeseries/imageData", {"imageId": ""}, {}, False),
    ("/data/plugin/timeseries/imageData", {"imageId": "zz"}, {}, True),
    ("/data/plugin/images/images", {"run": "v2/train", "tag": "zz"}, {}, False),
    ("/data/plugin/images/images", {"run": "v2/train", "tag": "examples", "sample": "x"}, {}, True),
    ("/data/plugin/images/images", {"run": "v2/train"}, {}, True),
    ("/data/plugin/images/individualImage", None, {}, False),
    ("/data/plugin/images/individualImage", {"blob_key": "zz"}, {}, True),
    ("/data/plugin/audio/audio", {"run": "v2/train", "tag": "zz"}, {}, False),
    ("/data/plugin/audio/individualAudio", {"blob_key": "x"}, {}, False),
    ("/data/plugin/audio/individualAudio", {"blob_key": "x", "content_type": "text/html"}, {}, False),
    ("/data/plugin/text/text", {"run": "v2/train", "tag": "zz"}, {}, False),
    ("/data/plugin/text/text", {"run": "v2/train"}, {}, True),
    ("/data/plugin/histograms/histograms", {"run": "v2/train", "tag": "zz"}, {}, False),
    ("/data/plugin/distributions/distributions", {"run": "v2/train", "tag": "zz"}, {}, False),
    ("/data/plugin/graphs/graph", None, {}, False),
    ("/data/plugin/graphs/graph", {"run": "zz"}, {}, False),
    ("/data/plugin/graphs/graph", {"run": "v1", "limit_attr_size": "x"}, {}, False),
    ("/data/plugin/graphs/graph", {"run": "v1", "limit_attr_size": "0", "large_attrs_key": "k"}, {}, True),
    ("/data/plugin/graphs/graph", {"run": "v1", "limit_attr_size": "10"}, {}, True),
    ("/data/plugin/graphs/run_metadata", None, {}, False),
    ("/data/plugin/graphs/run_metadata", {"tag": "x"}, {}, False),
    ("/data/plugin/graphs/run_metadata", {"run": "v1", "tag": "zz"}, {}, False),
    ("/data/plugin/pr_curves/pr_curves", {"run": "v1", "tag": "zz"}, {}, False),
    ("/data/plugin/pr_curves/pr_curves", {"tag": "zz"}, {}, True),
    ("/data/plugin/pr_curves/pr_curves", {"run": "zz"}, {}, True),
    ("/data/plugin/mesh/data", {"run": "plugins/a", "tag": "m", "content_type": "zz"}, {}, False),
    ("/data/plugin/mesh/meshes", {"run": "v1", "tag": "zz"}, {}, False),
    ("/data/plugin/custom_scalars/scalars", {"run": "zz", "tag": "x"}, {}, False),
    ("/data/plugin/custom_scalars/download_data", {"run": "zz", "tag": "x"}, {}, False),
    ("/data/plugin/hparams/experiment", None, {}, False),
    ("/data/plugin/hparams/experiment", {"request": "{"}, {}, False),
    ("/data/plugin/hparams/experiment", {"request": '{"x": 1}'}, {}, False),
    ("/data/plugin/hparams/experiment", {"request": '{"hparamsLimit": "x"}'}, {}, False),
    ("/data/plugin/hparams/session_groups", {"request": '{"allowedStatuses": ["STATUS_X"]}'}, {}, False),
    ("/data/plugin/hparams/session_groups", {"request": '{"colParams": [{}]}'}, {}, False),
    ("/data/plugin/hparams/session_groups", None, {"method": "POST", "body": '{"sliceSize": "x"}'}, False),
    ("/data/plugin/hparams/metric_evals", {"request": "{}"}, {}, False),
    ("/data/plugin/hparams/download_data", {"request": "{}"}, {}, True),
    ("/data/plugin_entry.html", None, {}, False),
    ("/data/plugin_entry.html", {"name": "zz"}, {}, False),
    ("/data/plugin_entry.html", {"name": "scalars"}, {}, False),
    ("/data/runs", None, {"headers": {"X-TensorBoard-Feature-Flags": "x"}}, False),
    ("/data/runs", None, {"headers": {"X-TensorBoard-Feature-Flags": "[]"}}, False),
    ("/data/runs", None, {"headers": {"X-TensorBoard-Feature-Flags": '{"a": 1}'}}, False),
    ("/data/runs", {"tensorBoardFeatureFlags": "1"}, {}, False),
    ("/data/runs", {"tensorBoardFeatureFlags": "nonsense"}, {}, False),
    ("/data/runs", None, {"method": "POST"}, False),
    ("/data/runs", None, {"method": "DELETE"}, False),
    ("/data/environment", None, {"method": "HEAD"}, False),
    ("/data/notifications", None, {}, False),
    ("/data/plugin/debugger-v2/runs", None, {}, False),
    ("/data/plugin/debugger-v2/alerts", None, {}, False),
    ("/data/plugin/debugger-v2/source_files/list", None, {}, False),
]  # fmt: skip


def by_name(request):
    path, query, more, _ = request
    return f"{path} {query} {more.get('method', '')} {more.get('body', '')} {more.get('headers', '')}"


@pytest.mark.parametrize("request_", REQUESTS, ids=by_name)
def test_requests_that_make_no_sense_are_answered_as_there(directories, request_):
    path, query, more, fails = request_
    trio = directories.trio("tf")
    ours = trio.peers["seaboard"].ask(path, query, **more)
    theirs = trio.peers["python"].ask(path, query, **more)
    if fails:
        assert theirs.status == 500, (theirs.status, theirs.body)
        assert ours.status in (400, 404), (ours.status, ours.body)
        assert len(ours.body) > 5, "it must say what is wrong"
        return
    assert ours.status == theirs.status, (ours.status, ours.body[:200], theirs.status, theirs.body[:200])
    if more.get("method") == "HEAD":
        assert ours.body == theirs.body == b""
        return
    assert (ours.type() or "").split(";")[0] == (theirs.type() or "").split(";")[0]
    if theirs.status != 302 and theirs.type() and theirs.type().startswith("text/plain"):
        assert ours.body == theirs.body
    if theirs.type() == "application/json" and "environment" not in path:
        assert json.loads(ours.body) == json.loads(theirs.body)
    assert ours.headers.get("Location") == theirs.headers.get("Location")


@pytest.mark.parametrize("path", ["/data/runs", "/data/plugin/scalars/scalars?run=v2/train&tag=loss&format=csv", "/nope"])
def test_headers_are_those_of_tensorboard_and_more(directories, path):
    trio = directories.trio("tf")
    ours, theirs = (trio.peers[peer].ask(path) for peer in ("seaboard", "python"))
    for name in ("Content-Type", "X-Content-Type-Options", "Cache-Control", "Expires"):
        assert ours.headers.get(name) == theirs.headers.get(name), name
    for name, value in ours.headers.items():
        assert name.lower() != "access-control-allow-origin", value


def test_text_is_compressed_for_those_who_ask(directories):
    trio = directories.trio("tf")
    path = "/data/plugin/graphs/graph?run=v1"
    plain = trio.peers["seaboard"].ask(path)
    packed = trio.peers["seaboard"].ask(path, headers={"Accept-Encoding": "gzip", "X-Forwarded-For": "10.0.0.1"})
    assert packed.headers["Content-Encoding"] == "gzip"
    assert gzip.decompress(packed.body) == plain.body
    refused = trio.peers["seaboard"].ask(path, headers={"Accept-Encoding": "gzip;q=0", "X-Forwarded-For": "10.0.0.1"})
    assert refused.headers.get("Content-Encoding") is None


def test_the_spelling_of_json_is_pythons(directories):
    """Byte by byte, where the order of keys is given: scripts grep."""
    trio = directories.trio("tf")
    for path in ("/data/runs", "/data/plugin/scalars/scalars?run=v2/train&tag=loss", "/data/logdir"):
        ours, theirs = (trio.peers[peer].ask(path).body for peer in ("seaboard", "python"))
        assert ours == theirs, path


# ---- directories that overlap ----------------------------------------------------------------------------------------


def runs_of_spec(*roots):
    """The runs that seaboard and TensorBoard's slow loader (the fast one knows --logdir only) show."""
    trio = Trio(options=[f"--logdir_spec={','.join(roots)}"], fast=False)
    try:
        return {peer: sorted(server.json("/data/runs")) for peer, server in trio.peers.items()}
    finally:
        trio.close()


def test_a_directory_inside_another_shows_under_both_names():
    runs = runs_of_spec(f"a:{FIXTURES}/tf/v2", f"b:{FIXTURES}/tf/v2/train")
    assert "a/train" in runs["seaboard"] and "b/." in runs["seaboard"]
    assert runs["seaboard"] == runs["python"]


def test_a_directory_with_two_names_shows_under_both():
    """TensorBoard keeps the last of two names for one path, without a word; we show what was asked for."""
    runs = runs_of_spec(f"a:{FIXTURES}/tf/v2", f"b:{FIXTURES}/tf/v2")
    assert runs["seaboard"] == sorted(run.replace("b/", f"{name}/", 1) for run in runs["python"] for name in "ab")
