"""Tensors that get other memory: ``set_``, ``is_set_to``, ``as_strided_``, ``resize_``."""

from __future__ import annotations

from typing import Any

from compat_tests.scenarios import Cases, error

CASES = Cases("set_memory")


def place(t: Any, values: bool = True) -> Any:
    """What can be seen of a tensor and its memory."""
    node = None if t.grad_fn is None else type(t.grad_fn).__name__
    found = [t.stride(), t.storage_offset(), t._version, t.requires_grad, node, t.is_contiguous()]
    return [t.detach() if values else t.shape, *found]


@CASES.add
def set_to_a_tensor(torch: Any) -> Any:
    a, new = torch.arange(12.0).reshape(3, 4), lambda: torch.empty(0)
    shared = new().set_(a)
    a[0, 0] = 5
    return [
        place(shared), place(new().set_(a.t())), place(new().set_(a, 2, (2, 3), (1, 2))),
        place(new().set_(a, 2, (2, 3))), place(new().set_(source=a)), place(a.clone().set_()),
        place(new().set_(a[1:])), place(new().set_(a.untyped_storage(), 1, (2, 2), (4, 1))),
        place(new().set_(a.untyped_storage(), 1, [2, 2])), place(new().set_(a.untyped_storage())),
        place(new().set_(a.storage())), place(new().set_(a, 0, (20, 3), (3, 1)), False),
        place(new().set_(source=a.storage(), storage_offset=1, size=(2, 2), stride=(4, 1))),
        (shared * 2).sum(), shared.add_(1).sum(), a.sum(), a._version, shared.t().exp().sum(),
    ]  # fmt: skip


@CASES.add
def set_raises(torch: Any) -> Any:
    a, new = torch.arange(12.0).reshape(3, 4), torch.empty(0)
    whole, bytes_ = torch.zeros(2, dtype=torch.int64), a.untyped_storage()
    calls = (
        (whole,), (whole.storage(),), (whole.storage(), 0, (2,)), (a.t(), 0, (2,)), (a, 2, 3),
        (a, -1, (2, 3), (1, 2)), (a, 0, (2, 3), (-1, 2)), (a, 0, (-2, 3), (1, 2)), (a, 1),
        (a, 0, (2, 3), (1,)), (bytes_, 0, (2, 3), (1,)), (bytes_, 0, (2, 3), (-1, 2)), (3,),
        ([3],), (a, 1.5, (2,)), (torch.zeros(2, device="meta"),),
        (torch.zeros(2, device="meta").untyped_storage(),),
    )  # fmt: skip
    leaf = torch.ones(3, requires_grad=True)
    return [[error(lambda c=c: new.set_(*c)) for c in calls], error(lambda: leaf.set_(a))]


@CASES.add
def set_and_gradients(torch: Any) -> Any:
    a, leaf = torch.arange(3.0), torch.ones(3, requires_grad=True)
    y, z = leaf * 2, torch.empty(0)
    found = [place(y.set_(a)), place(z.set_(leaf)), error(lambda: z.sum().backward())]
    with torch.no_grad():
        leaf.set_(a)
    (leaf * 3).sum().backward()
    meta = torch.empty(0, device="meta").set_(torch.zeros(2, 3, device="meta").t())
    return [*found, place(leaf), leaf.grad, meta.shape, meta.stride()]


@CASES.add
def is_set_to(torch: Any) -> Any:
    b, e = torch.zeros(3), torch.empty(0)
    others = (
        b, b.view(3), b[1:], b.view(1, 3), b.clone(), torch.zeros(3), b.view(torch.int32),
        torch.empty(0).set_(b), b[:3], b.expand(3), b.detach(),
    )  # fmt: skip
    found = [b.is_set_to(t) for t in others]
    found += [e.is_set_to(e), e.is_set_to(torch.empty(0)), e.is_set_to(torch.empty(0).set_(e))]
    return [found, error(lambda: b.is_set_to(3))]


@CASES.add
def as_strided_in_place(torch: Any) -> Any:
    a = torch.arange(12.0).reshape(3, 4)
    wrong = (
        ((20, 2), (1, 2), 3), ((2, 2), (1,), 3), ((2, 2), (1, -1), 3), ((2, 2), (1, 1), -3),
        ((-2, 2), (1, 1), 3),
    )  # fmt: skip
    x = torch.ones(12, requires_grad=True)
    y = x * 2
    z = (y * 1).as_strided_((3, 2), (3, 1), 2)
    z.mul_(torch.arange(6.0).reshape(3, 2)).sum().backward()
    first = x.grad
    y = torch.ones(12).mul_(2)
    v = y[2:]
    v.as_strided_((2, 2), (2, 1)).mul_(3)
    b = a.clone()
    b.as_strided_((2, 2), (1, 2), 3)
    wide = torch.arange(3.0).as_strided_((2, 3), (0, 1))
    return [
        place(a.clone().as_strided_((2, 2), (1, 2))), place(b), first, y, place(v),
        place(torch.as_strided_(a.clone(), (2, 2), (1, 2), 3)), place(z), place(wide), wide * 2,
        place(b.as_strided_((12,), (1,), 0)), (b + 1).sum(),
        [error(lambda w=w: a.clone().as_strided_(*w)) for w in wrong],
        error(lambda: x.as_strided_((2,), (1,))),
    ]  # fmt: skip


@CASES.add
def transposed_in_place(torch: Any) -> Any:
    x = torch.arange(6.0).reshape(2, 3).clone()
    y = x.t_()
    return [place(y), y @ torch.ones(2), y.exp().stride(), (y * y).stride(), y.t_().is_contiguous()]


@CASES.add
def resized_in_a_format(torch: Any) -> Any:
    c4 = torch.arange(24.0).reshape(1, 2, 3, 4)
    last = torch.ones(1, 3, 2, 2).contiguous(memory_format=torch.channels_last)
    same = torch.ones(1, 2, 3, 4).contiguous(memory_format=torch.channels_last)
    a, found = torch.arange(12.0).reshape(3, 4), []
    for kind in ("channels_last", "preserve_format", "contiguous_format", "channels_last_3d"):
        f = getattr(torch, kind)
        calls = (
            lambda f=f: place(c4.clone().resize_(1, 3, 2, 2, memory_format=f), False),
            lambda f=f: place(c4.clone().resize_(1, 2, 3, 4, memory_format=f), False),
            lambda f=f: place(c4.clone().resize_as_(last, memory_format=f), False),
            lambda f=f: place(c4.clone().resize_as_(same, memory_format=f), False),
        )
        found += [error(call) if error(call) != "no error" else call() for call in calls]
    return [
        found, place(c4.clone().resize_as_(last)), place(a.clone().t().resize_(4, 3)),
        place(a.clone().t().resize_(3, 4)), place(torch.ones(3, 4).resize_as_(a.t())),
        place(a.clone().resize_(2, 2)), place(a.clone().resize_(2, 2).resize_(3, 4)),
        place(a.clone()[1:].resize_(2, 2)),
        place(torch.ones(5, device="meta").resize_(2, 4), False),
    ]  # fmt: skip


@CASES.add
def sizes_that_are_too_large(torch: Any) -> Any:
    t, leaf = torch.empty(5), torch.empty(5, requires_grad=True)
    with torch.no_grad():
        silent = error(lambda: leaf.resize_(3))
    calls = (
        lambda: t.resize_([2**33, 2**33]), lambda: t.resize_([2**62, 4]), lambda: t.resize_(-1),
        lambda: torch.empty(5, dtype=torch.float64).resize_([2**61]), lambda: t.resize_(2, -1),
        lambda: leaf.resize_(3), lambda: leaf.resize_(5), lambda: leaf.resize_as_(torch.empty(3)),
        lambda: torch.empty([2**33, 2**33]), lambda: torch.empty(2**62),
        lambda: torch.zeros([2**33, 2**33]), lambda: torch.full([2**33, 2**33], 1),
        lambda: torch.empty_strided([2**33, 2**33], [2**33, 1]), lambda: torch.ones(2**40, 2**40),
        lambda: torch.empty_strided([123], [8223372036854775807]), lambda: torch.empty(2**50),
        lambda: torch.empty_strided([2], [-1]), lambda: torch.empty_strided([-2], [1]),
    )  # fmt: skip
    return [silent, [error(call) for call in calls]]


test_scenario = CASES.test()
