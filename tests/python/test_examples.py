"""The tutorials of examples/python run, and what they log is served."""

import os
import pathlib
import re
import subprocess
import sys

import pytest

import seaboard
from seaboard import _servers, program

EXAMPLES = pathlib.Path(__file__).resolve().parents[2] / "examples/python"
SHOWN = {
    "torch_loop": ({".", "trial"}, {"scalars", "images", "histograms", "text", "graphs", "hparams"}, (".", "Loss/train", 100)),
    "tf_custom_loop": ({"."}, {"scalars", "images", "histograms", "text"}, (".", "loss", 50)),
    "keras_fit": ({"train", "validation"}, {"scalars", "histograms", "graphs"}, ("train", "epoch_loss", 3)),
    "tf1_merge_all": ({"."}, {"scalars", "histograms", "graphs"}, (".", "loss", 20)),
    "checkpoint_train": ({"."}, {"scalars"}, (".", "loss", 60)),
}


@pytest.mark.parametrize("name", SHOWN)
def test_a_tutorial_with_one_import_changed_shows_its_data(tmp_path, name):
    run(name, tmp_path / "logs")
    runs, plugins, (where, tag, points) = SHOWN[name]
    board = program.TensorBoard()
    board.configure(logdir=str(tmp_path / "logs"), port=0)
    try:
        client = seaboard.Client(board.launch()).wait()
        assert set(client.runs()) == runs
        listing = client.get("data/plugins_listing")
        assert plugins <= {plugin for plugin, about in listing.items() if about["enabled"]}
        assert len(client.scalars(where, tag).steps) == points
    finally:
        board.stop()


def run(name, logs):
    environment = {**os.environ, "KERAS_BACKEND": "tensorflow"}
    command = [sys.executable, str(EXAMPLES / f"{name}.py"), str(logs)]
    done = subprocess.run(command, capture_output=True, text=True, env=environment, timeout=300)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_a_second_program_restores_what_the_first_one_trained(tmp_path):
    assert "ckpt-3 at step 60" in run("checkpoint_train", tmp_path)
    assert float(re.search(r"accuracy ([\d.]+)", run("checkpoint_test", tmp_path)).group(1)) > 0.9
    assert "ckpt-6 at step 120" in run("checkpoint_train", tmp_path)
    assert sorted(path.stem for path in (tmp_path / "save").glob("*.index")) == ["ckpt-4", "ckpt-5", "ckpt-6"]


@pytest.mark.parametrize("name", [*SHOWN, "checkpoint_test"])
def test_a_tutorial_says_which_line_was_changed(name):
    lines = [line for line in (EXAMPLES / f"{name}.py").read_text().splitlines() if "# instead of:" in line]
    assert len(lines) == 1 and "seaboard" in lines[0]


def test_the_notebook_runs_and_shows_its_page(tmp_path, monkeypatch):
    nbformat, nbclient = pytest.importorskip("nbformat"), pytest.importorskip("nbclient")
    pytest.importorskip("ipykernel")
    monkeypatch.setenv("LOGDIR", str(tmp_path / "runs"))
    book = nbformat.read(EXAMPLES / "notebook.ipynb", 4)
    nbclient.NotebookClient(book, timeout=300, startup_timeout=300, kernel_name="python3").execute()
    (shown,) = [out for out in book.cells[2].outputs if out.output_type == "display_data"]
    port = int(re.search(r"const port = (\d+)", shown["data"]["text/html"]).group(1))
    try:
        assert seaboard.Client(f"http://localhost:{port}").wait().runs() == ["first"]
    finally:
        _servers.stop(next(server for server in _servers.running() if server.port == port))
