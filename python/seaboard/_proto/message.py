"""A small protobuf runtime: messages as Python objects with the methods that programs use on the real ones."""

from __future__ import annotations

from typing import Any, Iterable, Iterator

from seaboard._proto.wire import BYTES, FIXED64, SCALARS, VARINT, fields, read_varint, varint


class Field:
    """One field: what a row of messages.py says."""

    def __init__(self, number: int, name: str, kind: str, repeated: bool, group: str, key: str):
        self.number, self.name, self.kind = number, name, kind
        self.repeated, self.group, self.key = repeated, group, key
        self.scalar = SCALARS.get(kind)
        self.message: type[Message] | None = None  # filled in when all messages are known

    def default(self, owner: Message) -> Any:
        if self.key:
            return Map(owner, self)
        if self.repeated:
            return Repeated(owner, self)
        if self.message:
            return self.message._below(owner, self)
        return self.scalar.default

    def one(self, value: Any) -> bytes:
        """Key and value of one element."""
        if self.message:
            return _block(self.number, value.SerializeToString())
        if self.scalar.wire == BYTES:
            return _block(self.number, self.scalar.encode(value))
        return varint(self.number << 3 | self.scalar.wire) + self.scalar.encode(value)

    def read(self, wire: int, value: Any) -> list[Any]:
        """The elements of a stored value; several when they are packed."""
        if self.message:
            return [self.message.FromString(value)]
        scalar = self.scalar
        if wire != BYTES or scalar.wire == BYTES:
            return [scalar.decode(value)]
        found, at = [], 0
        while at < len(value):
            if scalar.wire == VARINT:
                number, at = read_varint(value, at)
            else:
                size = 8 if scalar.wire == FIXED64 else 4
                number, at = int.from_bytes(value[at : at + size], "little"), at + size
            found.append(scalar.decode(number))
        return found


def _block(number: int, data: bytes) -> bytes:
    return varint(number << 3 | BYTES) + varint(len(data)) + data


class Repeated(list):
    """A repeated field."""

    def __init__(self, owner: Message, field: Field, items: Iterable[Any] = ()):
        super().__init__(items)
        self._owner, self._field = owner, field

    def add(self, **values: Any) -> Any:
        """A new message at the end."""
        made = self._field.message(**values)
        self.append(made)
        return made

    def append(self, item: Any) -> None:
        super().append(item)
        self._owner._attach(self._field, self)

    def extend(self, items: Iterable[Any]) -> None:
        super().extend(items)
        self._owner._attach(self._field, self)

    def MergeFrom(self, items: Iterable[Any]) -> None:
        self.extend(items)


class Map(dict):
    """A map field; a message that is missing is made when it is asked for."""

    def __init__(self, owner: Message, field: Field):
        super().__init__()
        self._owner, self._field = owner, field

    def __missing__(self, key: Any) -> Any:
        if not self._field.message:
            raise KeyError(key)
        self[key] = self._field.message()
        return self[key]

    def __setitem__(self, key: Any, value: Any) -> None:
        super().__setitem__(key, value)
        self._owner._attach(self._field, self)

    def encode(self) -> bytes:
        out = bytearray()
        for key, value in self.items():
            entry = SCALARS[self._field.key]
            data = varint(1 << 3 | entry.wire)
            text = entry.encode(key)
            data += varint(len(text)) + text if entry.wire == BYTES else text
            number, self._field.number = self._field.number, 2
            try:
                data += self._field.one(value)
            finally:
                self._field.number = number
            out += _block(number, data)
        return bytes(out)


class Message:
    """The base of all messages. Fields are attributes; a message that was never set reads as an empty one."""

    _fields: dict[str, Field] = {}
    _numbers: dict[int, Field] = {}
    __slots__ = ("_values", "_owner", "_place")

    def __init__(self, **values: Any):
        object.__setattr__(self, "_values", {})
        object.__setattr__(self, "_owner", None)
        object.__setattr__(self, "_place", None)
        for name, value in values.items():
            if value is not None:
                self._set(name, value)

    @classmethod
    def _below(cls, owner: Message, place: Field) -> Message:
        """An empty message that becomes a part of its owner when something is set in it."""
        made = cls()
        object.__setattr__(made, "_owner", owner)
        object.__setattr__(made, "_place", place)
        return made

    def _field(self, name: str) -> Field:
        field = self._fields.get(name)
        if field is None:
            raise AttributeError(f"{type(self).__name__} has no field {name!r}")
        return field

    def _attach(self, field: Field, value: Any) -> None:
        """A value was set below this message: it and all that it is a part of are there now."""
        if self._values.get(field.name) is not value:
            if field.group:
                self._clear_group(field.group)
            self._values[field.name] = value
        if self._owner is not None:
            owner, place = self._owner, self._place
            object.__setattr__(self, "_owner", None)
            owner._attach(place, self)

    def _clear_group(self, group: str) -> None:
        for field in self._fields.values():
            if field.group == group:
                self._values.pop(field.name, None)

    def _set(self, name: str, value: Any) -> None:
        field = self._field(name)
        if field.key:
            made = Map(self, field)
            made.update(value)
            value = made
        elif field.repeated:
            items = (field.message(**item) if isinstance(item, dict) and field.message else item for item in value)
            value = Repeated(self, field, items)
        elif field.message:
            if isinstance(value, dict):
                value = field.message(**value)
            if not isinstance(value, field.message):
                value = field.message.FromString(value.SerializeToString())
        else:
            value = field.scalar.decode(value) if field.scalar.wire == BYTES and isinstance(value, bytes) else value
            field.scalar.encode(value)  # raises for what can't be stored
        self._attach(field, value)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        field = self._field(name)
        if name in self._values:
            return self._values[name]
        value = field.default(self)
        return value

    def __setattr__(self, name: str, value: Any) -> None:
        field = self._field(name)
        if field.message or field.repeated:
            raise AttributeError(f"assignment to {name!r} is not allowed: change it in place, or use CopyFrom")
        self._set(name, value)

    # ---- the methods that protobuf's messages have

    def HasField(self, name: str) -> bool:
        self._field(name)
        return name in self._values

    def WhichOneof(self, group: str) -> str | None:
        for name in self._values:
            if self._fields[name].group == group:
                return name
        return None

    def ClearField(self, name: str) -> None:
        self._field(name)
        self._values.pop(name, None)

    def Clear(self) -> None:
        self._values.clear()

    def ListFields(self) -> list[tuple[Field, Any]]:
        return [(field, self._values[field.name]) for field in self._ordered() if field.name in self._values]

    def CopyFrom(self, other: Any) -> None:
        self.ParseFromString(other.SerializeToString())

    def MergeFrom(self, other: Any) -> None:
        self.MergeFromString(other.SerializeToString())

    def ParseFromString(self, data: Any) -> int:
        self.Clear()
        return self.MergeFromString(data)

    def MergeFromString(self, data: Any) -> int:
        view = memoryview(data)
        for number, wire, value in fields(view):
            field = self._numbers.get(number)
            if field is not None:
                self._merge(field, wire, value)
        if self._owner is not None:
            owner, place = self._owner, self._place
            object.__setattr__(self, "_owner", None)
            owner._attach(place, self)
        return len(view)

    def _merge(self, field: Field, wire: int, value: Any) -> None:
        if field.key:
            entry = {number: (kind, item) for number, kind, item in fields(value)}
            key = SCALARS[field.key].decode(entry[1][1]) if 1 in entry else SCALARS[field.key].default
            held = self._values.setdefault(field.name, Map(self, field))
            if 2 in entry:
                held[key] = field.read(*entry[2])[0]
            else:
                held[key] = field.message() if field.message else field.scalar.default
        elif field.repeated:
            self._values.setdefault(field.name, Repeated(self, field)).extend(field.read(wire, value))
        else:
            if field.group:
                self._clear_group(field.group)
            old = self._values.get(field.name)
            if field.message and old is not None:
                old.MergeFromString(value)
            else:
                self._values[field.name] = field.read(wire, value)[-1]

    @classmethod
    def FromString(cls, data: Any) -> Any:
        made = cls()
        made.MergeFromString(data)
        return made

    @classmethod
    def _ordered(cls) -> Iterator[Field]:
        return (cls._numbers[number] for number in sorted(cls._numbers))

    def SerializeToString(self, deterministic: bool = False) -> bytes:
        """The message as bytes, fields in ascending order of their numbers."""
        out = bytearray()
        for field in self._ordered():
            if field.name not in self._values:
                continue
            value = self._values[field.name]
            if field.key:
                out += value.encode()
            elif field.repeated and field.scalar and field.scalar.wire != BYTES:
                if value:
                    out += _block(field.number, b"".join(map(field.scalar.encode, value)))
            elif field.repeated:
                for item in value:
                    out += field.one(item)
            elif field.message or field.group or not self._is_default(field, value):
                out += field.one(value)
        return bytes(out)

    @staticmethod
    def _is_default(field: Field, value: Any) -> bool:
        if isinstance(value, float):
            return value == 0 and str(value) == "0.0"  # -0.0 is stored
        return value == field.scalar.default or value == b"" or value == ""

    def ByteSize(self) -> int:
        return len(self.SerializeToString())

    def __eq__(self, other: Any) -> bool:
        return type(self) is type(other) and self.SerializeToString() == other.SerializeToString()

    __hash__ = None  # type: ignore[assignment]

    def __bool__(self) -> bool:
        return True

    def __repr__(self) -> str:
        return "\n".join(_lines(self)) + "\n" if self._values else ""

    __str__ = __repr__

    def __reduce__(self) -> Any:
        return type(self).FromString, (self.SerializeToString(),)


def _quoted(value: str | bytes) -> str:
    named = {10: "\\n", 13: "\\r", 9: "\\t", 34: '\\"', 39: "\\'", 92: "\\\\"}
    codes = map(ord, value) if isinstance(value, str) else value  # texts keep their letters, bytes become octal
    last = 0x110000 if isinstance(value, str) else 127
    return '"' + "".join(named.get(code) or (chr(code) if 32 <= code < last else f"\\{code:03o}") for code in codes) + '"'


def _shown(value: Any) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    return _quoted(value) if isinstance(value, (str, bytes)) else repr(value)


def _lines(message: Message, indent: str = "") -> Iterator[str]:
    """The text format: what configuration files and people read."""
    for field, held in message.ListFields():
        if field.key:
            for key in sorted(held):
                yield f"{indent}{field.name} {{"
                yield f"{indent}  key: {_shown(key)}"
                if field.message:
                    yield f"{indent}  value {{"
                    yield from _lines(held[key], indent + "    ")
                    yield f"{indent}  }}"
                else:
                    yield f"{indent}  value: {_shown(held[key])}"
                yield f"{indent}}}"
            continue
        for item in held if field.repeated else [held]:
            if field.message:
                yield f"{indent}{field.name} {{"
                yield from _lines(item, indent + "  ")
                yield f"{indent}}}"
            else:
                yield f"{indent}{field.name}: {_shown(item)}"


def to_text(message: Message) -> str:
    """The message in protobuf's text format."""
    return repr(message)


def define(table: str) -> dict[str, type[Message]]:
    """Classes from a table: a line with a message's name, then one line a field:

    number name type [repeated] [map:KEYTYPE] [@GROUP]     where GROUP is the oneof that it belongs to
    """
    classes: dict[str, type[Message]] = {}
    current: type[Message] | None = None
    for line in table.splitlines():
        words = line.split()
        if not words:
            continue
        if not line[0].isspace():
            parts = words[0].split(".")
            space = {"__slots__": (), "_fields": {}, "_numbers": {}, "__doc__": f"The message {words[0]}."}
            current = type(parts[-1], (Message,), space)
            current.__qualname__, current.__module__ = words[0], "seaboard._proto.messages"
            classes[words[0]] = current
            if len(parts) > 1:
                setattr(classes[parts[0]], parts[1], current)
            continue
        marks = words[3:]
        group = next((mark[1:] for mark in marks if mark[0] == "@"), "")
        key = next((mark[4:] for mark in marks if mark.startswith("map:")), "")
        field = Field(int(words[0]), words[1], words[2], "repeated" in marks or bool(key), group, key)
        current._fields[field.name] = current._numbers[field.number] = field
    for made in classes.values():
        for field in made._fields.values():
            if not field.scalar:
                field.message = classes[field.kind]
    return classes
