"""TensorBoard's own page in front of another server: its files from the PyPI package, all data from upstream.

    with Proxy("127.0.0.1:6006") as proxy: open http://127.0.0.1:{proxy.port}/

/ is index.html with the line in front that TensorBoard's server puts there; every member of webfiles.zip is a path;
the page of a plugin that carries its own (the projector; others by `pages`) is served where the plugin would. Everything
else under /data and /experiment goes upstream and comes back byte by byte, with its status and headers.
"""

import http.client
import http.server
import mimetypes
import pathlib
import threading
import zipfile

import tensorboard

PACKAGE = pathlib.Path(tensorboard.__file__).parent
ROOT_LINE = b'<!doctype html><meta name="tb-relative-root" content="./">'
PROJECTOR = PACKAGE / "plugins/projector/tf_projector_plugin"
TYPES = {".js": "text/javascript", ".woff2": "font/woff2", ".svg": "image/svg+xml", ".json": "application/json"}
HOP_BY_HOP = {"connection", "keep-alive", "transfer-encoding", "te", "trailer", "upgrade"}


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *args):
        pass

    def do_GET(self):
        path = self.path.partition("?")[0]
        for prefix, folder in self.server.pages.items():
            file = folder / path.rpartition("/")[2]
            if path.startswith(prefix) and file.is_file():
                return self.give(file.read_bytes(), file.suffix)
        if path.startswith(("/data/", "/experiment/")):
            return self.forward()
        if path in ("/", "/index.html"):
            return self.give(ROOT_LINE + self.server.files["index.html"], ".html")
        if path[1:] in self.server.files:
            return self.give(self.server.files[path[1:]], pathlib.PurePosixPath(path).suffix)
        self.give(b"Not found", ".txt", 404)

    do_POST = do_GET

    def give(self, body, suffix, status=200):
        kind = TYPES.get(suffix) or mimetypes.types_map.get(suffix, "application/octet-stream")
        self.send_response(status)
        self.send_header("Content-Type", kind + ("; charset=utf-8" if kind.startswith("text/") else ""))
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def forward(self):
        body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        host, _, port = self.server.upstream.rpartition(":")
        upstream = http.client.HTTPConnection(host, int(port), timeout=60)
        # the page's origin is the proxy's, as it is for the real server: Host goes on as it came
        upstream.putrequest(self.command, self.path, skip_host=True, skip_accept_encoding=True)
        for name, value in self.headers.items():
            if name.lower() not in HOP_BY_HOP:
                upstream.putheader(name, value)
        upstream.endheaders(body)
        reply = upstream.getresponse()
        data = reply.read()
        self.send_response(reply.status)
        for name, value in reply.getheaders():
            if name.lower() not in HOP_BY_HOP | {"date", "server", "content-length"}:
                self.send_header(name, value)
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)
        upstream.close()


class Proxy(http.server.ThreadingHTTPServer):
    daemon_threads = True

    def __init__(self, upstream, **pages):
        super().__init__(("127.0.0.1", 0), Handler)
        self.pages = {f"/data/plugin/{plugin}/": folder for plugin, folder in {"projector": PROJECTOR, **pages}.items()}
        self.upstream, self.port = upstream, self.server_address[1]
        with zipfile.ZipFile(PACKAGE / "webfiles.zip") as archive:
            self.files = {name: archive.read(name) for name in archive.namelist() if not name.endswith("/")}

    def handle_error(self, request, client_address):
        pass  # a browser that closes its connections in the middle is no news

    def __enter__(self):
        self.thread = threading.Thread(target=self.serve_forever)
        self.thread.start()
        return self

    def __exit__(self, *rest):
        self.shutdown()
        self.thread.join()
        self.server_close()
