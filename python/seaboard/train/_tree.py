"""The objects of a program as the library's tree of objects, for one save or one restore."""

from __future__ import annotations

import collections
import logging
from typing import Any

import numpy as np

from seaboard import _native
from seaboard.train._objects import (
    OWN,
    Held,
    Module,
    children_of,
    dtype_named,
    full_name_of,
    has_state_dict,
    held,
    is_trackable,
    is_variable,
    values_of,
)
from seaboard.train._states import StateDict

__all__ = ["Tree"]

_log = logging.getLogger("seaboard")


class Tree:
    """Numbers objects as the library does: 0 is the root. is_written: it is to be restored."""

    def __init__(self, is_written: bool):
        self.native = _native.Tree()
        self.is_written = is_written
        self.is_partial = False
        self._reset()

    def _reset(self) -> None:
        self._things: list[Any] = []  # by number, where they are objects of the program
        self._numbers: dict[int, int] = {}  # by id(); the objects are kept alive above
        self._edges: dict[tuple[int, str], int] = {}
        self._held: dict[int, Held] = {}
        self._values: dict[int, tuple[list[str], Any]] = {}
        self._states: list[StateDict] = []
        self._optimizers: list[tuple[int, Any]] = []
        self._waits: set[tuple[int, str]] = set()

    def clear(self) -> None:
        """Forgets all objects."""
        self.native.clear()
        self._reset()

    # ---- objects

    def fill(self, root: Any, skip: str | None = None) -> None:
        """Adds all objects below the root that are not there yet. skip: a child of the root that is left out."""
        self._know(root, 0)
        self._add_below(root, 0, skip)

    def arrived(self, number: int, name: str, thing: Any) -> None:
        """An object has got a child: it and all below it get what the file has for them."""
        if (number, name) not in self._edges:
            self._add_edge(number, name, thing)
            self.deliver()

    def _know(self, thing: Any, number: int) -> None:
        if id(thing) not in self._numbers:
            self._numbers[id(thing)] = number
            self._things.append(thing)

    def _add_edge(self, parent: int, name: str, thing: Any) -> None:
        known = self._numbers.get(id(thing))
        if known is not None:
            self._edges[parent, name] = known
            self.native.link(parent, name, known)
            return
        number = self._add(parent, name, thing)
        self._add_below(thing, number)

    def _add_below(self, thing: Any, number: int, skip: str | None = None) -> None:
        queue = collections.deque([(number, thing)])
        while queue:
            parent, owner = queue.popleft()
            if is_variable(owner):
                continue
            for name, child in children_of(owner):
                if (parent, name) in self._edges or (parent == 0 and name == skip):
                    continue
                known = self._numbers.get(id(child))
                if known is None:
                    queue.append((self._add(parent, name, child), child))
                else:
                    self._edges[parent, name] = known
                    self.native.link(parent, name, known)
        self._add_slots()

    def _add(self, parent: int, name: str, thing: Any) -> int:
        if is_variable(thing):
            one = held(thing, self.is_written)
            number = self.native.variable(parent, name, one.full_name or full_name_of(thing), one.memory, self.is_written)
            if self.is_written:
                self._held[number] = one
        else:
            number = self.native.add(parent, name)
        self._edges[parent, name] = number
        self._know(thing, number)
        if not is_variable(thing):
            self._add_values(number, thing)
        return number

    def _add_values(self, number: int, thing: Any) -> None:
        if has_state_dict(thing):
            self._states.append(StateDict(self, number, thing))
            return
        if callable(getattr(thing, "get_slot_names", None)):
            self._optimizers.append((number, thing))
        found = None if isinstance(thing, (dict, list, tuple)) else values_of(thing)
        if found is None:
            return
        values, put = found
        for name, value in values.items():
            is_text = value.dtype.kind in "OSU"
            self.native.set_value(number, name, (tuple(value.reshape(-1).tolist()), value.shape) if is_text else value)
        if self.is_written:
            self._values[number] = (list(values), put)

    def _add_slots(self) -> None:
        """The slots of TF1's optimizers, which belong to an optimizer and a variable."""
        for number, optimizer in self._optimizers:
            for variable in [thing for thing in self._things if is_variable(thing)]:
                owner = self._numbers[id(variable)]
                for name in optimizer.get_slot_names():
                    slot = optimizer.get_slot(variable, name)
                    if slot is None or (number, f"{owner}/{name}") in self._edges:
                        continue
                    self._add_slot(number, owner, name, slot)

    def _add_slot(self, number: int, owner: int, name: str, slot: Any) -> None:
        one = held(slot, self.is_written)
        made = self.native.slot(number, owner, name, one.full_name, one.memory, self.is_written)
        self._edges[number, f"{owner}/{name}"] = made
        if self.is_written:
            self._held[made] = one

    def slot_arrived(self, number: int, owner: int, name: str, slot: Any) -> None:
        """An optimizer has made a slot for a variable, which gets what the file has for it."""
        if (number, f"{owner}/{name}") not in self._edges:
            self._add_slot(number, owner, name, slot)
            self.deliver()

    def variable_at(self, number: int, path: tuple[str, ...], memory: Any) -> int:
        """Adds a variable some edges below an object."""
        for name in path[:-1]:
            if (number, name) not in self._edges:
                self._edges[number, name] = self.native.add(number, name)
            number = self._edges[number, name]
        made = self.native.variable(number, path[-1], ".".join(path), memory, self.is_written)
        self._edges[number, path[-1]] = made
        return made

    # ---- restoring

    def deliver(self) -> None:
        """Gives all objects what was restored for them, and lets those wait that have no such child yet."""
        for number, one in list(self._held.items()):
            if self.native.is_restored(number):
                del self._held[number]
                if one.deliver is not None:
                    one.deliver(self.native.strings(number) if isinstance(one.memory, tuple) else None)
                self.native.release(number)
        for number, (names, put) in list(self._values.items()):
            self._deliver_values(number, names, put)
        self._states = [state for state in self._states if not state.deliver()]
        for thing in self._things:
            self._wait(thing, self._numbers[id(thing)])
        for number, optimizer in self._optimizers:
            self._wait_for_slots(optimizer, number)

    def _deliver_values(self, number: int, names: list[str], put: Any) -> None:
        if not self.native.is_value_restored(number, names[0]):
            return
        del self._values[number]
        found = {}
        for name in names:
            dtype, shape, data = self.native.get_value(number, name)
            if dtype != "string":
                found[name] = np.frombuffer(data, dtype_named(dtype)).reshape(shape)
            elif shape:
                found[name] = np.array(data, object).reshape(shape)
            else:
                found[name] = data[0]
        put(found)

    def _wait(self, thing: Any, number: int) -> None:
        """Children that come later get their values when they come."""
        names = self.native.awaited(number)
        if not names:
            return
        if isinstance(thing, Module):
            waiting = thing.__dict__.setdefault(OWN + "waiting", [])
            if not any(one.tree is self for one in waiting):
                waiting[:] = [_Arrival(self, number)]  # of the newest restore
        elif hasattr(thing, "_deferred_dependencies") and not is_variable(thing):
            thing._maybe_initialize_trackable()
            for name in names:
                if (number, name) not in self._waits:
                    self._waits.add((number, name))
                    thing._deferred_dependencies.setdefault(name, []).append(_Position(self, number, name))

    def _wait_for_slots(self, optimizer: Any, number: int) -> None:
        """TF1's optimizers make slots with the first gradients, and ask then what was left for them."""
        if not callable(getattr(optimizer, "_create_or_restore_slot_variable", None)):
            return
        for variable in [thing for thing in self._things if is_variable(thing)]:
            owner = self._numbers[id(variable)]
            for name in self.native.awaited_slots(number, owner):
                if (number, f"{owner}/{name}") not in self._waits:
                    self._waits.add((number, f"{owner}/{name}"))
                    position = _SlotPosition(self, number, owner, name)
                    optimizer._create_or_restore_slot_variable(
                        slot_variable_position=position, slot_name=name, variable=variable
                    )

    def __del__(self) -> None:
        try:
            unused = [] if self.is_partial or not self.is_written else self.native.unused()
            if unused:
                _log.warning(
                    "%d values of a checkpoint were restored to no object, among them %s. Where that is meant, "
                    "call expect_partial() of what restore() answers.",
                    len(unused),
                    ", ".join(unused[:10]),
                )
        except Exception:  # noqa: BLE001, S110  the interpreter may be ending
            pass


class _Arrival:
    """Called by a Module for each attribute that it gets."""

    def __init__(self, tree: Tree, number: int):
        self.tree, self.number = tree, number

    def __call__(self, name: str, thing: Any) -> None:
        if is_trackable(thing):
            self.tree.arrived(self.number, name, thing)


class _Position:
    """What TensorFlow's objects call when they get a child of this name; it has the names that TensorFlow's own has."""

    restore_uid = 1 << 62

    def __init__(self, tree: Tree, number: int, name: str):
        self._tree, self._number, self._name = tree, number, name
        self.checkpoint = self

    def is_simple_variable(self) -> bool:
        return False

    def restore(self, trackable: Any, reader: Any = None) -> None:
        self._tree.arrived(self._number, self._name, trackable)


class _SlotPosition(_Position):
    """The same for the slot of an optimizer."""

    def __init__(self, tree: Tree, number: int, owner: int, name: str):
        super().__init__(tree, number, name)
        self._owner = owner

    def restore(self, trackable: Any, reader: Any = None) -> None:
        self._tree.slot_arrived(self._number, self._owner, self._name, trackable)
