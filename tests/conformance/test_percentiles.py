"""Percentiles, mean and deviation of histograms, beside numpy's of the very values that were logged.

A histogram keeps only how many values are in each bucket. So numpy's percentile must lie in the bucket in which the answer
is, and the answers must be those of TensorBoard's own formula to the last bit. The values are logged by our writer in all
its styles, by torch, tensorboardX and TensorFlow, and asked for in both ways in which the server tells percentiles.
"""

import math
import pathlib
import sys
import urllib.parse

import numpy as np
import pytest
import sbctypes as sb
import tensorboardX
import tensorflow as tf
from tensorboard.plugins.distribution import compressor
from torch.utils.tensorboard import SummaryWriter

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "integration"))
from api_client import Api  # noqa: E402
from serve_driver import Seaboard  # noqa: E402
from test_histogram_grids import grids, ids_of  # noqa: E402

N = 9973  # a prime: no percentile that is asked for falls between two values
RNG = np.random.default_rng(20)
SAMPLES = {
    "normal": RNG.normal(size=N),
    "far from zero": RNG.normal(1000.0, 0.5, N),
    "skewed": RNG.lognormal(0, 2, N),
    "negative": -RNG.exponential(3.0, N),
    "two heaps": np.concatenate([RNG.normal(-5, 0.1, N // 3), RNG.normal(8, 0.1, N - N // 3)]),
    "small": RNG.normal(scale=1e-6, size=N),
    "whole numbers": RNG.integers(0, 7, N).astype(float),
    "mostly zero": np.where(RNG.random(N) < 0.9, 0.0, RNG.normal(size=N)),
    "one far away": np.append(RNG.normal(size=N - 1), 1e4),
    "three values": np.array([1.0, 2.0, 4.0]),
    "one value": np.array([0.25]),
    "all the same": np.full(N, 3.5),
}
SAMPLES = {name: values.astype(np.float32).astype(float) for name, values in SAMPLES.items()}
SHARES = np.array([0, 668, 1587, 3085, 5000, 6915, 8413, 9332, 10000]) / 10000
WRITERS = ("ours tf2", "ours tf1", "ours torch", "ours tbx", "torch", "torch auto", "tensorboardX", "tensorflow")


def write(root):
    for name, style in sb.STYLES.items():
        with sb.Writer(root / f"ours {name}", style) as writer:
            for step, (tag, values) in enumerate(SAMPLES.items()):
                writer.histogram(tag, values, step)
    for name, make, bins in (
        ("torch", SummaryWriter, "tensorflow"),
        ("torch auto", SummaryWriter, "auto"),
        ("tensorboardX", tensorboardX.SummaryWriter, "tensorflow"),
    ):
        with make(str(root / name)) as writer:
            for step, (tag, values) in enumerate(SAMPLES.items()):
                writer.add_histogram(tag, values, step, bins=bins)
    with tf.summary.create_file_writer(str(root / "tensorflow")).as_default():
        for step, (tag, values) in enumerate(SAMPLES.items()):
            tf.summary.histogram(tag, values, step=step)
    # what a writer makes of a name with spaces is its own affair: the step says which samples they are
    return list(SAMPLES.values())


@pytest.fixture(scope="module")
def served(tmp_path_factory):
    root = tmp_path_factory.mktemp("percentiles")
    samples = write(root)
    with Seaboard(root) as server:
        server.loaded()
        yield server, Api(server), samples


def histograms_of(server, run):
    """(step, buckets, the nine percentiles as TensorBoard's page asks for them, tag)"""
    for tag in server.json("/data/plugin/histograms/tags")[run]:
        query = urllib.parse.urlencode({"run": run, "tag": tag})
        buckets = server.json(f"/data/plugin/histograms/histograms?{query}")
        bands = server.json(f"/data/plugin/distributions/distributions?{query}")
        assert len(buckets) == len(bands) == 1
        yield buckets[0][1], np.array(buckets[0][2]), bands[0][2], tag


def bucket_of(buckets, value):
    """From where to where the bucket goes that has the value; two, if it is where they meet."""
    has = (buckets[:, 0] <= value) & (value <= buckets[:, 1]) & (buckets[:, 2] > 0)
    assert has.any(), f"{value} is in no bucket that has values"
    return buckets[has, 0].min(), buckets[has, 1].max()


def rounding_of(values):
    """Buckets in the old form come as 32-bit numbers."""
    return 4 * np.finfo(np.float32).eps * np.abs(values).max()


@pytest.mark.parametrize("run", WRITERS)
def test_numpys_percentile_is_in_the_bucket_of_the_answer(served, run):
    server, api, samples = served
    seen = set()
    for step, buckets, bands, tag in histograms_of(server, run):
        values = samples[step]
        answers = [value for _, value in bands]
        near = rounding_of(values)
        for share, answer, true in zip(SHARES, answers, np.quantile(values, SHARES, method="inverted_cdf")):
            left, right = bucket_of(buckets, answer)
            assert left - near <= true <= right + near, (tag, share, answer, true)
        assert math.isclose(answers[0], values.min(), abs_tol=near) or run in ("ours tf2", "tensorflow"), tag
        # the page's own question has the same answers
        (grid,) = grids(api, {"series": [{"run": ids_of(api)[run], "tag": tag}], "steps": 10, "bins": 0})
        assert list(grid["step"]) == [step] and grid["percentiles"].tolist() == answers
        assert grid["total"][0] == len(values)
        seen.add(step)
    assert seen == set(range(len(samples)))


@pytest.mark.parametrize("run", WRITERS)
def test_percentiles_are_those_of_tensorboards_formula_to_the_last_bit(served, run):
    server, _, samples = served
    steps = 0
    for _, buckets, bands, tag in histograms_of(server, run):
        want = compressor.compress_histogram(buckets)
        assert [tuple(pair) for pair in bands] == [(bps, float(value)) for bps, value in want], tag
        steps += 1
    assert steps == len(samples)


@pytest.mark.parametrize("run", WRITERS)
def test_mean_and_deviation_are_numpys_as_far_as_buckets_can_tell(served, run):
    server, api, samples = served
    for step, buckets, _, tag in histograms_of(server, run):
        values = samples[step]
        (grid,) = grids(api, {"series": [{"run": ids_of(api)[run], "tag": tag}], "steps": 10, "bins": 0})
        # the old form has sums of the values; of the new one only the buckets are known
        width = (buckets[:, 1] - buckets[:, 0])[buckets[:, 2] > 0].max() if run in ("ours tf2", "tensorflow") else 0
        near = width + rounding_of(values)
        assert abs(grid["mean"][0] - values.mean()) <= near, tag
        # squares of large numbers lose digits: no more than this
        lost = math.sqrt(np.finfo(float).eps * len(values)) * np.abs(values).max()
        assert abs(grid["deviation"][0] - values.std()) <= near + lost, tag
