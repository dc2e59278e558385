"""Seaboard in notebooks: Jupyter, JupyterLab, VS Code, Colab.

    %load_ext seaboard
    %seaboard --logdir runs            starts a server, or finds the one that shows this directory, and shows it here

`%tensorboard` is the same, unless TensorBoard's own extension is loaded. From Python: start("--logdir runs"),
display(port, height), list(), stop(port).

The page is shown in a frame. Its address is found in the browser: through jupyter-server-proxy where the notebook's
server has it, else by the port on the same host. SEABOARD_PROXY_URL (or TENSORBOARD_PROXY_URL) names another address;
%PORT% in it stands for the port.
"""

from __future__ import annotations

import builtins
import datetime
import json
import os
import random
import shlex
import sys
from typing import Any

from seaboard import _servers

__all__ = ["display", "list", "load_ipython_extension", "start", "stop"]

HEIGHT = 800

_PAGE = """
<iframe id="%ID%" width="100%" height="%HEIGHT%" frameborder="0" title="Seaboard"></iframe>
<script>
  (function () {
    const frame = document.getElementById("%ID%");
    const port = %PORT%, path = %PATH%, given = %GIVEN%;
    const here = window.location;
    const show = (url) => { frame.src = String(url); };
    if (given) { show(new URL(given, here.href.startsWith("http") ? here : "http://localhost/")); return; }
    if (!here.protocol.startsWith("http")) { show("http://localhost:" + port + path); return; }
    const direct = new URL(path, here);
    direct.port = port;
    const config = document.getElementById("jupyter-config-data");
    let base = (document.body && document.body.dataset.baseUrl) || "/";
    try { base = JSON.parse(config.textContent).baseUrl || base; } catch (error) { /* not JupyterLab */ }
    const through = new URL(base + "proxy/" + port + path, here);
    fetch(through, { method: "HEAD" }).then(
      (reply) => show(reply.ok ? through : direct),
      () => show(direct),
    );
  })();
</script>
"""


def _page(server: _servers.Server, height: int) -> str:
    given = os.environ.get("SEABOARD_PROXY_URL") or os.environ.get("TENSORBOARD_PROXY_URL")
    if given is not None:
        given = given.replace("%PORT%", str(server.port))
    values = {
        "%ID%": f"seaboard-frame-{random.getrandbits(64):016x}",
        "%HEIGHT%": str(int(height)),
        "%PORT%": str(server.port),
        "%PATH%": json.dumps(server.path_prefix + "/"),
        "%GIVEN%": json.dumps(given),
    }
    page = _PAGE
    for name, value in values.items():
        page = page.replace(name, value)
    return page


def _show(server: _servers.Server, height: int | None) -> None:
    colab = sys.modules.get("google.colab")
    ipython = sys.modules.get("IPython")
    shell = ipython.get_ipython() if ipython is not None else None
    if colab is not None:
        from google.colab import output

        output.serve_kernel_port_as_iframe(server.port, path=server.path_prefix + "/", height=height or HEIGHT)
    elif shell is not None:
        from IPython.display import HTML
        from IPython.display import display as show

        show(HTML(_page(server, height or HEIGHT)))
    else:
        print(f"Seaboard shows {server.logdir} at {server.url}")


def start(args_string: str = "") -> None:
    """Shows what a server with these arguments shows; it is started unless one runs already.

    args_string: options of the seaboard command, as one text: "--logdir runs --port 7007".
    """
    arguments = shlex.split(args_string, comments=True)
    server = _servers.reusable(arguments) if arguments else None
    if server is not None:
        began = datetime.timedelta(seconds=int(max(0, _now() - server.start_time)))
        print(f"Reusing Seaboard on port {server.port} (pid {server.pid}), started {began} ago. "
              f"(Use `seaboard.notebook.stop({server.port})` to end it.)")
    else:
        try:
            server, _ = _servers.launch(arguments)
        except (_servers.StartError, FileNotFoundError) as error:
            print(error)
            return
    _show(server, None)


def _now() -> float:
    import time

    return time.time()


def _find(port: int | None) -> _servers.Server:
    servers = _servers.running()
    if port is not None:
        servers = [server for server in servers if server.port == port]
    if not servers:
        where = f" on port {port}" if port is not None else ""
        raise ValueError(f"no server runs{where}; seaboard.notebook.start('--logdir runs') starts one")
    return max(servers, key=lambda server: server.start_time)


def display(port: int | None = None, height: int | None = None) -> None:
    """Shows a server that runs: the one at this port, or the newest one. height in pixels."""
    try:
        server = _find(port)
    except ValueError as error:
        print(error)
        return
    _show(server, height)


def list() -> None:  # noqa: A001  TensorBoard's name for it
    """Prints the servers that run."""
    servers = _servers.running()
    if not servers:
        print("No known Seaboard or TensorBoard instances running.")
    for server in servers:
        print(f"  - port {server.port}: logdir {server.logdir} (started by pid {server.pid})")


def stop(port: int | None = None) -> None:
    """Ends a server: the one at this port, or the newest one."""
    try:
        server = _find(port)
    except ValueError as error:
        print(error)
        return
    _servers.stop(server)
    print(f"Stopped the server on port {server.port} (pid {server.pid}).")


def _magic(line: str) -> None:
    start(line)


def load_ipython_extension(ipython: Any) -> None:
    """Called by %load_ext seaboard."""
    ipython.register_magic_function(_magic, magic_kind="line", magic_name="seaboard")
    known = builtins.list(ipython.magics_manager.magics["line"])
    if "tensorboard" not in known:
        ipython.register_magic_function(_magic, magic_kind="line", magic_name="tensorboard")
