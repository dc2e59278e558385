"""tensorboard.plugins.custom_scalar.summary: the summary that carries a layout."""

from __future__ import annotations

from typing import Any, Sequence

from seaboard._layouts import TAG, layout_summary
from seaboard._proto.messages import Summary

__all__ = ["op", "pb"]


def pb(scalars_layout: Any) -> Any:
    """The Summary of a Layout."""
    return Summary.FromString(layout_summary(scalars_layout.SerializeToString()))


def op(scalars_layout: Any, collections: Sequence[Any] | None = None) -> Any:
    """The same as an operation of a TF1 graph."""
    from seaboard.plugins._ops import summary_op

    return summary_op(TAG, lambda: pb(scalars_layout), [], collections)
