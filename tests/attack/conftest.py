"""Attacks on the server, each against the release build and against the build with ASan and UBSan.

The drivers are those of tests/integration. A test asks for `serve`, which starts the server of one of the two builds.
"""

import os
import pathlib
import sys

import pytest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "integration"))

from serve_driver import Seaboard  # noqa: E402

BUILDS = {"release": os.environ.get("SEABOARD_BIN"), "asan": os.environ.get("SEABOARD_ASAN_BIN")}


@pytest.fixture(params=BUILDS)
def build(request):
    """Which of the two builds is attacked."""
    if not BUILDS[request.param]:
        pytest.skip(f"there is no {request.param} build")
    return request.param


@pytest.fixture
def serve(build):
    """serve(logdir, *options): a server, for a with statement."""
    binary = BUILDS[build]

    def start(logdir, *options):
        server = Seaboard(logdir, *options)
        server.command[0] = binary
        return server

    return start
