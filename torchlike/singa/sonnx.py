"""Models to and from ONNX (opset 11), for which the package ``onnx`` is needed.

``to_onnx([x], [y])`` follows the operators from y back to x; ``prepare(file)`` and ``SONNXModel``
run a file's graph with SINGA's operators, so that it can be trained on.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from . import sonnx_export, sonnx_import
from .device import Device, get_default_device
from .layer_base import fill
from .model import Model
from .tensor import Tensor, from_numpy, to_numpy

__all__ = ["SONNXModel", "SingaRep", "load", "prepare", "run_node", "save", "to_onnx"]


def to_onnx(inputs: list[Tensor], y: list[Tensor], model_name: str = "sonnx") -> Any:
    """The ONNX model of the operators between ``inputs`` and the results ``y``.

    Raises NotImplementedError for an operator that ONNX's opset 11 has no match for.
    """
    return sonnx_export.exported(list(inputs), list(y), model_name)


def load(path: str) -> Any:
    """An ONNX model from a file."""
    return sonnx_export.package().load(path)


def save(onnx_model: Any, path: str) -> None:
    """Write an ONNX model to a file."""
    sonnx_export.package().save(onnx_model, path)


class SingaRep:
    """A graph that is ready to run: ``run([x, ...])`` gives the list of its results."""

    def __init__(self, onnx_model: Any, device: Device | None = None) -> None:
        self.graph = sonnx_import.Graph(onnx_model, device or get_default_device())

    @property
    def states(self) -> dict[str, Tensor]:
        """The weights by name."""
        return self.graph.weights

    def run(
        self, x: list[Any], last_layers: int | None = None, aux_output: Any = (), **kwargs: Any
    ) -> list[Tensor]:
        """The graph's results for Tensors or arrays, then those named in ``aux_output``.

        ``last_layers``: leave out the nodes from there on (a negative number counts from the end),
        and give the result of the last one left.
        """
        tensors = [from_numpy(v) if isinstance(v, np.ndarray) else v for v in x]
        return self.graph.run(tensors, last_layers, tuple(aux_output))


def prepare(model: Any, device: Any = "CPU", **kwargs: Any) -> SingaRep:
    """Make an ONNX model, or a file of one, ready to run."""
    onnx_model = load(model) if isinstance(model, str) else model
    return SingaRep(onnx_model, device if isinstance(device, Device) else None)


def run_node(
    node: Any, inputs: list[Any], device: Any = "CPU", opset_version: int = 11
) -> list[np.ndarray]:
    """The results, as arrays, of one ONNX node."""
    place = device if isinstance(device, Device) else get_default_device()
    tensors = [from_numpy(v) if isinstance(v, np.ndarray) else v for v in inputs]
    return [to_numpy(y) for y in sonnx_import.run_one(node, tensors, place)]


class SONNXModel(Model):
    """An ONNX model as a Model, whose weights are its parameters; define ``train_one_batch``."""

    def __init__(self, onnx_model: Any) -> None:
        super().__init__()
        self.sg_ir = prepare(onnx_model)
        self._initialized = True

    def forward(self, *input: Tensor, aux_output: Any = (), **kwargs: Any) -> list[Tensor]:
        """The list of results."""
        return self.sg_ir.run(list(input), aux_output=aux_output, **kwargs)

    def get_params(self) -> dict[str, Tensor]:
        """The weights by name, and the parameters of layers that are attributes."""
        return super().get_params() | {
            name: t for name, t in self.sg_ir.states.items() if t.stores_grad
        }

    def get_states(self) -> dict[str, Tensor]:
        """All the graph's constants by name, and the states of layers that are attributes."""
        return super().get_states() | self.sg_ir.states

    def set_params(self, parameters: dict[str, Any]) -> None:
        """Copy Tensors or arrays into the weights of those names."""
        fill(self.get_params(), parameters, "parameter")

    def set_states(self, states: dict[str, Any]) -> None:
        """Copy Tensors or arrays into the states of those names."""
        fill(self.get_states(), states, "state")
