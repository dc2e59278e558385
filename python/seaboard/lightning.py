"""A logger for Lightning: the runs, tags and files of its TensorBoardLogger, without tensorboard or tensorboardX.

    from seaboard.lightning import TensorBoardLogger    instead of: from lightning.pytorch.loggers import TensorBoardLogger
    trainer = Trainer(logger=TensorBoardLogger("logs"))

It is a logger of `lightning` or of `pytorch_lightning`, whichever the program has imported first.
"""

from __future__ import annotations

import importlib
import os
import sys
from collections.abc import Mapping
from typing import Any

from seaboard.torch import SummaryWriter

__all__ = ["SeaboardLogger", "TensorBoardLogger"]

_PACKAGES = ("lightning.pytorch", "pytorch_lightning")


def _part(name: str) -> Any:
    """A module of Lightning, of the package that is in use; None: there is none."""
    for package in sorted(_PACKAGES, key=lambda package: package not in sys.modules):
        try:
            return importlib.import_module(f"{package}.{name}")
        except ImportError:
            continue
    return None


_loggers = _part("loggers.logger")
_Base: Any = _loggers.Logger if _loggers is not None else object


def _is_main() -> bool:
    """Whether this is the process that logs: the one of rank 0."""
    utilities = sys.modules.get("lightning_utilities.core.rank_zero")
    return not utilities or (getattr(utilities.rank_zero_only, "rank", 0) or 0) == 0


class TensorBoardLogger(_Base):
    """Logs to SAVE_DIR/NAME/VERSION, as Lightning's TensorBoardLogger does.

    name: "" puts versions directly into save_dir. version: a number or a name; None takes the next free number.
    log_graph: writes the model's graph, from its example_input_array. default_hp_metric: hyperparameters without a metric
    get one, "hp_metric". prefix: stands before all tags, with "-". sub_dir: a folder below the version. kwargs: arguments
    of SummaryWriter, as in max_queue and flush_secs.
    """

    NAME_HPARAMS_FILE = "hparams.yaml"
    LOGGER_JOIN_CHAR = "-"

    def __init__(
        self,
        save_dir: str | os.PathLike[str],
        name: str | None = "lightning_logs",
        version: int | str | None = None,
        log_graph: bool = False,
        default_hp_metric: bool = True,
        prefix: str = "",
        sub_dir: str | os.PathLike[str] | None = None,
        **kwargs: Any,
    ):
        super().__init__()
        self._save_dir = os.fspath(save_dir)
        self._name = name or ""
        self._version = version
        self._log_graph = log_graph
        self._default_hp_metric = default_hp_metric
        self._prefix = prefix
        self._sub_dir = None if sub_dir is None else os.fspath(sub_dir)
        self._options = kwargs
        self._experiment: SummaryWriter | None = None
        self.hparams: dict[str, Any] = {}

    # ---- where it logs to

    @property
    def name(self) -> str:
        """The experiment's name."""
        return self._name

    @property
    def version(self) -> int | str:
        """The version: a number, or a name."""
        if self._version is None:
            self._version = self._next_version()
        return self._version

    @property
    def save_dir(self) -> str:
        """The directory of all experiments."""
        return self._save_dir

    @property
    def root_dir(self) -> str:
        """The directory of this experiment's versions."""
        return os.path.join(self._save_dir, self._name)

    @property
    def sub_dir(self) -> str | None:
        """The folder below the version."""
        return self._sub_dir

    @property
    def log_dir(self) -> str:
        """The directory of this version."""
        version = self.version if isinstance(self.version, str) else f"version_{self.version}"
        folder = os.path.join(self.root_dir, version, *([self._sub_dir] if self._sub_dir else []))
        return os.path.expanduser(os.path.expandvars(folder))

    def _next_version(self) -> int:
        try:
            names = [entry.name for entry in os.scandir(self.root_dir) if entry.is_dir()]
        except OSError:
            return 0
        numbers = [name.removeprefix("version_") for name in names if name.startswith("version_")]
        return max((int(number) for number in numbers if number.isdigit()), default=-1) + 1

    # ---- what it logs

    @property
    def experiment(self) -> SummaryWriter:
        """The SummaryWriter: for pictures, histograms and all else. Of other ranks than 0 one that writes nothing."""
        if self._experiment is None:
            if _is_main():
                self._experiment = SummaryWriter(self.log_dir, **self._options)
            else:
                self._experiment = SummaryWriter(self._save_dir, write_to_disk=False)
        return self._experiment

    def log_metrics(self, metrics: Mapping[str, Any], step: int | None = None) -> None:
        """Adds numbers; a dictionary of numbers is shown in one chart."""
        if not _is_main():
            return
        for tag, value in metrics.items():
            tag = f"{self._prefix}{self.LOGGER_JOIN_CHAR}{tag}" if self._prefix else tag
            try:
                if isinstance(value, Mapping):
                    self.experiment.add_scalars(tag, value, step)
                else:
                    self.experiment.add_scalar(tag, value, step)
            except Exception as error:
                raise ValueError(
                    f"\n you tried to log {value} which is currently not supported. Try a dict or a scalar/tensor."
                ) from error

    def log_hyperparams(self, params: Any, metrics: Any = None, step: int | None = None) -> None:
        """Adds the hyperparameters of this run; metrics: what they are compared by."""
        from seaboard._hparams import session_summaries

        if not _is_main():
            return
        given = dict(vars(params)) if not isinstance(params, Mapping) and params is not None else dict(params or {})
        self.hparams.update(given)
        if metrics is None:
            metrics = {"hp_metric": -1} if self._default_hp_metric else {}
        elif not isinstance(metrics, Mapping):
            metrics = {"hp_metric": metrics}
        if not metrics:
            return
        self.log_metrics(metrics, step)
        plain = {name: value if _is_plain(value) else str(value) for name, value in _flat(given)}
        for summary in session_summaries(plain, metrics, None, False):
            self.experiment._summary(summary, step)

    def log_graph(self, model: Any, input_array: Any = None) -> None:
        """Adds the model's graph, when log_graph was asked for."""
        import warnings

        if not self._log_graph or not _is_main():
            return
        given = model.example_input_array if input_array is None else input_array
        if given is None:
            warnings.warn("there is no graph in the log: the model has no example_input_array", stacklevel=2)
            return
        for name in ("_on_before_batch_transfer", "_apply_batch_transfer_handler"):
            if hasattr(model, name):
                given = getattr(model, name)(given)
        module = _part("core.module")
        if module is None:
            self.experiment.add_graph(model, given)
            return
        with module._jit_is_scripting():
            self.experiment.add_graph(model, given)

    # ---- its life

    def save(self) -> None:
        """Flushes, and writes hparams.yaml."""
        if not _is_main():
            return
        if self._experiment is not None:
            self._experiment.flush()
        path = os.path.join(self.log_dir, self.NAME_HPARAMS_FILE)
        saving = _part("core.saving")
        if saving is not None and os.path.isdir(self.log_dir) and not os.path.exists(path):
            saving.save_hparams_to_yaml(path, self.hparams)

    def finalize(self, status: str) -> None:
        """Lightning calls this at the end."""
        if not _is_main():
            return
        if self._experiment is not None:
            self._experiment.flush()
            self._experiment.close()
        if status == "success":
            self.save()

    def after_save_checkpoint(self, checkpoint_callback: Any) -> None:
        """Nothing is to be done."""

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "_experiment": None}


SeaboardLogger = TensorBoardLogger
_originals = _part("loggers.tensorboard")
if _originals is not None:  # where Lightning asks whether its logger is a TensorBoardLogger, as for trainer.log_dir, it is
    _originals.TensorBoardLogger.register(TensorBoardLogger)


def _is_plain(value: Any) -> bool:
    return isinstance(value, (bool, int, float, str)) or (hasattr(value, "item") and getattr(value, "ndim", None) == 0)


def _flat(params: Mapping[Any, Any], above: str = "") -> list[tuple[str, Any]]:
    """Nested dictionaries and objects as names with "/"."""
    found: list[tuple[str, Any]] = []
    for name, value in params.items():
        if hasattr(value, "__dict__") and type(value).__name__ == "Namespace":
            value = vars(value)
        if isinstance(value, Mapping):
            found += _flat(value, f"{above}{name}/")
        else:
            found.append((f"{above}{name}", value))
    return found
