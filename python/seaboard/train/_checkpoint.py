"""Checkpoint, and what its restore() answers."""

from __future__ import annotations

import os
from typing import Any

from seaboard.train._errors import translated
from seaboard.train._objects import OWN, Module, Variable, children_of, is_trackable
from seaboard.train._tree import Tree

__all__ = ["Checkpoint"]


class Checkpoint(Module):
    """Saves and restores objects by the names that they have here: tf.train.Checkpoint.

    root: an object whose children are those of the checkpoint. kwargs: objects by name. options is taken and not used.
    """

    save_counter: Any

    def __init__(self, root: Any = None, **kwargs: Any):
        object.__setattr__(self, OWN + "root", root)
        object.__setattr__(self, OWN + "saved", Tree(False))
        object.__setattr__(self, OWN + "restored", None)
        if root is not None and not is_trackable(root):
            raise ValueError(_refusal("root", root))
        for name in sorted(kwargs):
            value = kwargs[name]
            if not is_trackable(value):
                raise ValueError(_refusal(name, value))
            if root is not None and dict(children_of(root)).get(name, value) is not value:
                raise ValueError(f"root has a child {name!r} already, which is another object than the argument of that name")
            setattr(self, name, value)

    def __getattr__(self, name: str) -> Any:
        if name == "save_counter":  # made when it is first asked for
            counter = Variable(0, "int64", "save_counter")
            object.__setattr__(self, name, counter)
            return counter
        raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")

    def _fill(self, tree: Tree, with_counter: bool) -> None:
        """with_counter: the library saves and restores it itself."""
        root = getattr(self, OWN + "root")
        if root is not None:
            tree.fill(root)
        tree.fill(self, skip="save_counter" if with_counter else None)

    def _save(self, write: Any) -> str:
        tree: Tree = getattr(self, OWN + "saved")
        tree.clear()
        self._fill(tree, True)
        tree.native.set_counter(int(self.save_counter))
        with translated():
            path = write(tree)
        self.save_counter.assign(tree.native.counter())
        tree.clear()
        return str(path)

    def save(self, file_prefix: str | os.PathLike[str], options: Any = None) -> str:
        """Counts save_counter up, writes FILE_PREFIX-<counter>, names it in the state file; answers the path."""
        return self._save(lambda tree: tree.native.save(file_prefix))

    def write(self, file_prefix: str | os.PathLike[str], options: Any = None) -> str:
        """Writes exactly file_prefix: no counter, no state file."""
        tree = Tree(False)
        self._fill(tree, False)
        with translated():
            return str(tree.native.write(file_prefix))

    def restore(self, save_path: str | os.PathLike[str] | None, options: Any = None) -> _Status:
        """Assigns what a checkpoint has to the objects of that name; what comes later gets its value then."""
        if save_path is None:
            return _NothingRestored()
        return self._restore(save_path, True)

    def read(self, save_path: str | os.PathLike[str], options: Any = None) -> _Status:
        """The same for what write() wrote: without save_counter."""
        return self._restore(save_path, False)

    def _restore(self, save_path: str | os.PathLike[str], with_counter: bool) -> _Status:
        path = os.fspath(save_path)
        if os.path.isdir(path) and os.path.exists(os.path.join(path, "variables", "variables.index")):
            path = os.path.join(path, "variables", "variables")  # a SavedModel
        tree = Tree(True)
        with translated():
            self._fill(tree, with_counter)
            if with_counter:
                tree.native.set_counter(int(self.save_counter))
            tree.native.restore(path, with_counter)
            tree.deliver()
        if with_counter:
            self.save_counter.assign(tree.native.counter())
        object.__setattr__(self, OWN + "restored", tree)
        return _Status(self, tree, with_counter)

    def sync(self) -> None:
        """Does nothing: saves are complete when they return."""


def _refusal(name: str, value: Any) -> str:
    return (
        f"`Checkpoint` was expecting {name} to be a trackable object, got {value!r}. Numbers and other values that can't be "
        "assigned to: put them into a numpy array or a seaboard.train.Variable"
    )


class _Status:
    """What became of a restore. Each method answers the status again."""

    def __init__(self, checkpoint: Checkpoint, tree: Tree, with_counter: bool):
        self._checkpoint, self._tree, self._with_counter = checkpoint, tree, with_counter

    def _assert(self, what: str) -> _Status:
        with translated():
            self._checkpoint._fill(self._tree, self._with_counter)
            self._tree.deliver()
        trouble = self._tree.native.check(what)
        if trouble:
            raise AssertionError(trouble)
        return self

    def assert_consumed(self) -> _Status:
        """All of the file was used, and all objects of the program were restored; else an AssertionError says what not."""
        return self._assert("consumed")

    def assert_existing_objects_matched(self) -> _Status:
        """All objects of the program were restored; else an AssertionError."""
        return self._assert("existing")

    def assert_nontrivial_match(self) -> _Status:
        """Something besides the root was matched; else an AssertionError."""
        return self._assert("nontrivial")

    def expect_partial(self) -> _Status:
        """No warning about values that no object wanted."""
        self._tree.is_partial = True
        return self

    def initialize_or_restore(self, session: Any = None) -> None:
        """Does nothing: values are assigned when restore() returns."""

    def run_restore_ops(self, session: Any = None) -> None:
        """Does nothing: values are assigned when restore() returns."""


class _NothingRestored(_Status):
    """What restore(None) answers: every assertion fails."""

    def __init__(self) -> None:
        pass

    def _assert(self, what: str) -> _Status:
        raise AssertionError("No checkpoint specified (save_path=None); nothing is being restored.")

    def expect_partial(self) -> _Status:
        """Nothing to expect."""
        return self

    def run_restore_ops(self, session: Any = None) -> None:
        """Always fails, as TensorFlow's does."""
        self._assert("")
