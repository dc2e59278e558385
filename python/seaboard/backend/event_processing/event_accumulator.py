"""EventAccumulator: a run's events by kind and tag, with the methods of TensorBoard's class.

    from seaboard.backend.event_processing.event_accumulator import EventAccumulator

All points are kept, whatever size_guidance says: nothing is sampled. Scalars, histograms, images and sounds are those in
the old form (TF1, torch); what is stored as a tensor (TF2) is under Tensors(), as in TensorBoard's class.
"""

from __future__ import annotations

import os
from typing import Any, NamedTuple

from seaboard import _native
from seaboard._proto.messages import Event, GraphDef, SessionLog, SummaryMetadata
from seaboard._proto.messages import RunMetadata as _RunMetadata

COMPRESSED_HISTOGRAMS, HISTOGRAMS, IMAGES, AUDIO = "distributions", "histograms", "images", "audio"
SCALARS, TENSORS, GRAPH, META_GRAPH, RUN_METADATA = "scalars", "tensors", "graph", "meta_graph", "run_metadata"
DEFAULT_SIZE_GUIDANCE = {COMPRESSED_HISTOGRAMS: 0, IMAGES: 0, AUDIO: 0, SCALARS: 0, HISTOGRAMS: 0, TENSORS: 0}
STORE_EVERYTHING_SIZE_GUIDANCE = DEFAULT_SIZE_GUIDANCE
NORMAL_HISTOGRAM_BPS = (0, 668, 1587, 3085, 5000, 6915, 8413, 9332, 10000)


class ScalarEvent(NamedTuple):
    wall_time: float
    step: int
    value: float


class TensorEvent(NamedTuple):
    wall_time: float
    step: int
    tensor_proto: Any


class HistogramValue(NamedTuple):
    min: float
    max: float
    num: float
    sum: float
    sum_squares: float
    bucket_limit: list[float]
    bucket: list[float]


class HistogramEvent(NamedTuple):
    wall_time: float
    step: int
    histogram_value: HistogramValue


class CompressedHistogramValue(NamedTuple):
    basis_point: float
    value: float


class CompressedHistogramEvent(NamedTuple):
    wall_time: float
    step: int
    compressed_histogram_values: list[CompressedHistogramValue]


class ImageEvent(NamedTuple):
    wall_time: float
    step: int
    encoded_image_string: bytes
    width: int
    height: int


class AudioEvent(NamedTuple):
    wall_time: float
    step: int
    encoded_audio_string: bytes
    content_type: str
    sample_rate: float
    length_frames: int


class EventAccumulator:
    """Collects the events of a directory or of one event file. Reload() reads what is new since the last time."""

    def __init__(
        self,
        path: str | os.PathLike[str],
        size_guidance: dict[str, int] | None = None,
        compression_bps: tuple[int, ...] = NORMAL_HISTOGRAM_BPS,
        purge_orphaned_data: bool = True,
        tensor_size_guidance: dict[str, int] | None = None,
    ):
        self.path = os.fspath(path)
        self.purge_orphaned_data = purge_orphaned_data
        self.most_recent_step, self.most_recent_wall_time, self.file_version = -1, -1.0, None
        self.summary_metadata: dict[str, Any] = {}
        self._bps = compression_bps
        self._reader: _native.Events | None = None
        self._first: float | None = None
        self._source: str | None = None
        self._kept: dict[str, dict[str, list[Any]]] = {
            kind: {} for kind in (SCALARS, HISTOGRAMS, IMAGES, AUDIO, TENSORS)
        }
        self._graph: bytes | None = None
        self._is_meta_graph_only = False
        self._meta_graph: bytes | None = None
        self._run_metadata: dict[str, bytes] = {}

    # ---- reading

    def Reload(self) -> EventAccumulator:
        """Reads what was written since the last time."""
        if self._reader is None:
            is_file = os.path.isfile(self.path)
            self._reader = _native.Events(self.path, None if is_file else ".")
        for _, _, record in self._reader:
            self._take(Event.FromString(record))
        return self

    def _take(self, event: Any) -> None:
        if self._first is None:
            self._first = event.wall_time
        if event.HasField("source_metadata") and self._source is None:
            self._source = event.source_metadata.writer
        what = event.WhichOneof("what")
        if what == "file_version":
            self.file_version = _version(event.file_version, self.file_version)
        if self.purge_orphaned_data:
            self._purge_orphans(event, what)
        if what == "summary":
            self._take_summary(event)
        elif what == "graph_def":
            self._graph, self._is_meta_graph_only = event.graph_def, False
        elif what == "meta_graph_def":
            self._meta_graph = event.meta_graph_def
        elif what == "tagged_run_metadata":
            self._run_metadata[event.tagged_run_metadata.tag] = event.tagged_run_metadata.run_metadata

    def _take_summary(self, event: Any) -> None:
        for value in event.summary.value:
            tag = value.tag
            if value.HasField("metadata") and tag not in self.summary_metadata:
                self.summary_metadata[tag] = value.metadata
            kind = value.WhichOneof("value")
            place = event.wall_time, event.step
            if kind == "simple_value":
                self._add(SCALARS, tag, ScalarEvent(*place, value.simple_value))
            elif kind == "tensor":
                self._add(TENSORS, tag or value.node_name, TensorEvent(*place, value.tensor))
            elif kind == "histo":
                h = value.histo
                numbers = h.min, h.max, h.num, h.sum, h.sum_squares, list(h.bucket_limit), list(h.bucket)
                self._add(HISTOGRAMS, tag, HistogramEvent(*place, HistogramValue(*numbers)))
            elif kind == "image":
                i = value.image
                self._add(IMAGES, tag, ImageEvent(*place, i.encoded_image_string, i.width, i.height))
            elif kind == "audio":
                a = value.audio
                clip = a.encoded_audio_string, a.content_type, a.sample_rate, a.length_frames
                self._add(AUDIO, tag, AudioEvent(*place, *clip))

    def _add(self, kind: str, tag: str, point: Any) -> None:
        self._kept[kind].setdefault(tag, []).append(point)

    def _purge_orphans(self, event: Any, what: str | None) -> None:
        """A restart makes points of later steps out of date: a session that starts, or without them a step back."""
        if self.file_version is not None and self.file_version >= 2:
            if what == "session_log" and event.session_log.status == SessionLog.START:
                self._purge(event.step, None)
        elif event.step < self.most_recent_step and what == "summary":
            self._purge(event.step, {value.tag for value in event.summary.value})
        if what == "summary":
            self.most_recent_step, self.most_recent_wall_time = event.step, event.wall_time

    def _purge(self, step: int, tags: set[str] | None) -> None:
        for series in self._kept.values():
            for tag in series if tags is None else tags & series.keys():
                series[tag] = [point for point in series[tag] if point.step < step]

    # ---- what there is

    def Tags(self) -> dict[str, Any]:
        """The tags of every kind; whether there is a graph; the tags of run metadata."""
        return {
            IMAGES: list(self._kept[IMAGES]),
            AUDIO: list(self._kept[AUDIO]),
            HISTOGRAMS: list(self._kept[HISTOGRAMS]),
            SCALARS: list(self._kept[SCALARS]),
            COMPRESSED_HISTOGRAMS: list(self._kept[HISTOGRAMS]),
            TENSORS: list(self._kept[TENSORS]),
            GRAPH: self._graph is not None or self._meta_graph is not None,
            META_GRAPH: self._meta_graph is not None,
            RUN_METADATA: list(self._run_metadata),
        }

    def _points(self, kind: str, tag: str) -> list[Any]:
        if tag not in self._kept[kind]:
            raise KeyError(f"Key {tag} was not found in Reservoir")
        return list(self._kept[kind][tag])

    def Scalars(self, tag: str) -> list[ScalarEvent]:
        """The points of a series of scalars."""
        return self._points(SCALARS, tag)

    def Histograms(self, tag: str) -> list[HistogramEvent]:
        """The points of a series of histograms."""
        return self._points(HISTOGRAMS, tag)

    def CompressedHistograms(self, tag: str) -> list[CompressedHistogramEvent]:
        """The points of a series of histograms as their quantiles, in ten-thousandths."""
        return [
            CompressedHistogramEvent(point.wall_time, point.step, _quantiles(point.histogram_value, self._bps))
            for point in self._points(HISTOGRAMS, tag)
        ]

    def Images(self, tag: str) -> list[ImageEvent]:
        """The points of a series of pictures."""
        return self._points(IMAGES, tag)

    def Audio(self, tag: str) -> list[AudioEvent]:
        """The points of a series of sounds."""
        return self._points(AUDIO, tag)

    def Tensors(self, tag: str) -> list[TensorEvent]:
        """The points of a series that is stored as tensors."""
        return self._points(TENSORS, tag)

    def Graph(self) -> Any:
        """The GraphDef."""
        if self._graph is None:
            raise ValueError("There is no graph in this EventAccumulator")
        return GraphDef.FromString(self._graph)

    def SerializedGraph(self) -> bytes | None:
        """The GraphDef's bytes; None when there is none."""
        return self._graph

    def MetaGraph(self) -> bytes:
        """The MetaGraphDef's bytes."""
        if self._meta_graph is None:
            raise ValueError("There is no metagraph in this EventAccumulator")
        return self._meta_graph

    def RunMetadata(self, tag: str) -> Any:
        """The RunMetadata of a tag."""
        if tag not in self._run_metadata:
            raise ValueError("There is no run metadata with this tag name")
        return _RunMetadata.FromString(self._run_metadata[tag])

    def SummaryMetadata(self, tag: str) -> Any:
        """The metadata of a tag."""
        return self.summary_metadata[tag]

    def PluginTagToContent(self, plugin_name: str) -> dict[str, bytes]:
        """The tags of a plugin and what it stored with them."""
        found = {
            tag: metadata.plugin_data.content
            for tag, metadata in self.summary_metadata.items()
            if metadata.plugin_data.plugin_name == plugin_name
        }
        if not found:
            raise KeyError(f"Plugin {plugin_name!r} could not be found.")
        return found

    def FirstEventTimestamp(self) -> float:
        """The time of the first event."""
        if self._first is None:
            self.Reload()
        if self._first is None:
            raise ValueError("No event timestamp could be found")
        return self._first

    def GetSourceWriter(self) -> str | None:
        """Who wrote the file, if the file says so."""
        return self._source

    def PluginAssets(self, plugin_name: str) -> list[str]:
        """The files of a plugin beside the event file."""
        folder = os.path.join(self.path, "plugins", plugin_name)
        return sorted(os.listdir(folder)) if os.path.isdir(folder) else []

    def RetrievePluginAsset(self, plugin_name: str, asset_name: str) -> str:
        """The text of a plugin's file."""
        try:
            with open(os.path.join(self.path, "plugins", plugin_name, asset_name), encoding="utf-8") as file:
                return file.read()
        except OSError as error:
            raise KeyError(f"Asset path {asset_name!r} not found") from error


def _version(text: str, old: float | None) -> float:
    try:
        new = float(text.removeprefix("brain.Event:"))
    except ValueError:
        return -1.0 if old is None else old
    return new


def _quantiles(histogram: HistogramValue, bps: tuple[int, ...]) -> list[CompressedHistogramValue]:
    """Where the given shares of the values lie, between the edges of the buckets that hold them."""
    import bisect
    import itertools

    if not histogram.num:
        return [CompressedHistogramValue(b, 0.0) for b in bps]
    counts = histogram.bucket
    sums = list(itertools.accumulate(counts))
    shares = [total * bps[-1] / (sums[-1] or 1) for total in sums]
    found = []
    for b in bps:
        i = bisect.bisect_right(shares, b)
        while i < len(shares):
            share = shares[i]
            before = shares[i - 1] if i > 0 else 0.0
            if share == before:
                i += 1
                continue
            left = histogram.min if i == 0 or not before else max(histogram.bucket_limit[i - 1], histogram.min)
            right = min(histogram.bucket_limit[i], histogram.max)
            found.append(CompressedHistogramValue(b, left + (right - left) * (b - before) / (share - before)))
            break
        else:
            found.append(CompressedHistogramValue(b, histogram.max))
    return found


__all__ = [
    "AudioEvent",
    "CompressedHistogramEvent",
    "CompressedHistogramValue",
    "EventAccumulator",
    "HistogramEvent",
    "HistogramValue",
    "ImageEvent",
    "ScalarEvent",
    "SummaryMetadata",
    "TensorEvent",
]
