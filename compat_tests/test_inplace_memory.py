"""In-place writes against PyTorch: versions, shared memory, refused writes, and setitem."""

from __future__ import annotations

from typing import Any

from compat_tests.scenarios import Cases, error

CASES = Cases("inplace_memory")


def leaf(torch: Any, *shape: int) -> Any:
    count = 1
    for n in shape:
        count *= n
    return torch.arange(1.0, count + 1, dtype=torch.float64).reshape(shape).clone().requires_grad_()


def refused(t: Any, call: Any) -> Any:
    """What a write raises, and whether the tensor is as it was."""
    before, version, edge = t.detach().clone(), t._version, t.grad_fn
    text = error(call)
    same = bool((before == t.detach()).all()) and t._version == version and t.grad_fn is edge
    return text, same


# --- versions -------------------------------------------------------------------------------------


@CASES.add
def versions_along_a_script(torch: Any) -> Any:
    x = torch.arange(6.0)
    v, d, data = x[1:4], x.detach(), x.data
    log = []

    def note() -> None:
        log.append([t._version for t in (x, v, d, data)])

    for write in (
        lambda: x.add_(1),
        lambda: v.mul_(2),
        lambda: d.zero_(),
        lambda: data.fill_(3),
        lambda: x.__setitem__(0, 1.0),
        lambda: x.__setitem__(slice(None), 1.0),
        lambda: x.__setitem__(x > 0, 2.0),
        lambda: x.__setitem__(torch.tensor([0, 1]), 2.0),
        lambda: x.copy_(torch.ones(6)),
        lambda: v.copy_(torch.ones(3, dtype=torch.int64)),
        lambda: x.view(2, 3)[0].sub_(1),
        lambda: x.clone().add_(1),
        lambda: x.exp_().sin_(),
        lambda: torch.add(x, 1, out=x),
        lambda: torch.add(torch.ones(6), 1, out=d),
        lambda: x.uniform_(),
        lambda: x.requires_grad_(False),
        lambda: x.numpy().__setitem__(0, 5.0),
        lambda: x.__iadd__(1),
        lambda: x[2:].__imul__(2),
        lambda: x[:0].add_(1),
        lambda: x.clamp_(0, 1),
        lambda: x.masked_fill_(x > 0.5, 0.0),
        lambda: x.index_put_((torch.tensor([0]),), torch.tensor([1.0])),
    ):
        write()
        note()
    return log


@CASES.add
def versions_with_gradients(torch: Any) -> Any:
    x = leaf(torch, 4)
    y = x.exp()
    log = [y._version]
    y.mul_(2)
    y[0] = 3.0
    log.append(y._version)
    v = y[1:]
    v += 1
    log += [y._version, v._version, x._version]
    with torch.no_grad():
        x += 1
        y += 1
    return [*log, x._version, y._version, v._version, y.detach()._version]


@CASES.add
def saved_tensors_are_checked(torch: Any) -> Any:
    def attempt(save: Any, write: Any) -> str:
        x = leaf(torch, 3).float()
        y = x * 1
        out = save(y, x)
        write(y, out)
        return error(lambda: out.sum().backward())

    keepers = {
        "exp": lambda y, x: y.exp(),
        "sin": lambda y, x: y.sin(),
        "mul": lambda y, x: y * y,
        "mul leaf": lambda y, x: y * 3,
        "add": lambda y, x: y + 1,
        "matmul": lambda y, x: y @ y,
        "tanh": lambda y, x: y.tanh(),
        "pow": lambda y, x: y**2,
        "prelu view": lambda y, x: y[1:] * y[:2],
        "relu": lambda y, x: y.relu(),
        "div": lambda y, x: x / y,
        "max": lambda y, x: y.max(0).values,
        "softmax": lambda y, x: y.softmax(0),
        "sum": lambda y, x: y.sum(0),
    }
    writers = {
        "input": lambda y, out: y.add_(1),
        "input slice": lambda y, out: y[:1].zero_(),
        "detached": lambda y, out: y.detach().zero_(),
        "data": lambda y, out: y.data.add_(0),
        "result": lambda y, out: out.detach().mul_(2),
        "none": lambda y, out: None,
    }
    return {
        f"{k} {w}": attempt(save, write)
        for k, save in keepers.items()
        for w, write in writers.items()
    }


@CASES.add
def in_place_results_are_checked(torch: Any) -> Any:
    def attempt(*steps: Any) -> Any:
        x = leaf(torch, 3)
        y = x * 1
        for step in steps:
            step(y, x)
        return error(y.sum().backward), x.grad

    return [
        attempt(lambda y, x: y.exp_(), lambda y, x: y.add_(1)),
        attempt(lambda y, x: y.exp_(), lambda y, x: y.exp()),
        attempt(lambda y, x: y.mul_(y)),
        attempt(lambda y, x: y.mul_(x), lambda y, x: y.mul_(x)),
        attempt(lambda y, x: y.add_(y)),
        attempt(lambda y, x: y[:2].exp_(), lambda y, x: y[2:].add_(1)),
        attempt(lambda y, x: y[:2].exp_()),
        attempt(lambda y, x: y.div_(x), lambda y, x: y.sin_()),
        attempt(lambda y, x: y.relu_(), lambda y, x: y.sigmoid_()),
        attempt(lambda y, x: y.pow_(2), lambda y, x: y.neg_()),
        attempt(lambda y, x: y.copy_(x * 2), lambda y, x: y.mul_(3)),
    ]


# --- shared memory --------------------------------------------------------------------------------


@CASES.add
def detach_shares_memory_and_counter(torch: Any) -> Any:
    x = leaf(torch, 3)
    y = x.exp()
    d, t = y.detach(), y.data
    t.fill_(1)
    first = error(lambda: y.sum().backward(retain_graph=True))
    d.fill_(2)
    return [
        first,
        error(lambda: y.sum().backward()),
        (d.requires_grad, d.is_leaf, d._is_view(), t.requires_grad, d._base),
        y.detach()[1:].detach().storage_offset(),
        [d.data_ptr() == y.data_ptr(), t.data_ptr() == y.data_ptr()],
        y,
    ]


@CASES.add
def detach_in_place(torch: Any) -> Any:
    x = leaf(torch, 3)
    y = x * 2
    v = y[:2]
    text = error(v.detach_)
    z = y * 3
    same = y.detach_() is y
    z.sum().backward()
    w = leaf(torch, 3)
    w.detach_()
    return text, same, (y.requires_grad, y.is_leaf, y.grad_fn, w.requires_grad), x.grad


@CASES.add
def requires_grad_rules(torch: Any) -> Any:
    x = torch.ones(3)
    y = leaf(torch, 3) * 2
    v = x[:2]
    states = [x.requires_grad_() is x, v.requires_grad, v.is_leaf]
    errors = [
        error(lambda: y.requires_grad_(False)),
        error(lambda: setattr(y, "requires_grad", False)),
        error(lambda: y.requires_grad_(True)),
        error(lambda: torch.ones(3, dtype=torch.int64).requires_grad_()),
        error(lambda: torch.tensor([True]).requires_grad_()),
        error(lambda: torch.tensor([1], requires_grad=True)),
        error(lambda: torch.zeros(2, dtype=torch.int32, requires_grad=True)),
        error(lambda: setattr(x, "requires_grad", 1)),
        error(lambda: setattr(x, "requires_grad", "a")),
        error(lambda: torch.ones(2, dtype=torch.complex64).requires_grad_()),
    ]
    x.requires_grad = False
    states += [x.requires_grad, x.is_leaf, x.grad]
    with torch.no_grad():
        states.append(torch.ones(2, requires_grad=True).requires_grad)
    return states, errors


@CASES.add
def a_view_that_requires_grad_itself(torch: Any) -> Any:
    b = torch.arange(6.0)
    v = b[:3].requires_grad_()
    states = [v.is_leaf, v.requires_grad, b.requires_grad, v._is_view(), v._base is b]
    texts = [refused(v, lambda: v.mul_(2))]
    (v * v).sum().backward()
    with torch.no_grad():
        b.mul_(2)
    return states, texts, v.grad, v, error(lambda: v.grad_fn)


@CASES.add
def replacing_data(torch: Any) -> Any:
    x = leaf(torch, 3)
    version = x._version
    x.data = torch.ones(2, 2, dtype=torch.float64)
    states = [list(x.shape), x.requires_grad, x.is_leaf, x._version - version]
    y = leaf(torch, 3) * 2
    y.data = torch.zeros(3, dtype=torch.float64)
    y.sum().backward()
    d = torch.ones(2)
    view = d[:1]
    d.data = torch.zeros(2)
    view.add_(1)
    return [
        states,
        error(lambda: setattr(x, "data", 3)),
        error(lambda: setattr(x, "data", torch.ones(2, dtype=torch.int64))),
        error(lambda: setattr(x, "data", torch.ones(2, dtype=torch.float32))),
        [d, view],
    ]


@CASES.add
def inference_tensors(torch: Any) -> Any:
    x = leaf(torch, 3)
    with torch.inference_mode():
        i = x * 2
        i.add_(1)
        states = [i.is_inference(), i.requires_grad, x.is_inference(), i[0].is_inference()]
        inside = error(lambda: i.requires_grad_())
        version = error(lambda: i._version)
    j = torch.ones(3)
    with torch.inference_mode():
        j.add_(1)
        v = j[:1]
        v.add_(1)
    return [
        states,
        inside,
        version,
        error(lambda: i._version),
        error(lambda: i.add_(1)),
        error(lambda: i[:1].add_(1)),
        error(lambda: i * x),
        error(lambda: i + x),
        error(lambda: i.requires_grad_()),
        error(lambda: i.clone().requires_grad_()),
        error(lambda: x.clone().mul_(i)),
        error(lambda: x.clone().add_(i)),
        (i * 2).is_inference(),
        i.detach().is_inference(),
        error(lambda: i.backward()),
        (v.is_inference(), j, j._version),
    ]


# --- refused writes -------------------------------------------------------------------------------


@CASES.add
def overlapping_writes(torch: Any) -> Any:
    a, square = torch.arange(6.0), torch.arange(9.0).reshape(3, 3)
    wide = torch.zeros(3, 1).expand(3, 4)
    row = torch.zeros(1).expand(4)
    return [
        refused(a, lambda: a[1:].add_(a[:-1])),
        refused(a, lambda: a[1:].copy_(a[:-1])),
        refused(a, lambda: a[1:].mul_(a[:-1])),
        refused(square, lambda: square.add_(square.t())),
        refused(square, lambda: square[1:].add_(square[0])),
        refused(wide, lambda: wide.add_(1)),
        refused(wide, lambda: wide.zero_()),
        refused(wide, lambda: wide.fill_(2.0)),
        refused(wide, lambda: wide.copy_(torch.ones(3, 4))),
        refused(wide, lambda: wide.exp_()),
        refused(row, lambda: row.__setitem__(0, 1.0) if False else row.add_(row)),
        refused(row, lambda: row.__setitem__(torch.tensor([0]), 1.0)),
        refused(row, lambda: row.__setitem__(row > 1, 1.0)),
        refused(wide, lambda: torch.add(wide, 1, out=wide)),
        refused(a, lambda: torch.add(a[:-1], 1, out=a[1:])),
        refused(row, lambda: row.clamp_(1, 2)),
        refused(row, lambda: row.masked_fill_(row > 1, 1.0)),
    ]


@CASES.add
def exact_overlap_is_allowed(torch: Any) -> Any:
    a = torch.arange(6.0)
    a.add_(a)
    a[1:].mul_(a[1:])
    b = torch.arange(9.0).reshape(3, 3)
    b.t().add_(b.t())
    b[0].copy_(b[1])
    b[:, 0].add_(b[:, 1])
    torch.add(a, a, out=a)
    return a, b


@CASES.add
def wrong_dtypes_and_shapes(torch: Any) -> Any:
    i, f, b = torch.arange(4), torch.arange(4.0), torch.tensor([True, False])
    return [
        refused(i, lambda: i.add_(1.5)),
        refused(i, lambda: i.add_(f)),
        refused(i, lambda: i.div_(2)),
        refused(i, lambda: i.__itruediv__(2)),
        refused(b, lambda: b.add_(1)),
        refused(f, lambda: f.add_(torch.ones(4, dtype=torch.complex64))),
        refused(f, lambda: f.add_(torch.ones(2, 4))),
        refused(f, lambda: f.add_(torch.ones(3))),
        refused(i, lambda: i.add_(torch.ones(2, 4))),
        refused(f, lambda: f.copy_(torch.ones(3))),
        refused(f, lambda: f.copy_(torch.ones(2, 4))),
        refused(f, lambda: f.fill_(torch.ones(2))),
        refused(i, lambda: i.exp_()),
        refused(i, lambda: i.pow_(0.5)),
        refused(f, lambda: f.eq_(1) and 1 / 0),
        refused(f, lambda: f.masked_fill_(torch.ones(3) > 0, 1.0)),
        refused(f, lambda: f.masked_fill_(torch.ones(4), 1.0)),
        refused(f, lambda: f.clamp_()),
        refused(f, lambda: torch.add(f, 1, out=i)),
        refused(i, lambda: i.mul_(True)),
    ]


test_scenario = CASES.test()
