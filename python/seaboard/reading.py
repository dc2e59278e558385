"""Reading logs: seaboard.read(logdir) gives all points of all runs as columns.

    log = seaboard.read("runs")
    loss = log["train", "loss"]               or log["train"]["loss"]
    loss.steps, loss.values                   numpy arrays, without a copy
    log.to_pandas()                           run, tag, step, wall_time, value

The native reader reads files side by side and keeps every point. Damaged records are left out and listed in log.damage.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any, Iterable, Iterator, NamedTuple

from seaboard import _native

if TYPE_CHECKING:
    import pandas
    import polars
    import pyarrow

KINDS = ("metadata", "scalars", "histograms", "images", "audio", "text", "tensors")
_SCALARS = KINDS.index("scalars")


def _column(column: Any, dtype: str) -> Any:
    """A column as a numpy array; as a memoryview where numpy is not installed."""
    try:
        import numpy
    except ImportError:
        return memoryview(column)
    return numpy.frombuffer(column, dtype=dtype)


class Damage(NamedTuple):
    """A place in a file that could not be read."""

    run: str
    path: str
    offset: int
    bytes: int
    kind: str


class Series:
    """The points of one tag of one run, in the order in which they were written.

    run, tag: where it is from. kind: one of KINDS. plugin, content: what the writer said about it. display_name,
    description: what people see. steps, wall_times: one number a point. values: numbers (scalars), texts, lists of
    encoded pictures or clips, (left, right, count) rows of histograms, arrays (tensors). skipped: points that do not
    fit the kind of the first one, or that are malformed.
    """

    def __init__(self, table: Any, index: int, row: tuple[Any, ...]):
        self._table, self._index = table, index
        self.run, self.tag, kind, self.plugin, self.content, self.display_name, self.description = row[:7]
        self.kind: str = KINDS[kind]
        self._steps, self._wall_times, self._numbers, self.skipped = row[7:]
        self._values: Any = None

    @property
    def steps(self) -> Any:
        """The step of each point (int64)."""
        return _column(self._steps, "i8")

    @property
    def wall_times(self) -> Any:
        """The time of each point, in seconds since 1970 (float64)."""
        return _column(self._wall_times, "f8")

    @property
    def values(self) -> Any:
        """The value of each point."""
        if self._numbers is not None:
            return _column(self._numbers, "f8")
        if self._values is None:
            from seaboard._values import decode

            self._values = decode(self.kind, self._table.items(self._index))
        return self._values

    def __len__(self) -> int:
        return len(self._steps)

    def __repr__(self) -> str:
        return f"<Series {self.run!r} {self.tag!r}: {len(self)} {self.kind}>"

    def to_pandas(self) -> pandas.Series:
        """The values as a pandas Series, by step."""
        import pandas

        index = pandas.Index(self.steps, name="step")
        return pandas.Series(self.values, index=index, name=self.tag)


class Run(dict[str, Series]):
    """The series of one run, by tag."""

    def __init__(self, name: str):
        super().__init__()
        self.name = name

    def __missing__(self, tag: str) -> Series:
        near = _nearest(tag, self)
        raise KeyError(f"the run {self.name!r} has no tag {tag!r}{near}")


def _nearest(name: str, names: Iterable[str]) -> str:
    import difflib

    close = difflib.get_close_matches(name, list(names), 1)
    return f"; did you mean {close[0]!r}?" if close else ""


class Log:
    """What was read of a log directory: log[run][tag] and log[run, tag] are Series; iterating gives all of them."""

    def __init__(self, path: str, table: Any):
        self.path = path
        self._runs: dict[str, Run] = {}
        index = 0
        while (row := table.at(index)) is not None:
            series = Series(table, index, row)
            self._runs.setdefault(series.run, Run(series.run))[series.tag] = series
            index += 1
        self.damage = [Damage(*gap) for gap in table.damage()]

    @property
    def runs(self) -> list[str]:
        """The names of the runs; "." is the log directory itself."""
        return list(self._runs)

    def tags(self, run: str | None = None) -> list[str]:
        """The tags of a run, or of all runs."""
        if run is not None:
            return list(self[run])
        return list(dict.fromkeys(tag for found in self._runs.values() for tag in found))

    def __getitem__(self, key: str | tuple[str, str]) -> Any:
        run, tag = key if isinstance(key, tuple) else (key, None)
        if run not in self._runs:
            raise KeyError(f"{self.path} has no run {run!r}{_nearest(run, self._runs)}")
        return self._runs[run] if tag is None else self._runs[run][tag]

    def __iter__(self) -> Iterator[Series]:
        return (series for run in self._runs.values() for series in run.values())

    def __len__(self) -> int:
        return sum(len(run) for run in self._runs.values())

    def __contains__(self, run: object) -> bool:
        return run in self._runs

    def __repr__(self) -> str:
        points = sum(len(series) for series in self)
        return f"<Log {self.path!r}: {len(self._runs)} runs, {len(self)} series, {points} points>"

    def to_numpy(self) -> dict[str, Any]:
        """All scalars as five columns of equal length: run, tag, step, wall_time, value."""
        import numpy

        scalars = [series for series in self if series.kind == "scalars"]
        counts = [len(series) for series in scalars]

        def joined(parts: list[Any], dtype: str) -> Any:
            return numpy.concatenate(parts) if parts else numpy.empty(0, dtype)

        return {
            "run": numpy.repeat(numpy.array([series.run for series in scalars], object), counts),
            "tag": numpy.repeat(numpy.array([series.tag for series in scalars], object), counts),
            "step": joined([series.steps for series in scalars], "i8"),
            "wall_time": joined([series.wall_times for series in scalars], "f8"),
            "value": joined([series.values for series in scalars], "f8"),
        }

    def to_pandas(self) -> pandas.DataFrame:
        """All scalars as a DataFrame with the columns run, tag, step, wall_time, value."""
        import numpy
        import pandas

        columns = self.to_numpy()
        for name in ("run", "tag"):
            codes, names = pandas.factorize(columns[name])
            columns[name] = pandas.Categorical.from_codes(codes, numpy.asarray(names, object))
        return pandas.DataFrame(columns)

    def to_arrow(self) -> pyarrow.Table:
        """All scalars as an Arrow table; runs and tags are dictionary-encoded."""
        import pyarrow

        columns = self.to_numpy()
        arrays = {
            name: pyarrow.array(column).dictionary_encode() if name in ("run", "tag") else pyarrow.array(column)
            for name, column in columns.items()
        }
        return pyarrow.table(arrays)

    def to_polars(self) -> polars.DataFrame:
        """All scalars as a polars DataFrame."""
        import polars

        columns = self.to_numpy()
        frame = {name: column.tolist() if column.dtype == object else column for name, column in columns.items()}
        types = {"run": polars.String, "tag": polars.String}
        return polars.DataFrame(frame, schema_overrides=types)


def read(
    logdir: str | os.PathLike[str],
    run: str | None = None,
    tags: str | Iterable[str] | None = None,
    kinds: str | Iterable[str] = "scalars",
) -> Log:
    """Reads what is written so far.

    logdir: a directory, or one event file. run, tags: only this run, only these tags. kinds: which kinds of KINDS, or
    "all"; scalars only unless told, since pictures and tensors take memory.
    """
    wanted = KINDS if kinds == "all" else (kinds,) if isinstance(kinds, str) else tuple(kinds)
    unknown = [kind for kind in wanted if kind not in KINDS]
    if unknown:
        raise ValueError(f"unknown kind {unknown[0]!r}: there are {', '.join(KINDS)}, and 'all'")
    mask = sum(1 << KINDS.index(kind) for kind in set(wanted))
    names = None if tags is None else (tags,) if isinstance(tags, str) else tuple(tags)
    path = os.fspath(logdir)
    return Log(os.fsdecode(path), _native.read_table(path, run, names, mask))


def summary_iterator(path: str | os.PathLike[str]) -> Iterator[Any]:
    """The Events of one event file, in order: objects with the fields and methods of the protobuf messages.

    Damaged records are left out; what is written later is not waited for.
    """
    from seaboard._proto.messages import Event

    for _, _, record in _native.Events(path):
        yield Event.FromString(record)
