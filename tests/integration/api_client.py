"""A client of /api/v1, and logs made by hand for it."""

import json
import struct
import urllib.error
import urllib.request

import numpy as np
import pytest

from command import field, frame, varint


def write_scalars(folder, tag, steps, values, wall=1_700_000_000.0, name="events.out.tfevents.1.h"):
    """A log in torch's style, made by hand: independent of the writer under test."""
    folder.mkdir(parents=True, exist_ok=True)
    with open(folder / name, "ab") as f:
        for step, value in zip(steps, values):
            f.write(frame(event(tag, int(step), float(value), wall + 0.001 * int(step))))


def event(tag, step, value, wall):
    value_message = field(1, tag.encode()) + b"\x15" + struct.pack("<f", value)
    return b"\x09" + struct.pack("<d", wall) + b"\x10" + varint(step) + field(5, field(1, value_message))


class Api:
    def __init__(self, served):
        self.base = f"http://localhost:{served.port}/api/v1/"

    def call(self, path, body=None, method=None, headers=None):
        data = None if body is None else body if isinstance(body, bytes) else json.dumps(body).encode()
        request = urllib.request.Request(self.base + path, data=data, method=method or ("POST" if data else "GET"))
        request.add_header("Content-Type", "application/json")
        for key, value in (headers or {}).items():
            request.add_header(key, value)
        with urllib.request.urlopen(request, timeout=240) as reply:
            return reply.status, dict(reply.headers), reply.read()

    def get(self, path):
        return json.loads(self.call(path)[2])

    def post(self, path, body):
        return json.loads(self.call(path, body)[2])

    def error(self, *args, **kwargs):
        with pytest.raises(urllib.error.HTTPError) as caught:
            self.call(*args, **kwargs)
        return caught.value.code, json.loads(caught.value.read())["error"]

    def columns(self, body):
        _, headers, data = self.call("scalars", body)
        assert struct.unpack_from("<Q", data, 8)[0] == int(headers["X-Seaboard-Version"])
        return decode(data)


def decode(data):
    assert data[:4] == b"SBC1"
    count, version = struct.unpack_from("<IQ", data, 4)
    entries = []
    for i in range(count):
        at = 16 + 96 * i
        run, flags, epoch, n, points, bad = struct.unpack_from("<IIQQII", data, at)
        offsets = struct.unpack_from("<5I", data, at + 32)
        attempts, base, in_range, first_step, x, plus, minus = struct.unpack_from("<IdQdIII", data, at + 52)
        entry = dict(run=run, flags=flags, epoch=epoch, n=n, bad=bad, plus=plus, minus=minus, attempts=attempts, base=base, in_range=in_range, first_step=first_step)
        for name, offset in zip(("step", "wall", "value", "smooth"), offsets):
            entry[name] = np.frombuffer(data, "<f8", points, offset * 8) if offset else None
        entry["x"] = np.frombuffer(data, "<f8", points, x * 8) if x else None
        entry["marks"] = np.frombuffer(data, "u1", points, offsets[4] * 8) if offsets[4] else None
        entries.append(entry)
    return entries


def tags_of(api, plugin):
    runs = {run["id"]: run["name"] for run in api.get("runs")["runs"]}
    for tag in api.get(f"tags?plugin={plugin}")["tags"]:
        for run in runs if tag["runs"] == "all" else tag["runs"]:
            yield run, tag["tag"], tag
