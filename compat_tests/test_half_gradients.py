"""Gradients of half types: computed in float32 and rounded once, as PyTorch's kernels do."""

from __future__ import annotations

import math
from functools import partial
from typing import Any

from compat_tests.scenarios import Cases

CASES = Cases("half_gradients")
ACTIVATIONS = "elu selu celu mish softplus hardswish silu gelu tanhshrink leaky_relu".split()


def numbers(torch: Any, shape: Any, dtype: str) -> Any:
    n = math.prod(shape)
    x = torch.tensor([((37 * i) % 101 - 50) / 16 for i in range(n)]).reshape(shape)
    return x.to(getattr(torch, dtype))


def gradient(torch: Any, function: Any, x: Any) -> Any:
    x = x.detach().requires_grad_()
    y = function(x)
    y.backward(numbers(torch, y.shape, "float32").to(y.dtype) / 3)
    return x.grad


@CASES.add
def activations(torch: Any) -> Any:
    F = torch.nn.functional
    functions = [getattr(F, name) for name in ACTIVATIONS] + [torch.tanh]
    return [
        gradient(torch, function, numbers(torch, (4, 8), dtype))
        for function in functions
        for dtype in ("bfloat16", "float16")
    ]


@CASES.add
def near_single_precision(torch: Any) -> Any:
    """Where libraries differ in the last bit of an exponential."""
    F, found = torch.nn.functional, []
    for function in (F.glu, F.logsigmoid, torch.sigmoid):
        for dtype, step in (("bfloat16", 2**-7), ("float16", 2**-10)):
            x = numbers(torch, (4, 8), dtype)
            a, b = gradient(torch, function, x), gradient(torch, function, x.float())
            found.append(bool((a.float() - b).abs().max() <= step))
    return found


@CASES.add
def interpolation(torch: Any) -> Any:
    found = []
    for mode, dims in (("linear", 1), ("bilinear", 2), ("trilinear", 3), ("bicubic", 2)):
        for dtype in ("bfloat16", "float16"):
            x = numbers(torch, (1, 2, *(5,) * dims), dtype)
            last = {2: torch.channels_last, 3: torch.channels_last_3d}.get(dims)
            scaled = partial(torch.nn.functional.interpolate, scale_factor=1.3, mode=mode)
            found += [scaled(x), gradient(torch, scaled, x)]
            if last is not None:
                found.append(gradient(torch, scaled, x.to(memory_format=last)))
    return found


test_scenario = CASES.test()
