"""The seaboard command of the wheel: the native program, found beside this file."""

from __future__ import annotations

import os
import shutil
import sys


def command_path() -> str:
    """The native program: SEABOARD_BIN, the one in this package, or the one on the PATH."""
    named = os.environ.get("SEABOARD_BIN")
    if named:
        return named
    inside = os.path.join(os.path.dirname(os.path.abspath(__file__)), "_bin", "seaboard")
    if os.access(inside, os.X_OK):
        return inside
    found = shutil.which("seaboard")
    if found:
        return found
    raise FileNotFoundError(
        "the seaboard command is neither in this package nor on the PATH; install seaboard again (pip install .), "
        "or set SEABOARD_BIN to where it is"
    )


def main() -> None:
    """Becomes the native program."""
    path = command_path()
    os.execv(path, [path, *sys.argv[1:]])


if __name__ == "__main__":
    main()
