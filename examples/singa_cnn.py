"""A convolutional network on handwritten digits in SINGA's style: layers called one by one.

Two convolutions work side by side on the same pictures, and `autograd.cat` joins what they find.

    python -m torchlike --as singa examples/singa_cnn.py
    python -m torchlike --as singa examples/singa_cnn.py --epochs 10
"""

import argparse
from pathlib import Path

import numpy as np
from singa import autograd, device, opt, tensor

DATA = Path(__file__).resolve().parent / "data" / "digits.npz"
HELD_OUT = 360  # a fifth of the images is never trained on
BATCH = 32


def load_digits(rng):
    """Training and held-out images, (N, 1, 8, 8) from 0 to 1, with their labels."""
    with np.load(DATA) as file:
        images = (file["images"][:, None] / 16).astype(np.float32)
        labels = file["labels"].astype(np.int32)
    order = rng.permutation(len(labels))
    images, labels = images[order], labels[order]
    return images[HELD_OUT:], labels[HELD_OUT:], images[:HELD_OUT], labels[:HELD_OUT]


class TwoEyes:
    """A convolution, two parallel ones, and a linear layer on top."""

    def __init__(self):
        self.conv1 = autograd.Conv2d(1, 16, 3, padding=1, bias=False)
        self.bn1 = autograd.BatchNorm2d(16)
        self.pool1 = autograd.MaxPool2d(2, 2)
        self.small = autograd.Conv2d(16, 16, 3, padding=1)
        self.large = autograd.Conv2d(16, 16, 5, padding=2)
        self.bn2 = autograd.BatchNorm2d(32)
        self.pool2 = autograd.AvgPool2d(2, 2)
        self.linear = autograd.Linear(32 * 2 * 2, 10)

    def scores(self, x):
        y = autograd.relu(self.bn1(self.conv1(x)))
        y = self.pool1(y)
        y = autograd.cat((self.small(y), self.large(y)), 1)
        y = autograd.relu(self.bn2(y))
        y = autograd.flatten(self.pool2(y))
        return self.linear(y)


def batches(images, labels, order):
    """Tensors of BATCH images and their labels, without gradients of their own."""
    for start in range(0, len(order), BATCH):
        batch = order[start : start + BATCH]
        yield (
            tensor.Tensor(data=images[batch], requires_grad=False),
            tensor.Tensor(data=labels[batch], requires_grad=False),
        )


def train_epoch(net, sgd, images, labels, rng):
    """Go once through the images; return the mean loss."""
    autograd.training = True
    losses = []
    for x, t in batches(images, labels, rng.permutation(len(labels))):
        loss = autograd.softmax_cross_entropy(net.scores(x), t)
        for p, gp in autograd.backward(loss):
            sgd.apply(p.name, p, gp)
        losses.append(tensor.to_numpy(loss)[0])
    return np.mean(losses)


def accuracy(net, images, labels):
    autograd.training = False
    right = 0
    for x, t in batches(images, labels, np.arange(len(labels))):
        answers = tensor.to_numpy(net.scores(x)).argmax(1)
        right += (answers == tensor.to_numpy(t)).sum()
    return right / len(labels)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--epochs", type=int, default=6)
    parser.add_argument("--seed", type=int, default=0)
    args = parser.parse_args()

    rng = np.random.default_rng(args.seed)
    device.get_default_device().SetRandSeed(args.seed)
    images, labels, test_images, test_labels = load_digits(rng)
    net, sgd = TwoEyes(), opt.SGD(lr=0.1)

    print("epoch    loss   held out")
    for epoch in range(1, args.epochs + 1):
        loss = train_epoch(net, sgd, images, labels, rng)
        print(f"{epoch:5d}  {loss:.4f}     {accuracy(net, test_images, test_labels):6.1%}")


if __name__ == "__main__":
    main()
