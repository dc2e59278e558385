"""Scope tree, series and edges of graphs, level by level, as TensorBoard's own page builds them and as we draw them.

Three things differ on purpose and are left out of the comparison: constants and summaries (TensorBoard hangs them onto
the nodes that use them; we hide the first and draw the second), series of scopes (TensorBoard folds only operations), and
bodies of functions (we open them where they are called).
"""

import contextlib
import json
import pathlib
import re
import shutil
import subprocess
import sys

import pytest
from proxy import Proxy
from tensorboard.compat.proto import event_pb2, graph_pb2

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "integration"))
from api_client import Api  # noqa: E402
from command import frame  # noqa: E402
from serve_driver import Seaboard  # noqa: E402

SCOPE, OP, SERIES = 0, 1, 2
RUNS = ["made", "v1"]
FIXTURES = HERE.parent / "fixtures"
HANGING = re.compile(r"^(Const|[a-zA-Z]+Summary)$")


def network():
    """Scopes in scopes, a series of operations and one with a gap, an operation named as a scope, control edges."""
    graph = graph_pb2.GraphDef()
    graph.versions.producer = 27

    def add(name, op, *inputs):
        graph.node.add(name=name, op=op, input=inputs)

    add("x", "Placeholder")
    add("enc/a/w", "VarHandleOp")
    add("enc/a/read", "ReadVariableOp", "enc/a/w")
    add("enc/a/MatMul", "MatMul", "x", "enc/a/read")
    add("enc/a", "Relu", "enc/a/MatMul")
    add("enc/b/in", "Identity", "enc/a")
    add("enc/b/deep/er/neg", "Neg", "enc/b/in")
    add("enc/b/deep/abs", "Abs", "enc/b/deep/er/neg", "^enc/a/read")
    last = "enc/b/deep/abs"
    for i in range(7):  # Add, Add_1, ..., Add_6
        name = "enc/Add" + (f"_{i}" if i else "")
        add(name, "AddV2", last, "x")
        last = name
    for i in (0, 1, 2, 4, 5, 6, 7, 8):  # only the last five follow each other
        add(f"dec/mul_{i}", "Mul", last, "enc/b/in")
    for i in range(5):  # of different kinds: no series
        add(f"dec/n_{i}", "Neg" if i % 2 else "Abs", "dec/mul_8")
    add("loss", "Mean", "dec/mul_0", "dec/n_4", "^dec/n_1")
    return graph


@pytest.fixture(scope="module")
def logs(tmp_path_factory):
    root = tmp_path_factory.mktemp("logs")
    run = root / "made"
    run.mkdir()
    event = event_pb2.Event(wall_time=1.7e9, graph_def=network().SerializeToString())
    (run / "events.out.tfevents.1700000000.host").write_bytes(frame(event.SerializeToString()))
    # a session of TensorFlow 1: constants that wait for others, a saver, an optimiser
    shutil.copytree(FIXTURES / "tf/v1", root / "v1")
    return root


@pytest.fixture(scope="module")
def both(logs):
    """run -> (theirs, ours)"""
    with contextlib.ExitStack() as stack:
        servers = [stack.enter_context(Seaboard(logs / run)) for run in RUNS]
        for server in servers:
            server.loaded()
        proxies = [stack.enter_context(Proxy(f"127.0.0.1:{server.port}")) for server in servers]
        command = [shutil.which("node"), str(HERE / "hierarchy.mjs")]
        command += [f"http://127.0.0.1:{proxy.port}" for proxy in proxies]
        done = subprocess.run(command, capture_output=True, text=True, timeout=300)
        assert done.returncode == 0, done.stderr
        return dict(zip(RUNS, zip(json.loads(done.stdout), (ours(Api(server)) for server in servers))))


def ours(api):
    """The same from our drawing with everything open."""
    (run,) = api.get("runs")["runs"]
    source = {"graph": {"run": run["id"], "tag": "__run_graph__"}}
    hits = api.post("graph/find", {"source": source, "query": ".", "regex": True, "count": 1000})["hits"]
    kinds = {hit["name"]: hit["kind"] for hit in hits}
    of_scopes = [name for name, kind in kinds.items() if kind == SERIES and not next_op(hits, name)]
    opened = [name for name, kind in kinds.items() if kind != OP and name not in of_scopes]
    ask = {"source": source, "open": opened, "ungrouped": of_scopes, "extract": False}
    drawing = api.post("graph/draw", ask)
    boxes, lines, texts = drawing["boxes"], drawing["lines"], drawing["texts"]
    names = boxes["name"]
    above = {name: names[level] if level >= 0 else "" for name, level in zip(names, boxes["level"])}
    left_out = {name for name, op in zip(names, boxes["op"]) if op >= 0 and HANGING.match(texts[op])}
    found = {name: {"children": {}, "edges": [], "bridges": []} for name in ["", *opened]}
    for name, kind in zip(names, boxes["kind"]):
        if name not in left_out:
            found[above[name]]["children"][name] = {SCOPE: "scope", OP: "op", SERIES: "series"}[kind]

    def in_sight_of(level, name):
        """The outermost box around it that the level is not in."""
        around, at = set(), level
        while at:
            around.add(at)
            at = above[at]
        around.add("")
        while above[name] not in around:
            name = above[name]
        return name

    for start, end, level in zip(lines["from"], lines["to"], lines["level"]):
        scope = names[level] if level >= 0 else ""
        pair = [in_sight_of(scope, names[start]), in_sight_of(scope, names[end])]
        if left_out.isdisjoint((names[start], names[end])):
            found[scope]["edges" if all(above[one] == scope for one in pair) else "bridges"].append(pair)
    return found


def next_op(hits, series):
    """Are the members of a series operations? They have its kind; a series of scopes has none."""
    return next(hit["op"] for hit in hits if hit["name"] == series) != ""


def as_sets(level):
    return {
        "children": level["children"],
        "edges": {tuple(edge) for edge in level["edges"]},
        "bridges": {tuple(edge) for edge in level["bridges"]},
    }


@pytest.mark.parametrize("run", RUNS)
def test_scopes_series_and_edges_are_those_of_tensorboard_s_page(both, run):
    theirs, mine = both[run]
    assert len(theirs) > 5
    without_constants(mine)
    assert set(mine) == set(theirs)
    for name in theirs:
        assert as_sets(mine[name]) == as_sets(theirs[name]), name


def without_constants(levels):
    """What our tree would be if constants and summaries were no nodes: scopes that held nothing else are not there, and
    those that are left with the operation of their own name are that operation."""
    for name in sorted(levels, key=lambda name: -name.count("/")):
        if not name:
            continue
        above = name.rpartition("/")[0] if "[" not in name else None
        children = levels[name]["children"]
        if above is None or (children and list(children) != [f"{name}/({name.split('/')[-1]})"]):
            continue
        del levels[name]
        if children:
            levels[above]["children"][name] = "op"
        else:
            del levels[above]["children"][name]
    known = {name for level in levels.values() for name in level["children"]}
    for level in levels.values():
        for kind in ("edges", "bridges"):
            level[kind] = [edge for edge in level[kind] if known.issuperset(edge)]


def test_series_are_folded_from_five_on(both):
    theirs, mine = both["made"]
    for tree in (theirs, mine):
        assert tree["enc"]["children"]["enc/Add_[1-6]"] == "series"
        assert "dec/mul_[4-8]" in tree["dec"]["children"] and "dec/mul_2" in tree["dec"]["children"]
        assert len(tree["dec/mul_[4-8]"]["children"]) == 5
