"""The server for a long time: logs that grow, start anew and are deleted, pages that look at them, servers that come and
go beside it. What `make soak` runs; SOAK_SECONDS says how long (30 minutes).

After the first minute (a fifth of the time when that is shorter) and at the end the writers pause, every answer is
compared with what was written, and memory and descriptors are noted. It passes when every answer was right and the
end is where the first minute was. The amount of data is bounded, so whatever grows is a leak.

Last, a server over very many runs to which nothing happens must take less than a hundredth of a core.
"""

import os
import pathlib
import random
import shutil
import struct
import sys
import tempfile
import threading
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "integration"))

from command import frame, scalar, varint  # noqa: E402
from serve_driver import Events, Seaboard  # noqa: E402

SECONDS = float(os.environ.get("SOAK_SECONDS", 1800))
FIRST = min(60.0, SECONDS / 5)
RUNS, MOST_POINTS, AT_A_TIME, PAUSE = 8, 4000, 25, 0.05
VERSION = b"\x1a\x0dbrain.Event:2"  # what a file's first event holds
START = b"\x3a\x02\x08\x01"  # SessionLog START
MORE_MEMORY, MORE_FILES = 24_000, 8  # kilobytes, descriptors
IDLE_RUNS, IDLE_SECONDS, IDLE_SHARE = 20_000, 300, 0.01  # long enough for more than one search


class Run:
    """A run that grows; when it is long enough it is deleted and begins again."""

    def __init__(self, root, number):
        self.name, self.folder = f"run{number}", root / f"run{number}"
        self.chance = random.Random(number)
        self.lives, self.wall = 0, 1.7e9
        self.begin()

    def begin(self):
        shutil.rmtree(self.folder, ignore_errors=True)
        self.folder.mkdir(parents=True)
        self.steps, self.files, self.lives = [], 0, self.lives + 1
        self.open()

    def open(self):
        self.files += 1
        self.path = self.folder / f"events.out.tfevents.{1700000000 + self.files}.soak.{self.lives}"
        self.append(self.event(VERSION))

    def restart(self):
        """The program starts again from an earlier step: later ones are superseded."""
        back = self.steps[self.chance.randrange(len(self.steps))]
        self.steps = [step for step in self.steps if step < back]
        self.open()
        self.append(self.event(START + b"\x10" + varint(back)))

    def now(self):
        self.wall += 0.001
        return self.wall

    def event(self, content):
        return frame(b"\x09" + struct.pack("<d", self.now()) + content)

    def append(self, data):
        with open(self.path, "ab") as file:
            file.write(data)

    def grow(self):
        if len(self.steps) >= MOST_POINTS:
            self.begin()
        elif self.steps and self.files < 4 and self.chance.random() < 0.004:
            self.restart()
        first = self.steps[-1] + 1 if self.steps else 0  # behind a restart: where it went back to
        new = range(first, first + AT_A_TIME)
        self.append(b"".join(frame(scalar(b"loss", step, step / 2, self.now())) for step in new))
        self.steps += new


class Page(threading.Thread):
    """Somebody who looks: listings, points, exports, and a live stream that is left again and again."""

    def __init__(self, server, over, trouble):
        super().__init__()
        self.server, self.over, self.trouble, self.asked = server, over, trouble, 0

    def look(self):
        for path in ("/api/v1/status", "/data/runs", "/api/v1/runs", "/api/v1/tags", "/data/plugin/scalars/tags", "/"):
            answer = self.server.get(path)
            if answer.status != 200:
                self.trouble.append((path, answer.status, answer.body[:200]))
        name = f"run{random.randrange(RUNS)}"
        for path in (f"/data/plugin/scalars/scalars?run={name}&tag=loss", f"/api/v1/export?run={name}"):
            answer = self.server.get(path)
            if answer.status not in (200, 404):
                self.trouble.append((path, answer.status, answer.body[:200]))
        with Events(self.server.connect()) as events:
            events.event()
        self.asked += 9

    def run(self):
        while not self.over.is_set():
            try:
                self.look()
            except Exception as error:  # noqa: BLE001: whatever it is, it is told at the end
                self.trouble.append(repr(error))
                return
            self.over.wait(0.05)


def descriptors(server):
    return len(os.listdir(f"/proc/{server.process.pid}/fd"))


def steps_of(server, run):
    answer = server.get(f"/data/plugin/scalars/scalars?run={run.name}&tag=loss")
    return [] if answer.status == 404 else [step for _, step, _ in answer.json()]


def difference(found, written):
    """Where two lists part; empty when they do not."""
    at = next((i for i, (a, b) in enumerate(zip(found, written)) if a != b), min(len(found), len(written)))
    return "" if found == written else f"{len(found)} points, {len(written)} written, equal up to {at}"


def check(server, runs):
    """Every answer is what was written; then memory in kilobytes, and descriptors."""
    for run in runs:
        server.wait(lambda run=run: difference(steps_of(server, run), run.steps), lambda text: text == "")
    end = time.monotonic() + 5  # pages have left, freed memory was given back
    memory, files = server.memory(), descriptors(server)
    while time.monotonic() < end:
        memory, files = min(memory, server.memory()), min(files, descriptors(server))
        time.sleep(0.1)
    return memory, files


def work(server, root, runs, seconds, trouble):
    over = threading.Event()
    pages = [Page(server, over, trouble) for _ in range(3)]
    for page in pages:
        page.start()
    end, other = time.monotonic() + seconds, time.monotonic()
    while time.monotonic() < end and not trouble:
        for run in runs:
            run.grow()
        if time.monotonic() >= other:
            with Seaboard(root) as beside:
                beside.loaded()
            other = time.monotonic() + 10
        time.sleep(PAUSE)
    over.set()
    for page in pages:
        page.join()
    return sum(page.asked for page in pages)


def processor_seconds(server):
    """What all threads of the process have used so far."""
    with open(f"/proc/{server.process.pid}/stat") as file:
        fields = file.read().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def idle(root):
    """The share of a core that a server takes to whose runs nothing happens."""
    data = frame(b"\x09" + struct.pack("<d", 1.7e9) + VERSION) + frame(scalar(b"loss", 1, 0.5))
    for number in range(IDLE_RUNS):
        folder = root / f"{number // 100}/{number}"
        folder.mkdir(parents=True)
        (folder / "events.out.tfevents.1700000000.soak").write_bytes(data)
    with Seaboard(root) as server:
        server.loaded()
        time.sleep(20)  # files that grew in the last ten seconds are polled; then one more search
        before, begin = processor_seconds(server), time.monotonic()
        time.sleep(IDLE_SECONDS)
        return (processor_seconds(server) - before) / (time.monotonic() - begin)


def main():
    trouble = []
    with tempfile.TemporaryDirectory(prefix="seaboard-soak-") as folder:
        root = pathlib.Path(folder) / "logs"
        runs = [Run(root, number) for number in range(RUNS)]
        with Seaboard(root, "--reload_interval", 1) as server:
            asked = work(server, root, runs, FIRST, trouble)
            first = check(server, runs)
            print(f"after {FIRST:.0f} s: {first[0]} kB, {first[1]} descriptors, {asked} answers", flush=True)
            asked += work(server, root, runs, SECONDS - FIRST, trouble)
            last = check(server, runs)
            lives = sum(run.lives for run in runs)
            print(f"after {SECONDS:.0f} s: {last[0]} kB, {last[1]} descriptors, {asked} answers, {lives} runs begun")
            if last[0] > first[0] + MORE_MEMORY:
                trouble.append(f"memory grew from {first[0]} to {last[0]} kB")
            if last[1] > first[1] + MORE_FILES:
                trouble.append(f"descriptors grew from {first[1]} to {last[1]}")
        share = idle(pathlib.Path(folder) / "idle")
        print(f"{IDLE_RUNS} runs to which nothing happens: {share:.2%} of a core")
        if share >= IDLE_SHARE:
            trouble.append(f"an idle server takes {share:.2%} of a core")
    for line in trouble:
        print("trouble:", line)
    print("1 passed, 0 failed" if not trouble else "0 passed, 1 failed")
    return 1 if trouble else 0


if __name__ == "__main__":
    sys.exit(main())
