"""Views and in-place writes against PyTorch: whose errors, whose history, which versions."""

from __future__ import annotations

from typing import Any

from compat_tests.scenarios import Cases, error

CASES = Cases("views_inplace")


def leaf(torch: Any, *shape: int) -> Any:
    count = 1
    for n in shape:
        count *= n
    values = [1.0 + 0.5 * i for i in range(count)]
    return torch.tensor(values, dtype=torch.float64).reshape(shape).requires_grad_()


def unchanged(t: Any, call: Any) -> Any:
    """What ``call`` raises, and whether ``t`` is as it was."""
    before, version = t.detach().clone(), t._version
    text = error(call)
    return text, bool((before == t.detach()).all()), t._version == version, t.requires_grad


# --- leaves ---------------------------------------------------------------------------------------


@CASES.add
def writes_to_a_leaf(torch: Any) -> Any:
    w = leaf(torch, 2, 3)
    calls = {
        "add_": lambda: w.add_(1),
        "+=": lambda: w.__iadd__(1),
        "zero_": lambda: w.zero_(),
        "fill_": lambda: w.fill_(1.0),
        "copy_": lambda: w.copy_(w.detach()),
        "setitem": lambda: w.__setitem__(0, 1.0),
        "mask": lambda: w.__setitem__(w > 2, 1.0),
        "integers": lambda: w.__setitem__(torch.tensor([0]), 1.0),
        "all": lambda: w.__setitem__(Ellipsis, 1.0),
        "slice fill_": lambda: w[:1].fill_(1),
        "slice step": lambda: w.__setitem__((slice(None), slice(0, None, 2)), torch.ones(2, 2)),
        "view": lambda: w.view(-1).mul_(2),
        "view of view": lambda: w.t()[0].mul_(2),
        "uniform_": lambda: w.uniform_(),
        "detach().add_": lambda: w.detach().add_(1),
        "data": lambda: w.data.add_(1),
    }
    return {name: unchanged(w, call) for name, call in calls.items()}


@CASES.add
def writes_to_a_leaf_in_no_grad(torch: Any) -> Any:
    w = leaf(torch, 2, 3)
    with torch.no_grad():
        w.add_(1)
        w[:1].fill_(7)
        w[:, 0::2] = torch.ones(2, 2, dtype=torch.float64)
        w.view(-1)[4] = 9
        w[w > 8] = 0
    return w, w.is_leaf, w.requires_grad, w._version, w.grad_fn


@CASES.add
def a_gradient_written_into_a_plain_leaf(torch: Any) -> Any:
    x, b = leaf(torch, 3), torch.zeros(3, dtype=torch.float64)
    view = b[:2]
    b.add_(x)
    state = b.requires_grad, b.is_leaf, b.grad_fn.name(), view.grad_fn.name(), view.requires_grad
    (view * view).sum().backward()
    return state, x.grad


@CASES.add
def a_gradient_written_into_a_plain_view(torch: Any) -> Any:
    x, b = leaf(torch, 2), torch.ones(2, 3, dtype=torch.float64)
    column = b[:, 1]
    column.mul_(x)
    names = b.grad_fn.name(), [e[0].name() if e[0] else None for e in b.grad_fn.next_functions]
    (b * b).sum().backward()
    return names, column.grad_fn.name(), x.grad, b, column._base is b


# --- how a view was made --------------------------------------------------------------------------


@CASES.add
def views_made_in_no_grad(torch: Any) -> Any:
    x = leaf(torch, 3)
    b = x.clone()
    with torch.no_grad():
        v = b[:2]
        v.add_(1)
    plain = torch.ones(3)
    with torch.no_grad():
        p = plain[:2]
    return [
        unchanged(v, lambda: v.mul_(2)),
        unchanged(p, lambda: p.mul_(2)),
        error(lambda: p.mul_(leaf(torch, 2).float())),
        error(lambda: v[:1].mul_(2)),
        error(lambda: v.detach().mul_(2)),
    ]


@CASES.add
def views_made_in_inference_mode(torch: Any) -> Any:
    b = torch.ones(3)
    base = leaf(torch, 3).clone()
    with torch.inference_mode():
        v, w = b[:2], base[:2]
    return [
        error(lambda: v.mul_(2)),
        error(lambda: w.mul_(2)),
        error(lambda: v.mul_(leaf(torch, 2).float())),
        v.is_inference(),
        w.is_inference(),
        v._version,
    ]


@CASES.add
def views_from_multi_output_operations(torch: Any) -> Any:
    b = leaf(torch, 4, 2).clone()
    results = []
    makers = [
        lambda: b.split(2),
        lambda: b.unbind(0),
        lambda: b.chunk(2),
        lambda: b.split([1, 3]),
        lambda: list(b),
    ]
    for make in makers:
        views = make()
        results.append(error(lambda views=views: views[1].mul_(2)))
        results.append(error(lambda views=views: views[0][:1].mul_(2)))
    plain = torch.ones(4)
    results.append(error(lambda: plain.unbind(0)[0].mul_(2)))
    results.append(error(lambda: plain.split(2)[0].mul_(leaf(torch, 2).float())))
    with torch.no_grad():
        parts = b.split(2)
        parts[0].zero_()
    results.append(error(lambda: parts[1].mul_(2)))
    return results, b


@CASES.add
def base_written_after_multi_output_views(torch: Any) -> Any:
    x = leaf(torch, 4)
    b = x.clone()
    first, second = b.split(2)
    row = b[2:]
    b.mul_(3)
    (row * row).sum().backward()
    return error(lambda: second.grad_fn), error(lambda: first * 2), second.requires_grad, x.grad


@CASES.add
def views_made_by_a_custom_function(torch: Any) -> Any:
    class Half(torch.autograd.Function):
        @staticmethod
        def forward(ctx: Any, x: Any) -> Any:
            return x[:2]

        @staticmethod
        def backward(ctx: Any, g: Any) -> Any:
            return torch.cat([g, g * 0])

    class Same(torch.autograd.Function):
        @staticmethod
        def forward(ctx: Any, x: Any) -> Any:
            return x

        @staticmethod
        def backward(ctx: Any, g: Any) -> Any:
            return g * 2

    b = leaf(torch, 4).clone()
    v, s = Half.apply(b), Same.apply(b)
    return [
        error(lambda: v.mul_(2)),
        error(lambda: s.mul_(2)),
        error(lambda: v[:1].mul_(2)),
        s is b,
        v._is_view(),
        s._is_view(),
    ]


# --- CopySlices -----------------------------------------------------------------------------------


def chain(root: Any, depth: int = 4) -> list[Any]:
    """Names along the first edges."""
    names: list[Any] = []
    while root is not None and len(names) < depth:
        names.append(root.name())
        root = root.next_functions[0][0] if root.next_functions else None
    return names


def derivatives(torch: Any, function: Any, *shape: int) -> Any:
    """Value, node names, first and second derivatives of a function with in-place writes."""
    x = leaf(torch, *shape)
    out = function(x)
    weights = torch.arange(1.0, out.numel() + 1, dtype=torch.float64).reshape(out.shape)
    (g,) = torch.autograd.grad((out * weights).sum(), x, create_graph=True)
    (gg,) = torch.autograd.grad((g * g).sum(), x)
    y = leaf(torch, *shape)
    (function(y) * weights).sum().backward()
    return out, chain(out.grad_fn), g, gg, y.grad


def write_slice(x: Any) -> Any:
    b = x**3
    b[1:3].mul_(x[:2])
    return b


def write_view_of_view(x: Any) -> Any:
    b = x**3
    b.view(2, 2).t()[1].mul_(x[:2]).add_(x[2:])
    return b


def write_transposed_base(x: Any) -> Any:
    b = (x**3).t()
    b[0].mul_(b[1].clone())
    b[:, 1:].mul_(2)
    return b


def write_non_contiguous_base(x: Any) -> Any:
    b = (x**3).t().clone()
    b.t()[0, 1:].mul_(x[0, 1:])
    return b * 2


def write_then_read_old_views(x: Any) -> Any:
    b = x**3
    early, other = b[:2], b[2:]
    b[1:3].mul_(x[1:3])
    early.mul_(2)
    return early * other


def write_diagonal(x: Any) -> Any:
    b = x**3
    b.diagonal().mul_(x[0])
    return b


def write_through_permute(x: Any) -> Any:
    b = (x**3).reshape(2, 1, 3)
    b.permute(2, 0, 1)[1:].mul_(x.t()[1:].reshape(2, 2, 1))
    return b


def fill_slices(x: Any) -> Any:
    b = x**3
    b[0] = 5.0
    b[1:2] = x[:1] * 2
    b[2:].zero_()
    b[3].fill_(x.sum())
    return b * x


def copy_into_slices(x: Any) -> Any:
    b = x.new_zeros(2, 4)
    b[0].copy_(x)
    b[1, ::2].copy_(x[:2])
    b[:, 3] = x[3] * x[2]
    return b * b


def write_through_expand_source(x: Any) -> Any:
    b = (x**3).reshape(4, 1).repeat(1, 3)
    b[:, 1:] += x.reshape(4, 1)
    b[1:3, :1] *= x[0]
    return b


def write_squeezed(x: Any) -> Any:
    b = (x**3).unsqueeze(1)
    b.squeeze(1)[2:].exp_()
    return b.sin()


FUNCTIONS: list[tuple[Any, tuple[int, ...]]] = [
    (write_slice, (4,)),
    (write_view_of_view, (4,)),
    (write_transposed_base, (2, 2)),
    (write_non_contiguous_base, (2, 3)),
    (write_then_read_old_views, (4,)),
    (write_diagonal, (3, 3)),
    (write_through_permute, (2, 3)),
    (fill_slices, (4,)),
    (copy_into_slices, (4,)),
    (write_through_expand_source, (4,)),
    (write_squeezed, (4,)),
]
for _function, _shape in FUNCTIONS:

    def _scenario(torch: Any, function: Any = _function, shape: Any = _shape) -> Any:
        return derivatives(torch, function, *shape)

    _scenario.__name__ = _function.__name__
    CASES.add(_scenario)


@CASES.add
def overlapping_as_strided_views(torch: Any) -> Any:
    x = leaf(torch, 5)
    windows = (x * 2).as_strided((3, 3), (1, 1))
    (windows * windows).sum().backward()
    b = leaf(torch, 6).clone()
    v = b.as_strided((2, 2), (3, 1), 1)
    v.mul_(3)
    names = chain(b.grad_fn), chain(v.grad_fn)
    texts = [
        error(lambda: windows.add_(1)),
        error(lambda: b.as_strided((2,), (-1,))),
        error(lambda: b.as_strided((7,), (1,))),
        error(lambda: b.as_strided((2, 2), (1,))),
        error(lambda: b.as_strided((2,), (1,), -1)),
    ]
    return x.grad, names, b, v.storage_offset(), v.stride(), texts


@CASES.add
def views_derive_their_edge_anew(torch: Any) -> Any:
    x = leaf(torch, 2, 3)
    b = x * 2
    t, row, flat = b.t(), b[1], b.view(-1)
    before = [v.grad_fn.name() for v in (t, row, flat)]
    b.mul_(x)
    after = [chain(v.grad_fn, 3) for v in (t, row, flat)]
    same = row.grad_fn is row.grad_fn
    row.add_(1)
    again = [chain(v.grad_fn, 3) for v in (t, row, flat)]
    (t.sum() + (row * row).sum()).backward()
    return before, after, same, again, x.grad


@CASES.add
def views_of_a_base_without_gradient(torch: Any) -> Any:
    b, x = torch.zeros(2, 2, dtype=torch.float64), leaf(torch, 2)
    v, w = b[0], b.t()
    states = [(t.requires_grad, t.is_leaf) for t in (b, v, w)]
    b[1] = x
    states += [(t.requires_grad, t.is_leaf) for t in (b, v, w)]
    (w * w).sum().backward()
    return states, chain(v.grad_fn), chain(w.grad_fn), x.grad


test_scenario = CASES.test()
