"""tensorboard.plugins.pr_curve.summary: precision-recall curves. Needs numpy."""

from __future__ import annotations

from typing import Any, Sequence

from seaboard._proto import messages

__all__ = ["op", "pb", "raw_data_op", "raw_data_pb", "streaming_op"]

THRESHOLDS = 201
LEAST = 1e-7  # what a denominator is at least


def _counts(labels: Any, predictions: Any, thresholds: int, weights: Any) -> list[Any]:
    """True and false positives and negatives, precision and recall at each threshold."""
    import numpy as np

    buckets = np.floor(np.asarray(predictions) * (thresholds - 1)).astype(np.int32)
    truth = np.asarray(labels).astype(float)
    every = (0, thresholds - 1)

    def from_here_on(weighted: Any) -> Any:
        return np.histogram(buckets, bins=thresholds, range=every, weights=weighted)[0][::-1].cumsum()[::-1]

    tp, fp = from_here_on(truth * weights), from_here_on((1.0 - truth) * weights)
    tn, fn = fp[0] - fp, tp[0] - tp
    return [tp, fp, tn, fn, tp / np.maximum(LEAST, tp + fp), tp / np.maximum(LEAST, tp + fn)]


def pb(
    name: str,
    labels: Any,
    predictions: Any,
    num_thresholds: int | None = None,
    weights: Any = None,
    display_name: str | None = None,
    description: str | None = None,
) -> Any:
    """The Summary of a curve: labels are 0 or 1, predictions lie in [0, 1]."""
    count = THRESHOLDS if num_thresholds is None else num_thresholds
    rows = _counts(labels, predictions, count, 1.0 if weights is None else weights)
    return raw_data_pb(name, *rows, count, display_name, description)


def raw_data_pb(
    name: str,
    true_positive_counts: Any,
    false_positive_counts: Any,
    true_negative_counts: Any,
    false_negative_counts: Any,
    precision: Any,
    recall: Any,
    num_thresholds: int | None = None,
    display_name: str | None = None,
    description: str | None = None,
) -> Any:
    """The Summary of a curve that is counted already."""
    import numpy as np

    from seaboard._values import tensor_proto

    rows = np.stack(
        [true_positive_counts, false_positive_counts, true_negative_counts, false_negative_counts, precision, recall]
    ).astype(np.float32)
    content = messages.PrCurvePluginData(num_thresholds=num_thresholds or 0).SerializeToString()
    metadata = messages.SummaryMetadata(
        display_name=name if display_name is None else display_name,
        summary_description=description or "",
        plugin_data=messages.SummaryMetadata.PluginData(plugin_name="pr_curves", content=content),
    )
    return messages.Summary(
        value=[messages.Summary.Value(tag=f"{name}/pr_curves", tensor=tensor_proto(rows), metadata=metadata)]
    )


def op(
    name: str,
    labels: Any,
    predictions: Any,
    num_thresholds: int | None = None,
    weights: Any = None,
    display_name: str | None = None,
    description: str | None = None,
    collections: Sequence[Any] | None = None,
) -> Any:
    """The same as pb() as an operation of a TF1 graph; predictions are clipped to [0, 1]."""
    from seaboard.plugins._ops import summary_op

    def make(truth: Any, guesses: Any, *weighted: Any) -> Any:
        weight = weighted[0] if weighted else None
        return pb(name, truth, guesses.clip(0, 1), num_thresholds, weight, display_name, description)

    return summary_op(name, make, [labels, predictions, *([] if weights is None else [weights])], collections)


def raw_data_op(
    name: str,
    true_positive_counts: Any,
    false_positive_counts: Any,
    true_negative_counts: Any,
    false_negative_counts: Any,
    precision: Any,
    recall: Any,
    num_thresholds: int | None = None,
    display_name: str | None = None,
    description: str | None = None,
    collections: Sequence[Any] | None = None,
) -> Any:
    """The same as raw_data_pb() as an operation of a TF1 graph."""
    from seaboard.plugins._ops import summary_op

    def make(*rows: Any) -> Any:
        return raw_data_pb(name, *rows, num_thresholds, display_name, description)

    rows = (true_positive_counts, false_positive_counts, true_negative_counts, false_negative_counts, precision, recall)
    return summary_op(name, make, rows, collections)


def streaming_op(
    name: str,
    labels: Any,
    predictions: Any,
    num_thresholds: int | None = None,
    weights: Any = None,
    metrics_collections: Sequence[Any] | None = None,
    updates_collections: Sequence[Any] | None = None,
    display_name: str | None = None,
    description: str | None = None,
) -> tuple[Any, Any]:
    """A curve over many batches in a TF1 graph: (summary, update). Each run of the update adds a batch to the counts, which are
    local variables of the graph."""
    import tensorflow

    v1 = tensorflow.compat.v1
    count = THRESHOLDS if num_thresholds is None else num_thresholds
    thresholds = [place / (count - 1) for place in range(count)]
    with v1.name_scope(name, values=[labels, predictions, weights]):
        counted, updates = [], []
        for kind in ("true_positives", "false_positives", "true_negatives", "false_negatives"):
            measure = getattr(v1.metrics, kind + "_at_thresholds")
            value, update = measure(labels=labels, predictions=predictions, thresholds=thresholds, weights=weights)
            counted.append(value)
            updates.append(update)
        tp, fp, _, fn = counted
        precision, recall = tp / v1.maximum(LEAST, tp + fp), tp / v1.maximum(LEAST, tp + fn)
        curve = raw_data_op(name, *counted, precision, recall, count, display_name, description, metrics_collections)
        update = v1.group(*updates)
    for collection in updates_collections or ():
        v1.add_to_collection(collection, update)
    return curve, update
