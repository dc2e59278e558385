"""Hyperparameters as torch's and tensorboardX's add_hparams write them, and the summaries that carry them."""

from __future__ import annotations

from typing import Any, Mapping, Sequence

from seaboard._proto import messages as pb

EXPERIMENT_TAG = "_hparams_/experiment"
START_TAG = "_hparams_/session_start_info"
END_TAG = "_hparams_/session_end_info"
STRING, BOOL, FLOAT64 = 1, 2, 3
SUCCESS = 1


def summary_of(tag: str, with_tensor: bool = False, **content: Any) -> bytes:
    """A Summary whose metadata is HParamsPluginData; TensorFlow's writer adds an empty tensor."""
    data = pb.HParamsPluginData(**content).SerializeToString()
    metadata = pb.SummaryMetadata(plugin_data=pb.SummaryMetadata.PluginData(plugin_name="hparams", content=data))
    value = pb.Summary.Value(tag=tag, metadata=metadata)
    if with_tensor:
        value.tensor.dtype = pb.DT_FLOAT
        value.tensor.tensor_shape.dim.add(size=0)
    return pb.Summary(value=[value]).SerializeToString()


def session_summaries(
    hparams: Mapping[str, Any],
    metrics: Mapping[str, Any],
    domains: Mapping[str, Sequence[Any]] | None,
    is_tbx: bool,
) -> list[bytes]:
    """The experiment, the start and the end of a trial that is over."""
    domains = domains or {}
    if not isinstance(domains, dict):
        raise TypeError("parameter: hparam_domain_discrete should be a dictionary, nothing logged.")
    for name, values in domains.items():
        fits = name in hparams and isinstance(values, list)
        if not fits or not all(isinstance(value, type(hparams[name])) for value in values):
            raise TypeError(
                f"parameter: hparam_domain_discrete[{name}] should be a list of same type as hparam_dict[{name}]."
            )
    start = pb.SessionStartInfo()
    infos = []
    for name, value in hparams.items():
        if value is None:
            continue
        kind, stored = _stored_tbx(value) if is_tbx else _stored_torch(value)
        if stored:
            start.hparams[name] = pb.Value(**stored)
        info = pb.HParamInfo(name=name, type=kind)
        if name in domains:
            field = next(iter(stored))
            info.domain_discrete.values.extend(pb.Value(**{field: choice}) for choice in domains[name])
        infos.append(info)
    named = [pb.MetricInfo(name=pb.MetricName(tag=tag)) for tag in metrics]
    experiment = pb.Experiment(hparam_infos=infos, metric_infos=named)
    return [
        summary_of(EXPERIMENT_TAG, experiment=experiment),
        summary_of(START_TAG, session_start_info=start),
        summary_of(END_TAG, session_end_info=pb.SessionEndInfo(status=SUCCESS)),
    ]


def _stored_torch(value: Any) -> tuple[int, dict[str, Any]]:
    if isinstance(value, (int, float)):  # bool too: torch stores it as a number
        return FLOAT64, {"number_value": float(value)}
    if isinstance(value, str):
        return STRING, {"string_value": value}
    if hasattr(value, "item") and hasattr(value, "reshape"):  # a tensor: its first element
        return FLOAT64, {"number_value": float(value.reshape(-1)[0])}
    raise ValueError(f"value should be one of int, float, str, bool, or torch.Tensor, not {type(value).__name__}")


def _stored_tbx(value: Any) -> tuple[int, dict[str, Any]]:
    if isinstance(value, bool):
        return BOOL, {"bool_value": value}
    if isinstance(value, (int, float)):
        return FLOAT64, {"number_value": float(value)}
    if isinstance(value, str):
        return STRING, {"string_value": value}
    if callable(value):
        return STRING, {"string_value": getattr(value, "__name__", repr(value))}
    return 0, {}
