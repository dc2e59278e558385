"""What the process gave up before it serves, and what must go on working all the same."""

import ctypes
import json
import os
import shutil
import ssl
import struct
import subprocess

import pytest

from http_driver import Client
from logs import GOOD, points, put_run

CREATE_RULESET = 444


def has_landlock():
    return ctypes.CDLL(None).syscall(CREATE_RULESET, None, 0, 1) > 0


needs_landlock = pytest.mark.skipif(not has_landlock(), reason="this kernel has no Landlock")


def refuse_sandboxes():
    """Before a program begins: a kernel without Landlock and without a second filter of system calls."""
    libc = ctypes.CDLL(None)

    def statement(code, jt, jf, k):
        return struct.pack("<HBBI", code, jt, jf, k)

    filter_call, prctl = 317, 157  # of x86-64
    program = b"".join([
        statement(0x20, 0, 0, 0),  # the number of the call
        statement(0x15, 4, 0, CREATE_RULESET),
        statement(0x15, 3, 0, filter_call),
        statement(0x15, 0, 3, prctl),
        statement(0x20, 0, 0, 16),  # prctl's first argument
        statement(0x15, 0, 1, 22),  # PR_SET_SECCOMP
        statement(0x06, 0, 0, 0x00050000 | 38),  # ENOSYS
        statement(0x06, 0, 0, 0x7FFF0000),  # go on
    ])  # fmt: skip
    buffer = ctypes.create_string_buffer(program)
    header = ctypes.create_string_buffer(struct.pack("<HxxxxxxQ", len(program) // 8, ctypes.addressof(buffer)))
    assert libc.prctl(38, 1, 0, 0, 0) == 0
    assert libc.prctl(22, 2, ctypes.c_void_p(ctypes.addressof(header)), 0, 0) == 0


def threads(server, field):
    """A field of /proc/PID/status, of every thread."""
    folder = f"/proc/{server.process.pid}/task"
    found = set()
    for thread in os.listdir(folder):
        with open(f"{folder}/{thread}/status") as lines:
            found |= {line.split()[1] for line in lines if line.startswith(field + ":")}
    return found


@needs_landlock
def test_the_status_says_what_the_process_gave_up(serve, tmp_path):
    put_run(tmp_path / "run")
    with serve(tmp_path) as server:
        text = server.status()["sandbox"]
        assert "writes its own directories only" in text and "Landlock, seccomp" in text and "reads" not in text
        assert threads(server, "Seccomp") == {"2"} and threads(server, "NoNewPrivs") == {"1"}
    with serve(tmp_path, "--sandbox", "on") as server:
        assert "reads the log directories only" in server.status()["sandbox"]
    with serve(tmp_path, "--sandbox", "off") as server:
        assert server.status()["sandbox"] == "off"
        assert threads(server, "Seccomp") == {"0"}


@pytest.mark.parametrize("mode", ["auto", "on"])
def test_everything_is_served_inside_the_sandbox(serve, tmp_path, mode):
    """Growing logs, notes, the cache, jobs, the info file."""
    path = put_run(tmp_path / "logs/run")
    if mode == "on" and not has_landlock():
        pytest.skip("this kernel has no Landlock")
    with serve(tmp_path / "logs", "--sandbox", mode, "--memory_limit", "1K", "--reload_interval", 1) as server:
        server.loaded()
        assert points(server, "run") == GOOD
        put_run(tmp_path / "logs/later")
        server.wait(lambda: points(server, "later"), lambda found: found == GOOD)
        path.write_bytes(path.read_bytes() * 2)
        server.wait(lambda: len(points(server, "run")), lambda n: n == 6)
        status = server.status()
        assert status["state"]["persistent"] and status["loading"]["problems"] == 0, status
        ours = ("Content-Type: application/json", "X-Seaboard-Request: 1")
        job = server.get("/api/v1/jobs", *ours, method="POST", body=b'{"kind": "export", "args": {}}')
        assert job.status in (200, 202), job.body
        number = json.loads(job.body)["job"]["id"]
        done = server.wait(
            lambda: server.json(f"/api/v1/job?id={number}")["job"], lambda j: j["state"] in ("done", "failed")
        )
        assert done["state"] == "done", done
        info = os.path.join(server.home.name, "tmpdir/.tensorboard-info", f"pid-{server.process.pid}.info")
        assert os.path.exists(info)
        server.process.terminate()
        assert server.process.wait(60) == 0
        assert not os.path.exists(info)


def test_links_and_roots_that_come_and_go_work_by_default(serve, tmp_path):
    """A run behind a link that leads out of the root, a root that appears late and is made anew."""
    put_run(tmp_path / "elsewhere/run")
    root = tmp_path / "logs"
    with serve(root, "--reload_interval", 1) as server:
        assert server.json("/data/runs") == []
        put_run(root / "first")
        (root / "link").symlink_to(tmp_path / "elsewhere")
        server.wait(lambda: server.json("/data/runs"), lambda runs: runs == ["first", "link/run"])
        server.wait(lambda: points(server, "link/run"), lambda found: found == GOOD)
        shutil.rmtree(root)
        server.wait(lambda: server.json("/data/runs"), lambda runs: runs == [])
        put_run(root / "second")
        server.wait(lambda: points(server, "second"), lambda found: found == GOOD)


@needs_landlock
def test_a_strict_sandbox_reads_nothing_outside_of_the_logs(serve, tmp_path):
    put_run(tmp_path / "elsewhere/run")
    put_run(tmp_path / "logs/good")
    (tmp_path / "logs/link").symlink_to(tmp_path / "elsewhere")
    with serve(tmp_path / "logs", "--sandbox", "on") as server:
        status = server.loaded()
        assert server.json("/data/runs") == ["good"]
        assert status["loading"]["problems"] == 1 and "link" in status["loading"]["problem"], status["loading"]


@needs_landlock
def test_a_strict_sandbox_needs_the_log_directory(build, serve, tmp_path):
    server = serve(tmp_path / "none", "--sandbox", "on")
    done = subprocess.run(server.command, capture_output=True, timeout=60, check=False)
    assert done.returncode == 1 and b"needs this to be there at the start" in done.stderr, done.stderr


@pytest.mark.skipif(os.uname().machine != "x86_64", reason="the filter has the numbers of one machine")
def test_a_kernel_without_sandboxes_is_served_without(serve, tmp_path):
    put_run(tmp_path / "run")
    server = serve(tmp_path)
    server.before = refuse_sandboxes
    with server:
        server.loaded()
        assert points(server, "run") == GOOD
        assert server.status()["sandbox"] == "off: this kernel offers neither Landlock nor seccomp"
    strict = serve(tmp_path, "--sandbox", "on")
    done = subprocess.run(
        strict.command, capture_output=True, timeout=60, check=False, preexec_fn=refuse_sandboxes
    )
    assert done.returncode == 1 and b"no Landlock" in done.stderr, done.stderr


@pytest.mark.parametrize("mode", ["auto", "on"])
def test_certificates_are_read_before_the_sandbox_begins(serve, tmp_path, mode):
    if mode == "on" and not has_landlock():
        pytest.skip("this kernel has no Landlock")
    put_run(tmp_path / "logs/run")
    cert, key = tmp_path / "cert.pem", tmp_path / "key.pem"
    made = subprocess.run(
        ["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", "-subj", "/CN=localhost",
         "-keyout", key, "-out", cert], capture_output=True, check=False)  # fmt: skip
    if made.returncode:
        pytest.skip("there is no openssl")
    with serve(tmp_path / "logs", "--sandbox", mode, "--certfile", cert, "--keyfile", key) as server:
        context = ssl._create_unverified_context()
        with Client(server.port, wrap=context.wrap_socket) as client:
            assert client.ask("/data/runs").status == 200
