"""Profiles over HTTP: captures are found, opened and shown; figures are those that Python counts in the files."""

import ast
import csv
import gzip
import json
import pathlib
import re
import shutil
import struct
import subprocess
import time

import pytest
from api_client import Api
from command import BINARY
from serve_driver import Seaboard

ROOT = pathlib.Path(__file__).resolve().parents[2]
FIXTURES = ROOT / "tests/fixtures"
GPU = "gpu_plain.vm_399.1794737035198591415.pt.trace.json.gz"
FULL = "cpu_full.vm_399.1794737034369441671.pt.trace.json.gz"


class Profile(Api):
    def until(self, condition):
        end = time.monotonic() + 60
        while not (answer := condition()):
            assert time.monotonic() < end
            time.sleep(0.05)
        return answer

    def captures(self):
        return self.get("profile/captures")["captures"]

    def open(self, name):
        return self.open_id(self.until(lambda: [c for c in self.captures() if name in c["name"] or name in c["run"]])[0]["id"])

    def open_id(self, capture):
        ask = {"capture": capture}
        opened = self.until(lambda: (c := self.post("profile/open", ask)["capture"])["state"] in ("open", "failed") and c)
        assert opened["state"] == "open", opened["error"]
        return opened["id"]

    def ask(self, route, capture, **words):
        query = "".join(f"&{key}={value}" for key, value in words.items())
        return self.get(f"profile/{route}?capture={capture}{query}")


@pytest.fixture(scope="module")
def served(tmp_path_factory):
    root = tmp_path_factory.mktemp("logs")
    shutil.copytree(FIXTURES / "profile/torch", root / "torch")
    shutil.copytree(FIXTURES / "tf/keras/logs", root / "keras")
    shutil.copytree(FIXTURES / "tf/v1", root / "v1")
    for name in ("cpu_0", "cuda_0"):
        session = root / f"jax_{name}/plugins/profile/2026_11_15_10_00_00"
        session.mkdir(parents=True)
        shutil.copy(FIXTURES / f"profile/jax/{name}.vm.xplane.pb.gz", session / "vm.xplane.pb.gz")
        shutil.copy(FIXTURES / f"profile/jax/{name}.trace.json.gz", session / "vm.trace.json.gz")
    with Seaboard(root, "--reload_interval", "0.2") as server:
        server.loaded()
        yield server


@pytest.fixture(scope="module")
def api(served):
    return Profile(served)


def events(name):
    with gzip.open(FIXTURES / "profile/torch" / name) as f:
        return json.load(f)["traceEvents"]


def decode_slices(data):
    magic, count = data[:4], struct.unpack_from("<I", data, 4)[0]
    assert magic == b"SBP1"
    entries = []
    for i in range(count):
        at = 16 + 56 * i
        track, flags, slices, n, lanes, *columns = struct.unpack_from("<IIQII8I", data, at)
        kinds = zip(("start", "duration", "name", "index", "depth", "kind", "count", "busy"), "ddIIBBIf", columns)
        entries.append({key: struct.unpack_from(f"<{n}{code}", data, 8 * place) for key, code, place in kinds} | {
            "track": track, "flags": flags, "slices": slices, "n": n, "lanes": lanes})
    return entries


def test_captures_of_every_format_are_listed_and_counted(api):
    by_format = {}
    for capture in api.until(lambda: len(api.captures()) >= 7 and api.captures()):
        by_format.setdefault(capture["format"], []).append(capture)
    assert len(by_format["xplane"]) == 3  # a session with an XSpace and a trace.json is one capture
    assert {c["run"] for c in by_format["xplane"]} == {"jax_cpu_0", "jax_cuda_0", "keras/train"}
    ranks = next(c for c in by_format["kineto"] if c["name"].startswith("ddp"))
    assert [s["name"] for s in ranks["sources"]] == ["ddp.rank0", "ddp.rank1"]
    assert len(by_format["kineto"]) == 3
    assert by_format["stepstats"]
    assert api.get("status")["plugins"]["profile"] == 6


def test_a_capture_must_be_opened_first(api):
    assert api.error("profile/tracks?capture=0123456789abcdef") == (
        409,
        {"code": "not_open", "message": 'this capture is not open: POST profile/open {"capture"} first'},
    )
    assert api.error("profile/open", {"capture": "0123456789abcdef"})[0] == 404


def test_totals_equal_what_the_file_holds(api):
    capture = api.open("gpu_plain")
    wanted = {}
    for e in events(GPU):
        if e["ph"] == "X" and e.get("cat") == "cpu_op":
            count, total = wanted.get(e["name"], (0, 0))
            wanted[e["name"]] = (count + 1, total + round(e["dur"] * 1e6))
    totals = api.post("profile/totals", {"capture": capture, "by": "name", "limit": 10000})
    seen = {t["name"]: (t["count"], t["totalPs"]) for t in totals["items"] if t["kind"] == 1}
    assert seen == wanted


def test_a_window_shows_every_slice_at_any_zoom(api):
    capture = api.open("gpu_plain")
    tracks = api.ask("tracks", capture)
    ids = [t["id"] for t in tracks["tracks"] if t["kind"] != "counter"]
    for pixels in (1, 100, 5000):
        body = {"capture": capture, "tracks": ids, "from": 0, "to": tracks["durationPs"], "pixels": pixels}
        entries = decode_slices(api.call("profile/slices", body)[2])
        for entry, track in zip(entries, (t for t in tracks["tracks"] if t["kind"] != "counter")):
            assert sum(entry["count"]) == entry["slices"] == track["slices"]
            assert entry["lanes"] == track["depth"]
    names = api.ask("names", capture)["names"]
    assert {names[i] for entry in entries for i in entry["name"]} >= {"aten::addmm", "ProfilerStep#2"}


def test_a_kernel_says_who_launched_it(api):
    capture = api.open("gpu_plain")
    kernel = api.ask("search", capture, q="gemm", limit=1)["items"][0]
    one = api.ask("slice", capture, track=kernel["track"], index=kernel["index"])
    assert one["category"] == "kernel" and one["args"]["stream"] == 7
    launch = next(f["other"] for f in one["flows"] if f["direction"] == "in")
    assert launch["name"] in ("cudaLaunchKernel", "cuLaunchKernel", "cudaLaunchKernelExC", "cuLaunchKernelEx")
    raw = next(e for e in events(GPU) if e.get("args", {}).get("correlation") == one["args"]["correlation"] and e["cat"] != "kernel")
    assert launch["durationPs"] == round(raw["dur"] * 1e6)


def test_steps_name_the_rule_that_found_them(api):
    rules = {name: api.ask("tracks", api.open(name))["steps"] for name in ("gpu_plain", "jax_cpu_0", "keras")}
    assert [s["name"] for s in rules["gpu_plain"]["items"]] == ["ProfilerStep#2", "ProfilerStep#3", "ProfilerStep#4"]
    assert rules["jax_cpu_0"]["rule"] == "marked" and len(rules["jax_cpu_0"]["items"]) == 10
    assert rules["keras"]["rule"] in ("keras", "function", "marked") and rules["keras"]["items"]


def test_step_statistics_of_an_event_file_are_a_capture(api):
    stats = next(c for c in api.captures() if c["format"] == "stepstats")
    capture = api.until(lambda: (c := api.post("profile/open", {"capture": stats["id"]})["capture"])["state"] == "open" and c)
    tracks = api.ask("tracks", capture["id"])
    assert tracks["slices"] > 0 and tracks["sources"][0]["format"] == "stepstats"


def test_a_window_is_saved_as_a_chrome_trace(api):
    capture = api.open("gpu_plain")
    body = {"kind": "profile_trace", "args": {"capture": capture}}
    job = json.loads(api.call("jobs", body, headers={"X-Seaboard-Request": "1"})[2])["job"]["id"]
    api.until(lambda: api.get(f"job?id={job}")["job"]["state"] == "done")
    saved = json.loads(api.call(f"job/result?id={job}")[2])["traceEvents"]
    wanted = sum(1 for e in events(GPU) if e["ph"] in "Xi")
    assert sum(1 for e in saved if e["ph"] in "Xi") == wanted
    ops = sum(round(e["dur"] * 1e6) for e in saved if e["ph"] == "X" and e["cat"] == "cpu_op")
    assert ops == sum(round(e["dur"] * 1e6) for e in events(GPU) if e["ph"] == "X" and e.get("cat") == "cpu_op")


def test_totals_are_saved_as_csv(api):
    capture = api.open("gpu_plain")
    _, headers, text = api.call("profile/totals", {"capture": capture, "csv": True})
    lines = text.decode().splitlines()
    assert headers["Content-Type"].startswith("text/csv") and lines[0].startswith("name,kind,count,total_us")
    assert any(line.startswith("aten::addmm,operator,") for line in lines)


def test_the_overview_says_where_a_step_goes(api):
    capture = api.open("gpu_plain")
    overview = api.ask("overview", capture)
    assert overview["hasDevice"] and 0 < overview["deviceBusy"] < 1
    assert [d["name"] for d in overview["devices"] if d["used"]] == ["NVIDIA H200"]
    for step in overview["steps"]["items"]:
        assert sum(part["ps"] for part in step["parts"]) == step["durationPs"]
    assert overview["advice"] and all(a["text"] for a in overview["advice"])
    for name in ("gpu_plain", "cpu_full"):
        one = api.ask("overview", api.open(name))
        shares = {part["kind"]: part["share"] for part in one["median"]}
        assert one["verdict"]["share"] == pytest.approx(shares[one["verdict"]["kind"]], rel=1e-6)
    chosen = api.ask("overview", capture, steps="Optimizer.step%23Adam.step")
    assert chosen["steps"]["rule"] == "name" and chosen["steps"]["count"] == 3


def test_all_slices_that_advice_was_concluded_from_are_found(api):
    capture = api.open("gpu_plain")
    advice = [one for one in api.ask("overview", capture)["advice"] if one["count"]]
    assert advice
    for one in advice:
        found = api.ask("search", capture, advice=one["id"], limit=1000)
        assert found["total"] == one["count"] == len(found["items"])
        longest = max(found["items"], key=lambda item: item["durationPs"])
        assert longest["durationPs"] == one["slices"][0]["durationPs"]
    status, *_ = api.error(f"profile/search?capture={capture}&advice=nonsense")
    assert status == 404


@pytest.mark.parametrize("name", ["keras", "cpu_full"])
def test_the_pages_of_input_and_overview_say_the_same_share(api, name):
    capture = api.open(name)
    shares = {part["kind"]: part["share"] for part in api.ask("overview", capture)["median"]}
    assert api.ask("input", capture)["share"] == pytest.approx(shares.get("input", 0), rel=1e-9)


def test_kernels_are_those_of_the_file_as_table_and_csv(api):
    capture = api.open("gpu_plain")
    wanted = {}
    for e in events(GPU):
        if e.get("cat") in ("kernel", "gpu_memcpy", "gpu_memset"):
            count, total = wanted.get(e["name"], (0, 0))
            wanted[e["name"]] = (count + 1, total + round(e["dur"] * 1e6))
    kernels = api.ask("kernels", capture, limit=500)
    assert {k["name"]: (k["calls"], k["totalPs"]) for k in kernels["items"]} == wanted
    first = kernels["items"][0]
    assert first["args"]["grid"] and first["op"].startswith("aten::")
    text = api.call(f"profile/kernels?capture={capture}&format=csv")[2].decode()
    assert len(text.splitlines()) >= len(wanted) + 1


def test_slices_are_found_by_their_arguments(api):
    capture = api.open("gpu_plain")
    copies = [e for e in events(GPU) if e["ph"] == "X" and "memory bandwidth (GB/s)" in e.get("args", {})]
    found = api.ask("search", capture, q="memory%20BANDWIDTH", args=1, limit=1000)
    assert found["total"] == len(copies) > 0 and found["names"] == []
    assert [s["name"] for s in found["items"]] == [e["name"] for e in sorted(copies, key=lambda e: e["ts"])]
    assert api.ask("search", capture, q="memory%20bandwidth")["total"] == 0


def test_a_text_that_is_everywhere_in_a_file_is_found_once_a_slice(tmp_path):
    slices = [{"ph": "X", "name": "a", "pid": 2, "tid": 3, "ts": ts, "dur": 5, "args": {"x": "7" * 9_000_000}} for ts in (20, 40)]
    (tmp_path / "trace.json").write_text(json.dumps(slices))
    with Seaboard(tmp_path) as served:
        api = Profile(served)
        found = api.ask("search", api.open("."), q="7", args=1)
        assert found["total"] == 2 and len(found["items"]) == 2


def test_steps_and_memory_are_saved_as_csv(api):
    def table(capture, name):
        _, headers, text = api.call(f"profile/csv?capture={capture}&table={name}")
        assert headers["Content-Type"].startswith("text/csv")
        return list(csv.DictReader(text.decode().splitlines()))

    steps = table(capture := api.open("gpu_plain"), "steps")
    assert [row["name"] for row in steps] == ["ProfilerStep#2", "ProfilerStep#3", "ProfilerStep#4"]
    for row in steps:
        parts = sum(float(x) for key, x in row.items() if key.endswith("_us") and key not in ("start_us", "duration_us"))
        assert parts == pytest.approx(float(row["duration_us"]), abs=0.001)
    full = api.open("cpu_full")
    rows, memory = table(full, "memory"), api.ask("memory", full)
    assert {(r["name"], int(r["bytes"])) for r in rows} >= {(r["name"], r["bytes"]) for r in memory["byOp"]}
    assert len(table(full, "modules")) == len(api.ask("modules", full)["items"])
    assert table(api.open("ddp"), "collectives")
    assert api.error(f"profile/csv?capture={capture}&table=nothing")[0] == 404


def test_what_a_question_about_a_capture_takes_counts_as_memory_of_requests(tmp_path):
    events = [{"ph": "X", "name": f"operator {i} of many", "pid": 1, "tid": 1, "ts": i, "dur": 1} for i in range(150_000)]
    (tmp_path / "run").mkdir()
    (tmp_path / "run/many.1.pt.trace.json").write_text(json.dumps({"schemaVersion": 1, "traceEvents": events}))
    with Seaboard(tmp_path, "--request_memory", "16M") as served:
        api = Profile(served)
        opened = api.open("many")
        status, problem = api.error("profile/totals", {"capture": opened, "by": "name", "limit": 1})
        assert status == 503 and "memory" in problem["message"], problem
        # what needs less is answered, also afterwards
        assert api.post("profile/totals", {"capture": opened, "by": "kind", "limit": 1})["items"]


def test_two_captures_are_compared_by_name(api):
    a, b = api.open("gpu_plain"), api.open("cpu_full")
    difference = api.ask("difference", a, other=b, by="operators")
    assert difference["perStep"] and difference["items"]
    deltas = [abs(row["delta"]) for row in difference["items"]]
    assert deltas == sorted(deltas, reverse=True)


def test_captures_that_come_later_are_found(tmp_path):
    with Seaboard(tmp_path, "--reload_interval", "0.1") as served:
        api = Profile(served)
        assert api.captures() == []
        (tmp_path / "late").mkdir()
        shutil.copy(FIXTURES / "profile/torch" / FULL, tmp_path / "late")
        assert api.until(api.captures)[0]["run"] == "late"


def test_traces_are_found_by_their_content_where_their_names_do_not_say_what_they_are(tmp_path):
    """As `prof.export_chrome_trace("trace_10.json")` of torch and `timeline.json` of TensorFlow 1."""
    with gzip.open(FIXTURES / "profile/torch" / GPU) as f:
        kineto = f.read()
    chrome = b'{"traceEvents": [{"ph": "X", "name": "matmul", "pid": 1, "tid": 1, "ts": 1, "dur": 5}]}'
    (tmp_path / "run").mkdir()
    (tmp_path / "run/trace_10.json").write_bytes(kineto)
    (tmp_path / "run/packed.json.gz").write_bytes(gzip.compress(chrome))
    (tmp_path / "timeline.json").write_bytes(chrome)
    (tmp_path / "run/config.json").write_text('{"schemaVersion": 1, "lr": 0.1}')
    (tmp_path / "run/deep.json").mkdir()
    (tmp_path / "run/deep.json/metrics.json").write_text("[[1, 2, 3]]")
    (tmp_path / "run/deep.json/bare.json").write_text('[{"ph": "X", "name": "a", "pid": 1, "tid": 1, "ts": 1, "dur": 5},')
    with Seaboard(tmp_path, "--reload_interval", "0.1") as served:
        api = Profile(served)
        found = api.until(lambda: len(api.captures()) >= 4 and api.captures())
        assert {(c["run"], c["name"], c["format"]) for c in found} == {
            ("run", "trace_10", "kineto"),
            ("run", "packed", "chrome"),
            (".", "timeline", "chrome"),
            ("run/deep.json", "bare", "chrome"),
        }
        assert api.ask("tracks", api.open("trace_10"))["steps"]["items"]
        assert api.ask("tracks", api.open("packed"))["slices"] == 1
        # what becomes a trace later is found, too
        (tmp_path / "run/config.json").write_bytes(chrome)
        api.until(lambda: len(api.captures()) == 5)


@pytest.mark.parametrize("name", ["gpu_plain", "cpu_full", "jax_cuda_0", "jax_cpu_0", "keras"])
def test_the_critical_path_is_as_long_as_its_step(api, name):
    capture = api.open(name)
    steps = api.ask("overview", capture)["steps"]["items"]
    typical = api.ask("path", capture)
    assert steps[typical["step"]]["durationPs"] == typical["durationPs"] > 0
    for i, step in enumerate(steps):
        path = api.ask("path", capture, step=i)
        assert (path["step"], path["startPs"], path["durationPs"]) == (i, step["startPs"], step["durationPs"])
        at = path["startPs"]
        for _, _, start, duration, state, guess in path["pieces"]:
            assert start == at and duration > 0 and 0 <= state < 6 and guess in (0, 1)
            at += duration
        assert at == path["startPs"] + path["durationPs"]
        assert sum(row["ps"] for row in path["items"]) == path["durationPs"] or path["rows"] > len(path["items"])
        assert sum(piece[5] for piece in path["pieces"]) <= path["guesses"]
    assert api.error(f"profile/path?capture={capture}&step={len(steps)}")[0] == 404


def test_waits_inside_collectives_are_those_of_the_ranks(api):
    capture = api.open("ddp")
    ranks = api.ask("distributed", capture)["ranks"]
    about = api.ask("tracks", capture)
    source = {g["id"]: g["source"] for g in about["groups"]}
    of_track = {t["id"]: source[t["group"]] for t in about["tracks"]}
    sums = [0] * len(ranks)
    waits = api.ask("waits", capture)
    for track, _, _, wait, last in waits["waits"]:
        assert last != of_track[track]
        sums[of_track[track]] += wait
    assert waits["total"] == 4 and sums == [rank["waitPs"] for rank in ranks]
    assert api.ask("waits", api.open("gpu_plain"))["waits"] == []


def test_xprofs_routes_answer_what_the_profile_tab_asks(api, served):
    runs = served.json("/data/plugin/profile/runs")
    assert "jax_cuda_0/2026_11_15_10_00_00" in runs and runs == sorted(runs, reverse=True)
    run = "run=jax_cuda_0/2026_11_15_10_00_00"
    tools = ["overview_page", "trace_viewer@", "framework_op_stats", "kernel_stats", "memory_profile"]
    assert served.json(f"/data/plugin/profile/run_tools?{run}") == tools
    assert served.json("/data/plugin/profile/tools")["keras/train/2026_11_15_10_38_43"] == tools
    assert served.json("/data/plugin/profile/config")["hideCaptureProfileButton"]
    assert "Profile tab" in served.json("/data/plugin/profile/capture_profile")["error"]
    assert served.json(f"/data/plugin/profile/hosts?{run}&tag=trace_viewer") == [{"hostname": "vm"}]
    trace = served.json(f"/data/plugin/profile/data?{run}&tag=trace_viewer&host=vm")
    with gzip.open(FIXTURES / "profile/jax/cuda_0.trace.json.gz") as f:
        theirs = [e for e in json.load(f)["traceEvents"] if e.get("name") == "train"]
    ours = [e for e in trace["traceEvents"] if e["name"] == "train"]
    assert [round(e["dur"], 3) for e in ours] == [round(e["dur"], 3) for e in theirs]
    overview = served.json(f"/data/plugin/profile/data?{run}&tag=overview_page^")
    assert len(overview) == 7 and len(overview[1]["rows"]) == 10
    assert float(overview[1]["p"]["steptime_ms_average"]) > 0
    assert all(set(table) == {"cols", "rows", "p"} for i, table in enumerate(overview) if i != 5)


def test_xprofs_routes_know_the_hosts_of_a_session_and_what_cannot_be_read(tmp_path):
    session = tmp_path / "run/plugins/profile/2026_11_15_10_00_00"
    session.mkdir(parents=True)
    for host in ("a", "b"):
        shutil.copy(FIXTURES / "profile/jax/cuda_0.vm.xplane.pb.gz", session / f"{host}.xplane.pb")
    (tmp_path / "bad/plugins/profile/one").mkdir(parents=True)
    (tmp_path / "bad/plugins/profile/one/vm.xplane.pb").write_bytes(b"this is no trace")
    prefix, run = "/data/plugin/profile", f"run=run/{session.name}"
    with Seaboard(tmp_path) as served:
        Profile(served).until(lambda: len(Profile(served).captures()) == 2)
        for tool, hosts in (("overview_page", ["ALL_HOSTS"]), ("trace_viewer", ["a", "b"]), ("memory_profile", ["a", "b"])):
            assert [h["hostname"] for h in served.json(f"{prefix}/hosts?{run}&tag={tool}")] == hosts
        slices = [
            sum(e["ph"] == "X" for e in served.json(f"{prefix}/data?{run}&tag=trace_viewer&{hosts}")["traceEvents"])
            for hosts in ("host=a", "hosts=b", "hosts=a,b", "host=c")
        ]
        assert slices[0] == slices[1] > 0 and slices[2] == 2 * slices[0] and slices[3] == 0
        steps = served.json(f"{prefix}/data?{run}&tag=overview_page&host=ALL_HOSTS")[1]["rows"]
        assert len(steps) == 20 and served.json(f"{prefix}/data?{run}&tag=overview_page")[2]["p"]["host_count"] == "2"
        # a tool or a capture that is not there; a capture that is there and is none
        for words in ("run=no/such&tag=overview_page", f"{run}&tag=pod_viewer"):
            missing = served.get(f"{prefix}/data?{words}")
            assert missing.status == 404 and missing.body == b"No Data"
        broken = served.get(f"{prefix}/data?run=bad/one&tag=overview_page")
        assert broken.status == 500 and b"neither an XSpace nor a Chrome trace" in broken.body
        assert served.get(f"{prefix}/version").status == 200 and served.get(f"{prefix}/module_list?run=bad/one").body == b""


def test_the_command_prints_the_overview(tmp_path):
    out = subprocess.run([BINARY, "profile", str(FIXTURES / "profile/torch" / GPU), "-n", "3"], capture_output=True, text=True, timeout=60)
    assert out.returncode == 0
    assert "steps: 3, found by the rule \"marked\"" in out.stdout and "aten::mm" in out.stdout
    folder = subprocess.run([BINARY, "profile", str(FIXTURES / "tf/keras")], capture_output=True, text=True, timeout=60)
    assert folder.returncode == 0 and folder.stdout.startswith("xplane: vm")
    empty = subprocess.run([BINARY, "profile", str(tmp_path)], capture_output=True, text=True, timeout=60)
    assert empty.returncode == 1 and "there is no profile beneath it" in empty.stderr


def command(*words):
    return subprocess.run([BINARY, "profile", *map(str, words)], capture_output=True, text=True, timeout=60)


def test_the_command_has_no_title_without_a_table(tmp_path):
    (tmp_path / "mine.json").write_text(json.dumps([{"ph": "X", "name": "a", "pid": 1, "tid": 1, "ts": ts, "dur": 5} for ts in (1, 9)]))
    out = command(tmp_path / "mine.json").stdout
    assert "2 slices" in out and "operators" not in out and "kernels" not in out
    assert "operators by self time" in command(FIXTURES / "profile/torch" / FULL).stdout


def test_the_command_opens_an_event_file_with_step_statistics(tmp_path):
    events = next((FIXTURES / "tf/v1").glob("events*"))
    out = command(events)
    assert out.returncode == 0, out.stderr
    assert out.stdout.startswith("stepstats: ") and "MatMul" in out.stdout
    without = tmp_path / "events.out.tfevents.1.vm"
    without.write_bytes(b"")
    none = command(without)
    assert none.returncode == 3 and "is an event file without step statistics" in none.stderr


def test_the_exit_codes_of_the_command_are_those_of_its_help(tmp_path):
    (tmp_path / "empty").mkdir()
    (tmp_path / "notes.json").write_text("not a trace")
    (tmp_path / "none.xplane.pb").write_bytes(b"")
    (tmp_path / "loop").symlink_to("loop")
    said = subprocess.run([BINARY, "help", "profile"], capture_output=True, text=True, timeout=60).stdout
    codes = " ".join(said[said.index("exit code:"):].split())
    assert codes.startswith("exit code: 0 read, 1 no such file or no profile beneath the directory, 2 wrong usage, "
                            "3 the file is no profile, 4 not readable")
    assert command(FIXTURES / "profile/torch" / GPU).returncode == 0
    assert command(tmp_path / "missing").returncode == 1
    assert command(tmp_path / "notes.json/below").returncode == 1
    assert command(tmp_path / "empty").returncode == 1
    assert command().returncode == 2
    assert command(FIXTURES / "profile/torch" / GPU, "--rows", "many").returncode == 2
    assert command(tmp_path / "notes.json").returncode == 3
    assert command(tmp_path / "none.xplane.pb").returncode == 3
    assert command(tmp_path / "loop").returncode == 4


def test_ranks_of_one_folder_are_one_capture_whatever_their_names(tmp_path):
    ranks = sorted((FIXTURES / "profile/torch").glob("ddp.rank*"))
    names = {
        "stampless": ["rank0.pt.trace.json.gz", "rank1.pt.trace.json.gz"],
        "titan": ["rank0_trace.json", "rank1_trace.json"],
        "hta": ["rank_0.json", "rank_1.json"],
        "hosts": ["trainer-abc-xkz2p_399.1794737052106211918.pt.trace.json.gz",
                  "trainer-abc-bq7vw_401.1794737052105617647.pt.trace.json.gz"],
    }
    for run, files in names.items():
        (tmp_path / run).mkdir()
        for rank, name in zip(ranks, files):
            data = rank.read_bytes()
            (tmp_path / run / name).write_bytes(data if name.endswith(".gz") else gzip.decompress(data))
    with Seaboard(tmp_path, "--reload_interval", "0.1") as served:
        api = Profile(served)
        found = api.until(lambda: len(api.captures()) >= len(names) and api.captures())
        assert {c["run"]: len(c["sources"]) for c in found} == dict.fromkeys(names, 2)
        assert len(found) == len(names)
        for run in names:
            assert [r["rank"] for r in api.ask("distributed", api.open(run))["ranks"]] == [0, 1]


def test_traces_of_torch_in_a_session_are_listed(tmp_path):
    sessions = tmp_path / "logs/plugins/profile"
    (sessions / "s1").mkdir(parents=True)
    (sessions / "s2").mkdir()
    shutil.copy(FIXTURES / "profile/torch" / GPU, sessions / "s1")
    shutil.copy(FIXTURES / "profile/jax/cpu_0.trace.json.gz", sessions / "s2/trace.json.gz")
    with Seaboard(tmp_path, "--reload_interval", "0.1") as served:
        api = Profile(served)
        found = api.until(lambda: len(api.captures()) >= 2 and api.captures())
        assert {(c["run"], c["name"]) for c in found} == {("logs", "s1/gpu_plain.vm_399"), ("logs", "s2")}
        assert api.ask("tracks", api.open("gpu_plain"))["steps"]["items"]


def test_clocks_of_ranks_in_different_process_groups_are_not_moved(tmp_path):
    """Four ranks, two stages of a pipeline with a group each; the second one begins 50 ms later."""
    for rank in range(4):
        args = {"Process Group Name": str(1 + rank // 2), "Process Group Ranks": [rank // 2 * 2, rank // 2 * 2 + 1]}
        events = [{"ph": "X", "cat": "kernel", "name": "ncclDevKernel_AllReduce", "pid": 0, "tid": 7, "dur": 300,
                   "ts": 1000000 + rank // 2 * 50000 + 1000 * i, "args": args | {"Seq": i}} for i in range(50)]
        trace = {"schemaVersion": 1, "baseTimeNanoseconds": 1790857026000000000,
                 "distributedInfo": {"rank": rank, "world_size": 4}, "traceEvents": events}
        (tmp_path / f"rank{rank}.179473705210621191{rank}.pt.trace.json").write_text(json.dumps(trace))
    with Seaboard(tmp_path, "--reload_interval", "0.1") as served:
        api = Profile(served)
        ranks = api.ask("distributed", api.open("rank"))
        assert [r["skewPs"] for r in ranks["ranks"]] == [0, 0, 0, 0]
        assert [c["calls"] for c in ranks["collectives"]] == [100]


def test_the_c_sample_of_the_empty_page_compiles(tmp_path):
    """What a newcomer copies from the page that has no captures yet is a program of seaboard/profile.h as it is."""
    text = (ROOT / "ui/src/dashboards/profile/empty.ts").read_text()
    literal = re.search(r"name: 'C',\s+code: ('(?:[^'\\]|\\.)*')", text)[1]
    include, body = ast.literal_eval(literal).split("\n", 1)
    program = f"{include}\nvoid train_step(void);\nvoid run(void);\nvoid run(void) {{\n{body}\n}}\n"
    (tmp_path / "sample.c").write_text(program)
    command = ["cc", "-std=c17", "-Wall", "-Werror", "-fsyntax-only", "-I", ROOT / "include", tmp_path / "sample.c"]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
