"""Many clients, slow clients, rude clients; questions that take long; limits."""

import socket
import threading

import pytest
from http_driver import PATIENCE, Server, program  # noqa: F401  (a fixture)

BUSY = b"The server is busy; try again in a moment.\n"


def test_a_thousand_connections_at_once(program):
    with Server(program) as server:
        clients = [server.connect() for _ in range(1000)]
        for round in range(3):
            for i, client in enumerate(clients):
                client.request(f"/{'pooled/' if i % 50 == 0 else ''}echo?i={i}")
            for i, client in enumerate(clients):
                assert client.response().json()["query"] == [["69", str(i).encode().hex()]]
        assert server.counts()["connections"] == 1001
        for client in clients:
            client.close()
        server.wait_for(lambda counts: counts["connections"] == 1)


def test_slow_readers_hold_nobody_up(program):
    with Server(program, "threads=1") as server:
        slow = []
        for _ in range(20):
            slow.append(server.connect())
            slow[-1].request("/bytes?n=12000000")  # more than the system buffers
        for _ in range(100):
            assert server.get("/hello").status == 200
        for client in slow[:5]:
            assert len(client.response().body) == 12000000
        for client in slow:
            client.close()
        server.wait_for(lambda counts: counts["connections"] == 1)


def test_half_a_request_is_cut_in_time(program):
    with Server(program, "header_ms=300", "idle_ms=60000") as server:
        halves = ["", "G", "GET /hello HTTP/1.1", "GET /hello HTTP/1.1\r\nHost: local", "GET /hello HTTP/1.1\r\nHost: localhost\r\n"]
        clients = [server.connect() for _ in range(100)]
        for i, client in enumerate(clients):
            client.send(halves[i % len(halves)])
        assert server.get("/hello").status == 200
        for client in clients:
            assert client.is_ended()
            client.close()
        assert server.counts()["too_slow"] >= 100


def test_a_trickle_of_headers_is_cut_in_time(program):
    """Each byte is progress; the sum of them must still end."""
    with Server(program, "header_ms=500", "idle_ms=60000") as server, server.connect() as client:
        client.send("GET /hello HTTP/1.1\r\n")
        client.socket.settimeout(0.05)
        with pytest.raises(ConnectionError):
            for i in range(PATIENCE * 20):
                client.send(f"X-{i}: y\r\n")
                try:
                    if client.socket.recv(1) == b"":
                        raise ConnectionError
                except TimeoutError:
                    pass
        assert server.counts()["too_slow"] == 1


def test_a_body_that_never_ends_is_cut_in_time(program):
    with Server(program, "transfer_ms=300", "min_rate=1000000") as server, server.connect() as client:
        client.send("POST /size HTTP/1.1\r\nHost: localhost\r\nContent-Length: 10\r\n\r\nabc")
        assert client.is_ended()
        assert server.counts()["too_slow"] == 1


def test_a_reader_that_stops_is_cut_in_time(program):
    with Server(program, "transfer_ms=300", "min_rate=100000000") as server, server.connect() as client:
        client.request("/bytes?n=20000000")
        server.wait_for(lambda counts: counts["too_slow"] == 1 and counts["connections"] == 1)


def test_idle_connections_are_let_go(program):
    with Server(program, "idle_ms=1000", "header_ms=60000") as server, server.connect() as client:
        assert client.ask("/hello").status == 200
        assert client.is_ended()


def test_clients_that_vanish_leave_nothing_behind(program):
    with Server(program) as server:
        for i in range(60):
            client = server.connect()
            client.request(["/bytes?n=3000000", "/lent", "/pooled/bytes?n=3000000", "/file"][i % 4])
            if i % 2:
                client.socket.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, b"\1\0\0\0\0\0\0\0")  # RST
            client.close()
        counts = server.wait_for(lambda counts: counts["connections"] == 1)
        assert counts["lent"] == 0


# ---- limits ----


def test_targets_and_headers_have_limits(program):
    with Server(program, "max_target=2000", "max_headers=10") as server:
        assert server.get("/hello?" + "a" * 1993).status == 200
        assert server.get("/hello?" + "a" * 1994).status == 414
        assert server.get("/hello", *[f"X-{i}: y" for i in range(9)]).status == 200
        assert server.get("/hello", *[f"X-{i}: y" for i in range(10)]).status == 431
        for request in ("GET /" + "a" * 100000, "GET /hello HTTP/1.1\r\nHost: localhost\r\nX: " + "y" * 100000):
            with server.connect() as client:
                try:
                    client.send(request + "\r\n\r\n")
                    assert client.head()[0] in (413, 414, 431)
                except (ConnectionError, EOFError):
                    pass  # cut off in the middle of it, which is as good
        assert server.get("/hello").status == 200


def test_long_queries_fit(program):
    """As a question about a thousand runs is."""
    with Server(program) as server:
        query = "&".join(f"run=some/run/{i:04}" for i in range(1000))
        assert len(server.get("/echo?tag=x&" + query).json()["query"]) == 1001
        for many in ("&" * 20000, "&".join(["a=1"] * 5000)):  # libmicrohttpd would have no memory for them
            assert server.get("/echo?" + many).status in (200, 400, 413, 414)


def test_bodies_have_a_limit(program):
    with Server(program, "max_body=1000") as server:
        assert server.get("/size", method="POST", body=b"x" * 1000).body == b"1000"
        assert server.get("/size", method="POST", body=b"x" * 1001).status == 413
        with server.connect() as client:  # refused before it is sent
            client.send("POST /size HTTP/1.1\r\nHost: localhost\r\nContent-Length: 99999999999\r\n\r\n")
            assert client.response().status == 413
            assert client.is_ended()
        with server.connect() as client:
            client.send("POST /size HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n")
            client.send(b"200\r\n" + b"x" * 512 + b"\r\n" + b"200\r\n" + b"x" * 512 + b"\r\n0\r\n\r\n")
            assert client.response().status == 413
        with server.connect() as client:  # far above: not heard out
            client.send("POST /size HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n")
            with pytest.raises(ConnectionError):
                for _ in range(1000):
                    client.send(b"10000\r\n" + b"x" * 65536 + b"\r\n")
        assert server.get("/hello").status == 200


def test_more_connections_than_allowed_wait_their_turn(program):
    with Server(program, "threads=1", "max_connections=4") as server:
        clients = [server.connect() for _ in range(4)]
        for client in clients:
            assert client.ask("/hello").status == 200
        with server.connect() as late:
            late.request("/hello")
            late.socket.settimeout(0.3)
            with pytest.raises(TimeoutError):
                late.response()
            late.socket.settimeout(PATIENCE)
            clients[0].close()
            assert late.response().status == 200
        for client in clients:
            client.close()


def test_idle_connections_go_first_when_there_are_many(program):
    with Server(program, "max_connections=400") as server:
        idle = [server.connect() for _ in range(350)]
        server.wait_for(lambda counts: counts["connections"] <= 201)
        assert server.get("/hello").status == 200
        assert sum(client.is_ended() for client in idle[:100]) > 0
        for client in idle:
            client.close()


def test_one_address_may_be_bounded(program):
    with Server(program, "max_per_address=3") as server:
        clients = [server.connect() for _ in range(3)]
        for client in clients:
            assert client.ask("/hello").status == 200
        with server.connect() as fourth:
            assert fourth.is_ended()
        for client in clients:
            client.close()


MALFORMED = [
    b"\r\n\r\n",
    b"\0\0\0\0\r\n\r\n",
    b"GET\r\n\r\n",
    b"GET /hello\r\n\r\n",
    b"GET /hello HTTP/9.9\r\nHost: localhost\r\n\r\n",
    b"GET /a b HTTP/1.1\r\nHost: localhost\r\n\r\n",
    b"GET /hello HTTP/1.1\r\n\r\n",
    b"GET /hello HTTP/1.1\r\nHost: localhost\r\nHost: localhost\r\n\r\n",
    b"GET /hello HTTP/1.1\r\nHost localhost\r\n\r\n",
    b"GET /hello HTTP/1.1\r\nHost: localhost\r\nX\x01: y\r\n\r\n",
    b"GET /hello HTTP/1.1\r\nHost: local\x00host\r\n\r\n",
    b"GET http://evil.example/hello HTTP/1.1\r\nHost: localhost\r\n\r\n",
    b"GET hello HTTP/1.1\r\nHost: localhost\r\n\r\n",
    b"OPTIONS * HTTP/1.1\r\nHost: localhost\r\n\r\n",
    b"CONNECT evil.example:443 HTTP/1.1\r\nHost: localhost\r\n\r\n",
    b"POST /size HTTP/1.1\r\nHost: localhost\r\nContent-Length: -1\r\n\r\n",
    b"POST /size HTTP/1.1\r\nHost: localhost\r\nContent-Length: 1e3\r\n\r\n",
    b"POST /size HTTP/1.1\r\nHost: localhost\r\nContent-Length: 3\r\nContent-Length: 4\r\n\r\nabcd",
    b"POST /size HTTP/1.1\r\nHost: localhost\r\nContent-Length: 3\r\nContent-Length: 3\r\n\r\nabc",
    b"POST /size HTTP/1.1\r\nHost: localhost\r\nContent-Length: 99999999999999999999\r\n\r\n",
    b"POST /size HTTP/1.1\r\nHost: localhost\r\nContent-Length: 3\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
    b"POST /size HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n",
    b"POST /size HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\nffffffffffffffffff\r\n",
    b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03" + b"\xaa" * 64,
    b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
]


def test_malformed_requests_are_refused_and_survived(program):
    # Half-closed with the request, a connection is noticed by its idle limit at the latest.
    with Server(program, "header_ms=300", "idle_ms=1000") as server:
        for request in MALFORMED:
            with server.connect() as client:
                client.send(request)
                client.socket.shutdown(socket.SHUT_WR)
                try:
                    while client.more():
                        pass
                except ConnectionError:
                    pass
                assert not client.read.startswith(b"HTTP/1.1 2"), (request, client.read[:200])
        assert server.get("/hello").status == 200


# ---- questions that take long ----


def test_a_suspended_question_holds_nobody_up(program):
    with Server(program, "threads=1", "workers=2") as server:
        waiting = [server.connect() for _ in range(2)]
        for i, client in enumerate(waiting):
            client.request(f"/gate/wait?name={i}")
        server.wait_for(lambda counts: counts["waiting"] == 2)
        for _ in range(50):
            assert server.get("/hello").status == 200
        server.get("/gate/set")
        for i, client in enumerate(waiting):
            assert client.response().body == b"through %d" % i
            assert client.ask("/hello").status == 200  # and goes on
            client.close()


def test_quick_questions_have_workers_of_their_own(program):
    with Server(program, "threads=1", "workers=2") as server:
        waiting = [server.connect() for _ in range(20)]  # two with the workers, the rest in their queue
        for client in waiting:
            client.request("/gate/wait")
        server.wait_for(lambda counts: counts["waiting"] == 2)
        assert len(server.get("/quick/bytes?n=100000").body) == 100000
        server.get("/gate/set")
        for client in waiting:
            assert client.response().status == 200
            client.close()


def test_a_full_queue_says_so_at_once(program):
    with Server(program, "workers=1", "queue=3") as server:
        clients = [server.connect() for _ in range(4)]
        clients[0].request("/gate/wait?name=0")
        server.wait_for(lambda counts: counts["waiting"] == 1)
        for i, client in enumerate(clients[1:], 1):
            client.request(f"/gate/wait?name={i}")
        server.wait_for(lambda counts: counts["queued"] == 3)
        with server.connect() as extra:
            reply = extra.ask("/gate/wait?name=5")
            assert (reply.status, reply["Retry-After"], reply.body) == (503, "1", BUSY)
            # compressed by the workers of quick questions
            large = extra.ask("/bytes?n=1000000", "Accept-Encoding: gzip")
            assert (large.status, large["Content-Encoding"]) == (200, "gzip")
            server.get("/gate/set")
            for i, client in enumerate(clients):
                assert client.response().body == b"through %d" % i
                client.close()
            assert extra.ask("/gate/wait?name=6").body == b"through 6"


def test_a_question_that_waited_too_long_is_not_asked(program):
    with Server(program, "workers=1", "request_ms=200") as server:
        with server.connect() as first, server.connect() as second:
            first.request("/gate/wait?name=1")
            server.wait_for(lambda counts: counts["waiting"] == 1)
            second.request("/expire")  # its time is up while it waits
            threading.Timer(0.5, server.get, ["/gate/set"]).start()
            assert first.response().status == 200
            reply = second.response()
            assert (reply.status, reply.body) == (503, b"The server was too busy to answer in time.\n")
        reply = server.get("/expire")
        assert (reply.status, reply.body) == (503, b"gave up in time\n")


def test_a_question_has_a_memory_budget(program):
    with Server(program, "request_memory=10000000") as server:
        for _ in range(5):
            assert server.get("/memory").status == 503
        assert server.get("/hello").status == 200


def test_clients_that_leave_while_suspended(program):
    with Server(program, "workers=2") as server:
        clients = [server.connect() for _ in range(10)]
        for client in clients:
            client.request("/gate/wait")
        server.wait_for(lambda counts: counts["waiting"] == 2 and counts["queued"] == 8)
        for client in clients:
            client.close()
        server.get("/gate/set")
        server.wait_for(lambda counts: counts["connections"] == 1 and counts["waiting"] == 0)


def test_closing_cuts_questions_that_take_too_long(program):
    with Server(program, "workers=2", "request_ms=600000") as server:
        clients = [server.connect() for _ in range(2)]
        for client in clients:
            client.request("/expire")  # until its deadline
        server.wait_for(lambda counts: counts["requests"] >= 2)
    # The server ended with exit code 0, ten minutes before that deadline.
    for client in clients:
        client.close()


def test_closing_finishes_what_was_taken(program):
    with Server(program, "workers=1") as server:
        clients = [server.connect() for _ in range(5)]
        for i, client in enumerate(clients):
            client.request(f"/pooled/bytes?n={1000 + i}")
        server.wait_for(lambda counts: counts["requests"] >= 5)
        server.process.stdin.close()
        server.process.stdin = None
        for i, client in enumerate(clients):
            assert len(client.response().body) == 1000 + i
            assert client.is_ended()
            client.close()


def test_while_closing_nobody_new_is_let_in_and_those_who_are_in_are_told_to_go(program):
    with Server(program, "workers=2") as server:
        waiting, inside, opener = (server.connect() for _ in range(3))
        for client in (inside, opener):
            assert client.ask("/hello").status == 200
        waiting.request("/gate/wait?name=1")
        server.wait_for(lambda counts: counts["waiting"] == 1)
        server.process.stdin.close()
        server.process.stdin = None
        while inside.ask("/hello")["Connection"] != "close":
            pass  # the end has not begun
        assert inside.is_ended()
        with server.connect() as late:
            assert late.is_ended()
        assert opener.ask("/gate/set").status == 200
        assert waiting.response().body == b"through 1"
        for client in (waiting, inside, opener):
            client.close()
