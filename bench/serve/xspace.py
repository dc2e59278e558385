"""XSpaces of 10 MB, 100 MB and 1 GB from file to overview: `seaboard profile`, a process from start to end, beside XProf's own
converter, called in a process that has loaded it. XProf needs 20 to 30 times the file in memory, so the largest is ours alone."""

import json
import os
import pathlib
import subprocess
import sys
import time

import logs
from servers import OURS, PATIENCE

import common  # isort: skip

ROOT = pathlib.Path(__file__).resolve().parents[2]
XPROF = "xprof"
SIZES = ((10, "10 MB"), (100, "100 MB"), (1000, "1 GB"))
MOST_OF_PEER = 100  # MB

# the second time is taken: the first one starts threads
CONVERT = """
import json, resource, sys, time
from xprof.convert import raw_to_tool_data
for _ in range(2):
    began = time.perf_counter_ns()
    raw_to_tool_data.xspace_to_tool_data([sys.argv[1]], "overview_page", {"use_saved_result": False})
    ns = time.perf_counter_ns() - began
print(json.dumps({"ns": ns, "kB": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss}))
"""


def ours(file):
    """(nanoseconds, MB at most) of the command."""
    began = time.perf_counter_ns()
    process = subprocess.Popen([os.environ["SEABOARD_BIN"], "profile", str(file)], stdout=subprocess.DEVNULL)
    _, status, used = os.wait4(process.pid, 0)
    if status != 0:
        raise RuntimeError(f"seaboard profile {file}: {status}")
    return time.perf_counter_ns() - began, used.ru_maxrss / 1000


def peer(file):
    """The same of XProf; None where it is not installed."""
    path = subprocess.run([ROOT / "tools/setup", "python-suite-path"], capture_output=True, text=True).stdout.strip()
    command = [f"{path}/bin/python", "-c", CONVERT, str(file)]
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=2 * PATIENCE)
    except (OSError, subprocess.TimeoutExpired) as problem:
        print(f"{XPROF}: {problem}", file=sys.stderr)
        return None
    if done.returncode != 0:
        print(f"{XPROF}: {done.stderr[-300:]}", file=sys.stderr)
        return None
    found = json.loads(done.stdout.splitlines()[-1])
    return found["ns"], found["kB"] / 1000


def main():
    args = common.arguments()
    for megabytes, name in SIZES:
        work = f"XSpace of {name}"
        (file,) = logs.logdir(f"X{megabytes * args.scale:g}").rglob("*.xplane.pb")
        file.read_bytes() if megabytes <= MOST_OF_PEER else None  # into the page cache
        best = min(ours(file) for _ in range(common.scaled(3, args)))
        beside = [(OURS, best), (XPROF, peer(file) if megabytes <= MOST_OF_PEER else None)]
        for who, found in beside:
            if found:
                common.report(who, work, "file to overview", "ns", found[0])
                common.report(who, work, "memory at most", "MB", found[1])


main()
