"""The live stream: the newest version, not too often, to any number of clients, at no cost to others."""

import json
import socket

from http_driver import Server, program  # noqa: F401  (a fixture)


class Listener:
    """A client of /stream: reads events and comments."""

    def __init__(self, server, *headers):
        self.client = server.connect()
        self.client.request("/stream", *headers)
        self.status, self.headers = self.client.head()
        self.text = b""

    def close(self):
        self.client.close()

    def block(self):
        """The next text up to a blank line; None when the stream ended."""
        while b"\n\n" not in self.text:
            size = int(self.client.until(b"\r\n"), 16)
            self.text += self.client.exactly(size)
            assert self.client.exactly(2) == b"\r\n"
            if size == 0:
                return None
        block, _, self.text = self.text.partition(b"\n\n")
        return block.decode()

    def version(self):
        """The next version; heartbeats are skipped."""
        while (block := self.block()) is not None:
            if not block.startswith(":"):
                fields = dict(line.split(": ", 1) for line in block.split("\n"))
                event = json.loads(fields["data"])
                assert int(fields["id"]) == event["version"]
                return event["version"]
        return None

    def until_version(self, wanted):
        seen = []
        while not seen or seen[-1] != wanted:
            seen.append(self.version())
            assert seen[-1] is not None
        return seen


def test_the_newest_version_comes_at_once_and_then_news(program):
    with Server(program) as server:
        server.get("/publish?v=7")
        listener = Listener(server)
        assert listener.status == 200
        headers = dict(listener.headers)
        assert headers["Content-Type"] == "text/event-stream"
        assert headers["Cache-Control"] == "no-store"
        assert headers["X-Accel-Buffering"] == "no"
        assert "Content-Encoding" not in headers
        assert listener.block() == 'retry: 1000\nid: 7\ndata: {"version": 7, "instance": "test", "jobs": 0}'
        server.get("/publish?v=8")
        assert listener.version() == 8
        server.get("/publish?v=3")  # not a counter: whatever is newest
        assert listener.version() == 3
        listener.close()
        server.wait_for(lambda counts: counts["streams"] == 0)


def test_many_versions_become_few_events(program):
    with Server(program, "interval_ms=50") as server:
        listener = Listener(server)
        assert listener.version() == 0
        with server.connect() as client:
            for start in range(1, 20001, 1000):
                client.ask(f"/publish?v={start}&count=1000")
        seen = listener.until_version(20000)
        assert seen == sorted(seen)
        assert len(seen) < 1000  # one for every 50 ms that this took, not one for every version
        listener.close()


def test_within_an_interval_there_is_one_event(program):
    with Server(program, "interval_ms=600000", "heartbeat_ms=50") as server:
        listener = Listener(server)
        assert listener.version() == 0
        for version in range(1, 20):
            server.get(f"/publish?v={version}")
        assert [listener.block() for _ in range(3)] == [":", ":", ":"]
        assert Listener(server).version() == 19  # one that comes new is told at once
        listener.close()


def test_heartbeats_come_when_nothing_does(program):
    with Server(program, "heartbeat_ms=50") as server:
        listener = Listener(server)
        assert listener.version() == 0
        assert [listener.block() for _ in range(3)] == [":", ":", ":"]
        listener.close()


def test_hundreds_of_clients_all_hear_the_newest(program):
    with Server(program, "threads=2", "workers=1") as server:
        listeners = [Listener(server) for _ in range(300)]
        for listener in listeners:
            assert listener.version() == 0
        assert server.counts()["streams"] == 300
        for version in (5, 6):
            server.get(f"/publish?v={version}")
            for listener in listeners:
                assert listener.version() == version
        assert server.get("/pooled/echo").status == 200
        for listener in listeners:
            listener.close()
        server.wait_for(lambda counts: counts["streams"] == 0 and counts["connections"] == 1)


def test_clients_that_vanish_are_noticed_without_news(program):
    with Server(program, "heartbeat_ms=600000") as server:
        listeners = [Listener(server) for _ in range(40)]
        for i, listener in enumerate(listeners):
            assert listener.version() == 0
            if i % 2:
                listener.client.socket.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, b"\1\0\0\0\0\0\0\0")  # RST
        for listener in listeners:
            listener.close()
        server.wait_for(lambda counts: counts["streams"] == 0 and counts["connections"] == 1)


def test_a_client_that_does_not_read_holds_nobody_up(program):
    with Server(program, "threads=1", "interval_ms=1", "heartbeat_ms=5") as server:
        deaf = Listener(server)
        listener = Listener(server)
        assert listener.version() == 0
        for version in range(1, 200):
            server.get(f"/publish?v={version}")
            assert listener.version() == version
        deaf.close()
        listener.close()


def test_more_streams_than_allowed_are_told_to_poll(program):
    with Server(program, "max_streams=2") as server:
        listeners = [Listener(server) for _ in range(2)]
        reply = server.get("/stream")
        assert (reply.status, reply["Retry-After"]) == (503, "1")
        assert b"too many live streams" in reply.body
        listeners.pop().close()
        server.wait_for(lambda counts: counts["streams"] == 1)
        listeners.append(Listener(server))
        assert listeners[-1].version() == 0
        for listener in listeners:
            listener.close()


def test_streams_end_when_the_server_does(program):
    with Server(program) as server:
        listeners = [Listener(server) for _ in range(5)]
        for listener in listeners:
            assert listener.version() == 0
        server.process.stdin.close()
        server.process.stdin = None
        for listener in listeners:
            assert listener.block() is None
            listener.close()


def test_head_of_a_stream_is_its_headers(program):
    with Server(program) as server, server.connect() as client:
        reply = client.ask("/stream", method="HEAD")
        assert (reply.status, reply["Content-Type"]) == (200, "text/event-stream")
        server.wait_for(lambda counts: counts["streams"] == 0)


def test_a_stream_asks_for_the_token(program):
    """CVE-2024-28179: a long-lived connection is no way around."""
    with Server(program, "token=secret") as server:
        assert server.get("/stream").status == 401
        listener = Listener(server, "Authorization: Bearer secret")
        assert listener.version() == 0
        listener.close()
