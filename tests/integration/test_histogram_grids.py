"""Histograms on grids, /api/v1/histograms/grids, over logs of TensorFlow and over hostile ones: beside TensorBoard's own way."""

import csv
import io
import json
import math
import pathlib
import struct
import urllib.parse

import numpy as np
import pytest

from api_client import Api, tags_of
from command import field, frame, varint
from serve_driver import Seaboard

FIXTURES = pathlib.Path(__file__).resolve().parents[1] / "fixtures"
SUPERSEDED, UNREADABLE, BROKEN, EMPTY, NAN = 1, 2, 4, 8, 16


def decode(data):
    """The entries of a reply, as docs/formats/api-v1.md has them."""
    assert data[:4] == b"SBH1"
    entries = []
    for i in range(struct.unpack_from("<I", data, 4)[0]):
        at = 16 + 120 * i
        run, flags, epoch, n, in_range, steps, bins = struct.unpack_from("<IIQQQII", data, at)
        first_wall, near, least, greatest = struct.unpack_from("<4d", data, at + 40)
        places = struct.unpack_from("<12I", data, at + 72)

        def column(which, count, kind="<f8", of=places):
            return np.frombuffer(data, kind, count, of[which] * 8) if of[which] else None

        entries.append(
            dict(
                run=run, flags=flags, epoch=epoch, n=n, in_range=in_range, steps=steps, bins=bins, near=near,
                first_wall=first_wall, least=least, greatest=greatest,
                step=column(0, steps), wall=column(1, steps), marks=column(2, steps, "u1"), total=column(3, steps),
                mean=column(4, steps), deviation=column(5, steps), percentiles=column(6, steps * 9),
                edges=column(7, bins + 1), shares=column(8, steps * bins, "<f4"), below=column(9, steps, "<f4"),
                above=column(10, steps, "<f4"), ends=column(11, steps * 2),
            )
        )
    return entries


def grids(api, body):
    return decode(api.call("histograms/grids", body)[2])


def histogram_event(tag, step, rows, wall=1000.0):
    """A histogram in the new style, made by hand: any rows."""
    rows = np.asarray(rows, "<f8").reshape(-1, 3)
    shape = b"".join(field(2, b"\x08" + varint(n)) for n in rows.shape)
    tensor = b"\x08\x02" + field(2, shape) + field(4, rows.tobytes())
    meta = field(1, field(1, b"histograms"))
    value = field(1, tag.encode()) + field(8, tensor) + field(9, meta)
    return b"\x09" + struct.pack("<d", wall) + b"\x10" + varint(step) + field(5, field(1, value))


def old_histogram_event(tag, step, least, greatest, num, total, squares, limits, counts, wall=1000.0):
    numbers = b"".join(bytes([k << 3 | 1]) + struct.pack("<d", v) for k, v in enumerate((least, greatest, num, total, squares), 1))
    histo = numbers + field(6, np.asarray(limits, "<f8").tobytes()) + field(7, np.asarray(counts, "<f8").tobytes())
    return b"\x09" + struct.pack("<d", wall) + b"\x10" + varint(step) + field(5, field(1, field(1, tag.encode()) + field(5, histo)))


def write(folder, events):
    folder.mkdir(parents=True)
    (folder / "events.out.tfevents.1.h").write_bytes(b"".join(frame(e) for e in events))


def rebinned(points, bins=30):
    """What TensorBoard's page draws: the counts of each bin, buckets being even within themselves."""
    low = min(row[0] for _, _, rows in points for row in rows)
    high = max(row[1] for _, _, rows in points for row in rows)
    if low == high:
        low, high = low / 1.1 - 1, low * 1.1 + 1
    width = (high - low) / bins
    out = []
    for _, _, rows in points:
        counts = np.zeros(bins)
        for i in range(bins):
            left, right = low + i * width, low + (i + 1) * width
            for a, b, count in rows:
                if b > a:
                    counts[i] += count * max(0.0, min(b, right) - max(a, left)) / (b - a)
                elif left <= a and (b < right or i == bins - 1):
                    counts[i] += count
        out.append(counts)
    return low, high, np.array(out)


def served_logs(root):
    with Seaboard(root) as served:
        served.loaded()
        yield served, Api(served)


@pytest.fixture(scope="module", params=["tf/v2", "tf/v1", "tf/keras", "torch_writer"])
def real(request):
    yield from served_logs(FIXTURES / request.param)


def test_all_values_in_thirty_bins_are_tensorboards_picture(real):
    served, api = real
    names = {run["id"]: run["name"] for run in api.get("runs")["runs"]}
    seen = 0
    for run, tag, _ in tags_of(api, "histograms"):
        query = urllib.parse.urlencode({"run": names[run], "tag": tag})
        points = [p for p in served.json(f"/data/plugin/histograms/histograms?{query}") if p[2]]
        bands = served.json(f"/data/plugin/distributions/distributions?{query}")
        entry = grids(api, {"series": [{"run": run, "tag": tag}], "steps": 1000, "bins": 30, "values": "all"})[0]
        drawn = [i for i in range(entry["steps"]) if not entry["marks"][i] & (EMPTY | BROKEN)]
        if len(drawn) < entry["steps"] or not points:
            continue
        assert list(entry["step"]) == [p[1] for p in points] and list(entry["wall"]) == [p[0] for p in points]
        low, high, counts = rebinned(points)
        assert math.isclose(entry["edges"][0], low) and math.isclose(entry["edges"][-1], high)
        ours = entry["shares"].reshape(-1, 30) * entry["total"][:, None]
        assert np.allclose(ours, counts, rtol=1e-5, atol=1e-5 * max(1.0, counts.max()))
        assert entry["percentiles"].tolist() == [value for point in bands for _, value in point[2]]
        seen += 1
    assert seen > 0


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    root = tmp_path_factory.mktemp("histograms")
    rng = np.random.default_rng(1)

    def rows(values, bins=20):
        counts, edges = np.histogram(values, bins)
        return np.column_stack([edges[:-1], edges[1:], counts])

    normal = [rows(rng.normal(scale=0.1 + i / 200, size=2000)) for i in range(200)]
    for run in ("a", "b"):
        write(root / run, [histogram_event("w", i, r, 1000.0 + i) for i, r in enumerate(normal)])
    outlier = normal[:60]
    outlier[30] = rows(rng.normal(scale=1e6, size=2000))
    nan, inf = math.nan, math.inf
    write(
        root / "odd",
        [histogram_event("outlier", i, r) for i, r in enumerate(outlier)]
        + [
            histogram_event("hostile", 0, []),
            histogram_event("hostile", 1, [[nan, nan, 5]] * 30),
            histogram_event("hostile", 2, [[-inf, 0, 1], [0, 1, 5], [1, inf, 2]]),
            histogram_event("hostile", 3, [[0, 1, 0], [1, 2, 0]]),
            histogram_event("hostile", 4, [[3, 4, 1], [0, 2, 1], [1, 3.5, 2]]),
            histogram_event("hostile", 5, [[0, 1, 1e308], [1, 2, 1e308]]),
            histogram_event("hostile", 6, [[0, 1, -4], [1, 0.5, 3]]),
            histogram_event("hostile", 7, [[-1.7e308, 1.7e308, 3]]),
            histogram_event("constant", 0, [[2.5, 2.5, 0]] * 29 + [[2.5, 2.5, 100]]),
        ]
        # values of which some were NaN: torch counts the others, and its min, max and sums are NaN
        + [old_histogram_event("nan among", 0, nan, nan, 12, nan, nan, [0.0, 1, 2, 3], [0, 4, 4, 2])],
    )
    yield from served_logs(root)


def ids_of(api):
    return {run["name"]: run["id"] for run in api.get("runs")["runs"]}


def ask(api, run, tag, **more):
    body = {"series": [{"run": ids_of(api)[run], "tag": tag}], "steps": 100, "bins": 40, **more}
    return grids(api, body)[0]


def test_the_server_reads_no_more_steps_than_are_shown_and_every_step_can_be_reached(made):
    _, api = made
    entry = ask(api, "a", "w", steps=50)
    assert entry["n"] == entry["in_range"] == 200 and 25 <= entry["steps"] <= 50
    assert entry["step"][0] == 0 and entry["step"][-1] == 199
    assert 101 not in entry["step"]
    assert 101 in ask(api, "a", "w", steps=50, at=101)["step"]
    zoomed = ask(api, "a", "w", steps=50, range=[100, 120])
    assert list(zoomed["step"]) == list(range(100, 121)) and zoomed["in_range"] == 21
    later = ask(api, "a", "w", steps=50, x="relative", range=[190.5, 300])
    assert list(later["step"]) == list(range(191, 200))
    exact = api.post("histograms", {"series": [{"run": ids_of(api)["a"], "tag": "w"}], "range": [101, 101]})["series"][0]
    assert [p["step"] for p in exact["points"]] == [101] and len(exact["points"][0]["rows"]) == 20


def test_one_outlier_step_does_not_flatten_the_rest_and_what_is_beyond_is_told(made):
    _, api = made
    most, everything = ask(api, "odd", "outlier"), ask(api, "odd", "outlier", values="all")
    assert everything["edges"][-1] > 1e6 and most["edges"][-1] < 3 and most["greatest"] == everything["greatest"]
    at = list(most["step"]).index(30)
    assert most["below"][at] + most["above"][at] > 0.99
    others = np.delete(most["below"] + most["above"], at)
    assert others.max() < 0.02
    sums = most["shares"].reshape(-1, 40).sum(1) + most["below"] + most["above"]
    assert np.allclose(sums, 1, atol=1e-5)


def test_runs_of_one_tag_share_a_grid_and_nothing_is_sent_twice(made):
    _, api = made
    runs = ids_of(api)
    series = [{"run": runs["a"], "tag": "w"}, {"run": runs["b"], "tag": "w"}, {"run": runs["b"], "tag": "zz"}, {"run": 4_000_000_000, "tag": "w"}]
    first, second, unknown, nobody = grids(api, {"series": series, "steps": 20, "bins": 10})
    assert list(first["edges"]) == list(second["edges"])
    assert unknown["flags"] & 1 and nobody["flags"] & 1 and unknown["steps"] == 0
    for one, entry in zip(series, (first, second)):
        one.update(epoch=entry["epoch"], n=entry["n"])
    again = grids(api, {"series": series, "steps": 20, "bins": 10})
    assert [e["flags"] for e in again] == [2, 2, 1, 1] and all(e["steps"] == 0 for e in again)
    series[0]["n"] -= 1  # one grew: the grid may be another, so both come
    again = grids(api, {"series": series, "steps": 20, "bins": 10})
    assert again[0]["steps"] and again[1]["steps"]


def test_no_bins_are_percentiles_only(made):
    _, api = made
    entry = ask(api, "a", "w", bins=0)
    assert entry["edges"] is None and entry["shares"] is None and len(entry["percentiles"]) == 9 * entry["steps"]
    assert np.all(np.diff(entry["percentiles"].reshape(-1, 9), axis=1) >= 0)


def test_a_log_axis_is_fine_near_zero(made):
    _, api = made
    entry = ask(api, "a", "w", scale="log")
    widths = np.diff(entry["edges"])
    assert entry["near"] > 0 and widths.max() > 50 * widths.min()


def test_hostile_buckets_do_no_harm(made):
    _, api = made
    for scale in ("linear", "log"):
        for values in ("most", "all", [-1, 5], [-1e308, 1e308]):
            entry = ask(api, "odd", "hostile", scale=scale, values=values)
            assert list(entry["step"]) == list(range(8))
            assert list(entry["marks"]) == [EMPTY, EMPTY | BROKEN | NAN, BROKEN, EMPTY, 0, 0, BROKEN, 0]
            assert np.isfinite(entry["edges"]).all() and (np.diff(entry["edges"]) >= 0).all()
            assert np.isfinite(entry["shares"]).all() and (entry["shares"] >= 0).all()
            sums = entry["shares"].reshape(8, -1).sum(1) + entry["below"] + entry["above"]
            assert np.allclose(sums[[2, 4, 5, 6, 7]], 1, atol=1e-4) and np.allclose(sums[[0, 1, 3]], 0)
    constant = ask(api, "odd", "constant")
    assert math.isclose(constant["shares"].sum(), 1) and constant["edges"][0] < 2.5 < constant["edges"][-1]
    nan = ask(api, "odd", "nan among")
    assert nan["marks"][0] == BROKEN | NAN and nan["total"][0] == 10 and nan["ends"].tolist() == [0, 3]


def test_what_makes_no_sense_is_refused(made):
    _, api = made
    good = {"series": [{"run": 0, "tag": "w"}], "steps": 10, "bins": 10}
    for bad in (
        {"steps": 0}, {"steps": 5000}, {"steps": "x"}, {"bins": -1}, {"bins": 1025}, {"scale": "cubic"}, {"values": "some"},
        {"values": [2, 1]}, {"x": {"tag": "loss"}}, {"series": 5}, {"series": [{}]}, {"series": [{"run": 0, "tag": "w"}] * 501},
        {"series": [{"run": 0, "tag": "w"}] * 500, "steps": 4096, "bins": 1024}, {"range": [1]},
    ):
        code, error = api.error("histograms/grids", {**good, **bad})
        assert code == 400 and error["code"] == "invalid", bad


def test_every_bucket_can_be_taken_away(made):
    served, api = made
    for name, tag in (("a", "w"), ("odd", "hostile")):
        query = urllib.parse.urlencode({"run": name, "tag": tag})
        want = served.json(f"/data/plugin/histograms/histograms?{query}") if name == "odd" else None
        text = api.call(f"histograms/export?{query}&format=csv")[2].decode()
        rows = list(csv.DictReader(io.StringIO(text)))
        assert rows[0].keys() == {"run", "tag", "step", "wall_time", "left", "right", "count"}
        listed = json.loads(api.call(f"histograms/export?{query}&format=json")[2])
        assert sum(len(step["buckets"]) for step in listed) == len(rows)
        if want is None:
            assert len(rows) == 200 * 20
            continue
        assert [step["buckets"] for step in listed] == [point[2] for point in want]
    assert api.error("histograms/export?run=a&format=csv")[0] == 400
    assert json.loads(api.call("histograms/export?run=zz&tag=w&format=json")[2]) == []
