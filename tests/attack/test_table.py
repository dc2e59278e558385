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


# Holes that were found in other programs of this kind, by their numbers.
HOLES = """
    #3134 #7115 #7119 2016-9910 2021-41200 2021-41203 2021-35958 2021-43775 2024-2195 2024-8238 2025-5321 2024-6851 2024-8769
    2024-7760 2024-8863 2025-51464 2026-85663 2023-1176 -1177 -2356 -2780 -6831 -6909 -30172 2024-1560 2024-1593 2023-6568
    2024-27132 2024-37052 2024-24590 2024-4263 2025-14279 2026-0545 2026-2651 2026-2652 2026-2635 2026-2393 2026-64849
    2024-24591 -24594 2024-39272 2025-8917 2024-7340 2026-91771 2019-9644 2023-40170 2018-21030 2018-19351 nbconvert 2019-10255
    -10856 2020-26215 -26232 2023-39968 2022-24757 -24758 2022-29241 2024-28179 2022-21697 2026-35397 2026-40110 2026-40934
    2026-28414
""".split()


def test_every_past_hole_has_a_row_with_a_test():
    section = PAGE[PAGE.index("## Past holes") :]
    rows = [row.split("|")[1:4] for row in section[: section.index("Memory safety is")].splitlines() if row.startswith("| ")]
    for hole in HOLES:
        tests = [row[2] for row in rows if re.search(re.escape(hole) + r"\b", row[0])]
        assert len(tests) == 1 and re.search(r"`[\w/]+\.(py::test_\w+|c: \w+|c)`", tests[0]), hole


def test_every_attack_is_among_the_results():
    listed = set(re.findall(r"^\| `(test_\w+\.py)::(test_\w+)` \|", PAGE, re.M))
    missing = {(file, name) for file, name in python_tests("tests/attack") - listed if file != "test_table.py"}
    assert not missing, f"run the suite with --table docs/design/hardening.md: {sorted(missing)}"
