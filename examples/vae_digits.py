"""A variational autoencoder: digits pressed into a few numbers, and new digits out of noise.

The encoder says where in the code space an image lies, and how surely: a mean and a variance for
each code.  The decoder must draw the image from a random point there.  The loss asks for a likely
drawing and for codes that look like noise N(0, 1), so that noise can be decoded to new digits.

    python -m torchlike examples/vae_digits.py
    python -m torchlike examples/vae_digits.py --codes 2 --out vae.png
"""

import argparse
import math
from pathlib import Path

import torch
from digits_cnn import load_digits
from torch import nn, optim
from torch.nn import functional as F
from torch.utils.data import DataLoader, random_split

HELD_OUT = 360
SHADES = " .:*#"


class VAE(nn.Module):
    def __init__(self, codes, hidden=128):
        super().__init__()
        self.encoder = nn.Sequential(nn.Flatten(), nn.Linear(64, hidden), nn.ReLU())
        self.mean = nn.Linear(hidden, codes)
        self.log_variance = nn.Linear(hidden, codes)
        self.decoder = nn.Sequential(
            nn.Linear(codes, hidden), nn.ReLU(), nn.Linear(hidden, 64), nn.Unflatten(1, (1, 8, 8))
        )

    def encode(self, images):
        seen = self.encoder(images)
        return self.mean(seen), self.log_variance(seen)

    def forward(self, images):
        """Logits of the images drawn anew, and the distribution of the codes they came from."""
        mean, log_variance = self.encode(images)
        # The noise is drawn apart, so that mean and variance stay on a differentiable way.
        codes = mean + torch.exp(0.5 * log_variance) * torch.randn_like(mean)
        return self.decoder(codes), mean, log_variance


def losses(images, logits, mean, log_variance):
    """Cross entropy of the drawing and divergence of the codes from N(0, 1), summed, in nats."""
    drawing = F.binary_cross_entropy_with_logits(logits, images, reduction="sum")
    # KL(N(m, v) || N(0, 1)) = (m^2 + v - log v - 1) / 2 in each dimension
    divergence = 0.5 * (mean.square() + log_variance.exp() - log_variance - 1).sum()
    return drawing, divergence


def run_epoch(net, loader, optimizer=None):
    """Go once through the images, training if there is an optimizer; mean losses of an image."""
    net.train(optimizer is not None)
    totals = torch.zeros(2)
    for images, _ in loader:
        drawing, divergence = losses(images, *net(images))
        if optimizer is not None:
            optimizer.zero_grad()
            ((drawing + divergence) / len(images)).backward()
            optimizer.step()
        totals += torch.stack([drawing, divergence]).detach()
    return (totals / len(loader.dataset)).tolist()


def train(net, train_set, test_set, epochs):
    train_loader = DataLoader(train_set, batch_size=64, shuffle=True)
    test_loader = DataLoader(test_set, batch_size=HELD_OUT)
    optimizer = optim.Adam(net.parameters(), lr=2e-3)
    print("         trained on           held out")
    print("epoch  drawing   codes    drawing   codes")
    for epoch in range(1, epochs + 1):
        trained = run_epoch(net, train_loader, optimizer)
        with torch.no_grad():
            held_out = run_epoch(net, test_loader)
        if epoch <= 2 or epoch % 5 == 0:
            print(f"{epoch:5d}  {trained[0]:7.3f} {trained[1]:7.3f}", end="  ")
            print(f"  {held_out[0]:7.3f} {held_out[1]:7.3f}", flush=True)


def print_images(images):
    """Images side by side, in shades of text; images is (N, 1, 8, 8), values from 0 to 1."""
    shades = (images.squeeze(1) * (len(SHADES) - 0.01)).long().clamp(0, len(SHADES) - 1)
    for row in range(8):
        line = "  ".join("".join(SHADES[i] for i in eight) for eight in shades[:, row].tolist())
        print(line.rstrip())


@torch.no_grad()
def show(net, test_set, codes):
    images = torch.stack([test_set[i][0] for i in range(8)])
    mean, _ = net.encode(images)
    print("\nheld-out digits")
    print_images(images)
    print("\ndrawn from their codes")
    print_images(net.decoder(mean).sigmoid())
    print("\ndrawn from noise")
    print_images(net.decoder(torch.randn(8, codes)).sigmoid())


def draw(images, path):
    """Save a square number of images (N, 1, 8, 8) as one picture."""
    from matplotlib.figure import Figure

    side = math.isqrt(len(images))
    framed = F.pad(images, (1, 1, 1, 1)).view(side, side, 10, 10)
    picture = framed.transpose(1, 2).reshape(side * 10, side * 10)
    figure = Figure(figsize=(6, 6), layout="constrained")
    axes = figure.subplots()
    axes.imshow(picture.numpy(), cmap="gray_r", vmin=0, vmax=1)
    axes.axis("off")
    figure.savefig(path, dpi=120)


@torch.no_grad()
def many_digits(net, codes, side=12):
    """A square of digits: a walk along two codes, or drawn from noise where there are more."""
    if codes == 2:
        steps = torch.linspace(-2, 2, side)
        points = torch.cartesian_prod(steps, steps)
    else:
        points = torch.randn(side * side, codes)
    return net.decoder(points).sigmoid()


def parse_options():
    parser = argparse.ArgumentParser(description="Train a variational autoencoder on digits.")
    parser.add_argument("--epochs", type=int, default=40)
    parser.add_argument("--codes", type=int, default=8, help="numbers an image is pressed into")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--out", type=Path, help="save a picture here (needs matplotlib)")
    return parser.parse_args()


def main():
    options = parse_options()
    torch.manual_seed(options.seed)
    dataset = load_digits()
    train_set, test_set = random_split(dataset, [len(dataset) - HELD_OUT, HELD_OUT])
    net = VAE(options.codes)
    train(net, train_set, test_set, options.epochs)
    show(net, test_set, options.codes)
    if options.out:
        draw(many_digits(net, options.codes), options.out)
        print(f"\npicture written to {options.out}")


if __name__ == "__main__":
    main()
