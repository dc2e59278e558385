"""The messages of a layout: which series are shown in which chart."""

from seaboard._proto.messages import Category, Chart, Layout, MarginChartContent, MultilineChartContent

__all__ = ["Category", "Chart", "Layout", "MarginChartContent", "MultilineChartContent"]
