"""Learning-rate schedules side by side: what each does to the rate, and what that does to a fit.

A schedule is stepped once an epoch, after the optimizer.  The same small network fits the same
noisy curve under each of them, from the same start.

    python -m torchlike examples/lr_schedules.py
    python -m torchlike examples/lr_schedules.py --out schedules.png
"""

import argparse
from pathlib import Path

import torch
from torch import nn, optim
from torch.optim import lr_scheduler

RATE = 0.1
SHOWN = 8  # columns of the table


def warmup_then_cosine(optimizer, epochs):
    """Two schedules in a row: a line up, then half a cosine down."""
    up = max(1, epochs // 6)
    warmup = lr_scheduler.LinearLR(optimizer, start_factor=0.1, total_iters=up)
    cosine = lr_scheduler.CosineAnnealingLR(optimizer, T_max=max(1, epochs - up))
    return lr_scheduler.SequentialLR(optimizer, [warmup, cosine], milestones=[up])


def warmup_and_decay(optimizer, epochs):
    """Two schedules at once: their factors are multiplied."""
    warmup = lr_scheduler.LinearLR(optimizer, start_factor=0.1, total_iters=max(1, epochs // 6))
    decay = lr_scheduler.ExponentialLR(optimizer, 0.05 ** (1 / epochs))
    return lr_scheduler.ChainedScheduler([warmup, decay], optimizer=optimizer)


SCHEDULES = {
    "constant": lambda optimizer, n: lr_scheduler.ConstantLR(optimizer, factor=1.0),
    "steps": lambda optimizer, n: lr_scheduler.StepLR(optimizer, max(1, n // 3), gamma=0.3),
    "milestones": lambda optimizer, n: lr_scheduler.MultiStepLR(optimizer, [n // 2, n * 3 // 4]),
    "exponential": lambda optimizer, n: lr_scheduler.ExponentialLR(optimizer, 0.02 ** (1 / n)),
    "polynomial": lambda optimizer, n: lr_scheduler.PolynomialLR(optimizer, n, power=2.0),
    "cosine": lambda optimizer, n: lr_scheduler.CosineAnnealingLR(optimizer, T_max=n),
    "one cycle": lambda optimizer, n: lr_scheduler.OneCycleLR(optimizer, RATE, total_steps=n),
    "triangles": lambda optimizer, n: lr_scheduler.CyclicLR(
        optimizer, RATE / 10, RATE, step_size_up=max(1, n // 8), mode="triangular2"
    ),
    "1 / sqrt": lambda optimizer, n: lr_scheduler.LambdaLR(
        optimizer, lambda epoch: (epoch + 1) ** -0.5
    ),
    "restarts": lambda optimizer, n: lr_scheduler.CosineAnnealingWarmRestarts(
        optimizer, T_0=max(1, n // 7), T_mult=2
    ),
    "warm-up, cosine": warmup_then_cosine,
    "warm-up, decay": warmup_and_decay,
    "plateau": lambda optimizer, n: lr_scheduler.ReduceLROnPlateau(
        optimizer, factor=0.5, patience=3, threshold=0.02
    ),
}


def noisy_curve():
    """Points of a curve, x and y of shape (200, 1), the same in every call."""
    generator = torch.Generator().manual_seed(1)
    x = torch.linspace(-1, 1, 200).unsqueeze(1)
    y = torch.sin(4 * x) + 0.5 * torch.cos(9 * x)
    return x, y + 0.1 * torch.randn(x.shape, generator=generator)


def train(name, epochs, seed):
    """Fit the curve under one schedule; return the rate and the loss of every epoch."""
    torch.manual_seed(seed)  # the same start and the same batches for every schedule
    x, y = noisy_curve()
    net = nn.Sequential(nn.Linear(1, 32), nn.Tanh(), nn.Linear(32, 32), nn.Tanh(), nn.Linear(32, 1))
    optimizer = optim.SGD(net.parameters(), lr=RATE, momentum=0.9)
    scheduler = SCHEDULES[name](optimizer, epochs)
    loss_function = nn.MSELoss()
    rates, losses = [], []
    for _ in range(epochs):
        rates.append(optimizer.param_groups[0]["lr"])
        for batch in torch.randperm(len(x)).split(50):
            optimizer.zero_grad()
            loss_function(net(x[batch]), y[batch]).backward()
            optimizer.step()
        with torch.no_grad():
            losses.append(loss_function(net(x), y).item())
        if isinstance(scheduler, lr_scheduler.ReduceLROnPlateau):
            scheduler.step(losses[-1])  # the one that looks at the loss
        else:
            scheduler.step()
    return rates, losses


def draw(runs, path):
    """Save a plot: the rates on the left, the losses on the right."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(12, 5), layout="constrained")
    left, right = figure.subplots(1, 2)
    for number, (name, (rates, losses)) in enumerate(runs.items()):
        line = {"color": f"C{number % 10}", "linestyle": "-" if number < 10 else "--"}
        left.plot(rates, **line)
        right.plot(losses, label=name, **line)
    left.set(xlabel="epoch", ylabel="learning rate", yscale="log")
    right.set(xlabel="epoch", ylabel="loss", yscale="log")
    figure.legend(loc="outside right upper")
    figure.savefig(path, dpi=120)


def parse_options():
    parser = argparse.ArgumentParser(description="Compare learning-rate schedules.")
    parser.add_argument("--epochs", type=int, default=80)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--out", type=Path, help="save a plot here (needs matplotlib)")
    return parser.parse_args()


def main():
    options = parse_options()
    epochs = options.epochs
    shown = [epoch * (epochs - 1) // (SHOWN - 1) for epoch in range(SHOWN)]
    print("rate in epoch   " + "".join(f"{epoch:8d}" for epoch in shown) + "    last loss")
    runs = {}
    for name in SCHEDULES:
        rates, losses = runs[name] = train(name, epochs, options.seed)
        columns = "".join(f"{rates[epoch]:8.4f}" for epoch in shown)
        print(f"{name:<16}{columns}    {losses[-1]:9.5f}", flush=True)
    if options.out:
        draw(runs, options.out)
        print(f"\nplot written to {options.out}")


if __name__ == "__main__":
    main()
