"""Requests and logs that are made to take much memory: together they take no more than they may."""

import struct

from command import field, frame, masked_crc, scalar
from http_driver import PATIENCE
from logs import GOOD, points, put_run

LIMIT = 16 << 20
FLAG = ("--request_memory", "16M")


def http(server):
    return server.status()["http"]


def put_points(folder, count):
    """Many points that cost little to write: one record again and again."""
    path = put_run(folder)
    path.write_bytes(frame(scalar(b"loss", 7, 0.12345678)) * count)


def resident(server, build, limit_kb):
    """Memory of the release build; what a sanitizer keeps for itself says nothing."""
    if build == "release":
        server.wait(lambda: server.memory(), lambda kb: kb <= limit_kb)


def test_clients_that_do_not_read_an_export_hold_no_memory(serve, build, tmp_path):
    """The export has some 45 MB; ten that nobody reads would take 450 MB if they were made whole."""
    count = 1_000_000
    put_points(tmp_path / "run", count)
    with serve(tmp_path, *FLAG) as server:
        server.loaded()
        before = server.memory()
        clients = [server.connect() for _ in range(10)]
        for client in clients:
            client.request("/api/v1/export")
            assert client.head()[0] == 200
        assert http(server)["memory"] <= LIMIT
        resident(server, build, before + 40_000)
        body = b"".join(clients[0].chunks())
        assert body.count(b"\n") == count + 1
        assert body.startswith(b"run,tag,step,wall_time,value\nrun,loss,7,"), body[:80]
        for client in clients:
            client.close()
        server.wait(lambda: http(server)["memory"], lambda used: used < 1 << 20)


def test_an_export_that_cannot_be_finished_is_not_taken_for_whole(serve, tmp_path):
    put_points(tmp_path / "run", 1_000_000)
    with serve(tmp_path, *FLAG) as server:
        server.loaded()
        client = server.connect()
        client.request("/api/v1/export")
        assert client.head()[0] == 200
        server.process.terminate()
        assert server.process.wait(PATIENCE) == 0
        try:
            ended = list(client.chunks()) is not None
        except (EOFError, ConnectionError):
            ended = False
        assert not ended, "the last chunk came although the export was cut"
        client.close()


def test_answers_that_nobody_reads_make_others_wait_and_then_try_again(serve, tmp_path):
    """One series as JSON is 25 MB; a few of them take all the memory there is."""
    limit = 96 << 20
    put_points(tmp_path / "run", 600_000)
    series = "/data/plugin/scalars/scalars?run=run&tag=loss"
    with serve(tmp_path, "--request_memory", limit) as server:
        server.loaded()
        clients = [server.connect() for _ in range(12)]
        for client in clients:
            client.request(series)
        heads = [client.head() for client in clients]
        refused = [dict(headers) for status, headers in heads if status == 503]
        assert {status for status, _ in heads} == {200, 503}
        assert all(headers["Retry-After"] for headers in refused)
        assert http(server)["memory"] <= limit and http(server)["noMemory"] > 0
        assert server.get("/").status == 200
        for client in clients:
            client.close()
        server.wait(lambda: server.get(series).status, lambda status: status == 200)


def put_projector(folder, rows, columns):
    """A run with four raw tensors of zeros."""
    put_run(folder)
    config = ""
    for i in range(4):
        with open(folder / f"t{i}.bytes", "wb") as file:
            file.write(b"\xff" * 8)  # so that it is no text
            file.truncate(rows * columns * 4)
        config += f'embeddings {{ tensor_name: "t{i}" tensor_path: "t{i}.bytes" '
        config += f"tensor_shape: {rows} tensor_shape: {columns} }}\n"
    (folder / "projector_config.pbtxt").write_text(config)


def test_large_projector_files_are_sent_in_pieces(serve, build, tmp_path):
    rows, columns = 250_000, 256  # 256 MB each
    put_projector(tmp_path / "run", rows, columns)
    with serve(tmp_path, *FLAG) as server:
        server.loaded()
        before = server.memory()
        clients = [server.connect() for _ in range(4)]
        for i, client in enumerate(clients):
            client.request(f"/data/plugin/projector/tensor?run=run&name=t{i}")
            assert client.head()[0] == 200
        assert http(server)["memory"] <= LIMIT
        resident(server, build, before + 40_000)
        assert sum(map(len, clients[0].chunks())) == rows * columns * 4
        for client in clients:
            client.close()


def test_a_body_of_very_many_small_values_is_refused(serve, build, tmp_path):
    put_run(tmp_path / "run")
    body = b'{"x": [' + b"1," * (8 << 20 >> 1) + b"1]}"
    with serve(tmp_path) as server:
        server.loaded()
        before = server.memory()
        for _ in range(3):
            answer = server.get(
                "/api/v1/summaries", "Content-Type: application/json", method="POST", body=body
            )
            assert answer.status == 413 and b"values" in answer.body, (answer.status, answer.body)
        resident(server, build, before + 40_000)


def claim(size):
    length = struct.pack("<Q", size)
    return length + struct.pack("<I", masked_crc(length))


def test_a_record_that_lies_about_its_size_takes_no_memory(serve, build, tmp_path):
    """The file is as long as the record claims, but there is nothing in it."""
    size = 300_000_000
    liar = put_run(tmp_path / "liar")
    with open(liar, "ab") as file:
        begin = file.tell()
        file.write(claim(size))
        file.truncate(begin + 12 + size + 4)
    short = put_run(tmp_path / "short")
    with open(short, "ab") as file:
        file.write(claim(size) + b"x" * 1000)
    put_run(tmp_path / "good")
    with serve(tmp_path) as server:
        server.loaded()
        for run in ("liar", "short", "good"):
            assert points(server, run) == GOOD, run
        if build == "release":
            assert server.memory("VmHWM") < 100_000


def test_a_large_blob_is_sent_from_the_file(serve, build, tmp_path):
    """An image of 10 MB, asked for by clients that do not read it."""
    picture = b"\x89PNG\r\n\x1a\n" + b"\x00" * (10 << 20)
    path = put_run(tmp_path / "run")
    with open(path, "ab") as file:
        file.write(frame(image(b"picture", picture)))
    with serve(tmp_path, "--request_memory", "64M") as server:
        server.loaded()
        listed = server.json("/data/plugin/images/images?run=run&tag=picture&sample=0")
        target = "/data/plugin/images/individualImage?" + listed[0]["query"]
        clients = [server.connect() for _ in range(10)]
        for client in clients:
            client.request(target)
            assert client.head()[0] == 200
        assert http(server)["memory"] < 4 << 20
        assert clients[0].exactly(len(picture)) == picture
        for client in clients:
            client.close()
        part = server.get(target, "Range: bytes=0-7")
        assert part.body[:8] == picture[:8]


def image(tag, data):
    """An event with a picture in TF1's form."""
    picture = b"\x08\x01\x10\x01\x18\x03" + field(4, data)
    value = field(1, tag) + field(4, picture)
    return b"\x09" + struct.pack("<d", 1700000000.0) + field(5, field(1, value))


def test_very_many_tags_take_little_each(serve, build, tmp_path):
    """Less than half a kilobyte a tag in memory, and what is empty is not in the answer."""
    count = 20_000
    put_run(tmp_path / "run", [b"tag/%d" % i for i in range(count)], steps=1)
    with serve(tmp_path) as server:
        server.loaded()
        answer = server.get("/api/v1/tags")
        assert answer.json()["tags"][0] == {"tag": "tag/0", "plugin": "scalars", "runs": "all"}
        assert len(answer.body) < 55 * count
        resident(server, build, 20_000 + count // 2)
