"""Forecast a time series: an LSTM learns to say the next value, and then runs on its own.

The series is invented: two cycles, a slow trend and noise.  The network sees the past value by
value, starting from none; the last part of the series is never trained on.

    python -m torchlike examples/time_series_lstm.py
    python -m torchlike examples/time_series_lstm.py --out forecast.png
"""

import argparse
import math
from pathlib import Path

import torch
from torch import nn, optim

LENGTH = 600
HELD_OUT = 100
WINDOW = 150


def make_series():
    """LENGTH values with mean 0 and standard deviation 1 over the part that is trained on."""
    t = torch.arange(LENGTH, dtype=torch.float32)
    cycles = torch.sin(2 * math.pi * t / 25) + 0.5 * torch.sin(2 * math.pi * t / 60)
    series = cycles + 0.001 * t + 0.1 * torch.randn(LENGTH)
    known = series[:-HELD_OUT]
    return (series - known.mean()) / known.std()


class Forecaster(nn.Module):
    def __init__(self, hidden=32):
        super().__init__()
        self.lstm = nn.LSTM(1, hidden, num_layers=2, batch_first=True)
        self.linear = nn.Linear(hidden, 1)

    def forward(self, values, state=None):
        """For each value the change to the next: (N, time) -> (N, time), and the state."""
        output, state = self.lstm(values.unsqueeze(-1), state)
        return values + self.linear(output).squeeze(-1), state


def windows(series):
    """All pieces of the known part, each with the same piece one value further on."""
    pieces = series[:-HELD_OUT].unfold(0, WINDOW + 1, 1)
    return pieces[:, :-1], pieces[:, 1:]


def train(net, series, epochs):
    inputs, targets = windows(series)
    optimizer = optim.Adam(net.parameters(), lr=0.01)
    scheduler = optim.lr_scheduler.CosineAnnealingLR(optimizer, T_max=epochs)
    loss_function = nn.MSELoss()
    print("epoch    loss    rate")
    for epoch in range(1, epochs + 1):
        total = 0.0
        for batch in torch.randperm(len(inputs)).split(64):
            predicted, _ = net(inputs[batch])
            loss = loss_function(predicted, targets[batch])
            optimizer.zero_grad()
            loss.backward()
            nn.utils.clip_grad_norm_(net.parameters(), max_norm=1.0)
            optimizer.step()
            total += loss.item() * len(batch)
        rate = scheduler.get_last_lr()[0]
        scheduler.step()
        if epoch <= 2 or epoch % 5 == 0:
            print(f"{epoch:5d}  {total / len(inputs):.4f}  {rate:.4f}", flush=True)


@torch.no_grad()
def one_step_errors(net, series):
    """Root mean square error of the next value on the held-out part: network, "as before"."""
    predicted, _ = net(series[None, :-1])
    truth = series[-HELD_OUT:]
    error = (predicted[0, -HELD_OUT:] - truth).square().mean().sqrt()
    naive = (series[-HELD_OUT - 1 : -1] - truth).square().mean().sqrt()
    return error.item(), naive.item()


@torch.no_grad()
def run_on(net, series, steps):
    """Read the known part, then feed each prediction back in."""
    predicted, state = net(series[None, :-HELD_OUT])
    value = predicted[:, -1:]
    values = [value]
    for _ in range(steps - 1):
        value, state = net(value, state)
        values.append(value)
    return torch.cat(values, dim=1)[0]


def draw(series, forecast, path):
    from matplotlib.figure import Figure

    figure = Figure(figsize=(10, 4), layout="constrained")
    axes = figure.subplots()
    start = LENGTH - HELD_OUT
    axes.plot(range(start - 100, LENGTH), series[start - 100 :].numpy(), label="series")
    axes.plot(range(start, start + len(forecast)), forecast.numpy(), label="forecast")
    axes.axvline(start, color="grey", linewidth=0.5)
    axes.set(xlabel="time", ylabel="value")
    axes.legend()
    figure.savefig(path, dpi=120)


def parse_options():
    parser = argparse.ArgumentParser(description="Forecast a time series with an LSTM.")
    parser.add_argument("--epochs", type=int, default=30)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--out", type=Path, help="save a plot here (needs matplotlib)")
    return parser.parse_args()


def main():
    options = parse_options()
    torch.manual_seed(options.seed)
    series = make_series()
    net = Forecaster()
    train(net, series, options.epochs)

    error, naive = one_step_errors(net, series)
    print(f"\nnext value, held out: error {error:.4f}")
    print(f"taking it for the last one: {naive:.4f}\n")
    forecast = run_on(net, series, HELD_OUT)
    print("steps ahead  forecast   truth")
    for ahead in (1, 5, 10, 20, 40, 80):
        truth = series[-HELD_OUT + ahead - 1].item()
        print(f"{ahead:11d}  {forecast[ahead - 1].item():8.4f}  {truth:7.4f}")
    if options.out:
        draw(series, forecast, options.out)
        print(f"\nplot written to {options.out}")


if __name__ == "__main__":
    main()
