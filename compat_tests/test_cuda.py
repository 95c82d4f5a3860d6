"""The GPU's surface, on a stand-in for CuPy: moves, errors, random streams, files, training."""

from __future__ import annotations

import copy
import io
import pickle
from typing import Any

import numpy as np
import pytest

import torchlike as torch
from torchlike import nn

pytestmark = pytest.mark.usefixtures("standin")
OPTIMIZERS: dict[str, Any] = {
    "SGD": {"lr": 0.1, "momentum": 0.9, "weight_decay": 0.01}, "Adam": {"lr": 0.01}, "AdamW": {},
    "RMSprop": {}, "Adagrad": {}, "Adadelta": {}, "Adamax": {}, "NAdam": {}, "RAdam": {},
    "ASGD": {}, "Rprop": {}, "Adafactor": {},
}  # fmt: skip


def cuda(*values: float) -> Any:
    return torch.tensor(values, device="cuda")


def model() -> Any:
    torch.manual_seed(0)
    return nn.Sequential(
        nn.Conv2d(1, 4, 3), nn.BatchNorm2d(4), nn.ReLU(), nn.MaxPool2d(2), nn.Flatten(),
        nn.Linear(36, 10),
    )  # fmt: skip


def train(m: Any, name: str, device: str, steps: int = 3) -> Any:
    """Losses of a few steps, and the optimizer."""
    torch.manual_seed(1)
    x, y = torch.randn(8, 1, 8, 8).to(device), torch.randint(0, 10, (8,)).to(device)
    optimizer, losses = getattr(torch.optim, name)(m.parameters(), **OPTIMIZERS[name]), []
    for _ in range(steps):
        optimizer.zero_grad()
        loss = nn.functional.cross_entropy(m(x), y)
        loss.backward()
        nn.utils.clip_grad_norm_(m.parameters(), 1.0)
        optimizer.step()
        losses.append(loss.item())
    return losses, optimizer


@pytest.mark.parametrize("name", list(OPTIMIZERS))
def test_training_gives_the_losses_of_the_cpu(name: str) -> None:
    cpu, _ = train(model(), name, "cpu")
    moved = model().cuda()
    found, optimizer = train(moved, name, "cuda")
    assert np.allclose(cpu, found, 1e-5)
    assert all(p.is_cuda and p.grad.is_cuda for p in moved.parameters())
    states = [s for state in optimizer.state.values() for k, s in state.items()]
    assert all(s.is_cuda for s in states if hasattr(s, "ndim") and s.ndim)


def test_checkpoints_move_between_devices() -> None:
    m = model().cuda()
    _, optimizer = train(m, "Adam", "cuda")
    file = io.BytesIO()
    torch.save({"model": m.state_dict(), "optimizer": optimizer.state_dict()}, file)
    for where, device in ((None, "cuda:0"), ("cpu", "cpu"), ("cuda:0", "cuda:0")):
        file.seek(0)
        found = torch.load(file, map_location=where)
        assert {str(t.device) for t in found["model"].values()} == {device}
        assert str(found["optimizer"]["state"][0]["exp_avg"].device) == device
        fresh = model().to(device)
        fresh.load_state_dict(found["model"])
        pairs = zip(fresh.state_dict().values(), m.state_dict().values())
        assert all(torch.equal(a.cpu(), b.cpu()) for a, b in pairs)
    other = torch.optim.Adam(model().cuda().parameters(), lr=0.01)
    file.seek(0)
    other.load_state_dict(torch.load(file, map_location="cpu")["optimizer"])
    assert {str(s["exp_avg"].device) for s in other.state.values()} == {"cuda:0"}


MODULES: dict[str, Any] = {
    "lstm": (lambda: nn.LSTM(3, 4, 2, bidirectional=True), (5, 2, 3)),
    "gru": (lambda: nn.GRU(3, 4, batch_first=True), (2, 5, 3)),
    "transformer": (lambda: nn.TransformerEncoderLayer(4, 2, 8, 0.0), (5, 2, 4)),
    "attention": (lambda: nn.MultiheadAttention(4, 2), (5, 2, 4)),
    "layer norm": (lambda: nn.LayerNorm(4), (2, 4)),
    "group norm": (lambda: nn.GroupNorm(2, 4), (2, 4, 3)),
    "transposed": (lambda: nn.ConvTranspose2d(2, 3, 3, stride=2), (1, 2, 4, 4)),
    "depthwise": (lambda: nn.Conv2d(4, 4, 3, groups=4, padding=1), (2, 4, 5, 5)),
    "conv1d": (lambda: nn.Conv1d(2, 3, 3, dilation=2), (2, 2, 9)),
    "conv3d": (lambda: nn.Conv3d(1, 2, 2), (1, 1, 4, 4, 4)),
}


@pytest.mark.parametrize("name", list(MODULES))
def test_modules_agree_with_the_cpu(name: str) -> None:
    make, shape = MODULES[name]
    results = []
    for device in ("cpu", "cuda"):
        torch.manual_seed(0)
        m, x = make().to(device), torch.randn(*shape)
        x = x.to(device).requires_grad_()
        args = (x, x, x) if name == "attention" else (x,)
        out = m(*args)
        out = out[0] if isinstance(out, tuple) else out
        out.square().sum().backward()
        assert out.device.type == device
        found = (out, x.grad, *(p.grad for p in m.parameters()))
        results.append([t.detach().cpu().numpy() for t in found])
    for a, b in zip(*results):
        assert np.allclose(a, b, 1e-4, 1e-5)


def test_copies_stay_on_the_device() -> None:
    m = model().cuda()
    assert copy.deepcopy(m)[0].weight.is_cuda
    assert pickle.loads(pickle.dumps(m[0].weight)).is_cuda
    assert m.state_dict()["0.weight"].device == torch.device("cuda", 0)
    assert not any(p.is_cuda for p in m.cpu().parameters())


def test_moves() -> None:
    x = torch.arange(6.0).reshape(2, 3).t()
    y = x.to("cuda")
    assert y.stride() == x.stride() and y.device == torch.device("cuda:0")
    assert y.to("cuda") is y and y.cuda() is y and x.to(0).is_cuda and y.get_device() == 0
    assert torch.equal(y.cpu(), x) and y.to("cpu", torch.float64).dtype is torch.float64
    assert x.to("cuda", non_blocking=True).is_cuda and x.pin_memory().cuda().is_cuda
    assert torch.equal(torch.zeros(3, 2).copy_(y), x)
    assert y.untyped_storage().device.type == "cuda" and y.untyped_storage().nbytes() == 24
    with torch.device("cuda"):
        assert torch.ones(2).is_cuda and torch.tensor([1, 2]).is_cuda and torch.eye(2).is_cuda
    assert torch.ones_like(y).is_cuda and y.new_zeros(2).is_cuda
    assert y.tolist() == x.tolist() and y[1, 1].item() == x[1, 1].item() and float(y[0, 0]) == 0
    assert repr(y[0]) == "tensor([0., 3.], device='cuda:0')"


def test_arrays_are_shared_with_cupy() -> None:
    import cupy

    x = cupy.arange(3.0)
    t = torch.as_tensor(x)
    t += 1
    assert t.is_cuda and x.tolist() == [1, 2, 3]
    assert t.__cuda_array_interface__["data"][0] == t.data_ptr() == x.data.ptr
    assert not hasattr(torch.ones(1), "__cuda_array_interface__")


def test_gradients_cross_devices() -> None:
    x = torch.ones(2, requires_grad=True)
    ((x.cuda() * 3).cpu() * torch.ones(2)).sum().backward()
    assert x.grad.tolist() == [3, 3] and not x.grad.is_cuda
    y = cuda(1.0, 2.0).requires_grad_()
    (first,) = torch.autograd.grad((y.cpu() ** 3).sum(), y, create_graph=True)
    (second,) = torch.autograd.grad(first.sum(), y)
    assert second.is_cuda and second.tolist() == [6, 12]


def raises(call: Any) -> str:
    with pytest.raises((RuntimeError, TypeError, IndexError)) as found:
        call()
    return str(found.value)


TWO = "Expected all tensors to be on the same device, but "


def test_mixed_devices() -> None:
    x, y = cuda(1.0, 2.0), torch.ones(2)
    text = TWO + "found at least two devices, cuda:0 and cpu!"
    assert raises(lambda: x + y) == raises(lambda: y * x) == raises(lambda: x.add_(y)) == text
    assert raises(lambda: torch.ones(2, 2) @ torch.ones(2, 2, device="cuda")).startswith(
        TWO + "got mat2 is on cuda:0, different from other tensors on cpu"
    )
    assert raises(lambda: nn.Conv2d(1, 1, 1)(torch.ones(1, 1, 2, 2).cuda())) == (
        "Input type (torch.cuda.FloatTensor) and weight type (torch.FloatTensor) should be the same"
    )
    assert (x + torch.tensor(2.0)).tolist() == [3, 4]  # without dimensions: a number
    assert torch.where(x > 1, x, torch.tensor(0.0)).tolist() == [0, 2]
    assert x[torch.tensor([1])].tolist() == [2]
    assert raises(lambda: y[torch.tensor([0]).cuda()]).startswith("indices should be either on cpu")
    assert raises(lambda: torch.ones(1).cuda(7)).startswith("CUDA error: invalid device ordinal")
    text = "can't convert cuda:0 device type tensor to numpy. Use Tensor.cpu() to copy the tensor "
    assert raises(x.numpy) == raises(lambda: np.asarray(x)) == text + "to host memory first."


def test_an_index_out_of_range_is_noticed() -> None:
    x = cuda(1.0, 2.0)
    at = torch.tensor([5]).cuda()
    for call in (
        lambda: x[at], lambda: x.gather(0, at), lambda: x.index_select(0, at),
        lambda: x.clone().scatter_(0, at, 1.0), lambda: nn.functional.embedding(at, x[:, None]),
        lambda: nn.functional.one_hot(at, 3),
    ):  # fmt: skip
        assert raises(call)


def test_random_streams_are_seeded() -> None:
    def draws() -> list[Any]:
        x = torch.empty(1000, device="cuda")
        return [
            torch.rand(5, device="cuda"), torch.randn(2, 3, device="cuda"),
            torch.randint(0, 9, (4,), device="cuda"), torch.randperm(6, device="cuda"),
            x.normal_(2, 3).clone(), x.exponential_().clone(), torch.bernoulli(x.fill_(0.3)),
            nn.functional.dropout(x.fill_(1)), torch.multinomial(x[:5], 3),
        ]  # fmt: skip

    torch.manual_seed(3)
    first, after = draws(), torch.cuda.get_rng_state()
    torch.cuda.manual_seed_all(3)
    assert all(torch.equal(a, b) for a, b in zip(first, draws()))
    assert torch.equal(torch.cuda.get_rng_state(), after) and after.numel() == 16
    more = torch.rand(3, device="cuda")
    torch.cuda.set_rng_state(after)
    assert torch.equal(torch.rand(3, device="cuda"), more)
    assert abs(first[4].mean().item() - 2) < 0.4 and abs(first[4].std().item() - 3) < 0.3
    assert abs(first[6].mean().item() - 0.3) < 0.06 and abs(first[5].mean().item() - 1) < 0.15
    assert sorted(first[3].tolist()) == list(range(6))
    g = torch.Generator("cuda").manual_seed(3)
    assert g.device.type == "cuda" and isinstance(g, torch.Generator)
    assert torch.equal(torch.rand(5, generator=g, device="cuda"), first[0])
    assert raises(lambda: torch.rand(2, generator=torch.Generator(), device="cuda")) == (
        "Expected a 'cuda' device type for generator but found 'cpu'"
    )


def test_philox_words() -> None:
    """The known answer of Random123 for counter 0 and key 0, and the stream's independence."""
    g = torch.Generator("cuda").manual_seed(0)
    words = g.words(4).tolist()
    assert words == [0x6627E8D5, 0xE169C58D, 0xBC57AC4C, 0x9B00DBD8]
    g.set_offset(0)
    assert [*g.words(3).tolist(), *g.words(1).tolist()] == words


def test_cuda_namespace() -> None:
    c = torch.cuda
    assert c.is_available() and c.device_count() == 1 and c.current_device() == 0
    assert c.get_device_name() == c.get_device_properties(0).name == "Stand-in"
    assert c.get_device_capability("cuda:0") == (9, 0) and c.is_bf16_supported()
    assert c.memory_allocated() <= c.memory_reserved() and len(c.mem_get_info()) == 2
    c.synchronize(), c.empty_cache(), c.set_device(0), c.init()
    with c.device(0), c.device_of(cuda(1.0)), c.stream(c.Stream()):
        start, end = c.Event(enable_timing=True), c.Event(enable_timing=True)
        start.record(), end.record()
    end.synchronize()
    assert isinstance(c.current_stream(), c.Stream) and isinstance(end, c.Event)
    c.current_stream().wait_stream(c.default_stream())
    assert start.elapsed_time(end) >= 0 and c.current_stream().query()
    assert isinstance(cuda(1.0), c.FloatTensor) and not isinstance(cuda(1.0), torch.FloatTensor)
    assert c.FloatTensor([1.0]).is_cuda and cuda(1.0).type() == "torch.cuda.FloatTensor"
    with pytest.raises(NotImplementedError, match="no peaks"):
        c.max_memory_allocated()
    a = torch.accelerator
    assert a.is_available() and a.current_accelerator() == torch.device("cuda")
    assert a.current_device_index() == 0 and a.memory_allocated() >= 0
    a.synchronize()
    assert torch.get_device_module() is c and c.default_generators[0].device.index == 0


def test_transforms() -> None:
    x = cuda(1.0, 2.0)
    assert torch.func.vmap(lambda a: a.sin().sum())(torch.stack([x, x])).is_cuda
    out, tangent = torch.func.jvp(torch.sin, (x,), (x,))
    assert out.is_cuda and tangent.is_cuda
    assert torch.func.hessian(lambda a: (a**3).sum())(x).tolist() == [[6, 0], [0, 12]]
    assert x.to("meta").is_meta
    assert (x.to(torch.bfloat16) * 1.5).sum().item() == 4.5
    assert (x.half() @ x.half()).item() == 5
