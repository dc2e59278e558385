"""Requests and replies: connections that stay, order, methods, what handlers see of a request."""

import random
import socket

import requests
from http_driver import Client, Server, program  # noqa: F401  (a fixture)
from werkzeug.test import EnvironBuilder
from werkzeug.wrappers import Request

GUARDS = {
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
}


def text(hexed):
    return bytes.fromhex(hexed)


def pairs(hexed):
    return [(text(key), text(value)) for key, value in hexed]


def test_one_connection_answers_many_requests(program):
    with Server(program) as server, server.connect() as client:
        for i in range(200):
            target = ["/hello", "/pooled/echo", f"/bytes?n={i * 37}", "/nope"][i % 4]
            reply = client.ask(target)
            assert reply.status == (404 if i % 4 == 3 else 200)
            if i % 4 == 2:
                assert len(reply.body) == i * 37
        assert client.ask("/counts").json()["connections"] == 1


def test_pipelined_requests_are_answered_in_order(program):
    with Server(program) as server, server.connect() as client:
        targets = [f"/{'pooled/' if i % 3 else ''}echo?i={i}" for i in range(60)]
        client.send("".join(f"GET {target} HTTP/1.1\r\nHost: localhost\r\n\r\n" for target in targets))
        for i in range(60):
            assert pairs(client.response().json()["query"]) == [(b"i", str(i).encode())]


def test_a_request_may_come_byte_by_byte(program):
    with Server(program) as server, server.connect() as client:
        client.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        for byte in b"POST /echo?a=b HTTP/1.1\r\nHost: localhost\r\nContent-Length: 3\r\n\r\nxyz":
            client.send(bytes([byte]))
        echo = client.response().json()
        assert text(echo["body"]) == b"xyz"
        assert pairs(echo["query"]) == [(b"a", b"b")]


def test_head_is_get_without_the_body(program):
    with Server(program) as server, server.connect() as client:
        for target in ("/hello", "/fixed", "/lent", "/file", "/asset", "/pooled/bytes?n=5000", "/nope"):
            for more in ((), ("Accept-Encoding: gzip",)):
                get = client.ask(target, *more)
                head = client.ask(target, *more, method="HEAD")
                drop = {"Date", "Expires"}
                assert head.status == get.status
                assert [h for h in head.headers if h[0] not in drop] == [h for h in get.headers if h[0] not in drop]
                assert head["Content-Length"] == str(len(get.body))
                assert head.body == b""


def test_every_reply_carries_the_guards(program):
    with Server(program, "token=secret") as server:
        for target in ("/hello", "/nope", "/healthz", "/%2e%2e", "/go?to=/x", "/fail?code=500&text=x", "/asset", "/file"):
            for bearer in ((), ("Authorization: Bearer secret",)):
                reply = server.get(target, *bearer)
                for name, value in GUARDS.items():
                    assert reply[name] == value, (target, reply.status)
        assert server.get("/", "Host: evil.example")["X-Content-Type-Options"] == "nosniff"
        assert "script-src 'self'" in server.get("/", "Authorization: Bearer secret")["Content-Security-Policy"]


def test_user_content_is_sandboxed(program):
    with Server(program) as server:
        reply = server.get("/user?name=a%22b.svg")
        assert reply["Content-Security-Policy"] == "sandbox; default-src 'none'"
        assert reply["Content-Disposition"] == "attachment; filename*=UTF-8''a%22b.svg"


def test_methods_are_told_apart(program):
    with Server(program) as server, server.connect() as client:
        assert client.ask("/echo", method="DELETE").json()["method"] == 32
        reply = client.ask("/hello", method="POST", body=b"x")
        assert (reply.status, reply["Allow"]) == (405, "GET, HEAD")
        assert client.ask("/hello", method="BREW").status == 405
        assert client.ask("/size", method="POST", body=b"12345").body == b"5"
        assert client.ask("/size").status == 405


def test_the_root_redirects_and_a_prefix_is_taken_off(program):
    with Server(program, "prefix=/some/where") as server, server.connect() as client:
        reply = client.ask("/some/where")
        assert (reply.status, reply["Location"], reply.body) == (301, "/some/where/", b"")
        assert client.ask("/some/where/").status == 200
        echo = client.ask("/some/where/below/a%20b/c").json()
        assert [text(echo[key]) for key in ("root", "path", "rest")] == [b"/some/where", b"/below/a b/c", b"a b/c"]
        for target in ("/echo", "/some/whereelse/echo", "/some", "/"):
            assert client.ask(target).status == 404


def test_old_and_closing_clients_are_let_go(program):
    with Server(program) as server:
        with server.connect() as client:
            client.send("GET /hello HTTP/1.0\r\nHost: localhost\r\n\r\n")
            assert client.response().status == 200
            assert client.is_ended()
        with server.connect() as client:
            assert client.ask("/hello", "Connection: close").status == 200
            assert client.is_ended()


def test_a_body_may_come_in_chunks_and_may_wait_for_leave(program):
    with Server(program) as server, server.connect() as client:
        head = "POST /echo HTTP/1.1\r\nHost: localhost\r\n"
        client.send(head + "Transfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n1;x=y\r\nd\r\n0\r\n\r\n")
        assert text(client.response().json()["body"]) == b"abcd"
        client.send(head + "Content-Length: 4\r\nExpect: 100-continue\r\n\r\n")
        assert client.response().status == 100
        client.send("wxyz")
        assert text(client.response().json()["body"]) == b"wxyz"
        body = bytes(range(256)) * 4096
        assert text(client.ask("/pooled/echo", method="POST", body=body).json()["body"]) == body


ALPHABET = ["%", "%", "%e4%b8%ad", "%FF", "%c3", "%28", "%00", "+", "&", "&", "=", ";", "a", "b", "run", "Z", "/", "?", "~", "[", "%2"]


def test_queries_read_as_werkzeug_reads_them(program):
    chance = random.Random(1)
    fixed = ["", "a", "a=", "=", "=b", "a=b=c", "&&a&&", "a=1&a=2", "a+b=c%2Bd", "tag=%E4%B8%AD", "x=%zz", "x=%ff%fe", "x=%ed%a0%80"]
    queries = fixed + ["".join(chance.choices(ALPHABET, k=chance.randrange(1, 14))) for _ in range(400)]
    with Server(program) as server, server.connect() as client:
        for query in queries:
            theirs = Request({"QUERY_STRING": query, "REQUEST_METHOD": "GET"}).args
            ours = pairs(client.ask("/echo?" + query).json()["query"])
            assert sorted(ours) == sorted((k.encode(), v.encode()) for k, v in theirs.items(multi=True)), query


def test_forms_read_as_werkzeug_reads_them(program):
    chance = random.Random(2)
    with Server(program) as server, server.connect() as client:
        for round in range(60):
            fields = [(f"k{chance.randrange(4)}", "".join(chance.choices("ab\r\n-=&%é中\"\\ ", k=chance.randrange(30)))) for _ in range(chance.randrange(1, 6))]
            multipart = round % 2 == 0
            kind = "multipart/form-data" if multipart else "application/x-www-form-urlencoded"
            data = {}
            for key, value in fields:
                data.setdefault(key, []).append(value)
            environ = EnvironBuilder(method="POST", data=data, content_type=kind).get_environ()
            body = environ["wsgi.input"].read()
            environ["wsgi.input"].seek(0)
            theirs = Request(environ).form
            ours = client.ask("/echo", "Content-Type: " + environ["CONTENT_TYPE"], method="POST", body=body).json()
            assert pairs(ours["form"]) == [(k.encode(), v.encode()) for k, v in theirs.items(multi=True)]


def test_multipart_by_another_client(program):
    with Server(program) as server:
        url = f"http://127.0.0.1:{server.port}/echo"
        parts = {"requests": (None, '[{"plugin": "scalars"}]'), "blob": ("x.bin", bytes(range(256)))}
        form = dict(pairs(requests.post(url, files=parts, timeout=60).json()["form"]))
        assert form == {b"requests": b'[{"plugin": "scalars"}]', b"blob": bytes(range(256))}
        damaged = requests.post(url, data=b"--x\r\nno", headers={"Content-Type": "multipart/form-data; boundary=x"}, timeout=60)
        assert damaged.status_code == 400


def test_a_multipart_boundary_may_be_longer_than_the_rfc_says(program):
    """Werkzeug's own are 71 characters when its random number has an exponent."""
    with Server(program) as server, server.connect() as client:
        for length, code in ((70, 200), (71, 200), (200, 200), (201, 400)):
            mark = "b" * length
            body = f'--{mark}\r\nContent-Disposition: form-data; name="k"\r\n\r\nv\r\n--{mark}--\r\n'.encode()
            reply = client.ask("/echo", f"Content-Type: multipart/form-data; boundary={mark}", method="POST", body=body)
            assert reply.status == code, length
            assert code != 200 or pairs(reply.json()["form"]) == [(b"k", b"v")]


def test_errors_have_codes_and_words(program):
    with Server(program) as server, server.connect() as client:
        for status, code in {2: 500, 3: 500, 4: 413, 5: 503, 6: 400, 8: 404, 9: 503}.items():
            assert client.ask(f"/status?s={status}").status == code
        reply = client.ask("/fail?code=410&text=it%20went")
        assert (reply.status, reply.body, reply["Content-Type"]) == (410, b"it went\n", "text/plain; charset=utf-8")
        assert client.ask("/header?value=a%0d%0aSet-Cookie:%20x=y").status == 400
        assert client.ask("/header?value=plain")["X-Test"] == "plain"
        assert client.ask("/hello").status == 200


def test_redirects_never_leave_the_server(program):
    with Server(program) as server, server.connect() as client:
        assert client.ask("/go?to=/a%20b")["Location"] == "/a%20b"
        for target in ("//evil.example", "http://evil.example", "/%5Cevil.example", "/%09/evil", "", "evil"):
            reply = client.ask(f"/go?to={target}")
            assert (reply.status, reply["Location"]) == (400, None)


def test_ipv6_is_served(program):
    probe = socket.socket(socket.AF_INET6)
    try:
        probe.bind(("::1", 0))
    except OSError:
        return  # a system without IPv6 has nothing to serve there
    finally:
        probe.close()
    with Server(program, "host=::1") as server, Client(server.port, "::1") as client:
        echo = client.ask("/echo", f"Host: [::1]:{server.port}").json()
        assert (text(echo["peer"]), echo["loopback"]) == (b"::1", 1)
    with Server(program, "all=1") as server:
        for host in ("127.0.0.1", "::1"):
            with Client(server.port, host) as client:
                assert client.ask("/echo").json()["loopback"] == 1
