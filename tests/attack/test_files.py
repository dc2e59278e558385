"""Event files that change in other ways than by growing."""

import os

from command import frame, scalar
from logs import points, put_run


def write_in_place(path, data):
    """As rsync --inplace does: the same file, never shorter than before."""
    with open(path, "r+b") as file:
        file.write(data)


def log(value, count):
    return b"".join(frame(scalar(b"loss", step, value)) for step in range(1, count + 1))


def test_a_file_written_anew_in_place_is_read_anew(serve, tmp_path):
    """The records of both logs have equal sizes, so that the new ones begin where the old ones did."""
    path = put_run(tmp_path / "run")
    path.write_bytes(log(1.0, 100))
    with serve(tmp_path, "--reload_interval", 1) as server:
        server.loaded()
        assert points(server, "run") == [(step, 1.0) for step in range(1, 101)]
        write_in_place(path, log(2.0, 120))
        server.wait(lambda: points(server, "run"), lambda found: found == [(step, 2.0) for step in range(1, 121)])


def test_a_file_changed_in_place_without_growing_is_read_anew(serve, tmp_path):
    path = put_run(tmp_path / "run")
    path.write_bytes(log(1.0, 100))
    with serve(tmp_path, "--reload_interval", 1) as server:
        server.loaded()
        write_in_place(path, log(2.0, 100))
        os.utime(path)
        server.wait(lambda: points(server, "run"), lambda found: found == [(step, 2.0) for step in range(1, 101)])


def test_a_full_cache_disk_loses_no_point(serve, tmp_path):
    """What does not fit into the cache directory stays in memory, and the status says so."""
    count = 300_000
    path = put_run(tmp_path / "logs/run")
    path.write_bytes(log(1.0, count))
    server = serve(tmp_path / "logs", "--memory_limit", "1M")
    # No file of the server's may grow beyond 1 MB; the write is refused as on a full disk.
    server.command = ["prlimit", "--fsize=1000000", *server.command]
    with server:
        status = server.loaded()
        assert status["loading"]["points"] == count
        assert points(server, "run")[-1] == (count, 1.0)
        assert "too large" in status["memory"]["problem"].lower(), status["memory"]
        server.wait(lambda: b"the cache directory takes no more" in server.said)
