"""SummaryWriter: torch.utils.tensorboard's and tensorboardX's, with every method and argument of both.

    from seaboard.torch import SummaryWriter      instead of: from torch.utils.tensorboard import SummaryWriter

The files are those that torch's writer makes, byte for byte but for times; seaboard.tensorboardX has the same writer
with tensorboardX's files. Arrays may be numpy arrays, tensors of torch, TensorFlow or JAX, and lists of numbers; none
of these libraries is imported. Calls return at once: encoding and the disk are the business of a thread in C.
"""

from __future__ import annotations

import json
import os
import time
from typing import TYPE_CHECKING, Any, Mapping, Sequence

from seaboard import _native
from seaboard._file_writer import FileWriter
from seaboard._hints import hinted
from seaboard._styles import TBX, TORCH

if TYPE_CHECKING:
    from types import TracebackType

    from matplotlib.figure import Figure

    Array = Any  # a numpy array, a tensor, a number, a list of numbers
    Number = Any  # a Python number, or an array or tensor of one element
    Step = Any  # a whole number, a tensor of one, or None

__all__ = ["FileWriter", "SummaryWriter"]


def _default_log_dir(comment: str) -> str:
    import socket
    from datetime import datetime

    return os.path.join("runs", f"{datetime.now().strftime('%b%d_%H-%M-%S')}_{socket.gethostname()}{comment}")


class SummaryWriter(_native.Writer):
    """Writes event files that TensorBoard and Seaboard show.

    log_dir: where to; None is runs/TIME_HOST, followed by comment. purge_step: events of earlier files at or behind
    this step are out of date (a run that continues after a crash). max_queue, flush_secs: upper bounds for what waits
    to be written; in practice it is written within 100 ms. filename_suffix: the end of the file's name.
    write_to_disk=False: nothing is written. logdir: tensorboardX's name of log_dir.
    """

    _style = TORCH

    def __init__(
        self,
        log_dir: str | os.PathLike[str] | None = None,
        comment: str = "",
        purge_step: Step = None,
        max_queue: int = 10,
        flush_secs: float = 120,
        filename_suffix: str = "",
        write_to_disk: bool = True,
        logdir: str | os.PathLike[str] | None = None,
        comet_config: Mapping[str, Any] | None = None,
        **_: Any,
    ):
        log_dir = os.fspath(log_dir or logdir or _default_log_dir(comment))
        self.log_dir = self.logdir = log_dir
        if comet_config and not comet_config.get("disabled", True):
            import warnings

            warnings.warn("comet_config: what is logged goes to the log directory only, not to Comet", stacklevel=2)
        self.purge_step, self.max_queue, self.flush_secs = purge_step, max_queue, flush_secs
        self.filename_suffix = filename_suffix
        self._children: dict[str, _native.Writer] | None = {}
        self._write_to_disk = write_to_disk
        self.scalar_dict: dict[str, list[list[float]]] = {}
        super().__init__(*self._options(log_dir, purge_step))
        self._open()

    def _options(self, log_dir: str, purge_step: Step) -> tuple[Any, ...]:
        """How a file is opened: for this writer, and for those of add_scalars."""
        millis = max(1, int(self.flush_secs * 1000))
        suffix = self.filename_suffix or None
        return log_dir, self._style, self.max_queue, millis, suffix, purge_step, True, not self._write_to_disk

    def __enter__(self) -> SummaryWriter:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def get_logdir(self) -> str:
        """The directory that the event file is in."""
        return self.log_dir

    def flush(self) -> None:
        """Returns when everything logged so far is in the files."""
        super().flush()
        for child in list((self._children or {}).values()):
            child.flush()

    def close(self) -> None:
        """Writes what is pending and closes the files. A call after this opens a new file."""
        super().close()
        children, self._children = self._children, {}
        for child in (children or {}).values():
            child.close()

    @property
    def file_writer(self) -> FileWriter:
        """The part that takes prepared summaries, as torch's writer has it."""
        return FileWriter(self)

    def _get_file_writer(self) -> FileWriter:
        return FileWriter(self)

    @property
    def all_writers(self) -> dict[str, Any]:
        """This writer and those of add_scalars, by directory."""
        return {self.log_dir: FileWriter(self), **(self._children or {})}

    def _child(self, folder: str) -> _native.Writer:
        child = self._children.get(folder)
        if child is None:
            child = self._children[folder] = _native.Writer(*self._options(folder, None))
        return child

    # ---- numbers

    # add_scalar is a method of the base: it is called most often, and crosses into C at once.

    @hinted
    def add_scalars(
        self,
        main_tag: str,
        tag_scalar_dict: Mapping[str, Number],
        global_step: Step = None,
        walltime: float | None = None,
    ) -> None:
        """Adds one number to each of several series that are shown in one chart.

        Each key of the dictionary is a run of its own below the log directory; the tag is main_tag in all of them.
        """
        moment = time.time() if walltime is None else walltime
        for key, value in tag_scalar_dict.items():
            if self._style == TBX:
                folder = os.path.join(self.log_dir, main_tag, key)
                self.scalar_dict.setdefault(folder, []).append([moment, global_step, float(value)])
            else:
                folder = f"{self.log_dir}/{main_tag.replace('/', '_')}_{key}"
            self._child(folder).add_scalar(main_tag, value, global_step, moment)

    def export_scalars_to_json(self, path: str | os.PathLike[str]) -> None:
        """Writes what add_scalars was given so far (tensorboardX's style) as JSON, and forgets it."""
        with open(path, "w", encoding="utf-8") as file:
            json.dump(self.scalar_dict, file)
        self.scalar_dict = {}

    @hinted
    def add_histogram(
        self,
        tag: str,
        values: Array,
        global_step: Step = None,
        bins: str | int | Sequence[float] = "tensorflow",
        walltime: float | None = None,
        max_bins: int | None = None,
    ) -> None:
        """Adds the distribution of some numbers.

        bins: "tensorflow" (buckets that grow by a tenth), or what numpy.histogram takes. max_bins: join buckets until
        there are not more than about this many.
        """
        if isinstance(bins, str) and bins == "tensorflow":
            self._histogram(tag, global_step, walltime, None, None, values, 0, max_bins or 0)
        else:
            from seaboard._histograms import with_bins

            self._histogram_raw(tag, global_step, walltime, None, None, *with_bins(values, bins, max_bins))

    @hinted
    def add_histogram_raw(
        self,
        tag: str,
        min: float,
        max: float,
        num: float,
        sum: float,
        sum_squares: float,
        bucket_limits: Sequence[float],
        bucket_counts: Sequence[float],
        global_step: Step = None,
        walltime: float | None = None,
    ) -> None:
        """Adds a histogram whose buckets are counted already; bucket_limits are the right edges."""
        from array import array

        if len(bucket_limits) != len(bucket_counts):
            raise ValueError(
                "len(bucket_limits) != len(bucket_counts), see the document: "
                f"there are {len(bucket_limits)} limits and {len(bucket_counts)} counts"
            )
        limits, counts = array("d", map(float, bucket_limits)), array("d", map(float, bucket_counts))
        numbers = (float(number) for number in (min, max, num, sum, sum_squares))
        self._histogram_raw(tag, global_step, walltime, None, None, *numbers, limits, counts)

    @hinted
    def add_tensor(
        self, tag: str, tensor: Array, global_step: Step = None, walltime: float | None = None
    ) -> None:
        """Adds an array of numbers as it is. No dashboard shows it; readers get it back."""
        self._tensor(tag, global_step, walltime, None, None, tensor, None, b"")

    @hinted
    def add_pr_curve(
        self,
        tag: str,
        labels: Array,
        predictions: Array,
        global_step: Step = None,
        num_thresholds: int = 127,
        weights: Array | None = None,
        walltime: float | None = None,
    ) -> None:
        """Adds a precision-recall curve: labels are 0 or 1, predictions lie in [0, 1]."""
        self._pr_curve(tag, global_step, walltime, None, None, labels, predictions, weights, num_thresholds)

    @hinted
    def add_pr_curve_raw(
        self,
        tag: str,
        true_positive_counts: Array,
        false_positive_counts: Array,
        true_negative_counts: Array,
        false_negative_counts: Array,
        precision: Array,
        recall: Array,
        global_step: Step = None,
        num_thresholds: int = 127,
        weights: Array | None = None,
        walltime: float | None = None,
    ) -> None:
        """Adds a precision-recall curve that is counted already."""
        from array import array

        rows = (
            true_positive_counts,
            false_positive_counts,
            true_negative_counts,
            false_negative_counts,
            precision,
            recall,
        )
        if len({len(row) for row in rows}) != 1:
            raise ValueError(f"the six rows must have the same length, not {[len(row) for row in rows]}")
        numbers = array("d")
        for row in rows:  # tolist() is many times faster than taking the numbers one by one
            numbers.extend(row.tolist() if hasattr(row, "tolist") else map(float, row))
        self._pr_curve_raw(tag, global_step, walltime, None, None, numbers)

    # ---- pictures and sound

    @hinted
    def add_image(
        self,
        tag: str,
        img_tensor: Array,
        global_step: Step = None,
        walltime: float | None = None,
        dataformats: str = "CHW",
    ) -> None:
        """Adds a picture: uint8, or floats from 0 to 1. dataformats names the dimensions: CHW, HWC, HW, ..."""
        try:
            self._image(tag, global_step, walltime, None, None, img_tensor, dataformats.upper(), 0)
        except ValueError as error:
            raise _shape_error(img_tensor, dataformats, error) from None

    @hinted
    def add_images(
        self,
        tag: str,
        img_tensor: Array | Sequence[Array],
        global_step: Step = None,
        walltime: float | None = None,
        dataformats: str = "NCHW",
    ) -> None:
        """Adds several pictures as one grid of up to eight columns; also a list of pictures of the same size."""
        if isinstance(img_tensor, (list, tuple)):
            from seaboard._pictures import stacked

            img_tensor = stacked(img_tensor)
            dataformats = dataformats if "N" in dataformats.upper() else "N" + dataformats
        self.add_image(tag, img_tensor, global_step, walltime, dataformats)

    @hinted
    def add_image_with_boxes(
        self,
        tag: str,
        img_tensor: Array,
        box_tensor: Array,
        global_step: Step = None,
        walltime: float | None = None,
        rescale: float = 1,
        dataformats: str = "CHW",
        labels: Sequence[str] | None = None,
    ) -> None:
        """Adds a picture with red boxes, given as N rows of x1, y1, x2, y2. Needs pillow."""
        from seaboard._pictures import with_boxes

        if isinstance(rescale, str):  # tensorboardX has dataformats in this place
            rescale, dataformats, labels = 1, rescale, dataformats if not isinstance(dataformats, str) else labels
        if labels is not None:
            labels = [labels] if isinstance(labels, str) else list(labels)
            if len(labels) != len(box_tensor):
                labels = None
        png, width, height = with_boxes(img_tensor, box_tensor, rescale, dataformats, labels)
        self._image_encoded(tag, global_step, walltime, None, None, ((png,), (1,)), width, height)

    @hinted
    def add_figure(
        self,
        tag: str,
        figure: Figure | Sequence[Figure],
        global_step: Step = None,
        close: bool = True,
        walltime: float | None = None,
    ) -> None:
        """Adds a figure of matplotlib as a picture; several of the same size as a grid."""
        from seaboard._pictures import of_figure, stacked

        if isinstance(figure, (list, tuple)):
            pixels = stacked([of_figure(one, close) for one in figure])
            self.add_image(tag, pixels, global_step, walltime, "NHWC")
        else:
            self.add_image(tag, of_figure(figure, close), global_step, walltime, "HWC")

    @hinted
    def add_video(
        self,
        tag: str,
        vid_tensor: Array,
        global_step: Step = None,
        fps: float = 4,
        walltime: float | None = None,
        dataformats: str = "NTCHW",
    ) -> None:
        """Adds moving pictures as a GIF: (N, T, C, H, W), uint8 or floats from 0 to 1. moviepy is not needed."""
        self._video(tag, global_step, walltime, None, None, vid_tensor, float(fps), dataformats.upper())

    @hinted
    def add_audio(
        self,
        tag: str,
        snd_tensor: Array,
        global_step: Step = None,
        sample_rate: float = 44100,
        walltime: float | None = None,
    ) -> None:
        """Adds sound: floats from -1 to 1, (frames) or (1, frames); tensorboardX's style also (frames, channels)."""
        try:
            self._audio(tag, global_step, walltime, None, None, snd_tensor, float(sample_rate), 0)
        except ValueError as error:
            if self._style == TORCH and sum(size != 1 for size in _native.shape_of(snd_tensor)) > 1:
                raise AssertionError(f"input tensor should be 1 dimensional: {error}") from None
            raise

    @hinted
    def add_mesh(
        self,
        tag: str,
        vertices: Array,
        colors: Array | None = None,
        faces: Array | None = None,
        config_dict: Mapping[str, Any] | None = None,
        global_step: Step = None,
        walltime: float | None = None,
    ) -> None:
        """Adds points or meshes: vertices (B, N, 3), colors (B, N, 3) from 0 to 255, faces (B, M, 3).

        config_dict: names and settings of three.js' camera, material and light.
        """
        config = None if config_dict is None else json.dumps(config_dict, sort_keys=True)
        self._mesh(tag, global_step, walltime, None, None, vertices, colors, faces, config)

    # ---- texts, graphs, hyperparameters, layouts

    @hinted
    def add_text(
        self, tag: str, text_string: str, global_step: Step = None, walltime: float | None = None
    ) -> None:
        """Adds a text, shown as Markdown."""
        self._text(tag, global_step, walltime, None, None, ((text_string,), (1,)))

    @hinted
    def add_graph(
        self, model: Any, input_to_model: Any = None, verbose: bool = False, use_strict_trace: bool = True
    ) -> None:
        """Adds the graph of a torch module, as torch.jit.trace records it for this input."""
        from seaboard._torch_graph import trace_module

        graph, run_metadata = trace_module(model, input_to_model, verbose, use_strict_trace)
        self._graph(graph)
        self._add_run_metadata("profiler" if self._style == TBX else "step1", run_metadata)

    def _add_run_metadata(self, tag: str, run_metadata: bytes) -> None:
        from seaboard._proto.messages import Event, TaggedRunMetadata

        tagged = TaggedRunMetadata(tag=tag, run_metadata=run_metadata)
        self._raw_event(Event(wall_time=time.time(), tagged_run_metadata=tagged).SerializeToString())

    @hinted
    def add_onnx_graph(
        self, prototxt: str | os.PathLike[str] | None = None, onnx_model_file: str | os.PathLike[str] | None = None
    ) -> None:
        """Adds the graph of an ONNX file (tensorboardX calls it onnx_model_file). The onnx package is not needed."""
        from seaboard._onnx_graph import read_onnx

        path = onnx_model_file if prototxt is None else prototxt
        if path is None:
            raise TypeError("add_onnx_graph() needs the path of a file")
        self._graph(read_onnx(path))

    @hinted
    def add_openvino_graph(self, xmlname: str | os.PathLike[str]) -> None:
        """Adds the graph of an OpenVINO model (its XML file)."""
        from seaboard._onnx_graph import read_openvino

        self._graph(read_openvino(xmlname))

    @hinted
    def add_embedding(
        self,
        mat: Array,
        metadata: Sequence[Any] | None = None,
        label_img: Array | None = None,
        global_step: Step = None,
        tag: str = "default",
        metadata_header: Sequence[str] | None = None,
    ) -> None:
        """Adds points for the projector: (N, D), with a label and a picture (N, C, H, W) for each if you like.

        metadata: one label a point, or one row of labels a point when metadata_header names the columns.
        """
        shape = _native.shape_of(mat)
        if len(shape) != 2:
            raise AssertionError(f"mat should be 2D, one row for each data point; its shape is {shape}")
        if metadata is not None and len(metadata) != shape[0]:
            raise AssertionError(f"#labels should equal with #data points: {len(metadata)} labels for {shape[0]} points")
        if label_img is not None and _native.shape_of(label_img)[0] != shape[0]:
            images = _native.shape_of(label_img)[0]
            raise AssertionError(f"#images should equal with #data points: {images} images for {shape[0]} points")
        labels: tuple[str, ...] | None = None
        columns = 1
        if metadata is not None and metadata_header:
            columns = len(metadata_header)
            if any(len(row) != columns for row in metadata):
                raise AssertionError(f"each row of metadata needs {columns} labels, as metadata_header has")
            labels = tuple(str(label) for row in metadata for label in row)
        elif metadata is not None:
            labels = tuple(str(label) for label in metadata)
        header = tuple(metadata_header) if labels is not None and metadata_header else None
        self._embedding(tag, global_step, mat, labels, columns, header, label_img)

    @hinted
    def add_hparams(
        self,
        hparam_dict: Mapping[str, Any],
        metric_dict: Mapping[str, Number],
        hparam_domain_discrete: Mapping[str, Sequence[Any]] | None = None,
        run_name: str | None = None,
        global_step: Step = None,
        name: str | None = None,
    ) -> None:
        """Adds the hyperparameters of a trial and its results, as a run of its own below the log directory.

        run_name (tensorboardX: name): the name of that run; None is the time. hparam_domain_discrete: the values that
        a hyperparameter can have.
        """
        from seaboard._hparams import session_summaries

        if isinstance(hparam_domain_discrete, str):  # tensorboardX has the name in this place
            run_name, hparam_domain_discrete = hparam_domain_discrete, None
        if type(hparam_dict) is not dict or type(metric_dict) is not dict:
            raise TypeError("hparam_dict and metric_dict should be dictionary.")
        summaries = session_summaries(hparam_dict, metric_dict, hparam_domain_discrete, self._style == TBX)
        folder = os.path.join(self.log_dir, run_name or name or str(time.time()))
        step = None if self._style == TBX else global_step
        with type(self)(folder, write_to_disk=self._write_to_disk) as trial:
            for summary in summaries:
                trial._summary(summary, step)
            for tag, value in metric_dict.items():
                trial.add_scalar(tag, value, global_step)

    @hinted
    def add_custom_scalars(self, layout: Mapping[str, Mapping[str, Sequence[Any]]]) -> None:
        """Says which series are shown together: {category: {chart: ["Multiline" or "Margin", tags]}}."""
        from seaboard._layouts import encoded_layout, layout_summary

        self._summary(layout_summary(encoded_layout(layout)), None)

    @hinted
    def add_custom_scalars_multilinechart(
        self, tags: Sequence[str], category: str = "default", title: str = "untitled"
    ) -> None:
        """A layout of one chart that shows several series."""
        self.add_custom_scalars({category: {title: ["Multiline", tags]}})

    @hinted
    def add_custom_scalars_marginchart(
        self, tags: Sequence[str], category: str = "default", title: str = "untitled"
    ) -> None:
        """A layout of one chart with a margin: tags are the value, its lower and its upper bound."""
        if len(tags) != 3:
            raise AssertionError(f"Expected 3 tags (value, lower, upper), got {len(tags)}.")
        self.add_custom_scalars({category: {title: ["Margin", tags]}})


def _shape_error(array: Any, dataformats: str, error: ValueError) -> Exception:
    """torch raises AssertionError where the dimensions and their names do not match."""
    shape = _native.shape_of(array)
    names = dataformats.upper()
    if len(shape) != len(names):
        return AssertionError(
            f"size of tensor and dimension format are not the same: the shape {tuple(shape)} has {len(shape)} "
            f"dimensions, dataformats={dataformats!r} names {len(names)}"
        )
    if len(set(names)) != len(names):
        return AssertionError(f"You can not use the same dimension shordhand twice: dataformats={dataformats!r}")
    return error
