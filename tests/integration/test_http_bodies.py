"""Bodies on their way out: codings read back by other decoders, ranges, entity tags, files."""

import gzip
import random

import pytest
from http_bodies import unzstd
from http_driver import Server, program  # noqa: F401  (a fixture)

SIZE = 48 << 10  # of /fixed, /lent and /file
BYTES = bytes(b"0123456789, ["[i * 7 % 13] for i in range(SIZE))


@pytest.mark.parametrize("coding", ["gzip", "zstd"])
def test_compressed_bodies_read_back(program, coding):
    with Server(program, "compress_min_loopback=0") as server, server.connect() as client:
        for n in (1023, 1024, 1025, 65535, 65536, 131072, 131073, 1 << 20, 5 << 20):
            for route in ("/bytes", "/pooled/bytes"):
                reply = client.ask(f"{route}?n={n}", f"Accept-Encoding: {coding}")
                plain = (BYTES * (n // SIZE + 1))[:n]
                if n < 1024:
                    assert (reply["Content-Encoding"], reply.body) == (None, plain)
                    continue
                assert (reply["Content-Encoding"], reply["Vary"]) == (coding, "Accept-Encoding")
                assert len(reply.body) < n / 2
                unpack = gzip.decompress if coding == "gzip" else lambda packed: unzstd(packed, n)
                assert unpack(reply.body) == plain


def test_what_does_not_pay_is_sent_as_it_is(program):
    with Server(program) as server, server.connect() as client:
        both = "Accept-Encoding: gzip, zstd"
        assert client.ask("/bytes?n=60000", both)["Content-Encoding"] is None  # loopback, small
        assert client.ask("/bytes?n=60000", both, "X-Forwarded-For: 10.0.0.1")["Content-Encoding"] == "zstd"
        assert client.ask("/bytes?n=70000", both)["Content-Encoding"] == "zstd"
        assert client.ask("/bytes?n=70000")["Content-Encoding"] is None
        assert client.ask("/bytes?n=70000", "Accept-Encoding: gzip;q=0")["Content-Encoding"] is None
        assert client.ask("/bytes?n=70000&type=image/png", both)["Content-Encoding"] is None
        reply = client.ask("/bytes?n=300000&random=1", both)
        assert (reply["Content-Encoding"], len(reply.body)) == (None, 300000)


def test_assets_come_in_their_best_form(program):
    with Server(program) as server, server.connect() as client:
        for accepted, body, coding in (("br, gzip", b"br!", "br"), ("gzip", b"gzip!", "gzip"), ("zstd", b"<p>plain", None)):
            reply = client.ask("/asset", f"Accept-Encoding: {accepted}")
            assert (reply.body, reply["Content-Encoding"], reply["Vary"]) == (body, coding, "Accept-Encoding")
            assert reply["Cache-Control"] == "private, max-age=86400"
        reply = client.ask("/asset", 'If-None-Match: W/"asset-7"', "Accept-Encoding: br")
        assert (reply.status, reply["ETag"], reply["Content-Encoding"]) == (304, 'W/"asset-7"', None)
        assert client.ask("/hello").status == 200  # the connection goes on behind a 304


@pytest.mark.parametrize("route", ["/lent", "/file"])
def test_parts_of_a_body(program, route):
    chance = random.Random(3)
    with Server(program) as server, server.connect() as client:
        assert client.ask(route).body == BYTES
        assert client.ask(route)["Accept-Ranges"] == "bytes"
        for _ in range(60):
            first = chance.randrange(SIZE)
            last = chance.randrange(first, SIZE + 500)
            reply = client.ask(route, f"Range: bytes={first}-{last}")
            end = min(last, SIZE - 1)
            assert (reply.status, reply["Content-Range"]) == (206, f"bytes {first}-{end}/{SIZE}")
            assert reply.body == BYTES[first : end + 1]
        assert client.ask(route, "Range: bytes=-10").body == BYTES[-10:]
        assert client.ask(route, "Range: bytes=0-1,4-5").status == 200
        assert client.ask(route, "Range: bytes=0-1", method="HEAD").status == 200
        reply = client.ask(route, f"Range: bytes={SIZE}-")
        assert (reply.status, reply["Content-Range"], reply.body) == (416, f"bytes */{SIZE}", b"")


def test_entity_tags_and_if_range(program):
    with Server(program) as server, server.connect() as client:
        assert client.ask("/lent")["ETag"] == '"bytes-1"'
        assert client.ask("/lent", 'If-None-Match: "other", "bytes-1"').status == 304
        assert client.ask("/lent", 'If-None-Match: "other"').status == 200
        assert client.ask("/lent", "Range: bytes=0-1", 'If-Range: "bytes-1"').status == 206
        assert client.ask("/lent", "Range: bytes=0-1", 'If-Range: "older"').status == 200
        server.wait_for(lambda counts: counts["lent"] == 0)


def test_a_file_shorter_than_promised_ends_the_connection(program):
    with Server(program) as server:
        with server.connect() as client:
            client.request("/file?n=100000")
            with pytest.raises((EOFError, ConnectionError)):
                client.response()
        assert server.get("/file?offset=1000&n=10").body == BYTES[1000:1010]


def test_a_body_over_its_budget_is_an_error(program):
    with Server(program, "reply_memory=100000") as server, server.connect() as client:
        assert client.ask("/bytes?n=100000").status == 200
        assert client.ask("/bytes?n=100001").status == 413
        assert client.ask("/bytes?n=1000000000").status == 413
