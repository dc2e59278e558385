"""Saver: variables by name without objects, as TF1's programs save them: tf.compat.v1.train.Saver."""

from __future__ import annotations

import logging
import os
import sys
from typing import Any

import numpy as np

from seaboard import _native
from seaboard.train._errors import translated
from seaboard.train._objects import Held, full_name_of, held, is_variable, text_array, texts_of

__all__ = ["Saver"]

_log = logging.getLogger("seaboard")


def _is_of_graph(variable: Any) -> bool:
    """A variable of TF1, whose value only a session knows."""
    tensorflow = sys.modules.get("tensorflow")
    return tensorflow is not None and isinstance(variable, tensorflow.Variable) and not tensorflow.executing_eagerly()


class Saver:
    """Saves variables by name, numbered by step, and removes the oldest files.

    var_list: variables by name, or a list of variables that have names; without it all variables of TensorFlow's graph.
    reshape: restores a variable of another shape with as many elements. sharded: a number of data files that are written
    at the same time; True is one a device, and there is one device. max_to_keep: None or 0 keeps all. pad_step_number:
    the step with eight digits. save_relative_paths: the state file has them even when the directory is absolute.
    The other arguments are those of TF1's graphs, and are not used.
    """

    def __init__(
        self,
        var_list: Any = None,
        reshape: bool = False,
        sharded: bool | int = False,
        max_to_keep: int | None = 5,
        keep_checkpoint_every_n_hours: float = 10000.0,
        name: str | None = None,
        restore_sequentially: bool = False,
        saver_def: Any = None,
        builder: Any = None,
        defer_build: bool = False,
        allow_empty: bool = False,
        write_version: Any = 2,
        pad_step_number: bool = False,
        save_relative_paths: bool = False,
        filename: str | None = None,
    ):
        self._variables = _named(var_list)
        if not self._variables and not allow_empty:
            raise ValueError("No variables to save")
        self._options = (
            float(keep_checkpoint_every_n_hours), bool(pad_step_number), bool(save_relative_paths), int(sharded), bool(reshape)
        )
        self._max_to_keep = int(max_to_keep or 0)
        self._savers: dict[tuple[str, bool], Any] = {}
        self._held: dict[str, Held] = {}
        self._latest_filename = "checkpoint"

    def _saver(self, latest_filename: str, write_state: bool) -> Any:
        """The library's saver; its list of what it wrote belongs to one state file."""
        place = latest_filename, write_state
        if place not in self._savers:
            made = _native.Saver(self._max_to_keep, *self._options, latest_filename, write_state)
            for name, one in self._memory().items():
                made.add(name, one.memory)
            self._savers[place] = made
        return self._savers[place]

    def _memory(self) -> dict[str, Held]:
        """The memory of every variable, which stays the same."""
        if not self._held:
            for name, variable in self._variables.items():
                if _is_of_graph(variable):
                    memory = _empty(variable)
                    self._held[name] = Held(texts_of(memory) if memory.dtype.kind == "O" else memory, name, None)
                else:
                    self._held[name] = held(variable, True)
        return self._held

    def _refresh(self, sess: Any, saver: Any) -> None:
        """Brings the memory up to date where it is a copy."""
        graph = {name: variable for name, variable in self._variables.items() if _is_of_graph(variable)}
        values = sess.run(graph) if graph else {}
        for index, (name, one) in enumerate(self._memory().items()):
            if isinstance(one.memory, tuple):
                now = texts_of(np.asarray(values[name], object)) if name in values else held(self._variables[name], False).memory
                saver.set_strings(index, now)
            elif name in values:
                one.memory[...] = values[name]
            elif one.deliver is not None:
                now = held(self._variables[name], False).memory
                one.memory.copy_(now) if hasattr(one.memory, "copy_") else one.memory.__setitem__(..., now)

    def save(
        self,
        sess: Any,
        save_path: str | os.PathLike[str],
        global_step: Any = None,
        latest_filename: str | None = None,
        meta_graph_suffix: str = "meta",
        write_meta_graph: bool = True,
        write_state: bool = True,
        strip_default_attrs: bool = False,
        save_debug_info: bool = False,
    ) -> str:
        """Writes SAVE_PATH, or SAVE_PATH-<step>; answers the path. sess: a session of TF1, or None."""
        latest_filename = latest_filename or "checkpoint"
        if os.path.basename(latest_filename) != latest_filename:
            raise ValueError("'latest_filename' must not contain path components")
        folder, name = os.path.split(os.fspath(save_path))
        if global_step is None and name == latest_filename:
            raise ValueError(f"'latest_filename' collides with 'save_path': '{latest_filename}' and '{os.fspath(save_path)}'")
        if os.path.dirname(folder) and not os.path.isdir(folder) and not os.path.isdir(os.path.dirname(folder)):
            raise ValueError(f"Parent directory of {os.fspath(save_path)} doesn't exist, can't save.")
        saver = self._saver(latest_filename, write_state)
        self._refresh(sess, saver)
        self._latest_filename = latest_filename
        meta = self._meta_graph(sess) if write_meta_graph and meta_graph_suffix == "meta" else b""
        with translated():
            return str(saver.save(save_path, _step(sess, global_step), meta))

    def _meta_graph(self, sess: Any) -> bytes:
        tensorflow = sys.modules.get("tensorflow")
        graph = getattr(sess, "graph", None)
        if tensorflow is None or graph is None:
            return b""
        with graph.as_default():
            return bytes(tensorflow.compat.v1.train.export_meta_graph(graph=graph).SerializeToString())

    def restore(self, sess: Any, save_path: str | os.PathLike[str] | None) -> None:
        """Restores all variables, or none."""
        if save_path is None:
            raise ValueError("Can't load save_path when it is None.")
        path = os.fspath(save_path)
        if not any(os.path.exists(path + end) for end in (".index", "", "-00000-of-00001")):
            raise ValueError(f"The passed save_path is not a valid checkpoint: {path}")
        _log.info("Restoring parameters from %s", path)
        saver = self._saver(self._latest_filename, True)
        with translated():
            saver.restore(path)
        assigned = {}
        for index, (name, one) in enumerate(self._memory().items()):
            variable = self._variables[name]
            texts = saver.strings(index) if isinstance(one.memory, tuple) else None
            if _is_of_graph(variable):
                assigned[variable.initializer.inputs[1]] = one.memory if texts is None else text_array(texts, _empty(variable))
            elif one.deliver is not None:
                one.deliver(texts)
        if assigned:
            sess.run([variable.initializer for variable in self._variables.values() if _is_of_graph(variable)], assigned)

    @property
    def last_checkpoints(self) -> list[str]:
        """What it wrote and has not removed, oldest first."""
        return self._saver(self._latest_filename, True).paths()

    def recover_last_checkpoints(self, checkpoint_paths: list[str]) -> None:
        """Takes checkpoints that an earlier process wrote as its own, oldest first."""
        self._saver(self._latest_filename, True).recover(tuple(os.fsencode(path) for path in checkpoint_paths))

    def set_last_checkpoints(self, last_checkpoints: list[str]) -> None:
        """The same."""
        self.recover_last_checkpoints(last_checkpoints)


def _empty(variable: Any) -> np.ndarray[Any, Any]:
    """Memory for the value of a variable of a graph; of strings an array of empty ones."""
    dtype = np.dtype(variable.dtype.base_dtype.as_numpy_dtype)
    shape = variable.shape.as_list()
    return np.full(shape, b"", object) if dtype.kind == "O" else np.empty(shape, dtype)


def _named(given: Any) -> dict[str, Any]:
    """Variables by name."""
    if given is None:
        tensorflow = sys.modules.get("tensorflow")
        given = tensorflow.compat.v1.global_variables() if tensorflow is not None else []
    if isinstance(given, dict):
        named = dict(given)
    else:
        named = {}
        for variable in given:
            name = full_name_of(variable)
            if name is None:
                raise ValueError(f"a variable without a name can't be in a list: use a dictionary of names; got {variable!r}")
            if name in named:
                raise ValueError(f"At least two variables have the same name: {name}")
            named[name] = variable
    for name, variable in named.items():
        if not is_variable(variable) and not _is_of_graph(variable):
            raise TypeError(f"Variable to save is not a Variable: {name!r} is {variable!r}")
    return named


def _step(sess: Any, step: Any) -> int | None:
    if step is None:
        return None
    if hasattr(sess, "run") and type(step).__module__.startswith("tensorflow"):
        step = sess.run(step)
    return int(step)
