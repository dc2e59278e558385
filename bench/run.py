"""Runs our benchmarks and the peers' in one go and prints them side by side; what `make bench` calls.

    python bench/run.py                    everything
    python bench/run.py --only crc read    only programs whose names contain one of these
    python bench/run.py --scale 0.1        a tenth of the work, to see that it runs
    python bench/run.py --page docs/design/figures.md   writes the tables into that page too

Machines are noisy, so what counts are the ratios of one run: "812x" beside a peer's number says that ours is 812
times better. All results go to build/bench/results.json, one run's list with what machine it was.
"""

import argparse
import json
import os
import pathlib
import platform
import shutil
import subprocess
import sys
import time

HERE = pathlib.Path(__file__).resolve().parent
OURS = "seaboard"
PROGRAM_SECONDS = 300
# What the project's targets ask for: the least that counts as done, and what we are after. "8x" is a ratio to the peer.
TARGETS = {
    "scalar: call": "must 120 ns, goal 60 ns",
    "scalar: call p99.9": "must 5 µs, goal 2 µs",
    "recorder: slice": "must 50 ns",
    "recorder: span": "must 50 ns",
    "recorder: counter": "must 50 ns",
    "Python: add_scalar": "must 1 µs, goal 0.3 µs",
    "Python: import": "must 30 ms, goal 15 ms",
    "checkpoint, 512 MiB: save without fsync": "must 1.5x, goal 4x",
    "checkpoint, 512 MiB: restore": "must 1x, goal 2x",
    "checkpoint, 20 000 scalars: save": "must 200 ms, goal 50 ms",
    "checkpoint, 20 000 scalars: list names": "must 27 ms, goal 5 ms",
    "graph of 10 000 nodes: opened level laid out": "must 200 ms, goal 50 ms",
    "graph of 10 000 nodes: all nodes in one level": "must 200 ms, goal 50 ms",
    "graph of 100 000 nodes: opened level laid out": "must 1 s, goal 0.3 s",
    "graph of 100 000 nodes: all nodes in one level": "must 1 s, goal 0.3 s",
    "trace of 100 MB, XSpace: file to timeline": "must 2 s, goal 0.7 s",
    "trace of 100 MB, torch JSON: file to timeline": "must 2 s, goal 0.7 s",
    "training, MNIST 784-128-32-10: all processors": "must 1.5x TF1, goal 3x",
    "training, MNIST 784-128-32-10: memory": "must 60 MB, goal 30 MB",
    "load L1: start to all there": "must 8x the Rust server, 500x the Python loader; goal 20x, 2000x",
    "load L1: memory then": "must 264 MB, goal 80 MB",
    "load L3: start to all there": "must 1x, goal 1.5x",
    "load L3: memory then": "must 20 MB",
    "empty logdir: start to first byte of /": "must 20 ms, goal 8 ms",
    "empty logdir: memory": "must 15 MB, goal 8 MB",
    "wrk, 8 connections: /data/environment": "must 40 000/s, goal 100 000/s",
    "wrk, 8 connections: scalars/scalars, 1000 points": "must 10 000/s, goal 30 000/s",
    "one tag of L2: timeSeries, 1000 runs": "must 40 ms, goal 10 ms",
    "one tag of L2: columns of /api/v1, 1000 runs": "goal 2 ms",
    "one tag of L2: columns, size": "goal 1 MB",
    "L2: start to 1000 runs listed": "must 200 ms, goal 50 ms",
    "appended to seen: p95": "must 250 ms, goal 100 ms",
    "beside two slow questions: /data/environment, p99": "must 5 ms",
    "web app: script of the first page": "must 250 KB, goal 120 KB",
    "web app, L2: navigation to first chart, 1000 runs": "must 1 s, goal 0.4 s",
    "web app, L2: hover over 1000 lines, longest frame": "must 50 ms, goal 17 ms",
    "web app, L2: zoom over 1000 lines, longest frame": "must 50 ms, goal 17 ms",
    "web app, L2: heap then": "goal 300 MB",
    "histograms, 100 tags x 1000 steps x 20 runs: open histograms to first card": "must 0.5 s, goal 0.2 s",
    "histograms, 100 tags x 1000 steps x 20 runs: open distributions to first card": "must 0.5 s, goal 0.2 s",
    "images, 20 runs x 1000 steps of 512 x 512: open the tab to first picture": "must 0.5 s, goal 0.2 s",
    "images, 20 runs x 1000 steps of 512 x 512: memory of the server": "must 60 MB",
    "images, 20 runs x 1000 steps of 512 x 512: slider to a picture far away": "must 100 ms",
    "images, 20 runs x 1000 steps of 512 x 512: slider to the picture beside it": "must 100 ms, goal 17 ms",
    "images, 20 runs x 1000 steps of 512 x 512: scrolling, longest frame": "must 50 ms, goal 17 ms",
    "XSpace of 100 MB: file to overview": "must 3x, goal 10x",
    "XSpace of 1 GB: memory at most": "must 10 000 MB",
    "web app, trace of 1 GB: memory of the server": "must 10 000 MB",
    "web app, trace of 100 MB: open to first picture": "must 2 s, goal 0.7 s",
    "web app, trace of 100 MB: zoom and move, longest frame": "must 17 ms",
    "web app, trace of 100 MB: memory of the page's process": "must 300 MB",
    "web app, graph of 10 000 nodes: read, laid out and answered": "must 200 ms, goal 50 ms",
    "web app, graph of 100 000 nodes: read, laid out and answered": "must 1 s, goal 0.3 s",
    "web app, graph of 100 000 nodes: longest task while it opens (50 ms: none longer)": "must 50 ms",
    "web app, graph of 100 000 nodes: longest task while it is moved (50 ms: none longer)": "must 50 ms",
    "web app, graph of 100 000 nodes: longest task while boxes are opened (50 ms: none longer)": "must 50 ms",
    "web app, 10 000 tags: navigation to list": "must 300 ms",
    "web app, 10 000 tags: filter, a keystroke": "must 300 ms, goal 50 ms",
}


def run_one(name, command, folder, scale):
    """Runs a program and returns its results; None when it failed."""
    started = time.monotonic()
    command = [*command, "--folder", str(folder), "--scale", str(scale)]
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=PROGRAM_SECONDS)
    except subprocess.TimeoutExpired:
        print(f"{name}: not done after {PROGRAM_SECONDS} s", file=sys.stderr)
        return None
    if done.returncode != 0:
        print(f"{name}: failed\n{done.stderr[-2000:]}", file=sys.stderr)
        return None
    results = [json.loads(line) for line in done.stdout.splitlines() if line.startswith("{")]
    print(f"{name:<20} {time.monotonic() - started:6.1f} s  {len(results)} results", flush=True)
    return results


def suite_python():
    """The interpreter that has matplotlib and onnx too, beside all peers."""
    said = subprocess.run([str(HERE.parent / "tools/setup"), "python-suite-path"], capture_output=True, text=True, check=True)
    return said.stdout.strip() + "/bin/python"


def processor():
    try:
        for line in pathlib.Path("/proc/cpuinfo").read_text().splitlines():
            if line.startswith("model name"):
                return line.split(":", 1)[1].strip()
    except OSError:
        pass
    return platform.processor() or platform.machine()


def show(value, unit):
    if unit != "ns":
        return f"{value:.2f} {unit}"
    for limit, divisor, name in ((1e3, 1, "ns"), (1e6, 1e3, "µs"), (1e9, 1e6, "ms")):
        if value < limit:
            return f"{value / divisor:.3g} {name}" if value / divisor < 100 else f"{value / divisor:.0f} {name}"
    return f"{value / 1e9:.2f} s"


def times_better(ours, theirs, unit):
    """How many times better ours is: less time or memory, or more a second."""
    ratio = theirs / ours if unit in ("ns", "KB", "MB") else ours / theirs
    return f"{ratio:.3g}x" if ratio < 100 else f"{ratio:.0f}x"


def rows_of(results):
    """(title, unit, {who: value}) in the order in which results came; a distribution gives two rows."""
    rows = {}
    for result in results:
        columns = [("", "value")] + ([(" p99.9", "p999")] if "p999" in result else [])
        for suffix, key in columns:
            title = f"{result['work']}: {result['part']}{suffix}"
            rows.setdefault(title, (result["unit"], {}))[1][result["who"]] = result[key]
    return [(title, unit, values) for title, (unit, values) in rows.items()]


def print_tables(results):
    compared = [row for row in rows_of(results) if len(row[2]) > 1 or OURS not in row[2]]
    alone = [row for row in rows_of(results) if row not in compared]
    if compared:
        print("\nbeside the peers (how many times better ours is; our writer is called from C, the peers' from Python)")
        for title, unit, values in compared:
            ours = values.get(OURS)
            print(f"  {title}" + (f"  ({TARGETS[title]})" if title in TARGETS else ""))
            for who in sorted(values, key=lambda name: name != OURS):
                beside = times_better(ours, values[who], unit) if ours and values[who] and who != OURS else ""
                print(f"      {who:<20} {show(values[who], unit):>12} {beside:>8}")
    if alone:
        print("\nours alone")
        for title, unit, values in alone:
            print(f"  {title:<34} {show(values[OURS], unit):>12}  {TARGETS.get(title, '')}".rstrip())


def markdown(results, machine):
    """The same for a page: one row a measurement."""
    rows = rows_of(results)
    lines = [f"{machine['processor']}, {machine['cores']} cores, {time.strftime('%Y-%m-%d')}.", ""]
    lines += ["| | seaboard | asked for | peers |", "|---|---|---|---|"]
    alone = []
    for title, unit, values in rows:
        if OURS not in values:
            continue
        ours = show(values[OURS], unit)
        peers = [
            f"{who} {show(value, unit)} ({times_better(values[OURS], value, unit)})"
            for who, value in values.items()
            if who != OURS
        ]
        if peers or title in TARGETS:
            lines.append(f"| {title} | **{ours}** | {TARGETS.get(title, '')} | {'<br>'.join(peers)} |")
        else:
            alone.append(f"| {title} | {ours} |")
    return "\n".join([*lines, "", "| ours alone | |", "|---|---|", *alone]) + "\n"


def write_page(page, text):
    """Replaces what stands between the marks."""
    begin, end = "<!-- make bench -->\n", "<!-- end -->"
    before, rest = page.read_text().split(begin)
    page.write_text(before + begin + "\n" + text + "\n" + end + rest.split(end, 1)[1])


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", nargs="*", default=[], help="programs whose names contain one of these")
    parser.add_argument("--scale", type=float, default=1.0, help="how much work to do")
    parser.add_argument("--build", type=pathlib.Path, default=pathlib.Path("build/bench"), help="where it is built")
    parser.add_argument("--page", type=pathlib.Path, help="a Markdown page to write the tables into")
    args = parser.parse_args()

    data, work = args.build / "data", args.build / "work"
    made = run_one("inputs", [sys.executable, str(HERE / "peers/make_log.py")], data, 1)
    programs = [(path.name, [str(path)]) for path in sorted((args.build / "programs").glob("bench_*"))]
    peers = sorted(path for path in (HERE / "peers").glob("*.py") if path.stem not in ("common", "make_log"))
    programs += [(f"peer {path.stem}", [sys.executable, str(path)]) for path in peers]
    # servers are started by these scripts, ours and the peers' in turn
    serving = [path for path in sorted((HERE / "serve").glob("*.py")) if path.stem not in ("logs", "servers")]
    programs += [(f"serve {path.stem}", [sys.executable, str(path)]) for path in serving]
    programs += [(f"ui {path.stem}", [sys.executable, str(path)]) for path in sorted((HERE / "ui").glob("*.py"))]
    programs += [(f"python {path.stem}", [suite_python(), str(path)]) for path in sorted((HERE / "python").glob("*.py"))]
    os.environ["PYTHONPATH"] = str((args.build / "python").resolve())
    os.environ["SEABOARD_BIN"] = str((args.build / "seaboard").resolve())
    os.environ["SEABOARD_LIB"] = str((args.build / "libseaboard.so").resolve())
    programs = [one for one in programs if not args.only or any(part in one[0] for part in args.only)]

    results, failed = [], made is None or not programs
    for name, command in programs:
        # outputs of one program do not stand in the way of the next
        shutil.rmtree(work, ignore_errors=True)
        work.mkdir(parents=True)
        for path in data.iterdir():
            os.link(path, work / path.name)
        found = run_one(name, command, work, args.scale)
        failed = failed or not found
        results += found or []
    shutil.rmtree(work, ignore_errors=True)

    machine = {"processor": processor(), "cores": os.cpu_count(), "system": platform.platform()}
    report = {"time": time.time(), "scale": args.scale, "machine": machine, "results": results}
    (args.build / "results.json").write_text(json.dumps(report, indent=1) + "\n")
    print_tables(results)
    if args.page:
        write_page(args.page, markdown(results, machine))
    print(f"\n{machine['processor']}, {machine['cores']} cores; all numbers in {args.build}/results.json")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
