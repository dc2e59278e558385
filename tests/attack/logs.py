"""Small logs for attacks."""

from command import frame, scalar


GOOD = [(0, 0.0), (1, 0.5), (2, 1.0)]  # what put_run writes


def put_run(folder, tags=(b"loss",), steps=3):
    """An event file with these scalar tags, each with points (0, 0), (1, 0.5), ..."""
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / "events.out.tfevents.1700000000.test"
    path.write_bytes(b"".join(frame(scalar(tag, step, step / 2)) for tag in tags for step in range(steps)))
    return path


def points(server, run, tag="loss"):
    """Steps and values; none while the series is not there."""
    answer = server.get(f"/data/plugin/scalars/scalars?run={run}&tag={tag}")
    return [] if answer.status == 404 else [(step, value) for _, step, value in answer.json()]
