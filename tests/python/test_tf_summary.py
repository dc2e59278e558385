"""seaboard.summary beside tf.summary, and seaboard.summary.v1.FileWriter beside TF1's: the same calls, the same data;
both directories read by real TensorBoard and compared."""

import os
import threading

import numpy as np
import pytest
import tensorflow as tf

import seaboard.summary
import seaboard.summary.v1
from peers import assert_same, events, runs

MODULES = {"theirs": tf.summary, "ours": seaboard.summary}


def rng():
    return np.random.default_rng(5)


def compare(tmp_path, call, **options):
    """call(summary) with a default writer, once with each."""
    for name, module in MODULES.items():
        writer = module.create_file_writer(str(tmp_path / name), **options)
        with writer.as_default():
            call(module)
        writer.close()
    assert_same(tmp_path / "ours", tmp_path / "theirs")


@pytest.mark.parametrize(
    "value", [0.5, 3, True, np.float64(0.1), np.array(2), tf.constant(1.5), tf.Variable(2.5), float("nan")], ids=repr
)
def test_scalar(tmp_path, value):
    compare(tmp_path, lambda s: s.scalar("loss", value, step=7, description="the *loss*"))


@pytest.mark.parametrize("step", [0, 7, -2, 2**40, np.int32(3), tf.constant(4, tf.int64), tf.Variable(5, dtype=tf.int64)])
def test_a_step_may_be_a_number_a_tensor_or_a_variable(tmp_path, step):
    compare(tmp_path, lambda s: s.scalar("loss", 1.5, step=step))


@pytest.mark.parametrize("buckets", [None, 1, 5])
@pytest.mark.parametrize("kind", ["normal", "one value", "empty", "integers", "tensor"])
def test_histogram(tmp_path, buckets, kind):
    values = {
        "normal": rng().normal(size=(20, 30)),
        "one value": np.full(7, 2.5, np.float32),
        "empty": np.zeros((0,)),
        "integers": rng().integers(-9, 9, 100),
        "tensor": tf.constant(rng().normal(size=50).astype(np.float32)),
    }[kind]
    compare(tmp_path, lambda s: s.histogram("h", values, step=1, buckets=buckets, description="d"))


@pytest.mark.parametrize("channels", [1, 2, 3, 4])
@pytest.mark.parametrize("dtype", ["float32", "uint8", "float64"])
def test_image(tmp_path, channels, dtype):
    data = rng().uniform(0, 1, (5, 6, 7, channels))
    data = (data * 255).astype(dtype) if dtype == "uint8" else data.astype(dtype)

    def call(s):
        s.image("i", data, step=1)
        s.image("j", tf.constant(data), step=1, max_outputs=1, description="d")

    compare(tmp_path, call)


def test_audio(tmp_path):
    data = rng().uniform(-1.2, 1.2, (4, 200, 2)).astype(np.float32)

    def call(s):
        s.audio("a", data, 8000, step=1)
        s.audio("b", data, 44100, step=1, max_outputs=1, description="d")

    compare(tmp_path, call)


@pytest.mark.parametrize(
    "text",
    ["hello **world** 中文", ["a", "b"], [["a", "b"], ["c", "d"]], tf.constant("t"), tf.constant(["x", "y"]), np.array(["n"])],
    ids=str,
)
def test_text(tmp_path, text):
    compare(tmp_path, lambda s: s.text("t", text, step=2, description="d"))


def metadata(name, content=b"", **more):
    made = tf.compat.v1.SummaryMetadata(**more)
    made.plugin_data.plugin_name = name
    made.plugin_data.content = content
    return made


def test_write(tmp_path):
    def call(s):
        s.write("plain", tf.constant([1.0, 2.0]), step=1)
        s.write("numbers", tf.range(6), step=1, metadata=metadata("mine", b"\x01\x02", summary_description="d"))
        s.write("bytes", tf.constant(3.5), step=1, metadata=metadata("mine").SerializeToString())
        s.write("text", tf.constant("x"), step=1, metadata=metadata("text"))
        s.write("late", lambda: tf.constant(2), step=1, metadata=metadata("mine", display_name="dn"))

    compare(tmp_path, call)


def test_graph_of_a_tf_function(tmp_path):
    @tf.function
    def double(x):
        return x * 2

    concrete = double.get_concrete_function(tf.constant(1.0))
    compare(tmp_path, lambda s: s.graph(concrete.graph))
    compare(tmp_path / "def", lambda s: s.graph(concrete.graph.as_graph_def()))


def test_nothing_is_written_without_a_writer():
    assert seaboard.summary.scalar("x", 1, step=1) is False
    assert seaboard.summary.should_record_summaries() is False


def test_a_missing_step_is_refused_when_there_is_a_writer(tmp_path):
    for name, module in MODULES.items():
        with module.create_file_writer(str(tmp_path / name)).as_default():
            with pytest.raises(ValueError, match="[Nn]o step"):
                module.scalar("x", 1)


def test_default_steps_and_writers_nest(tmp_path):
    def call(s, name):
        outer, inner = (s.create_file_writer(str(tmp_path / name / run)) for run in ("outer", "inner"))
        s.experimental.set_step(100)
        with outer.as_default(step=1):
            s.scalar("a", 1)
            with inner.as_default(step=2):
                s.scalar("b", 2)
                assert s.experimental.get_step() == 2
            s.scalar("c", 3)
        outer.set_as_default(step=9)
        s.scalar("d", 4)
        assert s.experimental.get_step() == 9
        s.experimental.set_step(None)
        outer.close(), inner.close()

    for name, module in MODULES.items():
        thread = threading.Thread(target=call, args=(module, name))  # states belong to threads
        thread.start()
        thread.join()
    assert_same(tmp_path / "ours", tmp_path / "theirs")


def test_record_if(tmp_path):
    def call(s):
        for step in range(6):
            with s.record_if(lambda: step % 2 == 0):
                s.scalar("even", step, step=step)
                with s.record_if(step > 2):
                    s.scalar("late", step, step=step)
            with s.record_if(tf.constant(False)):
                assert not s.scalar("never", 1, step=step)

    compare(tmp_path, call)


def test_name_scopes_of_tensorflow_are_part_of_the_tag(tmp_path):
    def call(s):
        with tf.name_scope("outer"), tf.name_scope("inner"):
            s.scalar("loss", 1.0, step=1)
            s.text("note", "x", step=1)
        s.scalar("loss", 2.0, step=1)

    compare(tmp_path, call)


def test_calls_inside_a_tf_function_are_made_when_it_runs(tmp_path):
    def call(s):
        @tf.function
        def step(x, at):
            s.scalar("x", x, step=at)
            s.histogram("h", tf.stack([x, x * 2]), step=at)
            return x + 1

        x = tf.constant(0.0)
        for at in tf.range(4, dtype=tf.int64):
            x = step(x, at)

    compare(tmp_path, call)


def test_raw_summaries(tmp_path):
    summary = tf.compat.v1.Summary(value=[tf.compat.v1.Summary.Value(tag="x", simple_value=0.5)]).SerializeToString()
    compare(tmp_path, lambda s: s.experimental.write_raw_pb(summary, step=3))


@pytest.mark.parametrize("suffix", [None, ".mine", "mine"])
def test_names_of_files(tmp_path, suffix):
    import re

    for name, module in MODULES.items():
        module.create_file_writer(str(tmp_path / name), filename_suffix=suffix).close()
    shapes = {name: [re.sub(r"\d+", "N", os.path.basename(path)) for path in runs(tmp_path / name)["."]] for name in MODULES}
    assert shapes["ours"] == shapes["theirs"]


def test_a_closed_writer_cannot_be_the_default_one(tmp_path):
    writer = seaboard.summary.create_file_writer(tmp_path)
    writer.close()
    writer.close()
    writer.flush()
    with pytest.raises(RuntimeError, match="already closed"):
        with writer.as_default():
            pass


def test_a_noop_writer_writes_nothing(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with seaboard.summary.create_noop_writer().as_default():
        seaboard.summary.scalar("x", 1, step=1)
    assert os.listdir(tmp_path) == []


def test_trace_export_writes_the_graph_of_a_tf_function(tmp_path):
    def call(s):
        @tf.function
        def square(x):
            return x * x

        s.trace_on(graph=True)
        square(tf.constant(3.0))
        s.trace_export("traced", step=4)

    for name, module in MODULES.items():
        with module.create_file_writer(str(tmp_path / name)).as_default():
            call(module)
    ours, theirs = (events(tmp_path / name)["."][0].summary.value[0] for name in ("ours", "theirs"))
    assert (ours.tag, ours.metadata) == (theirs.tag, theirs.metadata)
    kinds = [  # TensorFlow's own export may hold graphs of other tests of this process too
        sorted({node.op for graph in meta.function_graphs for node in graph.pre_optimization_graph.node})
        for meta in (tf.compat.v1.RunMetadata.FromString(value.tensor.string_val[0]) for value in (ours, theirs))
    ]
    assert set(kinds[0]) <= set(kinds[1]) and "Mul" in kinds[0]


def test_a_trace_that_recorded_nothing_says_why(tmp_path):
    with seaboard.summary.create_file_writer(tmp_path).as_default():
        with pytest.raises(ValueError, match="trace_on"):
            seaboard.summary.trace_export("x", step=1)
        seaboard.summary.trace_on()
        with pytest.warns(RuntimeWarning, match="no tf.function was traced"):
            seaboard.summary.trace_export("x", step=1)


# ---- TF1


WRITERS = {"theirs": tf.compat.v1.summary.FileWriter, "ours": seaboard.summary.v1.FileWriter}


def test_file_writer_of_tf1(tmp_path):
    v1 = tf.compat.v1
    with tf.Graph().as_default() as graph, v1.Session() as session:
        loss = v1.placeholder(tf.float32, [], "loss")
        v1.summary.scalar("loss", loss)
        v1.summary.histogram("h", loss * tf.range(5, dtype=tf.float32))
        v1.summary.text("t", tf.as_string(loss))
        merged = v1.summary.merge_all()
        for name, kind in WRITERS.items():
            with kind(str(tmp_path / name), graph) as writer:
                for step in range(3):
                    writer.add_summary(session.run(merged, {loss: step / 2}), step)
                writer.add_run_metadata(v1.RunMetadata(), "once", 5)
                with pytest.raises(ValueError, match="tag was already used"):
                    writer.add_run_metadata(v1.RunMetadata(), "once")
                writer.add_session_log(v1.SessionLog(status=v1.SessionLog.START), 9)
                writer.add_event(v1.Event(wall_time=3, step=4))
                writer.add_graph(graph, 7)
    assert_same(tmp_path / "ours", tmp_path / "theirs")


def test_file_writer_makes_its_file_with_the_first_event_and_can_be_reopened(tmp_path):
    writer = seaboard.summary.v1.FileWriter(tmp_path)
    assert list(tmp_path.iterdir()) == []
    summary = tf.compat.v1.Summary(value=[tf.compat.v1.Summary.Value(tag="x", simple_value=0.5)])
    writer.add_summary(summary, 1)
    writer.close()
    with pytest.warns(UserWarning, match="closed FileWriter"):
        writer.add_summary(summary, 2)
    writer.reopen()
    writer.add_summary(summary, 3)
    writer.close()
    assert [event.step for event in events(tmp_path)["."]] == [1, 3]
