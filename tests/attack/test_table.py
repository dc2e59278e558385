"""The page about hardening names tests: they are all there, and it names every attack."""

import pathlib
import re

ROOT = pathlib.Path(__file__).resolve().parents[2]
PAGE = (ROOT / "docs/design/hardening.md").read_text()


def python_tests(folder):
    return {(path.name, name) for path in (ROOT / folder).glob("test_*.py")
            for name in re.findall(r"^def (test_\w+)", path.read_text(), re.M)}  # fmt: skip


def test_every_test_that_the_page_names_is_there():
    known = python_tests("tests/attack") | python_tests("tests/integration")
    for file, name in re.findall(r"`(?:[\w/]*/)?(test_\w+\.py)::(test_\w+)`", PAGE):
        assert (file, name) in known, (file, name)
    for path, name in re.findall(r"`(tests/\w+/(?:\w+/)?\w+\.c): (\w+)`", PAGE):
        assert re.search(rf"^static void {name}\(", (ROOT / path).read_text(), re.M), (path, name)
    for path in re.findall(r"`((?:fuzz|tests)/[\w/]+\.(?:c|py))`", PAGE):
        assert (ROOT / path).exists(), path


def test_every_attack_is_among_the_results():
    listed = set(re.findall(r"^\| `(test_\w+\.py)::(test_\w+)` \|", PAGE, re.M))
    missing = {(file, name) for file, name in python_tests("tests/attack") - listed if file != "test_table.py"}
    assert not missing, f"run the suite with --table docs/design/hardening.md: {sorted(missing)}"
