"""A client of a running server: what it shows, as numpy arrays.

    server = seaboard.Client("http://localhost:6006")
    server.runs()
    server.scalars("train", "loss").values
"""

from __future__ import annotations

import json
import time
import urllib.error
import urllib.parse
import urllib.request
from typing import Any, NamedTuple

__all__ = ["Client", "Points"]


class Points(NamedTuple):
    """A series of a server: one array a column."""

    steps: Any
    wall_times: Any
    values: Any


class Client:
    """Asks a server of Seaboard or TensorBoard. url: where it is; timeout: seconds to wait for a reply."""

    def __init__(self, url: str = "http://localhost:6006", timeout: float = 30):
        self.url = (url if "://" in url else f"http://{url}").rstrip("/")
        self.timeout = timeout

    def get(self, route: str, **query: str) -> Any:
        """The reply of a route as JSON: get("data/environment")."""
        address = f"{self.url}/{route.lstrip('/')}"
        if query:
            address += "?" + urllib.parse.urlencode(query)
        try:
            with urllib.request.urlopen(address, timeout=self.timeout) as reply:
                return json.load(reply)
        except urllib.error.HTTPError as error:
            text = error.read(500).decode("utf-8", "replace")
            if error.code == 404 or "not found" in text.lower():
                raise KeyError(f"{address}: {text}") from None
            raise ConnectionError(f"{address} answered {error.code}: {text}") from None
        except urllib.error.URLError as error:
            raise ConnectionError(f"{self.url} does not answer: {error.reason}") from None

    def wait(self, timeout: float = 60) -> Client:
        """Waits until a server that was just started has read its logs, and returns the client: Client(url).wait().runs().

        TensorBoard does not say when it has; there this returns at once.
        """
        end = time.monotonic() + timeout
        try:
            while self.get("api/v1/status")["loading"]["isLoading"]:
                if time.monotonic() > end:
                    raise TimeoutError(f"{self.url} has not read all of its logs after {timeout:g} s")
                time.sleep(0.02)
        except KeyError:
            pass
        return self

    def environment(self) -> dict[str, Any]:
        """What the server says of itself: its version, its log directory."""
        return self.get("data/environment")

    def runs(self) -> list[str]:
        """The names of all runs."""
        return self.get("data/runs")

    def tags(self, plugin: str = "scalars") -> dict[str, list[str]]:
        """The tags that a plugin shows, by run."""
        return {run: list(tags) for run, tags in self.get(f"data/plugin/{plugin}/tags").items()}

    def scalars(self, run: str, tag: str) -> Points:
        """The points of a series of scalars."""
        rows = self.get("data/plugin/scalars/scalars", run=run, tag=tag)
        times, steps, values = zip(*rows) if rows else ((), (), ())
        values = tuple(float(value) for value in values)  # "NaN" and "Infinity" are texts
        try:
            import numpy as np
        except ImportError:
            return Points(list(steps), list(times), list(values))
        return Points(np.array(steps, np.int64), np.array(times, np.float64), np.array(values, np.float64))

    def text(self, run: str, tag: str) -> list[dict[str, Any]]:
        """The points of a series of texts, rendered as HTML."""
        return self.get("data/plugin/text/text", run=run, tag=tag)

    def hparams(self) -> dict[str, Any]:
        """The experiment that the hyperparameters dashboard shows."""
        return self.get("data/plugin/hparams/experiment", request="{}")

    def __repr__(self) -> str:
        return f"Client({self.url!r})"
