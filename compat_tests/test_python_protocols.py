"""Tensors among NumPy's arrays and Python's own numbers, formats and indices, as in PyTorch."""

from __future__ import annotations

import math
import operator
import warnings
from typing import Any

import numpy as np
import pytest

from compat_tests.scenarios import Cases, error

CASES = Cases("python_protocols")

# v: float32 (3,); I: int64 (3,); x: float32 (2, 3, 4); a: float64 array (3,); s: 0-d array
LINES: dict[str, list[str]] = {}


def lines(name: str, text: str) -> None:
    LINES[name] = [line.strip() for line in text.strip().splitlines()]


lines(
    "numpy_functions",
    """
    np.transpose(x, (1, 2, 0))
    np.add(v, 1)
    np.multiply([1.0, 2.0, 3.0], v)
    np.sqrt(v)
    np.matmul(x[0], x[0].t())
    np.isnan(v)
    np.greater(v, 1)
    np.argmax(v)
    np.reshape(v, (3, 1))
    np.concatenate([v, v])
    np.stack([v, v])
    np.dot(v, v)
    np.array([v, v])
    np.asarray(v, dtype=np.float64)
    np.array(g)
    np.where(v > 1, 1, 0)
    np.cumsum(v)
    np.sort(v)
    np.arange(5)[torch.tensor(2)]
    np.zeros(3)[torch.tensor([1, 2])]
    np.shape(x)
    np.ndim(x)
    np.full(3, torch.tensor(2.0))
    np.exp(v, dtype=np.float64)
    np.array(torch.zeros(2, dtype=torch.bool))
    v.__array_wrap__(np.ones(2))
    v.__array_wrap__(np.array(True))
    """,
)
lines(
    "arrays_as_operands",
    """
    v + a
    v - a
    v * a
    v / a
    v ** a
    v // a
    v % a
    v @ a
    v + s
    v - s
    v * s
    v / s
    s / v
    v ** s
    v // s
    a * v
    s * v
    a + v
    a - v
    s - v
    a @ v
    a // v
    s // v
    a % v
    v == a
    a == v
    v == s
    v != a
    v < a
    a < v
    s < v
    I & np.array([1, 2, 3])
    np.array([1, 2, 3]) & I
    I ^ np.array(1)
    I << np.array(1)
    """,
)
lines(
    "numpys_numbers_as_operands",
    """
    np.float64(2) * v
    np.float32(2) * v
    np.int64(2) * v
    v * np.float64(2)
    np.float64(2) - v
    np.float32(2) - v
    np.float64(2) - I
    np.int64(2) - v
    np.int64(2) - I
    np.float64(2) / I
    np.float64(2) ** v
    np.float64(2) < v
    np.float64(2) == v
    np.int64(7) // (I + 1)
    np.bool_(True) - v
    np.bool_(True) + v
    """,
)
lines(
    "indices",
    """
    v[np.array(1)]
    v[np.array([0, 2])]
    v[np.array([True, False, True])]
    v[np.array(True)]
    v[np.int32(1)]
    v[(np.array(0),)]
    v[None, np.array(1)]
    v[np.array([], dtype=int)]
    x[0][np.int64(1), np.array(2)]
    x[0][range(2), [0, 1]]
    -x[0][range(3), torch.tensor([0, 1, 2])]
    [10, 20, 30][torch.tensor(1)]
    [10, 20, 30][torch.tensor(1.0)]
    "%5s" % ["a", "b", "c"][I[2]]
    list(range(torch.tensor(3)))
    [0] * torch.tensor(3)
    operator.index(torch.tensor([4]))
    operator.index(torch.tensor(4.0))
    """,
)
lines(
    "numbers_and_formats",
    """
    f"{torch.tensor(1.23456):.4f}"
    f"{torch.tensor(1.23456, dtype=torch.float64):10.3e}"
    f"{torch.tensor(5):05d}"
    f"{torch.tensor(True)}"
    f"{torch.tensor(3.14):>10}"
    f"{v}"
    f"{v:.2f}"
    f"{torch.tensor([1.5]):.2f}"
    "%d %.2f %s" % (torch.tensor(5), torch.tensor(5.123), torch.tensor(5))
    "{:.3f}".format(torch.tensor(1.0))
    math.sqrt(torch.tensor(4.0))
    math.floor(torch.tensor(4.5))
    round(torch.tensor(4.5678), 2)
    int(torch.tensor(4.5))
    float(torch.tensor(4))
    bool(torch.tensor([]))
    bool(v)
    int(v)
    bool(v.data.norm() < 1000)
    1.0 in v
    v.__contains__("a")
    """,
)
lines(
    "sequences",
    """
    list(v)
    list(torch.tensor(1))
    len(torch.tensor(1))
    list(reversed(v))
    reversed(v)
    reversed(x)[0, 0]
    reversed(torch.tensor(1))
    sum(v)
    max(v)
    sorted(v)[0]
    torch.tensor([torch.tensor(1.0), 2.0])
    torch.tensor([torch.ones(1), torch.zeros(1, 1)])
    torch.tensor([v, v])
    torch.tensor([torch.ones(0)])
    torch.as_tensor([v])
    torch.tensor([np.ones(2), np.zeros(2)])
    torch.LongTensor([[torch.tensor(1), torch.tensor(2)]])
    torch.Tensor([[torch.tensor(1.5)]])
    torch.FloatTensor([v, v])
    [torch.tensor(part) for part in (np.ones(2), np.zeros((1, 2)))]
    """,
)
lines(
    "legacy_calls",
    """
    torch.Tensor(2, 3).shape
    torch.Tensor(np.ones(2))
    torch.LongTensor(np.array([1, 2], np.int32))
    torch.FloatTensor(np.array([1, 2], np.int64))
    torch.BoolTensor([0, 1])
    torch.IntTensor([1.7])
    torch.LongTensor(v)
    torch.ShortTensor(I)
    v.new([1, 2])
    v.new(2, 3).shape
    v.new(np.ones(2))
    I.new([1.5])
    torch.nn.functional.mse_loss(v, v + 1, size_average=False)
    torch.ones(3).add_(-0.5, v)
    torch.ones(3).sub_(2, v)
    torch.matmul(x[0], x[0].t(), out=torch.empty(3, 3))
    torch.autograd.Variable(v, volatile=True)
    torch.tensor(1.0).data[0]
    v.sum().backward(retain_variables=True)
    torch.zeros(3).fill_(torch.tensor(2.5))
    torch.zeros(3).fill_(v)
    v.ndimension()
    torch.typename(v)
    torch.typename(3)
    torch.typename(np.ones)
    """,
)
lines(
    "results_and_types",
    """
    v.max(0)
    v.max(0).indices
    x.max(1).values.shape
    torch.min(x[0], 0)
    torch.sort(v)
    torch.topk(v, 2)
    torch.std_mean(v)
    v.type()
    v.type(torch.LongTensor)
    isinstance(v, torch.FloatTensor)
    isinstance(v, torch.LongTensor)
    hash(v) == id(v)
    {v: 1}[v]
    v.shape == (3,)
    v.contiguous() is v
    v.float() is v
    v.to("cpu") is v
    v.view(3) is v
    v.detach() is v
    """,
)


def _answer(line: str, torch: Any) -> str:
    names = {"torch": torch, "np": np, "math": math, "operator": operator}
    names |= {"v": torch.arange(3.0), "I": torch.arange(3), "a": np.ones(3), "s": np.array(2.0)}
    names |= {"x": torch.arange(24.0).reshape(2, 3, 4), "g": torch.ones(3, requires_grad=True)}

    def call() -> Any:
        names["found"] = eval(line, names)

    failed = error(call)
    if failed != "no error":
        return failed
    found = names["found"]
    return f"{type(found).__name__} {found!r}".replace("torchlike", "torch")


def _scenario(name: str) -> Any:
    def scenario(torch: Any) -> Any:
        return [[line, _answer(line, torch)] for line in LINES[name]]

    scenario.__name__ = name
    return scenario


for _name in LINES:
    CASES.add(_scenario(_name))


@CASES.add
def in_place_with_arrays(torch: Any) -> Any:
    """The tensor's name gets a new tensor; the array's operators refuse."""
    found = []
    for op in "+= -= *= /= //= %= **=".split():
        for other in ("a", "s", "np.float64(2)"):
            for text in (f"v {op} {other}", f"b {op} v"):
                names = {"v": torch.arange(3.0) + 1, "a": np.ones(3), "s": np.array(2.0)}
                names |= {"np": np, "b": np.ones(3)}
                failed = error(lambda text=text, names=names: exec(text, names))
                found.append([text, failed, repr(names["v"]).replace("torchlike", "torch")])
    return found


@CASES.add
def shared_memory_with_numpy(torch: Any) -> Any:
    a = np.zeros(3)
    t = torch.from_numpy(a)
    t[0], a[1] = 5, 7
    u = torch.arange(3.0)
    n = u.numpy()
    n[0] = 9
    u.add_(1)
    z = torch.zeros(3)
    z[0] = a[1]
    a[2] = torch.tensor(3.0)
    a[:2] = u[:2]
    return [t, a.tolist(), u, n.tolist(), z, error(lambda: z.__setitem__(slice(None), a))]


@CASES.add
def identities(torch: Any) -> Any:
    c, d, e = torch.empty(()), torch.ones(3), torch.ones(1, 3)
    v = torch.arange(3.0)
    found = [torch.matmul(v, v, out=c) is c, torch.add(v, v, out=d) is d]
    found += [d.unsqueeze_(0) is d, e.squeeze_() is e, d.add_(1) is d, d.requires_grad_() is d]
    return found, d.shape, e.shape, str(type(v)).replace("torchlike", "torch")


test_scenario = CASES.test()


@pytest.mark.parametrize("call", ["T", "add_", "volatile"])
def test_warnings_that_come_once(call: str, monkeypatch: pytest.MonkeyPatch) -> None:
    import torchlike as torch
    from functional import blame

    monkeypatch.setattr(blame, "_seen", set())
    calls = {
        "T": (lambda: torch.ones(3).T, "dimension other than 2"),
        "add_": (lambda: torch.ones(3).add_(2, torch.ones(3)), "overload of add_ is deprecated"),
        "volatile": (lambda: torch.autograd.Variable(torch.ones(1), volatile=True), "no effect"),
    }
    function, text = calls[call]
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        function()
        function()
    assert len(caught) == (2 if call == "volatile" else 1) and text in str(caught[0].message)
    assert caught[0].filename == __file__
