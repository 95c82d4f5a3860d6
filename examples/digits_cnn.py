"""Train a small convolutional network on real handwritten digits.

The data are 1,797 grey images of 8 x 8 pixels, and they lie beside this
script, so nothing is downloaded.  On two cores the whole run takes a few seconds.

    python -m torchlike examples/digits_cnn.py
    python -m torchlike examples/digits_cnn.py --epochs 30 --seed 1 --out digits.png
"""

import argparse
import sys
import time
from pathlib import Path

import numpy as np
import torch
from torch import nn, optim
from torch.utils.data import DataLoader, TensorDataset, random_split

HERE = Path(__file__).resolve().parent
HELD_OUT = 360  # a fifth of the images is never trained on
CLASSES = 10


class DigitsNet(nn.Module):
    """Two convolutions, each halving the picture, and one linear layer on top."""

    def __init__(self):
        super().__init__()
        self.conv1 = nn.Conv2d(1, 16, kernel_size=3, padding=1)
        self.conv2 = nn.Conv2d(16, 32, kernel_size=3, padding=1)
        self.pool = nn.MaxPool2d(2)
        self.relu = nn.ReLU()
        self.flatten = nn.Flatten()
        self.dropout = nn.Dropout(0.25)
        self.fc = nn.Linear(32 * 2 * 2, CLASSES)

    def forward(self, x):
        x = self.pool(self.relu(self.conv1(x)))  # 1 x 8 x 8  ->  16 x 4 x 4
        x = self.pool(self.relu(self.conv2(x)))  # 16 x 4 x 4  ->  32 x 2 x 2
        return self.fc(self.dropout(self.flatten(x)))


def load_digits():
    """All images as floats from 0 to 1, shaped (N, 1, 8, 8), with their labels."""
    with np.load(HERE / "data" / "digits.npz") as file:
        images = torch.from_numpy(file["images"]).float() / 16
        labels = torch.from_numpy(file["labels"]).long()
    return TensorDataset(images.unsqueeze(1), labels)


def progress(epoch, epochs, done, total):
    """One line that is drawn over itself; it goes to stderr, so stdout holds results only."""
    if sys.stderr.isatty():
        bar = "#" * (20 * done // total)
        end = "\r" if done < total else "\r\033[K"  # the last call wipes the line
        print(f"epoch {epoch}/{epochs} [{bar:<20}]", end=end, file=sys.stderr, flush=True)


def train_epoch(net, loader, loss_function, optimizer, report):
    """Go once through the training images; return the mean loss and the accuracy on the way."""
    net.train()
    loss_sum, correct, seen = 0.0, 0, 0
    for step, (images, labels) in enumerate(loader, start=1):
        optimizer.zero_grad()
        scores = net(images)
        loss = loss_function(scores, labels)
        loss.backward()
        optimizer.step()

        loss_sum += loss.item() * len(labels)
        correct += (scores.argmax(dim=1) == labels).sum().item()
        seen += len(labels)
        report(step, len(loader))
    return loss_sum / seen, correct / seen


@torch.no_grad()
def predict(net, loader):
    """The network's answers and the true labels, for a whole loader."""
    net.eval()
    answers, truth = [], []
    for images, labels in loader:
        answers.append(net(images).argmax(dim=1))
        truth.append(labels)
    return torch.cat(answers), torch.cat(truth)


def train(net, train_set, test_set, epochs):
    """Train for some epochs and print a line for each; return the losses."""
    train_loader = DataLoader(train_set, batch_size=32, shuffle=True)
    test_loader = DataLoader(test_set, batch_size=256)
    loss_function = nn.CrossEntropyLoss()
    optimizer = optim.SGD(net.parameters(), lr=0.05, momentum=0.9)

    losses = []
    print("epoch    loss   trained on   held out")
    for epoch in range(1, epochs + 1):

        def report(done, total, epoch=epoch):
            progress(epoch, epochs, done, total)

        loss, accuracy = train_epoch(net, train_loader, loss_function, optimizer, report)
        answers, truth = predict(net, test_loader)
        held_out = (answers == truth).float().mean().item()
        print(f"{epoch:5d}  {loss:.4f}     {accuracy:6.1%}     {held_out:6.1%}", flush=True)
        losses.append(loss)
    return losses


def print_accuracy(answers, truth):
    """Accuracy on the held-out digits: each class, then all of them."""
    right = answers == truth
    print("\ndigit  accuracy  held-out images")
    for digit in range(CLASSES):
        mine = truth == digit
        share = right[mine].float().mean().item()
        print(f"{digit:5d}    {share:6.1%}  {mine.sum().item():15d}")
    print(f"  all    {right.float().mean().item():6.1%}  {len(truth):15d}")


def draw(losses, images, answers, truth, path):
    """Save the loss curve and a grid of predictions; wrong ones are titled in red."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(10, 4.5), layout="constrained")
    left, right = figure.subfigures(1, 2)
    axes = left.subplots()
    axes.plot(range(1, len(losses) + 1), losses, marker="o", markersize=3)
    axes.set(xlabel="epoch", ylabel="training loss", ylim=(0, None))

    grid = right.subplots(4, 6)
    for cell, image, answer, label in zip(grid.flat, images, answers, truth, strict=False):
        cell.imshow(image[0].numpy(), cmap="gray_r")
        cell.set_title(f"{answer.item()}", color="green" if answer == label else "red")
        cell.axis("off")
    right.suptitle("predictions on held-out digits")
    figure.savefig(path, dpi=120)


def save_picture(losses, test_set, answers, truth, path):
    images = torch.stack([image for image, _ in test_set])
    try:
        draw(losses, images, answers, truth, path)
    except ImportError:
        print("\nno picture drawn: matplotlib is not installed")
    else:
        print(f"\npicture written to {path}")


def parse_options():
    parser = argparse.ArgumentParser(description="Train a small CNN on handwritten digits.")
    parser.add_argument("--epochs", type=int, default=20)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--out", type=Path, default=HERE / "digits_cnn.png", help="the picture")
    return parser.parse_args()


def main():
    options = parse_options()
    started = time.perf_counter()
    torch.manual_seed(options.seed)

    dataset = load_digits()
    # A generator of its own keeps the split the same for every --seed.
    split = torch.Generator().manual_seed(0)
    sizes = [len(dataset) - HELD_OUT, HELD_OUT]
    train_set, test_set = random_split(dataset, sizes, generator=split)
    net = DigitsNet()
    print(net)
    weights = sum(parameter.numel() for parameter in net.parameters())
    print(f"{weights} weights, {len(train_set)} digits to train on, {len(test_set)} held out\n")

    losses = train(net, train_set, test_set, options.epochs)
    answers, truth = predict(net, DataLoader(test_set, batch_size=256))
    print_accuracy(answers, truth)
    save_picture(losses, test_set, answers, truth, options.out)
    print(f"took {time.perf_counter() - started:.1f} s", file=sys.stderr)


if __name__ == "__main__":
    main()
