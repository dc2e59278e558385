"""Every name that programs import is there, with the arguments of the original, a docstring and type hints."""

import importlib
import inspect

import pytest

NAMES = {
    "seaboard": "SummaryWriter Client read summary_iterator",
    "seaboard.torch": "SummaryWriter FileWriter",
    "seaboard.tensorboardX": "SummaryWriter",
    "seaboard.SummaryWriter": """
        add_scalar add_scalars add_histogram add_histogram_raw add_image add_images add_image_with_boxes add_figure add_video
        add_audio add_text add_graph add_onnx_graph add_embedding add_pr_curve add_pr_curve_raw add_mesh add_custom_scalars
        add_custom_scalars_multilinechart add_custom_scalars_marginchart add_hparams add_tensor flush close stats get_logdir""",
    "seaboard.summary": """
        create_file_writer create_noop_writer record_if should_record_summaries scalar image text histogram audio write graph
        trace_on trace_off trace_export flush SummaryWriter""",
    "seaboard.summary.SummaryWriter": "as_default set_as_default flush close init",
    "seaboard.summary.experimental": "get_step set_step write_raw_pb",
    "seaboard.summary.v1": "FileWriter",
    "seaboard.summary.v1.FileWriter": """
        add_summary add_graph add_meta_graph add_run_metadata add_session_log add_event flush close reopen get_logdir""",
    "seaboard.keras": "TensorBoard",
    "seaboard.lightning": "TensorBoardLogger",
    "seaboard.transformers": "TensorBoardCallback",
    "seaboard.train": """
        Checkpoint CheckpointManager Saver latest_checkpoint list_variables load_variable load_checkpoint checkpoints_iterator
        Module Variable""",
    "seaboard.train.Checkpoint": "save restore read write",
    "seaboard.train.CheckpointManager": "save restore_or_initialize",
    "seaboard.train.Saver": "save restore recover_last_checkpoints set_last_checkpoints",
    "seaboard.reading": "Log Series read summary_iterator",
    "seaboard.reading.Log": "to_pandas to_polars to_arrow",
    "seaboard.Client": "runs tags scalars text hparams environment wait get",
    "seaboard.plugins.hparams.api": "HParam Metric Discrete IntInterval RealInterval hparams hparams_config KerasCallback",
    "seaboard.plugins.projector": "ProjectorConfig visualize_embeddings",
    "seaboard.plugins.mesh.summary": "mesh",
    "seaboard.plugins.pr_curve.summary": "op pb raw_data_pb",
    "seaboard.plugins.custom_scalar.summary": "op pb",
    "seaboard.plugins.custom_scalar.layout_pb2": "Layout Category Chart MultilineChartContent MarginChartContent",
    "seaboard.backend.event_processing.event_accumulator": "EventAccumulator",
    "seaboard.backend.event_processing.event_accumulator.EventAccumulator": """
        Reload Tags Scalars Histograms CompressedHistograms Images Audio Tensors Graph MetaGraph RunMetadata FirstEventTimestamp
        SummaryMetadata PluginAssets""",
    "seaboard.program": "TensorBoard",
    "seaboard.program.TensorBoard": "configure launch stop",
    "seaboard.notebook": "start list display stop load_ipython_extension",
}


def find(path):
    """A module, or what a module has under that name."""
    try:
        return importlib.import_module(path)
    except ModuleNotFoundError:
        module, name = path.rsplit(".", 1)
        return getattr(find(module), name)


def is_hinted(thing):
    """Whether a function says what it returns; classes say it of their constructor's arguments."""
    if inspect.isclass(thing):
        thing = thing.__init__
        if not inspect.isfunction(thing):
            return True  # the stub of the extension has it
        return all(p.annotation is not p.empty or name == "self" for name, p in inspect.signature(thing).parameters.items())
    return not inspect.isfunction(thing) or "return" in thing.__annotations__


@pytest.mark.parametrize("place", NAMES)
def test_names_are_there_with_a_docstring_and_hints(place):
    owner = find(place)
    missing = [name for name in NAMES[place].split() if not hasattr(owner, name)]
    assert missing == []
    things = {name: getattr(owner, name) for name in NAMES[place].split()}
    assert [name for name, thing in things.items() if not inspect.getdoc(thing)] == []
    assert [name for name, thing in things.items() if not is_hinted(thing)] == []


def arguments(thing):
    """Names of arguments; None when it takes any."""
    parameters = inspect.signature(thing).parameters.values()
    if any(p.kind is p.VAR_KEYWORD for p in parameters):
        return None
    return [p.name for p in parameters if p.name != "self" and p.kind is not p.VAR_POSITIONAL]


@pytest.mark.parametrize("package", ["torch.utils.tensorboard", "tensorboardX"])
def test_the_writer_has_every_method_and_argument_of(package):
    original = pytest.importorskip(package).SummaryWriter
    ours = find("seaboard.tensorboardX" if package == "tensorboardX" else "seaboard.torch").SummaryWriter
    for name, method in inspect.getmembers(original, inspect.isfunction):
        if name.startswith("_"):
            continue
        assert hasattr(ours, name), name
        taken = arguments(getattr(ours, name))
        wanted = [p for p in inspect.signature(method).parameters.values() if p.kind is p.POSITIONAL_OR_KEYWORD and p.name != "self"]
        lacks = [p.name for p in wanted if taken is not None and p.name not in taken]
        assert lacks == [], name
    lacks = set(arguments_of_constructor(original)) - set(arguments_of_constructor(ours))
    assert lacks == set()


def arguments_of_constructor(kind):
    return [p.name for p in inspect.signature(kind.__init__).parameters.values() if p.kind is p.POSITIONAL_OR_KEYWORD]


@pytest.mark.parametrize("ours, original", [
    *((f"seaboard.summary.{name}", f"tensorflow.summary.{name}")
      for name in "scalar image text histogram audio write graph create_file_writer record_if trace_on trace_off trace_export flush".split()),
    *((f"seaboard.summary.v1.FileWriter.{name}", f"tensorflow.compat.v1.summary.FileWriter.{name}")
      for name in "__init__ add_summary add_graph add_run_metadata add_session_log add_event".split()),
    ("seaboard.keras.TensorBoard.__init__", "keras.callbacks.TensorBoard.__init__"),
    *((f"seaboard.train.{name}", f"tensorflow.train.{name}") for name in (
        "Checkpoint.save", "Checkpoint.restore", "Checkpoint.read", "Checkpoint.write", "CheckpointManager.__init__",
        "CheckpointManager.save", "latest_checkpoint", "list_variables", "load_variable", "load_checkpoint", "checkpoints_iterator")),
    *((f"seaboard.train.Saver.{name}", f"tensorflow.compat.v1.train.Saver.{name}") for name in ("__init__", "save", "restore")),
])
def test_a_function_has_the_arguments_of_the_original(ours, original):
    mine, wanted = arguments(find(ours)), arguments(find(original))
    assert mine is None or wanted is None or [name for name in wanted if name not in mine] == []
