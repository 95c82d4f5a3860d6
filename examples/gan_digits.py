"""Two networks against each other: one draws digits from noise, one tells drawn from real.

The layers are those of a DCGAN, for pictures of 8 x 8: transposed convolutions in the generator,
strided ones in the discriminator, batch normalization in both, weights that start small.

    python -m torchlike examples/gan_digits.py
    python -m torchlike examples/gan_digits.py --epochs 60 --out gan.png
"""

import argparse
from pathlib import Path

import torch
from digits_cnn import load_digits
from torch import nn, optim
from torch.utils.data import DataLoader
from vae_digits import draw, print_images

NOISE = 32
CHANNELS = 32


def make_generator():
    """Noise (N, NOISE, 1, 1) to images (N, 1, 8, 8) with values from -1 to 1."""
    return nn.Sequential(
        nn.ConvTranspose2d(NOISE, 2 * CHANNELS, 2, bias=False),  # 2 x 2
        nn.BatchNorm2d(2 * CHANNELS),
        nn.ReLU(inplace=True),
        nn.ConvTranspose2d(2 * CHANNELS, CHANNELS, 4, stride=2, padding=1, bias=False),  # 4 x 4
        nn.BatchNorm2d(CHANNELS),
        nn.ReLU(inplace=True),
        nn.ConvTranspose2d(CHANNELS, 1, 4, stride=2, padding=1, bias=False),  # 8 x 8
        nn.Tanh(),
    )


def make_discriminator():
    """Images (N, 1, 8, 8) to one logit each (N): positive for real."""
    return nn.Sequential(
        nn.Conv2d(1, CHANNELS, 4, stride=2, padding=1, bias=False),  # 4 x 4
        nn.LeakyReLU(0.2, inplace=True),
        nn.Conv2d(CHANNELS, 2 * CHANNELS, 4, stride=2, padding=1, bias=False),  # 2 x 2
        nn.BatchNorm2d(2 * CHANNELS),
        nn.LeakyReLU(0.2, inplace=True),
        nn.Conv2d(2 * CHANNELS, 1, 2, bias=False),  # 1 x 1
        nn.Flatten(0),
    )


def initialize(module):
    if isinstance(module, (nn.Conv2d, nn.ConvTranspose2d)):
        nn.init.normal_(module.weight, 0.0, 0.02)
    elif isinstance(module, nn.BatchNorm2d):
        nn.init.normal_(module.weight, 1.0, 0.02)
        nn.init.zeros_(module.bias)


def noise(count):
    return torch.randn(count, NOISE, 1, 1)


class Game:
    """Both players with their optimizers, and one move of each."""

    def __init__(self):
        self.generator = make_generator().apply(initialize)
        self.discriminator = make_discriminator().apply(initialize)
        self.loss = nn.BCEWithLogitsLoss()
        self.optimizer_g = self.optimizer_of(self.generator)
        self.optimizer_d = self.optimizer_of(self.discriminator)

    @staticmethod
    def optimizer_of(player):
        return optim.Adam(player.parameters(), lr=1e-3, betas=(0.5, 0.999))

    def move_discriminator(self, real, drawn):
        """Learn to call the real images 1 and the drawn ones 0."""
        self.optimizer_d.zero_grad()
        on_real, on_drawn = self.discriminator(real), self.discriminator(drawn.detach())
        loss = self.loss(on_real, torch.ones_like(on_real))
        loss = loss + self.loss(on_drawn, torch.zeros_like(on_drawn))
        loss.backward()
        self.optimizer_d.step()
        return loss.item(), on_real.sigmoid().mean().item()

    def move_generator(self, drawn):
        """Learn to draw what is called 1; the gradient passes through the other player."""
        self.optimizer_g.zero_grad()
        answers = self.discriminator(drawn)
        loss = self.loss(answers, torch.ones_like(answers))
        loss.backward()
        self.optimizer_g.step()
        return loss.item(), answers.sigmoid().mean().item()

    def play(self, real):
        """One step on a batch of real images: both losses, and the share taken for real."""
        drawn = self.generator(noise(len(real)))
        loss_d, real_called_real = self.move_discriminator(real, drawn)
        loss_g, drawn_called_real = self.move_generator(drawn)
        return torch.tensor([loss_d, loss_g, real_called_real, drawn_called_real])


def print_line(label, numbers):
    loss_d, loss_g, real, drawn = numbers.tolist()
    print(f"{label:<9} {loss_d:13.4f}  {loss_g:9.4f}  {real:12.4f}  {drawn:12.4f}", flush=True)


def train(game, loader, epochs):
    print("          discriminator  generator  real as real  drawn as real")
    for epoch in range(1, epochs + 1):
        steps = []
        for images, _ in loader:
            steps.append(game.play(images * 2 - 1))
            if epoch == 1 and len(steps) <= 3:
                print_line(f"step {len(steps)}", steps[-1])
        if epoch <= 2 or epoch % 5 == 0:
            print_line(f"epoch {epoch}", torch.stack(steps).mean(dim=0))


@torch.no_grad()
def drawn_digits(game, fixed):
    game.generator.eval()
    return (game.generator(fixed) + 1) / 2


def parse_options():
    parser = argparse.ArgumentParser(description="Train a small DCGAN on handwritten digits.")
    parser.add_argument("--epochs", type=int, default=20)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--out", type=Path, help="save a picture here (needs matplotlib)")
    return parser.parse_args()


def main():
    options = parse_options()
    torch.manual_seed(options.seed)
    loader = DataLoader(load_digits(), batch_size=64, shuffle=True, drop_last=True)
    game = Game()
    fixed = noise(64)
    train(game, loader, options.epochs)
    images = drawn_digits(game, fixed)
    print("\ndrawn from noise")
    print_images(images[:8])
    if options.out:
        draw(images, options.out)
        print(f"\npicture written to {options.out}")


if __name__ == "__main__":
    main()
