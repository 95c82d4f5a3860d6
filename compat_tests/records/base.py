"""What a record is: one operation as a user calls it, with inputs to try it on."""

from __future__ import annotations

import zlib
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np

DTYPES = (
    "float64",
    "float32",
    "float16",
    "bfloat16",
    "complex128",
    "complex64",
    "int64",
    "int32",
    "int16",
    "int8",
    "uint8",
    "bool",
)
FLOATS = DTYPES[:4]
REAL = tuple(d for d in DTYPES if not d.startswith("complex"))


@dataclass(frozen=True)
class In:
    """An input array: shape, layout in memory, range of values.

    ``layout`` is ``c`` (contiguous), ``t`` (axes reversed), ``p`` (last axis outermost), ``s``
    (every second element of a wider array) or ``e`` (first axis expanded, stride 0). ``kind`` is
    ``float`` (takes the dtype of the test and a gradient), ``data`` (the dtype, no gradient),
    ``index`` (int64) or ``mask`` (bool). ``away`` keeps values this far from 0.
    """

    shape: tuple[int, ...]
    layout: str = "c"
    low: float = -2.0
    high: float = 2.0
    kind: str = "float"
    away: float = 0.0
    distinct: bool = False

    def __repr__(self) -> str:
        sizes = ", ".join(map(str, self.shape))
        return f"{self.kind}({sizes}{', ' + self.layout if self.layout != 'c' else ''})"

    @property
    def differentiable(self) -> bool:
        return self.kind == "float"

    def array(self, rng: np.random.Generator, dtype: str) -> np.ndarray:
        """The values, as NumPy holds them (float32 stands in for bfloat16)."""
        shape = (1, *self.shape[1:]) if self.layout == "e" and self.shape else self.shape
        values = self._values(rng, shape, dtype)
        return lay_out(values, self.layout, self.shape)

    def _values(self, rng: np.random.Generator, shape: Any, dtype: str) -> np.ndarray:
        if self.kind == "index":
            return rng.integers(int(self.low), int(self.high), shape)
        if self.kind == "mask":
            return rng.random(shape) < 0.5
        if dtype == "bool":
            return rng.random(shape) < 0.5
        if np.issubdtype(np.dtype(_numpy_name(dtype)), np.integer):
            low = 0 if dtype == "uint8" and self.low < 0 else int(np.ceil(self.low))
            return rng.integers(low, max(int(self.high * 3), low + 2), shape).astype(dtype)
        real = self._reals(rng, shape)
        if dtype.startswith("complex"):
            real = real + 1j * self._reals(rng, shape)
        return np.asarray(real).astype(_numpy_name(dtype))

    def _reals(self, rng: np.random.Generator, shape: Any) -> np.ndarray:
        if self.distinct:  # far enough apart that no step of a numerical check swaps two
            n = int(np.prod(shape))
            steps = np.linspace(self.low, self.high, max(n, 2))[:n]
            return rng.permutation(steps).reshape(shape)
        values = np.asarray(rng.uniform(self.low, self.high, shape))
        return values + self.away * np.sign(values)


def _numpy_name(dtype: str) -> str:
    return "float32" if dtype == "bfloat16" else dtype


def lay_out(values: np.ndarray, layout: str, shape: tuple[int, ...]) -> np.ndarray:
    """The same values in another order in memory."""
    if 0 in shape:  # NumPy gives empty arrays strides of 0, which PyTorch would keep
        strides = np.zeros([max(n, 1) for n in shape], values.dtype).strides
        return np.lib.stride_tricks.as_strided(np.zeros(1, values.dtype), shape, strides)
    if layout == "t":
        return np.ascontiguousarray(values.T).T
    if layout == "p":
        return np.moveaxis(np.ascontiguousarray(np.moveaxis(values, -1, 0)), 0, -1)
    if layout == "s":
        wide = np.zeros((*values.shape[:-1], 2 * values.shape[-1]), values.dtype)
        wide[..., ::2] = values
        return wide[..., ::2]
    if layout == "e":
        strides = (0, *values.strides[1:])
        return np.lib.stride_tricks.as_strided(values, shape, strides)
    return np.array(values, order="C")


def A(*shape: int, lay: str = "c", **kw: Any) -> In:
    """A differentiable input."""
    return In(shape, lay, **kw)


def D(*shape: int, lay: str = "c", **kw: Any) -> In:
    """An input of the dtype of the test that gets no gradient."""
    return In(shape, lay, kind="data", **kw)


def N(*shape: int, high: int, low: int = 0, lay: str = "c") -> In:
    """Indices below ``high``."""
    return In(shape, lay, low, high, "index")


def M(*shape: int, lay: str = "c") -> In:
    """A mask."""
    return In(shape, lay, kind="mask")


Sample = tuple[Any, ...]  # inputs (In) and static arguments, in the order ``call`` takes them


@dataclass
class Record:
    """One operation: how to call it, on what, and which other forms of it exist.

    ``call(torch, *arguments)`` is written against the torch namespace and runs with PyTorch and
    with torchlike alike; ``jax(jnp, *arguments)`` is the same function for JAX. ``covers`` are the
    declared operations it is there to test, ``names`` the public names. Arguments of ``bad``
    raise. ``in_place`` is the twin's name, ``out`` says that ``torch.NAME`` takes ``out=``.
    """

    name: str
    call: Callable[..., Any]
    samples: list[Sample]
    jax: Callable[..., Any] | None = None
    covers: tuple[str, ...] = ()
    names: tuple[str, ...] = ()
    in_place: str | None = None
    out: bool = False
    bad: list[Sample] = field(default_factory=list)
    differentiable: bool = True
    second: bool = True  # whether PyTorch has a second derivative to compare with
    batchable: bool = True  # data-dependent shapes and random numbers are not
    internal: bool = False  # torchlike's own: no counterpart to compare with
    dtypes: tuple[str, ...] = DTYPES

    def kinked(self, index: int) -> bool:
        """Whether a sample sits where its derivative jumps: extremes that are tied."""
        return any(
            isinstance(a, In) and a.distinct and (a.layout == "e" or a.low == a.high)
            for a in self.samples[index]
        )

    def arrays(self, index: int, dtype: str) -> list[Any]:
        """The arguments of sample ``index``: arrays in place of inputs."""
        return build(self.samples[index], f"{self.name}/{index}", dtype)


def build(sample: Sample, seed: str, dtype: str) -> list[Any]:
    """Deterministic arrays for the inputs of a sample."""
    rng = np.random.default_rng(zlib.crc32(seed.encode()))

    def one(a: Any) -> Any:
        if isinstance(a, In):
            return a.array(rng, dtype)
        return [one(b) for b in a] if isinstance(a, list) else a

    return [one(a) for a in sample]


RECORDS: dict[str, Record] = {}


def record(name: str, call: Callable[..., Any], *samples: Any, **kw: Any) -> Record:
    """Enter a record. A sample that is no tuple is a single argument."""
    listed = [s if isinstance(s, tuple) else (s,) for s in samples]
    for key in ("covers", "names"):
        if isinstance(kw.get(key), str):
            kw[key] = tuple(kw[key].split())
    kw["bad"] = [s if isinstance(s, tuple) else (s,) for s in kw.get("bad", [])]
    assert name not in RECORDS, name
    RECORDS[name] = Record(name, call, listed, **kw)
    return RECORDS[name]


def unary_samples(**kw: Any) -> list[Sample]:
    """Shapes and layouts for an elementwise operation of one tensor."""
    shapes = [A(3, 4), A(), A(0, 3), A(2, 1, 3), A(3, 4, lay="t"), A(2, 3, 4, lay="p")]
    shapes += [A(3, 4, lay="s"), A(3, 4, lay="e")]
    return [(_with(a, **kw),) for a in shapes]


def binary_samples(**kw: Any) -> list[Sample]:
    """Shapes and layouts for an elementwise operation of two tensors, or of one and a number."""
    pairs: list[Sample] = [
        (A(3, 4), A(3, 4)),
        (A(), A()),
        (A(3, 1), A(4)),
        (A(), A(2, 3)),
        (A(2, 3), 1.5),
        (A(2, 3), 2),
        (A(0, 3), A(1, 3)),
        (A(3, 4, lay="t"), A(3, 4)),
        (A(3, 4), A(3, 4, lay="t")),
        (A(3, 4, lay="t"), A(3, 4, lay="t")),
        (A(2, 3, 4, lay="p"), A(3, 1)),
        (A(4), A(2, 3, 4, lay="p")),
        (A(3, 4, lay="s"), A(3, 4)),
        (A(3, 4, lay="e"), A(3, 4, lay="e")),
    ]
    return [tuple(_with(a, **kw) for a in pair) for pair in pairs]


def _with(a: Any, **kw: Any) -> Any:
    return In(a.shape, a.layout, **kw) if isinstance(a, In) else a
