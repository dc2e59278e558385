"""CheckpointManager: the newest checkpoints of a directory; and how the newest one is found."""

from __future__ import annotations

import logging
import os
import time
from collections.abc import Callable, Iterator
from typing import Any

from seaboard import _native
from seaboard.train._checkpoint import Checkpoint
from seaboard.train._objects import OWN

__all__ = ["CheckpointManager", "checkpoints_iterator", "latest_checkpoint"]

_log = logging.getLogger("seaboard")


def latest_checkpoint(checkpoint_dir: str | os.PathLike[str], latest_filename: str | None = None) -> str | None:
    """The newest checkpoint of a directory, as its state file names it; None: there is none."""
    if latest_filename not in (None, "checkpoint"):
        return _named_in(os.fspath(checkpoint_dir), latest_filename)
    try:
        return _native.latest_checkpoint(checkpoint_dir)
    except ValueError as error:
        _log.warning("%s", error)
        return None


def _named_in(folder: str, filename: str) -> str | None:
    """The same for a state file of another name, which only Savers write: its first field is the newest."""
    import ast
    import re

    try:
        with open(os.path.join(folder, filename), encoding="utf-8") as file:
            found = re.search(r'^model_checkpoint_path:\s*("(?:[^"\\]|\\.)*")', file.read(), re.MULTILINE)
    except OSError:
        return None
    path = os.path.join(folder, ast.literal_eval(found.group(1))) if found else None
    return path if path and os.path.exists(path + ".index") else None


def checkpoints_iterator(
    checkpoint_dir: str | os.PathLike[str],
    min_interval_secs: float = 0,
    timeout: float | None = None,
    timeout_fn: Callable[[], bool] | None = None,
) -> Iterator[str]:
    """Every new checkpoint of a directory, as it appears. timeout: seconds without one after which timeout_fn is asked
    whether that is all; without timeout_fn it is."""
    last = None
    while True:
        path = _wait_for_new(checkpoint_dir, last, timeout)
        if path is None:
            if timeout_fn is None or timeout_fn():
                return
            continue
        began = time.monotonic()
        last = path
        yield path
        time.sleep(max(0.0, began + min_interval_secs - time.monotonic()))


def _wait_for_new(folder: str | os.PathLike[str], last: str | None, timeout: float | None) -> str | None:
    end = None if timeout is None else time.monotonic() + timeout
    while True:
        path = latest_checkpoint(folder)
        if path is not None and path != last:
            return path
        if end is not None and time.monotonic() >= end:
            return None
        time.sleep(0.1 if end is None else max(0.0, min(0.1, end - time.monotonic())))


class CheckpointManager:
    """Saves numbered checkpoints in a directory and removes the oldest ones: tf.train.CheckpointManager.

    max_to_keep: how many are kept; None: all. keep_checkpoint_every_n_hours: one that is that much younger than the last
    preserved one is never removed. step_counter, checkpoint_interval: save() does nothing until so many steps have passed.
    init_fn: what restore_or_initialize() calls where there is no checkpoint.
    """

    def __init__(
        self,
        checkpoint: Checkpoint,
        directory: str | os.PathLike[str],
        max_to_keep: int | None,
        keep_checkpoint_every_n_hours: float | None = None,
        checkpoint_name: str = "ckpt",
        step_counter: Any = None,
        checkpoint_interval: int | None = None,
        init_fn: Callable[[], Any] | None = None,
        last_checkpoint_step: int | None = None,
    ):
        if max_to_keep is not None and max_to_keep <= 0:
            raise ValueError(f"Expected a positive integer or `None` for `max_to_keep`, got {max_to_keep}.")
        if checkpoint_interval is not None and step_counter is None:
            raise ValueError("`step_counter` should be passed if `checkpoint_interval` is not None.")
        self._checkpoint = checkpoint
        self._directory = os.fspath(directory)
        self._step_counter = step_counter
        self._interval = checkpoint_interval
        self._last_step = last_checkpoint_step
        self._init_fn = init_fn
        folder = self._directory if self._directory == "/" else self._directory.rstrip("/")
        self._native = _native.Manager(
            getattr(checkpoint, OWN + "saved").native, folder, checkpoint_name, max_to_keep or 0, keep_checkpoint_every_n_hours or 0.0
        )

    @property
    def checkpoint(self) -> Checkpoint:
        """What is saved."""
        return self._checkpoint

    @property
    def directory(self) -> str:
        """Where it is saved."""
        return self._directory

    @property
    def checkpoint_interval(self) -> int | None:
        """Steps between two saves."""
        return self._interval

    @property
    def latest_checkpoint(self) -> str | None:
        """The newest checkpoint; None: there is none."""
        return self._native.latest()

    @property
    def checkpoints(self) -> list[str]:
        """Those that are kept, oldest first, without preserved ones."""
        return self._native.paths()

    def save(self, checkpoint_number: Any = None, check_interval: bool = True, options: Any = None) -> str | None:
        """Saves, and removes what is too old. Answers the path, or None when the step counter says that it is not time yet.

        checkpoint_number: instead of save_counter, which is counted up all the same. check_interval: False saves before
        the interval is over, but not twice at one step.
        """
        if self._interval is not None:
            step = int(self._step_counter)
            if self._last_step is not None:
                if step == self._last_step or (check_interval and step < self._last_step + self._interval):
                    return None
            self._last_step = step
        number = None if checkpoint_number is None else int(checkpoint_number)
        return self._checkpoint._save(lambda tree: self._native.save(number))

    def restore_or_initialize(self) -> str | None:
        """Restores the newest checkpoint and answers its path; where there is none calls init_fn and answers None."""
        latest = self.latest_checkpoint
        if latest is None:
            if self._init_fn is not None:
                self._init_fn()
            return None
        self._checkpoint.restore(latest)
        if self._interval is not None:
            self._last_step = int(self._step_counter)
        return latest

    def sync(self) -> None:
        """Does nothing: saves are complete when they return."""
