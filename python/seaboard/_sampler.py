"""A profile of the Python process where no framework has a profiler: which functions each thread is in, by sampling.

It is recorded through seaboard/profile.h, one track a thread; calls that are seen in samples that follow each other are one
slice. It costs a few hundredths of the time at 200 samples a second.
"""

from __future__ import annotations

import os
import sys
import threading
from typing import Any

from seaboard import _native

DEPTH = 64  # frames of a stack, from the outermost


class _Thread:
    """The calls that one thread was seen in last, and since when."""

    def __init__(self, track: int):
        self.track = track
        self.calls: list[tuple[str, int]] = []  # outermost first


class Sampler:
    """start() and stop(): a profile in folder/plugins/profile/TIME."""

    def __init__(self, folder: str | os.PathLike[str] | None, interval: float = 0.005):
        self._folder = folder
        self._interval = interval
        self._ended = threading.Event()
        self._thread: threading.Thread | None = None
        self._recorder = _native.Recorder()
        self._threads: dict[int, _Thread] = {}
        self._titles: dict[str, int] = {}  # of tracks
        self._names: dict[str, int] = {}  # of functions

    def start(self) -> None:
        """Begins to take samples, in a thread of its own."""
        self._thread = threading.Thread(target=self._run, name="seaboard profile", daemon=True)
        self._thread.start()

    def _end(self) -> None:
        self._ended.set()
        if self._thread is not None:
            self._thread.join()

    def discard(self) -> None:
        """Ends it; nothing is written."""
        self._end()
        self._recorder.stop(None)

    def stop(self, folder: str | os.PathLike[str] | None = None) -> None:
        """Ends it and writes the profile; folder: where to, when none was given before."""
        self._end()
        target = self._folder or folder
        if target is None:
            self._recorder.stop(None)
            raise ValueError("a profile needs a directory: pass profiler_outdir to trace_on()")
        self._recorder.stop(target)

    def _run(self) -> None:
        own = threading.get_ident()
        now = self._recorder.now()
        while not self._ended.is_set():
            now = self._recorder.now()
            stacks = {ident: _stack(frame) for ident, frame in sys._current_frames().items() if ident != own}
            for ident in self._threads.keys() | stacks.keys():
                self._see(ident, stacks.get(ident, ()), now)
            self._ended.wait(self._interval)
        for thread in self._threads.values():
            self._leave(thread, 0, now + int(self._interval * 1e9))

    def _see(self, ident: int, stack: tuple[str, ...], now: int) -> None:
        """Records the calls that a thread has left, and notes those that it has entered."""
        thread = self._threads.get(ident)
        if thread is None:
            thread = self._threads[ident] = _Thread(self._recorder.track(self._title(ident)))
        same = 0
        while same < min(len(stack), len(thread.calls)) and thread.calls[same][0] == stack[same]:
            same += 1
        self._leave(thread, same, now)
        thread.calls += [(name, now) for name in stack[same:]]

    def _leave(self, thread: _Thread, kept: int, now: int) -> None:
        for name, start in thread.calls[kept:]:
            number = self._names.get(name)
            if number is None:
                number = self._names[name] = self._recorder.name(name)
            self._recorder.span(thread.track, number, start, now - start)
        del thread.calls[kept:]

    def _title(self, ident: int) -> str:
        """The name of a thread; with its number, where another one has that name."""
        known = threading._active.get(ident)  # type: ignore[attr-defined]
        title = known.name if known is not None else f"thread {ident}"
        if self._titles.setdefault(title, ident) != ident:
            title = f"{title} ({ident})"
        return title


def _stack(frame: Any) -> tuple[str, ...]:
    names = []
    while frame is not None:
        code = frame.f_code
        names.append(f"{code.co_qualname} ({os.path.basename(code.co_filename)}:{code.co_firstlineno})")
        frame = frame.f_back
    return tuple(reversed(names))[:DEPTH]
