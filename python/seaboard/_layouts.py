"""Layouts of the custom scalars dashboard."""

from __future__ import annotations

from typing import Any, Mapping, Sequence

from seaboard._proto import messages as pb

TAG = "custom_scalars__config__"


def layout_of(layout: Mapping[str, Mapping[str, Sequence[Any]]]) -> pb.Layout:
    """A Layout from {category: {chart: [kind, tags]}}."""
    categories = []
    for title, charts in layout.items():
        made = []
        for name, (kind, tags) in charts.items():
            if kind == "Margin":
                if len(tags) != 3:
                    raise AssertionError(f"a margin chart needs 3 tags (value, lower, upper), {name!r} has {len(tags)}")
                series = pb.MarginChartContent.Series(value=tags[0], lower=tags[1], upper=tags[2])
                made.append(pb.Chart(title=name, margin=pb.MarginChartContent(series=[series])))
            else:
                made.append(pb.Chart(title=name, multiline=pb.MultilineChartContent(tag=list(tags))))
        categories.append(pb.Category(title=title, chart=made))
    return pb.Layout(category=categories)


def layout_summary(layout: Any) -> bytes:
    """The Summary that carries a Layout."""
    tensor = pb.TensorProto(
        dtype=pb.DT_STRING, string_val=[layout.SerializeToString()], tensor_shape=pb.TensorShapeProto()
    )
    metadata = pb.SummaryMetadata(plugin_data=pb.SummaryMetadata.PluginData(plugin_name="custom_scalars"))
    value = pb.Summary.Value(tag=TAG, tensor=tensor, metadata=metadata)
    return pb.Summary(value=[value]).SerializeToString()
