"""Starts the servers that are compared, over a log directory, and asks them things over one connection.

Ours is SEABOARD_BIN; TensorBoard is this Python's. TensorBoard runs without TensorFlow, which makes it start seconds
earlier: that is the peer that the targets were set by. All run on loopback and end by their process number.
"""

import contextlib
import http.client
import json
import os
import pathlib
import re
import signal
import subprocess
import sys
import tempfile
import threading
import time

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "peers"))

OURS, PEER, RUST, PYTHON = "seaboard", "TensorBoard", "Rust data server", "TensorBoard, Python loader"
URL = re.compile(rb"at https?://[^/\s]+:(\d+)/")
PATIENCE = 120

# what `tensorboard` does, after making it believe that there is no TensorFlow
WITHOUT_TENSORFLOW = (
    "import sys, types; sys.modules['tensorboard.compat.notf'] = types.ModuleType('notf');"
    "from tensorboard import main; main.run_main()"
)


class Server:
    """A server process; began is the moment before it was started."""

    def __init__(self, who, logdir, *options):
        if who == OURS:
            command = [os.environ["SEABOARD_BIN"], "--logdir", str(logdir), "--port", "0", *options]
        else:
            loader = ["--load_fast", "true" if who == PEER else "false"]
            command = [sys.executable, "-c", WITHOUT_TENSORFLOW, "--logdir", str(logdir), "--port", "0"]
            command += [*loader, *options]
        self.home = tempfile.TemporaryDirectory(prefix="seaboard-bench-")
        own = {"TMPDIR": self.home.name, "XDG_STATE_HOME": self.home.name, "XDG_CACHE_HOME": self.home.name}
        self.began = time.perf_counter_ns()
        self.process = subprocess.Popen(
            command,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            env={**os.environ, **own},
        )
        said = b""
        while not (found := URL.search(said)):
            line = self.process.stderr.readline()
            if not line:
                raise RuntimeError(said.decode(errors="replace"))
            said += line
        self.port = int(found[1])
        threading.Thread(target=self.process.stderr.read, daemon=True).start()
        self.connection = http.client.HTTPConnection("localhost", self.port, timeout=PATIENCE)

    def __enter__(self):
        return self

    def __exit__(self, *rest):
        self.connection.close()
        self.process.send_signal(signal.SIGTERM)
        self.process.wait(PATIENCE)
        self.home.cleanup()

    def ask(self, target, body=None, **headers):
        """The body of an answer that is not an error."""
        self.connection.request("POST" if body is not None else "GET", target, body, headers)
        reply = self.connection.getresponse()
        data = reply.read()
        if reply.status != 200:
            raise RuntimeError(f"{target}: {reply.status} {data[:200]}")
        return data

    def ns(self):
        return time.perf_counter_ns() - self.began

    def memory(self):
        """MB of this process and those that it started."""
        return sum(resident(pid) for pid in [self.process.pid, *children(self.process.pid)])


def loaded(server, runs):
    """Waits until so many runs of L2's shape are listed, and the last of them is whole."""
    while len(json.loads(server.ask("/data/runs"))) < runs:
        time.sleep(0.01)
    while True:
        try:
            last = json.loads(server.ask(f"/data/plugin/scalars/scalars?run=run{runs - 1:04}&tag=layer_0%2Floss"))
            if len(last) >= 100:
                return
        except RuntimeError:
            time.sleep(0.01)


def resident(pid):
    with contextlib.suppress(OSError, StopIteration):
        with open(f"/proc/{pid}/status") as lines:
            return next(int(line.split()[1]) for line in lines if line.startswith("VmRSS:")) / 1000
    return 0.0


def children(pid):
    found = []
    for folder in pathlib.Path(f"/proc/{pid}/task").iterdir():
        with contextlib.suppress(OSError):
            found += [int(word) for word in (folder / "children").read_text().split()]
    return found


@contextlib.contextmanager
def rust_server(logdir, *options):
    """TensorBoard's data server alone: (process, seconds of its first load cycle by its own clock)."""
    import tensorboard_data_server

    command = [tensorboard_data_server.server_binary(), "--logdir", str(logdir), "--port", "0"]
    command += ["--reload", "once", "-v"]
    process = subprocess.Popen(
        [*command, *options], stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True
    )
    try:
        begin = end = 0
        for line in process.stderr:
            if "Starting load cycle" in line:
                begin = time.perf_counter_ns()
            elif "Finished load cycle" in line:
                end = time.perf_counter_ns()
                break
        yield process, end - begin
    finally:
        process.kill()
        process.wait()
        process.stderr.close()


def requests_a_second(url, seconds, connections=8):
    """What wrk counts."""
    command = ["wrk", "-t", "2", "-c", str(connections), "-d", f"{seconds}s", url]
    done = subprocess.run(command, capture_output=True, text=True, check=True, timeout=seconds + PATIENCE)
    if "Non-2xx" in done.stdout:
        raise RuntimeError(done.stdout)
    return float(re.search(r"Requests/sec:\s*([\d.]+)", done.stdout)[1])
