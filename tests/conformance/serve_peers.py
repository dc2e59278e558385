"""Real TensorBoard, with both of its loaders, and seaboard, as servers over one directory.

Each is started with free choice of port and everything kept (--samples_per_plugin), is asked over plain HTTP,
and is ended by the process that was started here.
"""

import http.client
import json
import os
import re
import signal
import subprocess
import sys
import tempfile
import threading
import time
import urllib.parse

PATIENCE = 120  # seconds, for a busy machine
URL = re.compile(rb"at http://[^/\s]+:(\d+)(/\S*)")
ALL = ",".join(
    f"{plugin}=1000000" for plugin in ("scalars", "images", "audio", "histograms", "text", "pr_curves", "mesh")
)
# of which the fast loader takes more names
ALL_FAST = ALL + ",hparams=1000000,custom_scalars=1000000,graphs=1000000"


class Answer:
    def __init__(self, status, headers, body):
        self.status, self.headers, self.body = status, headers, body

    def type(self):
        return self.headers.get("Content-Type")

    def json(self):
        assert self.status == 200, (self.status, self.body[:300])
        return json.loads(self.body)


class Peer:
    """A server that is running; prefix: what stands before every path."""

    def __init__(self, name, command, environment, prefix=""):
        self.name, self.prefix = name, prefix
        self.said = b""
        self.process = subprocess.Popen(
            command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=environment
        )
        self.threads = [
            threading.Thread(target=self._listen, args=(stream,), daemon=True)
            for stream in (self.process.stdout, self.process.stderr)
        ]
        for thread in self.threads:
            thread.start()
        self.port = None
        self.connection = None

    def _listen(self, stream):
        for line in stream:
            self.said += line

    def wait(self):
        deadline = time.monotonic() + PATIENCE
        while self.port is None:
            found = URL.search(self.said)
            if found:
                self.port = int(found[1])
                break
            assert self.process.poll() is None, (self.name, self.process.returncode, self.said.decode()[-2000:])
            assert time.monotonic() < deadline, (self.name, self.said.decode()[-2000:])
            time.sleep(0.05)
        return self

    def ask(self, path, query=None, method="GET", body=None, headers=None):
        """One request. query: a list of pairs, or a dict."""
        target = self.prefix + path
        if query:
            target += "?" + urllib.parse.urlencode(query)
        for attempt in range(2):
            if self.connection is None:
                self.connection = http.client.HTTPConnection("localhost", self.port, timeout=PATIENCE)
            try:
                self.connection.request(method, target, body=body, headers=headers or {})
                reply = self.connection.getresponse()
                data = reply.read()
            except (http.client.RemoteDisconnected, ConnectionError):
                self.connection.close()
                self.connection = None
                if attempt:
                    raise
                continue
            if reply.will_close:
                self.connection.close()
                self.connection = None
            return Answer(reply.status, reply.headers, data)

    def json(self, path, query=None, **more):
        return self.ask(path, query, **more).json()

    def close(self):
        if self.connection:
            self.connection.close()
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGTERM)
        try:
            code = self.process.wait(PATIENCE)
        except subprocess.TimeoutExpired:
            self.process.kill()
            code = self.process.wait()
        for thread in self.threads:
            thread.join(PATIENCE)
        self.process.stdout.close()
        self.process.stderr.close()
        return code


def _environment(folder):
    """Nothing of the user's, nothing left behind."""
    own = {name: os.path.join(folder, name.lower()) for name in ("XDG_STATE_HOME", "XDG_CACHE_HOME", "TMPDIR")}
    for path in own.values():
        os.makedirs(path, exist_ok=True)
    kept = {name: text for name, text in os.environ.items() if not name.startswith(("SSH_", "SEABOARD_TOKEN"))}
    return {**kept, **own, "TF_CPP_MIN_LOG_LEVEL": "3", "CUDA_VISIBLE_DEVICES": ""}


class Trio:
    """seaboard beside TensorBoard's slow (python) and fast (rust) loader, over the same data."""

    def __init__(self, options, fast=True, prefix=""):
        self.folder = tempfile.TemporaryDirectory(prefix="seaboard-peers-")
        environment = _environment(self.folder.name)
        once = ["--port=0", "--reload_interval=0", *options]
        real = [sys.executable, "-m", "tensorboard.main", *once]
        self.peers = {
            "seaboard": Peer("seaboard", [os.environ["SEABOARD_BIN"], *once, "--reload_task=blocking"], environment, prefix),
            "python": Peer(
                "python",
                [*real, "--load_fast=false", "--reload_task=blocking", f"--samples_per_plugin={ALL}"],
                environment,
                prefix,
            ),
        }
        if fast:
            self.peers["rust"] = Peer(
                "rust", [*real, "--load_fast=true", f"--samples_per_plugin={ALL_FAST}"], environment, prefix
            )
        try:
            for peer in self.peers.values():
                peer.wait()
            if fast:
                self._until_loaded()
        except BaseException:
            for peer in self.peers.values():
                peer.close()
            raise

    def _until_loaded(self):
        """The fast loader reads in the background, once: it is done when nothing new came for a while, and every run
        that it can show is there (it shows none without an event)."""
        peer, slow = self.peers["rust"], self.peers["python"]
        wanted = set(slow.json("/data/runs"))
        before, quiet = None, 0
        deadline = time.monotonic() + PATIENCE
        while quiet < 3:
            assert time.monotonic() < deadline, "the fast loader did not come to an end"
            tags = peer.json("/data/plugin/timeseries/tags")
            now = (peer.json("/data/runs"), tags)
            quiet = quiet + 1 if now == before and (now[0] or not wanted) else 0
            before = now
            time.sleep(0.3)

    def close(self):
        codes = {name: peer.close() for name, peer in self.peers.items()}
        said = self.peers["seaboard"].said
        self.folder.cleanup()
        assert codes["seaboard"] == 0, (codes, said.decode()[-2000:])
        assert b"anitizer" not in said, said.decode()[-4000:]
