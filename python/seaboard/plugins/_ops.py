"""Summary operations of TF1 graphs: a Python function that makes a Summary, called when the session runs."""

from __future__ import annotations

from typing import Any, Callable, Sequence


def summary_op(name: str, make: Callable[..., Any], tensors: Sequence[Any], collections: Sequence[Any] | None) -> Any:
    """A string tensor with the serialized Summary of make(*values of the tensors)."""
    import tensorflow

    def call(*values: Any) -> bytes:
        return make(*values).SerializeToString()

    made = tensorflow.numpy_function(call, list(tensors), tensorflow.string, name=name)
    made.set_shape([])
    v1 = tensorflow.compat.v1
    if not tensorflow.executing_eagerly():
        for collection in collections if collections is not None else [v1.GraphKeys.SUMMARIES]:
            v1.add_to_collection(collection, made)
    return made
