"""XProf's own page, unmodified, over our data: its trace viewer shows the lines of a capture, and tells all of an event that is
clicked. The page is the PyPI package's (proxy.py serves it), Chromium draws it (xprof.mjs drives it)."""

import gzip
import json
import pathlib
import shutil
import subprocess
import sys

import pytest
from proxy import Proxy

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "integration"))
import profile_peers  # noqa: E402
from serve_driver import Seaboard  # noqa: E402

SPACE = HERE.parent / "fixtures/profile/jax/cuda_0.vm.xplane.pb.gz"
RUN = "jax/2026_11_15_10_00_00"
FIND = "import pathlib, xprof; print(pathlib.Path(xprof.__file__).parent / 'static')"


@pytest.fixture(scope="module")
def seen(tmp_path_factory):
    static = pathlib.Path(profile_peers.run("xprof", FIND).strip())
    root = tmp_path_factory.mktemp("logs")
    run, session = RUN.split("/")
    folder = root / run / "plugins/profile" / session
    folder.mkdir(parents=True)
    (folder / "vm.xplane.pb").write_bytes(gzip.decompress(SPACE.read_bytes()))
    with Seaboard(root) as server:
        server.loaded()
        server.wait(lambda: server.json("/data/plugin/profile/runs"))
        with Proxy(f"127.0.0.1:{server.port}", profile=static) as proxy:
            command = [shutil.which("node"), str(HERE / "xprof.mjs"), f"http://127.0.0.1:{proxy.port}", "gemm_fusion_dot_4"]
            done = subprocess.run(command, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def test_the_page_lists_the_tools_that_have_an_answer(seen):
    assert seen["problems"] == []
    assert [tool.strip() for tool in seen["tools"]] == ["Overview Page", "Trace Viewer", "Framework Op Stats", "Kernel Stats", "Memory Profile"]


def test_the_trace_viewer_has_the_lines_of_host_and_device(seen):
    rows = seen["rows"]
    device, host = (next(i for i, row in enumerate(rows) if row.startswith(name)) for name in ("vm /device:GPU:0", "vm /host:CPU"))
    assert device < rows.index("Stream #14(MemcpyD2D,Compute)") < host < rows.index("python3")


def test_a_clicked_event_is_told_with_its_arguments(seen):
    assert "my_annotation" in seen["details"] and "Wall Duration" in seen["details"]
    details = [ask for ask in seen["asked"] if "event_name" in ask]
    assert [ask["event_name"] for ask in details[:1]] == ["my_annotation"] and details[0]["hosts"] == "vm"


def test_a_search_of_the_page_finds_events_and_their_arguments(seen):
    assert any(ask.get("search_prefix") == "gemm_fusion_dot_4" for ask in seen["asked"])
    assert seen["hits"].endswith(" of 10")
    assert "gemm_fusion_dot_4" in seen["found"] and "regs:86" in seen["found"] and "jit_train_step" in seen["found"]
