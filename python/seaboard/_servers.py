"""Servers of this user that run: found by the info files that they leave, started and stopped.

A server writes pid-<PID>.info into a directory below the temporary one when it is ready, and removes it at its end;
TensorBoard does the same in the same place.
"""

from __future__ import annotations

import base64
import contextlib
import json
import os
import shlex
import signal
import subprocess
import tempfile
import time
from typing import Any, NamedTuple, Sequence

from seaboard._command import command_path

FIELDS = {"cache_key": str, "db": str, "logdir": str, "path_prefix": str, "pid": int, "port": int, "start_time": int}


class Server(NamedTuple):
    """A server that runs."""

    pid: int
    port: int
    logdir: str
    path_prefix: str
    start_time: int
    cache_key: str

    @property
    def url(self) -> str:
        """Where it answers on this machine."""
        return f"http://localhost:{self.port}{self.path_prefix}/"


class StartError(RuntimeError):
    """A server could not be started; the text has what it said."""


def _folder() -> str:
    return os.path.join(tempfile.gettempdir(), ".tensorboard-info")


def _is_alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    with contextlib.suppress(OSError):  # a child that ended and was not waited for
        with open(f"/proc/{pid}/stat", encoding="ascii", errors="replace") as file:
            return file.read().rpartition(")")[2].split()[0] != "Z"
    return True


def running() -> list[Server]:
    """The servers that run, by port."""
    found = []
    with contextlib.suppress(FileNotFoundError):
        for name in os.listdir(_folder()):
            if not (name.startswith("pid-") and name.endswith(".info")):
                continue
            try:
                with open(os.path.join(_folder(), name), encoding="utf-8") as file:
                    info = json.load(file)
                if not all(isinstance(info.get(key), kind) for key, kind in FIELDS.items()):
                    continue
                server = Server(*(info[key] for key in Server._fields))
            except (OSError, ValueError, AttributeError):
                continue
            if _is_alive(server.pid):
                found.append(server)
    return sorted(found, key=lambda server: server.port)


def cache_key(arguments: Sequence[str]) -> str:
    """What two starts with the same arguments in the same directory have in common."""
    data = {"arguments": list(arguments), "configure_kwargs": {}, "working_directory": os.getcwd()}
    text = json.dumps(data, sort_keys=True, separators=(",", ":"))
    return base64.b64encode(text.encode("ascii")).decode("ascii")


def _option(arguments: Sequence[str], name: str) -> str | None:
    """The value of --name VALUE or --name=VALUE."""
    for index, word in enumerate(arguments):
        if word == f"--{name}" and index + 1 < len(arguments):
            return arguments[index + 1]
        if word.startswith(f"--{name}="):
            return word.partition("=")[2]
    return None


def reusable(arguments: Sequence[str]) -> Server | None:
    """A server that was started with these arguments, or that shows the same log directory when nothing else is asked."""
    servers = running()
    key = cache_key(arguments)
    for server in servers:
        if server.cache_key == key:
            return server
    logdir = _option(arguments, "logdir")
    if logdir is None or len(arguments) != (1 if arguments[0].startswith("--logdir=") else 2):
        return None
    wanted = os.path.realpath(os.path.expanduser(logdir))
    for server in servers:
        at = _directory_of(server)
        if server.logdir and at and os.path.realpath(os.path.join(at, os.path.expanduser(server.logdir))) == wanted:
            return server
    return None


def _directory_of(server: Server) -> str | None:
    """The directory that a server was started in, which its log directory may be relative to."""
    with contextlib.suppress(ValueError, KeyError):
        return json.loads(base64.b64decode(server.cache_key))["working_directory"]
    return None


def launch(arguments: Sequence[str], timeout: float = 60, detached: bool = True) -> tuple[Server, subprocess.Popen[bytes]]:
    """Starts a server and waits until it answers."""
    with tempfile.TemporaryFile() as said:
        process = subprocess.Popen(
            [command_path(), *arguments],
            stdin=subprocess.DEVNULL,
            stdout=said,
            stderr=subprocess.STDOUT,
            start_new_session=detached,
        )
        until = time.monotonic() + timeout
        while time.monotonic() < until:
            for server in running():
                if server.pid == process.pid:
                    return server, process
            if process.poll() is not None:
                break
            time.sleep(0.02)
        is_late = process.poll() is None
        if is_late:
            process.kill()
        process.wait()
        said.seek(0)
        text = said.read().decode("utf-8", "replace").strip()
    why = f"it was not ready after {timeout:g} s" if is_late else f"it ended with exit code {process.returncode}"
    raise StartError(f"`{shlex.join(['seaboard', *arguments])}` could not be started: {why}.\n{text}")


def stop(server: Server, timeout: float = 10) -> None:
    """Ends a server and waits until it is gone."""
    with contextlib.suppress(ProcessLookupError):
        os.kill(server.pid, signal.SIGTERM)
    until = time.monotonic() + timeout
    while _is_alive(server.pid) and time.monotonic() < until:
        with contextlib.suppress(ChildProcessError):
            os.waitpid(server.pid, os.WNOHANG)
        time.sleep(0.02)


def arguments_of(options: dict[str, Any]) -> list[str]:
    """Keyword arguments as options of the command."""
    words = []
    for name, value in options.items():
        if isinstance(value, bool):
            words.append(f"--{name}={'true' if value else 'false'}")
        elif value is not None:
            words += [f"--{name}", str(value)]
    return words
