"""PyTorch's own list of optimizers and their options, run in both libraries.

``python -m compat_tests.optim_db [--only NAME]`` takes every entry of PyTorch's ``optim_db`` with
every configuration that it lists for a CPU: ten steps along the same gradients, with the parameters
compared after each one and the whole state at the end; then it provokes the errors that PyTorch
lists, and compares their class and text. It prints what differs, and passed / total.
"""

from __future__ import annotations

import argparse
import copy
import sys
import warnings
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

STEPS = 10
SHAPES = [(5, 7), (3,), (2, 3, 4), (2, 2, 2, 2), (1, 1), ()]
TOLERANCE = {"float64": (4e-15, 1e-15), "float32": (1e-6, 1e-7), "complex64": (2e-6, 2e-7)}
# L-BFGS divides by differences of gradients, which leaves few digits
LOOSE = {("LBFGS", "float64"): (1e-9, 1e-11), ("LBFGS", "float32"): (2e-5, 2e-6)}


def database() -> list[Any]:
    """PyTorch's entries."""
    from .translate import database as entries

    return entries("common_optimizers", "optim_db")


def arrays(name: str, dtype: str) -> tuple[list[Any], list[list[Any]]]:
    """Parameters, and their gradients for each step."""
    draw = np.random.default_rng(1)
    shapes = [s for s in SHAPES if len(s) == 2] if name == "Muon" else SHAPES

    def some(shape: Any) -> Any:
        x = draw.standard_normal(shape)
        if dtype.startswith("complex"):
            x = x + 1j * draw.standard_normal(shape)
        return np.asarray(x, dtype)

    first = [some(s) for s in shapes]
    return first, [[some(s) for s in shapes] for _ in range(STEPS)]


def moved(torch: Any, value: Any, known: dict[int, Any]) -> Any:
    """Arguments made for PyTorch as arguments for ``torch``, tensors and gradients included.

    ``known`` keeps one tensor one tensor.
    """
    import torch as pytorch

    if isinstance(value, pytorch.Tensor):
        if torch is pytorch:
            return value
        if id(value) not in known:
            known[id(value)] = moved_tensor(torch, value)
        return known[id(value)]
    if isinstance(value, dict):
        return {key: moved(torch, v, known) for key, v in value.items()}
    if isinstance(value, (list, tuple)):
        return type(value)(moved(torch, v, known) for v in value)
    return value


def moved_tensor(torch: Any, value: Any) -> Any:
    """A tensor of the other library, with its gradient."""
    t = moved_values(torch, value.detach())
    if hasattr(value, "_is_param"):
        t = torch.nn.Parameter(t, value.requires_grad)
    else:
        t.requires_grad_(value.requires_grad)
    if value.grad is not None:
        t.grad = moved_values(torch, value.grad)
    return t


def moved_values(torch: Any, t: Any) -> Any:
    """The elements of a tensor of the other library, sparse if it is."""
    made = torch.from_numpy(t.to_dense().numpy().copy())
    return made.to_sparse() if t.is_sparse else made


def stepper(torch: Any, params: list[Any], wanted: list[Any]) -> Callable[[], Any]:
    """The closure of a problem with the solution ``wanted``."""

    def closure() -> Any:
        loss = torch.zeros((), dtype=params[0].dtype)
        for i, (p, w) in enumerate(zip(params, wanted, strict=True)):
            away = p - w
            loss = loss + ((i + 1) * away * away).sum() + (away**4).sum() * 0.1
        for p in params:
            p.grad = None
        loss.backward()
        return loss

    return closure


def trajectory(torch: Any, name: str, kwargs: Any, dtype: str) -> Iterator[list[Any]]:
    """The parameters after each step; at the end, the state."""
    first, gradients = arrays(name, dtype)
    params = [torch.nn.Parameter(torch.from_numpy(x.copy())) for x in first]
    optimizer = getattr(torch.optim, name)(params, **moved(torch, copy.deepcopy(kwargs), {}))
    for step in gradients:
        grads = [torch.from_numpy(g.copy()) for g in step]
        if name == "LBFGS":
            optimizer.step(stepper(torch, params, [torch.from_numpy(g) for g in gradients[0]]))
        else:
            for p, g in zip(params, grads, strict=True):
                p.grad = g.to_sparse() if name == "SparseAdam" else g
            optimizer.step()
        yield [p.detach().numpy().copy() for p in params]
    yield flat(optimizer.state_dict()["state"])


def flat(value: Any, where: str = "") -> list[Any]:
    """The leaves of a state, each with its place and dtype."""
    if isinstance(value, dict):
        return [leaf for k, v in value.items() for leaf in flat(v, f"{where}.{k}")]
    if isinstance(value, (list, tuple)):
        return [leaf for i, v in enumerate(value) for leaf in flat(v, f"{where}[{i}]")]
    if hasattr(value, "detach"):
        return [(where, str(value.dtype), value.detach().numpy().copy())]
    return [(where, type(value).__name__, value)]


def close(a: Any, b: Any, rtol: float, atol: float) -> bool:
    """Whether two leaves agree: arrays within the tolerance, the rest exactly."""
    if isinstance(a, tuple):
        return a[:2] == b[:2] and close(a[2], b[2], rtol, atol)
    if isinstance(a, (np.ndarray, float)):
        return np.shape(a) == np.shape(b) and np.allclose(a, b, rtol, atol, equal_nan=True)
    return bool(a == b)


def check_steps(name: str, kwargs: Any, dtype: str) -> str:
    """Where the two libraries part, or nothing."""
    import torch

    import torchlike

    rtol, atol = LOOSE.get((name, dtype), TOLERANCE[dtype])
    noise = (name, dtype) == ("LBFGS", "float32")  # its state, once it has converged
    pairs = zip(
        trajectory(torchlike, name, kwargs, dtype),
        trajectory(torch, name, kwargs, dtype),
        strict=True,
    )
    for i, (ours, theirs) in enumerate(pairs):
        if len(ours) != len(theirs):
            return f"{len(ours)} entries of the state, PyTorch has {len(theirs)}"
        for j, (a, b) in enumerate(zip(ours, theirs, strict=True)):
            if i == STEPS and noise:
                a, b = (*a[:2], str(np.shape(a[2]))), (*b[:2], str(np.shape(b[2])))
            if not close(a, b, rtol, atol):
                what = f"state {b[0]}" if i == STEPS else f"step {i + 1}, parameter {j}"
                return f"{what}\n      torchlike: {a}\n      PyTorch:   {b}"
    return ""


def raised(torch: Any, name: str, entry: Any, on_step: bool) -> str:
    """What constructing (and stepping) raises, warnings included."""
    given = entry.optimizer_error_input
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        try:
            params, kwargs = moved(torch, [given.params, given.kwargs], {})
            optimizer = getattr(torch.optim, name)(params, **kwargs)
            if on_step:
                optimizer.step()
        except Exception as caught:
            return f"{type(caught).__name__}: {caught}"
    return "no error"


def check_error(name: str, entry: Any) -> str:
    """Where a provoked error differs, or nothing."""
    import torch

    import torchlike

    on_step = entry.error_on.name == "STEP_ERROR"
    ours, theirs = (raised(t, name, entry, on_step) for t in (torchlike, torch))
    return "" if ours == theirs else f"\n      torchlike: {ours}\n      PyTorch:   {theirs}"


def checks(info: Any) -> Iterator[tuple[str, Callable[[], str]]]:
    """The name and the work of every check of an entry."""
    import torch

    name = info.optim_cls.__name__
    for config in info.optim_inputs_func(device="cpu"):
        dtypes = ["float64", "float32"] + ["complex64"] * (
            bool(info.supports_complex) and name != "LBFGS"
        )
        for dtype in dtypes:
            kwargs = config.kwargs
            yield (
                f"{name} {kwargs} {dtype}",
                lambda kwargs=kwargs, dtype=dtype: check_steps(name, kwargs, dtype),
            )
    for i, entry in enumerate(info.optim_error_inputs_func("cpu", torch.float32)):
        yield (
            f"{name} error {i} {entry.error_regex!r}",
            lambda entry=entry: check_error(name, entry),
        )


def result(check: Callable[[], str]) -> str:
    """What a check found; an exception is a finding too."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return check()
    except Exception as caught:
        return f"{type(caught).__name__}: {caught}"


def score() -> tuple[int, int]:
    """How many checks pass, of how many; those of a missing optimizer fail."""
    import torchlike

    passed = total = 0
    for info in database():
        made = list(checks(info))
        total += len(made)
        if hasattr(torchlike.optim, info.optim_cls.__name__):
            passed += sum(not result(check) for _, check in made)
    return passed, total


def main(only: str = "") -> int:
    """Run and print; the number of failures."""
    failed = total = 0
    for info in database():
        name = info.optim_cls.__name__
        if only and name != only:
            continue
        import torchlike

        if not hasattr(torchlike.optim, name):
            print(f"{name}: not in torchlike, {len(list(checks(info)))} checks not made")
            continue
        found = [(label, result(check)) for label, check in checks(info)]
        bad = [(label, text) for label, text in found if text]
        for label, text in bad:
            print(f"   {label}: {text}")
        print(f"{name}: {len(found) - len(bad)}/{len(found)}", flush=True)
        failed, total = failed + len(bad), total + len(found)
    print(f"total: {total - failed}/{total}")
    return failed


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--only", default="")
    sys.exit(bool(main(parser.parse_args().only)))
