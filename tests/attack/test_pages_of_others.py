"""What a page of somebody else's, or a name that its owner points here, gets from the server: nothing."""

import socket

import pytest

from command import frame, seaboard
from logs import put_run
from test_memory import image

# Hosts that are this machine's own, and hosts that a client may send to be taken for one.
OWN = ["localhost", "LOCALHOST", "localhost.", "localhost:6006", "127.0.0.1", "127.0.0.1:1", "127.1.2.3", "[::1]",
       "[::1]:80", "[::ffff:127.0.0.1]"]  # fmt: skip
FOREIGN = [
    "evil.example", "evil.example:6006", "localhost.evil.example", "localhost-evil.example", "evil-localhost",
    "127.0.0.1.evil.example", "127.0.0.1.nip.io", "evil.example.localhost.", "localhost..", ".localhost", "localhost:",
    "localhost:x", "localhost:99999", "localhost:80:80", "localhost/", "localhost@evil.example", "user@localhost",
    "localhost evil.example", "localhost,evil.example", "localhost;evil.example", "localhost\tx", "http://localhost",
    "0", "0.0.0.0", "127.1", "2130706433", "0x7f000001", "0177.0.0.1", "10.0.0.1", "192.168.0.1", "8.8.8.8",
    "[::]", "[::2]", "[::ffff:8.8.8.8]", "[::1", "::1", "[localhost]", "[8.8.8.8]", "xn--localhost-", "l\u00f6calhost",
    "localhost%00.evil.example", "%6cocalhost",
]  # fmt: skip


def test_hosts_of_others_are_refused(serve, tmp_path):
    put_run(tmp_path / "run")
    with serve(tmp_path) as server, server.connect() as client:
        for host in OWN:
            assert client.ask("/data/runs", f"Host: {host}").status == 200, host
        for host in FOREIGN:
            assert server.get("/data/runs", f"Host: {host}").status in (400, 403), host
        assert len(FOREIGN) == 42


ORIGINS = ["null", "http://evil.example", "https://evil.example", "http://localhost.evil.example", "http://evil-localhost",
           "http://localhost:1", "https://localhost:444", "http://127.0.0.1", "http://[::1]", "file://", "file:///x", "about:blank",
           "data:text/html,x", "chrome-extension://x", "http://localhost@evil.example", "http://localhost/", "//localhost",
           "localhost", "HTTP://EVIL.EXAMPLE"]  # fmt: skip


def test_pages_of_other_origins_change_nothing(serve, tmp_path):
    """The page's own origin is http://localhost, as the Host says; every other one is somebody else."""
    put_run(tmp_path / "run")
    change = b'{"changes": [{"key": "x", "value": 1}]}'
    ours = ("Content-Type: application/json", "X-Seaboard-Request: 1")
    with serve(tmp_path) as server:
        for origin in ORIGINS:
            answer = server.get("/api/v1/state", *ours, f"Origin: {origin}", method="PATCH", body=change)
            assert answer.status == 403, (origin, answer.status, answer.body)
            multi = "/data/plugin/scalars/scalars_multirun"
            assert server.get(multi, f"Origin: {origin}", method="POST", body=b"tag=x").status == 403, origin
        assert len(ORIGINS) == 19
        own = server.get("/api/v1/state", *ours, "Origin: http://localhost", method="PATCH", body=change)
        assert own.status in (200, 400), (own.status, own.body)
        assert server.get("/data/runs", "Sec-Fetch-Site: cross-site", "Sec-Fetch-Mode: no-cors").status == 403


@pytest.mark.parametrize("where", [("--bind_all",), ("--host", "0.0.0.0")])
def test_a_server_for_all_without_a_token_answers_to_no_strange_name(serve, tmp_path, where):
    """DNS rebinding: without a token the name is all that tells a page of somebody else's from ours."""
    put_run(tmp_path / "run")
    with serve(tmp_path, *where, "--auth", "none", "--allow_host", "my.name") as server:
        for host in ("localhost", "192.168.7.8", "[fe80::1]:6006", "my.name", socket.gethostname()):
            assert server.get("/data/runs", f"Host: {host}").status == 200, host
        refused = server.get("/data/runs", "Host: evil.example")
        assert refused.status == 403 and b"--allow_host" in refused.body
        server.wait(lambda: b"other names need --allow_host" in server.said)


def test_a_server_for_all_with_a_token_answers_to_every_name(serve, tmp_path):
    put_run(tmp_path / "run")
    server = serve(tmp_path, "--bind_all")
    server.environment["SEABOARD_TOKEN"] = "0123456789abcdef"
    with server:
        bearer = "Authorization: Bearer 0123456789abcdef"
        assert server.get("/data/runs", "Host: any.name", bearer).status == 200
        assert server.get("/data/runs", "Host: any.name").status == 401


def policy(serve, logdir, *options):
    server = serve(logdir, *options)
    server.environment["SEABOARD_TOKEN"] = "0123456789abcdef"
    with server:
        return server.get("/", "Authorization: Bearer 0123456789abcdef")["Content-Security-Policy"]


def test_who_may_frame_the_page_is_a_choice(serve, tmp_path):
    """Notebooks frame the page of a server on this machine; beyond it, only pages of its own do."""
    assert "frame-ancestors" not in policy(serve, tmp_path)
    assert "frame-ancestors" not in policy(serve, tmp_path, "--bind_all", "--allow_frame", "any")
    assert policy(serve, tmp_path, "--bind_all").endswith("; frame-ancestors 'self'")
    assert policy(serve, tmp_path, "--allow_frame", "none").endswith("; frame-ancestors 'none'")
    hubs = policy(serve, tmp_path, "--allow_frame", "https://hub.example,https://other:8443")
    assert hubs.endswith("; frame-ancestors 'self' https://hub.example https://other:8443")


def test_a_frame_option_that_makes_no_sense_is_refused(tmp_path):
    for who in ("sometimes", "https://x; script-src *", "https://x\nX: y"):
        done = seaboard("--logdir", tmp_path, "--allow_frame", who)
        assert done.returncode == 2 and b"--allow_frame" in done.stderr, done.stderr


def test_bytes_of_a_log_are_saved_when_they_are_asked_for_as_a_page(serve, tmp_path):
    path = put_run(tmp_path / "run")
    with open(path, "ab") as file:
        file.write(frame(image(b"picture", b"<html><script>alert(1)</script>")))
    with serve(tmp_path) as server:
        server.loaded()
        listed = server.json("/data/plugin/images/images?run=run&tag=picture&sample=0")
        target = "/data/plugin/images/individualImage?" + listed[0]["query"]
        for dest in ("document", "iframe", "embed", "object"):
            page = server.get(target, f"Sec-Fetch-Dest: {dest}")
            assert page["Content-Disposition"] == "attachment", dest
            assert "sandbox" in page["Content-Security-Policy"]
            assert page["X-Content-Type-Options"] == "nosniff"
        assert server.get(target, "Sec-Fetch-Dest: image")["Content-Disposition"] is None


def test_a_projector_folder_that_leads_out_of_the_run_is_not_read(serve, tmp_path):
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "secret.tsv").write_text("1\t2\n3\t4\n")
    (outside / "projector_config.pbtxt").write_text('embeddings { tensor_name: "t" tensor_path: "secret.tsv" }')
    for run, depth in (("a", "plugins/org_tensorflow_tensorboard_projector"), ("b", "plugins")):
        put_run(tmp_path / "logs" / run)
        link = tmp_path / "logs" / run / depth
        link.parent.mkdir(parents=True, exist_ok=True)
        target = outside if run == "a" else tmp_path / "folder"
        link.symlink_to(target)
    (tmp_path / "folder").mkdir()
    (tmp_path / "folder/org_tensorflow_tensorboard_projector").symlink_to(outside)
    inside = put_run(tmp_path / "logs/c").parent
    (inside / "plugins").mkdir()
    (inside / "own").mkdir()
    for name in ("secret.tsv", "projector_config.pbtxt"):
        (inside / "own" / name).write_text((outside / name).read_text())
    (inside / "plugins/org_tensorflow_tensorboard_projector").symlink_to("../own")
    with serve(tmp_path / "logs") as server:
        server.loaded()
        assert server.json("/data/plugin/projector/runs") == ["c"]
        assert server.get("/data/plugin/projector/tensor?run=c&name=t").status == 200
        assert server.get("/data/plugin/projector/tensor?run=a&name=t").status == 400
