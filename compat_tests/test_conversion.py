"""swap_tensors, and how modules convert their parameters: the same objects, new or swapped ones."""

from __future__ import annotations

import weakref
from functools import partial
from typing import Any

from .scenarios import Cases, error

CASES = Cases("conversion")


@CASES.add
def swapped_tensors(torch: Any) -> Any:
    swap = torch.utils.swap_tensors
    a, b = torch.ones(2), torch.zeros(3, dtype=torch.float64)
    a.note = 1
    swap(a, b)
    found = [a, b, hasattr(a, "note"), b.note]
    p, q = torch.nn.Parameter(torch.ones(2)), torch.zeros(2)
    swap(p, q)
    found += [type(p).__name__, type(q).__name__, p, q]
    x, y = torch.ones(2, requires_grad=True), torch.zeros(2)
    (x * 3).sum().backward()
    swap(x, y)
    found += [x.grad, y.grad, x.requires_grad, y.requires_grad]
    (y * 2).sum().backward()
    return [*found, y.grad]


@CASES.add
def graphs_of_swapped_tensors(torch: Any) -> Any:
    x, y = torch.ones(2, requires_grad=True), torch.zeros(2)
    x.register_hook(lambda g: g * 2)
    loss = (x * 3).sum()
    torch.utils.swap_tensors(x, y)
    found = [error(loss.backward), x.grad, y.grad]
    del loss
    (y * 3).sum().backward()
    return [*found, y.grad]


@CASES.add
def tensors_that_cannot_be_swapped(torch: Any) -> Any:
    class Slotted(torch.Tensor):  # type: ignore[misc]
        __slots__ = ("more",)

    swap, x = torch.utils.swap_tensors, torch.ones(2)
    kept = weakref.ref(x)
    found = [error(partial(swap, x, torch.ones(1))), error(partial(swap, torch.ones(1), x))]
    slotted = torch.ones(2).as_subclass(Slotted)
    return [*found, error(partial(swap, slotted, torch.ones(2))), kept() is x]


@CASES.add
def modules_that_convert(torch: Any) -> Any:
    chosen, found = torch.__future__, []
    for mode in ("overwrite", "swap"):
        choose = getattr(chosen, f"set_{mode}_module_params_on_conversion")
        asked = getattr(chosen, f"get_{mode}_module_params_on_conversion")
        found.append(asked())
        choose(True)
        found.append(asked())
        net = torch.nn.Linear(2, 2)
        weight = net.weight
        net(torch.ones(1, 2)).sum().backward()
        grad = weight.grad
        net.to(torch.float64)
        found += [net.weight is weight, weight.dtype, net.weight.grad.dtype]
        found.append(net.weight.grad is grad)
        weight = net.weight
        net.to("meta")
        found += [net.weight is weight, str(weight.device)]
        net.to_empty(device="cpu")
        found += [net.weight is weight, str(weight.device)]
        weight = net.weight
        state = {k: v.float() for k, v in torch.nn.Linear(2, 2).state_dict().items()}
        for assign in (False, True):
            net.load_state_dict(state, assign=assign)
            found += [net.weight is weight, net.weight.dtype, net.weight.requires_grad]
        norm = torch.nn.BatchNorm1d(2)
        mean = norm.running_mean
        found.append(norm.double().running_mean is mean)
        choose(False)
    return found


test_scenario = CASES.test()
