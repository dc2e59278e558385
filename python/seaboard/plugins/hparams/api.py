"""tensorboard.plugins.hparams.api: which hyperparameters an experiment has, and the values of each trial.

    from seaboard.plugins.hparams import api as hp

    LR = hp.HParam("lr", hp.RealInterval(1e-4, 1e-1))
    with summary.create_file_writer("logs").as_default():
        hp.hparams_config(hparams=[LR], metrics=[hp.Metric("accuracy")])
    with summary.create_file_writer("logs/trial-1").as_default():
        hp.hparams({LR: 0.01})
"""

from __future__ import annotations

import abc
import hashlib
import json
import random
import time
from typing import Any, Iterable, Mapping, Sequence

from seaboard import summary
from seaboard._hparams import BOOL, END_TAG, EXPERIMENT_TAG, FLOAT64, START_TAG, STRING, SUCCESS, summary_of
from seaboard._proto import messages as pb

__all__ = [
    "Discrete",
    "Domain",
    "HParam",
    "IntInterval",
    "KerasCallback",
    "Metric",
    "RealInterval",
    "hparams",
    "hparams_config",
    "hparams_config_pb",
    "hparams_pb",
]


class Domain(abc.ABC):
    """The values that a hyperparameter can have."""

    dtype: type

    @abc.abstractmethod
    def sample_uniform(self, rng: Any = random) -> Any:
        """A value, each with the same chance."""

    @abc.abstractmethod
    def update_hparam_info(self, hparam_info: Any) -> None:
        """Writes the domain into an HParamInfo."""


class _Interval(Domain):
    def __init__(self, min_value: Any = None, max_value: Any = None):
        for name, value in (("min_value", min_value), ("max_value", max_value)):
            if not isinstance(value, self.dtype) or isinstance(value, bool):
                raise TypeError(f"{name} must be {self.dtype.__name__}: {value!r}")
        if min_value > max_value:
            raise ValueError(f"{min_value!r} > {max_value!r}")
        self.min_value, self.max_value = min_value, max_value

    def __str__(self) -> str:
        return f"[{self.min_value}, {self.max_value}]"

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.min_value!r}, {self.max_value!r})"

    def update_hparam_info(self, hparam_info: Any) -> None:
        """Writes the domain into an HParamInfo."""
        hparam_info.type = FLOAT64  # whole numbers too: there is no type of their own
        hparam_info.domain_interval.CopyFrom(pb.Interval(min_value=self.min_value, max_value=self.max_value))


class IntInterval(_Interval):
    """All whole numbers from min_value to max_value, both included."""

    dtype = int

    def sample_uniform(self, rng: Any = random) -> int:
        """A number of the interval."""
        return rng.randint(self.min_value, self.max_value)


class RealInterval(_Interval):
    """All numbers from min_value to max_value."""

    dtype = float

    def sample_uniform(self, rng: Any = random) -> float:
        """A number of the interval."""
        return rng.uniform(self.min_value, self.max_value)


class Discrete(Domain):
    """A list of values of one type: int, float, bool or str."""

    def __init__(self, values: Iterable[Any], dtype: type | None = None):
        self._values = list(values)
        if dtype is None:
            if not self._values:
                raise ValueError("Empty domain with no dtype specified")
            dtype = type(self._values[0])
        if dtype not in (int, float, bool, str):
            raise ValueError(f"Unknown dtype: {dtype!r}")
        for value in self._values:
            if not isinstance(value, dtype):
                raise TypeError(f"dtype mismatch: not isinstance({value!r}, {dtype.__name__})")
        self.dtype = dtype
        self._values.sort()

    @property
    def values(self) -> list[Any]:
        """The values, in order."""
        return list(self._values)

    def __str__(self) -> str:
        return "{" + ", ".join(map(repr, self._values)) + "}"

    def __repr__(self) -> str:
        return f"Discrete({self._values!r})"

    def sample_uniform(self, rng: Any = random) -> Any:
        """One of the values."""
        return rng.choice(self._values)

    def update_hparam_info(self, hparam_info: Any) -> None:
        """Writes the domain into an HParamInfo."""
        field, hparam_info.type = {
            int: ("number_value", FLOAT64),
            float: ("number_value", FLOAT64),
            bool: ("bool_value", BOOL),
            str: ("string_value", STRING),
        }[self.dtype]
        domain = pb.ListValue(values=[pb.Value(**{field: value}) for value in self._values])
        hparam_info.domain_discrete.CopyFrom(domain)


class HParam:
    """A hyperparameter of an experiment: its name, the values it can have, and how it is shown."""

    def __init__(
        self, name: str, domain: Domain | None = None, display_name: str | None = None, description: str | None = None
    ):
        if not isinstance(domain, (Domain, type(None))):
            raise ValueError(f"not a domain: {domain!r}")
        self.name, self.domain = name, domain
        self.display_name, self.description = display_name, description

    def __str__(self) -> str:
        return f"<HParam {self.name!r}: {self.domain}>"

    def __repr__(self) -> str:
        fields = [("name", self.name), ("domain", self.domain), ("display_name", self.display_name)]
        return "HParam(" + ", ".join(f"{name}={value!r}" for name, value in fields) + ")"

    def as_proto(self) -> Any:
        """The HParamInfo."""
        info = pb.HParamInfo(name=self.name, description=self.description, display_name=self.display_name)
        if self.domain is not None:
            self.domain.update_hparam_info(info)
        return info


class Metric:
    """A metric of an experiment: the scalar series whose last value belongs to a trial.

    tag: the series. group: the directory below the trial's that it is in. dataset_type: TRAINING or VALIDATION.
    """

    TRAINING, VALIDATION = 1, 2

    def __init__(
        self,
        tag: str,
        group: str | None = None,
        display_name: str | None = None,
        description: str | None = None,
        dataset_type: int | None = None,
    ):
        if dataset_type not in (None, Metric.TRAINING, Metric.VALIDATION):
            raise ValueError(f"invalid dataset type: {dataset_type!r}")
        self._tag, self._group = tag, group
        self._display_name, self._description, self._dataset_type = display_name, description, dataset_type

    def as_proto(self) -> Any:
        """The MetricInfo."""
        return pb.MetricInfo(
            name=pb.MetricName(group=self._group, tag=self._tag),
            display_name=self._display_name,
            description=self._description,
            dataset_type=self._dataset_type,
        )


def _plain(hparams: Mapping[Any, Any]) -> dict[str, Any]:
    """Names and Python values; numbers of numpy become Python's."""
    found: dict[str, Any] = {}
    for key, value in hparams.items():
        name = key.name if isinstance(key, HParam) else key
        if name in found:
            raise ValueError(f"multiple values specified for hparam {name!r}")
        is_numpy = type(value).__module__ == "numpy" and getattr(value, "ndim", None) == 0
        found[name] = value.item() if is_numpy else value
    return found


def _start_summary(hparams: Mapping[Any, Any], trial_id: str | None, start_time_secs: float | None) -> bytes:
    values = _plain(hparams)
    if trial_id is not None and not isinstance(trial_id, str):
        raise TypeError(f"`trial_id` should be a `str`, but got: {trial_id!r}")
    if trial_id is None:
        text = json.dumps(values, sort_keys=True, separators=(",", ":"))
        trial_id = hashlib.sha256(text.encode()).hexdigest()
    start = pb.SessionStartInfo(
        group_name=trial_id, start_time_secs=time.time() if start_time_secs is None else start_time_secs
    )
    for name in sorted(values):
        value = values[name]
        if isinstance(value, bool):
            start.hparams[name] = pb.Value(bool_value=value)
        elif isinstance(value, (int, float)):
            start.hparams[name] = pb.Value(number_value=value)
        elif isinstance(value, str):
            start.hparams[name] = pb.Value(string_value=value)
        else:
            raise TypeError(f"hparams[{name!r}] = {value!r}, of unsupported type {type(value)!r}")
    return summary_of(START_TAG, True, session_start_info=start)


def hparams_pb(
    hparams: Mapping[Any, Any], trial_id: str | None = None, start_time_secs: float | None = None
) -> Any:
    """The Summary that says which values a trial has."""
    return pb.Summary.FromString(_start_summary(hparams, trial_id, start_time_secs))


def hparams(hparams: Mapping[Any, Any], trial_id: str | None = None, start_time_secs: float | None = None) -> bool:
    """Writes the values of a trial with the default writer. Keys are HParams or names; trial_id None: made from them."""
    return summary.experimental.write_raw_pb(_start_summary(hparams, trial_id, start_time_secs), step=0)


def hparams_config_pb(
    hparams: Sequence[HParam], metrics: Sequence[Metric], time_created_secs: float | None = None
) -> Any:
    """The Summary that says which hyperparameters and metrics an experiment has."""
    experiment = pb.Experiment(
        hparam_infos=[hparam.as_proto() for hparam in hparams],
        metric_infos=[metric.as_proto() for metric in metrics],
        time_created_secs=time_created_secs,
    )
    return pb.Summary.FromString(summary_of(EXPERIMENT_TAG, True, experiment=experiment))


def hparams_config(
    hparams: Sequence[HParam], metrics: Sequence[Metric], time_created_secs: float | None = None
) -> bool:
    """Writes which hyperparameters and metrics an experiment has with the default writer."""
    made = hparams_config_pb(hparams, metrics, time_created_secs)
    return summary.experimental.write_raw_pb(made.SerializeToString(), step=0)


def __getattr__(name: str) -> Any:
    if name != "KerasCallback":
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    import keras

    class KerasCallback(keras.callbacks.Callback):
        """Writes the hyperparameters of a training when it begins, and that it succeeded when it ends.

        writer: a writer of seaboard.summary, or a log directory. hparams, trial_id: as for hparams().
        """

        def __init__(self, writer: Any, hparams: Mapping[Any, Any], trial_id: str | None = None):
            super().__init__()
            if writer is None:
                raise TypeError("writer must be a `SummaryWriter` or `str`, not None")
            self._hparams, self._trial_id = dict(hparams), trial_id
            _start_summary(self._hparams, trial_id, None)  # refuses what can't be written
            self._writer = summary.create_file_writer(writer) if not hasattr(writer, "as_default") else writer

        def _get_writer(self) -> Any:
            if self._writer is None:
                raise RuntimeError("hparams Keras callback cannot be reused across training sessions")
            return self._writer

        def on_train_begin(self, logs: Any = None) -> None:
            """Keras calls this."""
            with self._get_writer().as_default():
                globals()["hparams"](self._hparams, trial_id=self._trial_id)

        def on_train_end(self, logs: Any = None) -> None:
            """Keras calls this."""
            end = pb.SessionEndInfo(status=SUCCESS, end_time_secs=time.time())
            with self._get_writer().as_default():
                data = summary_of(END_TAG, True, session_end_info=end)
                summary.experimental.write_raw_pb(data, step=0)
            self._writer = None

    globals()["KerasCallback"] = KerasCallback
    return KerasCallback
