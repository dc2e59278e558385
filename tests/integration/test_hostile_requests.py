"""Every route with everything that a client should not send: an answer that says so, never a failure of the
server's, never a crash, never the bytes of a file that was not asked for."""

import json
import os
import shutil
import urllib.parse

import pytest

from command import FIXTURES
from route_list import PATHS, ROUTES, STREAM
from serve_driver import Seaboard

CANARY = b"canary-b6f2d1"
FORBIDDEN = (CANARY, b"root:x:0:0", b"[boot loader]", b"ELF\x02")
PARAMETERS = "run tag sample format experiment plugin name index imageId blob_key content_type num_rows request requests".split()
PARAMETERS += "at columnsVisibility conceptual files large_attrs_key limit_attr_size markdown since step x".split()
HUGE = "A" * 3000
VALUES = [
    "",
    "0",
    "-1",
    "18446744073709551616",
    "-9223372036854775809",
    "1e999",
    "nan",
    "0x10",
    "1" * 400,
    HUGE,
    "%ff%fe",
    "%c0%ae%c0%ae%2f",
    "%ed%a0%80",
    "%00",
    "a%00b",
    "%0d%0aSet-Cookie:x=y",
    "../../secret.txt",
    "..%2f..%2fsecret.txt",
    "%2e%2e%2f%2e%2e%2fsecret.txt",
    "%252e%252e%252fsecret.txt",
    "..%5c..%5csecret.txt",
    "/etc/passwd",
    "file:///etc/passwd",
    "~root",
    "<script>alert(1)</script>",
    "'%22`;$(id)",
    "{%22a%22:[[[[",
    "(a%2b)%2b$",
    "%5B" * 500,
    "%",
    "%zz",
]
BODIES = [
    b"",
    b"null",
    b"[]",
    b"{}",
    b"{",
    b'"text"',
    b"[" * 100_000,
    b'{"a":' * 50_000,
    b"\xff\xfe\x00",
    b'{"a": 1e999}',
    b'{"a": ' + b"9" * 5000 + b"}",
    b'{"run": "\\ud800"}',
    b'{"a":1,"a":2}',
    b"run=%ff&tag=%00&x=" + b"y" * 10_000,
    b"--x\r\nContent-Disposition: form-data; name=\"runs\"\r\n\r\nv\r\n--x--\r\n",
    b"--x\r\nContent-Disposition: form-data; name=\"" + b"n" * 9000,
]
TYPES = ["application/json", "application/x-www-form-urlencoded", "multipart/form-data; boundary=x", "multipart/form-data", "text/plain", "\x7f"]
KEYS = "center groups items maxSteps mode range revision runs series smoothing spread superseded tags width x epoch n run tag".split()
KEYS += "plugin sample kind points weight allowedStatuses colParams startIndex sliceSize sessionName metricName experimentName".split()
JUNK = [None, True, -1, 1 << 62, 1e300, 0.5, "", HUGE, [], {}, [[]], [{}], {"a": 1}, [None] * 50, [-1, 1 << 40], ["\0"], [{"run": -1, "tag": 5}]]


@pytest.fixture(scope="module")
def server(tmp_path_factory):
    base = tmp_path_factory.mktemp("hostile")
    logs = base / "logs"
    shutil.copytree(FIXTURES / "tf", logs)
    shutil.copytree(FIXTURES / "torch_writer", logs / "torch")
    (base / "secret.txt").write_bytes(CANARY)
    (base / "logs-secret").mkdir()
    (base / "logs-secret/x.tfevents").write_bytes(CANARY)
    (logs / "secret.txt").write_bytes(CANARY)
    with Seaboard(logs) as running:
        running.loaded()
        yield running


class Asker:
    """Asks on one connection, and on a new one when that was ended."""

    def __init__(self, server):
        self.server, self.client = server, server.connect()

    def __enter__(self):
        return self

    def __exit__(self, *rest):
        self.client.close()

    def ask(self, target, *headers, method="GET", body=b""):
        try:
            self.client.request(target, *headers, method=method, body=body)
            if target.partition("?")[0] == STREAM and method == "GET":
                status, found = self.client.head()
                self.client.close()
                self.client = self.server.connect()
                assert status < 500, (target, status)
                return None
            reply = self.client.response(method)
        except (EOFError, ConnectionError):
            self.client.close()
            self.client = self.server.connect()
            assert self.server.process.poll() is None, (method, target)
            return None
        if reply["Connection"] == "close":
            self.client.close()
            self.client = self.server.connect()
        check(reply, (method, target[:200], headers, body[:100]))
        return reply


def check(reply, what):
    # 501: a method that HTTP does not know
    assert reply.status < 500 or reply.status in (501, 503), (what, reply.status, reply.body[:300])
    if reply.status in (400, 413, 414, 431, 501, 505) and reply["Referrer-Policy"] is None:
        # the library's own fixed page, for what does not fit its buffer and never reaches us
        assert b"xxxx" not in reply.body and len(reply.body) < 500, what
        return
    assert reply["X-Content-Type-Options"] == "nosniff", what
    assert reply["Cross-Origin-Resource-Policy"] == "same-origin", what
    assert reply["Access-Control-Allow-Origin"] is None, what
    assert reply["Set-Cookie"] is None, what
    kind = reply["Content-Type"] or ""
    if kind.startswith(("text/html", "text/plain", "text/csv", "application/json", "image/", "audio/", "video/")):
        assert reply["Content-Security-Policy"], what
    for mark in FORBIDDEN:
        assert mark not in reply.body, what
    if kind.startswith("application/json") and reply.body and not reply["Content-Encoding"]:
        reply.body.decode()


def alive(server):
    assert server.get("/healthz").status == 200
    assert server.json("/data/runs")


@pytest.mark.parametrize("path", PATHS)
def test_parameters(server, path):
    """Missing, empty, huge, invalid, negative and overflowing ones, alone, with good ones, and twice."""
    with Asker(server) as asker:
        asker.ask(path)
        for value in VALUES:
            for name in PARAMETERS:
                asker.ask(f"{path}?{name}={value}")
            asker.ask(f"{path}?run={value}&tag={value}&sample={value}&index={value}&name={value}")
            asker.ask(f"{path}?run=v2%2Ftrain&tag={value}&sample={value}&index={value}")
            asker.ask(f"{path}?run=.&run={value}&tag=a&tag={value}")
            asker.ask(f"{path}?{value}")
        asker.ask(path + "?" + "&".join(f"run=r{i}" for i in range(3000)))
        asker.ask(path + "?" + "&" * 5000)
        asker.ask(path + "?" + "=" * 5000)
    alive(server)


@pytest.mark.parametrize("path", PATHS)
def test_methods_and_bodies(server, path):
    with Asker(server) as asker:
        for method in ("HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "TRACE", "CONNECT", "BREW", "get"):
            asker.ask(path, method=method)
            asker.ask(path, "Content-Type: application/json", method=method, body=b"{}" if method != "HEAD" else b"")
        for kind in TYPES:
            for body in BODIES:
                for method in ("POST", "PATCH"):
                    asker.ask(path, f"Content-Type: {kind}", method=method, body=body)
        asker.ask(path, method="GET", body=b"[" * 1000)
    alive(server)


@pytest.mark.parametrize("path, method", sorted({(path, "PATCH" if "PATCH" in how else "POST") for path, how in ROUTES if path != STREAM and "*" not in path}))
def test_json_of_wrong_types(server, path, method):
    with Asker(server) as asker:
        for key in KEYS:
            for junk in JUNK:
                for around in ({key: junk}, {"series": [{"run": 1, "tag": "a", key: junk}], key: junk}):
                    body = json.dumps(around).encode()
                    asker.ask(path, "Content-Type: application/json", method=method, body=body)
        for junk in JUNK:
            body = urllib.parse.urlencode({"runs": str(junk), "tag": str(junk), "requests": json.dumps(junk), "request": json.dumps(junk)})
            asker.ask(path, "Content-Type: application/x-www-form-urlencoded", method=method, body=body.encode())
            asker.ask(path + "?request=" + urllib.parse.quote(json.dumps({key: junk for key in KEYS})[:6000]))
            asker.ask(path + "?requests=" + urllib.parse.quote(json.dumps([{key: junk for key in KEYS}])[:6000]))
    alive(server)


DOTS = ["..", "%2e%2e", ".%2e", "%252e%252e", "..%00", "..;", "..;x=y", "%c0%ae%c0%ae", "%e0%80%ae%e0%80%ae", "%ef%bc%8e%ef%bc%8e", "..%5c", "\\..", "%uff0e", "."]
SLASHES = ["/", "%2f", "%5c", "\\", "%252f", "//", "%c0%af", "/./"]
ENDS = ["secret.txt", "logs-secret/x.tfevents", "etc/passwd", "secret.txt%00.js", "secret.txt;.js"]


@pytest.mark.parametrize("start", ["/", "/assets/", "/data/", "/data/plugin/", "/data/plugin/projector/", "/api/v1/", "/data/plugin_entry.html/", "/experiment/x/"])
def test_paths(server, start):
    with Asker(server) as asker:
        for dot in DOTS:
            for slash in SLASHES:
                for end in ENDS:
                    for count in (1, 4):
                        reply = asker.ask(start + (dot + slash) * count + end)
                        assert reply is None or reply.status in (400, 404) or b"<html" in reply.body, (start, dot, slash, end, reply.status)
    alive(server)


@pytest.mark.parametrize("target", ["*", "http://localhost/../secret.txt", "//secret.txt", "///etc/passwd", "?", "#", "/\u00e9", "/" + "a/" * 3000, "/" + "x" * 100_000, "etc/passwd"])
def test_targets(server, target):
    with Asker(server) as asker:
        asker.ask(target)
        asker.ask(target, method="POST", body=b"x")
        asker.ask(target, method="OPTIONS")
    alive(server)


RAW = [
    b"GET /data/runs HTTP/1.1\r\n\r\n",
    b"GET /data/runs HTTP/1.1\r\nHost: localhost\r\nHost: localhost\r\n\r\n",
    b"GET /data/runs HTTP/9.9\r\nHost: localhost\r\n\r\n",
    b"GET /data/runs\r\n\r\n",
    b"\0" * 5000,
    b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03" * 20,
    b"POST /data/runs HTTP/1.1\r\nHost: localhost\r\nContent-Length: -1\r\n\r\n",
    b"POST /data/runs HTTP/1.1\r\nHost: localhost\r\nContent-Length: 99999999999999999999\r\n\r\n",
    b"POST /data/runs HTTP/1.1\r\nHost: localhost\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
    b"POST /data/runs HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\nffffffffffffffff\r\n",
    b"GET /data/runs HTTP/1.1\r\nHost: localhost\r\n" + b"X: y\r\n" * 5000 + b"\r\n",
    b"GET /data/runs HTTP/1.1\r\nHost: localhost\r\nX: " + b"y" * 200_000 + b"\r\n\r\n",
    b"GET /data/runs HTTP/1.1\r\nHost: localhost\r\nRange: bytes=0-,1-,2-\r\nIf-None-Match: " + b'"' * 500 + b"\r\n\r\n",
    b"GET /data/runs HTTP/1.1\r\nHost: localhost\r\nAccept-Encoding: " + b"gzip;q=," * 500 + b"\r\n\r\n",
    b"GET /data/runs HTTP/1.1\r\nHost: localhost\r\nCookie: " + b"a=b;" * 2000 + b"\r\n\r\n",
]


@pytest.mark.parametrize("raw", RAW, ids=range(len(RAW)))
def test_bytes_that_are_no_good_request(server, raw):
    client = server.connect()
    client.socket.settimeout(5)  # for half a request the server waits longer, but not for ever: test_http_load
    try:
        client.socket.sendall(raw)
        client.socket.shutdown(1)
        while client.more():
            pass
    except OSError:
        pass
    finally:
        client.close()
    for mark in FORBIDDEN:
        assert mark not in client.read
    if client.read:
        assert int(client.read.split()[1]) not in (500, 502, 504), client.read[:300]
    alive(server)


def test_memory_and_files_after_all_that(server):
    alive(server)
    assert server.memory("VmHWM") < 2 << 20
    assert len(os.listdir(f"/proc/{server.process.pid}/fd")) < 300
