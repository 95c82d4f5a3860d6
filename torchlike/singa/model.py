"""Models: layers with a training step, compiled once, saved and loaded."""

from __future__ import annotations

import functools
import io
import json
import os
import zipfile
from typing import Any, ClassVar

import numpy as np

from . import autograd
from .layer_base import Layer, LayerMeta
from .tensor import Tensor, to_numpy


class ModelMeta(LayerMeta):
    """Has ``train_one_batch`` check its arguments in graph mode."""

    def __new__(mcs, name: str, bases: tuple[type, ...], members: dict[str, Any]) -> ModelMeta:
        if "train_one_batch" in members:
            members["train_one_batch"] = _checked(members["train_one_batch"])
        return super().__new__(mcs, name, bases, members)  # type: ignore[return-value]


def _checked(step: Any) -> Any:
    @functools.wraps(step)
    def wrapper(self: Model, *args: Any, **kwargs: Any) -> Any:
        if self.graph_mode and self.training and self._compiled:
            self._check_shapes(args)
        return step(self, *args, **kwargs)

    return wrapper


class Model(Layer, metaclass=ModelMeta):
    """A network: subclasses define ``forward`` and ``train_one_batch``.

    Calling it trains on one batch, or after ``eval()`` (``compile(is_train=False)``) only computes.
    """

    TENSOR_DICT_FILENAME = "/tensor_dict.npz"
    STATES_ATTR_FILENAME = "/states_attr.json"
    MODEL_STATE_TYPE, AUX_STATE_TYPE = 0, 1
    _compiled: ClassVar[bool]

    def __init__(self) -> None:
        super().__init__()
        self.__dict__["_compiled"] = False
        self.training, self.graph_mode, self.sequential = True, True, False
        self._shapes: list[Any] | None = None

    def compile(
        self,
        inputs: list[Tensor],
        is_train: bool = True,
        use_graph: bool = False,
        sequential: bool = False,
    ) -> None:
        """Make all parameters from the shapes of ``inputs``, those of ``forward``, and set modes.

        With ``use_graph`` every step must get tensors of the shapes of the first step, as a
        captured step would need them; each step computes with the tensors it is given, at once.
        ``sequential``, the order in which a captured step would run, is noted.
        """
        if not isinstance(inputs, (list, tuple)) or not inputs:
            raise AssertionError("compile takes a list of the inputs of forward, at least one")
        if not isinstance(inputs[0], Tensor):
            raise AssertionError(f"the first input is a Tensor, not {type(inputs[0]).__name__}")
        autograd.training = False  # a first run must not count in running statistics
        try:
            self.forward(*inputs)
        finally:
            autograd.training = self.training
        self.graph(use_graph, sequential)
        self.train(is_train)
        self.__dict__["_compiled"] = True

    def forward(self, *input: Any, **kwargs: Any) -> Any:
        """The model's result; subclasses define it."""
        raise NotImplementedError(f"{type(self).__name__} has no forward")

    def train_one_batch(self, *input: Any, **kwargs: Any) -> Any:
        """One training step; subclasses define it."""
        raise NotImplementedError(f"{type(self).__name__} has no train_one_batch")

    def train(self, mode: bool = True) -> None:
        """Training from here on, or not; sets ``autograd.training`` as well."""
        self.training = bool(mode)
        autograd.training = self.training

    def eval(self) -> None:
        """``train(False)``."""
        self.train(False)

    def graph(self, mode: bool = True, sequential: bool = False) -> None:
        """Turn graph mode on or off: see ``compile``."""
        self.graph_mode, self.sequential = bool(mode), bool(sequential)
        self._shapes = None

    def __call__(self, *input: Any, **kwargs: Any) -> Any:
        if self.training:
            return self.train_one_batch(*input, **kwargs)
        return self.forward(*input, **kwargs)

    def set_optimizer(self, optimizer: Any) -> None:
        """Keep an optimizer as ``self.optimizer``."""
        self.optimizer = optimizer

    def _check_shapes(self, args: tuple[Any, ...]) -> None:
        first = args[0] if args else None
        listed = isinstance(first, (list, tuple)) and first and isinstance(first[0], Tensor)
        if not isinstance(first, Tensor) and not listed:
            raise ValueError("in graph mode the first argument of a step is a Tensor, or a list")
        shapes = [a.shape if isinstance(a, Tensor) else None for a in args]
        if self._shapes is None:
            self._shapes = shapes
        elif shapes != self._shapes:
            raise ValueError(
                f"in graph mode all steps have arguments of the same shapes: {shapes} came after "
                f"{self._shapes}; use compile(..., use_graph=False) for others"
            )

    # --- checkpoints ---

    def save_states(self, fpath: str, aux_states: dict[str, Tensor] | None = None) -> None:
        """Write all states and ``aux_states``, further Tensors by name, to a new zip file.

        Raises AssertionError if the file exists, or if a further state is no Tensor.
        """
        if os.path.exists(fpath):
            raise AssertionError(f"{fpath} exists: a checkpoint is not overwritten")
        states = self.get_states()
        if not states and not self._initialized:
            raise RuntimeError("the model has no states yet: compile it, or call it, before")
        auxiliary = dict(aux_states or {})
        for name, value in auxiliary.items():
            if not isinstance(value, Tensor):
                raise AssertionError(f"{name}: a Tensor, not {type(value).__name__}")
            if name in states:
                raise AssertionError(f"{name} is the name of a state of the model")
        _write(fpath, states, auxiliary)

    def load_states(self, fpath: str) -> dict[str, Tensor]:
        """Restore what ``save_states`` wrote; returns the further states.

        Raises AssertionError if there is no such file, ValueError for a file of another kind,
        RuntimeError for a model without parameters yet, KeyError for a missing state.
        """
        if not os.path.isfile(fpath):
            raise AssertionError(f"{fpath} is not a file")
        states, auxiliary = _read(fpath)
        if states and not self.get_states():
            raise RuntimeError("the model has no states yet: compile it before loading")
        self.set_states(states)
        return auxiliary


def _write(fpath: str, states: dict[str, Tensor], auxiliary: dict[str, Tensor]) -> None:
    arrays = {name: to_numpy(t) for name, t in (states | auxiliary).items()}
    attributes = {
        name: {
            "state_type": Model.AUX_STATE_TYPE if name in auxiliary else Model.MODEL_STATE_TYPE,
            "shape": list(array.shape),
            "dtype": (states | auxiliary)[name].dtype,
        }
        for name, array in arrays.items()
    }
    packed = io.BytesIO()
    np.savez(packed, **arrays)
    unfinished = f"{fpath}.unfinished"
    try:
        with zipfile.ZipFile(unfinished, "w", zipfile.ZIP_DEFLATED) as file:
            file.writestr(Model.TENSOR_DICT_FILENAME.lstrip("/"), packed.getvalue())
            file.writestr(Model.STATES_ATTR_FILENAME.lstrip("/"), json.dumps(attributes, indent=4))
        os.replace(unfinished, fpath)
    finally:
        if os.path.exists(unfinished):
            os.remove(unfinished)


def _read(fpath: str) -> tuple[dict[str, Tensor], dict[str, Tensor]]:
    try:
        with zipfile.ZipFile(fpath) as file:
            packed = io.BytesIO(file.read(Model.TENSOR_DICT_FILENAME.lstrip("/")))
            attributes = json.loads(file.read(Model.STATES_ATTR_FILENAME.lstrip("/")))
        with np.load(packed, allow_pickle=False) as arrays:
            tensors = {name: Tensor(data=np.asarray(arrays[name])) for name in attributes}
        kinds = {name: attributes[name]["state_type"] for name in attributes}
    except (zipfile.BadZipFile, KeyError, ValueError, TypeError, EOFError, OSError) as error:
        raise ValueError(f"{fpath} is no checkpoint of save_states: {error}") from error
    parts: tuple[dict[str, Tensor], dict[str, Tensor]] = ({}, {})
    for name, tensor in tensors.items():
        parts[kinds[name] == Model.AUX_STATE_TYPE][name] = tensor
    return parts
