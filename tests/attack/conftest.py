"""Attacks on the server, each against the release build and against the build with ASan and UBSan.

The drivers are those of tests/integration. A test asks for `serve`, which starts the server of one of the two builds.
`--table FILE` writes the results into a file, between the lines <!-- results --> and <!-- end -->: that is how the
table in docs/design/hardening.md is made.
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


# ---- the table ---------------------------------------------------------------------------------------------------

results = {}  # (file, test) -> {build: outcome}


def pytest_addoption(parser):
    parser.addoption("--table", help="a file to write the results into")


def pytest_runtest_logreport(report):
    if report.when == "call" or report.skipped or report.failed:
        file, _, name = report.nodeid.rpartition("/")[2].partition("::")
        if file == "test_table.py":  # it looks at the table, and is no attack
            return
        name, _, parameters = name.partition("[")
        build = next((word for word in BUILDS if word in parameters), "release")
        outcomes = results.setdefault((file, name), {})
        worst = {"passed": 0, "skipped": 1, "failed": 2}
        if worst[report.outcome] >= worst.get(outcomes.get(build), -1):
            outcomes[build] = report.outcome


def pytest_sessionfinish(session):
    table = session.config.getoption("--table")
    if not table:
        return
    rows = ["| test | " + " | ".join(BUILDS) + " |", "|---|" + "---|" * len(BUILDS)]
    for (file, name), outcomes in sorted(results.items()):
        rows.append(f"| `{file}::{name}` | " + " | ".join(outcomes.get(build, "–") for build in BUILDS) + " |")
    path = pathlib.Path(table)
    before, _, rest = path.read_text().partition("<!-- results -->\n")
    _, end, after = rest.partition("<!-- end -->")
    assert end, f"{path} has no place for the table"
    path.write_text(before + "<!-- results -->\n" + "\n".join(rows) + "\n" + end + after)
