"""The profile of a Python process, where TensorFlow is not loaded."""

import os
import subprocess
import sys

PROGRAM = """
import sys, threading, time, warnings
import seaboard.summary as summary

def busy_work():
    until = time.thread_time() + 0.3  # its own: a busy machine makes it longer, not emptier
    while time.thread_time() < until:
        sum(range(1000))

writer = summary.create_file_writer("logs")
with writer.as_default():
    summary.trace_on(profiler=True)
    helper = threading.Thread(target=busy_work, name="helper")
    helper.start()
    busy_work()
    helper.join()
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
    plane = next(plane for plane in space.planes if plane.name == "/host:CPU")
    names = {key: metadata.name for key, metadata in plane.event_metadata.items()}
    main = next(line for line in plane.lines if line.name == "MainThread")
    spent = {}
    for event in main.events:
        name = names[event.metadata_id].split(" ")[0]
        spent[name] = spent.get(name, 0) + event.duration_ps / 1e12
    assert spent["busy_work"] > 0.1
    assert {line.name for line in plane.lines} >= {"MainThread", "helper"}
    depth = [event for event in main.events if names[event.metadata_id].startswith("busy_work")]
    outer = max(main.events, key=lambda event: event.duration_ps)
    assert all(outer.offset_ps <= event.offset_ps for event in depth)  # calls lie inside the calls that made them
    assert sum("tfevents" in name for name in os.listdir(tmp_path / "logs")) == 1


def test_a_directory_with_nothing_but_a_profile_is_a_run(tmp_path):
    from seaboard._sampler import Sampler

    for _ in range(2):
        sampler = Sampler(tmp_path / "logs")
        sampler.start()
        sampler.stop()
    assert len([name for name in os.listdir(tmp_path / "logs") if name.endswith(".profile-empty")]) == 1
    assert len(list((tmp_path / "logs/plugins/profile").iterdir())) == 2
