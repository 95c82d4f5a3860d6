"""Layers: named parts of a network, whose parameters are made at the first call."""

from __future__ import annotations

import functools
from typing import Any, ClassVar

import numpy as np

from . import tensor as tensor_module
from .tensor import Tensor

SEPARATOR = "."


class LayerMeta(type):
    """Has ``forward`` call ``initialize`` first, once, with the same arguments."""

    def __new__(mcs, name: str, bases: tuple[type, ...], members: dict[str, Any]) -> LayerMeta:
        if "initialize" in members:
            members["initialize"] = _once_marked(members["initialize"])
        if "forward" in members:
            members["forward"] = _initialized_first(members["forward"])
        return super().__new__(mcs, name, bases, members)


def _once_marked(initialize: Any) -> Any:
    @functools.wraps(initialize)
    def wrapper(self: Layer, *args: Any, **kwargs: Any) -> None:
        if not self._initialized:
            initialize(self, *args, **kwargs)
            self._initialized = True

    return wrapper


def _initialized_first(forward: Any) -> Any:
    @functools.wraps(forward)
    def wrapper(self: Layer, *args: Any, **kwargs: Any) -> Any:
        if "_layers" not in self.__dict__:
            raise RuntimeError(f"{type(self).__name__}.__init__ does not call super().__init__()")
        if not self._initialized:
            self.initialize(*args, **kwargs)
            self._initialized = True
        return forward(self, *args, **kwargs)

    return wrapper


class Layer(metaclass=LayerMeta):
    """Base of layers. Layers assigned as attributes, and tensors, get dotted names: ``block.l1.W``.

    Parameters belong to the layers that make them: a class with tensors of its own lists their
    attributes in ``parameters`` (and further states in ``buffers``), or overrides ``get_params``.
    """

    parameters: ClassVar[tuple[str, ...]] = ()
    buffers: ClassVar[tuple[str, ...]] = ()
    sep = SEPARATOR

    def __init__(self) -> None:
        self.__dict__.update(_layers={}, _parent=None, _own_name=None, _initialized=False)

    # --- names ---

    @property
    def name(self) -> str | None:
        """The dotted name within the outermost layer; None where there is no outer layer."""
        outer = self._parent.name if self._parent is not None else None
        return SEPARATOR.join(part for part in (outer, self._own_name) if part) or None

    @name.setter
    def name(self, name: str | None) -> None:
        self.__dict__["_own_name"] = name

    def __setattr__(self, name: str, value: Any) -> None:
        if isinstance(value, (Layer, Tensor)) and "_layers" not in self.__dict__:
            raise RuntimeError(f"{type(self).__name__}: call super().__init__() before this")
        if isinstance(value, Layer):
            self._adopt(name, value)
        elif isinstance(value, Tensor) and value.is_dummy():
            value.name = self._tensor_name(name)
        super().__setattr__(name, value)

    def __delattr__(self, name: str) -> None:
        self._layers.pop(name, None)
        super().__delattr__(name)

    def _adopt(self, name: str, layer: Layer) -> None:
        layer.__dict__.update(_parent=self, _own_name=name)
        self._layers[name] = layer
        layer._rename_tensors()

    def _rename_tensors(self) -> None:
        """Parameters made before the layer got its place take their names anew."""
        for attribute in (*self.parameters, *self.buffers):
            value = self.__dict__.get(attribute)
            if isinstance(value, Tensor):
                value.name = self._tensor_name(attribute)
        for layer in self._layers.values():
            layer._rename_tensors()

    def _tensor_name(self, attribute: str) -> str:
        return SEPARATOR.join(part for part in (self.name, attribute) if part)

    def register_layers(self, *args: Layer) -> None:
        """Take in layers that are no attributes (in a list, say), under ``Class_index`` names.

        A single OrderedDict gives the names itself.
        """
        if len(args) == 1 and isinstance(args[0], dict):
            named = list(args[0].items())
        else:
            named = [(f"{type(layer).__name__}_{i}", layer) for i, layer in enumerate(args)]
        for name, layer in named:
            if not isinstance(layer, Layer):
                raise TypeError(f"register_layers takes layers, not {type(layer).__name__}")
            setattr(self, name, layer)

    # --- computing ---

    def initialize(self, *args: Any, **kwargs: Any) -> None:
        """Make the parameters, from the shapes of what ``forward`` gets."""

    def forward(self, *args: Any, **kwargs: Any) -> Any:
        """The layer's result; subclasses define it."""
        raise NotImplementedError(f"{type(self).__name__} has no forward")

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return self.forward(*args, **kwargs)

    @staticmethod
    def dtype_check(*inputs: Tensor) -> None:
        """Convert all tensors to the data type of the first."""
        for tensor in inputs[1:]:
            if tensor is not None and tensor.dtype != inputs[0].dtype:
                tensor.to_type(inputs[0].dtype)

    @staticmethod
    def device_check(*inputs: Tensor) -> None:
        """Move all tensors to the device of the first."""
        for tensor in inputs[1:]:
            if tensor is not None and tensor.device != inputs[0].device:
                tensor.to_device(inputs[0].device)

    def _parameter(self, x: Tensor, shape: tuple[int, ...]) -> Tensor:
        """A parameter of zeros on the device of ``x`` and of its data type (float32 for ints)."""
        dtype = tensor_module.float32 if x.dtype == tensor_module.int32 else x.dtype
        return Tensor(shape, x.device, dtype, requires_grad=True, stores_grad=True)

    # --- parameters and states ---

    def get_params(self) -> dict[str, Tensor]:
        """The parameters by name, of this layer and of those in it that have been called."""
        found = self._tensors(self.parameters)
        for layer in self._called():
            found |= layer.get_params()
        return found

    def get_states(self) -> dict[str, Tensor]:
        """The parameters and what else is to be saved, by name."""
        found = self.get_params() | self._tensors(self.buffers)
        for layer in self._called():
            found |= layer.get_states()
        return found

    def set_params(self, parameters: dict[str, Any]) -> None:
        """Copy Tensors or arrays into the parameters of those names; KeyError for a missing one."""
        _check(self.get_params(), parameters, "parameter")
        _copy(self._tensors(self.parameters), parameters)
        for layer in self._called():
            layer.set_params({name: parameters[name] for name in layer.get_params()})

    def set_states(self, states: dict[str, Any]) -> None:
        """Copy Tensors or arrays into the states of those names; KeyError for a missing one."""
        _check(self.get_states(), states, "state")
        _copy(self._tensors((*self.parameters, *self.buffers)), states)
        for layer in self._called():
            layer.set_states({name: states[name] for name in layer.get_states()})

    def _tensors(self, attributes: tuple[str, ...]) -> dict[str, Tensor]:
        values = (self.__dict__.get(attribute) for attribute in attributes)
        return {value.name: value for value in values if isinstance(value, Tensor)}

    def _called(self) -> list[Layer]:
        return [layer for layer in self._layers.values() if layer._initialized]


def _check(targets: dict[str, Tensor], values: dict[str, Any], word: str) -> None:
    """All or nothing: what does not fit is found before anything is written."""
    for name, target in targets.items():
        if name not in values:
            given = ", ".join(values) or "none"
            raise KeyError(f"no {word} {name!r} among those given: {given}")
        value = values[name]
        if not isinstance(value, (Tensor, np.ndarray)):
            raise TypeError(f"{name}: a Tensor or an array, not {type(value).__name__}")
        if tuple(value.shape) != target.shape:
            raise ValueError(f"{name}: shape {tuple(value.shape)} does not fit {target.shape}")


def fill(targets: dict[str, Tensor], values: dict[str, Any], word: str) -> None:
    """Copy Tensors or arrays into all Tensors of the same names, or raise and copy nothing."""
    _check(targets, values, word)
    _copy(targets, values)


def _copy(targets: dict[str, Tensor], values: dict[str, Any]) -> None:
    for name, target in targets.items():
        target.copy_from(values[name])
