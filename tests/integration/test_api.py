"""/api/v1 over a real server and real logs: what docs/formats/api-v1.md promises."""

import json
import math
import pathlib
import re
import shutil
import struct
import urllib.error
import urllib.parse

import numpy as np
import pytest

from api_client import Api, decode, tags_of, write_scalars
from serve_driver import Events, Seaboard


@pytest.fixture(scope="module")
def logs(tmp_path_factory):
    root = tmp_path_factory.mktemp("logs")
    rng = np.random.default_rng(3)
    steps = np.arange(5000)
    values = np.cumsum(rng.normal(size=5000)).astype(np.float32)
    write_scalars(root / "a", "loss", steps, values)
    write_scalars(root / "b/中文", "loss", steps[:50], values[:50])
    write_scalars(root / "b/中文", "odd \"tag\"\n<b>", [1, 2, 3], [math.nan, math.inf, 1.0])
    write_scalars(root / "restarted", "loss", range(10), range(10))
    write_scalars(root / "restarted", "loss", range(6, 9), range(60, 90, 10), wall=1_700_000_100.0, name="events.out.tfevents.2.h")
    return root, steps, values


@pytest.fixture(scope="module")
def api(logs):
    with Seaboard(logs[0]) as served:
        served.loaded()
        yield Api(served)


@pytest.fixture(scope="module")
def ids(api):
    return {run["name"]: run["id"] for run in api.get("runs")["runs"]}


def test_status_tells_what_is_there(api):
    status = api.get("status?files=1")
    assert status["program"]["name"] == "seaboard"
    assert status["loading"]["runs"] == 3 and not status["loading"]["isLoading"]
    assert status["plugins"] == {"scalars": 2}
    assert status["damage"] == {"files": 0, "records": 0, "bytes": 0}
    assert len(status["files"]) == 4
    assert all(f["read"] == f["size"] and f["trouble"] == "" for f in status["files"])
    assert [f["run"] for f in api.get("status?files=1&run=a")["files"]] == ["a"]
    before, after = status["http"], api.get("status")["http"]
    assert after["connections"] >= 1 and after["requests"] > before["requests"]
    assert after["refused"] == after["tooSlow"] == after["queued"] == 0


def test_runs_come_with_counts_and_attempts(api):
    runs = {run["name"]: run for run in api.get("runs")["runs"]}
    assert set(runs) == {"a", "b/中文", "restarted"}
    assert runs["a"]["points"] == 5000 and runs["a"]["attempts"] == 1
    assert runs["restarted"]["attempts"] == 2
    assert all(run["state"] == "finished" for run in runs.values())


def test_tags_are_listed_once_with_their_runs(api, ids):
    tags = {tag["tag"]: tag for tag in api.get("tags?plugin=scalars")["tags"]}
    assert tags["loss"]["runs"] == "all"
    assert tags['odd "tag"\n<b>']["runs"] == [ids["b/中文"]]
    assert api.get("tags?plugin=images")["tags"] == []


def test_summaries_equal_a_pass_over_all_points(api, ids, logs):
    _, _, values = logs
    reply = api.post("summaries", {"tags": ["loss", "nope"], "runs": [ids["a"], ids["restarted"], 999999]})
    a, restarted, nothing = reply["cells"][0]
    assert a["n"] == 5000 and a["min"] == values.min() and a["max"] == values.max()
    assert a["minStep"] == int(values.argmin()) and a["last"] == float(values[-1]) and a["lastStep"] == 4999
    assert restarted["n"] == 9 and restarted["last"] == 80.0
    assert nothing is None and reply["cells"][1] == [None, None, None]


def test_width_zero_gives_every_point(api, ids, logs):
    _, steps, values = logs
    (entry,) = api.columns({"width": 0, "series": [{"run": ids["a"], "tag": "loss"}]})
    assert np.array_equal(entry["step"], steps) and np.array_equal(entry["value"], values)
    assert entry["n"] == 5000 and entry["flags"] == 0


def test_decimated_line_keeps_first_last_least_and_greatest_of_every_pixel(api, ids, logs):
    _, steps, values = logs
    width = 100
    (entry,) = api.columns({"width": width, "series": [{"run": ids["a"], "tag": "loss"}]})
    assert len(entry["step"]) <= 4 * width
    got = set(zip(entry["step"], entry["value"]))
    column = np.minimum(steps * width // 4999, width - 1)
    for pixel in range(width):
        inside = np.flatnonzero(column == pixel)
        for i in (inside[0], inside[-1], inside[values[inside].argmin()], inside[values[inside].argmax()]):
            assert (float(steps[i]), float(values[i])) in got


def test_smoothing_is_tensorboards(api, ids, logs):
    _, _, values = logs
    (entry,) = api.columns(
        {"width": 0, "smoothing": {"kind": "ema", "weight": 0.6}, "series": [{"run": ids["a"], "tag": "loss"}]}
    )
    last, expected = 0.0, []
    for count, value in enumerate(values.astype(float), 1):
        last = last * 0.6 + 0.4 * value
        expected.append(last / (1 - 0.6**count))
    assert np.allclose(entry["smooth"], expected, rtol=1e-13)


def test_range_includes_one_point_beyond_each_end(api, ids):
    (entry,) = api.columns({"width": 0, "range": [100, 110], "series": [{"run": ids["a"], "tag": "loss"}]})
    assert list(entry["step"]) == list(range(99, 112))


def test_what_the_client_has_is_not_sent_again(api, ids):
    ask = {"run": ids["a"], "tag": "loss"}
    (first,) = api.columns({"width": 0, "series": [ask]})
    (again,) = api.columns({"width": 0, "series": [{**ask, "epoch": first["epoch"], "n": 5000}]})
    assert again["flags"] & 2 and again["step"] is None
    (rest,) = api.columns({"width": 0, "series": [{**ask, "epoch": first["epoch"], "n": 4990}]})
    assert rest["flags"] & 4 and list(rest["step"]) == list(range(4990, 5000))
    (whole,) = api.columns({"width": 0, "series": [{**ask, "epoch": first["epoch"] + 1, "n": 4990}]})
    assert not whole["flags"] & 4 and len(whole["step"]) == 5000


def test_only_the_columns_asked_for_come(api, ids):
    ask = {"width": 0, "columns": ["value", "flags"], "series": [{"run": ids["a"], "tag": "loss"}]}
    (entry,) = api.columns(ask)
    assert entry["step"] is None and entry["wall"] is None and len(entry["value"]) == len(entry["marks"]) == 5000
    code, error = api.error("scalars", {**ask, "columns": ["pixels"]})
    assert code == 400 and "columns" in error["message"]


def test_equal_steps_are_sent_once(api, ids):
    series = [{"run": ids["a"], "tag": "loss"}, {"run": ids["a"], "tag": "loss"}, {"run": ids["b/中文"], "tag": "loss"}]
    first, same, other = api.columns({"width": 0, "columns": ["step", "value"], "series": series})
    assert np.array_equal(first["step"], same["step"]) and np.array_equal(first["value"], same["value"])
    assert list(other["step"]) == list(range(50))
    body = api.call("scalars", {"width": 0, "columns": ["step"], "series": series})[2]
    assert len(body) < 16 + 3 * 96 + 5000 * 8 + 50 * 8 + 64


def test_superseded_points_are_hidden_or_flagged(api, ids):
    ask = [{"run": ids["restarted"], "tag": "loss"}]
    (hidden,) = api.columns({"width": 0, "series": ask})
    assert list(hidden["value"]) == [0, 1, 2, 3, 4, 5, 60, 70, 80] and hidden["flags"] & 16
    (shown,) = api.columns({"width": 0, "superseded": True, "series": ask})
    assert list(shown["step"]) == list(range(10)) + [6, 7, 8]
    assert [m & 1 for m in shown["marks"]] == [0] * 6 + [1] * 4 + [0] * 3


def test_missing_series_and_odd_values_are_marked(api, ids):
    missing, odd = api.columns(
        {"width": 0, "series": [{"run": 424242, "tag": "loss"}, {"run": ids["b/中文"], "tag": 'odd "tag"\n<b>'}]}
    )
    assert missing["flags"] & 1
    assert (odd["bad"], odd["plus"], odd["minus"]) == (2, 1, 0)
    assert math.isnan(odd["value"][0]) and odd["value"][1] == math.inf
    assert [bool(m & 8) for m in odd["marks"]] == [True, True, False]


def test_measure_tells_what_lies_between_two_places(api, ids, logs):
    _, _, values = logs
    ask = {"from": 1000.4, "to": 3999.6, "smoothing": {"kind": "ema", "weight": 0.6}}
    series = [{"run": ids["a"], "tag": "loss"}, {"run": 424242, "tag": "loss"}, {"run": ids["b/中文"], "tag": "nope"}]
    (whole,) = api.columns({"width": 0, "smoothing": ask["smoothing"], "series": series[:1]})
    a, *missing = api.post("measure", {**ask, "series": series})["series"]
    assert missing == [None, None]
    between, smooth = values[1000:4001].astype(float), whole["smooth"][1000:4001]
    assert a["run"] == ids["a"] and a["tag"] == "loss" and a["n"] == 3001
    assert a["start"] == {"step": 1000, "wall": whole["wall"][1000], "value": between[0], "smooth": smooth[0]}
    assert a["end"]["step"] == 4000 and a["end"]["value"] == between[-1]
    for key, column, at in (
        ("min", "value", between.argmin()),
        ("max", "value", between.argmax()),
        ("minSmooth", "smooth", smooth.argmin()),
        ("maxSmooth", "smooth", smooth.argmax()),
    ):
        assert a[key]["step"] == 1000 + at and a[key][column] == whole[column][1000 + at], key
    assert math.isclose(a["mean"], between.mean(), rel_tol=1e-9)
    assert math.isclose(a["meanSmooth"], smooth.mean(), rel_tol=1e-9)


def test_measure_of_a_single_place_and_of_values_that_json_lacks(api, ids):
    odd = {"run": ids["b/中文"], "tag": 'odd "tag"\n<b>'}
    (entry,) = api.post("measure", {"from": 1.4, "series": [odd]})["series"]
    assert entry["n"] == 1 and entry["start"] == entry["end"] and entry["start"]["step"] == 1
    assert entry["start"]["value"] == entry["start"]["smooth"] == "NaN"
    assert entry["min"] is None and entry["meanSmooth"] is None
    (entry,) = api.post("measure", {"from": -1e300, "to": 1e300, "series": [odd]})["series"]
    assert entry["n"] == 3 and entry["min"]["step"] == entry["max"]["step"] == 3 and entry["mean"] == 1.0


def test_compared_lines_are_against_the_interpolated_baseline(tmp_path):
    coarse, fine = np.arange(0, 3001, 10), np.arange(-5, 3010)
    rng = np.random.default_rng(5)
    base, line = (rng.normal(size=n).astype(np.float32).astype(float) for n in (len(coarse), len(fine)))
    write_scalars(tmp_path / "base", "loss", coarse, base)
    write_scalars(tmp_path / "fine", "loss", fine, line)
    write_scalars(tmp_path / "fine", "acc", [1], [1])
    with Seaboard(tmp_path) as served:
        served.loaded()
        api = Api(served)
        ids = {run["name"]: run["id"] for run in api.get("runs")["runs"]}
        series = [{"run": ids[name], "tag": tag} for name, tag in (("fine", "loss"), ("base", "loss"), ("fine", "acc"))]
        inside = (fine >= 0) & (fine <= 3000)
        at = np.interp(fine[inside], coarse, base)
        for kind, want in (("difference", line[inside] - at), ("ratio", line[inside] / at)):
            ask = {"width": 0, "compare": {"run": ids["base"], "kind": kind}, "series": series}
            compared, own, lacking = api.columns(ask)
            assert np.array_equal(compared["step"], fine[inside])
            assert np.allclose(compared["value"], want, rtol=1e-9, atol=1e-12)
            assert set(own["value"]) == {0.0 if kind == "difference" else 1.0}
            assert lacking["flags"] & 64 and lacking["step"] is None
            again = {"epoch": compared["epoch"], "n": compared["n"]}
            (unchanged,) = api.columns({**ask, "series": [{**series[0], **again}]})
            assert unchanged["flags"] & 2
            (few,) = api.columns({**ask, "width": 50, "series": series[:1]})
            assert set(few["value"]) < set(compared["value"]) and few["in_range"] == 3001
            assert {compared["value"].min(), compared["value"].max()} < set(few["value"])
            measured, none = api.post("measure", {**ask, "from": 0, "to": 3000, "series": [series[0], series[2]]})["series"]
            assert measured["n"] == 3001 and measured["max"]["value"] == compared["value"].max() and none is None
        smoothing = {"kind": "ema", "weight": 0.9}
        plain = api.columns({"width": 0, "smoothing": smoothing, "series": series[:2]})
        (compared,) = api.columns({"width": 0, "smoothing": smoothing, "compare": {"run": ids["base"], "kind": "difference"}, "series": series[:1]})
        want = plain[0]["smooth"][inside] - np.interp(fine[inside], coarse, plain[1]["smooth"])
        assert np.allclose(compared["smooth"], want, rtol=1e-9, atol=1e-12)


def test_relative_steps_count_from_the_first_visible_one(tmp_path):
    write_scalars(tmp_path / "a", "loss", range(100, 110), range(10))
    with Seaboard(tmp_path) as served:
        served.loaded()
        api = Api(served)
        series = [{"run": api.get("runs")["runs"][0]["id"], "tag": "loss"}]
        for width in (0, 50):
            (line,) = api.columns({"x": "step_relative", "range": [3, 5], "width": width, "series": series})
            assert line["first_step"] == 100 and list(line["step"]) == [102, 103, 104, 105, 106] and line["x"] is None
        (measured,) = api.post("measure", {"x": "step_relative", "from": 4, "series": series})["series"]
        assert measured["start"]["step"] == 104
        ((band),) = decode_bands(api.call("bands", {"x": "step_relative", "width": 50, "groups": [{"key": "all", "series": series}]})[2])
        assert list(band["x"]) == list(range(10))


def test_another_metric_may_be_x(tmp_path):
    fine, coarse = np.arange(3000), np.arange(10, 2990, 20)
    rng = np.random.default_rng(8)
    metric = rng.normal(size=len(coarse)).astype(np.float32).astype(float)
    line = rng.normal(size=3000).astype(np.float32).astype(float)
    write_scalars(tmp_path / "a", "loss", fine, line)
    write_scalars(tmp_path / "a", "noise", coarse, metric)
    write_scalars(tmp_path / "b", "loss", fine, line)
    with Seaboard(tmp_path) as served:
        served.loaded()
        api = Api(served)
        ids = {run["name"]: run["id"] for run in api.get("runs")["runs"]}
        series = [{"run": ids[name], "tag": "loss"} for name in "ab"]
        ask = {"x": {"tag": "noise"}, "width": 0, "series": series}
        whole, lacking = api.columns(ask)
        inside = (fine >= coarse[0]) & (fine <= coarse[-1])
        want = np.interp(fine[inside], coarse, metric)
        assert np.array_equal(whole["step"], fine[inside]) and np.array_equal(whole["value"], line[inside])
        assert np.allclose(whole["x"], want, rtol=1e-12, atol=1e-15)
        assert not whole["flags"] & 8, "one stroke, wherever x goes"
        assert lacking["flags"] & 128 and lacking["step"] is None
        few, _ = api.columns({**ask, "width": 20})
        assert len(few["x"]) <= 20 * 8 and np.all(np.diff(few["step"]) > 0) and few["in_range"] == len(want)
        assert {few["x"].min(), few["x"].max()} == {whole["x"].min(), whole["x"].max()}
        ranged, _ = api.columns({**ask, "range": [0.5, 1.5]})
        within = (whole["x"] >= 0.5) & (whole["x"] <= 1.5)
        assert set(whole["step"][within]) <= set(ranged["step"]) and len(ranged["step"]) < 3 * within.sum()
        (again, _) = api.columns({**ask, "width": 20, "series": [{**series[0], "epoch": few["epoch"], "n": few["n"]}, series[1]]})
        assert again["flags"] & 2
        measured, none = api.post("measure", {"x": {"tag": "noise"}, "from": -9, "to": 9, "series": series})["series"]
        assert measured["n"] == len(want) and none is None
        (compared, _) = api.columns({**ask, "compare": {"run": ids["b"], "kind": "difference"}})
        assert np.array_equal(compared["x"], whole["x"]) and not compared["value"].any()


def test_news_of_the_metric_that_is_x_change_the_line(tmp_path):
    write_scalars(tmp_path / "a", "loss", range(10), range(10))
    write_scalars(tmp_path / "a", "epoch", [0, 5], [0, 1])
    with Seaboard(tmp_path) as served:
        served.loaded()
        api = Api(served)
        ask = {"x": {"tag": "epoch"}, "width": 0, "series": [{"run": api.get("runs")["runs"][0]["id"], "tag": "loss"}]}
        (before,) = api.columns(ask)
        assert list(before["step"]) == list(range(6))
        write_scalars(tmp_path / "a", "epoch", [9], [2])
        ask["series"][0] |= {"epoch": before["epoch"], "n": before["n"]}
        (after,) = served.wait(lambda: api.columns(ask), lambda found: not found[0]["flags"] & 2)
        assert list(after["step"]) == list(range(10)) and list(after["x"][[0, 5, 9]]) == [0, 1, 2]


def test_bands_along_a_metric_need_it_to_rise(tmp_path):
    for i in range(2):
        write_scalars(tmp_path / f"s{i}", "loss", range(20), np.arange(20) + i)
        write_scalars(tmp_path / f"s{i}", "epoch", [0, 19], [0, 19 / 2])
        write_scalars(tmp_path / f"s{i}", "lr", [0, 10, 19], [0, 1, 0])
    write_scalars(tmp_path / "bare", "loss", range(20), range(20))
    with Seaboard(tmp_path) as served:
        served.loaded()
        api = Api(served)
        groups = [{"key": "all", "series": [{"run": run["id"], "tag": "loss"} for run in api.get("runs")["runs"]]}]
        (band,) = decode_bands(api.call("bands", {"x": {"tag": "epoch"}, "width": 100, "groups": groups})[2])
        assert band["lines"] == 2 and np.allclose(band["x"], np.arange(20) / 2) and np.allclose(band["centre"], np.arange(20) + 0.5)
        status, error = api.error("bands", {"x": {"tag": "lr"}, "width": 100, "groups": groups})
        assert status == 400 and "lr" in error["message"]


def test_changes_tell_only_what_is_new(tmp_path):
    write_scalars(tmp_path / "r", "loss", range(3), range(3))
    with Seaboard(tmp_path) as served:
        served.loaded()
        api = Api(served)
        before = api.get("changes?since=0")
        assert [run["name"] for run in before["runs"]] == ["r"] and before["series"] == []
        assert api.get(f"changes?since={before['version']}")["runs"] == []
        write_scalars(tmp_path / "r", "acc", [7], [1])
        served.wait(lambda: api.get("status")["loading"]["points"], lambda points: points == 4)
        after = api.get(f"changes?since={before['version']}")
        assert [series[1:] for series in after["series"]] == [["acc", 1, "scalars", True]]
        assert after["runCount"] == 1 and not after["more"]
        assert after["gone"] == [] and not after["reset"]


def test_deleted_runs_are_named_in_changes(tmp_path):
    write_scalars(tmp_path / "stays", "loss", range(3), range(3))
    write_scalars(tmp_path / "goes", "loss", range(3), range(3))
    with Seaboard(tmp_path, "--reload_interval", "0.1") as served:
        served.loaded()
        api = Api(served)
        before = api.get("changes?since=0")
        ids = {run["name"]: run["id"] for run in before["runs"]}
        shutil.rmtree(tmp_path / "goes")
        after = served.wait(lambda: api.get(f"changes?since={before['version']}"), lambda reply: reply["gone"])
        assert after["gone"] == [{"id": ids["goes"], "name": "goes"}] and after["runCount"] == 1
        assert api.get(f"changes?since={after['version']}")["gone"] == []


def test_two_servers_have_two_instances_and_changes_of_the_other_reset(tmp_path):
    write_scalars(tmp_path / "r", "loss", range(3), range(3))
    instances = []
    for _ in range(2):
        with Seaboard(tmp_path) as served:
            served.loaded()
            api = Api(served)
            instance = api.get("status")["instance"]
            assert re.fullmatch("[0-9a-f]{16}", instance)
            for path in ("runs", "tags", "changes?since=0"):
                assert api.get(path)["instance"] == instance
            assert dict(served.get("/api/v1/runs").headers)["X-Seaboard-Instance"] == instance
            with Events(served.connect()) as events:
                assert events.event()["instance"] == instance
            version = api.get("status")["version"]
            assert not api.get(f"changes?since={version}&instance={instance}")["reset"]
            for other in instances:
                reply = api.get(f"changes?since={version}&instance={other}")
                assert reply["reset"] and [run["name"] for run in reply["runs"]] == ["r"]
            instances.append(instance)
    assert instances[0] != instances[1]


def test_notes_are_kept_and_contested_changes_refused(api):
    header = {"X-Seaboard-Request": "1"}
    start = api.get("state")["revision"]
    body = {"revision": start, "items": {"run/a": {"name": "é", "n": [1, None]}}}
    api.call("state", body, "PATCH", header)
    assert api.get("state")["items"]["run/a"] == {"name": "é", "n": [1, None]}
    with pytest.raises(urllib.error.HTTPError) as caught:
        api.call("state", body, "PATCH", header)
    assert caught.value.code == 409 and "run/a" in json.loads(caught.value.read())["items"]
    assert api.error("state", body, "PATCH")[0] == 403


@pytest.mark.parametrize(
    "path, body",
    [
        ("scalars", b"{"),
        ("scalars", b"[]"),
        ("scalars", b"\xff\xfe"),
        ("scalars", {"series": 3}),
        ("scalars", {"series": [3]}),
        ("scalars", {"series": [{"run": -1, "tag": "x"}]}),
        ("scalars", {"series": [{"run": 1}]}),
        ("scalars", {"width": -1, "series": []}),
        ("scalars", {"width": 1e9, "series": []}),
        ("scalars", {"x": "sideways", "series": []}),
        ("scalars", {"x": {"tag": 4}, "series": []}),
        ("scalars", {"x": {}, "series": []}),
        ("scalars", {"x": ["step"], "series": []}),
        ("scalars", {"range": [2, 1], "series": []}),
        ("scalars", {"range": "all", "series": []}),
        ("scalars", {"smoothing": {"kind": "magic"}, "series": []}),
        ("scalars", {"compare": 4, "series": []}),
        ("scalars", {"compare": {"kind": "ratio"}, "series": []}),
        ("scalars", {"compare": {"run": -1, "kind": "ratio"}, "series": []}),
        ("scalars", {"compare": {"run": 2**32, "kind": "ratio"}, "series": []}),
        ("scalars", {"compare": {"run": 1, "kind": "sum"}, "series": []}),
        ("measure", b"{"),
        ("measure", b"[]"),
        ("measure", {"series": []}),
        ("measure", {"from": "1", "series": []}),
        ("measure", {"from": 1, "to": [2], "series": []}),
        ("measure", {"from": 2, "to": 1, "series": []}),
        ("measure", b'{"from": 1e999, "series": []}'),
        ("measure", {"from": 1}),
        ("measure", {"from": 1, "series": [{"run": 1}]}),
        ("measure", {"from": 1, "series": [{"run": 1, "tag": "x"}] * 20001}),
        ("measure", {"from": 1, "x": "sideways", "series": []}),
        ("measure", {"from": 1, "compare": {"run": 1}, "series": []}),
        ("summaries", {"tags": "loss"}),
        ("summaries", {"tags": [1]}),
    ],
)
def test_nonsense_is_refused_with_a_reason(api, path, body):
    status, error = api.error(path, body)
    assert status == 400 and error["code"] == "invalid" and error["message"]


def test_unknown_paths_and_versions_are_refused(api):
    assert api.error("nothing/here")[0] == 404
    assert api.error("changes?since=yesterday")[0] == 400
    assert api.error("runs", {"a": 1}, "POST")[0] == 405


def decode_bands(data):
    assert data[:4] == b"SBB1"
    (count,) = struct.unpack_from("<I", data, 4)
    groups = []
    for i in range(count):
        group, _, points, lines, *offsets = struct.unpack_from("<9I", data, 16 + 40 * i)
        columns = [np.frombuffer(data, "<f8", points, offset * 8) for offset in offsets]
        groups.append(dict(zip(("x", "centre", "low", "high", "count"), columns), lines=lines, group=group))
    return groups


def test_bands_are_mean_and_spread_over_the_lines(tmp_path):
    seeds = [np.arange(20) + shift for shift in (0.0, 1.0, 5.0)]
    for i, values in enumerate(seeds):
        write_scalars(tmp_path / f"s{i}", "loss", range(20), values)
    with Seaboard(tmp_path) as served:
        served.loaded()
        api = Api(served)
        series = [{"run": run["id"], "tag": "loss"} for run in api.get("runs")["runs"]]
        ask = {"width": 100, "groups": [{"key": "all", "series": series}, {"key": "none", "series": []}]}
        truth = np.stack(seeds)
        everything, nothing = decode_bands(api.call("bands", ask)[2])
        assert everything["lines"] == 3 and list(everything["count"]) == [3] * 20
        assert np.allclose(everything["centre"], truth.mean(0))
        assert np.allclose(everything["high"] - everything["centre"], truth.std(0, ddof=1))
        assert len(nothing["x"]) == 0
        ranged, _ = decode_bands(api.call("bands", {**ask, "center": "median", "spread": "minmax"})[2])
        assert np.allclose(ranged["centre"], np.median(truth, 0))
        assert np.allclose(ranged["low"], truth.min(0)) and np.allclose(ranged["high"], truth.max(0))
        for wrong in ({"groups": 1}, {"groups": [{}]}, {**ask, "center": "middle"}, {**ask, "spread": "wide"}):
            assert api.error("bands", wrong)[0] == 400


def test_bands_are_compared_with_a_baseline(tmp_path):
    seeds = [np.arange(1.0, 21.0) + shift for shift in (0.0, 1.0, 5.0)]
    base = np.linspace(2, 6, 20)
    for i, values in enumerate([*seeds, base]):
        write_scalars(tmp_path / f"s{i}", "loss", range(20), values)
    write_scalars(tmp_path / "s3", "only/base", [0], [1.0])
    write_scalars(tmp_path / "s0", "only/seed", [0], [1.0])
    with Seaboard(tmp_path) as served:
        served.loaded()
        api = Api(served)
        runs = {run["name"]: run["id"] for run in api.get("runs")["runs"]}
        series = [{"run": runs[f"s{i}"], "tag": "loss"} for i in range(3)]
        lonely = [{"run": runs["s0"], "tag": "only/seed"}]
        ask = {"width": 100, "groups": [{"key": "all", "series": series}, {"key": "lonely", "series": lonely}]}
        for kind, truth in (("difference", np.stack(seeds) - base), ("ratio", np.stack(seeds) / base)):
            compare = {"run": runs["s3"], "kind": kind}
            reply = api.call("bands", {**ask, "compare": compare})[2]
            group, without = decode_bands(reply)
            assert np.allclose(group["centre"], truth.mean(0))
            assert np.allclose(group["high"] - group["centre"], truth.std(0, ddof=1))
            assert len(without["x"]) == 0 and without["lines"] == 1
            assert [struct.unpack_from("<I", reply, 16 + 40 * i + 4)[0] for i in range(2)] == [1, 2]
        assert api.error("bands", {**ask, "compare": compare, "x": {"tag": "loss"}})[0] == 400
        assert api.error("bands", {**ask, "compare": {"run": 0}})[0] == 400


@pytest.fixture(scope="module")
def kinds():
    """The real fixtures of tf.summary: every kind."""
    root = pathlib.Path(__file__).resolve().parents[1] / "fixtures/tf/v2"
    with Seaboard(root) as served:
        served.loaded()
        yield Api(served)


def test_images_come_with_size_and_bytes(kinds):
    seen = 0
    for run, tag, info in tags_of(kinds, "images"):
        reply = kinds.get(f"images?run={run}&tag={urllib.parse.quote(tag)}")
        assert reply["samples"] == info["samples"] > 0
        for point in reply["points"]:
            assert point["width"] > 0 and point["height"] > 0
            for path in point["blobs"]:
                _, headers, body = kinds.call(path)
                assert body.startswith(b"\x89PNG") and headers["Content-Type"] == "image/png"
                assert struct.unpack(">II", body[16:24]) == (point["width"], point["height"])
                assert "immutable" in headers["Cache-Control"] and "sandbox" in headers["Content-Security-Policy"]
                seen += 1
    assert seen > 3


def test_part_of_a_clip_may_be_asked_for(kinds):
    run, tag, _ = next(tags_of(kinds, "audio"))
    path = kinds.get(f"audio?run={run}&tag={urllib.parse.quote(tag)}")["points"][0]["blobs"][0]
    whole = kinds.call(path)[2]
    assert whole[:4] == b"RIFF"
    status, headers, part = kinds.call(path, headers={"Range": "bytes=4-7"})
    assert status == 206 and part == whole[4:8] and headers["Content-Range"] == f"bytes 4-7/{len(whole)}"
    wrong = path.replace("&at=", "&at=9")
    assert kinds.error(wrong)[0] == 410


def test_histograms_and_distributions_come_by_step(kinds):
    series = [{"run": run, "tag": tag} for run, tag, _ in tags_of(kinds, "histograms")]
    assert series
    for entry in kinds.post("histograms", {"series": series})["series"]:
        assert entry["total"] >= len(entry["points"]) > 0
        for point in entry["points"]:
            assert all(len(row) == 3 for row in point["rows"])
    for entry in kinds.post("histograms", {"series": series, "mode": "distribution", "maxSteps": 2})["series"]:
        assert len(entry["points"]) <= 2
        assert all(len(point["percentiles"]) == 9 for point in entry["points"])


def test_texts_come_newest_first_and_harmless(kinds):
    seen = 0
    for run, tag, _ in tags_of(kinds, "text"):
        reply = kinds.get(f"text?run={run}&tag={urllib.parse.quote(tag)}")
        steps = [point["step"] for point in reply["points"]]
        assert steps == sorted(steps, reverse=True) and reply["total"] == len(steps)
        assert all("<script" not in point["html"] for point in reply["points"])
        seen += len(steps)
    assert seen > 0


def test_a_text_is_found_by_its_step_and_cut_where_it_is_long(kinds):
    for run, tag, _ in tags_of(kinds, "text"):
        series = f"text?run={run}&tag={urllib.parse.quote(tag)}"
        everything = kinds.get(series)
        steps = [point["step"] for point in everything["points"]]
        assert everything["from"] == 0
        for at in (steps[-1] - 5, steps[0] + 5, steps[len(steps) // 2], -(2**63), 2**63 - 1):
            reply = kinds.get(f"{series}&at={at}&count=1")
            assert reply["total"] == len(steps)
            assert reply["points"] == [everything["points"][reply["from"]]]
            assert abs(reply["points"][0]["step"] - at) == min(abs(step - at) for step in steps)
        whole = everything["points"][0]["html"].encode()
        part = kinds.get(f"{series}&count=1&max=9")["points"][0]
        assert whole.startswith(part["html"].encode()) and len(part["html"].encode()) <= 9
        assert part.get("bytes", len(whole)) == len(whole)
        assert "error" not in kinds.get(f"{series}&count=1&markdown=0")["points"][0]


@pytest.mark.parametrize("path", ["images", "images?run=x&tag=y", "text?run=0&tag=a&count=100000", "text?run=0&tag=a&at=x", "text?run=0&tag=a&markdown=2", "blob?run=0&tag=a&step=x"])
def test_questions_without_sense_are_refused(kinds, path):
    assert kinds.error(path)[0] == 400
    assert kinds.error("images?run=4000000000&tag=zz")[0] == 404


def test_export_gives_all_points_of_what_is_named(api, logs):
    _, steps, values = logs
    _, headers, body = api.call("export?run=a&tag=loss&format=csv")
    lines = body.decode().splitlines()
    assert lines[0] == "run,tag,step,wall_time,value" and len(lines) == 5001
    assert [float(line.split(",")[4]) for line in lines[1:]] == [float(v) for v in values]
    assert "attachment" in headers["Content-Disposition"]
    both = json.loads(api.call("export?run=a&run=restarted&tag=loss&format=json")[2])
    assert {row["run"] for row in both} == {"a", "restarted"} and len(both) == 5009
    assert len(json.loads(api.call("export?format=json")[2])) == 5062
    assert api.error("export?format=xml")[0] == 400
