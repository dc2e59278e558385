"""The command as a whole: help, wrong usage, exit codes, pipes, hostile text."""

import os
import subprocess

import pytest
from command import BINARY, FIXTURES, frame, scalar, seaboard

SOME_FILE = next((FIXTURES / "tf/v2/train").glob("*tfevents*"))
COMMANDS = ["inspect", "dump", "verify"]


def test_version():
    for word in ("version", "--version"):
        result = seaboard(word)
        assert result.returncode == 0
        assert result.stdout.startswith(b"seaboard ")
        assert result.stdout.count(b"\n") == 1


def test_help_lists_every_command():
    pages = [seaboard(word).stdout for word in ("help", "--help", "-h")]
    assert pages[0] == pages[1] == pages[2]
    for name in COMMANDS:
        assert f"\n  {name} ".encode() in pages[0]


@pytest.mark.parametrize("name", COMMANDS)
def test_help_of_a_command(name):
    page = seaboard("help", name)
    assert page.returncode == 0
    assert page.stdout.startswith(f"usage: seaboard {name} ".encode())
    assert b"--help" in page.stdout
    assert seaboard(name, "--help").stdout == page.stdout
    assert seaboard(name, "-h").stdout == page.stdout
    assert max(map(len, page.stdout.splitlines())) <= 100


@pytest.mark.parametrize(
    "args, words",
    [
        ([], b"usage: seaboard"),
        (["frobnicate"], b"no command 'frobnicate'"),
        (["help", "frobnicate"], b"no command 'frobnicate'"),
        (["dump"], b"FILE"),
        (["dump", "a", "b"], b"'b'"),
        (["dump", "--jsn", "x"], b"'--jsn'"),
        (["dump", "-x", "x"], b"'-x'"),
        (["dump", "--json=yes", "x"], b"'--json=yes'"),
        (["inspect", "x", "--tag"], b"'--tag'"),
        (["inspect"], b"--logdir"),
        (["inspect", "x", "--logdir", "y"], b"--logdir"),
        (["verify"], b"PATH"),
        (["dump", str(FIXTURES)], b"is a directory"),
    ],
)
def test_wrong_usage(args, words):
    result = seaboard(*args)
    assert result.returncode == 2
    assert words in result.stderr
    assert result.stdout == b""


@pytest.mark.parametrize("name", COMMANDS)
def test_a_path_that_is_not_there(name):
    result = seaboard(name, "/no/such/path")
    assert result.returncode == 1
    assert b"/no/such/path" in result.stderr
    assert b"No such file" in result.stderr


def test_options_may_be_shortened_and_stand_anywhere():
    whole = seaboard("dump", "--json", SOME_FILE).stdout
    assert whole
    assert seaboard("dump", SOME_FILE, "--js").stdout == whole
    assert seaboard("dump", "-j", "--", SOME_FILE).stdout == whole


@pytest.mark.parametrize("ignored", [False, True])
def test_a_reader_that_had_enough_is_no_failure_to_talk_about(tmp_path, ignored):
    log = tmp_path / "many.tfevents"
    log.write_bytes(b"".join(frame(scalar(b"loss", i, 1.0)) for i in range(5000)))
    before = "trap '' PIPE; " if ignored else ""
    script = before + '"$0" dump "$1" | head -n 1'
    result = subprocess.run(["sh", "-c", script, BINARY, str(log)], capture_output=True, timeout=60, check=False)
    assert result.stderr == b""
    assert result.stdout.count(b"\n") == 1


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="there is no /dev/full here")
@pytest.mark.parametrize("args", [["help"], ["dump", str(SOME_FILE)], ["verify", str(FIXTURES)]])
def test_a_full_disk_is_told(args):
    with open("/dev/full", "wb") as full:
        result = subprocess.run([BINARY, *args], stdout=full, stderr=subprocess.PIPE, timeout=60, check=False)
    assert result.returncode == 4
    assert b"No space left" in result.stderr


def test_no_file_drives_the_terminal(tmp_path):
    directory = tmp_path / "a\x1b[31m\nb"
    directory.mkdir()
    tag = b"\x1b]0;owned\x07\r\n\xe2\x80\xae\xff\xc2\x9b2J"
    log = directory / "x.tfevents"
    log.write_bytes(frame(scalar(tag, 1, 1.0)) + b"rubbish that is no record")
    for args in (["inspect", tmp_path], ["inspect", log], ["dump", log], ["verify", tmp_path], ["inspect", "--tag", tag, log]):
        result = seaboard(*args) if args[0] != "inspect" or "--tag" not in args else subprocess.run(
            [BINARY, b"inspect", b"--tag", tag, bytes(log)], capture_output=True, timeout=60, check=False
        )
        shown = result.stdout + result.stderr
        assert result.returncode in (0, 3)
        assert b"\\x1b" in shown
        for harmful in (b"\x1b", b"\x07", b"\r", b"\xe2\x80\xae", b"\xff", b"\xc2\x9b"):
            assert harmful not in shown


def test_progress_is_for_terminals_only():
    result = seaboard("verify", FIXTURES)
    assert result.stderr == b""
