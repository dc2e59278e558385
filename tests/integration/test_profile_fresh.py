"""Captures made now by the frameworks that are here open, and their totals are the frameworks' own: torch's key_averages,
TensorFlow's Timeline, the XSpace read by TensorFlow's own protobuf classes and by XProf's converters. A framework that is not
installed is skipped, and counted as such."""

import json

import profile_peers
import pytest
from serve_driver import Seaboard
from test_profile import Profile
from test_profile_xprof import compare_with_xprof

TORCH = """
    import json, sys, torch
    from torch.profiler import profile, ProfilerActivity, schedule, tensorboard_trace_handler
    if not torch.profiler.kineto_available():
        sys.exit(77)
    torch.set_num_threads(2)
    model = torch.nn.Sequential(torch.nn.Linear(32, 64), torch.nn.ReLU(), torch.nn.Linear(64, 8))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    save = tensorboard_trace_handler(sys.argv[1], worker_name="fresh", use_gzip=True)
    def ready(p):
        rows = {e.key: [e.count, e.cpu_time_total, e.self_cpu_time_total, e.self_cpu_memory_usage] for e in p.key_averages()}
        print("ROWS", json.dumps(rows))
        save(p)
    with profile(activities=[ProfilerActivity.CPU], record_shapes=True, profile_memory=True,
                 schedule=schedule(wait=0, warmup=1, active=3, repeat=1), on_trace_ready=ready) as p:
        for _ in range(4):
            optimizer.zero_grad()
            model(torch.randn(16, 32)).square().mean().backward()
            optimizer.step()
            p.step()
"""

# All that torch records: shapes, memory, stacks, modules; two captures of two steps.
TORCH_FULL = """
    import json, sys, torch
    from torch.profiler import profile, ProfilerActivity, schedule, tensorboard_trace_handler
    if not torch.profiler.kineto_available():
        sys.exit(77)
    torch.set_num_threads(2)
    model = torch.nn.Sequential(torch.nn.Linear(32, 64), torch.nn.ReLU(), torch.nn.Linear(64, 8))
    optimizer = torch.optim.Adam(model.parameters(), lr=0.1)
    save = tensorboard_trace_handler(sys.argv[1], worker_name="full")
    def ready(p):
        rows = [[e.key, e.input_shapes, e.count, e.cpu_time_total, e.self_cpu_time_total, e.self_cpu_memory_usage]
                for e in p.key_averages(group_by_input_shape=True)]
        print("ROWS", json.dumps(rows))
        save(p)
    with profile(activities=[ProfilerActivity.CPU], record_shapes=True, profile_memory=True, with_stack=True, with_modules=True,
                 schedule=schedule(wait=1, warmup=1, active=2, repeat=2), on_trace_ready=ready) as p:
        for _ in range(8):
            optimizer.zero_grad()
            model(torch.randn(16, 32)).square().mean().backward()
            optimizer.step()
            p.step()
"""

TENSORFLOW = """
    import sys, tensorflow as tf
    weights = tf.Variable(tf.ones((64, 64)))
    @tf.function
    def step(x):
        return tf.reduce_sum(tf.matmul(x, weights))
    step(tf.ones((8, 64)))
    tf.profiler.experimental.start(sys.argv[1])
    for i in range(5):
        with tf.profiler.experimental.Trace("train", step_num=i, _r=1):
            step(tf.ones((8, 64)))
    tf.profiler.experimental.stop()
"""

KERAS = """
    import sys, numpy, keras
    model = keras.Sequential([keras.layers.Dense(8), keras.layers.Dense(1)])
    model.compile("sgd", "mse")
    board = keras.callbacks.TensorBoard(sys.argv[1], profile_batch=(2, 5))
    model.fit(numpy.ones((64, 4)), numpy.ones((64, 1)), batch_size=8, epochs=1, verbose=0, callbacks=[board])
"""

JAX = """
    import sys, jax, jax.numpy as jnp
    step = jax.jit(lambda x: (x @ x).sum())
    x = jnp.ones((64, 64))
    step(x).block_until_ready()
    with jax.profiler.trace(sys.argv[1]):
        for i in range(5):
            with jax.profiler.StepTraceAnnotation("train", step_num=i):
                step(x).block_until_ready()
"""

JAX_PYTHON = """
    import sys, jax, jax.numpy as jnp
    options = jax.profiler.ProfileOptions()
    options.python_tracer_level = 1
    step = jax.jit(lambda x: (x @ x).sum())
    x = jnp.ones((64, 64))
    step(x).block_until_ready()
    with jax.profiler.trace(sys.argv[1], profiler_options=options):
        for i in range(5):
            with jax.profiler.StepTraceAnnotation("train", step_num=i):
                step(x).block_until_ready()
"""

# A loop without marks, fed by a pipeline that calls a function for each element.
TENSORFLOW_INPUT = """
    import sys, tensorflow as tf
    weights = tf.Variable(tf.ones((64, 64)))
    @tf.function
    def step(x):
        return tf.reduce_sum(tf.matmul(x, weights))
    data = tf.data.Dataset.from_tensor_slices(tf.ones((96, 64))).map(lambda x: x * 2, num_parallel_calls=2).batch(8).prefetch(2)
    batches = iter(data)
    step(next(batches))
    tf.profiler.experimental.start(sys.argv[1])
    for i in range(6):
        step(next(batches))
    tf.profiler.experimental.stop()
"""

SUMMARY = """
    import sys, tensorflow as tf
    @tf.function
    def step(x):
        return tf.reduce_sum(tf.matmul(x, x))
    writer = tf.summary.create_file_writer(sys.argv[1])
    tf.summary.trace_on(graph=True, profiler=True, profiler_outdir=sys.argv[1])
    for _ in range(3):
        step(tf.ones((32, 32)))
    with writer.as_default():
        tf.summary.trace_export("mine", step=0, profiler_outdir=sys.argv[1])
"""

TIMELINE = """
    import json, sys, tensorflow as tf
    from tensorflow.python.client import timeline
    v1 = tf.compat.v1
    v1.disable_eager_execution()
    x = v1.placeholder(tf.float32, (8, 16), name="x")
    y = tf.reduce_sum(tf.nn.relu(tf.matmul(x, tf.ones((16, 4)))), name="y")
    with v1.Session() as session:
        writer = v1.summary.FileWriter(sys.argv[1], session.graph)
        for step in range(2):
            stats = v1.RunMetadata()
            session.run(y, {x: [[1.0] * 16] * 8}, v1.RunOptions(trace_level=v1.RunOptions.FULL_TRACE), stats)
            writer.add_run_metadata(stats, f"step {step}", step)
            saved = timeline.Timeline(stats.step_stats).generate_chrome_trace_format(show_memory=True)
            with open(f"{sys.argv[1]}/timeline_{step}.json", "w") as f:
                f.write(saved)
            rows = {}
            for e in json.loads(saved)["traceEvents"]:
                if e["ph"] == "X":
                    rows.setdefault(e["args"]["name"], []).append((e["dur"], e["name"]))
            print("ROWS", json.dumps(rows))
        writer.close()
"""


def test_operators_of_a_fresh_torch_capture_are_its_key_averages(tmp_path):
    out = profile_peers.run("torch", TORCH, tmp_path / "torch")
    wanted = json.loads(out.split("ROWS ", 1)[1].splitlines()[0])
    with Seaboard(tmp_path) as served:
        api = Profile(served)
        opened = api.open("fresh")
        seen = {o["name"]: o for o in api.ask("operators", opened, limit=10000)["items"]}
        compared = 0
        by_op = {o["name"]: o["bytes"] - o["freedBytes"] for o in api.ask("memory", opened)["byOp"]}
        for name, (count, total, self_time, held) in wanted.items():
            if not name.startswith(("aten::", "autograd::", "Optimizer.", "ProfilerStep")):
                continue
            row = seen[name]
            assert row["calls"] == count
            assert row["hostTotalPs"] * 1e-6 == pytest.approx(total, rel=1e-3, abs=0.01 * count)
            assert row["hostSelfPs"] * 1e-6 == pytest.approx(self_time, rel=1e-3, abs=0.02 * count)
            assert by_op.get(name, 0) == held
            compared += 1
        assert compared > 10
        assert [name for name in seen if name.startswith("ProfilerStep")] == ["ProfilerStep*"]
        steps = api.ask("tracks", opened)["steps"]
        assert steps["rule"] == "marked" and len(steps["items"]) == 3
        assert api.ask("memory", opened)["peakBytes"] > 0


def test_operators_by_shape_and_their_memory_are_those_of_torch(tmp_path):
    out = profile_peers.run("torch", TORCH_FULL, tmp_path / "torch")
    wanted = [json.loads(line[5:]) for line in out.splitlines() if line.startswith("ROWS ")]
    with Seaboard(tmp_path) as served:
        api = Profile(served)
        captures = sorted(api.until(lambda: len(found := api.captures()) == 2 and found), key=lambda c: c["time"])
        for capture, rows in zip(captures, wanted, strict=True):
            opened = api.open_id(capture["id"])
            seen = {(o["name"], o["shape"]): o for o in api.ask("operators", opened, limit=10000, group="shape")["items"]}
            seen = {(name, json.dumps(json.loads(shape or "[]"))): o for (name, shape), o in seen.items()}
            memory = dict.fromkeys((row[0] for row in rows if row[0].startswith("aten::")), 0)
            for name, shapes, count, total, self_time, held in rows:
                if name not in memory:
                    continue
                memory[name] += held
                row = seen[name, json.dumps(shapes)]
                assert row["calls"] == count
                assert row["hostTotalPs"] * 1e-6 == pytest.approx(total, rel=1e-3, abs=0.01 * count)
                assert row["hostSelfPs"] * 1e-6 == pytest.approx(self_time, rel=1e-3, abs=0.02 * count)
            by_op = {o["name"]: o["bytes"] - o["freedBytes"] for o in api.ask("memory", opened)["byOp"]}
            assert len(memory) > 20 and sum(map(bool, memory.values())) > 5
            assert {name: by_op.get(name, 0) for name in memory} == memory


def counts_of(folder):
    """What TensorFlow's own classes read in the XSpaces of a folder: name -> [count, picoseconds]."""
    xplane_pb2 = pytest.importorskip("tensorflow.tsl.profiler.protobuf.xplane_pb2")
    wanted = {}
    for file in folder.rglob("*.xplane.pb"):
        space = xplane_pb2.XSpace.FromString(file.read_bytes())
        for plane in space.planes:
            for line in plane.lines:
                for event in line.events:
                    meta = plane.event_metadata[event.metadata_id]
                    row = wanted.setdefault(meta.display_name or meta.name, [0, 0])
                    row[0] += 1
                    row[1] += event.duration_ps
    return wanted


@pytest.mark.parametrize("package, code, steps", [
    ("tensorflow", TENSORFLOW, 5), ("tensorflow", SUMMARY, 3), ("keras", KERAS, 1), ("jax", JAX, 5), ("jax", JAX_PYTHON, 5)
])  # fmt: skip
def test_totals_of_a_fresh_xspace_are_those_of_the_file(tmp_path, package, code, steps):
    folder = tmp_path / package
    profile_peers.run(package, code, folder)
    wanted = counts_of(folder)
    with Seaboard(tmp_path) as served:
        api = Profile(served)
        opened = api.open("20")
        totals = api.post("profile/totals", {"capture": opened, "limit": 10000})
        assert {t["name"]: [t["count"], t["totalPs"]] for t in totals["items"]} == wanted
        found = api.ask("tracks", opened)["steps"]
        assert found["rule"] != "none" and len(found["items"]) >= steps
        file = next(folder.rglob("*.xplane.pb"))
        compare_with_xprof(served, file, file.parents[3].relative_to(tmp_path))


def test_steps_without_marks_are_what_the_loop_calls_and_not_its_input(tmp_path):
    profile_peers.run("tensorflow", TENSORFLOW_INPUT, tmp_path / "logs")
    with Seaboard(tmp_path) as served:
        api = Profile(served)
        opened = api.open("20")
        found = api.ask("tracks", opened)["steps"]
        assert (found["rule"], len(found["items"])) == ("function", 6)


def test_step_statistics_of_a_fresh_run_are_those_of_tensorflows_timeline(tmp_path):
    out = profile_peers.run("tensorflow", TIMELINE, tmp_path / "v1")
    wanted = [json.loads(line[5:]) for line in out.splitlines() if line.startswith("ROWS ")]
    with Seaboard(tmp_path) as served:
        api = Profile(served)
        for step, rows in enumerate(wanted):
            opened = api.open(f"step {step}")
            seen = {}
            for t in api.post("profile/totals", {"capture": opened, "limit": 10000})["items"]:
                seen[t["name"].split(":")[0]] = (t["count"], t["totalPs"] * 1e-6)
            assert rows and seen.keys() == rows.keys()
            by_type = {}
            for name, calls in rows.items():
                count, total = seen[name]
                assert count == len(calls)
                assert total == pytest.approx(sum(dur for dur, _ in calls), abs=1.001 * count)  # Timeline has whole microseconds
                for dur, kind in calls:
                    if dur:
                        by_type.setdefault(kind, []).append(dur)
            opened = api.open(f"timeline_{step}")
            operators = {o["name"]: (o["calls"], o["hostTotalPs"]) for o in api.ask("operators", opened)["items"]}
            assert operators == {kind: (len(calls), sum(calls) * 10**6) for kind, calls in by_type.items()}
