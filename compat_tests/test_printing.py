"""Tensors and their relatives print as PyTorch prints them.

Every case of ``record_printing`` is compared with what PyTorch printed when it was recorded, and
beside PyTorch where it is installed; there, random tensors and options are tried as well.
"""

from __future__ import annotations

import functools
import json
from typing import Any

import numpy as np
import pytest

import torchlike
from compat_tests.record_printing import DTYPES, GOLDEN, cases, make, texts

try:
    import torch
except ImportError:
    torch = None

needs_torch = pytest.mark.skipif(torch is None, reason="torch is not installed")
CASES = cases()
EDGES = [0.0, -0.0, 1.0, -1.0, 0.5, 1e3, 1001.0, 1e-4, 9.9999e-5, 1e8, 1e9, np.inf, -np.inf, np.nan]


@functools.cache
def golden() -> dict[str, list[str]]:
    return json.loads(GOLDEN.read_text())


def test_every_case_is_recorded() -> None:
    assert set(golden()) == set(CASES)


@pytest.mark.parametrize("name", CASES)
def test_recorded(name: str) -> None:
    assert texts(CASES[name](torchlike)) == golden()[name]


@needs_torch
def test_records_are_current() -> None:
    for name, case in CASES.items():
        assert texts(case(torch)) == golden()[name], name


def _numbers(rng: np.random.Generator, count: int) -> np.ndarray:
    kind = rng.integers(5)
    if kind == 0:
        return rng.choice(EDGES, count)
    if kind == 1:
        return np.round(rng.standard_normal(count) * 10.0 ** rng.integers(0, 12))
    if kind == 2:
        return 10.0 ** rng.uniform(-8, 8, count)
    return rng.standard_normal(count) * 10.0 ** rng.integers(-6, 10)


def _data(rng: np.random.Generator, dtype: str) -> np.ndarray:
    dims = rng.integers(0, 5)
    choices = [0, 1, 2, 5, 7, 8, 30, 1100] if dims <= 2 else [1, 2, 3, 7]
    shape = tuple(int(n) for n in rng.choice(choices, dims))
    if np.prod(shape) > 5000:
        shape = shape[:1]
    count = int(np.prod(shape))
    values: Any = _numbers(rng, count)
    if dtype.startswith("complex"):
        pair = np.empty(count, np.complex128)
        pair.real, pair.imag = values, _numbers(rng, count)
        values = pair
    elif not dtype.startswith(("float", "bfloat")):
        values = np.nan_to_num(values, posinf=9, neginf=9).astype(np.int64) % 120
    with np.errstate(over="ignore"):
        return values.astype("float32" if dtype == "bfloat16" else dtype).reshape(shape)


def _options(rng: np.random.Generator) -> dict[str, Any]:
    choices: dict[str, list[Any]] = {
        "precision": [0, 1, 6], "threshold": [0, 50, float("inf")], "edgeitems": [0, 1, 5],
        "linewidth": [10, 40, 79, 81, 120], "profile": ["default", "short", "full"],
        "sci_mode": [True, False],
    }  # fmt: skip
    return {k: v[rng.integers(len(v))] for k, v in choices.items() if rng.random() < 0.25}


@needs_torch
@pytest.mark.parametrize("seed", range(10))
def test_random_tensors_beside_torch(seed: int) -> None:
    rng = np.random.default_rng(seed)
    try:
        for _ in range(50):
            options = _options(rng)
            dtype = DTYPES[rng.integers(len(DTYPES))]
            data = _data(rng, dtype)
            shown = []
            for library in (torchlike, torch):
                library.set_printoptions(profile="default")
                library.set_printoptions(**options)
                t = make(library, data, dtype)
                shown.append([repr(t), repr(t.T) if t.ndim == 2 else "", f"{t}"])
            assert shown[0] == shown[1], (data, dtype, options)
    finally:
        torchlike.set_printoptions(profile="default")
        torch.set_printoptions(profile="default")


def test_sci_mode_lasts_until_the_next_call() -> None:
    torchlike.set_printoptions(sci_mode=True)
    assert repr(torchlike.tensor([1.5])) == "tensor([1.5000e+00])"
    torchlike.set_printoptions(precision=2)
    assert repr(torchlike.tensor([1.5])) == "tensor([1.50])"
    torchlike.set_printoptions(profile="default")


def test_subclass_hears_of_printing() -> None:
    calls = []

    class Logged(torchlike.Tensor):
        @classmethod
        def __torch_function__(cls, func: Any, types: Any, args: Any = (), kwargs: Any = None):
            calls.append(func.__name__)
            return super().__torch_function__(func, types, args, kwargs or {})

    x = torchlike.tensor([1.0, 2.0]).as_subclass(Logged)
    assert repr(x) == f"{x}" == "Logged([1., 2.])"
    assert calls == ["__repr__", "__format__"]


def test_inside_transforms() -> None:
    from functional.transforms import grad, jvp, vmap

    seen = []

    def show(x: Any) -> Any:
        seen.append(repr(x))
        return x.sum()

    ones = torchlike.ones(2, 2, 1)
    grad(show)(ones)
    assert seen.pop() == (
        "GradTrackingTensor(lvl=1, value=\n    tensor([[[1.],\n             [1.]],\n\n"
        "            [[1.],\n             [1.]]])\n)"
    )
    vmap(vmap(show))(ones)
    assert seen.pop() == (
        "BatchedTensor(lvl=2, bdim=0, value=\n    BatchedTensor(lvl=1, bdim=0, value=\n"
        "        tensor([[[1.],\n                 [1.]],\n\n                [[1.],\n"
        "                 [1.]]])\n    )\n)"
    )
    jvp(show, (torchlike.ones(2),), (torchlike.ones(2),))
    assert seen.pop() == "GradTrackingTensor(lvl=1, value=\n    tensor([1., 1.])\n)"
    grad(lambda x: (seen.append(f"{x:.2f}"), x * 2)[1])(torchlike.tensor(1.5))
    assert seen.pop() == "1.50"
    with pytest.raises(RuntimeError, match=r"vmap: It looks like you're calling .item\(\)"):
        vmap(lambda x: (f"{x}", x)[1])(torchlike.ones(2))


def test_read_only_and_reversed_memory() -> None:
    from functional.tensor import wrap

    data = np.arange(4.0, dtype=np.float32)[::-1]
    data.flags.writeable = False
    assert repr(wrap(data)) == "tensor([3., 2., 1., 0.])"
