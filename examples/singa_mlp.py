"""A two-layer perceptron on handwritten digits in SINGA's style: operations and nothing else.

Parameters are plain tensors; `autograd.backward` yields each of them with its gradient.

    python -m torchlike --as singa examples/singa_mlp.py
    python -m torchlike --as singa examples/singa_mlp.py --epochs 40 --hidden 128
"""

import argparse
from pathlib import Path

import numpy as np
from singa import autograd, device, opt
from singa.tensor import Tensor, to_numpy

DATA = Path(__file__).resolve().parent / "data" / "digits.npz"
HELD_OUT = 360  # a fifth of the images is never trained on
BATCH = 32


def load_digits(rng):
    """Training and held-out images, flattened to 64 numbers from 0 to 1, with their labels."""
    with np.load(DATA) as file:
        images = (file["images"].reshape(-1, 64) / 16).astype(np.float32)
        labels = file["labels"].astype(np.int32)
    order = rng.permutation(len(labels))
    images, labels = images[order], labels[order]
    return images[HELD_OUT:], labels[HELD_OUT:], images[:HELD_OUT], labels[:HELD_OUT]


def parameter(*shape, std=0.0):
    """A tensor whose gradient is delivered, from a normal distribution."""
    return Tensor(shape=shape, requires_grad=True, stores_grad=True).gaussian(0.0, std)


class Perceptron:
    """64 numbers, a hidden layer of ReLUs, 10 scores."""

    def __init__(self, hidden):
        self.w0, self.b0 = parameter(64, hidden, std=0.2), parameter(1, hidden)
        self.w1, self.b1 = parameter(hidden, 10, std=0.2), parameter(1, 10)

    def scores(self, x):
        x = autograd.matmul(x, self.w0)
        x = autograd.add_bias(x, self.b0)
        x = autograd.relu(x)
        x = autograd.matmul(x, self.w1)
        return autograd.add_bias(x, self.b1)


def accuracy(net, images, labels):
    answers = to_numpy(net.scores(Tensor(data=images))).argmax(1)
    return (answers == labels).mean()


def train_epoch(net, sgd, images, labels, rng):
    """Go once through the images; return the mean loss."""
    losses = []
    order = rng.permutation(len(labels))
    for start in range(0, len(order), BATCH):
        batch = order[start : start + BATCH]
        inputs = Tensor(data=images[batch], requires_grad=False)
        target = Tensor(data=labels[batch], requires_grad=False)
        loss = autograd.softmax_cross_entropy(net.scores(inputs), target)
        for p, gp in autograd.backward(loss):
            sgd.apply(p.name, p, gp)
        losses.append(to_numpy(loss)[0])
    return np.mean(losses)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--epochs", type=int, default=20)
    parser.add_argument("--hidden", type=int, default=64)
    parser.add_argument("--seed", type=int, default=0)
    args = parser.parse_args()

    rng = np.random.default_rng(args.seed)
    device.get_default_device().SetRandSeed(args.seed)
    images, labels, test_images, test_labels = load_digits(rng)
    net, sgd = Perceptron(args.hidden), opt.SGD(lr=0.1)

    autograd.training = True
    print("epoch    loss   held out")
    for epoch in range(1, args.epochs + 1):
        loss = train_epoch(net, sgd, images, labels, rng)
        if epoch == 1 or epoch % 5 == 0:
            print(f"{epoch:5d}  {loss:.4f}     {accuracy(net, test_images, test_labels):6.1%}")


if __name__ == "__main__":
    main()
