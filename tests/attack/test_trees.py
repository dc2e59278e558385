"""Log directories whose links, depth or size are made to hide the runs or to keep the server busy."""

import os
import signal

from logs import GOOD, points, put_run


def link_each_to_each(root, count):
    for i in range(count):
        (root / f"d{i}").mkdir()
    for i in range(count):
        for k in range(count):
            if i != k:
                os.symlink(f"../d{k}", root / f"d{i}/to{k}")


def test_directories_that_link_to_each_other_hide_no_run(serve, tmp_path):
    put_run(tmp_path / "good")
    link_each_to_each(tmp_path, 10)
    with serve(tmp_path) as server:
        status = server.loaded()
        assert server.json("/data/runs") == ["good"]
        assert points(server, "good") == GOOD
        assert status["loading"]["problems"] > 0 and "left out" in status["loading"]["problem"], status["loading"]


def test_a_link_to_proc_hides_no_run(serve, tmp_path):
    put_run(tmp_path / "good")
    os.symlink("/proc", tmp_path / "proc")
    with serve(tmp_path) as server:
        status = server.loaded()
        assert server.json("/data/runs") == ["good"]
        assert status["loading"]["problems"] == 1 and "/proc" in status["loading"]["problem"], status["loading"]


def test_runs_are_shown_while_the_search_goes_on(serve, tmp_path):
    """2000 directories that link to each other in a row of 40 keep a search busy; the runs beside them do not wait."""
    put_run(tmp_path / "a/good")
    put_run(tmp_path / "z/good")
    tangle = tmp_path / "m"
    tangle.mkdir()
    link_each_to_each(tangle, 60)
    with serve(tmp_path) as server:
        server.wait(lambda: server.json("/data/runs"), lambda runs: runs == ["a/good", "z/good"])
        server.wait(lambda: points(server, "z/good"), lambda found: found == GOOD)


def test_a_signal_ends_the_server_during_a_search(serve, tmp_path):
    """The directories link to each other, and the search begins again at once: there is always one under way."""
    put_run(tmp_path / "good")
    link_each_to_each(tmp_path, 60)
    with serve(tmp_path, "--reload_interval", "0.001") as server:
        server.wait(lambda: server.json("/data/runs"), lambda runs: runs == ["good"])
        server.process.send_signal(signal.SIGTERM)
        assert server.process.wait(10) == 0


def test_a_directory_too_deep_is_told_as_such(serve, tmp_path):
    put_run(tmp_path / "good")
    put_run(tmp_path.joinpath(*["d"] * 140))
    with serve(tmp_path) as server:
        status = server.loaded()
        assert server.json("/data/runs") == ["good"]
        assert "too many directories inside each other" in status["loading"]["problem"], status["loading"]
