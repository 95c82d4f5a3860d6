"""MXNet's autograd in a few steps, then a small Gluon network on real handwritten digits.

Nothing is downloaded: the digits lie beside this script. On two cores the whole run takes a few
seconds.

    python -m torchlike --as mxnet examples/mxnet_autograd.py
    python -m torchlike --as mxnet examples/mxnet_autograd.py --epochs 30 --seed 1
"""

import argparse
import sys
import time
from pathlib import Path

import numpy
from mxnet import autograd, gluon, init, np, npx
from mxnet.gluon import nn

HERE = Path(__file__).resolve().parent
HELD_OUT = 360  # a fifth of the images is never trained on
BATCH = 32


def first_gradient():
    """Only what happens inside record() is remembered, and only from marked arrays on."""
    x = np.arange(4)
    x.attach_grad()  # a gradient of zeros, for now
    with autograd.record():
        y = 2 * np.dot(x, x)
    y.backward()
    print("y = 2 x.x           x.grad =", x.grad)

    with autograd.record():
        y = x**3  # a vector: its gradient is that of the sum
    y.backward()  # written over the old one
    print("y = x^3             x.grad =", x.grad)


def adding_up():
    """With grad_req='add', gradients add up until the program sets them back."""
    x = np.array([1.0, 2.0])
    x.attach_grad(grad_req="add")
    for weight in (1, 10):
        with autograd.record():
            y = x * x
        y.backward(np.full((2,), weight))  # the gradient to start from
        print(f"added with weight {weight:<2} x.grad =", x.grad)
    x.grad[:] = 0


def leaving_things_out():
    """What pause() and detach() compute is a constant for the gradient."""
    x = np.array([1.0, 2.0, 3.0])
    x.attach_grad()
    with autograd.record():
        u = x * x
        with autograd.pause():
            scale = u.sum()
        y = u.detach() * x + scale
    y.backward()
    print("u fixed, y = u x    x.grad =", x.grad)


def second_derivative():
    """grad() gives new arrays, and with create_graph=True ones that can be differentiated."""
    x = np.array([0.0, 1.0])
    x.attach_grad()
    with autograd.record():
        y = np.exp(2 * x)
        (slope,) = autograd.grad(y, [x], create_graph=True)
    slope.backward()
    print("y = exp 2x          y''    =", x.grad)


class Clipped(autograd.Function):
    """The identity, whose gradient is kept between -1 and 1."""

    def forward(self, x):
        return x.copy()

    def backward(self, dy):
        return np.clip(dy, -1, 1)


def own_derivative():
    """A Function has a derivative of its own, and each instance is called once."""
    x = np.array([-3.0, 0.2, 3.0])
    x.attach_grad()
    with autograd.record():
        y = Clipped()(x) ** 2
    y.backward()
    print("a gradient clipped  x.grad =", x.grad)


def load_digits():
    """Images from 0 to 1, shaped (N, 1, 8, 8), and labels: a training and a held-out set."""
    with numpy.load(HERE / "data" / "digits.npz") as file:
        images = np.array(file["images"] / 16, dtype="float32").reshape(-1, 1, 8, 8)
        labels = np.array(file["labels"], dtype="int32")
    npx.seed(0)  # the same split for every --seed
    order = np.random.permutation(len(images))
    train, test = order[:-HELD_OUT], order[-HELD_OUT:]
    return [gluon.data.ArrayDataset(images[part], labels[part]) for part in (train, test)]


def digits_net():
    """Two convolutions, each followed by pooling, and one dense layer; sizes follow from data."""
    net = nn.HybridSequential()
    net.add(
        nn.Conv2D(16, kernel_size=3, padding=1, activation="relu"),
        nn.MaxPool2D(),
        nn.Conv2D(32, kernel_size=3, padding=1, activation="relu"),
        nn.MaxPool2D(),
        nn.Flatten(),
        nn.Dropout(0.25),
        nn.Dense(10),
    )
    net.initialize(init.Xavier())
    return net


def accuracy(net, loader):
    """The share of right answers; outside of record() nothing is dropped."""
    right = seen = 0
    for images, labels in loader:
        right += int((net(images).argmax(axis=1) == labels).sum())
        seen += len(labels)
    return right / seen


def train(net, train_set, test_set, epochs):
    """Momentum, batches of 32: a line for each epoch; returns the last accuracy on new digits."""
    loader = gluon.data.DataLoader(train_set, BATCH, shuffle=True)
    held_out = gluon.data.DataLoader(test_set, 256)
    loss_function = gluon.loss.SoftmaxCrossEntropyLoss()
    trainer = gluon.Trainer(net.collect_params(), "sgd", {"learning_rate": 0.05, "momentum": 0.9})
    print("epoch    loss   held out")
    share = accuracy(net, held_out)
    for epoch in range(1, epochs + 1):
        total = 0.0
        for images, labels in loader:
            with autograd.record():
                loss = loss_function(net(images), labels)  # one number for each image
            loss.backward()
            trainer.step(len(labels))  # divides the gradients by the number of images
            total += float(loss.sum())
        share = accuracy(net, held_out)
        print(f"{epoch:5d}  {total / len(train_set):.4f}     {share:6.1%}", flush=True)
    return share


def main():
    parser = argparse.ArgumentParser(description="MXNet's autograd and Gluon, in small.")
    parser.add_argument("--epochs", type=int, default=20)
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    started = time.perf_counter()
    npx.set_np()
    numpy.set_printoptions(precision=3, suppress=True)

    for step in (
        first_gradient, adding_up, leaving_things_out, second_derivative, own_derivative,
    ):  # fmt: skip
        step()

    train_set, test_set = load_digits()
    npx.seed(options.seed)
    net = digits_net()
    print(f"\n{len(train_set)} digits to train on, {len(test_set)} held out")
    share = train(net, train_set, test_set, options.epochs)
    for name, parameter in net.collect_params().items():
        print(f"{name:10} {parameter.shape}")
    print(f"right on held-out digits: {share:.1%}")
    print(f"took {time.perf_counter() - started:.1f} s", file=sys.stderr)


if __name__ == "__main__":
    main()
