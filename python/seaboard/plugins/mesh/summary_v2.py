"""tensorboard.plugins.mesh.summary_v2: mesh()."""

from seaboard.plugins.mesh.summary import mesh

__all__ = ["mesh"]
