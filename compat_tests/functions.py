"""A record's sample as a function of its differentiable inputs, for derivative tests."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from .observe import flat, leaves, quiet, tensors_of, weights
from .records import RECORDS, Record
from .records.base import build


def differentiable(dtype: str = "float64") -> list[str]:
    """The records with a derivative in a dtype, internal operations too."""
    return [n for n, r in RECORDS.items() if r.differentiable and dtype in r.dtypes]


class Case:
    """One sample in float64: ``f(*xs)`` and its point, with fixed directions and weights."""

    def __init__(self, T: Any, record: Record, index: int, row: int = 0, dtype: str = "float64"):
        self.T, self.record, self.sample = T, record, record.samples[index]
        seed = f"{record.name}/{index}" + f"/{row}" * bool(row)
        self.arrays = build(self.sample, seed, dtype)
        first = build(self.sample, f"{record.name}/{index}", dtype)
        with quiet():
            args = tensors_of(T, self.sample, first, dtype, True)  # indices are those of row 0
            self.args = args
            mine = tensors_of(T, self.sample, self.arrays, dtype, True)
            self.xs = [t.detach() for t in leaves(mine)]
            self.at = [id(t) for t in leaves(args)]
        self.directions = [self._direction(x, k) for k, x in enumerate(self.xs)]

    def _direction(self, x: Any, k: int) -> Any:
        return weights(self.T, x, 10 + k)

    def f(self, *xs: Any) -> list[Any]:
        """The differentiable results of the record at these inputs."""
        places = dict(zip(self.at, xs, strict=True))

        def place(a: Any) -> Any:
            return [place(b) for b in a] if isinstance(a, list) else places.get(id(a), a)

        with quiet():
            outs = flat(self.record.call(self.T, *[place(a) for a in self.args]))
        return [t for t in outs if t.is_floating_point() or t.is_complex()]

    def s(self, *xs: Any) -> Any:
        """One number: the results weighted and summed (its real part)."""
        total = None
        for k, out in enumerate(self.f(*xs)):
            part = (out * weights(self.T, out, k)).sum()
            total = part if total is None else total + part
        if total.is_complex():
            total = (total + self.T.conj(total)) / 2
        return total

    def leaves(self) -> list[Any]:
        return [x.clone().requires_grad_() for x in self.xs]

    def gradient(self, create: bool = False) -> tuple[list[Any], list[Any]]:
        """(leaves, gradients) by eager reverse mode."""
        xs = self.leaves()
        y = self.s(*xs)
        if not y.requires_grad:
            return xs, [self.T.zeros_like(x) for x in xs]
        return xs, list(self.T.autograd.grad(y, xs, create_graph=create, materialize_grads=True))

    def second(self, directions: list[Any]) -> list[Any]:
        """The Hessian times ``directions``, by reverse mode over reverse mode."""
        xs, grads = self.gradient(True)
        inner = dot(grads, directions)
        if not inner.requires_grad:
            return [self.T.zeros_like(x) for x in xs]
        return list(self.T.autograd.grad(inner, xs, materialize_grads=True))


def dot(xs: Any, ys: Any) -> Any:
    """The inner product of two lists of tensors: Re Σ conj(x) y."""
    total = None
    for x, y in zip(xs, ys, strict=True):
        z = (x * y).sum() if not x.is_complex() else _real_dot(x, y)
        total = z if total is None else total + z
    return total


def _real_dot(x: Any, y: Any) -> Any:
    z = (x.conj() * y).sum()
    return (z + z.conj()) / 2


def number(t: Any) -> float:
    """A 0-dim tensor as a float."""
    return float(np.asarray(t.detach().numpy()).real)


def each_case(T: Any, name: str, samples: int, dtype: str = "float64") -> Iterator[Case]:
    """The first samples of a record that have something to differentiate."""
    record = RECORDS[name]
    taken = 0
    for index in range(len(record.samples)):
        if taken == samples or record.kinked(index):
            continue
        case = Case(T, record, index, 0, dtype)
        if case.xs and all(x.numel() for x in case.xs):
            taken += 1
            yield case


Function = Callable[..., Any]
