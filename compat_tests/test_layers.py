"""Layers, containers and initialisation against PyTorch: values, draws, printing, errors."""

from __future__ import annotations

import zlib
from collections import OrderedDict
from typing import Any

from compat_tests.scenarios import Cases, error

CASES = Cases("layers")


def bits(t: Any) -> list[Any]:
    """A tensor's shape, and a checksum of its bytes: equal only bit for bit."""
    return [list(t.shape), str(t.dtype), zlib.crc32(t.detach().contiguous().numpy().tobytes())]


def layers(torch: Any) -> dict[str, Any]:
    nn = torch.nn
    return {
        "linear": lambda: nn.Linear(7, 5),
        "linear without bias": lambda: nn.Linear(3, 4, bias=False),
        "linear double": lambda: nn.Linear(20, 30, dtype=torch.float64),
        "conv1d": lambda: nn.Conv1d(4, 6, 3, groups=2),
        "conv2d": lambda: nn.Conv2d(3, 8, 5),
        "conv2d same": lambda: nn.Conv2d(2, 4, (3, 5), padding="same", dilation=2),
        "conv3d": lambda: nn.Conv3d(2, 3, 2, stride=2, padding=1, bias=False),
        "small": lambda: nn.Linear(2, 2),
    }


@CASES.add
def default_initialisation(torch: Any) -> Any:
    torch.manual_seed(3)
    found = [[name, [bits(p) for p in make().parameters()]] for name, make in layers(torch).items()]
    return found, torch.rand(1).item()


@CASES.add
def initialisers(torch: Any) -> Any:
    init, found = torch.nn.init, []
    torch.manual_seed(5)
    for call in (
        lambda t: init.uniform_(t, -2, 3),
        lambda t: init.normal_(t, 1, 2),
        init.xavier_uniform_,
        lambda t: init.xavier_normal_(t, gain=2),
        lambda t: init.kaiming_uniform_(t, mode="fan_out", nonlinearity="relu"),
        lambda t: init.kaiming_normal_(t, a=0.1),
        init.ones_,
        init.zeros_,
        init.eye_,
        lambda t: init.constant_(t, 0.3),
    ):
        t = torch.nn.Parameter(torch.empty(6, 5))
        found.append([bits(call(t)), t.requires_grad, t._version])
    narrow = init.trunc_normal_(torch.empty(30, 20), 0.5, 2.0, 0.0, 1.0)
    wide = init.trunc_normal_(torch.empty(30, 20), 0.5, 2.0, -1.0, 3.0)
    shapes = ((3, 5), (5, 3), (2, 2, 2))
    turned = [init.orthogonal_(torch.empty(s, dtype=torch.float64), 2) for s in shapes]
    return found, narrow[0], wide[0], turned, torch.rand(1).item()


@CASES.add
def initialiser_errors(torch: Any) -> Any:
    init, v = torch.nn.init, torch.zeros(3)
    kinds = ("linear", "conv2d", "sigmoid", "tanh", "relu", "leaky_relu", "selu")
    return [
        [init.calculate_gain(kind) for kind in kinds],
        init.calculate_gain("leaky_relu", 0.2),
        error(lambda: init.calculate_gain("nothing")),
        error(lambda: init.calculate_gain("leaky_relu", "x")),
        error(lambda: init.xavier_uniform_(v)),
        error(lambda: init.kaiming_normal_(v)),
        error(lambda: init.kaiming_normal_(torch.zeros(2, 2), mode="x")),
        error(lambda: init.eye_(v)),
        error(lambda: init.orthogonal_(v)),
    ]


@CASES.add
def forward_and_gradients(torch: Any) -> Any:
    nn, found = torch.nn, []
    torch.manual_seed(0)
    image = torch.rand(2, 2, 7, 7, dtype=torch.float64)
    for m in (
        nn.Conv2d(2, 4, 3, padding=1, stride=2),
        nn.Conv2d(2, 4, 3, padding="same", groups=2),
        nn.Conv2d(2, 3, 3, padding="valid", dilation=2, bias=False),
        nn.MaxPool2d(3, stride=2, padding=1, ceil_mode=True),
        nn.ReLU(),
        nn.LeakyReLU(0.2),
        nn.Tanh(),
        nn.Sigmoid(),
        nn.Softmax(dim=1),
        nn.LogSoftmax(dim=-1),
        nn.Sequential(nn.Flatten(), nn.Linear(98, 3)),
        nn.Unflatten(1, (2, 1)),
        nn.Identity(3, a=4),
    ):
        x = (image - 0.5).requires_grad_()
        y = m.double()(x)
        (y * y).sum().backward()
        found.append(
            [y.sum(), y.shape, x.grad.flatten()[::13], [p.grad.sum() for p in m.parameters()]]
        )
    return found


@CASES.add
def one_and_three_dimensions(torch: Any) -> Any:
    nn = torch.nn
    torch.manual_seed(0)
    line, box = torch.rand(2, 3, 9), torch.rand(1, 2, 4, 4, 4)
    values, where = nn.MaxPool1d(3, return_indices=True)(line)
    return [
        [nn.Conv1d(3, 2, 4)(line), nn.Conv3d(2, 2, 3)(box), nn.MaxPool3d(2)(box)],
        [values, where, nn.Conv1d(3, 2, 4)(line[0])],
    ]


@CASES.add
def in_place_activations(torch: Any) -> Any:
    nn = torch.nn
    x = torch.tensor([-1.0, 2.0])
    y = nn.ReLU(inplace=True)(x)
    z = torch.tensor([-1.0, 2.0])
    w = nn.LeakyReLU(0.5, inplace=True)(z)
    leaf = torch.ones(1, requires_grad=True)
    return x, y is x, z, w is z, error(lambda: nn.ReLU(inplace=True)(leaf))


@CASES.add
def dropout(torch: Any) -> Any:
    m = torch.nn.Dropout(0.4)
    torch.manual_seed(1)
    x = torch.ones(4, 5, requires_grad=True)
    y = m(x)
    y.sum().backward()
    once = torch.nn.functional.dropout(torch.ones(3), 0.5)
    return y, x.grad, m.eval()(x) is x, once, error(lambda: torch.nn.Dropout(2))


@CASES.add
def losses(torch: Any) -> Any:
    nn, found = torch.nn, []
    torch.manual_seed(2)
    scores, target = torch.randn(5, 3), torch.tensor([0, 2, 1, 2, 2])
    weight = torch.tensor([0.2, 1.0, 3.0])
    for reduction in ("mean", "sum", "none"):
        for loss in (
            nn.CrossEntropyLoss(reduction=reduction),
            nn.CrossEntropyLoss(weight, reduction=reduction, ignore_index=1, label_smoothing=0.1),
            nn.NLLLoss(weight, reduction=reduction),
        ):
            x = scores.clone().requires_grad_()
            value = loss(x.log_softmax(1) if isinstance(loss, nn.NLLLoss) else x, target)
            value.sum().backward()
            found.append([value, x.grad])
        found.append(nn.MSELoss(reduction=reduction)(scores, scores * 2))
    state = list(nn.CrossEntropyLoss(weight=weight).state_dict())
    return found, state, error(lambda: nn.MSELoss(reduction="x")(scores, scores))


@CASES.add
def printing(torch: Any) -> Any:
    nn = torch.nn
    made = [make() for make in layers(torch).values()]
    made += [
        nn.Conv2d(3, 6, 5, stride=2, padding=1, dilation=2, groups=3, bias=False),
        nn.Conv2d(3, 6, 3, padding="valid"),
        nn.Conv2d(3, 6, 3, padding_mode="reflect"),
        nn.MaxPool1d(2),
        nn.MaxPool2d((2, 3), stride=(2, 1), padding=1, ceil_mode=True, return_indices=True),
        nn.MaxPool3d(2),
        nn.ReLU(True),
        nn.LeakyReLU(0.2, True),
        nn.Softmax(1),
        nn.LogSoftmax(dim=-1),
        nn.Tanh(),
        nn.Dropout(0.2, True),
        nn.Flatten(0, 2),
        nn.Unflatten(1, (2, 3)),
        nn.Identity(1),
        nn.MSELoss(),
        nn.NLLLoss(),
        nn.CrossEntropyLoss(),
    ]
    return [repr(m) for m in made]


@CASES.add
def layer_errors(torch: Any) -> Any:
    Conv, Unflatten = torch.nn.Conv2d, torch.nn.Unflatten
    return [
        error(lambda: Conv(3, 6, 3, padding="same", stride=2)),
        error(lambda: Conv(3, 6, 3, groups=2)),
        error(lambda: Conv(4, 5, 3, groups=2)),
        error(lambda: Conv(4, 5, 3, groups=0)),
        error(lambda: Conv(1, 1, 3)(torch.zeros(1, 2, 5, 5))),
        error(lambda: Conv(1, 1, 3)(torch.zeros(1, 1, 2, 2))),
        error(lambda: Unflatten(1, 3)),
        error(lambda: Unflatten(1, (2, "a"))),
        error(lambda: torch.nn.Linear(2, 3)(torch.zeros(1, 5))),
    ]


# --- containers -----------------------------------------------------------------------------------


@CASES.add
def sequential(torch: Any) -> Any:
    nn = torch.nn
    s = nn.Sequential(nn.Linear(1, 1), nn.ReLU(), nn.Tanh())
    named = nn.Sequential(OrderedDict(a=nn.ReLU(), b=nn.Tanh()))
    facts = [repr(s[0:2]), repr(s[-1]), len(s), repr(s + named), repr(s * 2), repr(2 * named)]
    popped = s.pop(0)
    s.insert(1, nn.Sigmoid()).append(nn.Identity()).extend([nn.Flatten()])
    s.insert(-1, nn.Dropout())
    facts += [repr(popped), repr(s), list(s._modules), repr(named[:1]), repr(named[1])]
    s += named
    del s[0], s[0:2]
    s[0], s[-1] = nn.Linear(2, 2), nn.Softmax(1)
    named.append(nn.ReLU())
    s *= 2
    return [*facts, repr(s), repr(named), [type(m).__name__ for m in s]]


@CASES.add
def sequential_errors(torch: Any) -> Any:
    nn = torch.nn
    s = nn.Sequential(nn.ReLU())
    found = [
        error(lambda: s[5]),
        error(lambda: s["0"]),
        error(lambda: s.insert(9, nn.ReLU())),
        error(lambda: s.insert(0, 3)),
        error(lambda: s + 3),
        error(lambda: s * 0),
        error(lambda: s * 1.5),
        error(lambda: nn.Sequential(3)),
        error(lambda: nn.Sequential({"a": nn.ReLU()})),
    ]
    return [text.replace("torchlike.", "torch.") for text in found]


@CASES.add
def module_list(torch: Any) -> Any:
    nn = torch.nn
    m = nn.ModuleList([nn.Linear(1, 2), nn.Linear(1, 2), nn.ReLU()])
    facts = [repr(m), repr(m[1:]), repr(m[-1]), repr(m + [nn.Tanh()]), repr(nn.ModuleList())]
    m.insert(1, nn.Tanh())
    m.append(None)
    m += [nn.ReLU(), nn.ReLU()]
    m[0] = nn.Sequential(nn.ReLU(), nn.ReLU())
    del m[2]
    facts += [repr(m), repr(m.pop(0)), len(m), m[0] in m, [type(x).__name__ for x in m]]
    errors = [
        error(lambda: m[9]),
        error(lambda: m.append(3)),
        error(lambda: m.extend(3)),
        error(lambda: m(1)),
        error(lambda: m.__setitem__(9, nn.ReLU())),
        error(lambda: m.__setitem__("a", nn.ReLU())),
    ]
    return facts, errors


@CASES.add
def module_dict(torch: Any) -> Any:
    nn = torch.nn
    m = nn.ModuleDict({"b": nn.ReLU(), "a": nn.Linear(1, 1)})
    m["c"] = nn.Tanh()
    m.update([("x", nn.ReLU()), ["y", nn.ReLU()]])
    m.update(nn.ModuleDict({"z": nn.Sigmoid()}))
    del m["x"]
    facts = [repr(m), list(m), list(m.keys()), len(m), "a" in m, repr(m.pop("a")), repr(m["c"])]
    errors = [
        error(lambda: m["q"]),
        error(lambda: m.update(3)),
        error(lambda: m.update([3])),
        error(lambda: m.update([(1, 2, 3)])),
        error(lambda: m.update({"k": 3})),
        error(lambda: m.__setitem__(3, nn.ReLU())),
        error(lambda: m.__setitem__("clear", nn.ReLU())),
        error(lambda: m(1)),
    ]
    m.clear()
    return facts, errors, repr(m)


@CASES.add
def parameter_list(torch: Any) -> Any:
    nn, ones = torch.nn, torch.ones
    m = nn.ParameterList([nn.Parameter(ones(2)), ones(3), 7, ones(1, dtype=torch.float64)])
    m.append(ones(1)).extend([ones(2, 2)])
    m += [ones(4)]
    m[0] = ones(5)
    facts = [repr(m), repr(m[1:3]), m[-1], type(m[1]).__name__, len(m), list(m.state_dict())]
    return [
        *facts,
        error(lambda: m[99]),
        error(lambda: m.extend(3)),
        error(lambda: m(3)),
        error(lambda: m.pop(0)),
    ]


@CASES.add
def parameter_dict(torch: Any) -> Any:
    nn, ones = torch.nn, torch.ones
    m = nn.ParameterDict({"b": ones(2), "a": nn.Parameter(ones(3)), "n": 3})
    facts = [repr(m), list(m), m["b"], m.get("zz", 4), m.setdefault("k", ones(1)), len(m)]
    m.update({"t": ones(1)})
    facts += [repr(m | nn.ParameterDict({"w": ones(1)})), list(reversed(m)), repr(m.copy())]
    facts += [repr(m.fromkeys(["p", "q"], ones(2))), m.popitem(), m.pop("b"), list(m.keys())]
    m |= nn.ParameterDict({"v": ones(1)})
    del m["a"]
    errors = [
        error(lambda: m["q"]),
        error(lambda: m.pop("zzz")),
        error(lambda: m.update(3)),
        error(lambda: m.update([(1, 2, 3)])),
        error(lambda: m(1)),
    ]
    facts += [repr(m), list(m.state_dict())]
    m.clear()
    return facts, errors, repr(m), error(lambda: m.__setitem__(3, ones(1)))


# --- utils ----------------------------------------------------------------------------------------


def with_gradients(torch: Any, *grads: list[float]) -> list[Any]:
    found = []
    for g in grads:
        p = torch.nn.Parameter(torch.ones(len(g)))
        p.grad = torch.tensor(g)
        found.append(p)
    return found


@CASES.add
def clipping(torch: Any) -> Any:
    utils, found = torch.nn.utils, []
    for norm in (2, 1, float("inf"), 3, 0, -1.0):
        params = with_gradients(torch, [3.0, 4.0], [1.0, -7.0])
        total = utils.clip_grad_norm_(params, 1.0, norm)
        found.append([norm, total, [p.grad for p in params]])
    below = with_gradients(torch, [3.0, 4.0])
    utils.clip_grad_norm_(below[0], 10.0)
    infinite = with_gradients(torch, [float("inf"), 4.0])
    found.append([below[0].grad, utils.clip_grad_norm_(iter(infinite), 5.0), infinite[0].grad])
    values = with_gradients(torch, [3.0, -4.0], [1.0, -7.0])
    utils.clip_grad_value_(values, 2)
    nans = with_gradients(torch, [float("nan")])
    found.append([[p.grad for p in values], utils.clip_grad_norm_([], 1.0)])
    return found, error(lambda: utils.clip_grad_norm_(nans, 1.0, error_if_nonfinite=True))


@CASES.add
def vectors(torch: Any) -> Any:
    utils, nn = torch.nn.utils, torch.nn
    params = [nn.Parameter(torch.ones(2, 2)), nn.Parameter(torch.zeros(3))]
    vector = utils.parameters_to_vector(params)
    name = vector.grad_fn.name()
    utils.vector_to_parameters(torch.arange(7.0), params)
    return [
        [vector, name, params],
        error(lambda: utils.vector_to_parameters([1], params)),
        error(lambda: utils.vector_to_parameters(torch.arange(3.0), params)),
    ]


test_scenario = CASES.test()
