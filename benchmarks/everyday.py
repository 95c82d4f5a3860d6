"""Everyday work that is timed: layers, training steps, operations on a million elements."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from benchmarks.workloads import Namespace, Step, Workload, mlp, training_step

MILLION = 1_000_000


def mlp_adam(torch: Namespace) -> Step:
    torch.manual_seed(0)
    model, images = mlp(torch), torch.randn(64, 784)
    return training_step(torch, model, images, torch.optim.Adam(model.parameters(), lr=1e-5))


def convolution(torch: Namespace) -> Step:
    torch.manual_seed(0)
    layer = torch.nn.Conv2d(32, 64, 3)
    return forward_backward(torch, layer, torch.randn(64, 32, 26, 26))


def forward_backward(torch: Namespace, layer: Any, x: Any) -> Step:
    """A layer's output for ``x``, and all its gradients, that of ``x`` among them."""
    x.requires_grad_()
    parameters = list(layer.parameters())
    first = layer(x)
    direction = torch.ones_like(first[0] if isinstance(first, tuple) else first)

    def step() -> None:
        for p in parameters:
            p.grad = None
        x.grad = None
        out = layer(x)
        (out[0] if isinstance(out, tuple) else out).backward(direction)

    return step


def mnist_net(torch: Namespace) -> Any:
    """The network of PyTorch's MNIST example."""
    nn = torch.nn
    return nn.Sequential(
        nn.Conv2d(1, 32, 3),
        nn.ReLU(),
        nn.Conv2d(32, 64, 3),
        nn.ReLU(),
        nn.MaxPool2d(2),
        nn.Dropout(0.25),
        nn.Flatten(),
        nn.Linear(9216, 128),
        nn.ReLU(),
        nn.Dropout(0.5),
        nn.Linear(128, 10),
    )


def mnist(torch: Namespace) -> Step:
    torch.manual_seed(0)
    model, images = mnist_net(torch), torch.randn(64, 1, 28, 28)
    return training_step(torch, model, images, torch.optim.SGD(model.parameters(), lr=1e-4))


def lstm(torch: Namespace) -> Step:
    torch.manual_seed(0)
    return forward_backward(torch, torch.nn.LSTM(128, 128, 2), torch.randn(32, 16, 128))


def transformer(torch: Namespace) -> Step:
    torch.manual_seed(0)
    layer = torch.nn.TransformerEncoderLayer(128, 8, 512, batch_first=True)
    return forward_backward(torch, layer, torch.randn(16, 64, 128))


def on_a_million(call: Callable[[Namespace, Any], object], *shape: int) -> Any:
    """``call(torch, x)`` for a float32 tensor of a million elements, unrecorded."""

    def build(torch: Namespace) -> Step:
        torch.manual_seed(0)
        x = torch.randn(*(shape or (MILLION,)))
        return lambda: call(torch, x)

    return build


def indexed(call: Callable[[Any, Any], object]) -> Any:
    """``call(x, index)`` for a million elements and as many places."""

    def build(torch: Namespace) -> Step:
        torch.manual_seed(0)
        x, index = torch.randn(MILLION), torch.randint(0, MILLION, (MILLION,))
        return lambda: call(x, index)

    return build


def layer_norm(torch: Namespace, x: Any) -> object:
    return torch.nn.functional.layer_norm(x, (1000,))


OPERATIONS: dict[str, tuple[float, Any]] = {
    "add": (2, on_a_million(lambda torch, x: x + x)),
    "mul": (2, on_a_million(lambda torch, x: x * 1.5)),
    "exp": (2, on_a_million(lambda torch, x: torch.exp(x))),
    "tanh": (2, on_a_million(lambda torch, x: torch.tanh(x))),
    "sigmoid": (2, on_a_million(lambda torch, x: torch.sigmoid(x))),
    "relu": (2, on_a_million(lambda torch, x: torch.relu(x))),
    "where": (2, on_a_million(lambda torch, x: torch.where(x > 0, x, -x))),
    "gelu": (15, on_a_million(lambda torch, x: torch.nn.functional.gelu(x))),
    "erf": (15, on_a_million(lambda torch, x: torch.erf(x))),
    "sum": (2, on_a_million(lambda torch, x: x.sum())),
    "sum-rows": (2, on_a_million(lambda torch, x: x.sum(1), 1000, 1000)),
    "sum-columns": (2, on_a_million(lambda torch, x: x.sum(0), 1000, 1000)),
    "max": (2, on_a_million(lambda torch, x: x.max())),
    "std": (2, on_a_million(lambda torch, x: x.std())),
    "softmax": (3, on_a_million(lambda torch, x: torch.softmax(x, 1), 1000, 1000)),
    "layer_norm": (2, on_a_million(layer_norm, 1000, 1000)),
    "index": (2, indexed(lambda x, index: x[index])),
    "mask": (2, on_a_million(lambda torch, x: x[x > 0])),
    "sort": (2, on_a_million(lambda torch, x: x.sort())),
    "topk": (6, on_a_million(lambda torch, x: x.topk(100))),
    "cumsum": (2, on_a_million(lambda torch, x: x.cumsum(0))),
    "cumsum-columns": (2, on_a_million(lambda torch, x: x.cumsum(0), 1000, 1000)),
}

EVERYDAY = [
    Workload("mlp-adam", "784-512-512-10 step, batch 64, Adam", 1.0, mlp_adam),
    Workload("conv", "conv 32->64 3x3, 64x26x26, both ways", 1.5, convolution),
    Workload("mnist", "MNIST example's network, step at 64", 1.5, mnist),
    Workload("lstm", "LSTM 2x128, T 32, B 16, both ways", 1.5, lstm),
    Workload("transformer", "Transformer layer 128, 16x64, both ways", 1.5, transformer),
    *(
        Workload(f"1e6-{name}", f"{name}, 1e6 elements", target, build)
        for name, (target, build) in OPERATIONS.items()
    ),
]
