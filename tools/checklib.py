"""What the checks in this folder share: the list of files to look at, and how a check reports.

A check is a program without an extension that looks at the tree it is told about (--root, by default
the one it stands in), prints one line for each thing that is wrong, "path:line: what", and ends with
1 if there was any. Only the standard library is used.
"""

import argparse
import pathlib
import subprocess

HERE = pathlib.Path(__file__).resolve().parent.parent


class Report:
    """Collects the problems that a check finds; exits with 1 if there are any, else with 0."""

    def __init__(self):
        self.problems = []

    def add(self, path, line, text):
        place = f"{path}:{line}" if line else str(path)
        self.problems.append(f"{place}: {text}")

    def finish(self, looked_at):
        for problem in self.problems:
            print(problem)
        if not looked_at:
            print("nothing to look at: the check has lost its way")
            return 1
        return 1 if self.problems else 0


def parser(doc):
    """An argument parser with --root; doc is the program's own opening text."""
    made = argparse.ArgumentParser(description=doc, formatter_class=argparse.RawDescriptionHelpFormatter)
    made.add_argument("--root", type=pathlib.Path, default=HERE, help="the tree to look at")
    return made


def tracked_files(root, *suffixes):
    """Paths relative to root of what git tracks, or will track: new files count before `git add`.

    With suffixes (".c"), only files that end so. In a tree without git (a source tarball) every file
    outside build/ is taken.
    """
    command = ["git", "-C", str(root), "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
    found = subprocess.run(command, capture_output=True, text=True)
    if found.returncode == 0:
        names = {pathlib.PurePosixPath(name) for name in found.stdout.split("\0") if name}
    else:
        everything = {pathlib.PurePosixPath(path.relative_to(root)) for path in root.rglob("*")}
        names = {
            name for name in everything if name.parts[0] not in ("build", ".git") and "__pycache__" not in name.parts
        }
    return sorted(name for name in names if (not suffixes or name.suffix in suffixes) and (root / name).is_file())
