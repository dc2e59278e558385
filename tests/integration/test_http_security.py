"""Who is let in. Tests are named after the holes in this class of software that they close."""

import re
import ssl
import subprocess

import pytest
import requests
from http_driver import Client, Server, program  # noqa: F401  (a fixture)

TOKEN = "a-token.of~some-length_0123"
BEARER = f"Authorization: Bearer {TOKEN}"
PAGE = "Accept: text/html,application/xhtml+xml"


def browser(server):
    """A session that keeps cookies and takes nothing from this machine's own settings."""
    session = requests.Session()
    session.trust_env = False
    session.headers.update({"Accept": "text/html", "Origin": f"http://localhost:{server.port}"})
    return session


def test_dns_rebinding_cve_2025_14279(program):
    with Server(program) as server:
        for host in ("localhost", "LOCALHOST:80", "localhost.:6006", "127.0.0.1:1", "127.9.9.9", "[::1]:6006"):
            assert server.get("/hello", f"Host: {host}").status == 200, host
        for host in ("evil.example", "evil.example:6006", "localhost.evil.example", "evil.localhost", "[::2]", "10.0.0.1", "", "localhost:x", "a b"):
            reply = server.get("/hello", f"Host: {host}")
            assert reply.status in (400, 403), host
        assert b"--allow_host" in server.get("/hello", "Host: evil.example").body
    with Server(program, "allow=board.example", "allow=other.example:8443") as server:
        assert server.get("/hello", "Host: Board.Example:9").status == 200
        assert server.get("/hello", "Host: other.example:8443").status == 200
        assert server.get("/hello", "Host: other.example").status == 403
        assert server.get("/hello", "Host: board.example.evil.example").status == 403


def test_cross_site_requests_cve_2024_7760(program):
    with Server(program) as server:
        own = f"Host: localhost:{server.port}", f"Origin: http://localhost:{server.port}"
        assert server.get("/size", *own, method="POST", body=b"x").status == 200
        for origin in ("http://evil.example", "null", f"http://127.0.0.1:{server.port}", f"http://localhost:{server.port}.evil.example"):
            reply = server.get("/size", own[0], f"Origin: {origin}", method="POST", body=b"x")
            assert reply.status == 403, origin
            assert reply["Access-Control-Allow-Origin"] is None
        preflight = server.get("/size", own[0], "Origin: http://evil.example", "Access-Control-Request-Method: POST", method="OPTIONS")
        assert preflight.status == 403


def test_cross_site_inclusion_cve_2019_9644(program):
    with Server(program) as server:
        assert server.get("/hello", "Sec-Fetch-Site: cross-site", "Sec-Fetch-Mode: no-cors", "Sec-Fetch-Dest: script").status == 403
        assert server.get("/hello", "Sec-Fetch-Site: same-site", "Sec-Fetch-Mode: cors").status == 403
        assert server.get("/", "Sec-Fetch-Site: cross-site", "Sec-Fetch-Mode: navigate", "Sec-Fetch-Dest: iframe").status == 200
        assert server.get("/hello", "Sec-Fetch-Site: same-origin", "Sec-Fetch-Mode: cors").status == 200


def traversals():
    dots = ["..", "%2e%2e", ".%2e", "%2E.", "%252e%252e", "..%00", "..;", "%c0%ae%c0%ae", "%ef%bc%8e%ef%bc%8e", "..%5c", "\\.."]
    slashes = ["/", "%2f", "%5c", "\\", "%252f", "//"]
    for dot in dots:
        for slash in slashes:
            yield "/below/" + (dot + slash) * 4 + "etc/passwd"


def test_traversal_cve_2023_1177_cve_2024_1560(program):
    """What a handler sees below its prefix is plain, or it sees nothing."""
    with Server(program) as server:
        for target in traversals():
            reply = server.get(target)
            assert reply.status in (200, 400), target
            if reply.status == 200:
                rest = bytes.fromhex(reply.json()["rest"])
                assert not re.search(rb"(^|/)\.\.?(/|$)|[%;\\\x00-\x1f]", rest), (target, rest)


def test_prefix_confusion_cve_2026_35397(program):
    with Server(program, "prefix=/srv/data") as server:
        assert server.get("/srv/data-secret/hello").status == 404
        assert server.get("/srv/data/hello").status == 200


def test_forgotten_auth_cve_2026_2651(program):
    """Every path but the two open ones asks for the token, whatever the method."""
    paths = ["/", "/hello", "/echo", "/pooled/echo", "/below/x", "/size", "/gate/wait", "/file", "/lent", "/asset", "/stream", "/nope", "/%2e%2e", "/counts/x", "/healthz/x"]
    with Server(program, f"token={TOKEN}") as server, server.connect() as client:
        for path in paths:
            for method in ("GET", "HEAD", "POST", "DELETE", "OPTIONS", "BREW"):
                reply = client.ask(path, method=method)
                assert reply.status == (400 if "%" in path else 401), (path, method)
        assert client.ask("/healthz").status == 200
        assert client.ask("/counts").status == 200
        assert client.ask("/hello", "Upgrade: websocket", "Connection: keep-alive, Upgrade").status == 401


def test_wrong_tokens_are_refused(program):
    with Server(program, f"token={TOKEN}") as server, server.connect() as client:
        for wrong in ("", "x", TOKEN[:-1], TOKEN + "x", TOKEN.upper(), TOKEN + TOKEN):
            assert client.ask("/hello", f"Authorization: Bearer {wrong}").status == 401
            assert client.ask("/hello", f"Cookie: seaboard={wrong}").status == 401
            assert client.ask(f"/hello?token={wrong}").status == 401
        assert client.ask("/hello", f"Authorization: Basic {TOKEN}").status == 401
        for right in ((BEARER,), (f"Cookie: x=y; seaboard={TOKEN}",)):
            assert client.ask("/hello", *right).status == 200
        assert client.ask(f"/hello?token={TOKEN}").status == 200


def test_guessing_tokens_is_slowed_down(program):
    with Server(program, f"token={TOKEN}") as server, server.connect() as client:
        answers = [client.ask(f"/hello?token=wrong-{i}").status for i in range(1500)]
        assert answers[:1000] == [401] * 1000
        assert answers.count(429) >= 100, answers[1000:]
        # Then the right one is not looked at either, but who is logged in goes on.
        reply = client.ask("/hello", BEARER)
        assert (reply.status, reply["Retry-After"]) == (429, "10")
        assert client.ask("/hello", f"Cookie: seaboard={TOKEN}").status == 200


def test_cookies_of_an_older_token_keep_nobody_from_logging_in(program):
    with Server(program, f"token={TOKEN}") as server, server.connect() as client:
        assert {client.ask("/hello", "Cookie: seaboard=older").status for _ in range(1100)} == {401}
        assert client.ask("/hello", BEARER).status == 200


def test_a_link_logs_a_browser_in(program):
    with Server(program, f"token={TOKEN}", "prefix=/p") as server:
        session = browser(server)
        url = f"http://localhost:{server.port}/p/"
        assert session.get(url, timeout=60).status_code == 401
        reply = session.get(f"{url}?x=1&token={TOKEN}", timeout=60)
        assert (reply.status_code, reply.url) == (200, f"{url}?x=1")
        assert [step.status_code for step in reply.history] == [303]
        cookie = reply.history[0].headers["Set-Cookie"]
        assert "HttpOnly" in cookie and "SameSite=Lax" in cookie and "Path=/p;" in cookie and "Secure" not in cookie
        assert session.get(url + "hello", timeout=60).status_code == 200


def test_a_form_logs_a_browser_in(program):
    with Server(program, f"token={TOKEN}") as server:
        session = browser(server)
        url = f"http://localhost:{server.port}/below/deep?x=1"
        page = session.get(url, timeout=60)
        assert page.status_code == 401 and '<form method="post">' in page.text
        assert "script" not in page.text
        wrong = session.post(url, data={"token": "wrong"}, timeout=60)
        assert wrong.status_code == 401 and "not the right one" in wrong.text and not session.cookies
        right = session.post(url, data={"token": TOKEN}, timeout=60)
        assert (right.status_code, right.url) == (200, url)
        too_large = session.post(url, data={"token": "x" * 100000}, cookies={"seaboard": "old"}, timeout=60)
        assert too_large.status_code in (200, 413)


def test_redirect_parameters_cve_2020_26215(program):
    with Server(program, f"token={TOKEN}") as server:
        for target in ("//evil.example/", "/?next=http://evil.example&", "/%2f%2fevil.example?", "/below//evil.example?"):
            joint = "" if target[-1] in "?&" else "?"
            reply = server.get(f"{target}{joint}token={TOKEN}", PAGE)
            assert reply.status == 303
            assert reply["Location"].startswith("./"), target


def test_sessions_end_with_the_token_cve_2026_40934(program):
    with Server(program, "token=first") as server:
        assert server.get("/hello", "Cookie: seaboard=first").status == 200
    with Server(program, "token=second") as server:
        assert server.get("/hello", "Cookie: seaboard=first").status == 401


def test_reflected_headers_cve_2023_6568(program):
    marker = "<script>reflected</script>"
    with Server(program, f"token={TOKEN}") as server:
        for headers in ([f"Host: {marker}"], [f"Origin: {marker}"], [f"Content-Type: {marker}"], [f"Referer: {marker}"], [f"Accept: {marker},text/html"]):
            for path in ("/hello", "/nope", f"/nope?x={marker}", f"/{marker}"):
                for bearer in ((), (BEARER,)):
                    reply = server.get(path, *headers, *bearer, method="POST")
                    assert b"reflected" not in reply.body
                    assert not any("reflected" in value for _, value in reply.headers)


def test_tokens_in_output_cve_2022_24757(program):
    """Neither replies nor the program's own output ever hold the token; only the cookie does."""
    with Server(program, f"token={TOKEN}") as server:
        for path in ("/hello", "/nope", "/fail?code=500&text=x", "/status?s=3"):
            for headers in ((BEARER,), (PAGE,), (f"Cookie: seaboard={TOKEN}",)):
                assert TOKEN.encode() not in server.get(f"{path}", *headers).body
    assert TOKEN not in server.output


@pytest.fixture(scope="module")
def certificate(tmp_path_factory):
    folder = tmp_path_factory.mktemp("tls")
    cert, key = folder / "cert.pem", folder / "key.pem"
    command = ["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", "-subj", "/CN=localhost"]
    command += ["-addext", "subjectAltName=DNS:localhost,IP:127.0.0.1", "-keyout", str(key), "-out", str(cert)]
    subprocess.run(command, check=True, capture_output=True)
    return cert, key


def test_tls(program, certificate):
    cert, key = certificate
    with Server(program, f"cert={cert}", f"key={key}", f"token={TOKEN}") as server:
        session = browser(server)
        session.verify = str(cert)
        url = f"https://localhost:{server.port}/"
        reply = session.get(f"{url}?token={TOKEN}", timeout=60)
        assert reply.status_code == 200 and "Secure" in reply.history[0].headers["Set-Cookie"]
        for _ in range(5):
            assert len(session.get(url + "pooled/bytes?n=3000000", timeout=60).content) == 3000000
        assert len(session.get(url + "file", timeout=60).content) == 48 << 10
        with Client(server.port) as plain:  # somebody forgot the s
            plain.request("/hello")
            try:
                while plain.more():
                    pass
            except ConnectionError:
                pass
            assert b"200 OK" not in plain.read
        context = ssl.create_default_context(cafile=str(cert))
        with Client(server.port, wrap=lambda raw: context.wrap_socket(raw, server_hostname="localhost")) as client:
            client.request("/stream", BEARER)
            assert client.head()[0] == 200
            client.until(b'data: {"version": 0, "instance": "test", "jobs": 0}\n\n')
            assert session.get(url + "publish?v=9", timeout=60).status_code == 200
            client.until(b'data: {"version": 9, "instance": "test", "jobs": 0}\n\n')


def handshake(client, server):
    """Does a client of one context agree with a server of the other? In memory, without a socket."""
    up, down = ssl.MemoryBIO(), ssl.MemoryBIO()
    sides = [client.wrap_bio(down, up), server.wrap_bio(up, down, server_side=True)]
    for _ in range(6):
        try:
            for side in list(sides):
                side.do_handshake()
                sides.remove(side)
        except ssl.SSLWantReadError:
            sides.reverse()
        except ssl.SSLError:
            return False
    return not sides


def old_context(version, certificate=None):
    """A context that offers only this version of TLS, however old."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER if certificate else ssl.PROTOCOL_TLS_CLIENT)
    if certificate:
        context.load_cert_chain(*certificate)
    else:
        context.check_hostname = False
        context.verify_mode = ssl.CERT_NONE
    context.set_ciphers("ALL:@SECLEVEL=0")
    context.minimum_version = context.maximum_version = version
    return context


@pytest.mark.filterwarnings("ignore:ssl.TLSVersion")
def test_tls_1_2_is_the_least(program, certificate):
    """Clients that offer only an older version are refused; those of the versions since are not."""
    versions = ssl.TLSVersion
    cert, key = certificate
    with Server(program, f"cert={cert}", f"key={key}") as server:
        for version in (versions.TLSv1_2, versions.TLSv1_3):
            with Client(server.port, wrap=old_context(version).wrap_socket) as client:
                assert client.ask("/hello").status == 200, version
        for version in (versions.TLSv1, versions.TLSv1_1):
            if not handshake(old_context(version), old_context(version, certificate)):
                continue  # this machine's own library does not speak it any more
            with pytest.raises((ssl.SSLError, ConnectionError)):
                Client(server.port, wrap=old_context(version).wrap_socket)


def test_a_bad_certificate_is_told(program, certificate):
    cert, key = certificate
    for wrong in ((f"cert={key}", f"key={cert}"), (f"cert={cert}",)):
        with pytest.raises(AssertionError, match="certificate"):
            with Server(program, *wrong):
                pass
