"""Background jobs of /api/v1: an export as a job, its result, its end."""

import json
import urllib.error

import pytest

from api_client import Api, write_scalars
from serve_driver import Events, Seaboard


@pytest.fixture(scope="module")
def api(tmp_path_factory):
    with Seaboard(tmp_path_factory.mktemp("logs")) as served:
        served.loaded()
        yield Api(served)


CHANGE = {"X-Seaboard-Request": "1"}


def submit(api, **args):
    return json.loads(api.call("jobs", {"kind": "export", "args": args}, headers=CHANGE)[2])["job"]


def finished(served, api, job):
    return served.wait(lambda: api.get(f"job?id={job['id']}")["job"], lambda job: job["state"] not in ("waiting", "running"))


def test_an_export_job_gives_what_export_gives(tmp_path):
    write_scalars(tmp_path / "a", "loss", range(3000), range(3000))
    write_scalars(tmp_path / "a", "acc", range(5), range(5))
    write_scalars(tmp_path / "b", "loss", range(7), range(7))
    with Seaboard(tmp_path) as served:
        served.loaded()
        api = Api(served)
        with Events(served.connect()) as events:
            told = events.event()["jobs"]
            job = submit(api, runs=["a"], tags=["loss"], format="csv")
            while events.event()["jobs"] == told:  # the stream tells of jobs
                pass
        done = finished(served, api, job)
        assert (done["state"], done["done"], done["total"], done["kind"]) == ("done", 3000, 3000, "export")
        status, headers, body = api.call(f"job/result?id={job['id']}")
        assert body == api.call("export?run=a&tag=loss&format=csv")[2] and len(body) == done["bytes"]
        assert headers["Content-Type"] == "text/csv; charset=utf-8" and "seaboard.csv" in headers["Content-Disposition"]
        part = api.call(f"job/result?id={job['id']}", headers={"Range": "bytes=4-6"})
        assert part[0] == 206 and part[2] == body[4:7]
        # an equal question is answered by the same job, another one is not
        assert submit(api, tags=["loss"], runs=["a"], format="csv")["id"] == job["id"]
        everything = finished(served, api, submit(api, format="json"))
        assert everything["id"] != job["id"] and everything["done"] == 3012
        assert api.call(f"job/result?id={everything['id']}")[2] == api.call("export?format=json")[2]
        assert [found["id"] for found in api.get("jobs")["jobs"]][0] == everything["id"]
        # new data makes it another question
        write_scalars(tmp_path / "b", "loss", [7], [7])
        served.wait(lambda: api.get("status")["loading"]["points"], lambda points: points == 3013)
        assert submit(api, runs=["a"], tags=["loss"], format="csv")["id"] != job["id"]


def test_a_cancelled_job_is_gone(tmp_path):
    write_scalars(tmp_path / "a", "loss", range(10), range(10))
    with Seaboard(tmp_path) as served:
        served.loaded()
        api = Api(served)
        job = finished(served, api, submit(api))
        assert api.call(f"job?id={job['id']}", method="DELETE", headers=CHANGE)[0] == 200
        for path in (f"job?id={job['id']}", f"job/result?id={job['id']}"):
            assert api.error(path)[0] == 404


def test_a_server_that_is_told_to_end_does_not_wait_for_its_jobs(tmp_path):
    folder = tmp_path / "a"
    write_scalars(folder, "loss", range(100_000), range(100_000))
    whole = (folder / "events.out.tfevents.1.h").read_bytes()
    for i in range(2, 12):
        (folder / f"events.out.tfevents.{i}.h").write_bytes(whole)
    with Seaboard(tmp_path) as served:
        served.loaded()
        api = Api(served)
        for format in ("csv", "json"):
            submit(api, format=format, superseded=True)
    # leaving the block ends the server in the middle of that; it must end with code 0 and without a leak


@pytest.mark.parametrize(
    "body", [{}, {"kind": "nothing", "args": {}}, {"kind": "export"}, {"kind": "export", "args": {"runs": "a"}}, {"kind": "export", "args": {"format": "xml"}}]
)
def test_jobs_without_sense_are_refused(api, body):
    with pytest.raises(urllib.error.HTTPError) as refused:
        api.call("jobs", body, headers=CHANGE)
    assert refused.value.code == 400


def test_jobs_need_the_header_of_changes(api):
    assert api.error("jobs", {"kind": "export", "args": {}})[0] == 403
    assert api.error("job?id=x")[0] == 400 and api.error("job/result?id=999")[0] == 404
