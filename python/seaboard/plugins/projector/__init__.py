"""tensorboard.plugins.projector: the configuration of the projector, and where it is stored."""

from __future__ import annotations

import os
from typing import Any

from seaboard._proto.messages import EmbeddingInfo, ProjectorConfig, SpriteMetadata

__all__ = ["EmbeddingInfo", "ProjectorConfig", "SpriteMetadata", "visualize_embeddings"]


def visualize_embeddings(logdir: Any, config: Any) -> None:
    """Writes projector_config.pbtxt into a log directory, or into that of a writer."""
    if hasattr(logdir, "get_logdir"):
        logdir = logdir.get_logdir()
    if logdir is None:
        raise ValueError("Expected logdir to be a path, but got None")
    os.makedirs(logdir, exist_ok=True)
    with open(os.path.join(os.fspath(logdir), "projector_config.pbtxt"), "w", encoding="utf-8") as file:
        file.write(str(config))
