"""The work that is timed, each piece written once as a function of the namespace it runs on.

A workload's builder takes ``torch``, which is PyTorch or torchlike, and returns a step: a function
without arguments that does the work once, or ``repeats`` times where one time is too short for the
call itself not to matter.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

Namespace = Any  # PyTorch's or torchlike's top-level module
Step = Callable[[], object]

REPEATS = 100
IMPORT = "import"  # measured by the worker itself, in a process that has imported only NumPy


@dataclass(frozen=True)
class Workload:
    name: str
    title: str
    target: float  # the ratio torchlike / PyTorch not to exceed; for the import, seconds
    build: Callable[[Namespace], Step] | None = None
    repeats: int = 1


def small_tensors(torch: Namespace) -> tuple[Any, Any]:
    """Two 8 x 8 tensors whose operations are recorded."""
    torch.manual_seed(0)
    return torch.randn(8, 8).requires_grad_(), torch.randn(8, 8).requires_grad_()


def recorded_add(torch: Namespace) -> Step:
    x, y = small_tensors(torch)

    def step() -> None:
        for _ in range(REPEATS):
            x + y

    return step


def recorded_mul(torch: Namespace) -> Step:
    x, y = small_tensors(torch)

    def step() -> None:
        for _ in range(REPEATS):
            x * y

    return step


def recorded_tanh(torch: Namespace) -> Step:
    x, _ = small_tensors(torch)
    tanh = torch.tanh

    def step() -> None:
        for _ in range(REPEATS):
            tanh(x)

    return step


def recorded_scale(torch: Namespace) -> Step:
    x, _ = small_tensors(torch)

    def step() -> None:
        for _ in range(REPEATS):
            x * 2.0

    return step


def chain(torch: Namespace) -> Step:
    """Thirty operations one upon the other, their sum, and the way back."""
    x, weight = small_tensors(torch)
    tanh = torch.tanh

    def step() -> None:
        x.grad = weight.grad = None
        y = x
        for _ in range(10):
            y = tanh(y * weight + x)
        y.sum().backward()

    return step


def lenet(torch: Namespace) -> Any:
    nn = torch.nn
    return nn.Sequential(
        nn.Conv2d(1, 6, 5, padding=2),
        nn.ReLU(),
        nn.MaxPool2d(2),
        nn.Conv2d(6, 16, 5),
        nn.ReLU(),
        nn.MaxPool2d(2),
        nn.Flatten(),
        nn.Linear(16 * 5 * 5, 120),
        nn.ReLU(),
        nn.Linear(120, 84),
        nn.ReLU(),
        nn.Linear(84, 10),
    )


def mlp(torch: Namespace) -> Any:
    nn = torch.nn
    return nn.Sequential(
        nn.Linear(784, 512),
        nn.ReLU(),
        nn.Linear(512, 512),
        nn.ReLU(),
        nn.Linear(512, 10),
    )


def training_step(torch: Namespace, model: Any, images: Any, optimizer: Any) -> Step:
    """Forward, cross-entropy, backward and the update, on one batch of random images.

    The rate is small: thousands of steps on one batch must not end where gradients are denormal.
    """
    labels = torch.randint(0, 10, (len(images),))
    criterion = torch.nn.CrossEntropyLoss()

    def step() -> None:
        optimizer.zero_grad()
        criterion(model(images), labels).backward()
        optimizer.step()

    return step


def lenet_step(batch: int) -> Callable[[Namespace], Step]:
    def build(torch: Namespace) -> Step:
        torch.manual_seed(0)
        images, model = torch.randn(batch, 1, 28, 28), lenet(torch)
        optimizer = torch.optim.SGD(model.parameters(), lr=1e-4, momentum=0.9)
        return training_step(torch, model, images, optimizer)

    return build


def mlp_step(torch: Namespace) -> Step:
    torch.manual_seed(0)
    images, model = torch.randn(64, 784), mlp(torch)
    optimizer = torch.optim.SGD(model.parameters(), lr=1e-4)
    return training_step(torch, model, images, optimizer)


ENGINE = [
    Workload("add", "recorded add, 8x8", 0.8, recorded_add, REPEATS),
    Workload("mul", "recorded mul, 8x8", 0.8, recorded_mul, REPEATS),
    Workload("tanh", "recorded tanh, 8x8", 0.8, recorded_tanh, REPEATS),
    Workload("scale", "recorded x * 2.0, 8x8", 0.6, recorded_scale, REPEATS),
    Workload("chain", "chain of 30, forward + backward", 0.8, chain),
    Workload("lenet-1", "LeNet 28x28 step, batch 1", 1.0, lenet_step(1)),
    Workload("lenet-64", "LeNet 28x28 step, batch 64", 1.3, lenet_step(64)),
    Workload("mlp-64", "MLP 784-512-512-10 step, batch 64", 1.2, mlp_step),
    Workload(IMPORT, "import, once NumPy is imported", 0.15),
]
