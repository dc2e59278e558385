"""The profile of a Python process, where TensorFlow is not loaded."""

import os
import subprocess
import sys

PROGRAM = """
import sys, time, warnings
import seaboard.summary as summary

def busy_work():
    until = time.monotonic() + 0.3
    while time.monotonic() < until:
        sum(range(1000))

writer = summary.create_file_writer("logs")
with writer.as_default():
    summary.trace_on(profiler=True)
    busy_work()
    summary.trace_export("x", step=1)
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        summary.trace_on()
        summary.trace_export("y", step=1)
    assert "no graph to record" in str(said[0].message) and "nothing was recorded" in str(said[1].message)
writer.close()
assert "tensorflow" not in sys.modules and "numpy" not in sys.modules
"""


def test_a_profile_of_the_process_is_written_without_any_framework(tmp_path):
    subprocess.run([sys.executable, "-c", PROGRAM], cwd=tmp_path, check=True)
    (file,) = (tmp_path / "logs/plugins/profile").rglob("*.xplane.pb")
    from tensorflow.tsl.profiler.protobuf import xplane_pb2

    space = xplane_pb2.XSpace.FromString(file.read_bytes())
    (plane,) = space.planes
    names = {key: metadata.name for key, metadata in plane.event_metadata.items()}
    main = next(line for line in plane.lines if line.name == "MainThread")
    spent = {}
    for event in main.events:
        name = names[event.metadata_id].split(" ")[0]
        spent[name] = spent.get(name, 0) + event.duration_ps / 1e12
    assert spent["busy_work"] > 0.1
    assert any(".profile-empty" in name for name in os.listdir(tmp_path / "logs"))
