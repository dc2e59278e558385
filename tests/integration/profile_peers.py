"""The programs that profiles are compared with: frameworks that make captures, and XProf's own converters.

They run in processes of their own, with the Python that has most of them: the one of the Python package's suite, which has JAX
and XProf (tests/python/requirements.txt), else the one that runs the tests. What is not installed is skipped, and counted."""

import functools
import json
import pathlib
import subprocess
import sys
import textwrap

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
NO_PROFILER = 77

CONVERT = """
    import json, sys
    from xprof.convert import raw_to_tool_data
    options = {"trace_viewer_options": {"resolution": 0}, "use_saved_result": False}
    found = {}
    for tool in sys.argv[2:]:
        data, _ = raw_to_tool_data.xspace_to_tool_data([sys.argv[1]], tool, options)
        found[tool] = json.loads(data)
    json.dump(found, sys.stdout)
"""


@functools.cache
def python():
    path = subprocess.run([ROOT / "tools/setup", "python-suite-path"], capture_output=True, text=True).stdout.strip()
    return path + "/bin/python" if (pathlib.Path(path) / "complete").exists() else sys.executable


@functools.cache
def has(package):
    code = f"import importlib.util, sys; sys.exit(importlib.util.find_spec({package!r}) is None)"
    return subprocess.run([python(), "-c", code]).returncode == 0


def run(package, code, *arguments):
    """Runs a program that needs a package; what it printed."""
    if not has(package):
        pytest.skip(f"{package} is not installed")
    command = [python(), "-c", textwrap.dedent(code), *map(str, arguments)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300)
    if done.returncode == NO_PROFILER:
        pytest.skip(f"{package} is built without its profiler")
    assert done.returncode == 0, done.stderr[-2000:]
    return done.stdout


def xprof(file, *tools):
    """What XProf's converters say of an XSpace: tool -> its JSON."""
    return json.loads(run("xprof", CONVERT, file, *tools))


def xprof_csv(data):
    """The CSV that XProf's route data_csv makes of the JSON of a tool."""
    code = "import sys; from xprof.convert import csv_writer; sys.stdout.write(csv_writer.json_to_csv_string(sys.argv[1]))"
    return run("xprof", code, data)
