"""From SINGA's operators to ONNX's nodes."""

from __future__ import annotations

from typing import Any

import numpy as np

from .operator import Dummy, Operator
from .operators.making import array_of, ints
from .tensor import Tensor

OPSET, IR = 11, 6

# operators that have the same operands and no options
SAME = {
    "Abs": "Abs", "Acos": "Acos", "Acosh": "Acosh", "Add": "Add", "And": "And", "Asin": "Asin",
    "Asinh": "Asinh", "Atan": "Atan", "Atanh": "Atanh", "Ceil": "Ceil", "Cos": "Cos",
    "Cosh": "Cosh", "Div": "Div", "Equal": "Equal", "Erf": "Erf", "Exp": "Exp", "Floor": "Floor",
    "Greater": "Greater", "Identity": "Identity", "Less": "Less", "Log": "Log",
    "Matmul": "MatMul", "Max": "Max", "Mean": "Mean", "Min": "Min", "Mul": "Mul",
    "Negative": "Neg", "Or": "Or", "PRelu": "PRelu", "Pow": "Pow", "ReLU": "Relu",
    "Reciprocal": "Reciprocal", "Rounde": "Round", "Sigmoid": "Sigmoid", "Sign": "Sign",
    "Sin": "Sin", "Sinh": "Sinh", "SoftPlus": "Softplus", "SoftSign": "Softsign",
    "Sqrt": "Sqrt", "Sub": "Sub", "Sum": "Sum", "Tan": "Tan", "Tanh": "Tanh", "Xor": "Xor",
}  # fmt: skip
COMPARISONS = {"Less", "Greater", "Equal", "And", "Or", "Xor", "Not"}


def package() -> Any:
    """The module ``onnx``; ImportError that says how to get it where it is absent."""
    try:
        import onnx
    except ImportError as error:
        raise ImportError("sonnx needs the package onnx: pip install onnx") from error
    return onnx


def _axes(axes: Any) -> dict[str, Any]:
    found = ints(axes) if axes is not None else []
    return {"axes": found} if found else {}


def _reduction(op: Any) -> dict[str, Any]:
    return {**_axes(op.axes), "keepdims": int(op.keepdims)}


def _window(op: Any) -> dict[str, Any]:
    handle = op.handle
    odd = [a + b for a, b in zip(handle.odd_padding, op.odd_padding, strict=True)]
    top, bottom, left, right = odd
    h, w = handle.padding
    return {
        "kernel_shape": list(handle.kernel), "strides": list(handle.stride),
        "pads": [top + h, left + w, bottom + h, right + w],
    }  # fmt: skip


def _pooling(op: Any) -> tuple[str, dict[str, Any]]:
    if op.handle.is_max_pooling:
        return "MaxPool", _window(op)
    return "AveragePool", {**_window(op), "count_include_pad": 0}


# options as attributes: (ONNX's name, attributes from the operator)
ATTRIBUTES: dict[str, tuple[str, Any]] = {
    "Concat": ("Concat", lambda op: {"axis": op.axis}),
    "DepthToSpace": (
        "DepthToSpace", lambda op: {"blocksize": op.blocksize, "mode": _text(op.mode)}
    ),
    "Dropout": ("Dropout", lambda op: {"ratio": op.ratio}),
    "Elu": ("Elu", lambda op: {"alpha": float(op.alpha)}),
    "Flatten": ("Flatten", lambda op: {"axis": op.axis}),
    "Gemm": (
        "Gemm",
        lambda op: {"alpha": float(op.alpha), "beta": float(op.beta), "transA": int(op.transA),
                    "transB": int(op.transB)},
    ),
    "GlobalAveragePool": ("GlobalAveragePool", lambda op: {}),
    "HardSigmoid": (
        "HardSigmoid", lambda op: {"alpha": float(op.alpha), "beta": float(op.gamma)}
    ),
    "LeakyRelu": ("LeakyRelu", lambda op: {"alpha": float(op.a)}),
    "ReduceMean": ("ReduceMean", _reduction),
    "ReduceSum": ("ReduceSum", _reduction),
    "SeLU": ("Selu", lambda op: {"alpha": float(op.alpha), "gamma": float(op.gamma)}),
    "SoftMax": ("Softmax", lambda op: {"axis": op.axis}),
    "SpaceToDepth": ("SpaceToDepth", lambda op: {"blocksize": op.blocksize}),
    "Split": ("Split", lambda op: {"axis": op.axis, "split": ints(op.parts)}),
    "Squeeze": ("Squeeze", lambda op: _axes(op.axis)),
    "Transpose": ("Transpose", lambda op: {"perm": ints(op.perm)}),
    "Unsqueeze": ("Unsqueeze", lambda op: _axes(op.axis)),
    "_Conv2d": ("Conv", lambda op: {**_window(op), "group": op.handle.group}),
}  # fmt: skip


def _text(value: Any) -> str:
    return value.decode() if isinstance(value, bytes) else str(value)


def _long(values: Any) -> np.ndarray:
    return np.array(ints(values), np.int64)


def _slice(op: Any) -> list[Any]:
    count = len(ints(op.starts))
    axes = list(range(count)) if op.axes is None else op.axes
    steps = [1] * count if op.steps is None else op.steps
    return [_long(op.starts), _long(op.ends), _long(axes), _long(steps)]


def _bounds(op: Any) -> list[Any]:
    return [None if v is None else np.float32(v) for v in (op.min, op.max)]


# options as further operands, constants: (ONNX's name, attributes, arrays from the operator)
CONSTANTS: dict[str, tuple[str, Any, Any]] = {
    "Clip": ("Clip", lambda op: {}, _bounds),
    "Expand": ("Expand", lambda op: {}, lambda op: [_long(op.shape)]),
    "Gather": ("Gather", lambda op: {"axis": op.axis},
               lambda op: [array_of(op.indices).astype(np.int64)]),
    "Pad": ("Pad", lambda op: {"mode": _text(op.mode)},
            lambda op: [_long(op.pads), np.float32(op.constant)]),
    "Reshape": ("Reshape", lambda op: {}, lambda op: [_long(op.shape)]),
    "Slice": ("Slice", lambda op: {}, _slice),
    "Tile": ("Tile", lambda op: {}, lambda op: [_long(op.repeats)]),
    "UpSample": ("Resize", lambda op: {"mode": "nearest"},
                 lambda op: [np.zeros(0, np.float32), np.array(ints(op.scales), np.float32)]),
}  # fmt: skip


class _Exporter:
    """Nodes and constants, gathered from the results backwards and in order."""

    def __init__(self, inputs: list[Tensor]) -> None:
        self.onnx = package()
        self.inputs = {id(x): f"input{i}" for i, x in enumerate(inputs)}
        self.nodes: list[Any] = []
        self.constants: dict[str, np.ndarray] = {}
        self.done: dict[Any, list[str]] = {}

    def results(self, op: Operator) -> list[str]:
        """The names of an operator's results, its nodes being there; a loop, as graphs are deep."""
        waiting = [op]
        while waiting:
            top = waiting[-1]
            later = [s for s, ident, _, _ in top.src if self._is_new(s, ident)]
            if top in self.done or not later:
                waiting.pop()
                if top not in self.done:
                    self.done[top] = self._emit(top)
            else:
                waiting += later
        return self.done[op]

    def _is_new(self, source: Operator, ident: int) -> bool:
        return (
            not isinstance(source, Dummy) and ident not in self.inputs and (source not in self.done)
        )

    def _operands(self, op: Any) -> list[str]:
        names = []
        for i, (source, ident, _, _) in enumerate(op.src):
            if ident in self.inputs:
                names.append(self.inputs[ident])
            elif isinstance(source, Dummy):
                values = op._operands[i].detach().cpu().numpy()
                names.append(self.constant(source.name, values))
            else:
                names.append(self.done[source][source.y_id2idx[ident]])
        return names

    def constant(self, name: str, values: Any) -> str:
        """Keep an array under a name of its own; returns the name."""
        array, unique, k = np.asarray(values), name, 1
        while unique in self.constants and not _same(self.constants[unique], array):
            unique, k = f"{name}.{k}", k + 1
        self.constants[unique] = array
        return unique

    def _emit(self, op: Any) -> list[str]:
        kind, operands = type(op).__name__, self._operands(op)
        outputs = [op.output_name(i) for i in range(len(op.y_id2idx))]
        special = getattr(self, f"_emit_{kind.lstrip('_').lower()}", None)
        if special is not None:
            special(op, operands, outputs)
        elif kind in COMPARISONS:
            self._compare(SAME.get(kind, kind), operands, outputs)
        elif kind in SAME:
            self.node(SAME[kind], operands, outputs)
        elif kind in ATTRIBUTES:
            name, attributes = ATTRIBUTES[kind]
            self.node(name, operands, outputs, **attributes(op))
        elif kind in CONSTANTS:
            name, attributes, arrays = CONSTANTS[kind]
            more = ["" if a is None else self.constant(f"{op.name}.{i}", a)
                    for i, a in enumerate(arrays(op))]  # fmt: skip
            self.node(name, operands + more, outputs, **attributes(op))
        else:
            raise NotImplementedError(f"{kind} has no match in ONNX's opset {OPSET}")
        return outputs

    def node(self, kind: str, operands: list[str], outputs: list[str], **attributes: Any) -> None:
        """Add a node."""
        made = self.onnx.helper.make_node(kind, operands, outputs, **attributes)
        self.nodes.append(made)

    def _compare(self, kind: str, operands: list[str], outputs: list[str]) -> None:
        """ONNX's comparisons give booleans, and its logic takes them; SINGA's are numbers."""
        if kind in ("And", "Or", "Xor", "Not"):
            for i, name in enumerate(operands):
                operands[i] = f"{outputs[0]}.{i}"
                self.node("Cast", [name], [operands[i]], to=self.onnx.TensorProto.BOOL)
        self.node(kind, operands, [f"{outputs[0]}.bool"])
        self.node("Cast", [f"{outputs[0]}.bool"], outputs, to=self.onnx.TensorProto.FLOAT)

    def _emit_addbias(self, op: Any, operands: list[str], outputs: list[str]) -> None:
        if op.axis:
            raise NotImplementedError("AddBias by rows has no match in ONNX")
        self.node("Add", operands, outputs)

    def _emit_embedding(self, op: Any, operands: list[str], outputs: list[str]) -> None:
        self.node("Gather", operands[::-1], outputs, axis=0)

    def _emit_pooling2d(self, op: Any, operands: list[str], outputs: list[str]) -> None:
        kind, attributes = _pooling(op)
        self.node(kind, operands, outputs, **attributes)

    def _emit_batchnorm2d(self, op: Any, operands: list[str], outputs: list[str]) -> None:
        running = [self.constant(t.name, t.values.cpu().numpy())
                   for t in (op.running_mean, op.running_var)]  # fmt: skip
        self.node("BatchNormalization", operands + running, outputs, epsilon=1e-5,
                  momentum=1 - op.handle.momentum)  # fmt: skip

    def _emit_cast(self, op: Any, operands: list[str], outputs: list[str]) -> None:
        proto = self.onnx.TensorProto
        self.node("Cast", operands, outputs,
                  to=(proto.FLOAT, proto.FLOAT16, proto.INT32)[op.to])  # fmt: skip

    def _emit_where(self, op: Any, operands: list[str], outputs: list[str]) -> None:
        condition = self.constant(f"{op.name}.condition", array_of(op.condition) != 0)
        self.node("Where", [condition, *operands], outputs)


def _same(a: np.ndarray, b: np.ndarray) -> bool:
    return a.dtype == b.dtype and a.shape == b.shape and bool((a == b).all())


def exported(inputs: list[Tensor], results: list[Tensor], name: str) -> Any:
    """The ONNX model of the graph between ``inputs`` and ``results``."""
    exporter = _Exporter(inputs)
    helper, onnx = exporter.onnx.helper, exporter.onnx
    names = []
    for y in results:
        if isinstance(y.creator, Dummy):
            raise ValueError(f"{y.name} is no result of an operator")
        names.append(exporter.results(y.creator)[y.creator.y_id2idx[id(y)]])

    def described(name: str, tensor: Tensor) -> Any:
        kind = onnx.helper.np_dtype_to_tensor_dtype(tensor.values.cpu().numpy().dtype)
        return helper.make_tensor_value_info(name, kind, tensor.shape)

    graph = helper.make_graph(
        exporter.nodes, name,
        [described(exporter.inputs[id(x)], x) for x in inputs],
        [described(n, y) for n, y in zip(names, results, strict=True)],
        [onnx.numpy_helper.from_array(a, n) for n, a in exporter.constants.items()],
    )  # fmt: skip
    made = helper.make_model(graph, opset_imports=[helper.make_opsetid("", OPSET)])
    made.ir_version = IR
    onnx.checker.check_model(made)
    return made
