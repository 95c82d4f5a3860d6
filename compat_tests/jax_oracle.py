"""JAX as an oracle for derivatives: the same function written for both, in float64.

Cross-check a function of your own in five lines::

    from compat_tests.jax_oracle import crosscheck
    crosscheck(
        lambda torch, x, w: torch.tanh(x @ w).sum(1),
        lambda jnp, x, w: jnp.tanh(x @ w).sum(1), x_array, w_array,
    )

It compares the values, the gradients with respect to every floating argument (of a weighted sum
of the results), and second derivatives along a direction, and raises AssertionError where they
differ. ``jnp`` is jax.numpy, with ``jnp.lax`` and ``jnp.nn`` for the rest of JAX.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import numpy as np

from .observe import flat, library, weights

Function = Callable[..., Any]
QUICK = "--xla_backend_optimization_level=0 --xla_llvm_disable_expensive_passes=true"


def namespace() -> Any:
    """jax.numpy with ``lax`` and ``nn``; float64 on the CPU."""
    # everything here runs once: most of the time would go into optimising it
    os.environ.setdefault("XLA_FLAGS", QUICK)
    import jax

    jax.config.update("jax_enable_x64", True)
    jax.config.update("jax_platforms", "cpu")
    import jax.numpy as jnp

    return SimpleNamespace(**{**vars(jnp), "lax": jax.lax, "nn": jax.nn})


def by_jax(function: Function, arrays: list[Any], at: list[int], scales: Any, ds: Any) -> Any:
    """Values, gradients and second derivatives along ``ds``, all jitted as one."""
    import jax

    J = namespace()

    def outputs(*xs: Any) -> list[Any]:
        full = list(arrays)
        for i, x in zip(at, xs, strict=True):
            full[i] = x
        found = function(J, *full)
        return list(found) if isinstance(found, (list, tuple)) else [found]

    def total(*xs: Any) -> Any:
        found = zip(outputs(*xs), scales, strict=True)
        return sum(J.sum(z * w) for z, w in found)

    gradient = jax.grad(total, tuple(range(len(at))))
    xs = tuple(arrays[i] for i in at)

    def everything(*xs: Any) -> Any:
        first, second = jax.jvp(gradient, xs, tuple(ds))
        return outputs(*xs), first, second

    return jax.jit(everything)(*xs)


def by_torchlike(function: Function, arrays: list[Any], at: list[int]) -> Any:
    """The same by eager reverse mode, and the weights and directions that JAX gets."""
    T = library("torchlike")
    full = [T.from_numpy(np.array(a)) if isinstance(a, np.ndarray) else a for a in arrays]
    xs = [full[i].requires_grad_() for i in at]
    outs = [z for z in flat(function(T, *full)) if z.is_floating_point()]
    scales = [weights(T, z, k) for k, z in enumerate(outs)]
    ds = [weights(T, x, 10 + k) for k, x in enumerate(xs)]
    total = sum((z * w).sum() for z, w in zip(outs, scales, strict=True))
    first = T.autograd.grad(total, xs, create_graph=True, materialize_grads=True)
    inner = sum((g * d).sum() for g, d in zip(first, ds, strict=True))
    second = [T.zeros_like(x) for x in xs]
    if inner.requires_grad:
        second = T.autograd.grad(inner, xs, materialize_grads=True)
    as_arrays = [[t.detach().numpy() for t in group] for group in (outs, first, second, scales, ds)]
    return as_arrays[:3], as_arrays[3], as_arrays[4]


def crosscheck(
    torch_function: Function, jax_function: Function, *arguments: Any, argnums: Any = None
) -> None:
    """Compare values, first and second derivatives of two ways to write one function.

    Floating arrays among the arguments are differentiated, or those at ``argnums``; other
    arguments are passed as they are.
    """
    arrays = [
        a.astype(np.float64) if isinstance(a, np.ndarray) and a.dtype.kind == "f" else a
        for a in arguments
    ]
    at = argnums
    if at is None:
        at = [i for i, a in enumerate(arrays) if isinstance(a, np.ndarray) and a.dtype.kind == "f"]
    ours, scales, ds = by_torchlike(torch_function, arrays, at)
    theirs = by_jax(jax_function, arrays, at, scales, ds)
    for what, a, b in zip(("values", "gradients", "second derivatives"), ours, theirs, strict=True):
        for x, y in zip(a, b, strict=True):
            np.testing.assert_allclose(x, np.asarray(y), 1e-8, 1e-10, err_msg=what)
