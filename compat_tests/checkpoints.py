"""Objects of every kind that checkpoints hold, made by either library, and how to compare them."""

from __future__ import annotations

import collections
import io
import struct
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

GOLDEN = Path(__file__).parent / "golden" / "checkpoints"
Pair = collections.namedtuple("Pair", "a b")
# name -> how to make the object with a library
KINDS: dict[str, Callable[[Any], Any]] = {}
TRUSTED: set[str] = set()  # kinds that weights_only=True refuses
DTYPES = (
    "float64 float32 float16 bfloat16 complex64 complex128 uint8 int8 int16 int32 int64 uint16 "
    "uint32 uint64 bool"
).split()


def kind(trusted: bool = False) -> Any:
    """Register a function under its name."""

    def register(make: Any) -> Any:
        KINDS[make.__name__] = make
        if trusted:
            TRUSTED.add(make.__name__)
        return make

    return register


def grid(T: Any, *shape: int) -> Any:
    """Different numbers."""
    return T.arange(float(np.prod(shape))).reshape(shape)


def network(T: Any) -> Any:
    """A small network with known parameters."""
    net = T.nn.Sequential(T.nn.Linear(2, 3), T.nn.ReLU(), T.nn.Linear(3, 1))
    with T.no_grad():
        for p in net.parameters():
            p.copy_(grid(T, *p.shape) / 8 - 0.25)
    return net


def trained(T: Any, make: Any) -> Any:
    """An optimizer after two steps on the network."""
    net = network(T)
    optimizer = make(net.parameters())
    for _ in range(2):
        optimizer.zero_grad()
        net(grid(T, 4, 2)).pow(2).sum().backward()
        optimizer.step()
    return optimizer


@kind()
def dtypes(T: Any) -> Any:
    """Every dtype."""
    return {name: T.tensor([0, 1, 2, 3]).to(getattr(T, name)) for name in DTYPES}


@kind()
def bare_tensor(T: Any) -> Any:
    """One tensor, in no container."""
    return grid(T, 2, 3)


@kind()
def nested(T: Any) -> Any:
    """Containers in containers."""
    deep = {"list": [grid(T, 2), [grid(T, 3)]], "tuple": (1, (2, (3,))), 7: {"x": ()}}
    return [deep, deep, {"same": deep}]


@kind()
def state_dict(T: Any) -> Any:
    """A module's state."""
    return network(T).state_dict()


@kind()
def adam(T: Any) -> Any:
    """An optimizer's state."""
    return trained(T, lambda p: T.optim.Adam(p, lr=0.01)).state_dict()


@kind()
def momentum(T: Any) -> Any:
    """An optimizer's state with fewer tensors."""
    return trained(T, lambda p: T.optim.SGD(p, lr=0.001, momentum=0.9)).state_dict()


@kind()
def training(T: Any) -> Any:
    """What programs save: everything of a training, in one dict."""
    optimizer = trained(T, lambda p: T.optim.SGD(p, lr=0.001))
    scheduler = T.optim.lr_scheduler.StepLR(optimizer, 2)
    state = {"epoch": 3, "loss": 0.25, "best": T.tensor(0.5), "scheduler": scheduler.state_dict()}
    return state | {"model": network(T).state_dict(), "optimizer": optimizer.state_dict()}


@kind()
def ordered(T: Any) -> Any:
    """An OrderedDict with an attribute, and a Counter."""
    found = collections.OrderedDict(b=1, a=grid(T, 1))
    found.note = {"kept": True}
    return [found, collections.Counter("abca")]


@kind()
def shared(T: Any) -> Any:
    """Tensors over one memory."""
    base = grid(T, 3, 4)
    return [base, base[1], base[:, 2], base.view(12), base]


@kind()
def strided(T: Any) -> Any:
    """Memory in other orders."""
    x = grid(T, 2, 3, 4)
    return [x.permute(2, 0, 1), x[:, 1], x[..., ::2], x[0].t(), x[1, 1, 1]]


@kind()
def expanded(T: Any) -> Any:
    """Strides of zero."""
    return [T.ones(1).expand(3), grid(T, 2, 1).expand(4, 2, 3)]


@kind()
def scalars_and_empties(T: Any) -> Any:
    """Tensors without dimensions, and without elements."""
    return [T.tensor(3.5), T.tensor(True), T.empty(0), T.zeros(2, 0, 3), T.zeros(0, 4)]


@kind()
def leaves(T: Any) -> Any:
    """Tensors that require gradients."""
    x = T.ones(2, requires_grad=True)
    return [x, (x * 2).detach(), T.ones(2, 2, requires_grad=True), x * 3]


@kind()
def parameters(T: Any) -> Any:
    """Parameters, tied and frozen."""
    p = T.nn.Parameter(grid(T, 2, 2))
    frozen = T.nn.Parameter(T.ones(1), requires_grad=False)
    return [p, p, frozen, T.nn.Parameter(T.zeros(2, dtype=T.uint16), requires_grad=False)]


@kind()
def attributes(T: Any) -> Any:
    """Tensors and parameters with attributes."""
    x, p = T.ones(2), T.nn.Parameter(T.ones(2))
    x.note, p.note = "x", [1, T.ones(1)]
    return [x, p, x.note, p.note]


@kind()
def descriptions(T: Any) -> Any:
    """What tensors are described with."""
    sizes = [T.Size([2, 3]), T.Size([]), grid(T, 2, 2).shape]
    return [*sizes, T.float32, T.bool, T.bfloat16, T.device("cpu"), T.device("cuda", 1), T.strided]


@kind()
def numbers_and_texts(T: Any) -> Any:
    """Python's own values."""
    numbers = [0, 255, 65535, -1, 2**31, 2**40, -(2**70), 1.5, float("inf"), 1 + 2j, True, None]
    return [*numbers, "", "ä €", "x" * 300, b"ab\xff", bytearray(b"xyz")]


@kind()
def sets(T: Any) -> Any:
    """A set, also an empty one."""
    return [{1, 2, "a"}, set()]


@kind(trusted=True)
def slices(T: Any) -> Any:
    """Slices, frozen sets, ranges."""
    return [slice(1, 5, 2), frozenset([1, 2]), range(3)]


@kind(trusted=True)
def named_tuple(T: Any) -> Any:
    """A program's own class."""
    return Pair(grid(T, 2), b=Pair(1, 2))


@kind(trusted=True)
def arrays(T: Any) -> Any:
    """NumPy's arrays and numbers."""
    return [np.arange(6.0).reshape(2, 3), np.float32(2), np.arange(3)[::2], np.dtype("int8")]


@kind(trusted=True)
def module(T: Any) -> Any:
    """A whole module."""
    return network(T)


@kind(trusted=True)
def modules(T: Any) -> Any:
    """Modules of many classes."""
    nn = T.nn
    layers = [nn.Conv2d(1, 2, 3, padding=1), nn.MaxPool2d(2), nn.Flatten(), nn.Dropout(0.3)]
    for p in layers[0].parameters():
        p.data.fill_(0.5)
    held = nn.ModuleDict({"a": nn.ModuleList(layers), "p": nn.ParameterList([T.ones(2)])})
    return held.eval()


@kind(trusted=True)
def recurrent(T: Any) -> Any:
    """A module that keeps its weights twice."""
    net = T.nn.LSTM(2, 3, 2, bidirectional=True)
    with T.no_grad():
        for p in net.parameters():
            p.copy_(grid(T, *p.shape) / 32)
    return net


@kind(trusted=True)
def optimizer(T: Any) -> Any:
    """A whole optimizer."""
    return trained(T, lambda p: T.optim.SGD(p, lr=0.001, momentum=0.9))


@kind(trusted=True)
def generator(T: Any) -> Any:
    """A random generator."""
    return T.Generator().manual_seed(5)


@kind()
def meta(T: Any) -> Any:
    """Tensors without memory."""
    return [T.zeros(2, 3, device="meta"), T.zeros(2, device="meta", requires_grad=True)]


# --- files ----------------------------------------------------------------------------------------


def saved(T: Any, value: Any, **options: Any) -> io.BytesIO:
    """What a library saves, ready to be read."""
    file = io.BytesIO()
    T.save(value, file, **options)
    file.seek(0)
    return file


def records(file: Any) -> list[tuple[str, int, bytes]]:
    """The records of a zip file: name, where the content begins, content."""
    raw, found = file.getvalue(), []
    with zipfile.ZipFile(file) as archive:
        assert archive.testzip() is None
        for entry in archive.infolist():
            lengths = struct.unpack_from("<HH", raw, entry.header_offset + 26)
            start = entry.header_offset + 30 + sum(lengths)
            found.append((entry.filename, start, raw[start : start + entry.file_size]))
    return found


# --- comparing ------------------------------------------------------------------------------------


def plain(value: Any) -> Any:
    """The object without anything of a library's own: numbers, texts, tuples, lists, dicts."""
    if hasattr(value, "state_dict"):
        extra = getattr(value, "training", None), repr(value)
        return type(value).__name__, extra, plain(value.state_dict())
    if hasattr(value, "stride"):
        return _plain_tensor(value)
    if hasattr(value, "initial_seed"):
        return "generator", value.initial_seed(), plain(value.get_state())
    if isinstance(value, dict):
        held = [(plain(k), plain(v)) for k, v in value.items()]
        return type(value).__name__, held, plain(getattr(value, "__dict__", None) or None)
    if isinstance(value, (list, tuple)):
        return type(value).__name__, [plain(v) for v in value]
    if isinstance(value, np.ndarray):
        return "array", str(value.dtype), value.tolist()
    if isinstance(value, float):
        return float(f"{value:.5g}")
    own = type(value).__module__.partition(".")[0] in ("torch", "torchlike", "functional")
    return str(value) if own else value


def _plain_tensor(t: Any) -> Any:
    values = "meta" if t.is_meta else plain(t.detach().tolist())
    kinds = type(t).__name__, str(t.dtype), t.requires_grad
    return kinds, tuple(t.shape), t.stride(), t.storage_offset(), values, plain(dict(vars(t)))
