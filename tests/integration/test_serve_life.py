"""From start to end: where it listens, who holds a port, info files, ps and stop, signals, who is let in."""

import base64
import json
import os
import pathlib
import re
import signal
import socket
import ssl
import subprocess
import sys
import time

import pytest
from command import BINARY, FIXTURES, frame, scalar, seaboard
from http_driver import PATIENCE, Client
from serve_driver import Seaboard

LOGS = FIXTURES / "tf/v2"


def temp_of(server):
    """The folder in which a server of the driver leaves its info file."""
    return pathlib.Path(server.home.name, "tmpdir")


def infos(server):
    return sorted((temp_of(server) / ".tensorboard-info").glob("*"))


# ---- signals --------------------------------------------------------------------------------------------------------


@pytest.fixture
def signals_at_rest():
    """Children inherit what is ignored, and the tests may themselves run under nohup."""
    before = signal.signal(signal.SIGHUP, signal.SIG_DFL)
    yield
    signal.signal(signal.SIGHUP, before)


def blocks(pid, number):
    """Does the process hold the signal back, to take it when it likes?"""
    with open(f"/proc/{pid}/status") as status:
        mask = next(line.split()[1] for line in status if line.startswith("SigBlk"))
    return int(mask, 16) >> (number - 1) & 1


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_blocking_load_is_ended_by_signals(tmp_path, number):
    with open(tmp_path / "events.out.tfevents.1", "wb") as log:
        log.truncate(1 << 40)  # a hole: the search for a record in it takes longer than anybody waits
    driver = Seaboard(tmp_path, "--reload_interval", "0", "--reload_task", "blocking")
    process = subprocess.Popen(driver.command, stdin=subprocess.DEVNULL, stderr=subprocess.PIPE)
    try:
        deadline = time.monotonic() + PATIENCE
        while not blocks(process.pid, number):
            assert process.poll() is None and time.monotonic() < deadline
        process.send_signal(number)
        _, said = process.communicate(timeout=PATIENCE)
    finally:
        process.kill()
    assert process.returncode == 0, said
    assert (b"caught SIGTERM" in said) == (number == signal.SIGTERM)


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT, signal.SIGHUP])
def test_a_signal_ends_it_cleanly(number, signals_at_rest):
    with Seaboard(LOGS) as server:
        server.wait(lambda: infos(server))
        os.kill(server.process.pid, number)
        assert server.process.wait(PATIENCE) == 0
        assert infos(server) == []
        server.listener.join(PATIENCE)
        assert (b"Seaboard caught SIGTERM; exiting..." in server.said) == (number == signal.SIGTERM)


def test_nohup_is_honoured():
    driver = Seaboard(LOGS)
    driver.command = ["nohup", *driver.command]
    with driver as server:
        os.kill(server.process.pid, signal.SIGHUP)
        assert server.json("/data/runs") is not None
        assert server.process.poll() is None


def test_kill_leaves_the_info_file_and_ps_does_not_believe_it():
    with Seaboard(LOGS) as server:
        server.wait(lambda: infos(server))
        with Seaboard(LOGS) as other:
            pass
        environment = {**os.environ, "TMPDIR": str(temp_of(server))}
        assert str(server.port) in seaboard("ps", env=environment).stdout.decode()
        # a copy under the number of a process that is none of ours, and one of a process that is gone
        text = json.loads(infos(server)[0].read_text())
        (temp_of(server) / ".tensorboard-info/pid-1.info").write_text(json.dumps({**text, "pid": os.getpid(), "port": 1}))
        (temp_of(server) / ".tensorboard-info/pid-2.info").write_text(json.dumps({**text, "pid": other.process.pid, "port": 2}))
        (temp_of(server) / ".tensorboard-info/pid-3.info").write_text("no JSON")
        listed = seaboard("ps", env=environment).stdout.decode().splitlines()
        assert len(listed) == 2, listed
        for number in (1, 2, os.getpid(), other.process.pid):
            refused = seaboard("stop", number, env=environment)
            assert refused.returncode == 1
            assert b"no seaboard server of yours" in refused.stderr


# ---- info files -----------------------------------------------------------------------------------------------------


def test_the_info_file_is_what_notebooks_look_for(tmp_path):
    driver = Seaboard(LOGS, "--path_prefix", "/p", "--window_title", 'é😊"\\/')
    with driver as server:
        (path,) = server.wait(lambda: infos(server))
        text = path.read_text()
        info = json.loads(text)
        assert path.name == f"pid-{server.process.pid}.info"
        assert text.startswith('{\n    "cache_key": "') and text.endswith("\n}\n")
        assert list(info) == sorted(info)
        assert info["pid"] == server.process.pid and info["port"] == server.port
        assert info["logdir"] == str(LOGS) and info["path_prefix"] == "/p" and info["db"] == ""
        assert abs(info["start_time"] - time.time()) < PATIENCE
        key = json.loads(base64.b64decode(info["cache_key"]))
        assert key == {
            "arguments": server.command[1:],
            "configure_kwargs": {},
            "working_directory": os.getcwd(),
        }
        assert oct((temp_of(server) / ".tensorboard-info").stat().st_mode & 0o777) == "0o777"


def test_tensorboards_own_manager_finds_and_starts_it(tmp_path):
    """What a notebook does: no server is there, one is started by the name in TENSORBOARD_BINARY, and found again."""
    program = f"""
import os, sys
from tensorboard import manager
arguments = ["--logdir", {str(LOGS)!r}, "--port", "0"]
first = manager.start(arguments)
assert isinstance(first, manager.StartLaunched), first
second = manager.start(arguments)
assert isinstance(second, manager.StartReused), second
assert first.info == second.info, (first, second)
assert manager.get_all() == [first.info]
import urllib.request, json
url = "http://localhost:%d/data/logdir" % first.info.port
assert json.load(urllib.request.urlopen(url)) == {{"logdir": {str(LOGS)!r}}}
print(first.info.pid)
"""
    environment = {**os.environ, "TENSORBOARD_BINARY": BINARY, "TMPDIR": str(tmp_path), "XDG_STATE_HOME": str(tmp_path)}
    done = subprocess.run([sys.executable, "-c", program], env=environment, capture_output=True, timeout=PATIENCE)
    try:
        assert done.returncode == 0, done.stderr.decode()
    finally:
        for path in (tmp_path / ".tensorboard-info").glob("*"):
            pid = json.loads(path.read_text())["pid"]
            stopped = seaboard("stop", pid, env=environment)
            assert stopped.returncode == 0, stopped.stderr


# ---- ps and stop ----------------------------------------------------------------------------------------------------


def test_ps_lists_and_stop_ends(tmp_path):
    with Seaboard(LOGS) as server:
        server.wait(lambda: infos(server))
        environment = {**os.environ, "TMPDIR": str(temp_of(server))}
        listed = seaboard("ps", env=environment)
        assert listed.returncode == 0
        head, row = listed.stdout.decode().splitlines()
        assert head.split()[:3] == ["PID", "PORT", "SINCE"]
        assert row.split()[:2] == [str(server.process.pid), str(server.port)]
        assert row.endswith(str(LOGS)) and f"http://localhost:{server.port}/" in row
        stopped = seaboard("stop", server.port, env=environment)
        assert stopped.returncode == 0 and b"Stopped pid" in stopped.stderr
        assert server.process.wait(PATIENCE) == 0
        assert b"No seaboard server of yours is running." in seaboard("ps", env=environment).stderr
        assert seaboard("stop", server.port, env=environment).returncode == 1
    assert seaboard("stop", "everything").returncode == 2


# ---- ports ----------------------------------------------------------------------------------------------------------


@pytest.fixture
def busy_port():
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        yield taken.getsockname()[1]


def test_a_busy_port_names_who_holds_it_and_two_ways_out(busy_port):
    done = seaboard("--logdir", LOGS, "--port", busy_port)
    text = done.stderr.decode()
    assert done.returncode == 255
    assert f"ERROR: Seaboard could not bind to port {busy_port}, it was already in use" in text
    assert f"held by pid {os.getpid()} (" in text and "python" in text
    assert "leave out --port" in text and f"seaboard stop {busy_port}" in text


def test_one_of_ours_is_named_with_its_directory():
    with Seaboard(LOGS) as server:
        server.wait(lambda: infos(server))
        environment = {**os.environ, "TMPDIR": str(temp_of(server))}
        done = seaboard("--logdir", "x", "--port", server.port, env=environment)
    assert done.returncode == 255
    assert f"pid {server.process.pid} (" in done.stderr.decode() and f"which serves {LOGS}" in done.stderr.decode()


def test_a_busy_default_port_moves_to_the_next_and_says_so():
    taken = socket.socket()
    taken.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        taken.bind(("127.0.0.1", 6006))
        taken.listen()
    except OSError:
        pass  # somebody holds it already: just as good
    driver = Seaboard(LOGS)
    del driver.command[3:5]  # --port 0
    with taken, driver as server:
        server.wait(lambda: server.said, lambda said: b"Port 6006 is held by" in said)
        assert server.port > 6006
        assert f"using {server.port}".encode() in server.said


def test_the_url_is_said_first_and_in_tensorboards_words():
    with Seaboard(LOGS) as server:
        lines = server.said.decode().splitlines()
    assert lines[0] == "Serving Seaboard on localhost; to expose to the network, use a proxy or pass --bind_all"
    assert re.fullmatch(r"Seaboard \d+\.\d+\.\d+\S* at http://localhost:\d+/ \(Press CTRL\+C to quit\)", lines[1])


@pytest.mark.parametrize("flags", [(), ("--bind_all",), ("--host", "0.0.0.0")])
def test_over_ssh_the_tunnel_is_spelled_out(flags):
    driver = Seaboard(LOGS, *flags)
    driver.environment = {"SSH_CONNECTION": "192.0.2.7 50000 198.51.100.9 2222"}
    with driver as server:
        server.wait(lambda: server.said, lambda said: b"ssh" in said)
        wanted = rf"ssh -p 2222 -L {server.port}:localhost:{server.port} \S+@198\.51\.100\.9"
        assert re.search(wanted, server.said.decode())


@pytest.mark.parametrize("flags", [("--bind_all",), ("--host", "0.0.0.0")])
def test_an_exposed_server_says_by_which_name_it_is_reached(flags):
    with Seaboard(LOGS, *flags) as server:
        server.json("/data/runs", f"Authorization: Bearer {token_of(server)}")
    names = re.findall(rf" at http://(.+):{server.port}/\?token=", server.said.decode())
    assert set(names) - {"0.0.0.0"}, server.said


def test_what_ssh_says_cannot_drive_a_terminal():
    driver = Seaboard(LOGS)
    driver.environment = {"SSH_CONNECTION": "a 1 b\x1b[2Jc 22"}
    with driver as server:
        server.json("/data/runs")
    assert b"\x1b" not in server.said


# ---- who is let in --------------------------------------------------------------------------------------------------


def token_of(server):
    return server.said.split(b"?token=")[1].split()[0].decode()


def test_beyond_this_machine_a_token_is_asked_for_and_kept(tmp_path):
    tokens = []
    for _ in range(2):
        driver = Seaboard(LOGS, "--bind_all")
        driver.environment = {"XDG_STATE_HOME": str(tmp_path)}
        with driver as server:
            tokens.append(token_of(server))
            assert server.get("/data/runs").status == 401
            assert server.get("/").status == 401
            assert server.get("/healthz").status == 200
            allowed = server.get("/data/runs", f"Authorization: Bearer {tokens[-1]}")
            assert allowed.status == 200
            wrong = server.get("/data/runs", "Authorization: Bearer " + "0" * 48)
            assert wrong.status == 401
    assert tokens[0] == tokens[1] and len(tokens[0]) == 48
    kept = tmp_path / "seaboard/token"
    assert kept.read_text().strip() == tokens[0]
    assert kept.stat().st_mode & 0o077 == 0


def test_a_token_that_others_could_read_is_not_used_again(tmp_path):
    kept = tmp_path / "seaboard/token"
    kept.parent.mkdir()
    kept.write_text("a" * 48)
    kept.chmod(0o644)
    driver = Seaboard(LOGS, "--auth", "token")
    driver.environment = {"XDG_STATE_HOME": str(tmp_path)}
    with driver as server:
        assert token_of(server) != "a" * 48


def test_a_token_may_be_given():
    driver = Seaboard(LOGS, "--auth", "token")
    driver.environment = {"SEABOARD_TOKEN": "my-own.token_1234"}
    with driver as server:
        assert token_of(server) == "my-own.token_1234"
        assert server.get("/data/runs?token=my-own.token_1234").status == 200


def test_auth_none_says_what_it_means():
    with Seaboard(LOGS, "--bind_all", "--auth", "none") as server:
        assert server.get("/data/runs").status == 200
        server.wait(lambda: server.said, lambda said: b"Everybody who reaches this machine can read these logs" in said)


def test_names_of_others_are_refused_unless_allowed():
    with Seaboard(LOGS) as server:
        with server.connect() as client:
            refused = client.ask("/data/runs", "Host: evil.example")
            assert refused.status == 403 and b"--allow_host" in refused.body
    with Seaboard(LOGS, "--allow_host", "my.host", "--allow_host", "other.host") as server:
        with server.connect() as client:
            assert client.ask("/data/runs", "Host: my.host").status == 200
            assert client.ask("/data/runs", "Host: other.host:80").status == 200
            assert client.ask("/data/runs", "Host: evil.example").status == 403


def test_tls(tmp_path):
    cert, key = tmp_path / "cert.pem", tmp_path / "key.pem"
    subprocess.run(
        ["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-keyout", key, "-out", cert]
        + ["-days", "2", "-subj", "/CN=localhost", "-addext", "subjectAltName=DNS:localhost"],
        check=True,
        capture_output=True,
    )
    with Seaboard(LOGS, "--certfile", cert, "--keyfile", key) as server:
        assert b"at https://localhost:" in server.said
        context = ssl.create_default_context(cafile=cert)
        wrap = lambda plain: context.wrap_socket(plain, server_hostname="localhost")
        with Client(server.port, wrap=wrap) as client:
            assert client.ask("/data/logdir").json() == {"logdir": str(LOGS)}
    broken = seaboard("--logdir", LOGS, "--port", "0", "--certfile", key, "--keyfile", cert)
    assert broken.returncode != 0 and b"certificate" in broken.stderr


# ---- the page -------------------------------------------------------------------------------------------------------


def test_hostile_names_do_not_become_html(tmp_path):
    """Run, tag and description names from a log, on every page that is HTML."""
    name = "<img src=x onerror=alert(1)>"
    (tmp_path / name).mkdir()
    (tmp_path / name / "events.out.tfevents.1").write_bytes(frame(scalar(b"<script>alert(2)</script>", 1, 1.0)))
    with Seaboard(tmp_path, "--window_title", "</title><script>alert(3)</script>") as server:
        server.loaded()
        page = server.get("/")
        assert page.status == 200 and page["Content-Type"].startswith("text/html")
        assert "script-src" in page["Content-Security-Policy"] or "default-src 'none'" in page["Content-Security-Policy"]
        assert "unsafe-eval" not in page["Content-Security-Policy"]
        for bad in (b"<img src=x", b"<script>alert"):
            assert bad not in page.body
        for path in ("/data/plugin/scalars/scalars?run=%3Cscript%3E&tag=%3Cb%3E", "/data/plugin_entry.html?name=%3Cscript%3E"):
            reply = server.get(path)
            assert reply.status == 404
            assert reply["Content-Type"].startswith("text/plain") and reply["X-Content-Type-Options"] == "nosniff"


def test_open_hands_the_url_to_a_browser(tmp_path):
    browser, seen = tmp_path / "browser", tmp_path / "seen"
    browser.write_text(f'#!/bin/sh\nprintf %s "$1" > {seen}.part && mv {seen}.part {seen}\n')
    browser.chmod(0o755)
    driver = Seaboard(LOGS, "--open", "--auth", "token")
    driver.environment = {"BROWSER": str(browser)}
    with driver as server:
        server.wait(seen.exists)
        assert seen.read_text() == f"http://localhost:{server.port}/?token={token_of(server)}"
