"""Behind nginx that strips a prefix, holds streams back and speaks TLS: everything works as without it.

nginx runs on loopback with a configuration, a temporary folder and a certificate of its own. Two doors lead to the
same server: /board/ buffers replies whole, as proxies do by default and stubborn ones do even when asked not to;
/live/ lets them through.
"""

import json
import re
import shutil
import signal
import socket
import ssl
import subprocess
import threading
import time

import pytest
import requests
from command import FIXTURES, frame, scalar
from http_driver import PATIENCE, Client
from serve_driver import Events, Seaboard

NGINX = shutil.which("nginx") or shutil.which("nginx", path="/usr/sbin:/usr/local/sbin")
CONFIGURATION = """
daemon off;
worker_processes 1;
pid {folder}/pid;
error_log {folder}/error.log;
events {{ worker_connections 512; }}
http {{
    access_log off;
    client_body_temp_path {folder}/body;
    proxy_temp_path {folder}/proxy;
    fastcgi_temp_path {folder}/fastcgi;
    uwsgi_temp_path {folder}/uwsgi;
    scgi_temp_path {folder}/scgi;
    server {{
        listen 127.0.0.1:{port} ssl;
        ssl_certificate {folder}/cert.pem;
        ssl_certificate_key {folder}/key.pem;
        proxy_http_version 1.1;
        proxy_set_header Host {host};
        proxy_set_header X-Forwarded-Proto https;
        client_max_body_size 20m;
        location /board/ {{
            proxy_pass http://127.0.0.1:{upstream}/;
            proxy_ignore_headers X-Accel-Buffering;
            proxy_buffering on;
            gzip on;
            gzip_types *;
            gzip_min_length 1;
        }}
        location /live/ {{ proxy_pass http://127.0.0.1:{upstream}/; }}
    }}
}}
"""


def free_port():
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        return taken.getsockname()[1]


class Nginx:
    def __init__(self, folder, upstream, host="$http_host"):
        assert NGINX, "tools/setup test installs it"
        self.folder, self.port = folder, free_port()
        folder.mkdir()
        subprocess.run(
            ["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", "-subj", "/CN=localhost"]
            + ["-addext", "subjectAltName=DNS:localhost"]
            + ["-keyout", folder / "key.pem", "-out", folder / "cert.pem"],
            check=True,
            capture_output=True,
        )
        text = CONFIGURATION.format(folder=folder, port=self.port, upstream=upstream, host=host)
        (folder / "nginx.conf").write_text(text)
        self.context = ssl.create_default_context(cafile=folder / "cert.pem")

    def __enter__(self):
        command = [NGINX, "-p", str(self.folder), "-c", str(self.folder / "nginx.conf")]
        command += ["-e", str(self.folder / "error.log")]
        self.process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL)
        end = time.monotonic() + PATIENCE
        while True:
            try:
                self.connect().close()
                return self
            except ConnectionError:
                assert self.process.poll() is None and time.monotonic() < end, (self.folder / "error.log").read_text()
                time.sleep(0.02)

    def __exit__(self, *rest):
        self.process.send_signal(signal.SIGTERM)
        try:
            self.process.wait(PATIENCE)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()

    def connect(self):
        return Client(self.port, wrap=lambda s: self.context.wrap_socket(s, server_hostname="localhost"))

    def get(self, target, *headers, method="GET", body=b""):
        with self.connect() as client:
            return client.ask(target, f"Host: localhost:{self.port}", *headers, method=method, body=body)


@pytest.fixture(scope="module")
def both(tmp_path_factory):
    """A server over the fixtures, and nginx in front of it."""
    with Seaboard(FIXTURES / "tf/v2") as server:
        server.loaded()
        with Nginx(tmp_path_factory.mktemp("proxy") / "nginx", server.port) as proxy:
            yield server, proxy


def test_the_page_has_no_absolute_paths(both):
    server, proxy = both
    page = proxy.get("/board/")
    assert page.status == 200 and page["Content-Type"] == "text/html; charset=utf-8"
    assert b'="/' not in page.body
    direct = server.get("/")
    assert page.body == direct.body
    assert page["Content-Security-Policy"] == direct["Content-Security-Policy"]
    for part in page.body.split(b'"'):
        if part.startswith(b"./assets/"):
            assert proxy.get("/board/" + part.decode()[2:]).status == 200


def test_the_page_brings_the_texts_of_the_language_that_the_browser_prefers(both):
    def page(*headers):
        return both[0].get("/", *headers).body

    chinese, english = page("Accept-Language: zh-CN,zh;q=0.9,en;q=0.8"), page("Accept-Language: en-GB,en;q=0.9,zh;q=0.1")
    assert b'<html lang="zh-Hans">' in chinese and b'<html lang="en">' in english
    assert set(re.findall(rb'modulepreload[^>]*assets/(en|zh)-', chinese)) == {b"zh"}
    assert set(re.findall(rb'modulepreload[^>]*assets/(en|zh)-', english)) == {b"en"}
    for other in ("de", "zhuang, en", "", "ZH", ";;,,"):
        assert page(f"Accept-Language: {other}") == (chinese if other == "ZH" else english)


def test_every_answer_is_the_same_as_without(both):
    server, proxy = both
    targets = [
        *("data/environment", "data/plugins_listing", "data/runs", "data/logdir", "data/plugin/scalars/tags"),
        "data/plugin/scalars/scalars?run=train&tag=loss",
        "data/plugin/scalars/scalars?run=train&tag=loss&format=csv",
        *("experiment/defaultExperimentId/data/runs", "data/plugin/text/text?run=train&tag=notes"),
        *("data/plugin/histograms/histograms?run=train&tag=weights%2Fkernel", "data/plugin/graphs/info"),
        *("api/v1/runs", "api/v1/tags", "api/v1/changes?since=0", "healthz"),
        *("data/plugin/scalars/scalars?run=train&tag=none", "data/plugin/scalars/scalars", "nothing/here"),
    ]
    for target in targets:
        behind, direct = proxy.get("/board/" + target), server.get("/" + target)
        assert (behind.status, behind.body) == (direct.status, direct.body), target
        assert behind["Content-Type"] == direct["Content-Type"], target


def test_blobs_come_whole_and_in_ranges(both):
    server, proxy = both
    found = server.json("/data/plugin/audio/audio?run=train&tag=tone&sample=0")
    target = "data/plugin/audio/individualAudio?" + found[-1]["query"]
    whole = server.get("/" + target)
    assert whole.status == 200 and whole.body[:4] == b"RIFF"
    assert proxy.get("/board/" + target).body == whole.body
    part = proxy.get("/board/" + target, "Range: bytes=4-11")
    assert (part.status, part.body) == (206, whole.body[4:12])


def test_questions_with_bodies(both):
    server, proxy = both
    requests = json.dumps([{"plugin": "scalars", "tag": "loss"}]).encode()
    form = b"--x\r\nContent-Disposition: form-data; name=\"requests\"\r\n\r\n" + requests + b"\r\n--x--\r\n"
    more = ("Content-Type: multipart/form-data; boundary=x", "X-XSRF-Protected: 1")
    target = "data/plugin/timeseries/timeSeries"
    origin = f"Origin: https://localhost:{proxy.port}"
    behind = proxy.get("/board/" + target, *more, origin, method="POST", body=form).json()
    assert behind == server.get("/" + target, *more, method="POST", body=form).json()
    assert len(behind[0]["runToSeries"]["train"]) == 60
    runs = {run["name"]: run["id"] for run in server.json("/api/v1/runs")["runs"]}
    body = json.dumps({"width": 0, "series": [{"run": runs["train"], "tag": "loss"}]}).encode()
    columns = proxy.get("/board/api/v1/scalars", "Content-Type: application/json", origin, method="POST", body=body)
    assert (columns.status, columns.body[:4]) == (200, b"SBC1")


def test_people_can_write_their_notes_through_it(both):
    """The page's origin is the proxy's name and scheme; the server sees plain HTTP."""
    server, proxy = both
    body = json.dumps({"revision": server.json("/api/v1/state")["revision"], "items": {"run/train": {"note": "x"}}})
    more = ("Content-Type: application/json", "X-Seaboard-Request: 1")
    right = f"Origin: https://localhost:{proxy.port}"
    reply = proxy.get("/board/api/v1/state", *more, right, method="PATCH", body=body.encode())
    assert reply.status == 200, reply.body
    assert server.json("/api/v1/state")["items"]["run/train"] == {"note": "x"}
    wrong = proxy.get("/board/api/v1/state", *more, "Origin: https://evil.example", method="PATCH", body=body.encode())
    assert wrong.status == 403


@pytest.fixture(scope="module")
def locked(tmp_path_factory):
    """A server that asks for its token, nginx in front of it, and that token."""
    with Seaboard(FIXTURES / "tf/v2", "--auth", "token") as server:
        token = re.search(rb"token=([\w.~-]+)", server.said)[1].decode()
        with Nginx(tmp_path_factory.mktemp("locked") / "nginx", server.port) as proxy:
            yield proxy, token


def browser(proxy):
    """Keeps cookies, follows redirects, says what a browser says of a visit."""
    session = requests.Session()
    session.trust_env = False
    session.verify = str(proxy.folder / "cert.pem")
    session.headers.update({"Accept": "text/html", "Sec-Fetch-Mode": "navigate", "Sec-Fetch-Site": "none"})
    return session, f"https://localhost:{proxy.port}"


def test_without_the_token_nothing_is_told_through_the_proxy(locked):
    proxy, token = locked
    for target in ("", "data/runs", "api/v1/runs", "api/v1/events", "assets/x.js", "nothing"):
        reply = proxy.get("/board/" + target)
        assert reply.status == 401 and token.encode() not in reply.body, target
        assert proxy.get("/board/" + target, "X-Forwarded-For: 127.0.0.1", "X-Real-IP: 127.0.0.1").status == 401
    assert proxy.get("/board/healthz").status == 200
    assert proxy.get("/board/api/v1/runs", f"Authorization: Bearer {token}").status == 200
    with Events(proxy.connect(), "/live/api/v1/events", f"Host: localhost:{proxy.port}", f"Authorization: Bearer {token}") as events:
        assert events.status == 200


def test_a_link_with_the_token_logs_in_below_the_prefix(locked):
    proxy, token = locked
    session, site = browser(proxy)
    reply = session.get(f"{site}/board/?x=1&token={token}", timeout=PATIENCE)
    assert (reply.status_code, reply.url) == (200, f"{site}/board/?x=1")
    assert [step.status_code for step in reply.history] == [303] and token not in reply.text
    cookie = reply.history[0].headers["Set-Cookie"]
    assert "HttpOnly" in cookie and "; Secure" in cookie  # the proxy speaks TLS
    for target in ("data/runs", "api/v1/status"):
        assert session.get(f"{site}/board/{target}", timeout=PATIENCE).status_code == 200
    deep = session.get(f"{site}/board/data/runs?token={token}", timeout=PATIENCE)
    assert (deep.status_code, deep.url) == (200, f"{site}/board/data/runs")


def test_the_form_logs_in_through_the_proxy(locked):
    proxy, token = locked
    session, site = browser(proxy)
    page = session.get(f"{site}/board/?x=1", timeout=PATIENCE)
    assert page.status_code == 401 and '<form method="post">' in page.text  # goes to the address that is shown
    own = {"Origin": site, "Sec-Fetch-Site": "same-origin"}
    wrong = session.post(page.url, data={"token": token[:-1]}, headers=own, timeout=PATIENCE)
    assert wrong.status_code == 401 and not session.cookies
    strange = {"Origin": "https://evil.example", "Sec-Fetch-Site": "cross-site"}
    assert session.post(page.url, data={"token": token}, headers=strange, timeout=PATIENCE).status_code in (401, 403)
    assert not session.cookies
    right = session.post(page.url, data={"token": token}, headers=own, timeout=PATIENCE)
    assert (right.status_code, right.url) == (200, f"{site}/board/?x=1")
    note = {"Origin": site, "X-Seaboard-Request": "1", "Sec-Fetch-Mode": "cors", "Sec-Fetch-Site": "same-origin"}
    changed = session.patch(f"{site}/board/api/v1/state", json={"revision": 0, "items": {"run/train": {"note": "y"}}}, headers=note, timeout=PATIENCE)
    assert changed.status_code == 200, changed.text


HEADER = frame(b"\x09\0\0\0\0\0\0\0\0\x1a\x0dbrain.Event:2")


def test_the_stream_comes_through_and_polling_works_where_it_is_held_back(tmp_path):
    path = tmp_path / "logs/run/events.out.tfevents.1700000000.host.0"
    path.parent.mkdir(parents=True)
    with open(path, "wb", buffering=0) as out, Seaboard(tmp_path / "logs") as server:
        out.write(HEADER + frame(scalar(b"loss", 0, 1.0)))
        with Nginx(tmp_path / "nginx", server.port) as proxy:
            known = proxy.get("/board/api/v1/changes?since=0").json()["version"]
            # with its buffers out of the way the stream tells at once
            with Events(proxy.connect(), "/live/api/v1/events", f"Host: localhost:{proxy.port}") as events:
                assert events.status == 200
                known = max(known, events.version())
                out.write(frame(scalar(b"loss", 1, 1.0)))
                while events.version() <= known:
                    pass
            # held back: whatever comes of the stream or not, asking for changes finds everything
            held = proxy.connect()
            held.request("/board/api/v1/events", f"Host: localhost:{proxy.port}")
            out.write(frame(scalar(b"loss", 2, 1.0)))

            def points():
                news = proxy.get(f"/board/api/v1/changes?since={known}").json()
                return dict((tag, count) for _, tag, count, *_ in news["series"]).get("loss")

            server.wait(points, lambda count: count == 3)
            held.close()


def test_a_name_of_the_proxy_s_own_needs_allow_host(tmp_path):
    """On loopback only known names are answered to, so that no other site can point its name here."""
    for options, status in (((), 403), (("--allow_host", "board.example"), 200)):
        with Seaboard(FIXTURES / "tf/hparams", *options) as server:
            folder = tmp_path / str(status)
            with Nginx(folder, server.port, host="board.example") as proxy:
                assert proxy.get("/board/data/runs").status == status


def test_many_at_once_through_the_proxy(both):
    _, proxy = both
    replies = []

    def ask():
        with proxy.connect() as client:
            for _ in range(5):
                target = "/board/data/plugin/scalars/scalars?run=train&tag=loss"
                replies.append(len(client.ask(target, f"Host: localhost:{proxy.port}").json()))

    threads = [threading.Thread(target=ask) for _ in range(40)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert replies == [60] * 200
