"""seaboard verify: what is damaged, at which byte, of which kind; exit codes."""

import gzip
import os

import pytest
from command import FIXTURES, event_files, frame, scalar, seaboard

AWKWARD = FIXTURES / "tf/awkward"
NAME = "events.out.tfevents.1700000000.host.1.0"


def verify(path, *args):
    result = seaboard("verify", *args, path)
    return result.returncode, result.stdout.decode(), result.stderr.decode()


@pytest.mark.parametrize("path", event_files(), ids=lambda path: str(path.relative_to(FIXTURES)))
def test_fixtures(path):
    code, out, err = verify(path)
    size = path.stat().st_size
    assert err == ""
    known = {
        "truncated": f"{path}: byte 1169: the last record is cut (32 bytes)\n",
        "bitflip": f"{path}: byte 584: a record's payload does not match its checksum (39 bytes)\n",
    }
    damage = known.get(path.parent.name)
    if damage:
        assert code == 3
        assert out.startswith(damage)
        assert "1 damaged place in 1 file" in out
    else:
        assert code == 0
        assert out.count("\n") == 1
        assert out.endswith(f" {size:,} bytes: all whole\n".replace(",", " "))


def test_a_whole_directory():
    code, out, err = verify(FIXTURES)
    lines = out.splitlines()
    assert code == 3
    assert err == ""
    assert len(lines) == 3
    assert lines[0].startswith(f"{AWKWARD / 'bitflip' / NAME}: byte 584: ")
    assert lines[1].startswith(f"{AWKWARD / 'truncated' / NAME}: byte 1169: ")
    assert lines[2].startswith(f"{len(event_files())} files, ")
    assert lines[2].endswith(": 2 damaged places in 2 files, 71 bytes lost")
    code, out, _ = verify(FIXTURES, "--verbose")
    assert code == 3
    assert out.count(": whole, ") == len(event_files()) - 2


def records(n):
    return [frame(scalar(b"loss", i, i / 2)) for i in range(n)]


def test_each_kind_of_damage_has_its_place_and_name(tmp_path):
    parts = records(10)
    log = tmp_path / "x.tfevents"
    at = [sum(map(len, parts[:i])) for i in range(11)]
    data = bytearray(b"".join(parts))
    data[at[2] + 14] ^= 1  # a payload
    data[at[4] + 1] ^= 1  # a length
    data[at[7] + 9] ^= 1  # the checksum of a length
    odd = frame(b"\xff\xff\xff")
    log.write_bytes(bytes(data) + odd + parts[0][:20])
    code, out, _ = verify(log)
    assert code == 3
    assert out.splitlines() == [
        f"{log}: byte {at[2]}: a record's payload does not match its checksum ({len(parts[2])} bytes)",
        f"{log}: byte {at[4]}: no record begins here ({len(parts[4])} bytes)",
        f"{log}: byte {at[7]}: no record begins here ({len(parts[7])} bytes)",
        f"{log}: byte {at[10]}: a record that is no event (19 bytes)",
        f"{log}: byte {at[10] + 19}: the last record is cut (20 bytes)",
        f"1 file, 8 records, {len(data) + 39} bytes: 5 damaged places in 1 file, "
        f"{len(parts[2]) + len(parts[4]) + len(parts[7]) + 39} bytes lost",
    ]


@pytest.mark.parametrize("cut", range(1, 40, 3))
def test_a_cut_tail_counts(tmp_path, cut):
    parts = records(3)
    log = tmp_path / "x.tfevents"
    whole = len(parts[0]) + len(parts[1])
    log.write_bytes(b"".join(parts)[: whole + cut])
    code, out, _ = verify(log)
    if whole + cut < sum(map(len, parts)):
        assert code == 3
        assert out.startswith(f"{log}: byte {whole}: the last record is cut ({cut} bytes)\n")
    else:
        assert code == 0


def test_zeros_and_rubbish_at_the_end(tmp_path):
    log = tmp_path / "x.tfevents"
    whole = b"".join(records(3))
    for tail in (bytes(1000), b"rubbish" * 99):
        log.write_bytes(whole + tail)
        code, out, _ = verify(log)
        assert code == 3
        assert out.startswith(f"{log}: byte {len(whole)}: no record begins here ({len(tail)} bytes)\n")


def test_archives(tmp_path):
    log = tmp_path / "x.tfevents.gz"
    packed = gzip.compress(b"".join(records(500)))
    log.write_bytes(packed)
    code, out, _ = verify(log)
    assert code == 0
    assert out.startswith("1 file, 500 records, ")
    log.write_bytes(packed[:-20])
    code, out, _ = verify(log)
    assert code == 3
    assert "the gzip archive is damaged or cut" in out


def test_nothing_found(tmp_path):
    code, out, err = verify(tmp_path)
    assert code == 1
    assert out == ""
    assert str(tmp_path) in err and "tfevents" in err


@pytest.mark.skipif(os.geteuid() == 0, reason="everything can be read by the superuser")
def test_what_cannot_be_read_is_told(tmp_path):
    (tmp_path / "x.tfevents").write_bytes(records(1)[0])
    (tmp_path / "y.tfevents").write_bytes(records(1)[0])
    (tmp_path / "y.tfevents").chmod(0)
    code, out, err = verify(tmp_path)
    assert code == 4
    assert "y.tfevents" in err and "Permission denied" in err
    assert out.startswith("2 files, 1 record, ")


def test_a_loop_of_links_is_told_and_left(tmp_path):
    (tmp_path / "run").mkdir()
    (tmp_path / "run/x.tfevents").write_bytes(records(1)[0])
    (tmp_path / "run/up").symlink_to(tmp_path)
    code, out, err = verify(tmp_path)
    assert code == 4
    assert out.startswith("1 file, 1 record, ")
    assert "run/up" in err
