"""ONNX's nodes run by SINGA's operators."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from . import autograd, singa_wrap, tensor
from .device import Device
from .operators.making import ints
from .sonnx_export import SAME, package
from .tensor import Tensor, from_numpy, to_numpy
from .utils import get_padding_shape

Values = dict[str, Any]  # Tensors by name; None where an optional operand is left out

# what ONNX calls them: the classes without options
_CLASSES = {onnx: singa for singa, onnx in SAME.items()} | {"Not": "Not"}
_FLOATS = (1, 10, 11)  # float, float16, double


def _attributes(node: Any) -> dict[str, Any]:
    helper = package().helper
    return {a.name: helper.get_attribute_value(a) for a in node.attribute}


def _both(pads: list[int]) -> tuple[int, int, int, int]:
    """(top, bottom, left, right) from ONNX's (top, left, bottom, right)."""
    top, left, bottom, right = pads
    return top, bottom, left, right


def _pads(a: dict[str, Any], x: Tensor, kernel: list[int], strides: list[int]) -> Any:
    mode = a.get("auto_pad", b"NOTSET").decode()
    if mode in ("NOTSET", "VALID"):
        return _both(a.get("pads", [0] * 4))
    even, odd = get_padding_shape(mode, x.shape[2:], kernel, strides)
    return tuple(e + o for e, o in zip(even, odd, strict=True))


def _conv(a: dict[str, Any], x: Tensor, w: Tensor, b: Tensor | None = None) -> Tensor:
    if any(n != 1 for n in a.get("dilations", [1])):
        raise NotImplementedError("Conv with dilations is not supported")
    kernel, strides = list(w.shape[2:]), a.get("strides", [1, 1])
    handle = singa_wrap.ConvHandle(
        x.data, tuple(kernel), tuple(strides), _pads(a, x, kernel, strides), x.shape[1],
        w.shape[0], b is not None, a.get("group", 1),
    )  # fmt: skip
    return autograd.conv2d(handle, x, w, b)


def _pool(is_max: bool) -> Callable[..., Tensor]:
    def pool(a: dict[str, Any], x: Tensor) -> Tensor:
        if a.get("ceil_mode") or (a.get("count_include_pad") and not is_max):
            raise NotImplementedError("pooling with ceil_mode or count_include_pad")
        kernel, strides = a["kernel_shape"], a.get("strides", [1, 1])
        pads = _pads(a, x, kernel, strides)
        handle = singa_wrap.PoolingHandle(x.data, tuple(kernel), tuple(strides), pads, is_max)
        return autograd.pooling_2d(handle, x)

    return pool


def _batchnorm(a: dict[str, Any], *xs: Tensor) -> Tensor:
    handle = singa_wrap.BatchNormHandle(1 - a.get("momentum", 0.9), xs[0].data)
    return autograd.batchnorm_2d(handle, *xs)


def _floats(x: Tensor | None) -> float | None:
    return None if x is None else float(to_numpy(x).reshape(-1)[0])


def _gather(a: dict[str, Any], x: Tensor, indices: Tensor) -> Tensor:
    if a.get("axis", 0) == 0 and x.stores_grad and x.ndim() == 2:
        return autograd.embedding(indices, x)
    return autograd.gather(x, a.get("axis", 0), to_numpy(indices).tolist())


def _cast(a: dict[str, Any], x: Tensor) -> Tensor:
    to = tensor.float16 if a["to"] == 10 else tensor.float32 if a["to"] in _FLOATS else tensor.int32
    if a["to"] == package().TensorProto.BOOL:
        return from_numpy((to_numpy(x) != 0).astype(np.float32))
    return autograd.cast(x, to)


def _slice(a: Any, x: Tensor, starts: Any, ends: Any, axes: Any = None, steps: Any = None) -> Any:
    listed = [None if v is None else ints(v) for v in (starts, ends, axes, steps)]
    return autograd.slice(x, *listed)


def _resize(a: dict[str, Any], x: Tensor, roi: Any, scales: Any, sizes: Any = None) -> Tensor:
    factors = (
        [n / m for n, m in zip(ints(sizes), x.shape, strict=True)]
        if sizes is not None
        else (to_numpy(scales).tolist())
    )
    if a.get("mode", b"nearest") != b"nearest" or any(f != int(f) for f in factors):
        raise NotImplementedError("Resize is there for mode nearest and whole scales")
    return autograd.upsample(x, "nearest", [int(f) for f in factors])


def _pad(a: dict[str, Any], x: Tensor, pads: Tensor, value: Tensor | None = None) -> Tensor:
    return autograd.pad(x, a.get("mode", b"constant").decode(), ints(pads), _floats(value) or 0.0)


def _split(a: dict[str, Any], x: Tensor) -> Any:
    return autograd.split(x, a.get("axis", 0), a["split"])


def _constant(a: dict[str, Any]) -> Tensor:
    return _tensor(package().numpy_helper.to_array(a["value"]))


_NODES: dict[str, Callable[..., Any]] = {
    "AveragePool": _pool(False),
    "BatchNormalization": _batchnorm,
    "Cast": _cast,
    "Clip": lambda a, x, low=None, high=None: autograd.clip(x, _floats(low), _floats(high)),
    "Concat": lambda a, *xs: autograd.cat(xs, a["axis"]),
    "Constant": _constant,
    "Conv": _conv,
    "DepthToSpace": lambda a, x: autograd.depth_to_space(
        x, a["blocksize"], a.get("mode", b"DCR").decode()
    ),
    "Dropout": lambda a, x, *_: autograd.dropout(x, ratio=a.get("ratio", 0.5)),
    "Elu": lambda a, x: autograd.elu(x, a.get("alpha", 1.0)),
    "Expand": lambda a, x, shape: autograd.expand(x, ints(shape)),
    "Flatten": lambda a, x: autograd.flatten(x, a.get("axis", 1)),
    "Gather": _gather,
    "Gemm": lambda a, A, B, C=None: autograd.gemm(
        A, B, C, a.get("alpha", 1.0), a.get("beta", 1.0), a.get("transA", 0), a.get("transB", 0)
    ),
    "GlobalAveragePool": lambda a, x: autograd.globalaveragepool(x),
    "HardSigmoid": lambda a, x: autograd.hardsigmoid(x, a.get("alpha", 0.2), a.get("beta", 0.5)),
    "LeakyRelu": lambda a, x: autograd.leakyrelu(x, a.get("alpha", 0.01)),
    "MaxPool": _pool(True),
    "Pad": _pad,
    "ReduceMean": lambda a, x: autograd.reduce_mean(x, a.get("axes"), a.get("keepdims", 1)),
    "ReduceSum": lambda a, x: autograd.reduce_sum(x, a.get("axes"), a.get("keepdims", 1)),
    "Reshape": lambda a, x, shape: autograd.reshape(x, ints(shape)),
    "Resize": _resize,
    "Selu": lambda a, x: autograd.selu(
        x, a.get("alpha", 1.6732632423543772), a.get("gamma", 1.0507009873554805)
    ),
    "Slice": _slice,
    "Softmax": lambda a, x: autograd.softmax(x, a.get("axis", 1)),
    "SpaceToDepth": lambda a, x: autograd.space_to_depth(x, a["blocksize"]),
    "Split": _split,
    "Squeeze": lambda a, x: autograd.squeeze(x, a.get("axes", [])),
    "Tile": lambda a, x, repeats: autograd.tile(x, ints(repeats)),
    "Transpose": lambda a, x: autograd.transpose(x, a.get("perm") or range(x.ndim())[::-1]),
    "Unsqueeze": lambda a, x: autograd.unsqueeze(x, a["axes"]),
    "Where": lambda a, c, x, y: autograd.where(x, y, c),
}


def _tensor(array: np.ndarray, device: Device | None = None) -> Tensor:
    """A tensor of any array: booleans are float32, other integers int32."""
    kind = {"b": np.float32, "i": np.int32, "u": np.int32}.get(array.dtype.kind)
    return from_numpy(array if kind is None else array.astype(kind), device)


def _run(node: Any, operands: list[Any]) -> list[Tensor]:
    while operands and operands[-1] is None:
        operands = operands[:-1]
    if node.op_type in _CLASSES:
        return list(autograd.NAMES[_CLASSES[node.op_type]]()(*operands))
    if node.op_type not in _NODES:
        raise NotImplementedError(f"ONNX's {node.op_type} is not supported")
    found = _NODES[node.op_type](_attributes(node), *operands)
    return list(found) if isinstance(found, tuple) else [found]


def run_one(node: Any, operands: list[Tensor], device: Device) -> list[Tensor]:
    """The results of one node."""
    for x in operands:
        x.to_device(device)
    return _run(node, operands)


class Graph:
    """An ONNX model's graph: its weights, and its nodes in order."""

    def __init__(self, onnx_model: Any, device: Device) -> None:
        graph, to_array = onnx_model.graph, package().numpy_helper.to_array
        self.nodes, self.device = list(graph.node), device
        constants = {c.name: to_array(c) for c in graph.initializer}
        self.inputs = [v.name for v in graph.input if v.name not in constants]
        self.outputs = [v.name for v in graph.output]
        statistics = {name for n in self.nodes if n.op_type == "BatchNormalization"
                      for name in n.input[3:]}  # fmt: skip
        self.weights = {name: self._weight(name, a, statistics) for name, a in constants.items()}

    def _weight(self, name: str, array: np.ndarray, statistics: set[str]) -> Tensor:
        weight = _tensor(array, self.device)
        trained = array.dtype.kind == "f" and array.ndim > 0 and name not in statistics
        weight.name, weight.requires_grad, weight.stores_grad = name, trained, trained
        return weight

    def run(self, xs: list[Tensor], last: int | None, further: tuple[str, ...]) -> list[Tensor]:
        """The results, or that of the last node before ``last``; then those named ``further``."""
        if len(xs) != len(self.inputs):
            raise ValueError(f"the graph takes {', '.join(self.inputs)}; {len(xs)} were given")
        values: Values = {"": None, **self.weights, **dict(zip(self.inputs, xs, strict=True))}
        nodes = self.nodes if last is None else self.nodes[:last]
        for node in nodes:
            found = _run(node, [values[name] for name in node.input])
            values.update(zip(node.output, found, strict=False))
        wanted = self.outputs if last is None else list(nodes[-1].output)
        return [values[name] for name in (*wanted, *further)]
