"""seaboard.read, summary_iterator and EventAccumulator: what was written, as TensorBoard's own readers see it."""

import dataclasses
import gzip
import os

import numpy as np
import pytest
import tensorflow as tf
from tensorboard.backend.event_processing import event_accumulator as theirs
from torch.utils.tensorboard import SummaryWriter as TorchWriter

import seaboard
import seaboard.backend.event_processing.event_accumulator as ours
from peers import ALL


@pytest.fixture(scope="module")
def logdir(tmp_path_factory):
    folder = tmp_path_factory.mktemp("logs")
    rng = np.random.default_rng(2)
    with TorchWriter(str(folder / "torch")) as w:
        for step in range(50):
            w.add_scalar("loss", 1 / (step + 1), step)
        w.add_histogram("h", rng.normal(size=100), 3)
        w.add_image("i", rng.uniform(0, 1, (3, 4, 5)), 3)
        w.add_audio("a", rng.uniform(-1, 1, 100).astype("f"), 3)
        w.add_text("t", "hello", 3)
        w.add_tensor("x", __import__("torch").arange(6).reshape(2, 3), 3)
    writer = tf.summary.create_file_writer(str(folder / "tf/train"))
    with writer.as_default():
        for step in range(20):
            tf.summary.scalar("loss", step / 2, step=step)
        tf.summary.histogram("h", rng.normal(size=100), step=3)
        tf.summary.text("t", [["a", "b"], ["c", "d"]], step=3)
    writer.close()
    return folder


def test_runs_tags_and_columns(logdir):
    log = seaboard.read(logdir)
    assert log.runs == ["tf/train", "torch"]
    assert log.tags() == ["loss"] and log.tags("torch") == ["loss"]
    loss = log["torch", "loss"]
    assert loss is log["torch"]["loss"] and loss.kind == "scalars" and len(loss) == 50
    np.testing.assert_array_equal(loss.steps, np.arange(50))
    np.testing.assert_array_equal(loss.values, (1 / np.arange(1, 51)).astype(np.float32))
    assert loss.wall_times.dtype == np.float64 and (np.diff(loss.wall_times) >= 0).all()
    assert len(log) == 2 and "torch" in log and log.damage == []
    assert "2 runs, 2 series, 70 points" in repr(log)


def test_columns_are_views_that_outlive_the_log(logdir):
    steps = seaboard.read(logdir)["torch", "loss"].steps
    assert not steps.flags.owndata and not steps.flags.writeable
    np.testing.assert_array_equal(steps, np.arange(50))


def test_other_kinds(logdir):
    log = seaboard.read(logdir, run="torch", kinds="all")
    kinds = {series.tag: series.kind for series in log}
    assert kinds == {
        "loss": "scalars",
        "h": "histograms",
        "i": "images",
        "a": "audio",
        "t/text_summary": "text",
        "x": "tensors",
    }
    assert log["torch", "t/text_summary"].values == ["hello"]
    assert log["torch", "i"].values[0][0].startswith(b"\x89PNG")
    assert log["torch", "a"].values[0][0].startswith(b"RIFF")
    np.testing.assert_array_equal(log["torch", "x"].values[0], [[0, 1, 2], [3, 4, 5]])
    assert log["torch", "h"].values[0][:, 2].sum() == 100
    tf2 = seaboard.read(logdir, run="tf/train", kinds=["histograms", "text"])
    assert tf2["tf/train", "h"].values[0].shape == (30, 3)
    assert tf2["tf/train", "t"].values == [["a", "b", "c", "d"]]
    assert tf2["tf/train", "h"].plugin == "histograms"


def test_only_what_is_asked_for(logdir):
    assert seaboard.read(logdir, run="torch").runs == ["torch"]
    assert len(seaboard.read(logdir, tags="nothing")) == 0
    with pytest.raises(ValueError, match="unknown kind 'scalar'"):
        seaboard.read(logdir, kinds="scalar")


def test_a_name_that_is_missing_names_a_near_one(logdir):
    log = seaboard.read(logdir)
    with pytest.raises(KeyError, match="did you mean 'torch'"):
        log["tourch"]
    with pytest.raises(KeyError, match="did you mean 'loss'"):
        log["torch", "los"]
    with pytest.raises(FileNotFoundError):
        seaboard.read(logdir / "nowhere")


def test_tables(logdir):
    pandas = pytest.importorskip("pandas")
    frame = seaboard.read(logdir).to_pandas()
    assert list(frame.columns) == ["run", "tag", "step", "wall_time", "value"] and len(frame) == 70
    assert frame.groupby("run", observed=True)["value"].count().to_dict() == {"tf/train": 20, "torch": 50}
    series = seaboard.read(logdir)["torch", "loss"].to_pandas()
    assert isinstance(series, pandas.Series) and series.loc[4] == np.float32(0.2)


def test_tables_of_polars_and_arrow(logdir):
    pytest.importorskip("polars"), pytest.importorskip("pyarrow")
    log = seaboard.read(logdir)
    frame, table = log.to_polars(), log.to_arrow()
    assert frame.shape == (70, 5) and table.num_rows == 70
    assert table.column_names == frame.columns == ["run", "tag", "step", "wall_time", "value"]
    assert frame["value"].to_list() == table["value"].to_pylist() == log.to_pandas()["value"].tolist()


def test_damage_is_left_out_and_listed(logdir, tmp_path):
    (file,) = os.listdir(logdir / "torch")
    data = bytearray((logdir / "torch" / file).read_bytes())
    data[200] ^= 0xFF
    (tmp_path / file).write_bytes(data)
    log = seaboard.read(tmp_path)
    assert len(log[".", "loss"]) == 49
    (gap,) = log.damage
    assert gap.run == "." and gap.path.endswith(file) and gap.kind in ("bad_payload", "bad_length")
    (tmp_path / (file + ".gz")).write_bytes(gzip.compress(bytes(data)))
    (tmp_path / file).unlink()
    assert len(seaboard.read(tmp_path)[".", "loss"]) == 49


def test_summary_iterator_gives_the_events_that_tensorflow_reads(logdir):
    for folder in ("torch", "tf/train"):
        (file,) = os.listdir(logdir / folder)
        path = str(logdir / folder / file)
        mine, real = list(seaboard.summary_iterator(path)), list(tf.compat.v1.train.summary_iterator(path))
        assert len(mine) == len(real) > 20
        for a, b in zip(mine, real):
            assert a.SerializeToString() == b.SerializeToString()
            assert (a.step, a.wall_time, a.WhichOneof("what")) == (b.step, b.wall_time, b.WhichOneof("what"))
            for v, w in zip(a.summary.value, b.summary.value):
                assert (v.tag, v.simple_value, v.WhichOneof("value")) == (w.tag, w.simple_value, w.WhichOneof("value"))
                assert v.HasField("metadata") == w.HasField("metadata")


def plain(point):
    """The fields of a point, whether it is a tuple of ours or a dataclass of theirs."""
    if hasattr(point, "SerializeToString"):
        return point.SerializeToString()
    names = getattr(point, "_fields", None) or [field.name for field in dataclasses.fields(point)]
    found = {name: getattr(point, name) for name in names}
    return {name: plain(value) if dataclasses.is_dataclass(value) or hasattr(value, "_fields") or hasattr(value, "SerializeToString")
            else value for name, value in found.items()}


@pytest.mark.parametrize("run", ["torch", "tf/train"])
def test_event_accumulator(logdir, run):
    path = str(logdir / run)
    mine = ours.EventAccumulator(path).Reload()
    real = theirs.EventAccumulator(path, size_guidance=ALL).Reload()
    assert mine.Tags() == real.Tags()
    for kind, method in [
        ("scalars", "Scalars"),
        ("histograms", "Histograms"),
        ("images", "Images"),
        ("audio", "Audio"),
        ("tensors", "Tensors"),
    ]:
        for tag in real.Tags()[kind]:
            a, b = getattr(mine, method)(tag), getattr(real, method)(tag)
            assert [plain(point) for point in a] == [plain(point) for point in b], tag
    for tag in real.summary_metadata:
        assert mine.SummaryMetadata(tag).SerializeToString() == real.SummaryMetadata(tag).SerializeToString()
    assert mine.FirstEventTimestamp() == real.FirstEventTimestamp()
    assert mine.GetSourceWriter() == real.GetSourceWriter()
    assert mine.PluginTagToContent("text") == real.PluginTagToContent("text")
    for missing in (mine, real):
        with pytest.raises(KeyError):
            missing.Scalars("nothing")


def test_quantiles_of_histograms(logdir):
    path = str(logdir / "torch")
    mine, real = (kind.EventAccumulator(path).Reload().CompressedHistograms("h") for kind in (ours, theirs))
    for a, b in zip(mine, real):
        got = [tuple(value) for value in a.compressed_histogram_values]
        expected = [tuple(value) for value in b.compressed_histogram_values]
        np.testing.assert_allclose(got, expected, rtol=1e-6)


def test_event_accumulator_reads_on_where_it_stopped(tmp_path):
    with seaboard.SummaryWriter(tmp_path) as w:
        w.add_scalar("x", 1, 1)
        w.flush()
        reader = ours.EventAccumulator(str(tmp_path)).Reload()
        assert len(reader.Scalars("x")) == 1
        w.add_scalar("x", 2, 2)
        w.flush()
        assert [point.step for point in reader.Reload().Scalars("x")] == [1, 2]


def test_restarts_purge_as_in_tensorboard(tmp_path):
    for name, purge in (("a", None), ("b", 5)):
        with seaboard.SummaryWriter(tmp_path, purge_step=purge) as w:
            for step in range(purge or 0, 10):
                w.add_scalar("x", step, step)
        os.rename(w._event_path() or next(tmp_path.glob("events*")), tmp_path / f"{name}.tfevents")  # read in this order
    mine, real = (kind.EventAccumulator(str(tmp_path)).Reload().Scalars("x") for kind in (ours, theirs))
    assert [plain(point) for point in mine] == [plain(point) for point in real]
    assert [point.step for point in mine] == list(range(10))
