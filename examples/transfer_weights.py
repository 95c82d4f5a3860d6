"""Exchange weights between PyTorch and torchlike: the files are the same.

Run it under one library to train a network and save it, and under the other to load it, check that
it answers what it answered there, and go on training where it was left:

    python examples/transfer_weights.py --save digits.pt
    python -m torchlike examples/transfer_weights.py --load digits.pt

The other way round works as well.  Without options one run does both.
"""

import argparse
import tempfile
from pathlib import Path

import torch
from digits_cnn import load_digits
from torch import nn, optim
from torch.nn import functional as F

SHOWN = 5


class Net(nn.Module):
    """A little of everything that has state: weights, running statistics, a counter."""

    def __init__(self):
        super().__init__()
        self.features = nn.Sequential(
            nn.Conv2d(1, 8, 3, padding=1), nn.BatchNorm2d(8), nn.ReLU(), nn.MaxPool2d(2)
        )
        self.classifier = nn.Linear(8 * 4 * 4, 10)

    def forward(self, images):
        return self.classifier(self.features(images).flatten(1))


def start():
    net = Net()
    return net, optim.Adam(net.parameters(), lr=0.01)


def train(net, optimizer, images, labels, steps):
    """Some steps on random batches; print the losses."""
    net.train()
    losses = []
    for _ in range(steps):
        batch = torch.randint(len(images), (64,))
        loss = F.cross_entropy(net(images[batch]), labels[batch])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    print("losses:", " ".join(f"{loss:.4f}" for loss in losses))


@torch.no_grad()
def scores_of(net, images):
    net.eval()
    return net(images)


def save(path, images, labels, steps):
    net, optimizer = start()
    print("training from the start")
    train(net, optimizer, images, labels, steps)
    checkpoint = {
        "net": net.state_dict(),
        "optimizer": optimizer.state_dict(),
        "random": torch.get_rng_state(),
        "scores": scores_of(net, images[:SHOWN]),
    }
    torch.save(checkpoint, path)


def load(path, images, labels, steps):
    checkpoint = torch.load(path, weights_only=True)  # nothing in the file is executed
    print("\nwhat was saved")
    for name, tensor in checkpoint["net"].items():
        print(f"{name:32} {tuple(tensor.shape)!s:14} {tensor.dtype}")

    net, optimizer = start()
    print(net.load_state_dict(checkpoint["net"], strict=True))  # all names and shapes must agree
    optimizer.load_state_dict(checkpoint["optimizer"])
    torch.set_rng_state(checkpoint["random"])

    scores = scores_of(net, images[:SHOWN])
    agree = torch.allclose(scores, checkpoint["scores"], rtol=1e-4, atol=1e-5)
    print("\nscores as there:", agree)
    print("answers:", scores.argmax(dim=1).tolist(), "truth:", labels[:SHOWN].tolist())
    print("\ngoing on")
    train(net, optimizer, images, labels, steps)


def parse_options():
    parser = argparse.ArgumentParser(description="Save and load weights across libraries.")
    parser.add_argument("--save", type=Path, help="train, and save here")
    parser.add_argument("--load", type=Path, help="load from here, and train on")
    parser.add_argument("--steps", type=int, default=8)
    parser.add_argument("--seed", type=int, default=0)
    return parser.parse_args()


def main():
    options = parse_options()
    torch.manual_seed(options.seed)
    images, labels = load_digits().tensors
    if options.save:
        save(options.save, images, labels, options.steps)
    if options.load:
        load(options.load, images, labels, options.steps)
    if not options.save and not options.load:
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "digits.pt"
            save(path, images, labels, options.steps)
            load(path, images, labels, options.steps)


if __name__ == "__main__":
    main()
