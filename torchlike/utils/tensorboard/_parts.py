"""Messages of the parts of TensorBoard for meshes and hyperparameters."""

from __future__ import annotations

import json
from typing import Any

from google.protobuf.struct_pb2 import ListValue
from tensorboard.compat.proto.summary_pb2 import Summary
from tensorboard.compat.proto.tensor_pb2 import TensorProto
from tensorboard.plugins.hparams import api_pb2, metadata, plugin_data_pb2
from tensorboard.plugins.mesh.plugin_data_pb2 import MeshPluginData

from functional.tensor import Tensor

from ._arrays import make_np
from .summary import plugin, shape_of

_SETTING = "value should be one of int, float, str, bool, or torch.Tensor"


def mesh(tag: str, vertices: Any, colors: Any, faces: Any, config_dict: Any) -> Summary:
    """Points (B, N, 3), and maybe their colours and the triangles between them."""
    config = json.dumps(config_dict or {}, sort_keys=True)
    kinds = {"VERTEX": (1, vertices), "FACE": (2, faces), "COLOR": (3, colors)}
    given = {name: pair for name, pair in kinds.items() if pair[1] is not None}
    components = sum(1 << kind for kind, _ in given.values())
    values = []
    for name, (kind, tensor) in given.items():
        array = make_np(tensor)
        content = MeshPluginData(
            version=0, name=tag, content_type=kind, json_config=config, shape=array.shape,
            components=components,
        )  # fmt: skip
        proto = TensorProto(
            dtype="DT_FLOAT", float_val=array.reshape(-1).tolist(),
            tensor_shape=shape_of(*array.shape),
        )  # fmt: skip
        told = plugin("mesh", content.SerializeToString())
        values.append(Summary.Value(tag=f"{tag}_{name}", tensor=proto, metadata=told))
    return Summary(value=values)


# --- hyperparameters ------------------------------------------------------------------------------


def _check(hparam_dict: Any, metric_dict: Any, domains: Any) -> None:
    if not isinstance(hparam_dict, dict) or not isinstance(metric_dict, dict):
        raise TypeError("hparam_dict and metric_dict should be dictionary.")
    if not isinstance(domains, dict):
        raise TypeError("parameter: hparam_domain_discrete should be a dictionary, nothing logged.")
    for name, values in domains.items():
        kind = type(hparam_dict.get(name))
        if name not in hparam_dict or not (
            isinstance(values, list) and all(isinstance(v, kind) for v in values)
        ):
            raise TypeError(
                f"parameter: hparam_domain_discrete[{name}] should be a list of same type as "
                f"hparam_dict[{name}]."
            )


def _domain(values: Any, is_text: bool) -> Any:
    if values is None:
        return None
    found = ListValue()
    for value in values:
        if is_text:
            found.values.add(string_value=value)
        else:
            found.values.add(number_value=value)
    return found


def hparams(
    hparam_dict: dict[str, Any], metric_dict: dict[str, Any], hparam_domain_discrete: Any = None
) -> tuple[Summary, Summary, Summary]:
    """Three messages: what there is, one run's settings, and its end."""
    domains = {} if hparam_domain_discrete is None else hparam_domain_discrete
    _check(hparam_dict, metric_dict, domains)
    start = plugin_data_pb2.SessionStartInfo()
    infos = []
    for name, value in hparam_dict.items():
        if value is None:
            continue
        is_text = isinstance(value, str)
        if is_text:
            start.hparams[name].string_value = value
        elif isinstance(value, Tensor):
            start.hparams[name].number_value = make_np(value).reshape(-1)[0]
        elif isinstance(value, (int, float)):
            start.hparams[name].number_value = value
        else:
            raise ValueError(_SETTING)
        infos.append(
            api_pb2.HParamInfo(
                name=name,
                type=api_pb2.DATA_TYPE_STRING if is_text else api_pb2.DATA_TYPE_FLOAT64,
                domain_discrete=_domain(domains.get(name), is_text),
            )
        )
    metrics = [api_pb2.MetricInfo(name=api_pb2.MetricName(tag=tag)) for tag in metric_dict]
    experiment = api_pb2.Experiment(hparam_infos=infos, metric_infos=metrics)
    end = plugin_data_pb2.SessionEndInfo(status=api_pb2.STATUS_SUCCESS)
    return (
        _hparams(metadata.EXPERIMENT_TAG, experiment=experiment),
        _hparams(metadata.SESSION_START_INFO_TAG, session_start_info=start),
        _hparams(metadata.SESSION_END_INFO_TAG, session_end_info=end),
    )


def _hparams(tag: str, **part: Any) -> Summary:
    content = plugin_data_pb2.HParamsPluginData(version=0, **part).SerializeToString()
    told = plugin(metadata.PLUGIN_NAME, content)
    return Summary(value=[Summary.Value(tag=tag, metadata=told)])
