"""A profile of the Python process where no framework has a profiler: which functions each thread is in, by sampling.

The result is an XSpace file where the profile dashboard looks for it, one line a thread; calls that are seen in samples
that follow each other are one slice. It costs a few hundredths of the time at 200 samples a second.
"""

from __future__ import annotations

import os
import sys
import threading
import time
from typing import Any

from seaboard._proto.message import define

_X = define(
    """
XSpace
    1 planes XPlane repeated
    4 hostnames string repeated
XPlane
    1 id int64
    2 name string
    3 lines XLine repeated
    4 event_metadata XEventMetadata map:int64
XLine
    1 id int64
    2 name string
    3 timestamp_ns int64
    4 events XEvent repeated
    9 duration_ps int64
    11 display_name string
XEvent
    1 metadata_id int64
    2 offset_ps int64
    3 duration_ps int64
XEventMetadata
    1 id int64
    2 name string
"""
)
DEPTH = 64  # frames of a stack, from the outermost


class Sampler:
    """start() and stop(): a profile in folder/plugins/profile/TIME."""

    def __init__(self, folder: str | os.PathLike[str] | None, interval: float = 0.005):
        self._folder = folder
        self._interval = interval
        self._ended = threading.Event()
        self._thread: threading.Thread | None = None
        self._samples: list[tuple[int, dict[int, tuple[str, ...]]]] = []
        self._names: dict[int, str] = {}

    def start(self) -> None:
        """Begins to take samples, in a thread of its own."""
        self._thread = threading.Thread(target=self._run, name="seaboard profile", daemon=True)
        self._thread.start()

    def discard(self) -> None:
        """Ends it; nothing is written."""
        self._ended.set()
        if self._thread is not None:
            self._thread.join()

    def stop(self, folder: str | os.PathLike[str] | None = None) -> None:
        """Ends it and writes the profile; folder: where to, when none was given before."""
        self.discard()
        target = self._folder or folder
        if target is None:
            raise ValueError("a profile needs a directory: pass profiler_outdir to trace_on()")
        from seaboard import _native
        from seaboard._styles import TF2

        writer = _native.Writer(os.fspath(target), TF2, 10, 120_000, ".profile", None, False, False)
        writer._profile(None, self._space())
        writer.close()

    def _run(self) -> None:
        own = threading.get_ident()
        while not self._ended.is_set():
            stacks = {ident: _stack(frame) for ident, frame in sys._current_frames().items() if ident != own}
            self._samples.append((time.time_ns(), stacks))
            self._ended.wait(self._interval)
        self._names = {thread.ident or 0: thread.name for thread in threading.enumerate()}

    def _space(self) -> bytes:
        """The serialized XSpace of all samples."""
        import socket

        plane = _X["XPlane"](id=1, name="/host:CPU")
        known: dict[str, int] = {}
        begin = self._samples[0][0] if self._samples else time.time_ns()
        threads = sorted({ident for _, stacks in self._samples for ident in stacks})
        for place, ident in enumerate(threads, 1):
            line = plane.lines.add(id=place, name=self._names.get(ident, f"thread {ident}"), timestamp_ns=begin)
            for name, start, end in self._slices(ident):
                number = known.setdefault(name, len(known) + 1)
                line.events.add(metadata_id=number, offset_ps=(start - begin) * 1000, duration_ps=(end - start) * 1000)
        for name, number in known.items():
            plane.event_metadata[number] = _X["XEventMetadata"](id=number, name=name)
        return _X["XSpace"](planes=[plane], hostnames=[socket.gethostname()]).SerializeToString()

    def _slices(self, ident: int) -> list[tuple[str, int, int]]:
        """(function, start, end) of a thread, outer calls before inner ones."""
        found: list[tuple[str, int, int]] = []
        open_calls: list[tuple[str, int]] = []
        step = int(self._interval * 1e9)
        last = 0
        for moment, stacks in self._samples:
            stack = stacks.get(ident, ())
            same = 0
            while same < min(len(stack), len(open_calls)) and open_calls[same][0] == stack[same]:
                same += 1
            found += [(name, start, moment) for name, start in open_calls[same:]]
            open_calls = open_calls[:same] + [(name, moment) for name in stack[same:]]
            last = moment
        found += [(name, start, last + step) for name, start in open_calls]
        return sorted(found, key=lambda one: (one[1], -one[2]))


def _stack(frame: Any) -> tuple[str, ...]:
    names = []
    while frame is not None:
        code = frame.f_code
        names.append(f"{code.co_qualname} ({os.path.basename(code.co_filename)}:{code.co_firstlineno})")
        frame = frame.f_back
    return tuple(reversed(names))[:DEPTH]
