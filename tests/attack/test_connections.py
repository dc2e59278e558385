"""Many connections of one address: the others are served as before."""

import socket
from contextlib import contextmanager

from http_driver import PATIENCE, Client
from logs import put_run
from serve_driver import Events

FILES = 400  # descriptors of the server; it allows 64 connections fewer, and half of them to one address
SHARE = (FILES - 64) // 2


class From(Client):
    """A client with an address of its own on this machine."""

    def __init__(self, server, address):
        self.socket = socket.create_connection(("127.0.0.1", server.port), PATIENCE, (address, 0))
        self.read = b""


@contextmanager
def serve_few(serve, logdir):
    """A server with few descriptors that has read its log and whose connections are all free."""
    put_run(logdir / "run")
    server = serve(logdir)
    server.command = ["prlimit", f"--nofile={FILES}", *server.command]
    with server:
        server.loaded()
        yield server


def close(clients):
    for client in clients:
        client.close()


def test_one_address_takes_no_more_than_half_of_the_connections(serve, tmp_path):
    """Requests that never end are not idle; when an address has its share of them, it gets no more."""
    with serve_few(serve, tmp_path) as server:
        greedy = []
        for _ in range(FILES):
            greedy.append(From(server, "127.0.0.2"))
            greedy[-1].send(b"GET / HTTP/1.1\r\nHost: localhost\r\n")
        assert From(server, "127.0.0.2").is_ended()
        others = [From(server, f"127.0.0.{i}") for i in range(3, 30)]
        for client in others:
            assert client.ask("/data/runs").json() == ["run"]
        # two listeners may look at the same moment
        assert server.status()["http"]["connections"] <= SHARE + len(others) + 4
        close(greedy + others)


def test_idle_connections_of_an_address_make_room_for_its_own(serve, tmp_path):
    with serve_few(serve, tmp_path) as server:
        idle = [From(server, "127.0.0.2") for _ in range(SHARE)]
        last = From(server, "127.0.0.2")
        assert last.ask("/data/runs").json() == ["run"]
        close([*idle, last])


def test_one_address_takes_no_more_than_half_of_the_streams(serve, tmp_path):
    """Live streams are connections that are never idle. All but the share of one address is refused."""
    with serve_few(serve, tmp_path) as server:
        streams = []
        for _ in range(SHARE):
            client = From(server, "127.0.0.2")
            client.request("/api/v1/events")
            streams.append(client)
        assert From(server, "127.0.0.2").is_ended()
        with Events(From(server, "127.0.0.3")) as events:
            assert events.status == 200 and events.version() >= 0
        close(streams)
