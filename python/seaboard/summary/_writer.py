"""SummaryWriter of tf.summary: an event file that can be the default one."""

from __future__ import annotations

import os
from typing import Any

from seaboard import _native
from seaboard._styles import TF2
from seaboard.summary._state import state

QUEUE, MILLIS = 10, 120_000


class SummaryWriter:
    """A writer for the functions of seaboard.summary; made by create_file_writer."""

    def __init__(self, native: _native.Writer, logdir: str | None):
        self._native = native
        self._logdir = logdir
        self._is_closed = False

    def as_default(self, step: Any = None) -> _Default:
        """A context in which this is the default writer, and step (unless None) the default step; flushes at its end."""
        return _Default(self, step)

    def set_as_default(self, step: Any = None) -> None:
        """Makes this the default writer of the thread, and step (unless None) the default step."""
        self._check_open()
        state.writer = self
        if step is not None:
            state.step = step

    def init(self) -> None:
        """Nothing: the file is there since the writer was made."""
        self._check_open()

    def flush(self) -> None:
        """Returns when everything written so far is in the file."""
        if not self._is_closed:
            self._native.flush()

    def close(self) -> None:
        """Writes what is pending and closes the file; doing it again does nothing."""
        if not self._is_closed:
            self._is_closed = True
            self._native.close()

    def stats(self) -> dict[str, int]:
        """Counts: calls written and dropped, bytes in the file, bytes pending, reports of trouble."""
        return self._native.stats()

    def _check_open(self) -> None:
        if self._is_closed:
            raise RuntimeError("SummaryWriter is already closed")


class _Default:
    """The context of as_default."""

    def __init__(self, writer: SummaryWriter, step: Any):
        self._writer, self._step = writer, step
        self._before: list[tuple[Any, Any]] = []

    def __enter__(self) -> SummaryWriter:
        self._writer._check_open()
        self._before.append((state.writer, state.step))
        state.writer = self._writer
        if self._step is not None:
            state.step = self._step
        return self._writer

    def __exit__(self, *_: object) -> None:
        self._writer.flush()
        writer, step = self._before.pop()
        state.writer = writer
        if self._step is not None:
            state.step = step


def create_file_writer(
    logdir: str | os.PathLike[str],
    max_queue: int | None = None,
    flush_millis: int | None = None,
    filename_suffix: str | None = None,
    name: str | None = None,
    experimental_trackable: bool = False,
    experimental_mesh: Any = None,
) -> SummaryWriter:
    """A writer of a new event file in logdir, which is made with all missing parents.

    max_queue, flush_millis: upper bounds for what waits to be written; in practice it is written within 100 ms.
    filename_suffix: the end of the file's name, ".v2" unless told. name and the experimental arguments change nothing.
    """
    if logdir is None:
        raise ValueError("Argument `logdir` cannot be None")
    suffix = filename_suffix
    if suffix is not None and not suffix.startswith("."):
        suffix = "." + suffix
    queue = QUEUE if max_queue is None else int(max_queue)
    millis = MILLIS if flush_millis is None else int(flush_millis)
    path = os.fspath(logdir) if not hasattr(logdir, "numpy") else logdir.numpy().decode()
    native = _native.Writer(path, TF2, queue, millis, suffix, None, False, False)
    native._open()
    return SummaryWriter(native, path)


def create_noop_writer() -> SummaryWriter:
    """A writer that takes everything and writes nothing."""
    return SummaryWriter(_native.Writer("nothing", TF2, QUEUE, MILLIS, None, None, False, True), None)


def flush(writer: SummaryWriter | None = None, name: str | None = None) -> None:
    """Flushes a writer: the given one, or the default one."""
    chosen = writer if writer is not None else state.writer
    if chosen is not None:
        chosen.flush()
