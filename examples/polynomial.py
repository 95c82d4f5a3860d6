"""Fit a cubic polynomial to a sine wave, five times, each time with less written by hand.

1. tensors only: the gradient is worked out on paper
2. autograd: the gradient comes from loss.backward()
3. a function of our own: autograd is taught one more derivative
4. nn: layers and a loss function instead of formulas
5. optim: the update, too, is left to the library

    python -m torchlike examples/polynomial.py
"""

import math

import torch
from torch import nn, optim

STEPS = 1000
RATE = 0.3

# The wave over one period.  The polynomial is written in t from -1 to 1, since powers of numbers of
# that size stay small, and gradient descent gets along with a large step.
t = torch.linspace(-1, 1, 401)
wave = torch.sin(math.pi * t)


def title(text):
    print(f"\n--- {text} ---")


def show_loss(step, loss):
    """A line now and then; item() turns a tensor of one element into a Python number."""
    if step % 250 == 0:
        print(f"step {step:4d}  loss {loss.item():.6f}")


def show_polynomial(a, b, c, d):
    print(f"sin(pi t) ~ {a:.4f} {b:+.4f} t {c:+.4f} t^2 {d:+.4f} t^3")


def fit_by_hand():
    """Nothing but arithmetic: d(mean(e^2)) / da = mean(2 e), and so on with t, t^2, t^3."""
    a, b, c, d = torch.randn(4)
    for step in range(1, STEPS + 1):
        error = a + b * t + c * t**2 + d * t**3 - wave
        show_loss(step, error.pow(2).mean())

        slope = 2 * error / len(t)
        a = a - RATE * slope.sum()
        b = b - RATE * (slope * t).sum()
        c = c - RATE * (slope * t**2).sum()
        d = d - RATE * (slope * t**3).sum()
    show_polynomial(a.item(), b.item(), c.item(), d.item())


def descend(weights, rate=RATE):
    """One step of gradient descent; the step itself must not be recorded."""
    with torch.no_grad():
        for weight in weights:
            weight -= rate * weight.grad
            weight.grad = None


def fit_with_autograd():
    """requires_grad asks for the derivative of whatever is computed from these four numbers."""
    weights = [torch.randn((), requires_grad=True) for _ in range(4)]
    a, b, c, d = weights
    for step in range(1, STEPS + 1):
        loss = (a + b * t + c * t**2 + d * t**3 - wave).pow(2).mean()
        show_loss(step, loss)
        loss.backward()
        descend(weights)
    show_polynomial(*[weight.item() for weight in weights])


class Legendre3(torch.autograd.Function):
    """The third Legendre polynomial, P3(x) = (5 x^3 - 3 x) / 2, with its own derivative."""

    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)  # backward will need it
        return 0.5 * (5 * x**3 - 3 * x)

    @staticmethod
    def backward(ctx, grad_output):
        (x,) = ctx.saved_tensors
        return grad_output * 1.5 * (5 * x**2 - 1)


def fit_with_own_function():
    """Another shape of cubic, a + b P3(c + d t), whose derivative at P3 is ours."""
    start = [0.0, -1.0, 0.0, 0.5]
    weights = [torch.tensor(value, requires_grad=True) for value in start]
    a, b, c, d = weights
    for step in range(1, STEPS + 1):
        loss = (a + b * Legendre3.apply(c + d * t) - wave).pow(2).mean()
        show_loss(step, loss)
        loss.backward()
        descend(weights, rate=RATE / 5)  # steeper than before: smaller steps
    a, b, c, d = (weight.item() for weight in weights)
    print(f"sin(pi t) ~ {a:.4f} {b:+.4f} P3({c:.4f} {d:+.4f} t)")


def make_model():
    """The cubic as a network: Linear weighs t, t^2 and t^3, Flatten drops its last dimension."""
    return nn.Sequential(nn.Linear(3, 1), nn.Flatten(0, 1))


def powers_of_t():
    return t.unsqueeze(-1).pow(torch.tensor([1, 2, 3]))


def show_model(model):
    linear = model[0]
    show_polynomial(linear.bias.item(), *linear.weight[0].tolist())


def fit_with_nn():
    """The model keeps its own weights, and the loss is a ready-made function."""
    powers, model, loss_function = powers_of_t(), make_model(), nn.MSELoss()
    for step in range(1, STEPS + 1):
        loss = loss_function(model(powers), wave)
        show_loss(step, loss)
        loss.backward()
        descend(model.parameters())
    show_model(model)


def fit_with_optim():
    """The optimizer owns the update: momentum makes it arrive sooner."""
    powers, model, loss_function = powers_of_t(), make_model(), nn.MSELoss()
    optimizer = optim.SGD(model.parameters(), lr=RATE / 3, momentum=0.9)
    for step in range(1, STEPS + 1):
        loss = loss_function(model(powers), wave)
        show_loss(step, loss)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    show_model(model)


def main():
    torch.manual_seed(0)
    title("1. tensors, gradient by hand")
    fit_by_hand()
    title("2. autograd")
    fit_with_autograd()
    title("3. a function of our own")
    fit_with_own_function()
    title("4. nn")
    fit_with_nn()
    title("5. optim")
    fit_with_optim()


if __name__ == "__main__":
    main()
