"""Checkpoints as tf.train has them, without TensorFlow: over numpy arrays, torch, Keras, and TensorFlow where it is there.

    from seaboard import train                       instead of: from tensorflow import train
    checkpoint = train.Checkpoint(model=model, optimizer=optimizer)
    manager = train.CheckpointManager(checkpoint, "run", max_to_keep=3)
    checkpoint.restore(manager.latest_checkpoint)
    manager.save()

The files are TensorFlow's: each restores what the other has saved. What may be saved: numpy arrays, tensors of torch,
variables of TensorFlow and Keras, anything with state_dict and load_state_dict (torch's modules, optimizers, schedulers),
anything with variables, objects with serialize and deserialize, lists and dictionaries of these, and Modules.
"""

from seaboard.train import experimental
from seaboard.train._checkpoint import Checkpoint
from seaboard.train._errors import DataLossError, InvalidArgumentError, NotFoundError
from seaboard.train._manager import CheckpointManager, checkpoints_iterator, latest_checkpoint
from seaboard.train._objects import Module, Variable
from seaboard.train._saver import Saver
from seaboard.train._tensors import CheckpointReader, list_variables, load_checkpoint, load_variable

__all__ = [
    "Checkpoint",
    "CheckpointManager",
    "CheckpointReader",
    "DataLossError",
    "InvalidArgumentError",
    "Module",
    "NotFoundError",
    "Saver",
    "Variable",
    "checkpoints_iterator",
    "experimental",
    "latest_checkpoint",
    "list_variables",
    "load_checkpoint",
    "load_variable",
]
