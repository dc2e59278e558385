"""FileWriter of torch and tensorboardX: takes prepared summaries and events."""

from __future__ import annotations

import contextlib
import time
from typing import Any, Iterable, Iterator

Step = Any  # a whole number, a tensor of one, or None


class FileWriter:
    """Takes prepared summaries and events: messages of any protobuf library, or their bytes."""

    def __init__(
        self, log_dir: Any, max_queue: int = 10, flush_secs: float = 120, filename_suffix: str = ""
    ):
        from seaboard.torch import SummaryWriter

        if isinstance(log_dir, SummaryWriter):
            self._writer = log_dir
        else:
            self._writer = SummaryWriter(log_dir, "", None, max_queue, flush_secs, filename_suffix)
        self._step: Step = None
        self._walltime: float | None = None

    @contextlib.contextmanager
    def use_metadata(self, *, global_step: Step = None, walltime: float | None = None) -> Iterator[FileWriter]:
        """Inside of `with`, events and summaries without a step or a time get these: tensorboardX's."""
        if self._step is not None or self._walltime is not None:
            raise AssertionError("Default metadata is already set.")
        if global_step is None and walltime is None:
            raise AssertionError("At least one of `global_step` or `walltime` must be provided.")
        self._step, self._walltime = global_step, walltime
        try:
            yield self
        finally:
            self._step = self._walltime = None

    def get_logdir(self) -> str:
        """The directory that the event file is in."""
        return self._writer.log_dir

    def add_event(self, event: Any, step: Step = None, walltime: float | None = None) -> None:
        """Adds an Event; its time is now unless it is given, its step its own unless one is given."""
        from seaboard._proto.messages import Event

        walltime = self._walltime if walltime is None else walltime
        step = self._step if step is None else step
        copy = Event.FromString(bytes_of(event))
        copy.wall_time = time.time() if walltime is None else walltime
        if step is not None:
            copy.step = int(step)
        self._writer._raw_event(copy.SerializeToString())

    def add_summary(self, summary: Any, global_step: Step = None, walltime: float | None = None) -> None:
        """Adds a Summary."""
        global_step = self._step if global_step is None else global_step
        if walltime is None and self._walltime is None:
            self._writer._summary(bytes_of(summary), global_step)
        else:
            from seaboard._proto.messages import Event, Summary

            self.add_event(Event(summary=Summary.FromString(bytes_of(summary))), global_step, walltime)

    def add_graph(self, graph_profile: Iterable[Any], walltime: float | None = None) -> None:
        """Adds a GraphDef and its RunMetadata."""
        graph, run_metadata = graph_profile
        self._writer._graph(bytes_of(graph))
        self._writer._add_run_metadata("step1", bytes_of(run_metadata))

    def add_onnx_graph(self, graph: Any, walltime: float | None = None) -> None:
        """Adds a GraphDef."""
        self._writer._graph(bytes_of(graph))

    def flush(self) -> None:
        """Returns when everything added so far is in the file."""
        self._writer.flush()

    def close(self) -> None:
        """Closes the file."""
        self._writer.close()

    def reopen(self) -> None:
        """Opens a new file in the same directory, if it was closed."""
        self._writer._open()


def bytes_of(message: Any) -> bytes:
    """A message of any protobuf library, encoded."""
    return message if isinstance(message, bytes) else message.SerializeToString()
