"""``torch.compile`` and its settings. Nothing is compiled: what is given runs as it is."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

from functional.modes import ModeSwitch

__all__ = [
    "allow_in_graph", "assume_constant_result", "compile", "cudagraph_mark_step_begin", "disable",
    "get_default_backend", "is_compiling", "is_dynamo_compiling", "is_exporting",
    "keep_portable_guards_unsafe", "keep_tensor_guards_unsafe", "list_backends",
    "nested_compile_region", "reset", "set_default_backend", "set_enable_guard_collectives",
    "set_stance", "skip_all_guards_unsafe", "skip_guard_on_all_nn_modules_unsafe",
    "skip_guard_on_globals_unsafe", "skip_guard_on_inbuilt_nn_modules_unsafe",
    "substitute_in_graph", "wrap_numpy",
]  # fmt: skip

_default: dict[str, Any] = {"backend": "inductor"}


def compile(
    model: Any = None,
    *,
    fullgraph: bool = False,
    dynamic: bool | None = None,
    backend: Any = None,
    mode: str | None = None,
    options: dict[str, Any] | None = None,
    name: str | None = None,
    disable: bool = False,
    recompile_limit: int | None = None,
    isolate_recompiles: bool = False,
    shapes_spec: Any = None,
) -> Any:
    """A function or a module that does what ``model`` does. Nothing is compiled.

    A function gives a function of the same name, a ``Module`` an ``OptimizedModule`` around it.
    Without ``model`` the result is a decorator. ``disable`` returns ``model`` itself; the other
    arguments are checked, and change nothing: no backend is ever called.
    """
    if model is None:
        return functools.partial(
            compile, fullgraph=fullgraph, dynamic=dynamic, backend=backend, mode=mode,
            options=options, name=name, disable=disable, recompile_limit=recompile_limit,
            isolate_recompiles=isolate_recompiles, shapes_spec=shapes_spec,
        )  # fmt: skip
    from ._dynamo.eval_frame import check, wrapped

    check(_default["backend"] if backend is None else backend, mode, options)
    return model if disable else wrapped(model)


def is_compiling() -> bool:
    """False."""
    return False


def is_dynamo_compiling() -> bool:
    """False."""
    return False


def is_exporting() -> bool:
    """False."""
    return False


def disable(fn: Any = None, recursive: bool = True, *, reason: str | None = None) -> Any:
    """Mark a function as not to be compiled: the function itself, or a decorator."""
    from ._dynamo import disable

    return disable(fn, recursive, reason=reason)


def reset() -> None:
    """Forget what has been compiled: nothing has."""


def allow_in_graph(fn: Any) -> Any:
    """A function, or a list of functions, as it is."""
    from ._dynamo import allow_in_graph

    return allow_in_graph(fn)


def assume_constant_result(fn: Any) -> Any:
    """A function as it is: it is called every time."""
    from ._dynamo import assume_constant_result

    return assume_constant_result(fn)


def substitute_in_graph(
    original_fn: Callable[..., Any],
    *,
    can_constant_fold_through: bool = False,
    skip_signature_check: bool = False,
) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """A decorator that returns the function as it is: ``original_fn`` is what is called."""
    return lambda fn: fn


def nested_compile_region(
    fn: Any = None, *, options: Any = None, max_reuse_entries: int = 8, reuse_hash_fn: Any = None
) -> Any:
    """A function as it is, or a decorator that returns it."""
    return (lambda f: f) if fn is None else fn


def list_backends(exclude_tags: Any = ("debug", "experimental")) -> list[str]:
    """The names that ``compile`` takes for a backend; none of them is used."""
    from ._dynamo import list_backends

    return list_backends(exclude_tags)


def get_default_backend() -> Any:
    """The backend that ``compile`` would use."""
    return _default["backend"]


def set_default_backend(backend: Any) -> None:
    """Set the backend that ``compile`` would use; None for the first default."""
    _default["backend"] = "inductor" if backend is None else backend


class set_stance(ModeSwitch):
    """How much is compiled, as a call, a context manager or a decorator; nothing is."""

    def __init__(
        self,
        stance: str = "default",
        *,
        skip_guard_eval_unsafe: bool = False,
        force_backend: Any = None,
    ) -> None:
        self.stance = stance

    def clone(self) -> set_stance:
        return set_stance(self.stance)

    def __enter__(self) -> None:
        pass

    def __exit__(self, *exc: object) -> None:
        pass


def set_enable_guard_collectives(enabled: bool) -> bool:
    """Set whether processes agree on what to compile; the setting before."""
    before: bool = _default.get("collectives", False)
    _default["collectives"] = enabled
    return before


def cudagraph_mark_step_begin() -> None:
    """A step of a program begins; it makes no difference."""


def wrap_numpy(fn: Callable[..., Any]) -> Callable[..., Any]:
    """A function of NumPy's arrays as one of tensors."""
    import numpy as np

    from functional import pytree
    from functional.tape.op import TENSOR
    from functional.tensor import Tensor

    @functools.wraps(fn)
    def wrap(*args: Any, **kwargs: Any) -> Any:
        args, kwargs = pytree.map_tree(
            lambda x: x.numpy() if isinstance(x, Tensor) else x, (args, kwargs)
        )
        result = fn(*args, **kwargs)
        return pytree.map_tree(
            lambda x: TENSOR.as_tensor(x) if isinstance(x, (np.ndarray, np.generic)) else x, result
        )

    return wrap


# --- which guards a compiled function keeps: there are none ---------------------------------------


def keep_portable_guards_unsafe(guard_entries: Any) -> list[bool]:
    """Keep every guard."""
    return [True for _ in guard_entries]


def keep_tensor_guards_unsafe(guard_entries: Any, keep_parameters: bool = False) -> list[bool]:
    """Keep every guard."""
    return [True for _ in guard_entries]


def skip_guard_on_inbuilt_nn_modules_unsafe(guard_entries: Any) -> list[bool]:
    """Keep every guard."""
    return [True for _ in guard_entries]


def skip_guard_on_all_nn_modules_unsafe(guard_entries: Any) -> list[bool]:
    """Keep every guard."""
    return [True for _ in guard_entries]


def skip_guard_on_globals_unsafe(guard_entries: Any) -> list[bool]:
    """Keep every guard."""
    return [True for _ in guard_entries]


def skip_all_guards_unsafe(guard_entries: Any) -> list[bool]:
    """Keep no guard."""
    return [False for _ in guard_entries]
