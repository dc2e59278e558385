"""Histograms with the bins of numpy.histogram: a number, edges, or the name of a rule. Needs numpy."""

from __future__ import annotations

from array import array
from typing import Any


def with_bins(values: Any, bins: Any, max_bins: int | None) -> tuple[Any, ...]:
    """Minimum, maximum, number, sum and sum of squares of the values; right edges and counts of the buckets."""
    import numpy as np

    from seaboard._arrays import as_numpy

    numbers = as_numpy(values).reshape(-1)
    if numbers.size == 0:
        raise ValueError("The input has no element.")
    counts, edges = np.histogram(numbers, bins=bins)
    if max_bins is not None and len(counts) > max_bins:
        counts, edges = _joined(counts, edges, max_bins)
    filled = np.flatnonzero(counts > 0)
    if filled.size == 0:
        raise ValueError("The histogram is empty: no value lies in a bin")
    first, last = int(filled[0]), int(filled[-1])
    # An empty bucket in front, whose right edge is where the first one begins.
    counts = np.concatenate([[0], counts[first : last + 1]])
    edges = edges[first : last + 2]
    sums = (numbers.min(), numbers.max(), numbers.size, numbers.sum(), numbers.dot(numbers))
    return *map(float, sums), array("d", edges.tolist()), array("d", counts.tolist())


def _joined(counts: Any, edges: Any, max_bins: int) -> tuple[Any, Any]:
    """Several neighbours become one bucket."""
    import numpy as np

    every = len(counts) // max_bins
    missing = -len(counts) % every
    counts = np.concatenate([counts, np.zeros(missing, counts.dtype)]).reshape(-1, every).sum(axis=1)
    return counts, np.append(edges[:-1:every], edges[-1])
