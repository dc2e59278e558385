"""Runs the seaboard command as a server over a log directory, and asks it things.

SEABOARD_BIN says which command (a release build in `make test`). A server gets a state and cache folder of its
own, must end with exit code 0 when it is told to, and must not have said a sanitizer's word by then.
"""

import json
import os
import re
import signal
import subprocess
import tempfile
import threading
import time

from command import BINARY
from http_driver import PATIENCE, Client, raise_file_limit

URL = re.compile(rb"at (https?)://([^/\s]+):(\d+)(/\S*)")


class Seaboard:
    def __init__(self, logdir, *options):
        self.command = [BINARY, "--logdir", str(logdir), "--port", "0", *map(str, options)]
        self.environment = {}  # more variables
        self.before = None  # called in the process before the command begins

    def __enter__(self):
        raise_file_limit()
        self.home = tempfile.TemporaryDirectory(prefix="seaboard-test-")
        own = {
            name: os.path.join(self.home.name, name.lower())
            for name in ("XDG_STATE_HOME", "XDG_CACHE_HOME", "TMPDIR")
        }
        for folder in own.values():
            os.mkdir(folder)
        environment = {k: v for k, v in os.environ.items() if not k.startswith(("SSH_", "SEABOARD_TOKEN"))}
        self.process = subprocess.Popen(
            self.command,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            env={**environment, **own, **self.environment},
            preexec_fn=self.before,
        )
        self.said = b""
        while not (found := URL.search(self.said)):
            line = self.process.stderr.readline()
            assert line, (self.process.wait(), self.said)
            self.said += line
        self.port = int(found[3])
        # what comes later must not fill the pipe
        self.listener = threading.Thread(target=self._listen)
        self.listener.start()
        return self

    def _listen(self):
        for line in self.process.stderr:
            self.said += line

    def __exit__(self, kind, *rest):
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGINT)
        try:
            code = self.process.wait(PATIENCE)
        except subprocess.TimeoutExpired:
            self.process.kill()
            code = self.process.wait()
        self.listener.join()
        self.process.stdout.close()
        self.process.stderr.close()
        self.home.cleanup()
        if kind is None:
            assert code == 0, (code, self.said)
            assert b"anitizer" not in self.said, self.said.decode()
        else:
            print(self.said.decode(errors="replace"))

    def connect(self):
        return Client(self.port)

    def get(self, target, *headers, method="GET", body=b""):
        """One request on a connection of its own."""
        with self.connect() as client:
            return client.ask(target, *headers, method=method, body=body)

    def json(self, target, *headers):
        return self.get(target, *headers).json()

    def status(self):
        return self.json("/api/v1/status")

    def wait(self, what, until=lambda found: found):
        """Asks what() until its answer is right; the answer."""
        end = time.monotonic() + PATIENCE
        while not until(found := what()):
            assert time.monotonic() < end, found
            time.sleep(0.01)
        return found

    def loaded(self):
        """Returns when the first reading is over."""
        return self.wait(self.status, lambda status: not status["loading"]["isLoading"])

    def memory(self, field="VmRSS"):
        """Kilobytes."""
        with open(f"/proc/{self.process.pid}/status") as lines:
            return next(int(line.split()[1]) for line in lines if line.startswith(field + ":"))


class Events:
    """A client of the live stream."""

    def __init__(self, client, target="/api/v1/events", *headers):
        self.client, self.text = client, b""
        client.request(target, *headers)
        self.status, self.headers = client.head()

    def close(self):
        self.client.close()

    def __enter__(self):
        return self

    def __exit__(self, *rest):
        self.close()

    def version(self):
        return self.event()["version"]

    def event(self):
        """The next event; heartbeats are skipped, but not for ever."""
        end = time.monotonic() + PATIENCE
        while time.monotonic() < end:
            while b"\n\n" not in self.text:
                size = int(self.client.until(b"\r\n"), 16)
                assert size, "the stream ended"
                self.text += self.client.exactly(size)
                assert self.client.exactly(2) == b"\r\n"
            block, _, self.text = self.text.partition(b"\n\n")
            if not block.startswith(b":"):
                fields = dict(line.split(b": ", 1) for line in block.split(b"\n"))
                return json.loads(fields[b"data"])
        raise AssertionError(f"no news for {PATIENCE} s")
