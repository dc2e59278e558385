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


def targets_of(results):
    """What targets.md asks for, by title: "must 1.00 s, goal 400 ms"."""
    targets = {}
    for result in results:
        asked = [f"{word} {show(result[word], result['unit'])}" for word in ("must", "goal") if word in result]
        if asked:
            targets[f"{result['work']}: {result['part']}"] = ", ".join(asked)
    return targets


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
    targets = targets_of(results)
    if compared:
        print("\nbeside the peers (how many times better ours is; our writer is called from C, the peers' from Python)")
        for title, unit, values in compared:
            ours = values.get(OURS)
            print(f"  {title}" + (f"  ({targets[title]})" if title in targets else ""))
            for who in sorted(values, key=lambda name: name != OURS):
                beside = times_better(ours, values[who], unit) if ours and values[who] and who != OURS else ""
                print(f"      {who:<20} {show(values[who], unit):>12} {beside:>8}")
    if alone:
        print("\nours alone")
        for title, unit, values in alone:
            print(f"  {title:<34} {show(values[OURS], unit):>12}  {targets.get(title, '')}".rstrip())


def markdown(results, machine):
    """The same tables for a page: one row a measurement, one column a peer."""
    compared = [row for row in rows_of(results) if len(row[2]) > 1 and OURS in row[2]]
    peers = list(dict.fromkeys(who for row in compared for who in row[2] if who != OURS))
    lines = [f"{machine['processor']}, {machine['cores']} cores, {time.strftime('%Y-%m-%d')}.", ""]
    targets = targets_of(results)
    lines += [f"| | seaboard | {' | '.join(peers)} |", "|---" * (2 + len(peers)) + "|"]
    for title, unit, values in compared:
        cells = [
            f"{show(values[who], unit)} ({times_better(values[OURS], values[who], unit)})" if who in values else "–"
            for who in peers
        ]
        asked = f" ({targets[title]})" if title in targets else ""
        lines.append(f"| {title}{asked} | **{show(values[OURS], unit)}** | {' | '.join(cells)} |")
    lines += ["", "| ours alone | |", "|---|---|"]
    for title, unit, values in rows_of(results):
        if list(values) == [OURS]:
            asked = f" ({targets[title]})" if title in targets else ""
            lines.append(f"| {title}{asked} | {show(values[OURS], unit)} |")
    return "\n".join(lines) + "\n"


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


sys.exit(main())
