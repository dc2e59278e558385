"""How pip builds the wheel: tools/setup brings what is missing, then scikit-build-core drives CMake.

`pip install .` calls the functions below (PEP 517). Where packages of the system are missing and may not be installed,
tools/setup prints the one command that installs them, and the build ends there.
"""

import os
import pathlib
import subprocess

from scikit_build_core.build import (  # noqa: F401  the hooks that need no preparation
    build_sdist,
    get_requires_for_build_editable,
    get_requires_for_build_sdist,
    get_requires_for_build_wheel,
    prepare_metadata_for_build_editable,
    prepare_metadata_for_build_wheel,
)
from scikit_build_core.build import build_editable as _build_editable
from scikit_build_core.build import build_wheel as _build_wheel

ROOT = pathlib.Path(__file__).resolve().parents[2]


def _prepare():
    # pip's build environment is not that of the programs that tools/setup calls
    environment = {name: value for name, value in os.environ.items() if not name.startswith("PYTHON")}
    if subprocess.run([str(ROOT / "tools/setup"), "build", "ui"], cwd=ROOT, env=environment).returncode != 0:
        raise SystemExit("seaboard can't be built yet: the lines above say what is missing and how to install it")


def build_wheel(wheel_directory, config_settings=None, metadata_directory=None):
    _prepare()
    return _build_wheel(wheel_directory, config_settings, metadata_directory)


def build_editable(wheel_directory, config_settings=None, metadata_directory=None):
    _prepare()
    return _build_editable(wheel_directory, config_settings, metadata_directory)
