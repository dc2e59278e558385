"""TensorBoard's own page, unmodified, over our data: every dashboard shows what is in the logs.

The page is the PyPI package's (proxy.py serves it), Chromium draws it (frontend.mjs drives it and says what it sees).
What is expected here holds for the same page over the real server too; to see that, start one for the logs in
question and set TENSORBOARD_UI_DATA=host:port.
"""

import json
import os
import pathlib
import shutil
import subprocess
import sys

import pytest
from proxy import Proxy

HERE = pathlib.Path(__file__).resolve().parent
FIXTURES = HERE.parent / "fixtures/tf"
sys.path.insert(0, str(HERE.parent / "integration"))
from serve_driver import Seaboard  # noqa: E402

LOGS = {
    "v2": ["timeseries", "scalars", "images", "audio", "text", "histograms", "distributions", "graphs"],
    "plugins": ["pr_curves", "custom_scalars", "mesh"],
    "hparams": ["hparams"],
    "v1": ["scalars", "images", "histograms", "graphs"],
    "projector": ["projector"],
}
TABS = {
    "v2": ["TIME SERIES", "SCALARS", "IMAGES", "AUDIO", "GRAPHS", "DISTRIBUTIONS", "HISTOGRAMS", "TEXT"],
    "plugins": ["TIME SERIES", "SCALARS", "CUSTOM SCALARS", "PR CURVES", "MESH"],
    "hparams": ["TIME SERIES", "SCALARS", "HPARAMS"],
    # a checkpoint in the folder is enough for the projector
    "v1": ["TIME SERIES", "SCALARS", "IMAGES", "AUDIO", "GRAPHS", "DISTRIBUTIONS", "HISTOGRAMS", "PROJECTOR"],
    "projector": ["PROJECTOR"],
}


def look(base, dashboards):
    node = shutil.which("node")
    assert node, "tools/setup test installs it"
    done = subprocess.run(
        [node, str(HERE / "frontend.mjs"), base, *dashboards], capture_output=True, text=True, timeout=600
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


@pytest.fixture(scope="module")
def seen():
    """(logs, dashboard) -> what it shows; a browser a log directory, when first asked for."""
    known = {}

    def ask(logs, dashboard):
        if logs not in known:
            known[logs] = everything(logs)
        verdict = known[logs][dashboard]
        assert verdict["problems"] == []
        assert verdict["facts"]["tabs"] == TABS[logs]
        return verdict["facts"]

    return ask


def everything(logs):
    elsewhere = os.environ.get("TENSORBOARD_UI_DATA")
    if elsewhere:
        with Proxy(elsewhere) as proxy:
            return look(f"http://127.0.0.1:{proxy.port}", LOGS[logs])
    with Seaboard(FIXTURES / logs) as server:
        server.loaded()
        with Proxy(f"127.0.0.1:{server.port}") as proxy:
            return look(f"http://127.0.0.1:{proxy.port}", LOGS[logs])


def test_time_series(seen):
    facts = seen("v2", "timeseries")
    assert facts["runs"] == ["graph_func", "train", "validation"]
    assert facts["images"][:2] == [[8, 8]] * 2 and [10, 12] in facts["images"]
    assert facts["scalarCards"] == ["loss", "metrics/accuracy"]
    assert len(facts["lines"]) == 2 and all(chart["pixels"] > 100 for chart in facts["lines"])
    assert facts["lines"][0]["hues"] >= 1
    assert facts["histogramCards"] == [
        name for name in ("weights/constant", "weights/empty", "weights/kernel") for _ in "tv"
    ]
    assert facts["histograms"]["pixels"] > 100


def test_scalars(seen):
    facts = seen("v2", "scalars")
    assert facts["runs"] == ["train", "graph_func", "validation"]
    assert facts["headings"] == ["loss tag: loss", "metrics/accuracy tag: metrics/accuracy"]
    assert len(facts["lines"]) == 2 and all(chart["pixels"] > 100 for chart in facts["lines"])


def test_images(seen):
    facts = seen("v2", "images")
    # alpha, three samples of examples, grey; each of two runs
    assert facts["sizes"] == [[8, 8]] * 2 + [[10, 12]] * 6 + [[8, 8]] * 2
    assert all("step 50" in heading for heading in facts["headings"])
    assert sum("sample: 3 of 3" in heading for heading in facts["headings"]) == 2


def test_audio(seen):
    facts = seen("v2", "audio")
    assert facts["seconds"] == pytest.approx([0.05] * 4 + [0.2] * 2, abs=0.001)
    assert sum("sample: 2 of 2" in heading for heading in facts["headings"]) == 2


def test_text(seen):
    facts = seen("v2", "text")
    assert len(facts["headings"]) == 6
    assert facts["titles"] == [f"Step {step}" for step in (50, 40, 30, 20, 10, 0)]
    assert facts["items"] == ["bold code"]
    assert facts["tables"] == 36
    assert facts["hostile"] == 0


def test_histograms(seen):
    facts = seen("v2", "histograms")
    assert facts["slices"] == [6] * 6
    assert facts["drawn"]["pixels"] > 1000


def test_distributions(seen):
    facts = seen("v2", "distributions")
    assert len(facts["headings"]) == 6
    assert facts["drawn"]["pixels"] > 1000


def test_graphs(seen):
    facts = seen("v2", "graphs")
    assert facts["picked"] == ["graph_func", "my_func"]
    assert facts["nodes"] == ["graph_1", "graph_2", "graph_3"]


def test_pr_curves(seen):
    facts = seen("plugins", "pr_curves")
    assert facts["headings"] == ["pr tag: pr/pr_curves"]
    assert facts["drawn"]["pixels"] > 300


def test_custom_scalars(seen):
    facts = seen("plugins", "custom_scalars")
    assert facts["categories"] == ["losses 2"]
    assert facts["headings"] == ["all", "band"]
    assert facts["multiLine"]["pixels"] > 300
    assert facts["margin"]["pixels"] > 300


def test_mesh(seen):
    facts = seen("plugins", "mesh")
    assert len(facts["headings"]) == 2
    assert facts["drawn"]["pixels"] > 5000 and facts["drawn"]["hues"] > 3  # faces of many colours


def test_hparams(seen):
    facts = seen("hparams", "hparams")
    assert facts["names"] == [
        *("bn", "false", "true", "dropout", "opt", "adam", "sgd", "units", "16.000", "32.000"),
        *("Acc", "validation.loss"),
    ]
    heads = ["Trial ID", "Show Metrics", "bn", "dropout", "opt", "units", "Acc", "validation.loss"]
    assert facts["cells"][: len(heads)] == heads
    assert facts["cells"][len(heads) :][:6] == ["t1-0", "false", "0.10000", "adam", "16.000", "0.40000"]
    assert len(facts["cells"]) == len(heads) + 4 * 6
    assert facts["axes"] == heads[2:]


def test_scalars_of_tf1(seen):
    facts = seen("v1", "scalars")
    assert facts["lines"] and all(chart["pixels"] > 100 for chart in facts["lines"])


def test_images_of_tf1(seen):
    facts = seen("v1", "images")
    assert facts["sizes"] and all(width > 0 for width, _ in facts["sizes"])


def test_histograms_of_tf1(seen):
    assert seen("v1", "histograms")["drawn"]["pixels"] > 1000


def test_graph_of_tf1(seen):
    assert len(seen("v1", "graphs")["nodes"]) > 3


def test_projector(seen):
    facts = seen("projector", "projector")
    assert (facts["points"], facts["dimension"]) == (["50"], ["8"])
    assert facts["drawn"]["pixels"] > 500 and facts["drawn"]["hues"] > 3  # the sprites' pictures
