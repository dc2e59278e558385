"""Runs tests/programs/http_echo and talks to it over plain sockets.

The program is looked for in the folders that SEABOARD_PROGRAMS names (separated by ':'), else in the
dev and tsan builds; every test runs once with each that is there, so the same requests go through
ASan, UBSan and TSan. A server must end with exit code 0 and say nothing on standard error: a
sanitizer's find fails the test that caused it.
"""

import json
import os
import pathlib
import resource
import socket
import subprocess
import time

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
PATIENCE = 300  # seconds; for machines that are busy, never for what is tested


def programs(name="http_echo"):
    named = os.environ.get("SEABOARD_PROGRAMS")
    folders = named.split(":") if named else [ROOT / "build/dev/tests/programs", ROOT / "build/tsan/tests/programs"]
    found = [pathlib.Path(folder) / name for folder in folders]
    return [path for path in found if path.exists()]


def kinds():
    """For pytest.mark.parametrize; one broken entry when nothing was built, so that a test says so."""
    return programs() or [None]


def name_of(program):
    if program is None:
        return "not-built"
    return next((part for part in reversed(program.parts) if "dev" in part or "tsan" in part), program.parts[-3])


class Server:
    def __init__(self, program, *options):
        assert program, "build it first: cmake --preset dev && cmake --build build/dev --target http_echo"
        self.program, self.options = program, options

    def __enter__(self):
        raise_file_limit()
        # TSan of older compilers dies of a large random offset of addresses
        command = ["setarch", "-R"] if can_fix_addresses() else []
        sanitizers = {
            "TSAN_OPTIONS": "halt_on_error=1:second_deadlock_stack=1",
            "UBSAN_OPTIONS": "print_stacktrace=1",
            "ASAN_OPTIONS": "detect_stack_use_after_return=1",
        }
        self.process = subprocess.Popen(
            [*command, str(self.program), *self.options],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            env={**os.environ, **sanitizers},
        )
        line = self.process.stdout.readline()
        if not line.startswith("port "):
            _, errors = self.process.communicate(timeout=PATIENCE)
            raise AssertionError(f"no server: {line}{errors}")
        self.port = int(line.split()[1].rstrip(","))
        self.start_microseconds = int(line.split()[4])
        return self

    def __exit__(self, kind, *rest):
        out, errors = self.process.communicate(timeout=PATIENCE)  # closes its standard input
        self.output = out + errors
        if kind is None:
            end = (self.process.returncode, out, errors)
            assert end == (0, "closed\n", ""), end
        elif errors:
            print(errors)

    def connect(self):
        return Client(self.port)

    def get(self, target, *headers, method="GET", body=b""):
        """One request on a connection of its own."""
        with self.connect() as client:
            return client.ask(target, *headers, method=method, body=body)

    def counts(self):
        return self.get("/counts").json()

    def wait_for(self, what, *bearer):
        """Asks for the counts until they are so."""
        end = time.monotonic() + PATIENCE
        with self.connect() as client:
            while True:
                counts = client.ask("/counts", *bearer).json()
                if what(counts):
                    return counts
                assert time.monotonic() < end, counts
                time.sleep(0.01)


def can_fix_addresses():
    try:
        return subprocess.run(["setarch", "-R", "true"], capture_output=True).returncode == 0
    except FileNotFoundError:
        return False


def raise_file_limit():
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = 8192 if hard == resource.RLIM_INFINITY else min(hard, 8192)
    if soft != resource.RLIM_INFINITY and soft < wanted:
        resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, hard))


class Response:
    def __init__(self, status, headers, body):
        self.status, self.headers, self.body = status, headers, body

    def __getitem__(self, name):
        """A header's value; None when it is not there. Twice is a mistake."""
        values = [value for key, value in self.headers if key.lower() == name.lower()]
        assert len(values) < 2, (name, values)
        return values[0] if values else None

    def json(self):
        assert self.status == 200, (self.status, self.body)
        return json.loads(self.body)


class Client:
    """One connection, with no help from a library that might hide something."""

    def __init__(self, port, host="127.0.0.1", wrap=None):
        self.socket = socket.create_connection((host, port), timeout=PATIENCE)
        if wrap:
            self.socket = wrap(self.socket)
        self.read = b""

    def __enter__(self):
        return self

    def __exit__(self, *rest):
        self.close()

    def close(self):
        self.socket.close()

    def send(self, data):
        self.socket.sendall(data if isinstance(data, bytes) else data.encode())

    def request(self, target, *headers, method="GET", body=b""):
        lines = [f"{method} {target} HTTP/1.1"]
        if not any(header.lower().startswith("host:") for header in headers):
            lines.append("Host: localhost")
        lines += headers
        if body or method in ("POST", "PUT"):
            lines.append(f"Content-Length: {len(body)}")
        self.send(("\r\n".join(lines) + "\r\n\r\n").encode("utf-8", "surrogateescape") + body)

    def ask(self, target, *headers, method="GET", body=b""):
        self.request(target, *headers, method=method, body=body)
        return self.response(method)

    def more(self):
        data = self.socket.recv(65536)
        self.read += data
        return bool(data)

    def until(self, mark):
        while mark not in self.read:
            if not self.more():
                raise EOFError(self.read)
        part, _, self.read = self.read.partition(mark)
        return part

    def exactly(self, n):
        parts, got = [self.read], len(self.read)
        while got < n:
            self.read = b""
            if not self.more():
                raise EOFError(f"{got} of {n} bytes")
            parts.append(self.read)
            got += len(self.read)
        whole = b"".join(parts)
        self.read = whole[n:]
        return whole[:n]

    def head(self):
        lines = self.until(b"\r\n\r\n").decode("latin-1").split("\r\n")
        headers = [tuple(line.split(": ", 1)) for line in lines[1:]]
        return int(lines[0].split()[1]), headers

    def response(self, method="GET"):
        status, headers = self.head()
        reply = Response(status, headers, b"")
        if method == "HEAD" or status in (204, 304) or 100 <= status < 200:
            return reply
        if reply["Transfer-Encoding"] == "chunked":
            reply.body = b"".join(self.chunks())
        else:
            reply.body = self.exactly(int(reply["Content-Length"]))
        return reply

    def chunks(self):
        """The chunks of a body, to its end; EOFError when it ends before that."""
        while size := int(self.until(b"\r\n"), 16):
            yield self.exactly(size)
            assert self.exactly(2) == b"\r\n"
        assert self.exactly(2) == b"\r\n"

    def is_ended(self):
        """Waits for the server to end the connection; True when it did without sending more."""
        try:
            return not self.more()
        except ConnectionError:
            return True


@pytest.fixture(params=kinds(), ids=name_of)
def program(request):
    return request.param
