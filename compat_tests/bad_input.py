"""Calls that PyTorch refuses, as text: the table behind test_bad_input and record_bad_input.

Each line is an expression (or statements, evaluated one after the other) of ``torch``, ``F``
(torch.nn.functional), ``nn``, ``np``, and the tensors of ``names``.
"""

from __future__ import annotations

from typing import Any

CONSTRUCTORS = """
torch.zeros(-1)
torch.zeros(2, -3)
torch.zeros(2.5)
torch.zeros("a")
torch.zeros(2, 2, dtype=int)()
torch.ones([2, "a"])
torch.empty(None)
torch.full((2,), "a")
torch.full((-2,), 1.0)
torch.full((2,), 300, dtype=torch.uint8)
torch.full((2,), 1e40)
torch.tensor("a")
torch.tensor(["a"])
torch.tensor([[1, 2], [3]])
torch.tensor([1, [2]])
torch.tensor([[1], 2])
torch.tensor([[[1, 2]], [[3, 4], [5, 6]]])
torch.tensor(object())
torch.tensor([None])
torch.tensor(None)
torch.tensor({})
torch.tensor([1], dtype="float32")
torch.tensor([300], dtype=torch.uint8)
torch.tensor([1.0], device="nowhere")
torch.tensor([1j], dtype=torch.float32)
torch.tensor([2**63])
torch.tensor(2**64)
torch.tensor(np.array(["a"]))
torch.tensor(np.array([object()]))
torch.tensor(np.arange(4)[::-1])
torch.tensor([1], requires_grad=True)
torch.from_numpy([1, 2])
torch.from_numpy(np.arange(4)[::-1])
torch.from_numpy(np.array(["a"]))
torch.from_numpy(np.array([1.0]).astype(">f4"))
torch.as_tensor(np.arange(4.0)[::-1])
torch.arange(0, 5, 0)
torch.arange(5, 0)
torch.arange(0, 5, -1)
torch.arange("a")
torch.arange(float("inf"))
torch.arange(float("nan"))
torch.linspace(0, 1, -1)
torch.linspace(0, 1)
torch.eye(-1)
torch.eye(2, -1)
torch.eye(2.5)
torch.zeros_like([1])
torch.rand(-1)
torch.randn("a")
torch.randint(5, 5, (2,))
torch.randint(5, 2, (2,))
torch.randint(0, 5)
torch.randperm(-1)
torch.normal(torch.zeros(2), torch.tensor([-1.0, 1.0]))
torch.bernoulli(torch.tensor([1.5]))
torch.bernoulli(torch.tensor([float("nan")]))
torch.bernoulli(torch.tensor([1, 0]))
torch.multinomial(torch.tensor([0.0, 0.0]), 1)
torch.multinomial(torch.tensor([0.5, 0.5]), 3)
torch.multinomial(torch.tensor([-0.5, 0.5]), 1)
torch.multinomial(torch.tensor([float("nan"), 0.5]), 1)
torch.multinomial(torch.ones(2, 2, 2), 1)
torch.multinomial(torch.tensor([1, 2]), 1)
torch.multinomial(torch.ones(2), 0)
torch.dropout(torch.ones(2), 1.5, True)
torch.zeros(2, dtype=torch.int64, requires_grad=True)
torch.manual_seed("a")
torch.device("cpu:x")
torch.device("")
torch.device(3.5)
torch.ones(2, device="cuda:99")
torch.Tensor(2.5)
torch.Tensor("a")
torch.Tensor(2, "a")
torch.FloatTensor(torch.ones(2, dtype=torch.float64))
"""

NUMBERS = """
bool(m)
bool(e)
int(m)
float(m)
m.item()
e.item()
m.__index__()
f.__index__()
range(10)[s]
len(s)
iter(s)
list(s)
1 in [m]
[1][m]
float(torch.tensor(1j))
int(torch.tensor(float("nan")))
int(torch.tensor(float("inf")))
s[0]
r.numpy()
np.asarray(r)
torch.ones(2, device="meta").numpy()
torch.ones(2, device="meta").item()
torch.ones(2, device="meta").tolist()
"a" in m
m.tolist(1)
if m: pass
not m
while e: pass
"""

ARITHMETIC = """
m + v2
m + "a"
"a" + m
m + None
m + [1, 2, 3]
torch.add(m, "a")
torch.add("a", m)
torch.add(m)
torch.add(m, m, m)
torch.add(m, m, out=3)
m.add()
m.add(m, foo=1)
m.foo
torch.mul(m, v2)
i // 0
i % 0
i // torch.tensor([0, 1, 2])
i & f
i | 1.5
f & f
~f
-b
b - b
b - True
1 - b
torch.neg(b)
torch.sub(b, b)
i << 1.5
m == "a" + 1
m < "a"
m < None
m ** "a"
i ** -1
2 ** i ** -1
i.pow_(-1)
m @ 3
3 @ m
m @ v2
v2 @ m
s @ s
m @ m
torch.mm(m, m)
torch.mm(v3, m)
torch.mm(m, i)
torch.mm(m, m.t().double())
torch.bmm(m, m)
torch.bmm(c, c)
torch.bmm(c, torch.ones(3, 4, 2))
torch.mv(m, v2)
torch.mv(v3, v3)
torch.dot(m, m)
torch.dot(v2, v3)
torch.dot(v3, i)
torch.matmul(m, torch.ones(2))
torch.matmul(c, torch.ones(3, 4, 2))
torch.matmul(m, i)
torch.addmm(v2, m, m.t())
torch.addmm(v3, m, m.t())
torch.baddbmm(c, c, c)
torch.outer(m, v2)
torch.t(c)
torch.exp("a")
torch.exp(1.0)
torch.exp()
torch.sqrt(None)
torch.clamp(m)
m.clamp()
torch.where(m, m, m)
torch.where(m > 1, m, torch.ones(4))
torch.maximum(m, 1)
torch.maximum(m, v2)
torch.atan2(m, v2)
m.to("nowhere")
m.to(dtype="a")
m.to(torch.float32, 3)
m.type("torch.NoTensor")
m.double(3, 4, 5)
"""

SHAPES = """
m.view(7)
m.view(-1, -1)
m.view(-1, 4)
m.view(-2)
m.view("a")
m.view()
m.t().view(6)
m.t().view(-1)
e.view(-1, 0)
m.reshape(7)
m.reshape(-1, -1)
m.reshape(-1, 4)
m.reshape(-2, -3)
m.reshape("a")
m.expand(4, 3)
m.expand(3)
m.expand(-1, 2, 3)
m.expand(2, -2)
m.expand_as(v2)
torch.broadcast_to(m, (3, 2))
m.transpose(0, 2)
m.transpose(0)
m.transpose(0, "a")
m.permute(0)
m.permute(0, 0)
m.permute(0, 2)
m.permute(0, 1, 2)
m.movedim(0, 2)
m.movedim((0, 1), (0, 0))
m.movedim((0, 1), 0)
m.unsqueeze(3)
m.unsqueeze(-4)
m.unsqueeze()
m.unsqueeze("a")
m.squeeze(2)
m.squeeze((0, 0))
m.flatten(1, 0)
m.flatten(0, 2)
m.unflatten(1, (2, 2))
m.unflatten(2, (1,))
m.unflatten(1, (-1, -1))
m.select(2, 0)
m.select(0, 2)
m.select(0, -3)
s.select(0, 0)
m.select(0, "a")
m.narrow(0, 1, 2)
m.narrow(0, 3, 0)
m.narrow(0, 0, -1)
m.narrow(2, 0, 1)
s.narrow(0, 0, 1)
m.diagonal(0, 0, 0)
m.diagonal(0, 0, 2)
v2.diagonal()
m.as_strided((9,), (1,))
m.as_strided((2,), (-1,))
m.as_strided((2, 2), (1,))
m.as_strided((2,), (1,), -1)
m.unbind(2)
s.unbind()
m.split(0)
m.split(-1)
m.split([1, 2])
m.split(1, 2)
m.split([2, -1])
s.split(1)
m.chunk(0)
m.chunk(-1)
m.chunk(2, 2)
s.chunk(2)
torch.cat([])
torch.cat([m, v2])
torch.cat([m, m], 2)
torch.cat([m, torch.ones(3, 3)], 1)
torch.cat([s, s])
torch.cat(m)
torch.cat([m, 1])
torch.cat(1)
torch.stack([])
torch.stack([m, v2])
torch.stack([m, m], 3)
torch.stack(1)
m.repeat(2)
m.repeat(-1, 2)
torch.flip(m, [0, 0])
torch.flip(m, [2])
m.tril(1.5)
v2.tril()
v2.triu()
m.size(2)
m.size("a")
m.stride(2)
s.size(0)
m.mT.mT[5]
v2.mT
c.H
"""

REDUCTIONS = """
m.sum(2)
m.sum((0, 0))
m.sum("a")
m.sum(dim=0, keepdim="a")
i.mean()
i.mean(0)
m.mean(2)
e.max()
e.min()
e.argmax()
torch.zeros(0, 3).max(0)
torch.zeros(0, 3).argmax(0)
m.max(2)
m.max(0, 1, 2)
m.argmax(2)
m.amax(2)
e.amax()
i.var()
i.std()
m.var(2)
m.cumsum(2)
m.cumsum()
m.logsumexp(2)
m.logsumexp()
m.all(2)
m.any(2)
m.softmax(2)
m.softmax()
i.softmax(0)
i.log_softmax(0)
"""

INDEXING = """
m[2]
m[0, 3]
m[0, 0, 0]
m["a"]
m[1.5]
m[::-1]
m[::0]
m[torch.tensor([2])]
m[torch.tensor([0.5])]
m[torch.tensor([True])]
m[b]
m[[0, 5]]
m[torch.tensor([0, 1]), torch.tensor([0, 1, 2])]
m[...,...,0]
m.gather(0, torch.tensor([[2, 0, 0]]))
m.gather(2, torch.tensor([[0]]))
m.gather(0, torch.tensor([0]))
m.gather(0, torch.tensor([[0.0]]))
m.gather(0, torch.tensor([[0, 0, 0, 0]]))
m.gather(1, torch.tensor([[0], [0], [0]]))
m.scatter(0, torch.tensor([[2, 0, 0]]), m)
m.scatter(0, torch.tensor([0]), m)
m.scatter(0, torch.tensor([[0]]), i)
m.scatter(2, torch.tensor([[0]]), m)
m.scatter_(0, torch.tensor([[5]]), 1.0)
m.index_select(0, torch.tensor([2]))
m.index_select(0, torch.tensor([-1]))
m.index_select(2, torch.tensor([0]))
m.index_select(0, torch.tensor([[0]]))
m.index_select(0, torch.tensor([0.5]))
m.index_put_((torch.tensor([2]),), torch.tensor(1.0))
m.index_put_((torch.tensor([0]),), torch.ones(4))
m.index_put_((torch.tensor([0]),), torch.ones(3).double())
m.masked_fill(v2 > 0, 1.0)
m.masked_fill(m, 1.0)
m.masked_fill(m > 0, v2)
m.masked_fill(m > 0, "a")
m[0] = "a"
m[0] = v2
m[0] = torch.ones(2, 3)
m[5] = 1
m[m > 0] = torch.ones(9)
m[::-1] = 1
m[0] = 1j
i[0] = float("nan")
m[torch.tensor([0])] = v2
m[None, 5] = 1
"""

AUTOGRAD = """
m.backward()
(r * 2).backward()
s.backward()
(r * 2).sum().backward(torch.ones(2))
(r * 2).backward(torch.ones(2))
(r * 2).sum().backward(1.0)
y = (r * r).sum(); y.backward(); y.backward()
torch.autograd.grad(m.sum(), r)
torch.autograd.grad((r * 2).sum(), m)
torch.autograd.grad((r * 2).sum(), torch.ones(2, requires_grad=True))
torch.autograd.grad(r * 2, r)
torch.autograd.grad((r * 2).sum(), "a")
torch.autograd.grad((r * 2).sum(), [])
r.add_(1)
r[0] = 1
r[:1].zero_()
r.view(-1).mul_(2)
(r * 1).unbind(0)[0].add_(1)
(r * 2).requires_grad_(False)
i.requires_grad_()
r.requires_grad_("a")
r.requires_grad = 3
r.grad = 1
r.grad = torch.ones(7)
r.grad = torch.ones(3).double()
r.data = 1
m.register_hook(lambda g: g)
m.retain_grad()
(r * 2).register_post_accumulate_grad_hook(print)
r.grad_fn.name()
r.is_leaf = True
(r * 2)[1:].detach_()
torch.add(r, 1, out=m.new_zeros(3))
torch.no_grad(1, 2)
torch.set_grad_enabled()
torch.inference_mode("a")
"""

IN_PLACE = """
m.add_(v2)
v3.add_(m)
i.add_(1.5)
i.add_(f)
i.div_(2)
b.add_(1)
f.add_(1j)
v2.expand(2, 2).add_(1)
f[1:].add_(f[:-1])
f[1:].copy_(f[:-1])
f.copy_(v2)
f.copy_("a")
f.fill_(v2)
f.fill_("a")
f.fill_(1j)
u.fill_(300)
i.fill_(1e30)
i.exp_()
f.zero_(1)
torch.add(m, 1, out=i)
torch.add(m, m, out=torch.ones(2, 3, dtype=torch.int64))
torch.mm(m, m.t(), out=i)
f.uniform_(1, 0)
f.normal_(0, -1)
i.uniform_()
i.normal_()
f.random_(5, 2)
f.bernoulli_(1.5)
f.exponential_(-1)
u.random_(0, 300)
"""

LAYERS = """
F.linear(m, torch.ones(2, 4))
F.linear(m, m, v3)
F.linear(m, m.double())
F.conv2d(x4, torch.ones(2, 4, 1, 1))
F.conv2d(x4, torch.ones(2, 3, 9, 9))
F.conv2d(m, torch.ones(2, 3, 1, 1))
F.conv2d(x4, torch.ones(2, 3, 1, 1), v3)
F.conv2d(x4, torch.ones(2, 3, 1, 1), stride=0)
F.conv2d(x4, torch.ones(2, 3, 1, 1), padding=-1)
F.conv2d(x4, torch.ones(2, 3, 1, 1), dilation=0)
F.conv2d(x4, torch.ones(2, 3, 1, 1), groups=2)
F.conv2d(x4, torch.ones(2, 3, 1, 1).double())
F.conv2d(x4, torch.ones(2, 3, 1, 1), stride=(1, 1, 1))
F.conv2d(x4, torch.ones(2, 3, 1, 1), padding="other")
F.conv2d(x4.long(), torch.ones(2, 3, 1, 1))
F.max_pool2d(x4, 9)
F.max_pool2d(x4, 2, padding=2)
F.max_pool2d(x4, 0)
F.max_pool2d(m[0], 2)
F.max_pool2d(x4, 2, stride=0)
F.max_pool2d(x4, (2, 2, 2))
F.avg_pool2d(x4, 9)
F.avg_pool2d(x4, 2, padding=2)
F.avg_pool2d(x4, 2, divisor_override=0)
F.avg_pool2d(x4.long(), 2)
F.dropout(m, 1.5)
F.dropout(m, -0.1)
F.relu("a")
F.softmax(m, 2)
F.cross_entropy(m, torch.tensor([0, 3]))
F.cross_entropy(m, torch.tensor([0, -1]))
F.cross_entropy(m, torch.tensor([0]))
F.cross_entropy(m, torch.tensor([0.0, 1.0]))
F.cross_entropy(m, torch.tensor([0, 1]), reduction="other")
F.cross_entropy(m, torch.tensor([0, 1]), weight=v2)
F.cross_entropy(m, torch.tensor([[0, 1, 2]]))
F.nll_loss(m, torch.tensor([0, 3]))
F.nll_loss(m, torch.tensor([0]))
F.nll_loss(s, torch.tensor(0))
F.mse_loss(m, torch.ones(4))
F.mse_loss(m, m, reduction="other")
F.mse_loss(m, "a")
nn.Linear(2, 3)(m)
nn.Linear(-1, 3)
nn.Linear("a", 3)
nn.Conv2d(3, 2, 1)(m)
nn.Conv2d(3, 2, 1, groups=2)
nn.Conv2d(3, 2, 0)
nn.Conv2d(3, 2, 1, padding_mode="other")
nn.Dropout(2.0)
nn.Flatten()(s)
nn.Module()(m)
nn.Module().missing
nn.Linear(2, 3).weight.nothing
nn.Linear(2, 3).register_parameter("weight.a", None)
nn.Parameter(i)
nn.Sequential(1)
"""

GROUPS = {
    name: [line for line in table.strip().splitlines() if line]
    for name, table in {
        "constructors": CONSTRUCTORS, "numbers": NUMBERS, "arithmetic": ARITHMETIC,
        "shapes": SHAPES, "reductions": REDUCTIONS, "indexing": INDEXING, "autograd": AUTOGRAD,
        "in place": IN_PLACE, "layers": LAYERS,
    }.items()
}  # fmt: skip


def names(torch: Any) -> dict[str, Any]:
    """What the lines of the tables are written in."""
    import numpy as np

    return {
        "torch": torch,
        "nn": torch.nn,
        "F": torch.nn.functional,
        "np": np,
        "m": torch.arange(6.0).reshape(2, 3).clone(),
        "c": torch.ones(2, 3, 4),
        "v2": torch.ones(2),
        "v3": torch.ones(3),
        "s": torch.tensor(1.5),
        "e": torch.zeros(0),
        "i": torch.tensor([1, 2, 3]),
        "f": torch.tensor([1.0, 2.0, 3.0]),
        "b": torch.tensor([True, False]),
        "u": torch.zeros(2, dtype=torch.uint8),
        "r": torch.tensor([1.0, 2.0, 3.0], requires_grad=True),
        "x4": torch.ones(1, 3, 4, 4),
    }


def outcome(torch: Any, line: str) -> tuple[str, bool]:
    """Class and first line of what a call raises, and whether all tensors are as they were."""
    from compat_tests.scenarios import error

    space = names(torch)
    tensors = [t for t in space.values() if isinstance(t, torch.Tensor)]
    before = [(t.detach().clone(), t._version, t.requires_grad, t.shape) for t in tensors]
    text = error(lambda: exec(line, space))
    same = all(
        t.shape == shape and t._version == version and t.requires_grad == flag
        and bool((t.detach() == old).all())
        for t, (old, version, flag, shape) in zip(tensors, before, strict=True)
    )  # fmt: skip
    return text, same
