"""Products, solvers and distances of tensors that differ in dtype: PyTorch's results or errors."""

from __future__ import annotations

from typing import Any

from .scenarios import Cases, error

CASES = Cases("mixed_dtypes_matrices")


def _others(torch: Any) -> list[Any]:
    return [torch.int64, torch.float64, torch.float16, torch.bool, torch.complex64]


def _each_replaced(torch: Any, call: Any, *tensors: Any) -> list[str]:
    """What ``call`` says with one tensor after the other in each other dtype."""
    found = []
    for i in range(len(tensors)):
        for dtype in _others(torch):
            args = [t.to(dtype) if j == i else t for j, t in enumerate(tensors)]
            found.append(error(lambda args=args: call(*args)))
    return found


@CASES.add
def operators(torch: Any) -> Any:
    a, v, b = torch.ones(2, 2), torch.ones(2), torch.ones(3, 2, 2)
    pairs = [(a, a), (a, v), (v, a), (v, v), (b, a), (b, v), (v, b), (a, b), (b, b)]
    return [_each_replaced(torch, lambda x, y: x @ y, *pair) for pair in pairs]


@CASES.add
def linear_layers(torch: Any) -> Any:
    whole = torch.tensor([[1, 2, 3]])
    found = []
    for bias in (True, False):
        layer = torch.nn.Linear(3, 1, bias=bias)
        for x in (whole, whole[0], whole[None], whole.bool(), whole.double(), whole.half()):
            found.append(error(lambda layer=layer, x=x: layer(x)))
    F = torch.nn.functional
    x, w, b = torch.ones(2, 3), torch.ones(4, 3), torch.ones(4)
    return [
        *found,
        _each_replaced(torch, F.linear, x, w, b),
        _each_replaced(torch, F.linear, x, w),
        _each_replaced(torch, F.bilinear, x, x, torch.ones(2, 3, 3), torch.ones(2)),
    ]


@CASES.add
def sums_with_products(torch: Any) -> Any:
    a, v, b = torch.ones(2, 2), torch.ones(2), torch.ones(3, 2, 2)
    found = [
        _each_replaced(torch, torch.addmm, a, a, a),
        _each_replaced(torch, torch.addmv, v, a, v),
        _each_replaced(torch, torch.addbmm, a, b, b),
        _each_replaced(torch, torch.baddbmm, b, b, b),
        _each_replaced(torch, lambda x, y, z: x.clone().addmm_(y, z), a, a, a),
        _each_replaced(torch, lambda x, y, z: x.clone().addmv_(y, z), v, a, v),
        _each_replaced(torch, lambda x, y, z: x.clone().addbmm_(y, z), a, b, b),
    ]
    first = torch.ones(2, 3), torch.ones(2, 3).long()  # dtypes come before shapes
    return [*found, error(lambda: torch.addmm(a, *first)), error(lambda: torch.mm(*first))]


@CASES.add
def batches_by_size_and_order(torch: Any) -> Any:
    found = []
    large = torch.ones(2, 16, 16)
    for x in (torch.ones(2, 2, 2), large[:, :8, :8], large[:, ::2, ::2]):
        found.append(_each_replaced(torch, torch.bmm, x, x))
        found.append(_each_replaced(torch, torch.baddbmm, x, x, x))
    return found


@CASES.add
def out_of_another_dtype(torch: Any) -> Any:
    a, v, b = torch.ones(2, 2), torch.ones(2), torch.ones(3, 2, 2)
    calls = [
        (torch.mm, (a, a), (2, 2)),
        (torch.mv, (a, v), (2,)),
        (torch.dot, (v, v), ()),
        (torch.vdot, (v, v), ()),
        (torch.bmm, (b, b), (3, 2, 2)),
        (torch.addmm, (a, a, a), (2, 2)),
        (torch.addmv, (v, a, v), (2,)),
        (torch.addbmm, (a, b, b), (2, 2)),
        (torch.baddbmm, (b, b, b), (3, 2, 2)),
        (torch.addr, (a, v, v), (2, 2)),
        (torch.matmul, (a, v), (2,)),
        (torch.matmul, (b, b), (3, 2, 2)),
        (torch.inner, (a, a), (2, 2)),
        (torch.outer, (v, v), (2, 2)),
        (torch.tensordot, (a, a, 1), (2, 2)),
        (torch.linalg.multi_dot, ([a, a],), (2, 2)),
        (torch.linalg.vecdot, (a, a), (2,)),
        (torch.linalg.cross, (torch.ones(2, 3), torch.ones(2, 3)), (2, 3)),
    ]
    return [
        error(lambda f=f, args=args, shape=shape, d=d: f(*args, out=torch.empty(shape, dtype=d)))
        for f, args, shape in calls
        for d in (torch.float32, torch.float64, torch.int64)
    ]


@CASES.add
def outer_products_promote(torch: Any) -> Any:
    v, a = torch.tensor([1.0, 2.0]), torch.ones(2, 2)
    number = torch.tensor(1.5, dtype=torch.float64)
    x = torch.tensor([1.0, 3.0], requires_grad=True)
    torch.addr(number, x, v.double()).sum().backward()
    return [
        torch.addr(number, v, v),
        torch.addr(number.float(), v.long(), v.long()),
        torch.addr(a, v.to(torch.complex64), v),
        a.clone().addr_(v.double(), v),
        a.clone().addr_(v.long(), v, alpha=2),
        x.grad,
        error(lambda: a.clone().addr_(v.to(torch.complex64), v)),
        error(lambda: a.long().addr_(v, v)),
    ]


@CASES.add
def other_products(torch: Any) -> Any:
    a, x = torch.ones(2, 2), torch.ones(2, 3)
    return [
        _each_replaced(torch, torch.linalg.cross, x, x),
        _each_replaced(torch, torch.linalg.vecdot, x, x),
        _each_replaced(torch, lambda *t: torch.linalg.multi_dot(t), a, a, a),
        _each_replaced(torch, torch.tensordot, a, a),
        _each_replaced(torch, lambda x, y: torch.einsum("bij,bjk->bik", x, y), a[None], a[None]),
    ]


@CASES.add
def solvers(torch: Any) -> Any:
    upper = torch.tensor([[2.0, 1.0], [0.0, 4.0]])
    b, tau = torch.ones(2, 2), torch.ones(2)
    a = upper.clone().requires_grad_()
    double = b.double().requires_grad_()
    torch.linalg.solve_triangular(a, double, upper=True).sum().backward()
    mixed = lambda x, y: torch.linalg.solve_triangular(x, y, upper=True)
    return [
        _each_replaced(torch, torch.linalg.solve, upper, b),
        _each_replaced(torch, torch.cholesky_solve, b, upper),
        _each_replaced(torch, torch.triangular_solve, b, upper),
        _each_replaced(torch, torch.ormqr, upper, tau, b),
        _each_replaced(torch, torch.orgqr, upper, tau),
        _each_replaced(torch, torch.linalg.ldl_solve, upper, torch.tensor([1, 2]), b),
        _each_replaced(torch, mixed, upper, b),
        [mixed(upper, b.to(d)) for d in _others(torch)],
        [mixed(upper.to(d), b) for d in (torch.float64, torch.complex64)],
        [a.grad, double.grad],
        error(lambda: torch.linalg.pinv(upper, rtol=torch.tensor(1j))),
    ]


@CASES.add
def nothing_to_factor(torch: Any) -> Any:
    """PyTorch asks for a kernel where there are elements only."""
    L = torch.linalg
    calls = [torch.cholesky, L.cholesky, L.det, L.eigvalsh, L.svdvals, L.lu, L.qr, L.inv]
    found = []
    for dtype in (torch.float16, torch.int64):
        for n in (0, 2):
            x = torch.eye(n).to(dtype)
            found.append([error(lambda f=f, x=x: f(x)) for f in calls])
    return [found, list(L.eigh(torch.empty(0, 0, dtype=torch.int64)))]


@CASES.add
def distances(torch: Any) -> Any:
    x, many = torch.ones(3, 2), torch.ones(30, 2)
    F = torch.nn.functional
    return [
        _each_replaced(torch, torch.dist, x, x),
        _each_replaced(torch, torch.cdist, x, x),
        _each_replaced(torch, torch.cdist, many, many),
        _each_replaced(torch, F.pdist, x),
        error(lambda: F.pdist(x[:1].half())),
        _each_replaced(torch, F.pairwise_distance, x, x),
        _each_replaced(torch, F.cosine_similarity, x, x),
        torch.cdist(x[:0], x.double()),
    ]


@CASES.add
def attention(torch: Any) -> Any:
    F = torch.nn.functional
    x = torch.ones(2, 2)
    mask = torch.tensor([[0.0, 1.0], [0.0, 0.0]])
    value = torch.tensor([[1.0, 2.0], [4.0, 8.0]])
    return [
        _each_replaced(torch, F.scaled_dot_product_attention, x, x, x, x),
        [error(lambda d=d: F.scaled_dot_product_attention(*[x.to(d)] * 3)) for d in _others(torch)],
        F.scaled_dot_product_attention(x.double(), x.double(), value.double(), mask),
        F.scaled_dot_product_attention(x.half(), x.half(), value.half(), mask),
    ]


@CASES.add
def integrals_and_spectra(torch: Any) -> Any:
    x, yes = torch.tensor([1.0, 2.0, 4.0]), torch.tensor([True, False, True])
    signal = torch.ones(8)
    short = lambda s, **more: torch.stft(s, 4, return_complex=True, **more)
    found = [torch.gradient(x, spacing=(x.long(),))[0], torch.trapezoid(x.long(), x)]
    for f in (torch.trapezoid, torch.cumulative_trapezoid):
        found += [error(lambda f=f: f(yes)), error(lambda f=f: f(x, yes))]
    found += [error(lambda: torch.gradient(yes)), error(lambda: torch.gradient(x, spacing=(yes,)))]
    for dtype in _others(torch):
        found.append(error(lambda dtype=dtype: short(signal.to(dtype))))
        found.append(error(lambda dtype=dtype: short(signal.to(dtype), center=False)))
        found.append(error(lambda dtype=dtype: short(signal, window=torch.ones(4).to(dtype))))
    return found


test_scenario = CASES.test()
