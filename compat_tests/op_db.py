"""PyTorch's operator database, run with torchlike: ``python -m compat_tests.op_db``.

Each entry of ``op_db`` makes its own sample inputs. Both libraries run them; an entry passes
forward if every sample of float32, float64, int64 and bool agrees, and backward if the gradients
of every float64 sample do. What is missing has failed.
"""

from __future__ import annotations

import argparse
import re
import signal
import sys
import traceback
import warnings
from collections.abc import Iterator
from dataclasses import dataclass, field
from multiprocessing import get_context
from typing import Any

import numpy as np

import torchlike

from .translate import array, database, found, rebound, torch, translated

DTYPES = ("float32", "float64", "int64", "bool")
# PyTorch's own defaults for comparing, but 1e-5 for float32 (1.3e-6 there, on one machine)
TOLERANCE = {"float32": (1e-5, 1e-5), "complex64": (1e-5, 1e-5), "float64": (1e-7, 1e-7)}
TOLERANCE |= {"complex128": (1e-7, 1e-7), "float16": (1e-3, 1e-3), "bfloat16": (1.6e-2, 1e-5)}
# whose values are whatever is in memory
UNSET = {"empty", "empty_like", "new_empty", "empty_strided", "new_empty_strided"}
UNSET |= {"empty_permuted", "resize_", "resize_as_"}
SECONDS = 300  # for one entry


class Different(AssertionError):
    """The two libraries do not agree."""


@dataclass
class Outcome:
    """What came of an entry: the first difference of each kind, or nothing."""

    name: str
    differentiable: bool
    forward: str = ""
    backward: str = ""
    samples: int = field(default=0)


def name_of(op: Any) -> str:
    """The entry's name with its variant."""
    return op.name + (f".{op.variant_test_name}" if op.variant_test_name else "")


def entries() -> list[Any]:
    """The public entries that run on a CPU."""

    def is_public(op: Any) -> bool:
        return not any(re.match("_[^_]", part) for part in op.name.split("."))

    every = database("common_methods_invocations", "op_db")
    return [op for op in every if op.dtypes and is_public(op)]


# --- comparing ------------------------------------------------------------------------------------


def same(
    expected: Any, actual: Any, values: bool = True, where: str = "result", loose: float = 1
) -> None:
    """Raise ``Different`` unless two results agree; ``loose`` widens the absolute tolerance."""
    if isinstance(expected, torch.Tensor):
        _same_tensor(expected, actual, values, where, loose)
    elif isinstance(expected, (list, tuple)):
        if not isinstance(actual, (list, tuple)) or len(actual) != len(expected):
            raise Different(f"{where}: {expected!r:.200} against {actual!r:.200}")
        for i, (a, b) in enumerate(zip(expected, actual, strict=True)):
            same(a, b, values, f"{where}[{i}]", loose)
    elif isinstance(expected, (int, float, complex)) and not isinstance(actual, torchlike.Tensor):
        if type(expected) is not type(actual) or not np.allclose(
            expected, actual, 1e-6, 1e-6, equal_nan=True
        ):
            raise Different(f"{where}: {expected!r} against {actual!r}")
    elif str(expected) != str(actual):
        raise Different(f"{where}: {expected!r:.200} against {actual!r:.200}")


def _same_tensor(expected: Any, actual: Any, values: bool, where: str, loose: float) -> None:
    if not isinstance(actual, torchlike.Tensor):
        raise Different(f"{where}: a tensor against {type(actual).__name__}")
    if str(expected.dtype) != str(actual.dtype):
        raise Different(f"{where}: {expected.dtype} against {actual.dtype}")
    if tuple(expected.shape) != tuple(actual.shape):
        raise Different(f"{where}: shape {tuple(expected.shape)} against {tuple(actual.shape)}")
    if not values:
        return
    a, b = array(expected), array(actual)
    rtol, atol = TOLERANCE.get(str(expected.dtype)[len("torch.") :], (0, 0))
    with np.errstate(invalid="ignore"):
        finite = np.abs(a[np.isfinite(a)]) if a.dtype.kind in "fc" else np.empty(0)
        if finite.size:  # small elements of sums of large ones are no better than those
            atol *= loose * max(1.0, float(finite.max()) / 10)
        if np.allclose(b, a, rtol, atol, equal_nan=True):
            return
        gap = np.nanmax(np.abs(np.asarray(a, complex) - np.asarray(b, complex)))
    raise Different(f"{where}: values differ by {gap:.3g}: {a.ravel()[:4]} and {b.ravel()[:4]}")


# --- running --------------------------------------------------------------------------------------


def counterpart(op: Any) -> Any:
    """torchlike's function for an entry; AttributeError where it is missing."""
    f = rebound(op.op)
    if f is not op.op:
        return f
    is_method = getattr(torch.Tensor, op.name, None) is op.op
    return found(torchlike.Tensor if is_method else torchlike, op.name)


def _call(library: Any, f: Any, args: Any) -> Any:
    library.manual_seed(7)
    input, rest, kw = args
    return f(input, *rest, **kw)


def _arguments(sample: Any) -> tuple[Any, Any]:
    theirs = (sample.input, sample.args, sample.kwargs)
    return theirs, translated(theirs)


def _samples(op: Any, dtype: str, grad: bool) -> Iterator[Any]:
    torch.manual_seed(0)
    np.random.seed(0)
    return iter(op.sample_inputs("cpu", getattr(torch, dtype), requires_grad=grad))


def forward(op: Any, dtype: str) -> int:
    """Compare the results of every sample; the number of samples."""
    ours, count = counterpart(op), 0
    for sample in _samples(op, dtype, False):
        process, count = sample.output_process_fn_grad, count + 1
        theirs, mine = _arguments(sample)
        try:
            expected = process(_call(torch, op.op, theirs))
        except Exception as error:
            _must_raise(error, ours, mine)
            continue
        actual = rebound(process)(_call(torchlike, ours, mine))
        same(expected, actual, op.name not in UNSET)
    return count


def _must_raise(error: Exception, f: Any, args: Any) -> None:
    try:
        _call(torchlike, f, args)
    except Exception:
        return
    raise Different(f"PyTorch raises {type(error).__name__}: {str(error)[:100]}")


def backward(op: Any) -> None:
    """Compare the gradients of every float64 sample."""
    ours = counterpart(op)
    for sample in _samples(op, "float64", True):
        theirs, mine = _arguments(sample)
        expected = _gradients(torch, op.op, op, sample.output_process_fn_grad, theirs)
        actual = _gradients(
            torchlike, ours, op, rebound(sample.output_process_fn_grad), mine, rebound
        )
        same(expected, actual, where="gradients")


def _gradients(
    library: Any, f: Any, op: Any, process: Any, args: Any, own: Any = lambda f: f
) -> list[Any]:
    inputs = [t for t in flat(args) if t.requires_grad]
    wrapper = own(op.gradcheck_wrapper)
    outputs = process(_call(library, lambda *a, **kw: wrapper(f, *a, **kw), args))
    outputs = [t for t in flat(outputs) if t.requires_grad]
    if not outputs:
        return []
    directions = [direction(library, t) for t in outputs]
    return list(library.autograd.grad(outputs, inputs, directions, allow_unused=True))


def direction(library: Any, like: Any) -> Any:
    rng = np.random.default_rng(len(like.shape))
    values = rng.uniform(-1, 1, tuple(like.shape))
    if like.is_complex():
        values = values + 1j * rng.uniform(-1, 1, tuple(like.shape))
    return library.as_tensor(np.asarray(values)).to(like.dtype)


def flat(tree: Any) -> list[Any]:
    if isinstance(tree, dict):
        tree = list(tree.values())
    if isinstance(tree, (list, tuple)):
        return [t for part in tree for t in flat(part)]
    return [tree] if hasattr(tree, "requires_grad") and hasattr(tree, "grad_fn") else []


def said(f: Any, *args: Any) -> str:
    """What went wrong in a call, in a line."""
    try:
        f(*args)
    except Different as error:
        return str(error)
    except Exception as error:
        at = traceback.extract_tb(error.__traceback__)[-1]
        return f"{type(error).__name__}: {error} ({at.name}:{at.lineno})".replace("\n", " ")[:300]
    return ""


def outcome(op: Any) -> Outcome:
    """Run one entry."""
    differentiable = op.supports_autograd and torch.float64 in op.supported_backward_dtypes("cpu")
    result = Outcome(name_of(op), differentiable)
    for dtype in DTYPES:
        if getattr(torch, dtype) in op.dtypes and not result.forward:
            wrong = said(forward, op, dtype)
            result.forward = wrong and f"{dtype}: {wrong}"
    if differentiable:
        result.backward = said(backward, op)
    return result


def _timed(name: str) -> Outcome:
    warnings.simplefilter("ignore")
    torch.set_num_threads(1)
    op = next(op for op in entries() if name_of(op) == name)

    def late(*_: Any) -> None:
        raise TimeoutError(f"more than {SECONDS} s")

    signal.signal(signal.SIGALRM, late)
    signal.alarm(SECONDS)
    try:
        return outcome(op)
    except TimeoutError as error:
        return Outcome(name, op.supports_autograd, str(error), str(error))
    finally:
        signal.alarm(0)


def run(pattern: str = "", processes: int = 2) -> list[Outcome]:
    """The outcomes of the entries whose names match."""
    names = [name_of(op) for op in entries() if re.search(pattern, name_of(op))]
    if processes < 2 or len(names) < 4:
        return [_timed(name) for name in names]
    with get_context("fork").Pool(processes) as pool:
        return pool.map(_timed, names, chunksize=1)


# --- report ---------------------------------------------------------------------------------------


def summary(outcomes: list[Outcome]) -> str:
    """How many entries pass."""
    differentiable = [o for o in outcomes if o.differentiable]
    forward_passes = sum(not o.forward for o in outcomes)
    backward_passes = sum(not o.backward for o in differentiable)
    return (
        f"forward {forward_passes} of {len(outcomes)}, "
        f"gradients {backward_passes} of {len(differentiable)}"
    )


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m compat_tests.op_db", description=__doc__)
    parser.add_argument("--only", default="", metavar="REGEX", help="entries whose names match")
    parser.add_argument("--processes", type=int, default=2)
    parser.add_argument("--failing", metavar="FILE", help="write the names that fail to a file")
    options = parser.parse_args()
    if torch is None:
        raise SystemExit("PyTorch is not installed")
    outcomes = run(options.only, options.processes)
    for o in outcomes:
        for kind, wrong in (("forward", o.forward), ("gradients", o.backward)):
            if wrong:
                print(f"{o.name} {kind}: {wrong}")
    print(summary(outcomes))
    if options.failing:
        lines = [f"{o.name} {'forward ' * bool(o.forward)}{'gradients' * bool(o.backward)}".strip()
                 for o in outcomes if o.forward or o.backward]  # fmt: skip
        with open(options.failing, "w") as file:
            file.write("\n".join(lines) + "\n")


if __name__ == "__main__":
    sys.exit(main())
