"""Training steps of models as small as tutorials have them: what a call costs counts most."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from benchmarks.workloads import Namespace, Step, Workload, training_step

WORDS = 65  # of the language models' vocabulary
RATE = 1e-5  # small, so that thousands of steps on one batch stay where they began


def trained(loss: Callable[[], Any], optimizer: Any) -> Step:
    """One step: no gradients, loss, gradients, update."""

    def step() -> None:
        optimizer.zero_grad()
        loss().backward()
        optimizer.step()

    return step


def moons(torch: Namespace) -> Step:
    torch.manual_seed(0)
    nn = torch.nn
    model = nn.Sequential(
        nn.Linear(2, 16), nn.ReLU(), nn.Linear(16, 16), nn.ReLU(), nn.Linear(16, 1)
    )
    x, y = torch.randn(64, 2), (torch.rand(64, 1) > 0.5).float()
    loss = nn.BCEWithLogitsLoss()
    return trained(lambda: loss(model(x), y), torch.optim.SGD(model.parameters(), lr=RATE))


def digits(torch: Namespace) -> Step:
    torch.manual_seed(0)
    nn = torch.nn
    model = nn.Sequential(nn.Linear(64, 32), nn.ReLU(), nn.Linear(32, 10))
    optimizer = torch.optim.Adam(model.parameters(), lr=RATE)
    return training_step(torch, model, torch.randn(32, 64), optimizer)


def convolutions(torch: Namespace) -> Step:
    torch.manual_seed(0)
    nn = torch.nn
    first = [nn.Conv2d(1, 8, 3, padding=1), nn.BatchNorm2d(8), nn.ReLU(), nn.MaxPool2d(2)]
    second = [nn.Conv2d(8, 16, 3, padding=1), nn.BatchNorm2d(16), nn.ReLU()]
    last = [nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(16, 10)]
    model = nn.Sequential(*first, *second, *last)
    optimizer = torch.optim.SGD(model.parameters(), lr=RATE, momentum=0.9)
    return training_step(torch, model, torch.randn(32, 1, 8, 8), optimizer)


def autoencoder(torch: Namespace) -> Step:
    """A variational one, 64 - 32 - 4 - 32 - 64."""
    torch.manual_seed(0)
    nn, F = torch.nn, torch.nn.functional
    layers = nn.ModuleList([nn.Linear(*sizes) for sizes in _SIZES])
    encode, mean, spread, decode, last = layers
    x = torch.rand(32, 64)

    def loss() -> Any:
        h = F.relu(encode(x))
        mu, log_var = mean(h), spread(h)
        z = mu + torch.randn_like(mu) * torch.exp(0.5 * log_var)
        again = torch.sigmoid(last(F.relu(decode(z))))
        distance = torch.sum(1 + log_var - mu.pow(2) - log_var.exp())
        return F.binary_cross_entropy(again, x, reduction="sum") - 0.5 * distance

    return trained(loss, torch.optim.Adam(layers.parameters(), lr=RATE))


_SIZES = ((64, 32), (32, 4), (32, 4), (4, 32), (32, 64))


def language_model(torch: Namespace, layer: Any, width: int) -> Step:
    """Characters through a recurrent layer to the next characters."""
    embed, out = torch.nn.Embedding(WORDS, 32), torch.nn.Linear(width, WORDS)
    parameters = [p for part in (embed, layer, out) for p in part.parameters()]
    text, following = (torch.randint(0, WORDS, (20, 8)) for _ in range(2))

    def loss() -> Any:
        scores = out(layer(embed(text))[0])
        return torch.nn.functional.cross_entropy(scores.view(-1, WORDS), following.view(-1))

    return trained(loss, torch.optim.Adam(parameters, lr=RATE))


def gru(torch: Namespace) -> Step:
    torch.manual_seed(0)
    return language_model(torch, torch.nn.GRU(32, 64), 64)


def cell(torch: Namespace) -> Step:
    """An LSTM written as a loop over its cell."""
    torch.manual_seed(0)
    step, out = torch.nn.LSTMCell(16, 32), torch.nn.Linear(32, 1)
    x, zeros = torch.randn(20, 4, 16), torch.zeros(4, 32)

    def loss() -> Any:
        state = (zeros, zeros)
        for row in x:
            state = step(row, state)
        return out(state[0]).pow(2).mean()

    return trained(loss, torch.optim.SGD([*step.parameters(), *out.parameters()], lr=RATE))


def encoder(torch: Namespace) -> Step:
    torch.manual_seed(0)
    layer = torch.nn.TransformerEncoderLayer(32, 4, 64, batch_first=True)
    x = torch.randn(8, 16, 32)
    return trained(lambda: layer(x).pow(2).mean(), torch.optim.AdamW(layer.parameters(), lr=RATE))


def gpt(torch: Namespace) -> Step:
    """Two blocks of width 32 with four heads, on 8 texts of 16 characters."""
    torch.manual_seed(0)
    nn, F = torch.nn, torch.nn.functional

    class Block(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.norm1, self.norm2 = nn.LayerNorm(32), nn.LayerNorm(32)
            self.qkv, self.join = nn.Linear(32, 96), nn.Linear(32, 32)
            self.mlp = nn.Sequential(nn.Linear(32, 128), nn.GELU(), nn.Linear(128, 32))

        def forward(self, x: Any) -> Any:
            parts = self.qkv(self.norm1(x)).split(32, dim=2)
            q, k, v = (part.view(8, 16, 4, 8).transpose(1, 2) for part in parts)
            y = F.scaled_dot_product_attention(q, k, v, is_causal=True)
            x = x + self.join(y.transpose(1, 2).contiguous().view(8, 16, 32))
            return x + self.mlp(self.norm2(x))

    embed, place = nn.Embedding(WORDS, 32), nn.Embedding(16, 32)
    body = nn.Sequential(Block(), Block(), nn.LayerNorm(32), nn.Linear(32, WORDS, bias=False))
    parameters = [p for part in (embed, place, body) for p in part.parameters()]
    text, following = (torch.randint(0, WORDS, (8, 16)) for _ in range(2))

    def loss() -> Any:
        scores = body(embed(text) + place(torch.arange(16)))
        return F.cross_entropy(scores.view(-1, WORDS), following.view(-1))

    return trained(loss, torch.optim.AdamW(parameters, lr=RATE))


SMALL = [
    Workload("small-moons", "MLP 2-16-16-1 on 64 points, SGD", 1.0, moons),
    Workload("small-digits", "MLP 64-32-10 on 32 digits, Adam", 1.0, digits),
    Workload("small-cnn", "CNN with batch norm on 32 of 8x8, SGD", 1.0, convolutions),
    Workload("small-vae", "variational autoencoder, 32 digits, Adam", 1.0, autoencoder),
    Workload("small-gru", "GRU 64 on 8 texts of 20 characters, Adam", 1.0, gru),
    Workload("small-cell", "LSTMCell 32 in a loop of 20 steps, SGD", 1.0, cell),
    Workload("small-encoder", "Transformer layer of width 32, AdamW", 1.0, encoder),
    Workload("small-gpt", "GPT of two blocks of width 32, AdamW", 1.0, gpt),
]
