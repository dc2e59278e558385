"""Servers from Python: the notebook's functions, program.TensorBoard, Client, and a real notebook in a real browser."""

import functools
import http.server
import json
import os
import pathlib
import re
import subprocess
import sys
import threading
import urllib.request

import numpy as np
import pytest

import seaboard
from seaboard import _servers, notebook, program

ROOT = pathlib.Path(__file__).resolve().parents[2]


@pytest.fixture
def logdir(tmp_path):
    with seaboard.SummaryWriter(tmp_path / "runs/a") as w:
        for step in range(10):
            w.add_scalar("loss", 1 / (step + 1), step)
        w.add_scalar("odd", float("nan"), 0)
        w.add_text("note", "**hi**", 3)
        w.add_hparams({"lr": 0.1}, {"loss": 1.0}, run_name="trial")
    return tmp_path / "runs"


@pytest.fixture
def own_infos(tmp_path, monkeypatch):
    """Info files of this test only."""
    folder = tmp_path / "tmp"
    folder.mkdir()
    monkeypatch.setenv("TMPDIR", str(folder))
    monkeypatch.setattr("tempfile.tempdir", None)
    yield
    for server in _servers.running():
        _servers.stop(server)


def test_a_program_starts_a_server_and_a_client_asks_it(logdir, own_infos):
    board = program.TensorBoard()
    board.configure(argv=[None, "--logdir", str(logdir), "--port", "0"])
    url = board.launch()
    client = seaboard.Client(url)
    assert sorted(client.runs()) == ["a", "a/trial"]
    points = client.scalars("a", "loss")
    np.testing.assert_array_equal(points.steps, np.arange(10))
    np.testing.assert_array_equal(points.values, (1 / np.arange(1, 11)).astype(np.float32))
    assert np.isnan(client.scalars("a", "odd").values).all()
    assert client.tags()["a"] and client.tags("text")["a"] == ["note/text_summary"]
    assert "hi" in client.text("a", "note/text_summary")[0]["text"]
    assert client.hparams()["hparamInfos"][0]["name"] == "lr"
    with pytest.raises((KeyError, ConnectionError)):
        client.scalars("a", "nothing")
    assert board.launch() == url
    board.stop()
    with pytest.raises(ConnectionError, match="does not answer"):
        client.runs()


def test_options_may_be_keywords(logdir, own_infos):
    board = program.TensorBoard()
    board.configure(logdir=str(logdir), port=0, window_title="mine")
    assert seaboard.Client(board.launch()).environment()["window_title"] == "mine"
    board.stop()


def test_a_server_that_cannot_start_says_why(own_infos):
    board = program.TensorBoard()
    board.configure(argv=[None, "--nonsense"])
    with pytest.raises(RuntimeError, match=r"exit code 2(.|\n)*nonsense"):
        board.launch()


def test_start_list_display_and_stop_outside_a_notebook(logdir, own_infos, capsys):
    notebook.list()
    assert "No known" in capsys.readouterr().out
    notebook.start(f"--logdir {logdir} --port 0")
    said = capsys.readouterr().out
    port = int(re.search(r"http://localhost:(\d+)/", said).group(1))
    notebook.start(f"--logdir {logdir}")  # the same directory
    assert f"Reusing Seaboard on port {port}" in capsys.readouterr().out
    notebook.list()
    assert f"port {port}: logdir {logdir}" in capsys.readouterr().out
    notebook.display(port)
    assert f":{port}/" in capsys.readouterr().out
    notebook.stop(port)
    assert f"Stopped the server on port {port}" in capsys.readouterr().out
    notebook.display(port)
    assert "no server runs" in capsys.readouterr().out


def test_the_cache_key_is_tensorboards(monkeypatch):
    monkeypatch.setattr("os.getcwd", lambda: "/home/u")
    expected = (
        "eyJhcmd1bWVudHMiOlsiLS1sb2dkaXIiLCJsb2dzIiwiLS1wb3J0IiwiNjAwNiJdLCJjb25maWd1cmVfa3dhcmdzIjp7fSwid29ya2luZ19k"
        "aXJlY3RvcnkiOiIvaG9tZS91In0="
    )
    assert _servers.cache_key(["--logdir", "logs", "--port", "6006"]) == expected


def test_the_command_of_the_package(logdir):
    said = subprocess.run([sys.executable, "-m", "seaboard", "--version"], capture_output=True, text=True)
    assert said.stdout.strip() == f"seaboard {seaboard.__version__}"


SHOW = """
import { chromium } from "playwright-core";
const [executable, base] = process.argv.slice(2);
const browser = await chromium.launch({ executablePath: executable, args: ["--no-sandbox"] });
const page = await browser.newPage();
await page.goto(base + "/page.html"); // the notebook's own page, which holds the cell's output
const frame = page.frameLocator("iframe");
try {
  await frame.getByText("loss").first().waitFor({ timeout: 30000 });
} catch (error) {
  console.error(page.frames().map((one) => one.url()), await frame.locator("body").innerText({ timeout: 1000 }));
  throw error;
}
console.log(await page.locator("iframe").getAttribute("src"));
await browser.close();
"""


def run_browser(browser, folder):
    """Opens page.html of a folder, served as a notebook's page would be."""
    handler = functools.partial(http.server.SimpleHTTPRequestHandler, directory=str(folder))
    script = ROOT / "ui" / f"notebook-{os.getpid()}.mjs"  # where playwright-core is found
    script.write_text(SHOW)
    with http.server.ThreadingHTTPServer(("localhost", 0), handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        try:
            command = ["node", str(script), browser, f"http://localhost:{server.server_port}"]
            return subprocess.run(command, capture_output=True, text=True, timeout=120)
        finally:
            server.shutdown()
            script.unlink()


def test_a_real_notebook_shows_the_page_in_its_output(logdir, own_infos, tmp_path):
    nbformat, nbclient = pytest.importorskip("nbformat"), pytest.importorskip("nbclient")
    pytest.importorskip("ipykernel")
    cells = [
        "%load_ext seaboard",
        f"%seaboard --logdir {logdir} --port 0",
        f"%tensorboard --logdir {logdir}",
        "import seaboard\nseaboard.notebook.list()",
    ]
    book = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(cell) for cell in cells])
    nbclient.NotebookClient(book, timeout=60, kernel_name="python3").execute()
    (shown,) = [out for out in book.cells[1].outputs if out.output_type == "display_data"]
    html = shown["data"]["text/html"]
    port = int(re.search(r"const port = (\d+)", html).group(1))
    assert f"Reusing Seaboard on port {port}" in book.cells[2].outputs[0]["text"]
    assert f"port {port}" in book.cells[3].outputs[0]["text"]
    assert urllib.request.urlopen(f"http://localhost:{port}/", timeout=10).status == 200

    from shutil import which

    browser = which("chromium-headless-shell") or which("chromium")
    modules = ROOT / "ui/node_modules/playwright-core"
    if not browser or not modules.exists():
        pytest.skip("no browser here")
    (tmp_path / "page.html").write_text(f"<!doctype html><body>{html}</body>")
    done = run_browser(browser, tmp_path)
    assert done.returncode == 0, done.stderr
    assert done.stdout.strip() == f"http://localhost:{port}/"
    assert json.loads(urllib.request.urlopen(f"http://localhost:{port}/data/runs").read()) == ["a", "a/trial"]
