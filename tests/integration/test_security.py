"""The holes that were found in this class of software, each with the test that would have found it here. The first
words of a test's docstring are the row of the list of holes: product, then id. What the HTTP layer alone decides is
in test_http_security.py, paths beneath a directory in tests/unit/fsio/beneath_test.c, the writer's input in
tests/fault/writer_test.c, checkpoints in tests/unit/ckpt, the renderer in tests/unit/markup/markdown_test.c; here is the
real command."""

import html.parser
import json
import os
import pathlib
import re
import shutil
import socket
import stat
import struct
import subprocess
import threading
import urllib.parse

import pytest

from command import BINARY, FIXTURES, frame, scalar
from route_list import OPEN, PATHS, ROUTES, SERVER, STREAM
from serve_driver import Events, Seaboard
from test_hostile_logs import event, field, metadata, put, tensor, value

CANARY = b"canary-77c1"
METHODS = ("GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "TRACE", "BREW")
SOURCE = SERVER.parent


def quote(**params):
    return urllib.parse.urlencode(params)


@pytest.fixture(scope="module")
def plain():
    with Seaboard(FIXTURES / "tf") as server:
        server.loaded()
        yield server


@pytest.fixture(scope="module")
def locked():
    with Seaboard(FIXTURES / "tf", "--auth", "token") as server:
        server.token = re.search(rb"token=([\w.~-]+)", server.said)[1].decode()
        server.start_said = server.said
        server.wait(lambda: server.json("/api/v1/status", f"Authorization: Bearer {server.token}"), lambda s: not s["loading"]["isLoading"])
        yield server


# ---- files -------------------------------------------------------------------------------------------------------


def test_sample_plugin_3134_assets_come_from_a_table(plain):
    """TensorBoard #3134: traversal with %2e%2e."""
    for path in ("%2e%2e/", "%2e%2e%2f", "..%5c", "%252e%252e/", "..%00/", "%c0%ae%c0%ae/", "..;/"):
        for start in ("/assets/", "/", "/data/plugin/projector/", "/data/plugin_entry.html/"):
            reply = plain.get(start + path * 6 + "etc/passwd")
            assert reply.status in (400, 404) and b"root:" not in reply.body
            assert plain.get(start + path + "index.html").status in (400, 404)


def path_fields():
    """Every field of the projector's schema that names a file."""
    schema = (SOURCE / "codec/proto/messages_plugin.def").read_text()
    found = re.findall(r'SB_FIELD\((PROJECTOR|EMBEDDING|SPRITE), \w+, \d+, "(\w*path\w*)", STRING', schema)
    assert len(found) >= 5, found
    return found


def config_of(message, name, path):
    text = json.dumps(path)
    inner = {"PROJECTOR": "", "EMBEDDING": f"  {name}: {text}\n", "SPRITE": f"  sprite {{ {name}: {text} single_image_dim: 8 single_image_dim: 8 }}\n"}[message]
    outer = f"{name}: {text}\n" if message == "PROJECTOR" else ""
    return f'{outer}embeddings {{\n  tensor_name: "t"\n{inner}}}\n'


@pytest.mark.parametrize("message, name", path_fields())
def test_projector_7115_7119_config_names_no_file_outside_its_run(tmp_path, message, name):
    """TensorBoard #7115, #7119: a config in the log names any file of the host, in each path-typed field."""
    outside = tmp_path / "outside"
    outside.mkdir()
    for file in ("secret.tsv", "secret.png", "secret.json"):
        (outside / file).write_bytes(CANARY + b"\t1.5\n" + CANARY + b"\t2.5\n")
    for file in (FIXTURES / "tf/ckpt").iterdir():
        if file.is_file():
            shutil.copy(file, outside / file.name)
    checkpoint = next(outside.glob("*.index")).with_suffix("")
    runs = {}
    for target in (outside / "secret.tsv", checkpoint):
        for kind, path in (
            ("absolute", str(target)),
            ("dots", f"../../outside/{target.name}"),
            ("inner", f"sub/../../../outside/{target.name}"),
            ("tilde", f"~/{target.name}"),
            ("uri", f"file://{target}"),
            ("link", f"link-{target.name}"),
            ("folder", f"folder/{target.name}"),
            ("back", f"..\\..\\outside\\{target.name}"),
            ("prefix", f"{tmp_path}/logs/../outside/{target.name}"),
            ("device", "/dev/zero"),
            ("proc", "/proc/self/environ"),
        ):
            run = tmp_path / "logs" / f"{kind}-{target.suffix[1:4]}"
            put(run / "x.tfevents", scalar(b"a", 1, 1.0))
            (run / "sub").mkdir()
            os.symlink(outside, run / "folder")
            for file in outside.iterdir():
                os.symlink(file, run / f"link-{file.name}")
            (run / "projector_config.pbtxt").write_text(config_of(message, name, path))
            runs[run.name] = path
    with Seaboard(tmp_path / "logs") as server:
        server.loaded()
        names = [entry for entry in re.findall(rb'"([^"]+)\.ATTRIBUTES', checkpoint.with_suffix(".index").read_bytes())]
        for run in runs:
            for route in ("info", "tensor", "metadata", "bookmarks", "sprite_image"):
                reply = server.get(f"/data/plugin/projector/{route}?{quote(run=run, name='t', num_rows=5)}")
                assert reply.status < 500, (run, route)
                assert CANARY not in reply.body and b"HOME=" not in reply.body, (run, route)
                if route == "info":
                    assert b"ATTRIBUTES" not in reply.body, (run, names)
                elif route != "tensor" or message != "PROJECTOR":
                    assert reply.status >= 400 or name not in ("metadata_path", "tensor_path", "bookmarks_path"), (run, route)


def test_aim_cve_2021_43775_mlflow_cve_2023_1177_paths_never_choose_files(plain):
    """Aim CVE-2021-43775, CVE-2024-6851, CVE-2024-8769; MLflow CVE-2023-1176 and the six after it: names of runs,
    tags and blobs are looked up, never opened."""
    for path in ("/etc/passwd", "../../../../etc/passwd", "..\\..\\etc\\passwd", "file:///etc/passwd", "C:\\boot.ini", "\0", "~/.ssh/id_rsa"):
        for route in PATHS:
            if route == STREAM:
                continue
            reply = plain.get(f"{route}?{quote(run=path, tag=path, name=path, blob_key=path, at=path, plugin='projector')}")
            assert reply.status < 500 and b"root:x" not in reply.body, (route, path)


def test_mlflow_cve_2024_1560_decoded_once(plain):
    """MLflow CVE-2024-1560, CVE-2024-1593: double decoding, and `;` parameters."""
    for path in ("/data%2fruns%252f", "/data/runs;x=y", "/data;x/runs", "/data/%2572uns", "/data\\runs", "/data/runs%00", "/data/%0aruns"):
        assert plain.get(path).status in (400, 404), path
    assert plain.get("/data/plugin/scalars/scalars?run=v2%252Ftrain&tag=loss").status in (400, 404)


def test_gradio_cve_2026_28414_one_path_function():
    """Gradio CVE-2026-28414, MLflow's seven, Jupyter CVE-2026-35397: what a log names is opened in one place only, and
    no string is compared to decide it."""
    for folder in ("query", "server", "ckpt"):
        for source in (SOURCE / folder).rglob("*.c"):
            text = source.read_text()
            opens = set(re.findall(r"\b(realpath|fopen|openat|wordexp|glob)\(", text))
            shown = {"realpath"} if source.name == "projector.c" else set()  # in the text of an error
            assert opens <= shown, (source, opens)
            if folder == "query" and source.name != "blob.c":  # which reopens the files that the walk found
                assert not re.search(r"fs->open\(|[^_]open\(", text), source


# ---- who is let in -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("path", PATHS + ["/nope", "/data/plugin/nope/x", "/api/v2/runs", "/assets/"])
def test_aim_cve_2026_85663_mlflow_cve_2026_0545_every_route_asks(locked, path):
    """Aim CVE-2026-85663; MLflow CVE-2026-0545, CVE-2026-2651, CVE-2026-2652; Jupyter CVE-2024-28179: every route
    there is, with every method, upgrade and live stream included."""
    with locked.connect() as client:
        for method in METHODS:
            reply = client.ask(path, method=method)
            if path in OPEN and method in ("GET", "HEAD"):
                assert reply.status == 200
                continue
            assert reply.status in (401, 405, 501), (path, method, reply.status)
            assert method in ("TRACE", "BREW") or path in OPEN or reply.status == 401, (path, method)
            assert locked.token.encode() not in reply.body
        for header in ("Upgrade: websocket", f"Cookie: seaboard={locked.token[:-1]}", "Authorization: Bearer x", "X-Forwarded-For: 127.0.0.1"):
            if path not in OPEN:
                reply = client.ask(path, header, "Connection: keep-alive")
                assert reply.status in (401, 429), (path, header)  # 429: too many wrong tokens by now


def test_the_table_of_routes_is_the_only_way_in():
    """Aim CVE-2026-85663: no route by a rule; the open ones are known by name."""
    table = (SERVER / "routes.c").read_text()
    assert re.findall(r'\.path = "([^"]+)"[^}]*is_open = true', table) == sorted(OPEN)
    assert [path for path, _ in ROUTES if "*" in path] == ["/assets/*"]
    # a job is all that can be deleted
    assert [path for path, methods in ROUTES if "DELETE" in methods] == ["/api/v1/job"]


def test_mlflow_cve_2026_2635_no_default_credentials(locked, tmp_path):
    """MLflow CVE-2026-2635: a random token on first start; none is known beforehand."""
    assert len(locked.token) >= 32
    with Seaboard(FIXTURES / "tf", "--auth", "token") as other:
        token = re.search(rb"token=([\w.~-]+)", other.said)[1].decode()
        assert token != locked.token
        for path in pathlib.Path(other.home.name).rglob("token"):
            assert stat.S_IMODE(path.stat().st_mode) == 0o600
            assert stat.S_IMODE(path.parent.stat().st_mode) == 0o700
    for known in ("", "admin", "password", "password1234", "seaboard", "token", "null"):
        assert locked.get("/data/runs", f"Authorization: Bearer {known}").status in (401, 429)


def test_exposed_servers_ask_by_default(tmp_path):
    """MLflow CVE-2026-2652, ClearML CVE-2024-24592: no auth on files, because nobody turned it on."""
    with Seaboard(tmp_path, "--bind_all") as server:
        assert server.get("/data/runs").status == 401
        assert b"token=" in server.said


def test_jupyter_cve_2026_40934_sessions_end_with_the_token(locked, tmp_path):
    """Jupyter CVE-2026-40934: a cookie outlives a changed password."""
    assert locked.get("/data/runs", f"Cookie: seaboard={locked.token}").status in (200, 401)
    with Seaboard(tmp_path, "--auth", "token") as other:
        for header in (f"Authorization: Bearer {locked.token}", f"Cookie: seaboard={locked.token}"):
            assert other.get("/data/runs", header).status == 401


def test_jupyter_cve_2022_24757_24758_no_token_in_output(locked):
    """Jupyter CVE-2022-24757, CVE-2022-24758: tokens in logs; W&B Weave CVE-2024-7340: keys under a served root."""
    before = locked.said.count(locked.token.encode())
    for path in PATHS:
        if path != STREAM:
            for target, *headers in ((f"{path}?token={locked.token}",), (path, f"Authorization: Bearer {locked.token}"), (f"{path}?token={locked.token}", "Accept: text/html")):
                reply = locked.get(target, *headers)
                assert locked.token.encode() not in reply.body, target
    assert locked.said.count(locked.token.encode()) == before
    environment = locked.get("/data/environment", f"Authorization: Bearer {locked.token}")
    assert environment.status == 200 and locked.token.encode() not in environment.body


def test_jupyter_cve_2022_29241_stream_asks_too(locked):
    """Jupyter CVE-2022-29241, CVE-2024-28179: the live stream needs the token."""
    with locked.connect() as client, Events(client) as events:
        assert events.status == 401
    with locked.connect() as client, Events(client, STREAM, f"Authorization: Bearer {locked.token}") as events:
        assert events.status == 200


# ---- pages of others ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize("path", PATHS)
def test_mlflow_cve_2025_14279_rebinding(plain, path):
    """MLflow CVE-2025-14279: an unknown Host is refused on every route, loopback or not."""
    with plain.connect() as client:
        for host in ("evil.example", "localhost.evil.example", "evil.localhost:80", "127.0.0.1.evil.example", "[::2]", "0x7f000001", "2130706433", "evil.example."):
            assert client.ask(path, f"Host: {host}").status == 403, host
    if path != STREAM:
        for host in ("localhost.", "[::1]:99", "127.0.0.1:1"):
            assert plain.get(path, f"Host: {host}").status != 403, host


@pytest.mark.parametrize("path", PATHS)
def test_aim_cve_2024_7760_no_cors_and_no_cross_site_change(plain, path):
    """Aim CVE-2024-7760, ClearML CVE-2024-24593, Jupyter CVE-2026-40110: exact origins only, for all that may change
    something; nothing is shared."""
    host = f"Host: localhost:{plain.port}"
    with plain.connect() as client:
        for origin in ("http://evil.example", "null", f"http://localhost:{plain.port}.evil.example", f"http://evil-localhost:{plain.port}", f"https://localhost:{plain.port + 1}"):
            for method in ("POST", "PUT", "PATCH", "DELETE", "OPTIONS"):
                reply = client.ask(path, host, f"Origin: {origin}", "Content-Type: text/plain", method=method, body=b"{}")
                assert reply.status == 403, (origin, method)
                assert not [key for key, _ in reply.headers if key.startswith("Access-Control-")]


@pytest.mark.parametrize("path", PATHS)
def test_jupyter_cve_2019_9644_cve_2023_40170_no_cross_site_inclusion(plain, path):
    """Jupyter CVE-2019-9644, CVE-2023-40170: JSON and files pulled into pages of others."""
    with plain.connect() as client:
        for destination in ("script", "image", "style", "object", "embed"):
            reply = client.ask(path, "Sec-Fetch-Site: cross-site", "Sec-Fetch-Mode: no-cors", f"Sec-Fetch-Dest: {destination}")
            assert reply.status == 403, destination
            assert reply["Cross-Origin-Resource-Policy"] == "same-origin"


def test_our_own_json_is_never_a_bare_array(plain):
    """Jupyter CVE-2019-9644: no bare-array JSON in what is ours. (Under /data TensorBoard's form is kept, behind the
    check of fetch metadata.)"""
    for path, methods in ROUTES:
        if path.startswith("/api/v1/") and path != STREAM:
            method = methods.removeprefix("SB_HTTP_")
            reply = plain.get(path, "Content-Type: application/json", method=method, body=b"{}" if method != "GET" else b"")
            if (reply["Content-Type"] or "").startswith("application/json"):
                assert isinstance(json.loads(reply.body), dict), path


def test_jupyter_cve_2020_26215_no_redirect_by_parameter(plain):
    """Jupyter CVE-2019-10255, CVE-2019-10856, CVE-2020-26215, CVE-2020-26232, CVE-2023-39968: open redirects."""
    for path in PATHS:
        for target in (f"{path}?next=http://evil.example&url=//evil.example&redirect=//evil.example", f"//evil.example{path}", f"/%2fevil.example{path}"):
            if path == STREAM:
                continue
            location = plain.get(target)["Location"]
            assert location is None or re.match(r"(\.\.?/|/(?![/\\]))", location) and "evil" not in location.partition("#")[0].partition("?")[0], (target, location)


def test_jupyter_cve_2022_21697_nothing_is_fetched(plain):
    """Jupyter proxy CVE-2022-21697; MLflow CVE-2026-2393, CVE-2026-64849: no request makes the server call out."""
    calls = []
    with socket.create_server(("127.0.0.1", 0)) as trap:
        trap.settimeout(0.5)
        port = trap.getsockname()[1]

        def wait():
            try:
                calls.append(trap.accept())
            except TimeoutError:
                pass

        waiter = threading.Thread(target=wait)
        waiter.start()
        url = f"http://127.0.0.1:{port}/"
        for path in PATHS:
            if path != STREAM:
                plain.get(f"{path}?{quote(run=url, tag=url, name=url, url=url, plugin=url, at=url)}")
        plain.get(url)
        waiter.join()
    assert not calls
    for source in SERVER.rglob("*.c"):
        if source.name != "bind.c":  # which looks whether a port of this machine is taken
            assert not re.search(r"\bconnect\(|curl_", source.read_text()), source


# ---- what people wrote -------------------------------------------------------------------------------------------

PAYLOADS = [
    "<script>alert(1)</script>",
    "<img src=x onerror=alert(1)>",
    "<svg/onload=alert(1)>",
    "[x](javascript:alert(1))",
    "[x](JaVaScRiPt&#58;alert(1))",
    "[x](data:text/html;base64,PHNjcmlwdD4=)",
    "![x](javascript:alert(1))",
    "<a href='vbscript:x'>y</a>",
    "<iframe srcdoc='<script>1</script>'></iframe>",
    "<math><mtext><style><img src=x onerror=alert(1)></style></mtext></math>",
    "</textarea><script>alert(1)</script>",
    "<form action=//evil.example><input name=a></form>",
    "<base href=//evil.example>",
    "<meta http-equiv=refresh content=0;url=//evil.example>",
    "<style>@import '//evil.example'</style>",
    "`<script>`\n\n    <script>x</script>\n",
    "<<script>script>alert(1)<</script>/script>",
    "&lt;script&gt;alert(1)&lt;/script&gt;",
]


class Look(html.parser.HTMLParser):
    FORBIDDEN = {"script", "iframe", "object", "embed", "style", "link", "meta", "base", "form", "input", "textarea", "svg", "math", "template", "noscript"}

    def handle_starttag(self, tag, attributes):
        assert tag not in self.FORBIDDEN, tag
        for name, text in attributes:
            assert not name.startswith("on") and name not in ("style", "srcdoc", "formaction"), (tag, name)
            scheme = re.sub(r"[\s\x00-\x20]", "", text or "").lower()
            if name in ("href", "src"):
                assert not scheme.startswith(("javascript:", "vbscript:", "data:")), text


def text_value(tag, text):
    return value(tag, tensor(7, [], rest=field(8, text)) + metadata(b"text"))


@pytest.fixture(scope="module")
def stained(tmp_path_factory):
    """A log with payloads in every place where people write."""
    logs = tmp_path_factory.mktemp("stained")
    for number, payload in enumerate(PAYLOADS):
        run = logs / f"{number} {payload}".replace("/", "\u2215")[:120]
        raw = payload.encode()
        svg = b'<svg xmlns="http://www.w3.org/2000/svg"><script>alert(1)</script></svg>'
        page = b"<!doctype html><script>alert(1)</script>"
        image = lambda content: field(4, b"\x08\x08\x10\x08\x18\x03" + field(4, content))  # noqa: E731
        audio = field(6, b"\x0d" + struct.pack("<f", 8000) + field(4, page) + field(5, b"text/html"))
        described = field(9, field(2, raw) + field(3, raw))
        put(
            run / "x.tfevents",
            event(1, text_value(b"text/" + raw, raw)),
            event(1, value(b"scalar/" + raw, b"\x15\0\0\x80\x3f" + described)),
            event(1, value(b"svg", image(svg) + described), value(b"page", image(page)), value(b"sound", audio)),
        )
    with Seaboard(logs, "--window_title", PAYLOADS[0]) as server:
        server.loaded()
        yield server


def test_html5lib_cve_2016_9910_aim_cve_2024_8863_texts_are_harmless(stained):
    """html5lib CVE-2016-9910; Aim CVE-2024-8863, CVE-2025-51464; MLflow CVE-2024-27132: stored scripts in texts and
    descriptions."""
    seen = 0
    for run, tags in stained.json("/data/plugin/text/tags").items():
        for tag in tags:
            for entry in stained.json(f"/data/plugin/text/text?{quote(run=run, tag=tag)}"):
                Look().feed(entry["text"])
                seen += 1
    assert seen == len(PAYLOADS)
    for plugin in ("scalars", "images"):
        for tags in stained.json(f"/data/plugin/{plugin}/tags").values():
            for about in tags.values():
                Look().feed(about["description"])


def test_aim_cve_2024_8863_pages_have_no_place_for_script(stained):
    """Aim CVE-2024-8863, CVE-2025-51464: a policy without eval and without inline script, and no payload in a page."""
    for path in ("/", "/index.html"):
        reply = stained.get(path, "Accept: text/html")
        policy = reply["Content-Security-Policy"]
        assert reply.status == 200 and policy
        rules = dict(part.strip().partition(" ")[::2] for part in policy.split(";") if part.strip())
        script = rules.get("script-src", rules.get("default-src", ""))
        assert script and "unsafe-inline" not in script and "unsafe-eval" not in script and "*" not in script
        assert rules.get("object-src", rules.get("default-src")) == "'none'"
        assert "base-uri" in policy
        for payload in PAYLOADS:
            assert "<" not in payload or payload.encode() not in reply.body, payload


def test_errors_never_echo_as_a_page(stained):
    """MLflow CVE-2023-6568: what was asked for comes back as text, never as a page."""
    for payload in PAYLOADS:
        for path in PATHS:
            if path == STREAM:
                continue
            reply = stained.get(f"{path}?{quote(run=payload, tag=payload, name=payload, plugin=payload, format=payload)}", f"X-Test: {payload.splitlines()[0]}", f"Content-Type: {payload.splitlines()[0]}")
            assert reply["X-Content-Type-Options"] == "nosniff"
            if (reply["Content-Type"] or "").startswith("text/html"):
                assert "<" not in payload or payload.encode() not in reply.body, (path, payload)


def test_clearml_cve_2024_24594_jupyter_cve_2018_21030_media_are_in_a_sandbox(stained):
    """ClearML CVE-2024-24591 to 24594, CVE-2024-39272; Jupyter CVE-2018-21030, CVE-2018-19351: what users logged is
    served on the app's origin with no rights there, SVG included, and never as a page."""
    seen = 0
    for plugin, listing, single in (("images", "images", "individualImage"), ("audio", "audio", "individualAudio")):
        for run, tags in stained.json(f"/data/plugin/{plugin}/tags").items():
            for tag in tags:
                for entry in stained.json(f"/data/plugin/{plugin}/{listing}?{quote(run=run, tag=tag, sample=0)}"):
                    for more in ("", "&content_type=text/html", "&content_type=image/svg%2Bxml"):
                        reply = stained.get(f"/data/plugin/{plugin}/{single}?{entry['query']}{more}")
                        assert reply.status == 200
                        kind = reply["Content-Type"]
                        assert not kind.startswith(("text/html", "application/xhtml", "text/xml", "application/javascript")), kind
                        policy = reply["Content-Security-Policy"]
                        assert policy and "sandbox" in policy and "allow-scripts" not in policy, (kind, policy)
                        seen += 1
    assert seen >= 3 * len(PAYLOADS)


# ---- no evaluation, no archives, no pickles --------------------------------------------------------------------


def test_aim_cve_2024_2195_questions_are_bounded(plain):
    """Aim CVE-2024-2195, CVE-2024-8238, CVE-2025-5321: a question is data, with a budget; no host language."""
    for regex in ("(a+)+$", "(a|aa)+$" * 50, "(?{print 1})", "((((((((((a*)*)*)*)*)*)*)*)*)*)b", "__import__('os')", "(?R)"):
        reply = plain.get(f"/data/plugin/custom_scalars/scalars?{quote(run='v2/train', tag=regex)}")
        assert reply.status < 500
    assert plain.get("/healthz").status == 200
    for source in SOURCE.rglob("*.c"):
        assert not re.search(r"\b(system|popen|dlopen)\(", source.read_text()), source


def test_clearml_cve_2024_24590_nothing_is_unpacked_or_unpickled():
    """MLflow CVE-2024-37052 and after, ClearML CVE-2024-24590, CVE-2025-8917; TensorFlow CVE-2021-35958: no archive
    and no pickle is ever opened."""
    linked = subprocess.run(["ldd", BINARY], capture_output=True, text=True, check=False).stdout
    assert not re.search(r"libpython|libarchive|libzip|libtar|libcurl", linked)


def test_wandb_cve_2026_91771_names_from_outside_choose_no_file(tmp_path):
    """W&B CVE-2026-91771: a name that somebody else chose (here: a tag, a run) is never the name of a file that is
    written, neither by the server nor by a browser that saves an answer."""
    name = "../../../escaped"
    logs = tmp_path / "logs"
    picture = field(4, b"\x08\x01\x10\x01\x18\x03" + field(4, b"<svg xmlns='http://www.w3.org/2000/svg'/>"))
    put(logs / "..escaped/x.tfevents", scalar(name.encode(), 1, 1.0), event(1, value(b"p/" + name.encode(), picture)))
    before = sorted(tmp_path.rglob("*"))
    offered = set()
    with Seaboard(logs) as server:
        server.loaded()
        for path in PATHS:
            if path != STREAM:
                asked = quote(run="..escaped", tag=name, name=name, session=name, file=name, format="csv")
                disposition = server.get(f"{path}?{asked}")["Content-Disposition"] or ""
                offered |= set(re.findall(r"filename\*?=(.*)", disposition))
        body = json.dumps({"kind": "export", "args": {"run": "..escaped", "tag": name}}).encode()
        server.get("/api/v1/jobs", "Content-Type: application/json", "X-Seaboard-Request: 1", method="POST", body=body)
        written = [path.name for path in pathlib.Path(server.home.name).rglob("*")]
    assert not [text for text in written if "escaped" in text]
    assert sorted(tmp_path.rglob("*")) == before
    assert all(re.fullmatch(r'(UTF-8\'\')?"?[\w-]+(\.[\w]+)+"?', text) and "escaped" not in text for text in offered), offered


def test_tensorflow_cve_2021_41203_lying_checkpoints(tmp_path):
    """TensorFlow CVE-2021-41203: checkpoints whose lengths and offsets overflow."""
    run = tmp_path / "run"
    shutil.copytree(FIXTURES / "tf/projector", run)
    put(run / "x.tfevents", scalar(b"a", 1, 1.0))
    index = next(run.glob("*.index"))
    good = index.read_bytes()
    with Seaboard(tmp_path) as server:
        server.loaded()
        for at in range(0, len(good), 7):
            index.write_bytes(good[:at] + b"\xff" * 9 + good[at + 9 :])
            for route in ("info", "tensor"):
                assert server.get(f"/data/plugin/projector/{route}?{quote(run='run', name='embedding/.ATTRIBUTES/VARIABLE_VALUE')}").status < 500
        index.write_bytes(good[: len(good) // 2])
        assert server.get("/data/plugin/projector/info?run=run").status < 500
        assert server.memory("VmHWM") < 1 << 20


def test_weave_cve_2024_7340_keys_are_not_where_logs_are(tmp_path):
    """W&B Weave CVE-2024-7340: the server writes nothing into what it serves, its token least of all."""
    put(tmp_path / "r/x.tfevents", scalar(b"a", 1, 1.0))
    before = sorted(path for path in tmp_path.rglob("*"))
    with Seaboard(tmp_path, "--auth", "token") as server:
        token = re.search(rb"token=([\w.~-]+)", server.said)[1].decode()
        server.wait(lambda: server.json("/data/runs", f"Authorization: Bearer {token}"))
        body = json.dumps({"revision": 0, "items": {"run:r": {"name": "x"}}}).encode()
        server.get("/api/v1/state", f"Authorization: Bearer {token}", "Content-Type: application/json", method="PATCH", body=body)
    assert sorted(path for path in tmp_path.rglob("*")) == before


def test_a_log_cannot_pretend_to_be_another(tmp_path):
    """Jupyter CVE-2026-35397: /srv/data is not /srv/data-secret."""
    put(tmp_path / "data/r/x.tfevents", scalar(b"a", 1, 1.0))
    put(tmp_path / "data-secret/r/x.tfevents", frame(b"") and scalar(b"secret", 1, 1.0))
    with Seaboard(tmp_path / "data", "--path_prefix", "/srv/data") as server:
        server.wait(lambda: server.json("/srv/data/data/runs"))
        assert server.json("/srv/data/data/runs") == ["r"]
        assert server.get("/srv/data-secret/data/runs").status == 404
        for run in ("../data-secret/r", "-secret/r", "/../data-secret/r"):
            assert server.get(f"/srv/data/data/plugin/scalars/scalars?{quote(run=run, tag='secret')}").status in (400, 404)
