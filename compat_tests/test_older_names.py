"""Names that PyTorch keeps for older programs: ``Tensor.resize``, ``sdp_kernel``, ``gradcheck``."""

from __future__ import annotations

import importlib
import warnings
from typing import Any

from compat_tests.scenarios import Cases, error

CASES = Cases("older_names")


def warned(call: Any) -> Any:
    """What a call returns, and its warnings."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        found = call()
    return [found, [f"{w.category.__name__}: {w.message}" for w in caught]]


@CASES.add
def resizing(torch: Any) -> Any:
    t = torch.arange(4.0)
    x = torch.arange(4.0, requires_grad=True)
    y = x.resize(2, 2)
    wrong = (((2, 2),), (3,), (), (-1, 2), ("a",), ([2, 2],))
    (y * torch.arange(4.0).resize(2, 2)).sum().backward()
    return [
        warned(lambda: t.resize(2, 2)), warned(lambda: t.resize_as(torch.ones(2, 2))),
        t.resize(2, 2).data_ptr() == t.data_ptr(), type(y.grad_fn).__name__, x.grad,
        torch.arange(6.0).reshape(2, 3).t().resize(6),
        [error(lambda a=a: t.resize(*a)) for a in wrong],
    ]  # fmt: skip


@CASES.add
def implementations_of_attention(torch: Any) -> Any:
    b, attention = torch.backends.cuda, torch.nn.attention
    kinds = attention.SDPBackend

    def flags() -> list[bool]:
        return [
            b.flash_sdp_enabled(), b.mem_efficient_sdp_enabled(), b.math_sdp_enabled(),
            b.cudnn_sdp_enabled(), b.fp16_bf16_reduction_math_sdp_allowed(),
        ]  # fmt: skip

    def old(**settings: bool) -> Any:
        with b.sdp_kernel(**settings) as found:
            return [found, flags()]

    def new(*args: Any, **named: Any) -> Any:
        with attention.sdpa_kernel(*args, **named) as found:
            names = [str(k) for k in attention._cur_sdpa_kernel_backends()]
            first = [str(k) for k in attention._cur_sdpa_kernel_backends(with_priority=True)]
            return [found, flags(), names, first]

    found = [
        flags(), warned(old), old(enable_flash=False), old(enable_math=False, enable_cudnn=False),
        new(kinds.MATH), new([kinds.MATH, kinds.FLASH_ATTENTION]), new([]),
        new([kinds.MATH, kinds.CUDNN_ATTENTION], set_priority=True), error(lambda: new(3)), flags(),
    ]  # fmt: skip
    for name in ("flash", "mem_efficient", "math", "cudnn"):
        switch = getattr(b, f"enable_{name}_sdp")
        switch(False)
        found += [flags(), switch(True)]
    found.append(error(lambda: b.enable_flash_sdp(3)))
    b.allow_fp16_bf16_reduction_math_sdp(True)
    found.append(flags())
    b.allow_fp16_bf16_reduction_math_sdp(False)
    return [*found, flags()]


@CASES.add
def gradcheck_is_a_function(torch: Any) -> Any:
    module = importlib.import_module(f"{torch.__name__}.autograd.gradcheck")
    x = torch.ones(2, dtype=torch.float64, requires_grad=True)
    return [
        torch.autograd.gradcheck is module.gradcheck, torch.autograd.gradcheck(torch.sin, (x,)),
        issubclass(module.GradcheckError, RuntimeError),
    ]  # fmt: skip


test_scenario = CASES.test()
