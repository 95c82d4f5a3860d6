"""``gradcheck``'s fast mode: derivatives along one direction, in place of whole matrices.

With a direction u of an input and a factor v of an output, both random, v . (J u) needs two
evaluations and v J one backward pass, however large the matrix J is.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy import ndarray

from functional.autograd import grad
from functional.tensor import Tensor, wrap

from . import _jacobians as whole
from ._jacobians import Func, GradcheckError, Tolerance


def _random(x: Tensor, size: int, seed: int) -> ndarray:
    """A vector of length 1 of positive numbers, the same in every run."""
    draw = np.random.default_rng(seed).random
    found = draw(size) + 1j * draw(size) if x.dtype.is_complex else draw(size)
    return np.asarray(found / np.linalg.norm(found))


def _slopes(func: Func, inputs: tuple[Any, ...], i: int, u: ndarray, eps: float) -> list[ndarray]:
    """How fast the outputs change where the elements of an input move along ``u``."""
    data, like = whole.stored(inputs[i]), whole.values(func, inputs)
    kept, sides = data.copy(), []
    for sign in (-eps, eps):
        data[...] = kept + sign * u.reshape(data.shape)
        sides.append(whole.values(func, inputs))
        whole.same_kind(like, sides[-1], eps)
    data[...] = kept
    return [(high._data - low._data).ravel() / (2 * eps) for low, high in zip(*sides, strict=True)]


def _wide(tol: Tolerance, *vectors: ndarray) -> Tolerance:
    """A tolerance for sums of as many elements as these vectors weigh."""
    weights = [float(np.abs(v.real).sum() + np.abs(v.imag).sum()) for v in vectors]
    return tol._replace(atol=tol.atol * float(np.prod(weights)))


def compare_backward(
    about: str, run: Func, inputs: tuple[Any, ...], i: int, tol: Tolerance, dtypes: bool
) -> None:
    """Compare one number per output of one input."""
    x = inputs[i]
    rows, _ = whole.positions(x)
    u = _random(x, len(rows), 0)
    slopes = _slopes(run, inputs, i, u, tol.eps)
    for j, output in enumerate(run(*inputs)):
        v = _random(output, output.numel(), 1).astype(output.dtype.array)
        seed = wrap(v.reshape(tuple(output.shape)))

        def along(output: Tensor = output, seed: Tensor = seed) -> ndarray:
            (g,) = grad([output], [x], [seed], retain_graph=True, allow_unused=True)
            return np.asarray(0.0 if g is None else np.vdot(whole.flat(g, x, dtypes)[rows], u).real)

        numerical, found = np.dot(slopes[j], v), along()
        if not _wide(tol, u, v).close(found, numerical):
            matrices = whole.differences(run, inputs, x, tol.eps)[j], whole.analytical(output, x)
            raise _mismatch(f"{about}Jacobian ", j, i, (float(numerical), float(found)), matrices)
        whole.check_same(found, along(), tol)


def compare_tangents(
    about: str, func: Func, inputs: tuple[Any, ...], i: int, step: complex, tol: Tolerance
) -> None:
    """Compare one column per output, of one input's real or imaginary part."""
    x = inputs[i]
    u = _random(x, x.numel(), 0).real * (step if x.dtype.is_complex else 1)

    def run(*args: Any) -> list[Tensor]:
        return whole.outputs_of(func, args)

    slopes = _slopes(run, inputs, i, u, tol.eps)
    direction = wrap(u.astype(x.dtype.array).reshape(tuple(x.shape)))
    for j, tangent in enumerate(whole.tangents(func, inputs, i, direction)):
        found = np.zeros_like(slopes[j]) if tangent is None else tangent._data.ravel()
        if not _wide(tol, u).close(found, slopes[j]):
            matrices = whole.tangent_matrices(func, inputs, i, step, tol.eps)[j]
            about += "Jacobian computed with forward mode "
            raise _mismatch(about, j, i, (wrap(slopes[j]), wrap(found)), matrices)


def _mismatch(
    about: str, output: int, input: int, pair: Any, matrices: tuple[ndarray, ndarray]
) -> GradcheckError:
    """What differs along the direction, and the whole matrices for a closer look."""
    numerical, analytical = matrices
    furthest = np.abs(numerical - analytical).max(initial=0)
    return GradcheckError(
        f"{about}mismatch for output {output} with respect to input {input},\n"
        f"numerical:{pair[0]}\nanalytical:{pair[1]}\n\n"
        "The above quantities relating the numerical and analytical jacobians are computed in "
        "fast mode. Below, they are computed in slow mode:\n\n"
        f"Numerical:\n{wrap(numerical)}\nAnalytical:\n{wrap(analytical)}\n\n"
        f"The max per-element difference (slow mode) is: {furthest}.\n"
    )
