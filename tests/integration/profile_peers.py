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


TRACE = """
    import json, sys
    from xprof.convert import raw_to_tool_data
    file, tool, options = sys.argv[1], sys.argv[2], json.loads(sys.argv[3])
    options = {"trace_viewer_options": options, "use_saved_result": False, "hosts": ["vm"]}
    data, kind = raw_to_tool_data.xspace_to_tool_data([file], tool, options)
    sys.stdout.write(data.decode() if isinstance(data, bytes) else data)
"""

MESSAGE = """
    import pathlib, sys
    from google.protobuf import json_format
    from xprof.protobuf import trace_data_response_pb2
    found = trace_data_response_pb2.TraceDataResponse.FromString(pathlib.Path(sys.argv[1]).read_bytes())
    print(json_format.MessageToJson(found, preserving_proto_field_name=True, always_print_fields_with_no_presence=True))
"""


def xprof_trace(file, tool="trace_viewer@", **options):
    """What XProf's trace viewer is answered, with the options of its route."""
    return json.loads(run("xprof", TRACE, file, tool, json.dumps({key: str(value) for key, value in options.items()})))


def trace_message(file):
    """The message TraceDataResponse in a file, as JSON; decoded by XProf's own classes."""
    return json.loads(run("xprof", MESSAGE, file))


def xprof_modules(file):
    """The compiled modules that XProf finds in an XSpace, in order."""
    code = """
        import pathlib, shutil, sys, tempfile
        from xprof.convert import raw_to_tool_data
        with tempfile.TemporaryDirectory() as folder:
            raw_to_tool_data.xspace_to_tool_names([shutil.copy(sys.argv[1], folder)])
            print(*sorted(p.name.removesuffix(".hlo_proto.pb") for p in pathlib.Path(folder).glob("*.hlo_proto.pb")), sep="\\n")
    """
    return run("xprof", code, file).split("\n")[:-1]


def xprof_csv(data):
    """The CSV that XProf's route data_csv makes of the JSON of a tool."""
    code = "import sys; from xprof.convert import csv_writer; sys.stdout.write(csv_writer.json_to_csv_string(sys.argv[1]))"
    return run("xprof", code, data)
