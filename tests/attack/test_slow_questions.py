"""Questions that are made to take long: they are ended, and nobody else waits for them."""

import signal
import urllib.parse

from logs import put_run

# Takes an exponential number of steps over each of the tags below.
EXPONENTIAL = urllib.parse.quote("(a+)+$")


def put_many_tags(folder, count=2000):
    put_run(folder, [b"a" * 40 + b"-%d" % i for i in range(count)], steps=1)


def test_a_pattern_has_one_limit_for_all_tags(serve, tmp_path):
    put_many_tags(tmp_path / "run")
    with serve(tmp_path) as server:
        server.loaded()
        answer = server.get(f"/data/plugin/custom_scalars/scalars?run=run&tag={EXPONENTIAL}")
        assert answer.status == 400 and b"takes too long" in answer.body, (answer.status, answer.body)


def test_patterns_that_take_long_hold_nobody_up(serve, tmp_path):
    put_many_tags(tmp_path / "run")
    with serve(tmp_path) as server:
        server.loaded()
        clients = [server.connect() for _ in range(16)]
        for client in clients:
            client.request(f"/data/plugin/custom_scalars/scalars?run=run&tag={EXPONENTIAL}")
        assert server.get("/").status == 200
        assert server.json("/data/runs") == ["run"]
        for client in clients:
            assert client.response().status == 400
            client.close()


def test_a_signal_ends_the_server_beside_slow_questions(serve, tmp_path):
    put_many_tags(tmp_path / "run")
    with serve(tmp_path) as server:
        server.loaded()
        clients = [server.connect() for _ in range(16)]
        for client in clients:
            client.request(f"/data/plugin/custom_scalars/scalars?run=run&tag={EXPONENTIAL}")
        server.process.send_signal(signal.SIGTERM)
        assert server.process.wait(10) == 0
        for client in clients:
            client.close()
