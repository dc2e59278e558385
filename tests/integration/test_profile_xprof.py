"""Profiles beside XProf's own converters over the same XSpace: every slice of the trace viewer with its times, kernels with their
launch parameters, framework operators with their self times, memory with its peak, and the tables of the overview page; and the
CSV of tables as XProf writes it."""

import collections
import gzip
import json
import re

import profile_peers
import pytest
from command import varint
from http_bodies import frame_size, unzstd
from serve_driver import Seaboard
from test_profile import FIXTURES, Profile

SPACES = {
    "jax_cpu": FIXTURES / "profile/jax/cpu_0.vm.xplane.pb.gz",
    "jax_gpu": FIXTURES / "profile/jax/cuda_0.vm.xplane.pb.gz",
    "keras": next((FIXTURES / "tf/keras").rglob("*.xplane.pb")),
}
# lines that XProf makes up, and events that it makes up or does not show
DERIVED = re.compile(r" - from #|^(Steps|Framework|XLA|TensorFlow|Source|Command Buffers)")
HIDDEN = re.compile(r"^(ThreadpoolListener::Region$|MemoryAllocation|MemoryDeallocation|\w+(Produce|Consume)$)")


def field(number, value):
    """A field of a protobuf message: a whole number, or bytes."""
    if isinstance(value, int):
        return varint(number << 3) + varint(value)
    return varint(number << 3 | 2) + varint(len(value)) + value


@pytest.fixture(scope="module")
def spaces(tmp_path_factory):
    """name -> file: each a session of its own below one log directory."""
    root = tmp_path_factory.mktemp("spaces")
    files = {}
    for name, source in SPACES.items():
        files[name] = root / name / "plugins/profile/2026_11_15_10_00_00/vm.xplane.pb"
        files[name].parent.mkdir(parents=True)
        data = source.read_bytes()
        files[name].write_bytes(gzip.decompress(data) if source.suffix == ".gz" else data)
    return root, files


@pytest.fixture(scope="module")
def served(spaces):
    with Seaboard(spaces[0]) as server:
        server.loaded()
        Profile(server).until(lambda: len(Profile(server).captures()) == len(SPACES))
        yield server


def slices(trace, is_theirs=False):
    """name -> [how many, microseconds], of lines that are in the file."""
    lines = {(e["pid"], e.get("tid")): e["args"]["name"] for e in trace["traceEvents"] if e.get("name") == "thread_name"}
    found = collections.defaultdict(lambda: [0, 0.0])
    for e in trace["traceEvents"]:
        if e.get("ph") not in ("X", "i", "I") or DERIVED.search(lines.get((e["pid"], e.get("tid")), "")):
            continue
        # XProf puts the number of a step behind the name of its slice
        step = e.get("args", {}).get("step_num") if is_theirs else None
        name = e["name"].removesuffix(f" {step}") if step is not None else e["name"]
        if not HIDDEN.search(name):
            found[name][0] += 1
            found[name][1] += e.get("dur", 0)
    return found


def compare_traces(ours, theirs):
    ours, theirs = slices(ours), slices(theirs, True)
    assert len(theirs) > 5 and theirs.keys() == ours.keys()
    for name, (count, total) in theirs.items():
        assert ours[name][0] == count, name
        # theirs are whole nanoseconds, ours shows an instant as a picosecond
        assert ours[name][1] == pytest.approx(total, abs=0.001 * count), name


def compare_overviews(ours, theirs):
    assert len(ours) == len(theirs)
    for i, (our, their) in enumerate(zip(ours, theirs)):
        assert [c["id"] for c in our.get("cols", [])] == [c["id"] for c in their.get("cols", [])], i
        assert [c["type"] for c in our.get("cols", [])] == [c["type"] for c in their.get("cols", [])], i
    assert set(theirs[1]["p"]) - set(ours[1]["p"]) <= {
        key for key in theirs[1]["p"] if key.endswith(("_bottleneck", "_statement"))
    }


def compare_with_xprof(served, file, run):
    run = f"{run}/{file.parent.name}"
    theirs = profile_peers.xprof(file, "trace_viewer", "overview_page")
    ask = f"/data/plugin/profile/data?run={run}&resolution=0&tag="
    compare_traces(served.json(ask + "trace_viewer"), theirs["trace_viewer"])
    compare_overviews(served.json(ask + "overview_page"), theirs["overview_page"])


@pytest.mark.parametrize("name", SPACES)
def test_the_trace_viewer_and_the_overview_have_what_xprof_has(served, spaces, name):
    compare_with_xprof(served, spaces[1][name], name)


def lines(trace):
    """(pid, tid) -> the name of the line."""
    return {(e["pid"], e["tid"]): e["args"]["name"] for e in trace["traceEvents"] if e.get("name") == "thread_name"}


def events(trace, in_file_only=True):
    """(name, microseconds) -> the events there."""
    names, found = lines(trace), collections.defaultdict(list)
    for e in trace["traceEvents"]:
        line = names.get((e.get("pid"), e.get("tid")), "")
        if e.get("ph") in ("X", "i", "I") and not (in_file_only and DERIVED.search(line)):
            # XProf puts the number of a step behind the name of its slice
            found[(re.sub(r"^train \d+$", "train", e["name"]), round(e["ts"], 3))].append(e)
    return found


# what XProf computes, and what it leaves away
COMPUTED = {"group_id", "step_name", "is_eager", "uid", "run_id", "flow"}


def compare_args(ours, theirs):
    """Of an event: what XProf says of it, ours says too. Its numbers are texts, ours are numbers."""
    compared = 0
    for key, value in theirs.items():
        if key in COMPUTED:
            continue
        if isinstance(ours[key], (int, float)):
            assert float(value) == pytest.approx(ours[key], rel=1e-6), key
        else:
            assert ours[key] == str(value), key
        compared += 1
    return compared


def test_events_have_the_arguments_of_xprof(served, spaces):
    ours = events(served.json(trace_route(spaces, "jax_gpu", "trace_viewer", resolution=0)))
    theirs = events(profile_peers.xprof_trace(spaces[1]["jax_gpu"], "trace_viewer", resolution=0))
    compared = 0
    for key, found in theirs.items():
        if len(found) == 1 and not HIDDEN.search(key[0]):
            assert len(ours[key]) == 1, key
            compared += compare_args(ours[key][0]["args"], found[0].get("args", {}))
    assert compared > 2000
    numbers = [e["args"]["uid"] for same in ours.values() for e in same]
    assert len(numbers) == len(set(numbers)) and min(numbers) >= 1


def test_the_streaming_viewer_gets_the_arguments_of_the_event_that_it_asks_for(served, spaces):
    streamed = events(served.json(trace_route(spaces, "jax_gpu", "trace_viewer@")))
    event = streamed[("gemm_fusion_dot_4", 16275.789)][0]
    assert set(event["args"]) == {"uid"} and event["z"] == event["args"]["uid"]
    asked = {"event_name": event["name"], "start_time_ms": event["ts"] / 1000, "duration_ms": event["dur"] / 1000}
    known = events(profile_peers.xprof_trace(spaces[1]["jax_gpu"], resolution=8000))[("gemm_fusion_dot_4", 16275.789)][0]
    theirs = events(profile_peers.xprof_trace(spaces[1]["jax_gpu"], resolution=8000, unique_id=known["args"]["uid"], **asked))
    for words in (asked, asked | {"unique_id": event["z"]}, asked | {"unique_id": 1}, {"event_name": event["name"], "unique_id": event["z"]}):
        ours = events(served.json(trace_route(spaces, "jax_gpu", "trace_viewer@", **words)))
        assert list(ours) == [("gemm_fusion_dot_4", 16275.789)] and len(ours[("gemm_fusion_dot_4", 16275.789)]) == 1
        assert compare_args(ours[("gemm_fusion_dot_4", 16275.789)][0]["args"], theirs[("gemm_fusion_dot_4", 16275.789)][0]["args"]) > 8
    for words in ({"event_name": "no such"}, asked | {"start_time_ms": 3}):
        missing = served.get(trace_route(spaces, "jax_gpu", "trace_viewer@", **words))
        assert missing.status == 404 and missing.body == b"No Data"


def arrows(trace):
    """((name, microseconds) of the event that hands on, its category) -> those it hands to."""
    starts, ends = {}, collections.defaultdict(list)
    for key, same in events(trace).items():
        for e in same:
            if e.get("flow_in"):
                ends[e["bind_id"]].append(key)
            elif e.get("flow_out"):
                starts[e["bind_id"]] = (key, e["cat"])
    return {start: sorted(ends[number]) for number, start in starts.items()}


@pytest.mark.parametrize("name, category, count", [("jax_gpu", "gpu_launch", 185), ("keras", "tf_exec", 175)])
def test_arrows_of_the_streaming_viewer_are_those_of_xprof(served, spaces, name, category, count):
    ours = arrows(served.json(trace_route(spaces, name, "trace_viewer@")))
    theirs = arrows(profile_peers.xprof_trace(spaces[1][name], resolution=8000))
    wanted = {start: ends for (start, of), ends in theirs.items() if of == category}
    assert sum(map(len, wanted.values())) == count
    found = {start: ends for (start, _), ends in ours.items()}
    assert {start: found[start] for start in wanted} == wanted


@pytest.mark.parametrize("prefix", ["gemm", "fusion", "no such event"])
def test_a_search_of_the_trace_viewer_finds_the_names_that_xprof_finds(served, spaces, prefix):
    theirs = profile_peers.xprof_trace(spaces[1]["jax_gpu"], resolution=8000, search_prefix=prefix)
    ours = served.json(trace_route(spaces, "jax_gpu", "trace_viewer@", search_prefix=prefix))
    assert events(ours).keys() == events(theirs).keys()
    assert all(set(e["args"]) == {"uid"} for same in events(ours).values() for e in same)
    told = events(served.json(trace_route(spaces, "jax_gpu", "trace_viewer@", search_prefix=prefix, search_metadata="true")))
    assert told.keys() == events(ours).keys() and all(len(e["args"]) > 5 for same in told.values() for e in same if e["name"].startswith("gemm_"))


def test_a_window_of_the_trace_viewer_has_the_events_of_xprof(served, spaces):
    words = {"start_time_ms": 16.2, "end_time_ms": 16.4}
    theirs = events(profile_peers.xprof_trace(spaces[1]["jax_gpu"], resolution=8000, **words))
    ours = events(served.json(trace_route(spaces, "jax_gpu", "trace_viewer@", **words)))
    assert len(theirs) > 20 and {key for key in ours if not HIDDEN.search(key[0])} == theirs.keys()
    assert len(ours) < len(events(served.json(trace_route(spaces, "jax_gpu", "trace_viewer@"))))


@pytest.mark.parametrize("name", SPACES)
def test_the_packed_trace_has_the_events_of_the_trace_as_json(served, spaces, name, tmp_path):
    reply = served.get(trace_route(spaces, name, "trace_viewer@", format="pb"))
    assert reply.status == 200 and reply["Content-Type"] == "application/octet-stream"
    # as XProf packs it: one frame that tells its size
    (tmp_path / "trace.pb").write_bytes(unzstd(reply.body, frame_size(reply.body)))
    packed = profile_peers.trace_message(tmp_path / "trace.pb")
    json_trace = served.json(trace_route(spaces, name, "trace_viewer@"))
    names = {(p["id"], t["id"]): t["name"] for p in packed["metadata"]["processes"] for t in p.get("threads", [])}
    assert names == lines(json_trace)
    found = []
    for series in packed["complete_events"]:
        thread, time = (series["metadata"]["process_id"], series["metadata"]["thread_id"]), 0
        assert len(series["deltas"]) == len(series["durations"]) == len(series["name_refs"]) == len(series["event_metadata"])
        for delta, dur, ref, meta in zip(series["deltas"], series["durations"], series["name_refs"], series["event_metadata"]):
            time += int(delta)
            found.append((thread, meta["serial"], packed["interned_strings"][ref], time, int(dur)))
    wanted = [
        ((e["pid"], e["tid"]), e["z"], e["name"], round(e["ts"] * 1e6), round(e["dur"] * 1e6)) for same in events(json_trace, False).values() for e in same
    ]
    assert len(found) > 1000 and sorted(found) == sorted(wanted)
    assert int(packed["full_timespan_end_ps"]) == pytest.approx(json_trace["fullTimespan"][1] * 1e9)


def test_routes_answer_for_one_folder(served, spaces):
    root, files = spaces
    session = files["jax_gpu"].parent
    runs = "/data/plugin/profile/runs?"
    assert served.json(f"{runs}session_path={session}") == [session.name] == served.json(f"{runs}session_path={session}/")
    assert served.json(f"{runs}run_path={session.parent}") == [session.name]
    for path in (root, "/", "/etc", f"{session}/../{session.name}", session.name):
        assert served.json(f"{runs}session_path={path}") == served.json(f"{runs}run_path={path}") == []
    run = f"session_path={session}&run={session.name}&tag=overview_page"
    assert served.json(f"/data/plugin/profile/run_tools?{run}")[0] == "overview_page"
    assert served.json(f"/data/plugin/profile/data?{run}") == served.json(route(spaces, "jax_gpu", "overview_page"))
    assert served.get(f"/data/plugin/profile/data?session_path={root}&run={session.name}&tag=overview_page").status == 404


def test_the_cache_that_xprof_asks_for_is_the_open_capture(spaces):
    session = spaces[1]["jax_gpu"].parent
    route = "/data/plugin/profile/generate_cache"
    with Seaboard(spaces[0]) as server:
        api = Profile(server)
        api.until(lambda: len(api.captures()) == len(SPACES))
        assert server.get(route).status == 405
        for words, status in (("", 400), (f"session_path={session}&tools=pod_viewer", 400), ("session_path=/etc", 404)):
            assert server.get(f"{route}?{words}", method="POST").status == status, words
        accepted = server.get(f"{route}?session_path={session}&tools=overview_page,trace_viewer", method="POST")
        assert accepted.status == 202 and json.loads(accepted.body)["status"] == "ACCEPTED"
        api.until(lambda: next(c for c in api.captures() if c["run"] == "jax_gpu")["state"] == "open")


def test_compiled_modules_are_those_that_xprof_lists(served, spaces):
    ours = served.get(route(spaces, "jax_gpu", "", "module_list")).body.decode()
    # XProf writes each module into a file beside the capture, so it works on a copy
    theirs = profile_peers.xprof_modules(spaces[1]["jax_gpu"])
    assert len(theirs) > 5 and ours.split(",") == theirs
    assert served.get(route(spaces, "keras", "", "module_list")).body == b""


def test_compiled_modules_of_several_hosts_are_listed_once(spaces, tmp_path):
    session = tmp_path / "plugins/profile/2026_11_15_10_00_00"
    session.mkdir(parents=True)
    for host in ("a", "b"):
        (session / f"{host}.xplane.pb").write_bytes(spaces[1]["jax_gpu"].read_bytes())
    with Seaboard(tmp_path) as server:
        Profile(server).until(lambda: len(Profile(server).captures()) == 1)
        ours = server.get(f"/data/plugin/profile/module_list?run={session.name}").body.decode().split(",")
    assert len(ours) > 5 and len(ours) == len(set(ours))


def test_an_event_with_too_many_arguments_comes_without_them(tmp_path):
    # a plane with two events; the metadata of the first has a text of 2 MB
    names = field(5, field(1, 1) + field(2, field(1, 1) + field(2, b"text")))
    large = field(5, field(1, 1) + field(5, b"x" * (2 << 20)))
    kinds = b"".join(
        field(4, field(1, i) + field(2, field(1, i) + field(2, name) + more)) for i, name, more in ((1, b"large", large), (2, b"small", b""))
    )
    stat = field(4, field(1, 1) + field(5, b"known"))
    line = field(3, field(2, b"thread") + field(4, field(1, 1) + field(3, 5000000)) + field(4, field(1, 2) + field(2, 9000000) + field(3, 5000000) + stat))
    session = tmp_path / "plugins/profile/2026_11_15_10_00_00"
    session.mkdir(parents=True)
    (session / "vm.xplane.pb").write_bytes(field(1, field(2, b"/host:CPU") + line + kinds + names))
    with Seaboard(tmp_path) as server:
        Profile(server).until(lambda: len(Profile(server).captures()) == 1)
        trace = server.json(f"/data/plugin/profile/data?run={session.name}&tag=trace_viewer&resolution=0")
    told = {e["name"]: e["args"] for e in trace["traceEvents"] if e["ph"] == "X"}
    assert told["large"].keys() == {"uid"} and told["small"]["text"] == "known"


def rows(table):
    columns = [c["id"] for c in table["cols"]]
    return [dict(zip(columns, (cell.get("v") for cell in row["c"]))) for row in table["rows"]]


def overviews(served, spaces, name):
    """The overview page, ours and theirs."""
    return served.json(route(spaces, name, "overview_page")), profile_peers.xprof(spaces[1][name], "overview_page")["overview_page"]


@pytest.mark.parametrize("name", SPACES)
def test_the_overview_has_the_hosts_and_cores_of_xprof(served, spaces, name):
    ours, theirs = overviews(served, spaces, name)
    for key in ("host_count", "task_count", "device_core_count"):
        assert ours[2]["p"][key] == theirs[2]["p"][key], key


def test_the_device_computes_in_each_step_as_long_as_xprof_says(served, spaces):
    ours, theirs = overviews(served, spaces, "jax_gpu")
    found = {step["stepnum"]: step for step in rows(ours[1])}
    steps = rows(theirs[1])
    assert len(steps) > 5
    for step in steps:
        our = found[step["stepnum"]]
        for key in ("deviceComputeTimeMs", "deviceToDeviceTimeMs", "deviceCollectivesTimeMs"):
            assert our[key] == pytest.approx(step[key], abs=1e-6), (step["stepnum"], key)
        # theirs lasts from its first kernel to its last, ours from the mark of the program on
        assert our["stepTimeMs"] >= step["stepTimeMs"]
    for key in ("device_compute_time_ms_avg", "device_collectives_time_ms_avg", "device_to_device_time_ms_avg"):
        assert ours[1]["p"][key] == theirs[1]["p"][key], key


def test_the_heaviest_operators_of_the_overview_have_the_shares_of_xprof(served, spaces):
    ours, theirs = overviews(served, spaces, "jax_gpu")
    # XProf leaves out what runs in command buffers, most of this program, and names operators by their scopes
    found = [op for op in rows(ours[0]) if not op["operation"].startswith("command_buffer")]
    counted = sum(op["selfTimePercent"] for op in found)
    assert 0 < counted < 1
    shares = [op["selfTimePercent"] / counted for op in found]
    assert len(shares) == 3 and shares == pytest.approx([op["selfTimePercent"] for op in rows(theirs[0])], rel=1e-6)
    assert rows(ours[0])[-1]["cumulativeTimePercent"] == pytest.approx(1)


@pytest.mark.parametrize("name", SPACES)
def test_the_overview_and_the_table_of_operators_agree(served, spaces, name):
    _, table = served.json(route(spaces, name, "framework_op_stats"))
    side = "device" if any(op["host_or_device"] == "Device" for op in rows(table)) else "host"
    listed = {op["operation"]: op for op in rows(table) if op["host_or_device"].lower() == side}
    top = rows(served.json(route(spaces, name, "overview_page"))[0])
    assert len(top) == min(10, len(listed))
    for op in top:
        assert op["category"] == listed[op["operation"]]["type"]
        assert op["selfTimePercent"] == pytest.approx(listed[op["operation"]][f"{side}_total_self_time_percent"], rel=1e-6)


def test_kernels_are_those_of_xprof(served, spaces):
    theirs = rows(profile_peers.xprof(spaces[1]["jax_gpu"], "kernel_stats")["kernel_stats"])
    api = Profile(served)
    ours = {k["name"]: k for k in api.ask("kernels", api.open("jax_gpu"), limit=500)["items"]}
    assert len(theirs) == 10
    for kernel in theirs:
        found = ours[kernel["kernel_name"]]
        assert found["calls"] == kernel["occurrences"]
        for key, value in (("totalPs", "total"), ("minPs", "min"), ("maxPs", "max")):
            assert found[key] * 1e-6 == pytest.approx(kernel[f"{value}_duration_us"], abs=0.001)
        assert found["occupancy"] * 100 == pytest.approx(kernel["occupancy_pct"], abs=0.01)
        assert f"regs:{kernel['registers_per_thread']:.0f}" in found["args"]["kernel_details"]


def test_operators_of_the_host_are_those_of_xprof(served, spaces):
    _, theirs = profile_peers.xprof(spaces[1]["keras"], "framework_op_stats")["framework_op_stats"]
    api = Profile(served)
    ours = {o["name"]: o for o in api.ask("operators", api.open("keras"), limit=5000)["items"]}
    by_type = collections.defaultdict(lambda: [0, 0.0, 0.0])
    for op in rows(theirs):
        # stages of tf.data are named otherwise there: with all that they feed
        if op["type"] != "Dataset":
            for i, key in enumerate(("occurrences", "total_time", "total_self_time")):
                by_type[op["type"]][i] += op[key]
    assert len(by_type) > 20
    for name, (count, total, self_time) in by_type.items():
        found = ours[name]
        assert found["calls"] == count, name
        assert found["hostTotalPs"] * 1e-6 == pytest.approx(total, abs=0.001 * count), name
        assert found["hostSelfPs"] * 1e-6 == pytest.approx(self_time, abs=0.001 * count), name


def route(spaces, name, tool, of="data"):
    return f"/data/plugin/profile/{of}?run={name}/{spaces[1][name].parent.name}&tag={tool}&host=vm"


def trace_route(spaces, name, tool, **words):
    return "&".join([route(spaces, name, tool), *(f"{key}={str(value).replace(' ', '%20')}" for key, value in words.items())])


def test_the_kernel_table_is_that_of_xprof(served, spaces):
    theirs = profile_peers.xprof(spaces[1]["jax_gpu"], "kernel_stats")["kernel_stats"]
    ours = served.json(route(spaces, "jax_gpu", "kernel_stats"))
    assert ours["cols"] == theirs["cols"]
    # the operator of a kernel is named otherwise: by XProf with all its scopes
    pairs = list(zip(rows(ours), rows(theirs), strict=True))
    for our, their in pairs:
        for key, value in their.items():
            if key != "op_name":
                assert our[key] == (pytest.approx(value, abs=0.001) if isinstance(value, float) else value), key


def test_the_operator_table_is_that_of_xprof(served, spaces):
    theirs = profile_peers.xprof(spaces[1]["keras"], "framework_op_stats")["framework_op_stats"]
    ours = served.json(route(spaces, "keras", "framework_op_stats"))
    for our, their in zip(ours, theirs, strict=True):
        assert our["cols"] == their["cols"] and our["p"] == their["p"]
        assert [r["rank"] for r in rows(our)] == list(range(1, len(our["rows"]) + 1))
        assert rows(our)[-1]["Host_cumulative_total_self_time_percent"] == pytest.approx(1)
    sums = collections.defaultdict(lambda: [0, 0.0, 0.0])
    for op in rows(theirs[1]):
        for i, key in enumerate(("occurrences", "total_time", "total_self_time")):
            sums[op["type"]][i] += op[key]
    found = {op["type"]: op for op in rows(ours[1]) if op["type"] != "Dataset"}
    assert found.keys() == sums.keys() - {"Dataset"}
    for name, op in found.items():
        assert op["occurrences"] == sums[name][0], name
        assert op["total_time"] == pytest.approx(sums[name][1], abs=0.001 * op["occurrences"]), name
        assert op["total_self_time"] == pytest.approx(sums[name][2], abs=0.001 * op["occurrences"]), name
    assert [op["type"] for op in rows(ours[0])].count("IDLE") == 1


def test_the_memory_profile_is_that_of_xprof(served, spaces):
    theirs = profile_peers.xprof(spaces[1]["jax_gpu"], "memory_profile")["memory_profile"]
    ours = served.json(route(spaces, "jax_gpu", "memory_profile"))
    assert sorted(ours["memoryIds"]) == sorted(theirs["memoryIds"]) and ours.keys() == theirs.keys()
    for name, their in theirs["memoryProfilePerAllocator"].items():
        our = ours["memoryProfilePerAllocator"][name]
        assert our.keys() == their.keys()
        for key in ("peakBytesUsageLifetime", "memoryCapacity"):
            assert our["profileSummary"][key] == their["profileSummary"][key]
        for key in ("heapAllocatedBytes", "freeMemoryBytes", "peakBytesInUse"):
            assert our["profileSummary"]["peakStats"][key] == their["profileSummary"]["peakStats"][key]
        assert [levels(s) for s in our["sampledTimelineSnapshots"]] == [levels(s) for s in their["sampledTimelineSnapshots"]]
        # theirs leaves out what was allocated in an earlier step: it is a part of "unused preallocated device memory" there
        assert held(our) >= held(their)
        peak = int(their["profileSummary"]["peakStats"]["heapAllocatedBytes"])
        assert sum(size * count for size, count in held(our)) + rest(our) == peak
    assert served.json(route(spaces, "keras", "memory_profile"))["memoryIds"] == []


def levels(snapshot):
    return snapshot["activityMetadata"]["memoryActivity"], snapshot["aggregationStats"]["heapAllocatedBytes"]


def held(allocator):
    """What is allocated at the peak: {(bytes, how often)}."""
    snapshots = allocator["memoryProfileSnapshots"]
    places = [place for place in allocator["activeAllocations"] if place["snapshotIndex"] != "-1"]
    activities = [snapshots[int(place["snapshotIndex"])]["activityMetadata"] for place in places]
    return {(int(a["allocationBytes"]), int(p["numOccurrences"])) for a, p in zip(activities, places)}


def rest(allocator):
    return sum(int(special["allocationBytes"]) for special in allocator["specialAllocations"])


@pytest.mark.parametrize("tool", ["overview_page", "framework_op_stats", "kernel_stats"])
def test_tables_are_saved_as_the_csv_that_xprof_makes_of_them(served, spaces, tool):
    data = served.get(route(spaces, "jax_gpu", tool)).body.decode()
    saved = served.get(route(spaces, "jax_gpu", tool, "data_csv"))
    assert saved["Content-Disposition"].startswith("attachment") and saved["Content-Type"].startswith("text/csv")
    assert saved.body.decode() == profile_peers.xprof_csv(data)


def test_what_is_no_table_has_no_csv(served, spaces):
    refused = served.get(route(spaces, "jax_gpu", "memory_profile", "data_csv"))
    assert refused.status == 400 and refused.body == b"memory_profile is no table: there is no CSV of it"
    assert served.get(route(spaces, "jax_gpu", "pod_viewer", "data_csv")).status == 404
