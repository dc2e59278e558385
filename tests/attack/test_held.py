"""Attacks that never worked, kept so that they never will: tokens, paths, blob keys, Markdown, floods, mutated files."""

import base64
import json
import random
import threading

from command import FIXTURES, event_files, field, frame, varint
from logs import GOOD, points, put_run
from route_list import OPEN, PATHS

TOKEN = "0123456789abcdef"
METHODS = ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "TRACE", "PROPFIND", "get"]


def test_every_path_and_method_asks_for_the_token(serve, tmp_path):
    """Also paths that do not exist: who has no token learns nothing about routes."""
    server = serve(tmp_path, "--auth", "token")
    server.environment["SEABOARD_TOKEN"] = TOKEN
    wrong = ["", "Authorization: Bearer wrong", "Authorization: Basic " + TOKEN, "Cookie: seaboard=" + TOKEN[:-1]]
    with server:
        for i, path in enumerate([*PATHS, "/no/such/path", "/data", "/api/v2/runs"]):
            if path in OPEN:
                continue
            header = wrong[i % len(wrong)]
            for method in METHODS:
                with server.connect() as client:
                    answer = client.ask(path, *filter(None, [header]), method=method)
                assert answer.status in (400, 401, 405, 501), (path, method, answer.status)
                assert answer.status != 405 or method in ("TRACE", "PROPFIND", "get"), (path, method)


SECRET = b"nobody may read this"
UP = ["../", "..%2f", "%2e%2e/", "%2e%2e%2f", "%2E%2E%2F", ".%2e/", "%2e./", "..%5c", "..\\", "%2e%2e%5c", "%252e%252e%252f",
      "..%252f", "%c0%ae%c0%ae/", "%e0%80%ae%e0%80%ae/", "%uff0e%uff0e/", "..%c0%af", "..%00/", "..;/", "..%3b/", "....//",
      "...//", "./../", "%2f../", "//../", "..%0d%0a/", "..%09/", "~/../", "file:///../", "..%ff/"]  # fmt: skip
STARTS = ["/assets/", "/", "/data/plugin/projector/", "/data/plugin_entry.html/"]


def test_no_spelling_of_a_path_leads_out(serve, tmp_path):
    """29 spellings of the parent directory, from 4 places."""
    put_run(tmp_path / "logs/run")
    (tmp_path / "secret.txt").write_bytes(SECRET)
    with serve(tmp_path / "logs") as server:
        assert len(UP) == 29
        for up in UP:
            for start in STARTS:
                for depth in (1, 2, 8):
                    target = start + up * depth + "secret.txt"
                    with server.connect() as client:
                        client.send(b"GET " + target.encode("latin-1") + b" HTTP/1.1\r\nHost: localhost\r\n\r\n")
                        answer = client.response()
                    assert answer.status in (301, 400, 404) and SECRET not in answer.body, (target, answer.status)


def key_of(*fields):
    return base64.urlsafe_b64encode(json.dumps(list(fields)).encode()).rstrip(b"=").decode()


FORGED = [
    key_of("", "images", "../secret", "x", 0, 0), key_of("", "images", "/etc", "passwd", 0, 0),
    key_of("", "images", "run", "../../etc/passwd", 0, 2), key_of("", "images", "run", "loss", 0, 0),
    key_of("", "images", "run", "loss", -1, -1), key_of("", "images", "run", "loss", 1 << 62, 1 << 62),
    key_of("", "images", "run", "loss", 0, 1 << 40), key_of("", "images", "run", "loss", 0), key_of(), key_of(1, 2, 3, 4, 5, 6),
    key_of("", "images", "run", "loss", "0", "0"), key_of("", "images", ["run"], {"a": 1}, 0, 0),
    key_of("", "graphs", "run", "loss", 0, 0), key_of("", "images", "run\0", "loss\0", 0, 0), "", "=", "%00", "A" * 9000,
    base64.urlsafe_b64encode(b"[" * 4000).decode(), base64.urlsafe_b64encode(b'{"a":').decode(), "..", "/etc/passwd",
]  # fmt: skip


def test_forged_blob_keys_lead_nowhere(serve, tmp_path):
    put_run(tmp_path / "run")
    with serve(tmp_path) as server:
        server.loaded()
        for key in FORGED:
            for route in ("images/individualImage?blob_key=", "audio/individualAudio?content_type=audio/wav&blob_key="):
                answer = server.get(f"/data/plugin/{route}{key}")
                assert answer.status in (400, 404), (key[:80], answer.status)
            assert server.get(f"/data/plugin/timeseries/imageData?imageId={key}").status in (400, 404), key[:80]


# Texts whose rendering takes long, or much memory, in programs that go back and forth over them.
DEEP = ["[", "(", "![", "](", "*", "_", "**", "***a", "*a_", "_a*", "`", "``", "~~~\n", "<", "<!--", "<a href=", "<!", "<?",
        "&", "&#", "\\", "> ", ">", "- ", "* ", "1. ", "# ", "    ", "\t", "|", "|-", "a|b\n-|-\n", "[a](", "[a][", "[a]:",
        "[](<", "![](", "<<", "https://", "www.", "a@b.", "$", "$$", "\\(", "~", "~~", "^", "=\n", "-\n", "\n\n", "a\n",
        "[ ] ", "- [ ] ", "<details>", "<b>", "</b>", "\0", "\u202e"]  # fmt: skip


def text_event(tag, text, step):
    """A text in TF1's form: a string tensor with the text plugin's name."""
    tensor = b"\x08\x07" + field(8, text)
    metadata = field(1, field(1, b"text"))
    value = field(1, tag) + field(9, metadata) + field(8, tensor)
    return b"\x09" + b"\0" * 8 + b"\x10" + varint(step) + field(5, field(1, value))


def test_markdown_bombs_are_rendered_or_refused_soon(serve, tmp_path):
    """58 texts of 20 kB, each the same few characters again and again. All answers come within the time of one request."""
    assert len(DEEP) == 58
    path = put_run(tmp_path / "run")
    with open(path, "ab") as file:
        for i, part in enumerate(DEEP):
            text = (part * (20_000 // len(part))).encode()
            file.write(frame(text_event(b"bomb%d" % i, text, 1)))
    with serve(tmp_path) as server:
        server.loaded()
        for i, part in enumerate(DEEP):
            answer = server.get(f"/data/plugin/text/text?run=run&tag=bomb{i}")
            assert answer.status == 200, (part, answer.status, answer.body[:200])
            assert [point["step"] for point in answer.json()] == [1], part
            assert b"<script" not in answer.body


def test_slow_lorises_hold_nobody_up(serve, tmp_path):
    """Two thousand requests that never end, of which one address is given its share."""
    put_run(tmp_path / "run")
    with serve(tmp_path) as server:
        server.loaded()
        slow = []
        for i in range(2000):
            client = server.connect()
            client.send(b"GET /data/runs HTTP/1.1\r\nHost: localhost\r\nX-%d: " % i)
            slow.append(client)
        assert server.json("/data/runs") == ["run"]
        assert points(server, "run") == GOOD
        for client in slow:
            client.close()


def test_very_many_streams_cost_little(serve, build, tmp_path):
    """As many live streams as this test may open files for, up to 5000."""
    put_run(tmp_path / "run")
    with serve(tmp_path) as server:
        server.loaded()
        before = server.memory()
        streams = []
        for _ in range(5000 if build == "release" else 500):
            client = server.connect()
            client.request("/api/v1/events")
            streams.append(client)
        statuses = {client.head()[0] for client in streams}
        assert statuses <= {200, 503} and 200 in statuses
        assert server.json("/data/runs") == ["run"]
        if build == "release":
            assert server.memory() - before < 300_000
        for client in streams:
            client.close()


def mutate(data, chance):
    """Flips bits, cuts, doubles and swaps pieces."""
    data = bytearray(data)
    for _ in range(chance.randrange(1, 8)):
        at = chance.randrange(len(data))
        kind = chance.randrange(4)
        if kind == 0:
            data[at] ^= 1 << chance.randrange(8)
        elif kind == 1:
            del data[at : at + chance.randrange(64)]
        elif kind == 2:
            data[at:at] = data[at : at + chance.randrange(64)]
        else:
            data[at : at + 8] = chance.randbytes(8)
        if not data:
            data = bytearray(b"\0")
    return bytes(data)


def test_mutated_files_under_load_break_nothing(serve, tmp_path):
    """Hundreds of damaged logs while clients ask for everything; good runs beside them are answered as ever."""
    chance = random.Random(7)
    sources = [path.read_bytes() for path in event_files() if 0 < path.stat().st_size < 200_000]
    assert sources, FIXTURES
    put_run(tmp_path / "good")
    for i in range(300):
        folder = tmp_path / f"bad{i % 60}"
        folder.mkdir(exist_ok=True)
        (folder / f"events.out.tfevents.{i}.x").write_bytes(mutate(chance.choice(sources), chance))
    wrong = []
    with serve(tmp_path) as server:

        def ask(seed):
            for path in random.Random(seed).sample(PATHS, len(PATHS)):
                if path == "/api/v1/events":
                    continue
                status = server.get(path + "?run=bad1&tag=loss").status
                if status >= 500 and status != 503:
                    wrong.append((path, status))

        clients = [threading.Thread(target=ask, args=(i,)) for i in range(4)]
        for client in clients:
            client.start()
        server.loaded()
        for client in clients:
            client.join()
        assert points(server, "good") == GOOD
    assert not wrong, wrong
