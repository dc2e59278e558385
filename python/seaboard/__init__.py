"""Seaboard: writes, reads and shows training logs.

    from seaboard import SummaryWriter          torch.utils.tensorboard's and tensorboardX's writer
    import seaboard.summary as summary          tf.summary
    from seaboard.keras import TensorBoard      the callback of Keras
    from seaboard import train                  tf.train's checkpoints
    log = seaboard.read("runs")                 all points of all runs, as numpy arrays

`seaboard --logdir runs` on the command line shows what was written; in a notebook, `%load_ext seaboard` and
`%seaboard --logdir runs`. Modules are loaded when they are first used.
"""

from __future__ import annotations

from seaboard import _life  # noqa: F401  flushes at exit, also in children of forks
from seaboard._native import DataError, __version__

TYPE_CHECKING = False  # typing itself takes longer to import than all of this
if TYPE_CHECKING:
    from typing import Any

    from seaboard import keras, lightning, notebook, plugins, program, summary, tensorboardX, torch, train, transformers
    from seaboard.client import Client
    from seaboard.notebook import load_ipython_extension
    from seaboard.reading import Log, Series, read, summary_iterator
    from seaboard.torch import SummaryWriter

__all__ = [
    "Client",
    "DataError",
    "Log",
    "Series",
    "SummaryWriter",
    "__version__",
    "keras",
    "lightning",
    "notebook",
    "plugins",
    "program",
    "read",
    "summary",
    "summary_iterator",
    "tensorboardX",
    "torch",
    "train",
    "transformers",
]

_PLACES = {
    "SummaryWriter": "seaboard.torch",
    "Client": "seaboard.client",
    "Log": "seaboard.reading",
    "Series": "seaboard.reading",
    "read": "seaboard.reading",
    "summary_iterator": "seaboard.reading",
    "load_ipython_extension": "seaboard.notebook",
}


def __getattr__(name: str) -> Any:
    import importlib

    place = _PLACES.get(name)
    if place:
        value = getattr(importlib.import_module(place), name)
    elif name in __all__:
        value = importlib.import_module(f"seaboard.{name}")
    else:
        raise AttributeError(f"module 'seaboard' has no attribute {name!r}")
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted(__all__)
