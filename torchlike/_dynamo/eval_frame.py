"""``torch.compile``'s results, which run what they were given, as it is."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

from ..nn import Module
from .exc import InvalidBackend

_MODES = ("default", "lite", "reduce-overhead", "max-autotune-no-cudagraphs", "max-autotune")
_BACKENDS = ("cudagraphs", "inductor", "openxla", "tvm")
_FOR_DEBUGGING = (
    "aot_eager", "aot_eager_decomp_partition", "aot_eager_decomp_partition_crossref",
    "aot_eager_decomp_partition_with_mode", "aot_eager_default_partitioner", "aot_ts", "eager",
    "eager_debug", "eager_noexcept", "invoke_subgraph", "openxla_eval", "pre_dispatch_eager", "ts",
)  # fmt: skip


def list_backends(exclude_tags: Any = ("debug", "experimental")) -> list[str]:
    """The names that ``torch.compile`` takes for a backend; none of them is used."""
    return sorted([*_BACKENDS, *(() if exclude_tags else _FOR_DEBUGGING)])


def check(backend: Any, mode: Any, options: Any) -> None:
    """PyTorch's errors about the arguments of ``torch.compile``."""
    if mode is not None and options is not None:
        raise RuntimeError(
            "Either mode or options can be specified, but both can't be specified at the same time."
        )
    if isinstance(backend, str) and backend not in (*_BACKENDS, *_FOR_DEBUGGING):
        raise InvalidBackend(backend)
    if backend in (None, "inductor") and mode is not None and mode not in _MODES:
        raise RuntimeError(f"Unrecognized mode={mode}, should be one of: {', '.join(_MODES)}")


def wrapped(model: Any) -> Any:
    """What ``torch.compile`` returns for a function, a class or a module."""
    if isinstance(model, Module):
        return OptimizedModule(model)
    if isinstance(model, type):
        return model
    if not callable(model):
        raise AssertionError(f"A callable function is expected, but {type(model)} is provided.")

    @functools.wraps(model)
    def call(*args: Any, **kwargs: Any) -> Any:
        return model(*args, **kwargs)

    call._torchdynamo_orig_callable = model  # type: ignore[attr-defined]
    return call


def optimize(backend: Any = "inductor", **settings: Any) -> Callable[[Any], Any]:
    """A decorator that returns what ``torch.compile`` would."""
    check(backend, None, None)
    return wrapped


def disable(fn: Any = None, recursive: bool = True, *, reason: str | None = None) -> Any:
    """Mark a function as not to be compiled: the function itself, or a decorator."""
    if fn is None:
        return disable
    if not callable(fn):
        raise AssertionError("fn must be callable")
    return fn


class OptimizedModule(Module):
    """A module given to ``torch.compile``: it calls the original, which is ``_orig_mod``.

    Attributes are those of the original; parameters and entries of ``state_dict`` have
    ``_orig_mod.`` in front of their names.
    """

    _orig_mod: Any

    def __init__(self, mod: Any, dynamo_ctx: Any = None) -> None:
        super().__init__()
        self.__dict__.pop("training")
        self._modules["_orig_mod"] = mod

    def forward(self, *args: Any, **kwargs: Any) -> Any:
        """What the original module gives."""
        return self._orig_mod(*args, **kwargs)

    def __len__(self) -> int:
        original = self._orig_mod
        if hasattr(original, "__len__"):
            return len(original)
        raise TypeError(f"{type(original).__name__} does not support len()")

    def __bool__(self) -> bool:
        return True

    def __getattr__(self, name: str) -> Any:
        original = self.__dict__["_modules"]["_orig_mod"]
        return original if name == "_orig_mod" else getattr(original, name)

    def __setattr__(self, name: str, value: Any) -> None:
        if name == "_orig_mod":
            self._modules[name] = value
        elif name in self.__dict__ or name in vars(type(self)):
            object.__setattr__(self, name, value)
        else:
            setattr(self._orig_mod, name, value)

    def __delattr__(self, name: str) -> None:
        if name in self.__dict__:
            object.__delattr__(self, name)
        else:
            delattr(self._orig_mod, name)

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)

    def __dir__(self) -> list[str]:
        own = [name for name in object.__dir__(self) if isinstance(name, str)]
        return sorted({*own, *dir(self._orig_mod)})
