"""Tags and runs whose names are no UTF-8: what is listed can be asked for, everywhere."""

import json
import os
import urllib.parse

from command import seaboard
from logs import points, put_run

BAD, OTHER = b"lo\xffss", b"lo\xfess"
SPELLED, OTHER_SPELLED = "lo\ufffdffss", "lo\ufffdfess"


def test_a_tag_that_is_no_utf8_is_listed_and_answered_under_one_name(serve, tmp_path):
    put_run(tmp_path / "run", [BAD, OTHER])
    with serve(tmp_path) as server:
        server.loaded()
        assert set(server.json("/data/plugin/scalars/tags")["run"]) == {SPELLED, OTHER_SPELLED}
        assert points(server, "run", urllib.parse.quote(SPELLED)) == [(0, 0.0), (1, 0.5), (2, 1.0)]
        listed = server.json("/api/v1/tags")
        assert SPELLED in str(listed)


def test_exports_are_utf8(tmp_path):
    put_run(tmp_path / "run", [BAD, OTHER])
    table = seaboard("export", tmp_path, "--tag", SPELLED).stdout.decode("utf-8")
    assert table.splitlines()[1].startswith(f"run,{SPELLED},0,"), table
    rows = json.loads(seaboard("export", tmp_path, "--format", "json").stdout)
    assert {row["tag"] for row in rows} == {SPELLED, OTHER_SPELLED}


def test_runs_whose_names_are_no_utf8_are_told_apart(serve, tmp_path):
    for name in (b"r\xff", b"r\xfe"):
        folder = os.path.join(os.fsencode(tmp_path), name)
        os.mkdir(folder)
        put_run(tmp_path / os.fsdecode(name))
    with serve(tmp_path) as server:
        server.loaded()
        assert set(server.json("/data/runs")) == {"r\ufffdff", "r\ufffdfe"}
        assert points(server, urllib.parse.quote("r\ufffdff")) == [(0, 0.0), (1, 0.5), (2, 1.0)]
