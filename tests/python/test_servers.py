"""Servers from Python: the notebook's functions, program.TensorBoard, Client, and a real notebook in a real browser."""

import functools
import http.client
import http.server
import json
import os
import pathlib
import re
import subprocess
import sys
import threading
import time
import types
import urllib.error
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
    client = seaboard.Client(url).wait()
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


class Shell:
    """As much of IPython as an extension asks for."""

    def __init__(self, *known):
        self.magics_manager = types.SimpleNamespace(magics={"line": dict.fromkeys(known)})

    def register_magic_function(self, function, magic_kind, magic_name):
        self.magics_manager.magics[magic_kind][magic_name] = function


def test_the_extension_leaves_tensorboards_own_magic_alone():
    alone, beside = Shell(), Shell("tensorboard")
    for shell in (alone, beside):
        notebook.load_ipython_extension(shell)
    assert set(alone.magics_manager.magics["line"]) == {"seaboard", "tensorboard"}
    assert beside.magics_manager.magics["line"]["tensorboard"] is None and "seaboard" in beside.magics_manager.magics["line"]


SERVER = _servers.Server(1, 7007, "logs", "/deep", 0, "")


def test_in_colab_the_kernels_port_is_shown(monkeypatch):
    shown = []
    output = types.SimpleNamespace(serve_kernel_port_as_iframe=lambda port, **more: shown.append((port, more)))
    colab = types.ModuleType("google.colab")
    colab.output = output
    monkeypatch.setitem(sys.modules, "google.colab", colab)
    notebook._show(SERVER, None)
    assert shown == [(7007, {"path": "/deep/", "height": 800})]


@pytest.mark.parametrize("variable", ["SEABOARD_PROXY_URL", "TENSORBOARD_PROXY_URL"])
def test_a_proxy_of_its_own_is_named_by_a_variable(monkeypatch, variable):
    monkeypatch.setenv(variable, "https://hub/proxy/%PORT%/")
    page = notebook._page(SERVER, 300)
    assert 'given = "https://hub/proxy/7007/"' in page and 'height="300"' in page


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
  await frame.getByText("loss").first().waitFor({ timeout: 90000 });
} catch (error) {
  console.error(page.frames().map((one) => one.url()), await frame.locator("body").innerText({ timeout: 1000 }));
  throw error;
}
console.log(await page.locator("iframe").getAttribute("src"));
await browser.close();
"""


class Hub(http.server.SimpleHTTPRequestHandler):
    """Serves a folder, and /user/me/proxy/PORT/... from that port, as jupyter-server-proxy does: the prefix is cut off."""

    def log_message(self, *_):
        pass

    def forward(self):
        _, _, _, _, port, *rest = self.path.split("/")
        upstream = http.client.HTTPConnection("localhost", int(port), timeout=30)
        body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        headers = {name: value for name, value in self.headers.items() if name.lower() not in ("host", "connection")}
        upstream.request(self.command, "/" + "/".join(rest), body, {**headers, "Host": f"localhost:{port}"})
        reply = upstream.getresponse()
        self.send_response(reply.status)
        for name, value in reply.getheaders():
            if name.lower() not in ("transfer-encoding", "connection"):
                self.send_header(name, value)
        self.end_headers()
        while self.command != "HEAD" and (data := reply.read1(65536)):
            self.wfile.write(data)
            self.wfile.flush()

    def answer(self, own):
        try:
            self.forward() if self.path.startswith("/user/me/proxy/") else own()
        except OSError:  # the browser has gone, or nobody listens there
            self.close_connection = True

    def do_GET(self):
        self.answer(super().do_GET)

    def do_HEAD(self):
        self.answer(super().do_HEAD)

    def do_POST(self):
        self.answer(lambda: self.send_error(404))


def run_browser(browser, folder):
    """Opens page.html of a folder, served as a notebook's page would be."""
    handler = functools.partial(Hub, directory=str(folder))
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


def find_browser():
    from shutil import which

    browser = which("chromium-headless-shell") or which("chromium")
    if not browser or not (ROOT / "ui/node_modules/playwright-core").exists():
        pytest.skip("no browser here")
    return browser


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
    nbclient.NotebookClient(book, timeout=300, startup_timeout=300, kernel_name="python3").execute()
    (shown,) = [out for out in book.cells[1].outputs if out.output_type == "display_data"]
    html = shown["data"]["text/html"]
    port = int(re.search(r"const port = (\d+)", html).group(1))
    assert f"Reusing Seaboard on port {port}" in book.cells[2].outputs[0]["text"]
    assert f"port {port}" in book.cells[3].outputs[0]["text"]
    assert urllib.request.urlopen(f"http://localhost:{port}/", timeout=60).status == 200

    browser = find_browser()
    (tmp_path / "page.html").write_text(f"<!doctype html><body>{html}</body>")
    done = run_browser(browser, tmp_path)
    assert done.returncode == 0, done.stderr
    assert done.stdout.strip() == f"http://localhost:{port}/"
    # the same output on a page of JupyterHub's: the frame goes through the proxy
    (tmp_path / "page.html").write_text(f'<!doctype html><body data-base-url="/user/me/">{html}</body>')
    done = run_browser(browser, tmp_path)
    assert done.returncode == 0, done.stderr
    assert done.stdout.strip().endswith(f"/user/me/proxy/{port}/")
    assert seaboard.Client(f"http://localhost:{port}").wait().runs() == ["a", "a/trial"]


def first_answer(url, process):
    """What a server says that has told its address, and listens there in a moment."""
    end = time.monotonic() + 60
    while True:
        try:
            return urllib.request.urlopen(url, timeout=60).read().decode()
        except urllib.error.URLError as error:
            refused = isinstance(error.reason, ConnectionRefusedError)
            assert refused and process.poll() is None and time.monotonic() < end, error
            time.sleep(0.05)


def test_the_page_and_its_data_come_through_jupyter_server_proxy(logdir, own_infos, tmp_path):
    pytest.importorskip("jupyter_server_proxy")
    server, _ = _servers.launch(["--logdir", str(logdir), "--port", "0"])
    seaboard.Client(server.url).wait()
    command = [sys.executable, "-m", "jupyter_server", "--no-browser", "--port=0", "--ServerApp.port_retries=0", "--allow-root"]
    command += ["--ServerApp.base_url=/hub/me/", "--IdentityProvider.token=", f"--ServerApp.root_dir={tmp_path}"]
    environment = {**os.environ, "JUPYTER_RUNTIME_DIR": str(tmp_path / "runtime"), "JUPYTER_CONFIG_DIR": str(tmp_path / "config")}
    command += ["--ServerApp.jpserver_extensions={'jupyter_server_proxy': True}"]
    hub = subprocess.Popen(command, stderr=subprocess.PIPE, text=True, env=environment)
    try:
        address = next(found.group(0) for line in hub.stderr if (found := re.search(r"http://(localhost|127\.0\.0\.1):\d+/hub/me/", line)))
        threading.Thread(target=hub.stderr.read, daemon=True).start()
        through = f"{address}proxy/{server.port}/"
        page = first_answer(through, hub)
        assert "<title>" in page and not re.search(r'(src|href)="/', page)  # all addresses are relative
        script = re.search(r'src="\./([^"]+\.js)"', page).group(1)
        assert urllib.request.urlopen(through + script, timeout=60).status == 200
        assert json.load(urllib.request.urlopen(through + "data/runs", timeout=60)) == ["a", "a/trial"]
    finally:
        hub.terminate()
        hub.wait()
