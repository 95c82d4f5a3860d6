"""What PyTorch prints: cases, and a script that records its texts.

    python -m compat_tests.record_printing

writes golden/printing.json, which stands in where PyTorch is absent. A case is a function of a
library (PyTorch or this one) that returns a text, or a list of things whose texts count.
"""

from __future__ import annotations

import itertools
import json
import math
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np

GOLDEN = Path(__file__).parent / "golden" / "printing.json"
Case = Callable[[Any], Any]

INTEGERS = "int8 int16 int32 int64 uint8 uint16 uint32 uint64".split()
FLOATS = "float16 bfloat16 float32 float64".split()
COMPLEX = "complex64 complex128".split()
DTYPES = [*FLOATS, *INTEGERS, "bool", *COMPLEX]
SHAPES = [(), (1,), (7,), (25,), (3, 4), (2, 3, 2), (2, 1, 2, 3), (0,), (0, 3), (2, 0, 1), (1001,)]
SHAPES += [(30, 40), (4, 300), (300, 4), (11, 12, 13)]

# Lists of floats that decide between the notations in every way.
SERIES: dict[str, list[float]] = {
    "whole": [1, -2, 30, 0],
    "whole_wide": [1, 1001],
    "whole_edge": [1, 1000],
    "whole_large": [1e8, 1e8 + 8],
    "whole_huge": [3e38, 1],
    "halves": [0.5, -1.5, 2],
    "wide": [0.001, 1.5],
    "wide_edge": [0.0015, 1.5],
    "small": [1e-5, 2e-5],
    "small_edge": [1e-4, 2e-4],
    "below_edge": [0.00009999, 0.0002],
    "large": [123456.789, 1000.5],
    "over": [1e8 + 0.5, 1e8],
    "nan": [math.nan, 1],
    "nan_half": [math.nan, 0.5],
    "inf": [math.inf, -math.inf, 1e4],
    "not_finite": [math.inf, -math.inf, math.nan],
    "nan_wide": [math.nan, 1e-9, 1],
    "zeros": [0, 0],
    "negative_zero": [-0.0, 0.25],
    "negative_zero_whole": [-0.0, 5],
    "one": [0.1],
    "tiny": [1e-30],
    "subnormal": [1e-40],
    "third": [1 / 3, -2 / 3],
    "rounding": [0.99999, 0.00005],
    "ties": [0.00005, 0.00015, 0.12345],
}

OPTIONS: list[dict[str, Any]] = [
    {"precision": 2}, {"precision": 0}, {"precision": 10}, {"threshold": 5},
    {"threshold": 5, "edgeitems": 1}, {"threshold": 5, "edgeitems": 5}, {"edgeitems": 0},
    {"edgeitems": 0, "threshold": 5}, {"linewidth": 30}, {"linewidth": 120}, {"linewidth": 1},
    {"sci_mode": True}, {"sci_mode": False}, {"sci_mode": True, "precision": 1},
    {"profile": "short"}, {"profile": "full"}, {"profile": "short", "precision": 6},
    {"profile": "unknown"},
]  # fmt: skip


def array(shape: tuple[int, ...], dtype: str, scale: float = 1.0) -> np.ndarray:
    """Numbers in no order, the same everywhere; bfloat16 is converted later."""
    count = math.prod(shape)
    numbers = (np.arange(count) * 37 + 11) % 101 - (0 if dtype.startswith("u") else 50)
    if dtype == "bool":
        found = numbers % 3 == 0
    elif dtype in INTEGERS:
        found = numbers.astype(dtype)
    else:
        found = numbers * scale / 7
        if dtype in COMPLEX:
            found = found + 1j * ((np.arange(count) * 53 + 5) % 89 - 44)
        found = found.astype("float32" if dtype == "bfloat16" else dtype)
    return found.reshape(shape)


def make(t: Any, values: Any, dtype: str) -> Any:
    """A tensor of this dtype with these values."""
    return t.from_numpy(np.array(values)).to(getattr(t, dtype))


def _with_options(options: dict[str, Any], case: Case) -> Case:
    def run(t: Any) -> Any:
        t.set_printoptions(**options)
        try:
            return texts(case(t))
        finally:
            t.set_printoptions(profile="default")

    return run


def texts(found: Any) -> list[str]:
    """The texts of what a case returned."""
    return [x if isinstance(x, str) else repr(x) for x in found]


def _grid() -> Iterator[tuple[str, Case]]:
    for dtype, shape in itertools.product(DTYPES, SHAPES):
        name = f"{dtype}{list(shape)}"
        yield name, lambda t, d=dtype, s=shape: [make(t, array(s, d), d)]
    for dtype, (name, values) in itertools.product(FLOATS, SERIES.items()):
        kind = "float32" if dtype == "bfloat16" else dtype
        with np.errstate(over="ignore", invalid="ignore"):
            data = np.array(values).astype(kind)
        yield f"{dtype}-{name}", lambda t, d=dtype, v=data: [make(t, v, d), make(t, v[:1], d)[0]]
    for (a, real), (b, imag) in itertools.combinations(SERIES.items(), 2):
        n = min(len(real), len(imag))
        data = np.empty(n, np.complex128)
        data.real, data.imag = real[:n], imag[:n]
        yield f"complex-{a}-{b}", lambda t, v=data: [make(t, v, "complex128")]


def _options() -> Iterator[tuple[str, Case]]:
    shapes = [(), (1,), (8,), (3, 4), (3, 1, 7), (0,), (0, 2)]
    for options in OPTIONS:
        for dtype, scale in (("float32", 1.0), ("float64", 1e-6), ("int64", 1), ("complex64", 1)):
            name = f"{options}-{dtype}"

            def case(t: Any, d: str = dtype, by: float = scale) -> list[Any]:
                return [make(t, array(s, d, by), d) for s in shapes]

            yield name, _with_options(options, case)
        if not {"sci_mode", "precision"} & set(options):
            continue
        series = list(SERIES.values())
        yield (
            f"{options}-series",
            _with_options(options, lambda t, s=series: [make(t, v, "float64") for v in s]),
        )


def _notes(t: Any) -> list[Any]:
    """Suffixes, alone and where they wrap."""
    x = make(t, array((2, 3), "float32"), "float32").requires_grad_()
    found = [x, x * 2, x.sum(), x[0], x.detach(), x.reshape(6), x.t(), x.unbind()]
    for n in range(6, 30):
        y = make(t, array((n,), "float64"), "float64").requires_grad_()
        found += [y, y + 1, y.tanh()]
    found += [t.zeros(0, 3, requires_grad=True), t.zeros(2, 0, dtype=t.float64)]
    return found


def _meta(t: Any) -> list[Any]:
    found = []
    for dtype in DTYPES:
        d = getattr(t, dtype)
        for shape in ((), (3,), (2, 3), (0,), (0, 2)):
            found.append(t.zeros(shape, dtype=d, device="meta"))
    found.append(t.zeros(2, device="meta", requires_grad=True))
    return found


def _default_dtypes(t: Any) -> list[Any]:
    found = []
    for name in ("float64", "float16", "float32"):
        t.set_default_dtype(getattr(t, name))
        try:
            for dtype in DTYPES:
                d = getattr(t, dtype)
                found += map(repr, [t.ones(2, dtype=d), t.ones(0, dtype=d)])
        finally:
            t.set_default_dtype(t.float32)
    return found


def _subclasses(t: Any) -> list[Any]:
    class Temperature(t.Tensor):
        pass

    class Weight(t.nn.Parameter):
        pass

    x = make(t, [1.0, 2.5], "float32")
    parameter = t.nn.Parameter(x)
    return [
        parameter, t.nn.Parameter(x, requires_grad=False), t.nn.Parameter(t.zeros(0)),
        t.nn.Parameter(t.zeros(2, device="meta")), Weight(x), parameter * 2, parameter.data,
        x.as_subclass(Temperature), x.as_subclass(Temperature) + 1, str(parameter),
        make(t, array((2, 9), "float64", 1e3), "float64").as_subclass(Temperature),
        parameter.__repr__(), x.__repr__(tensor_contents="[...]"),
    ]  # fmt: skip


def _formats(t: Any) -> list[Any]:
    class Temperature(t.Tensor):
        pass

    scalars = [make(t, v, d) for v, d in ((1.25, "float32"), (3, "int64"), (True, "bool"))]
    scalars += [make(t, 1 + 2j, "complex64"), make(t, 0.1, "float64"), make(t, 2.5, "bfloat16")]
    scalars += [scalars[0].clone().requires_grad_(), scalars[0].as_subclass(Temperature)]
    scalars += [t.nn.Parameter(scalars[0]), make(t, [1.25], "float32")]
    scalars += [t.zeros((), device="meta")]
    specs = ("", ".3f", ">10", "5d", "e", "08.2f", "x")
    return [attempt(lambda x=x, s=s: format(x, s)) for x in scalars for s in specs]


def _others(t: Any) -> list[Any]:
    size = t.Size([2, 3])
    found = [size, t.Size([]), t.Size([1]), size[:1], size + (4,), str(size), [size]]
    found += [getattr(t, d) for d in DTYPES]
    for args in (("cpu",), ("cuda",), ("cuda", 1), ("cuda:2",), ("meta",)):
        found += [t.device(*args), str(t.device(*args))]
    found += [t.strided, t.contiguous_format, t.channels_last, t.preserve_format, str(t.float32)]
    found += [{"a": t.ones(2), "b": (t.float16, size)}]
    x = t.ones(2, requires_grad=True)
    for node in ((x * 2).grad_fn, (x + 1).grad_fn, x.sum().grad_fn.next_functions[0][0]):
        found.append(repr(node).partition(" at ")[0])
    found.append(repr(t.Generator()).partition(" at ")[0])
    return found


def _infos(t: Any) -> list[Any]:
    found: list[Any] = []
    for d in (*FLOATS, *COMPLEX):
        i = t.finfo(getattr(t, d))
        found += [i, [i.bits, i.eps, i.max, i.min, i.tiny, i.smallest_normal, i.resolution]]
        found += [i.dtype, str(i)]
    for d in INTEGERS:
        i = t.iinfo(getattr(t, d))
        found += [i, [i.bits, i.max, i.min], i.dtype, str(i)]
    found += [t.finfo(), t.finfo() == t.finfo(t.float32), t.finfo() == t.finfo(t.float64)]
    wrong: list[Case] = [
        lambda t: t.finfo(t.int64), lambda t: t.finfo(t.bool), lambda t: t.finfo(3),
        lambda t: t.iinfo(t.float32), lambda t: t.iinfo(t.bool), lambda t: t.iinfo(t.complex64),
        lambda t: t.iinfo(), lambda t: t.iinfo("a"), lambda t: t.iinfo(dtype=t.int8),
        lambda t: t.iinfo(t.int8, 3), lambda t: t.finfo(dtype=t.float16),
    ]  # fmt: skip
    found += [attempt(lambda case=case: case(t)) for case in wrong]
    # the class's name in CPython's own texts differs
    lacks: list[Case] = [lambda t: hash(t.finfo()), lambda t: t.iinfo(t.int8).eps]
    return found + [attempt(lambda case=case: case(t)).partition(":")[0] for case in lacks]


def attempt(run: Callable[[], Any]) -> str:
    """The text of what ``run`` returns, or the exception it raises."""
    try:
        found = run()
    except Exception as error:
        return f"{type(error).__name__}: {error}"
    return found if isinstance(found, str) else repr(found)


def cases() -> dict[str, Case]:
    """Every case by its name."""
    found = dict(itertools.chain(_grid(), _options()))
    groups = [_notes, _meta, _default_dtypes, _subclasses, _formats, _others, _infos]
    return found | {group.__name__.lstrip("_"): group for group in groups}


def main() -> None:
    """Record what PyTorch prints."""
    import torch

    found = {name: texts(case(torch)) for name, case in cases().items()}
    GOLDEN.write_text(json.dumps(found, indent=0, ensure_ascii=False) + "\n")


if __name__ == "__main__":
    main()
