"""tensorboard.program: a server that a Python program starts for itself.

    board = program.TensorBoard()
    board.configure(argv=[None, "--logdir", "runs"])
    url = board.launch()

The server is a process of its own that ends with the program.
"""

from __future__ import annotations

import atexit
import subprocess
from typing import Any, Sequence

from seaboard import _servers

__all__ = ["TensorBoard"]


class TensorBoard:
    """A server: configure() it, then launch() it."""

    def __init__(self, *_: Any, **__: Any):
        self._arguments: list[str] = []
        self._process: subprocess.Popen[bytes] | None = None
        self._server: _servers.Server | None = None

    def configure(self, argv: Sequence[str | None] = ("",), **kwargs: Any) -> list[str | None]:
        """Takes options: argv as on a command line (its first word is the program's name), and by keyword."""
        words = [str(word) for word in list(argv)[1:] if word is not None]
        self._arguments = words + _servers.arguments_of(kwargs)
        return [argv[0] if argv else None]

    def launch(self) -> str:
        """Starts the server and returns its address."""
        if self._server is None:
            self._server, self._process = _servers.launch(self._arguments, detached=False)
            atexit.register(self.stop)
        return self._server.url

    def stop(self) -> None:
        """Ends the server."""
        process, self._process, self._server = self._process, None, None
        if process is not None and process.poll() is None:
            process.terminate()
            process.wait()

    def main(self, *_: Any) -> int:
        """Starts the server in the foreground; returns its exit code."""
        from seaboard._command import command_path

        return subprocess.call([command_path(), *self._arguments])
