"""Layouts of the custom scalars dashboard."""

from __future__ import annotations

from typing import Any, Mapping, Sequence

from seaboard._proto.wire import varint

TAG = "custom_scalars__config__"
_STRING = b"\x08\x07\x12\x00"  # of a TensorProto: DT_STRING, no dimensions
_METADATA = b"\x0a\x10\x0a\x0ecustom_scalars"  # of a SummaryMetadata: the plugin's name


def _field(number: int, content: str | bytes) -> bytes:
    """A field of a message that is a text or another message. Layouts are written by hand: it takes a fifth of the time."""
    data = content.encode() if isinstance(content, str) else content
    size = len(data)
    head = bytes((number << 3 | 2, size)) if size < 128 else bytes((number << 3 | 2,)) + varint(size)
    return head + data


def encoded_layout(layout: Mapping[str, Mapping[str, Sequence[Any]]]) -> bytes:
    """A Layout from {category: {chart: [kind, tags]}}."""
    categories = []
    for title, charts in layout.items():
        made = [_field(1, title)] if title else []
        for name, (kind, tags) in charts.items():
            if kind == "Margin":
                if len(tags) != 3:
                    raise AssertionError(f"a margin chart needs 3 tags (value, lower, upper), {name!r} has {len(tags)}")
                series = b"".join(_field(place, tag) for place, tag in enumerate(tags, 1) if tag)
                content = _field(3, _field(1, series))
            else:
                content = _field(2, b"".join([_field(1, tag) for tag in tags]))
            made.append(_field(2, (_field(1, name) if name else b"") + content))
        categories.append(_field(2, b"".join(made)))
    return b"".join(categories)


def layout_summary(layout: bytes) -> bytes:
    """The Summary that carries an encoded Layout."""
    tensor = _STRING + _field(8, layout)
    return _field(1, _field(1, TAG) + _field(8, tensor) + _field(9, _METADATA))
