"""A callback for the Trainer of transformers: the runs and tags of its TensorBoardCallback, without tensorboard.

    from seaboard.transformers import TensorBoardCallback
    trainer = Trainer(..., args=TrainingArguments(..., report_to="none"), callbacks=[TensorBoardCallback()])
"""

from __future__ import annotations

import logging
import os
from typing import Any

from seaboard.torch import SummaryWriter

try:
    from transformers.trainer_callback import TrainerCallback as _Base
except ImportError:  # the class can be made, and nobody calls it
    _Base = object  # type: ignore[assignment, misc]

__all__ = ["SeaboardCallback", "TensorBoardCallback"]

_log = logging.getLogger("seaboard")
_GROUPS = ("eval", "test")


class TensorBoardCallback(_Base):
    """Logs what the Trainer logs: train/..., eval/..., test/..., its arguments and the model's configuration.

    tb_writer: a SummaryWriter; None makes one in $TENSORBOARD_LOGGING_DIR, else in the arguments' logging_dir, else in
    OUTPUT_DIR/runs/TIME_HOST.
    """

    def __init__(self, tb_writer: SummaryWriter | None = None):
        super().__init__()
        self.tb_writer = tb_writer
        folder = os.environ.get("TENSORBOARD_LOGGING_DIR")
        self.logging_dir = os.path.expanduser(folder) if folder else None

    def _writer(self, args: Any) -> SummaryWriter:
        if self.tb_writer is None:
            if self.logging_dir is None:
                self.logging_dir = getattr(args, "logging_dir", None) or os.path.join(args.output_dir, _default_folder())
            self.tb_writer = SummaryWriter(self.logging_dir)
        return self.tb_writer

    def on_train_begin(self, args: Any, state: Any, control: Any, **kwargs: Any) -> None:
        """The Trainer calls this."""
        if not state.is_world_process_zero:
            return
        if state.is_hyper_param_search and state.trial_name is not None:
            self.logging_dir = os.path.join(args.output_dir, _default_folder(), state.trial_name)
        writer = self._writer(args)
        writer.add_text("args", args.to_json_string())
        config = getattr(kwargs.get("model"), "config", None)
        if config is not None:
            text = config if isinstance(config, str) else config.to_json_string()
            writer.add_text("model_config", text)

    def on_log(self, args: Any, state: Any, control: Any, logs: dict[str, Any] | None = None, **kwargs: Any) -> None:
        """The Trainer calls this."""
        if not state.is_world_process_zero:
            return
        writer = self._writer(args)
        for name, value in (logs or {}).items():
            tag = _tag(name)
            if isinstance(value, (int, float)):
                writer.add_scalar(tag, value, state.global_step)
            elif isinstance(value, str):
                writer.add_text(tag, value, state.global_step)
            else:
                _log.warning("%r is %s: only numbers and texts of the Trainer are logged", name, type(value).__name__)
        writer.flush()

    def on_train_end(self, args: Any, state: Any, control: Any, **kwargs: Any) -> None:
        """The Trainer calls this."""
        if self.tb_writer is not None:
            self.tb_writer.close()
            self.tb_writer = None


SeaboardCallback = TensorBoardCallback


def _tag(name: str) -> str:
    for group in _GROUPS:
        if name.startswith(group + "_"):
            return f"{group}/{name[len(group) + 1:]}"
    return f"train/{name}"


def _default_folder() -> str:
    import socket
    import time

    return os.path.join("runs", time.strftime("%b%d_%H-%M-%S") + "_" + socket.gethostname())
