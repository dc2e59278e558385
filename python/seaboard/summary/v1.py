"""TF1's FileWriter: takes what session.run(merge_all()) returns.

    from seaboard.summary.v1 import FileWriter    instead of: from tensorflow.compat.v1.summary import FileWriter
"""

from __future__ import annotations

import os
import time
import warnings
from typing import Any

from seaboard import _native
from seaboard._file_writer import bytes_of
from seaboard._styles import TF1

__all__ = ["FileWriter", "FileWriterCache"]


class FileWriter:
    """Writes summaries, graphs and events into an event file of logdir.

    graph: a tf.Graph that is written at once; graph_def: a GraphDef instead of it. max_queue, flush_secs: upper bounds
    for what waits to be written; in practice it is written within 100 ms. filename_suffix: the end of the file's name.
    The file is made with the first event.
    """

    def __init__(
        self,
        logdir: str | os.PathLike[str],
        graph: Any = None,
        max_queue: int = 10,
        flush_secs: float = 120,
        graph_def: Any = None,
        filename_suffix: str | None = None,
        session: Any = None,
    ):
        self._logdir = os.fspath(logdir)
        suffix = filename_suffix or None
        millis = max(1, int(flush_secs * 1000))
        self._native = _native.Writer(self._logdir, TF1, max_queue, millis, suffix, None, False, False)
        self._is_closed = False
        self._run_metadata_tags: set[str] = set()
        if suffix:
            self._native._open()
        if graph is not None or graph_def is not None:
            self.add_graph(graph=graph, graph_def=graph_def)
        if graph is not None:
            from tensorflow.python.framework import meta_graph

            self.add_meta_graph(meta_graph.create_meta_graph_def(graph_def=graph_def or graph.as_graph_def(add_shapes=True)))

    def __enter__(self) -> FileWriter:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def get_logdir(self) -> str:
        """The directory that the event file is in."""
        return self._logdir

    def _is_open(self) -> bool:
        if self._is_closed:
            warnings.warn("Attempting to use a closed FileWriter. The operation will be a noop unless the FileWriter "
                          "is explicitly reopened.", stacklevel=3)
        return not self._is_closed

    def add_summary(self, summary: Any, global_step: Any = None) -> None:
        """Adds a Summary: a message, or its bytes as session.run returns them."""
        if self._is_open():
            self._native._summary(bytes_of(summary), global_step)

    def add_event(self, event: Any) -> None:
        """Adds an Event as it is."""
        if self._is_open():
            self._native._raw_event(bytes_of(event))

    def add_session_log(self, session_log: Any, global_step: Any = None) -> None:
        """Adds a SessionLog: the start, the end, or a checkpoint of a session."""
        from seaboard._proto.messages import Event, SessionLog

        if self._is_open():
            event = Event(wall_time=time.time(), session_log=SessionLog.FromString(bytes_of(session_log)))
            if global_step is not None:
                event.step = int(global_step)
            self._native._raw_event(event.SerializeToString())

    def add_graph(self, graph: Any = None, global_step: Any = None, graph_def: Any = None) -> None:
        """Adds a graph: a tf.Graph, or a GraphDef."""
        if graph is not None and graph_def is not None:
            raise ValueError("Please pass only graph, or graph_def (deprecated), but not both.")
        if graph is None and graph_def is None:
            raise ValueError("The argument graph must be specified.")
        if not self._is_open():
            return
        given = graph if graph is not None else graph_def
        if hasattr(given, "as_graph_def"):
            given = given.as_graph_def(add_shapes=True)
        elif not isinstance(given, bytes) and not hasattr(given, "SerializeToString"):
            raise TypeError(f"The passed graph must be an instance of `Graph` or `GraphDef`, not {type(given)}")
        self._with_step(global_step, bytes_of(given), "graph_def", self._native._graph)

    def add_meta_graph(self, meta_graph_def: Any, global_step: Any = None) -> None:
        """Adds a MetaGraphDef."""
        if not isinstance(meta_graph_def, bytes) and not hasattr(meta_graph_def, "SerializeToString"):
            raise TypeError(f"meta_graph_def must be type MetaGraphDef, saw type: {type(meta_graph_def)}")
        if self._is_open():
            self._with_step(global_step, bytes_of(meta_graph_def), "meta_graph_def", self._native._meta_graph)

    def _with_step(self, step: Any, data: bytes, field: str, put: Any) -> None:
        if step is None:
            put(data)
            return
        from seaboard._proto.messages import Event

        event = Event(wall_time=time.time(), step=int(step), **{field: data})
        self._native._raw_event(event.SerializeToString())

    def add_run_metadata(self, run_metadata: Any, tag: str, global_step: Any = None) -> None:
        """Adds a RunMetadata under a tag, which can be used once."""
        if tag in self._run_metadata_tags:
            raise ValueError(f"The provided tag was already used for this event type: {tag!r}")
        if self._is_open():
            self._run_metadata_tags.add(tag)
            self._native._run_metadata(tag, bytes_of(run_metadata), global_step)

    def flush(self) -> None:
        """Returns when everything added so far is in the file."""
        if self._is_open():
            self._native.flush()

    def close(self) -> None:
        """Writes what is pending and closes the file; what is added later is ignored, with a warning."""
        if not self._is_closed:
            self._native.close()
            self._is_closed = True

    def reopen(self) -> None:
        """Opens a new file in the same directory, if this one was closed."""
        if self._is_closed:
            self._native._open()
            self._is_closed = False

    def stats(self) -> dict[str, int]:
        """Counts: calls written and dropped, bytes in the file, bytes pending, reports of trouble."""
        return self._native.stats()


class FileWriterCache:
    """One FileWriter a directory, for programs whose parts share them."""

    _writers: dict[str, FileWriter] = {}

    @classmethod
    def get(cls, logdir: str | os.PathLike[str]) -> FileWriter:
        """The writer of a directory; made when there is none."""
        path = os.fspath(logdir)
        if path not in cls._writers:
            cls._writers[path] = FileWriter(path)
        return cls._writers[path]

    @classmethod
    def clear(cls) -> None:
        """Closes and forgets all writers."""
        for writer in cls._writers.values():
            writer.close()
        cls._writers = {}
