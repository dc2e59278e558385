"""Every route of the server, read from its own tables: a route that is added is tested without being asked for."""

import pathlib
import re

SERVER = pathlib.Path(__file__).resolve().parents[2] / "src/server"


def read_routes():
    """[(path, methods)]; methods as the table spells them, e.g. SB_HTTP_POST."""
    table = (SERVER / "routes.c").read_text()
    table = table[table.index("sb_app_routes[]") : table.index("sb_app_route_count")]
    routes = [("/data/plugin/" + path, "SB_HTTP_ALL") for path in re.findall(r'ANY\(PLUGIN\("([^"]+)"\)', table)]
    routes += [(path, "SB_HTTP_ALL") for path in re.findall(r'ANY\("([^"]+)"', table)]
    rows = re.findall(r'\.methods = (\w+),\s*\.path = (PLUGIN\()?"([^"]+)"', table)
    routes += [("/data/plugin/" * bool(plugin) + path, methods) for methods, plugin, path in rows]
    api = (SERVER / "api/api.h").read_text()
    api = api[api.index("#define SB_API_MAP") : api.index("#define SB_API_DECLARE")]
    routes += [("/api/v1/" + path, method) for method, path in re.findall(r'X\((\w+), "([^"]+)"', api)]
    assert len(re.findall(r"\bANY\(|\.path =", table)) + len(re.findall(r"X\(SB_", api)) == len(routes), "a row in a new form"
    return sorted(set(routes))


ROUTES = read_routes()
PATHS = sorted({path.replace("*", "x.js") for path, _ in ROUTES})
STREAM = "/api/v1/events"
OPEN = {"/healthz"}
