"""Layers at their edges: nothing to compute, wrong sizes, moved and replicated modules."""

from __future__ import annotations

import copy
from collections import OrderedDict
from functools import partial
from typing import Any

from compat_tests.scenarios import Cases, error

CASES = Cases("layer_edges")


@CASES.add
def recurrent_layers_of_nothing(torch: Any) -> Any:
    found = []
    for kind in ("RNN", "LSTM", "GRU"):
        for two in (False, True):
            net = getattr(torch.nn, kind)(3, 4, bidirectional=two)
            x = torch.zeros(5, 0, 3, requires_grad=True)
            out, last = net(x)
            out.sum().backward()
            last = last[0] if isinstance(last, tuple) else last
            found.append([list(t.shape) for t in (out, last, x.grad)])
            found += [error(partial(net, torch.zeros(s))) for s in ((0, 2, 3), (0, 3), (0, 0, 3))]
        net = getattr(torch.nn, kind)(3, 4, batch_first=True)
        found.append(list(net(torch.zeros(0, 5, 3))[0].shape))
        found.append(error(partial(net, torch.zeros(2, 0, 3))))
    return found


@CASES.add
def grids_and_blocks(torch: Any) -> Any:
    F, found = torch.nn.functional, []
    for shape, grid in (
        ((1, 2, 2), (1, 1, 1, 2)), ((1, 1, 2, 2), (1, 1, 1, 1, 3)), ((1, 1, 2), (1, 1, 2)),
        ((1, 1, 2, 2, 2), (1, 1, 1, 2)), ((2, 2), (1, 1, 1, 2)), ((1, 1, 2, 2), (2, 1, 1, 2)),
    ):  # fmt: skip
        x, at = torch.ones(shape), torch.zeros(grid)
        found.append(error(partial(F.grid_sample, x, at, align_corners=False)))
    for shape, grid in (((0, 1, 2, 2), (0, 1, 1, 2)), ((1, 0, 2, 2), (1, 1, 3, 2))):
        x = torch.ones(shape, requires_grad=True)
        y = F.grid_sample(x, torch.zeros(grid), align_corners=False)
        y.sum().backward()
        found.append([list(y.shape), list(x.grad.shape)])
    blocks = torch.ones(1, 12, 12)
    return [
        *found,
        error(lambda: F.fold(blocks, (4, 5), (2, 2), dilation=8)),
        error(lambda: F.fold(blocks, (4,), (2, 3))),
        error(lambda: F.fold(blocks, (4, 5), (2,))),
    ]


@CASES.add
def sizes_beyond_whole_numbers(torch: Any) -> Any:
    x, resize = torch.ones(1, 1, 4, 4), torch.nn.functional.interpolate
    factors = (-1e20, 1e20, float("inf"), float("nan"))
    return [error(partial(resize, x, scale_factor=f, mode="bilinear")) for f in factors]


@CASES.add
def arguments_of_to(torch: Any) -> Any:
    net, cpu, one = torch.nn.Linear(1, 1), torch.device("cpu"), torch.tensor(3)
    return [
        error(lambda: net.to(cpu, True)),
        error(lambda: net.to(None, True)),
        error(lambda: net.to(cpu, one, non_blocking=True)),
        error(lambda: net.to({}, non_blocking=True)),
        error(lambda: net.to(other=one)),
        error(lambda: net.to("cpu", copy=True)),
        error(lambda: net.to(torch.float32, copy=True)),
        str(net.to("cpu", torch.float64, True).weight.dtype),
        str(net.to(cpu, None).weight.dtype),
    ]


@CASES.add
def another_kind_of_memory(torch: Any) -> Any:
    """A sparse tensor takes a new Parameter; the old one keeps its memory."""
    m = torch.nn.Linear(3, 2)
    m.weight.grad = torch.ones(2, 3)
    old, gradient = m.weight, m.weight.grad
    m._apply(lambda t: torch.ones(2, 3).to_sparse())
    kinds = [str(t.layout) for t in (old, gradient, m.weight, m.weight.grad)]
    return [kinds, type(m.weight).__name__, m.weight is old]


@CASES.add
def running_statistics_without_tangents(torch: Any) -> Any:
    ad, norm = torch.autograd.forward_ad, torch.nn.functional.batch_norm
    values, found = (torch.ones(3, 2, 5), torch.ones(2), torch.ones(2)), []
    for which in ((0,), (1,), (0, 1), (0, 2)):
        with ad.dual_level():
            args = [
                ad.make_dual(v, torch.ones_like(v)) if i in which else v
                for i, v in enumerate(values)
            ]
            found.append(error(partial(norm, *args)))
    return found


@CASES.add
def replicas(torch: Any) -> Any:
    nn = torch.nn
    table = nn.ParameterDict({"a": nn.Parameter(torch.ones(1)), "b": nn.Parameter(torch.zeros(1))})
    rows = nn.ParameterList([nn.Parameter(torch.ones(2))])
    found = []
    for module in (table, rows, nn.Sequential(nn.BatchNorm1d(2))):
        replica = module._replicate_for_data_parallel()
        found.append([len(replica._parameters), len(replica._modules), len(replica._buffers)])
        for name, p in module.named_parameters(recurse=False):
            setattr(replica, name, p.view_as(p))
    other = table._replicate_for_data_parallel()
    for name, p in table.named_parameters():
        setattr(other, name, p.view_as(p))
    return [*found, [[k, v, v._base is table[k]] for k, v in other.items()]]


@CASES.add
def spectral_norm_of_the_first_format(torch: Any) -> Any:
    """Its files have the computed weight, and not the second vector."""
    m = torch.nn.utils.spectral_norm(torch.nn.Linear(3, 2))
    with torch.no_grad():
        m.weight_orig.copy_(torch.tensor([[1.0, 2, 3], [4, 5, 7]]))
        m.weight_u.copy_(torch.tensor([0.6, 0.8]))
        m.weight_v.copy_(torch.tensor([0.48, 0.6, 0.64]))
    m.eval()
    y = m(torch.ones(1, 3))
    old = copy.deepcopy(m.state_dict())
    del old._metadata[""]["spectral_norm"], old["weight_v"]
    old["weight"] = m.weight.detach().clone()
    m.weight_v.zero_()
    lacking = OrderedDict(bias=m.bias.detach())
    return [
        repr(m.load_state_dict(copy.deepcopy(old))),
        torch.allclose(m(torch.ones(1, 3)), y, atol=1e-5),
        error(lambda: m.load_state_dict(lacking)),
        repr(m.load_state_dict(lacking, strict=False)),
        list(torch.nn.utils.remove_spectral_norm(m).state_dict()),
    ]


@CASES.add
def names_without_a_prefix(torch: Any) -> Any:
    state: Any = OrderedDict([("module.a.w", 1), ("b", 2)])
    state._metadata = OrderedDict([("", 1), ("module", 2), ("module.a", 3), ("mod", 4)])
    utils = torch.nn.modules.utils
    utils.consume_prefix_in_state_dict_if_present(state, "module.")
    parsed = [utils._pair(3), utils._pair([1, 2]), utils._reverse_repeat_tuple((1, 2), 2)]
    return [dict(state), dict(state._metadata), parsed]


@CASES.add
def no_tensors(torch: Any) -> Any:
    F, one, image = torch.nn.functional, torch.ones(1, 1), torch.ones(1, 1, 1, 1)
    return [
        error(lambda: F.linear(None, one)),
        error(lambda: F.linear([1], one)),
        error(lambda: F.linear(one, 3)),
        error(lambda: F.linear(one, one, 3)),
        error(lambda: F.linear(one, torch.tensor(1.0))),
        error(lambda: F.linear(torch.tensor(1.0), one)),
        error(lambda: F.conv2d(None, image)),
        error(lambda: F.conv2d(image, None)),
        error(lambda: F.conv2d(image, image, 3)),
        error(lambda: torch.nn.Conv2d(1, 1, 1)(None)).partition(":")[0],
    ]


@CASES.add
def gradients_of_convolutions(torch: Any) -> Any:
    found, options = [], {"stride": 2, "padding": 1, "groups": 2}
    for n in (1, 2, 3):
        x = torch.arange(2.0 * 4 * 5**n).reshape(2, 4, *(5,) * n)
        w = torch.arange(6.0 * 2 * 3**n).reshape(6, 2, *(3,) * n)
        g = torch.ones_like(getattr(torch.nn.functional, f"conv{n}d")(x, w, **options))
        by_input, by_weight = (getattr(torch.nn.grad, f"conv{n}d_{k}") for k in ("input", "weight"))
        found += [by_input(x.shape, w, g, **options).sum(), by_weight(x, w.shape, g, **options)]
        found.append(error(partial(by_input, (2, 4), w, g, groups=2)))
    return found


@CASES.add
def convolutions_without_channels(torch: Any) -> Any:
    found = []
    for n in (1, 2, 3):
        conv = getattr(torch.nn.functional, f"conv{n}d")
        for batch, channels in ((2, 0), (0, 0), (0, 3)):
            x = torch.ones(batch, channels, *(5,) * n, requires_grad=True)
            weight = torch.ones(4, channels, *(2,) * n, requires_grad=True)
            bias = torch.ones(4, requires_grad=True)
            y = conv(x, weight, bias)
            y.sum().backward()
            shapes = [list(t.shape) for t in (y, x.grad, weight.grad)]
            found.append([*shapes, bias.grad.tolist()])
    return found


test_scenario = CASES.test()
