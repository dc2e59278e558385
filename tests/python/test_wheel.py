"""The wheel that users install: made from the release build, tried in an environment with nothing else."""

import pathlib
import re
import subprocess

ROOT = pathlib.Path(__file__).resolve().parents[2]


def test_the_wheel_works_in_a_clean_environment_and_is_small():
    """tools/wheel installs what it made into an empty environment, logs, reads, and starts the command there."""
    subprocess.run([ROOT / "tools/setup", "wheel"], check=True, stderr=subprocess.DEVNULL)
    said = subprocess.run([ROOT / "tools/setup", "wheel-path"], check=True, capture_output=True, text=True)
    made = subprocess.run([said.stdout.strip() + "/bin/python", ROOT / "tools/wheel"], capture_output=True, text=True)
    assert made.returncode == 0, made.stdout + made.stderr
    name, size = re.search(r"build/wheels/(\S+\.whl) \(([\d.]+) MB\)", made.stdout).groups()
    assert "-cp311-abi3-manylinux" in name
    assert float(size) <= 10
