"""The whole server under load: a thousand clients, slow readers, half-open connections, questions that take long.

Nothing here is a test of speed: waits are bounded by a deadline that only a server that hangs will miss.
"""

import os
import socket
import threading
import time

import pytest
from command import FIXTURES, frame, scalar
from serve_driver import Events, Seaboard

HEADER = frame(b"\x09\0\0\0\0\0\0\0\0\x1a\x0dbrain.Event:2")


def make_log(folder, runs, tags, steps):
    for run in range(runs):
        path = folder / f"run{run:03}" / "events.out.tfevents.1700000000.host.0"
        path.parent.mkdir(parents=True)
        records = [frame(scalar(b"tag%02d" % tag, step, float(step))) for step in range(steps) for tag in range(tags)]
        path.write_bytes(HEADER + b"".join(records))


@pytest.fixture(scope="module")
def logs(tmp_path_factory):
    folder = tmp_path_factory.mktemp("logs")
    make_log(folder, 20, 10, 200)
    return folder


@pytest.fixture
def server(logs):
    with Seaboard(logs) as server:
        server.loaded()
        yield server


def descriptors(server):
    return len(os.listdir(f"/proc/{server.process.pid}/fd"))


def all_let_go(server, before):
    """Connections that were closed here are closed there too."""
    server.wait(lambda: descriptors(server), lambda count: count <= before + 2)


def test_a_thousand_clients_in_parallel(server):
    before = descriptors(server)
    expected = server.get("/data/plugin/scalars/scalars?run=run007&tag=tag03").body
    clients = []
    for _ in range(1000):
        clients.append(server.connect())  # asks at once: who says nothing for long is cut off
        clients[-1].request("/data/plugin/scalars/scalars?run=run007&tag=tag03")
    for client in clients:
        assert client.response().body == expected
    # a second question on the same connections, of many kinds
    targets = ["/data/environment", "/data/runs", "/api/v1/runs", "/data/plugins_listing", "/data/plugin/scalars/tags"]
    known = [server.get(target).json() for target in targets]
    for i, client in enumerate(clients):
        client.request(targets[i % 5])
    for i, client in enumerate(clients):
        reply = client.response()
        if reply.status == 503:  # more at once than there is room for: said so, not dropped
            assert int(reply["Retry-After"]) > 0
            continue
        assert reply.json() == known[i % 5]
        client.close()
    for client in clients:
        client.close()
    all_let_go(server, before)


def test_a_thousand_open_streams_and_an_ordinary_client(logs, tmp_path):
    path = tmp_path / "live/events.out.tfevents.1700000000.host.0"
    path.parent.mkdir()
    with open(path, "wb", buffering=0) as out, Seaboard(tmp_path) as server:
        out.write(HEADER)
        server.loaded()
        streams = [Events(server.connect()) for _ in range(1000)]
        for stream in streams:
            assert stream.status == 200
        out.write(frame(scalar(b"loss", 0, 1.0)))
        newest = server.wait(
            lambda: server.status(), lambda status: status["loading"]["points"] >= 1
        )["version"]
        assert server.get("/data/environment").status == 200
        for stream in streams:
            while stream.version() < newest:
                pass
            stream.close()


def test_slow_readers_hold_nobody_up(tmp_path):
    """Answers of megabytes to clients that do not read them, and a small question in between."""
    make_log(tmp_path, 1, 1, 120000)
    with Seaboard(tmp_path) as server:
        server.loaded()
        before = descriptors(server)
        target = "/data/plugin/scalars/scalars?run=run000&tag=tag00"
        whole = server.get(target).body
        assert len(whole) > 3000000
        slow = []
        for i in range(64):
            client = server.connect()
            if i >= 4:  # little room on the way, so that the server must wait with the rest
                client.socket.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
            client.request(target)
            slow.append(client)
        for _ in range(200):
            assert server.get("/data/environment").status == 200
        for client in slow[:4]:
            assert client.response().body == whole
        memory = server.memory()
        assert memory < 600000, f"{memory} KB for 60 readers that stand still"
        for client in slow:
            client.close()
        all_let_go(server, before)


def test_half_open_connections_cost_little_and_go(server):
    before = descriptors(server)
    line = "GET / HTTP/1.1\r\n"
    halves = ["", "G", line, line + "Host: localhost\r\n", "POST /api/v1/scalars HTTP/1.1\r\nHost: x"]
    clients = []
    for i in range(500):
        client = server.connect()
        client.send(halves[i % len(halves)])
        clients.append(client)
    for _ in range(20):
        assert server.get("/data/runs").status == 200
    for i, client in enumerate(clients):
        if i % 2:  # no goodbye
            client.socket.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, b"\1\0\0\0\0\0\0\0")
        client.close()
    all_let_go(server, before)
    assert server.get("/data/runs").status == 200


def test_two_slow_questions_never_delay_a_fast_one(tmp_path, capsys):
    """While two clients ask for everything there is, over and over, small questions are answered in between."""
    make_log(tmp_path, 2, 1, 150000)
    with Seaboard(tmp_path) as server:
        server.loaded()
        stop = threading.Event()
        slow_done = [0, 0]

        def ask_much(which):
            while not stop.is_set():
                # another range of steps each time, so that no kept answer serves
                target = f"/data/plugin/scalars/scalars?run=run00{which}&tag=tag00&format=csv&n={slow_done[which]}"
                assert server.get(target).status == 200
                slow_done[which] += 1

        threads = [threading.Thread(target=ask_much, args=(which,)) for which in range(2)]
        for thread in threads:
            thread.start()
        times = []
        with server.connect() as client:
            end = time.monotonic() + 4
            while time.monotonic() < end or min(slow_done) < 2:
                begin = time.monotonic()
                assert client.ask("/data/environment").status == 200
                times.append(time.monotonic() - begin)
                assert begin < end + 50, (slow_done, "slow questions are never answered")
        stop.set()
        for thread in threads:
            thread.join()
    times.sort()
    with capsys.disabled():
        print(
            f"\nbeside {sum(slow_done)} slow questions: p50 {times[len(times) // 2] * 1e3:.2f} ms,"
            f" p99 {times[int(len(times) * 0.99)] * 1e3:.2f} ms, max {times[-1] * 1e3:.1f} ms"
        )
    assert len(times) > 100


def test_load_while_the_log_is_read(tmp_path):
    """Questions from the first moment on: each answer is whole, and at the end everything is there."""
    make_log(tmp_path, 30, 10, 300)
    with Seaboard(tmp_path) as server:
        seen = []

        def ask():
            while True:
                status = server.status()
                runs = server.json("/data/runs")
                assert len(set(runs)) == len(runs)
                if status["loading"]["isLoading"] is False:
                    seen.append(len(server.json("/data/runs")))
                    return

        threads = [threading.Thread(target=ask) for _ in range(16)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert seen == [30] * 16
        assert server.status()["loading"]["points"] == 30 * 10 * 300


def test_every_fixture_asked_by_everybody(tmp_path):
    """All kinds of data at once, from many threads: no answer differs from that of a quiet server."""
    with Seaboard(FIXTURES / "tf") as server:
        server.loaded()
        targets = [f"/data/plugin/{plugin}/tags" for plugin in ("scalars", "images", "audio", "text", "histograms")]
        targets += ["/data/plugin/graphs/info", "/data/plugin/mesh/tags", "/data/plugin/timeseries/tags", "/data/runs"]
        quiet = {target: server.get(target).body for target in targets}
        wrong = []

        def ask(first):
            with server.connect() as client:
                for i in range(100):
                    target = targets[(first + i) % len(targets)]
                    reply = client.ask(target)
                    if reply.status != 503 and reply.body != quiet[target]:
                        wrong.append(target)

        threads = [threading.Thread(target=ask, args=(i,)) for i in range(32)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert wrong == []
