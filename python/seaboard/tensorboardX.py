"""tensorboardX's SummaryWriter: the methods of seaboard.torch, with the files that tensorboardX makes.

Differences from torch's, all of them tensorboardX's own: add_scalars writes below LOGDIR/main_tag/KEY, tags of
scalars, histograms and pictures are cleaned, pictures and sounds carry metadata, audio may have two channels.
"""

from __future__ import annotations

import contextlib
import inspect
import time
from collections.abc import Callable, Iterator
from typing import Any

from seaboard._styles import TBX
from seaboard.torch import FileWriter, SummaryWriter as _SummaryWriter

__all__ = ["FileWriter", "GlobalSummaryWriter", "SummaryWriter"]


class SummaryWriter(_SummaryWriter):
    """Writes event files as tensorboardX does; see seaboard.torch.SummaryWriter."""

    _style = TBX
    _has_defaults = False

    @contextlib.contextmanager
    def use_metadata(self, *, global_step: Any = None, walltime: float | None = None) -> Iterator[SummaryWriter]:
        """Inside of `with`, what is added to this writer's file without a step or a time gets these."""
        if self._has_defaults:
            raise AssertionError("Default metadata is already set.")
        if global_step is None and walltime is None:
            raise AssertionError("At least one of `global_step` or `walltime` must be provided.")
        defaults = {name: value for name, value in (("global_step", global_step), ("walltime", walltime)) if value is not None}
        names = [name for name in dir(type(self)) if name.startswith("add_") and name not in _OTHER_FILES]
        for name in names:
            setattr(self, name, _with_defaults(getattr(self, name), defaults))
        writes = _event_writes(self._raw_event, global_step, walltime)  # of methods that take neither: graphs, layouts
        for name, write in writes.items():
            setattr(self, name, write)
        self._has_defaults = True
        try:
            yield self
        finally:
            self._has_defaults = False
            for name in (*names, *writes):
                delattr(self, name)


_OTHER_FILES = ("add_scalars", "add_hparams", "add_embedding")  # write into files of their own


def _event_writes(write: Callable[[bytes], Any], step: Any, walltime: float | None) -> dict[str, Callable[..., Any]]:
    """How graphs, run metadata and summaries without a step are written as events with this step and time."""
    from seaboard._proto.messages import Event, Summary, TaggedRunMetadata

    def add(own_step: Any = None, **content: Any) -> None:
        event = Event(wall_time=time.time() if walltime is None else walltime, **content)
        own_step = step if own_step is None else own_step
        if own_step is not None:
            event.step = int(own_step)
        write(event.SerializeToString())

    return {
        "_graph": lambda graph: add(graph_def=graph),
        "_summary": lambda summary, own_step: add(own_step, summary=Summary.FromString(summary)),
        "_add_run_metadata": lambda tag, stats: add(tagged_run_metadata=TaggedRunMetadata(tag=tag, run_metadata=stats)),
    }


def _with_defaults(method: Callable[..., Any], defaults: dict[str, Any]) -> Callable[..., Any]:
    """The method, with these in place of arguments that are missing or None."""
    signature = inspect.signature(method)
    known = {name: value for name, value in defaults.items() if name in signature.parameters}

    def call(*args: Any, **keywords: Any) -> Any:
        try:
            given = signature.bind(*args, **keywords)
        except TypeError:
            return method(*args, **keywords)  # says what is wrong
        for name, value in known.items():
            if given.arguments.get(name) is None:
                given.arguments[name] = value
        return method(*given.args, **given.kwargs)

    return call


class GlobalSummaryWriter:
    """One writer for a whole program that counts the steps of each tag itself."""

    _shared: SummaryWriter | None = None
    _steps: dict[tuple[str, str], int] = {}

    def __init__(self, logdir: str | None = None, **options: Any):
        if GlobalSummaryWriter._shared is None:
            GlobalSummaryWriter._shared = SummaryWriter(logdir, **options)
            GlobalSummaryWriter._steps = {}

    @staticmethod
    def getSummaryWriter() -> GlobalSummaryWriter:
        """The writer of this process; made when there is none yet."""
        return GlobalSummaryWriter()

    def _next(self, kind: str, tag: str) -> int:
        step = self._steps[kind, tag] = self._steps.get((kind, tag), -1) + 1
        return step

    def add_scalar(self, tag: str, scalar_value: Any, walltime: float | None = None) -> None:
        """Adds a number at the tag's next step."""
        self._shared.add_scalar(tag, scalar_value, self._next("scalar", tag), walltime)

    def add_image(self, tag: str, img_tensor: Any, walltime: float | None = None, dataformats: str = "CHW") -> None:
        """Adds a picture at the tag's next step."""
        self._shared.add_image(tag, img_tensor, self._next("image", tag), walltime, dataformats)

    def add_text(self, tag: str, text_string: str, walltime: float | None = None) -> None:
        """Adds a text at the tag's next step."""
        self._shared.add_text(tag, text_string, self._next("text", tag), walltime)

    def add_histogram(self, tag: str, values: Any, walltime: float | None = None) -> None:
        """Adds a histogram at the tag's next step."""
        self._shared.add_histogram(tag, values, self._next("histogram", tag), walltime=walltime)

    def flush(self) -> None:
        """Returns when everything logged so far is in the file."""
        self._shared.flush()

    def close(self) -> None:
        """Closes the file; the next GlobalSummaryWriter begins anew."""
        if GlobalSummaryWriter._shared is not None:
            GlobalSummaryWriter._shared.close()
            GlobalSummaryWriter._shared = None
