"""A Model in SINGA's style: compiled, trained, saved, and resumed from its checkpoint.

The first half of the epochs runs, the states of model and optimizer are saved, and a new model
takes over from the file, in the same process or, with --resume, in a later one.

    python -m torchlike --as singa examples/singa_model.py
    python -m torchlike --as singa examples/singa_model.py --checkpoint digits.zip
    python -m torchlike --as singa examples/singa_model.py --checkpoint digits.zip --resume
"""

import argparse
import os
import tempfile
from pathlib import Path

import numpy as np
from singa import device, layer, model, opt, tensor

DATA = Path(__file__).resolve().parent / "data" / "digits.npz"
HELD_OUT = 360  # a fifth of the images is never trained on
BATCH = 32


def load_digits(seed):
    """Training and held-out images, flattened to 64 numbers from 0 to 1, with their labels."""
    with np.load(DATA) as file:
        images = (file["images"].reshape(-1, 64) / 16).astype(np.float32)
        labels = file["labels"].astype(np.int32)
    order = np.random.default_rng(seed).permutation(len(labels))
    images, labels = images[order], labels[order]
    return images[HELD_OUT:], labels[HELD_OUT:], images[:HELD_OUT], labels[:HELD_OUT]


class Perceptron(model.Model):
    """A hidden layer of ReLUs; one step computes, differentiates and updates."""

    def __init__(self, hidden=64):
        super().__init__()
        self.linear1 = layer.Linear(hidden)
        self.relu = layer.ReLU()
        self.linear2 = layer.Linear(10)
        self.loss = layer.SoftMaxCrossEntropy()

    def forward(self, x):
        return self.linear2(self.relu(self.linear1(x)))

    def train_one_batch(self, x, t):
        out = self.forward(x)
        loss = self.loss(out, t)
        self.optimizer(loss)
        return out, loss

    def set_optimizer(self, optimizer):
        self.optimizer = optimizer


class Trainer:
    """A compiled model with the two tensors that its batches are copied into."""

    def __init__(self):
        dev = device.get_default_device()
        self.tx = tensor.Tensor((BATCH, 64), dev, tensor.float32)
        self.tt = tensor.Tensor((BATCH,), dev, tensor.int32)
        self.net = Perceptron()
        self.net.set_optimizer(opt.SGD(lr=0.05, momentum=0.9, weight_decay=1e-5))
        self.net.compile([self.tx], is_train=True, use_graph=True, sequential=False)

    def epoch(self, images, labels, rng):
        """Go once through the images, in whole batches; return the mean loss."""
        self.net.train()
        order = rng.permutation(len(labels))[: len(labels) // BATCH * BATCH]
        losses = []
        for batch in order.reshape(-1, BATCH):
            self.tx.copy_from_numpy(images[batch])
            self.tt.copy_from_numpy(labels[batch])
            _, loss = self.net(self.tx, self.tt)
            losses.append(tensor.to_numpy(loss)[0])
        return np.mean(losses)

    def accuracy(self, images, labels):
        self.net.eval()
        scores = self.net(tensor.from_numpy(images))
        return (tensor.to_numpy(scores).argmax(1) == labels).mean()

    def save(self, path):
        """All states of the model, and the optimizer's beside them."""
        states = self.net.optimizer.get_states()
        kept = {f"sgd.{name}": tensor.from_numpy(np.asarray(value)) for name, value in flat(states)}
        self.net.save_states(path, kept)

    def load(self, path):
        kept = self.net.load_states(path)
        arrays = {name[4:]: tensor.to_numpy(value) for name, value in kept.items()}
        self.net.optimizer.set_states(nested(arrays))


def flat(states, prefix=""):
    """Pairs of a dotted name and a number or array, from dictionaries within dictionaries."""
    for name, value in states.items():
        if isinstance(value, dict):
            yield from flat(value, f"{prefix}{name}/")
        elif isinstance(value, tensor.Tensor):
            yield prefix + name, tensor.to_numpy(value)
        else:
            yield prefix + name, np.float32(value)


def nested(arrays):
    """The dictionaries again."""
    states = {}
    for name, value in arrays.items():
        *outer, last = name.split("/")
        inner = states
        for key in outer:
            inner = inner.setdefault(key, {})
        inner[last] = tensor.from_numpy(value) if outer else value.item()
    return states


def run(trainer, data, epochs, rng):
    images, labels, test_images, test_labels = data
    for epoch in epochs:
        loss = trainer.epoch(images, labels, rng)
        print(f"{epoch:5d}  {loss:.4f}     {trainer.accuracy(test_images, test_labels):6.1%}")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--epochs", type=int, default=20)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--checkpoint", help="a zip file to write, and to keep")
    parser.add_argument("--resume", action="store_true", help="start from the checkpoint")
    args = parser.parse_args()

    rng = np.random.default_rng(args.seed)
    device.get_default_device().SetRandSeed(args.seed)
    data, half = load_digits(args.seed), args.epochs // 2
    path = args.checkpoint or os.path.join(tempfile.mkdtemp(), "digits.zip")

    print("epoch    loss   held out")
    if not args.resume:
        first = Trainer()
        run(first, data, range(1, half + 1), rng)
        first.save(path)
        print(f"saved {len(first.net.get_states())} states of the model")

    second = Trainer()
    second.load(path)
    print(f"resumed at {second.accuracy(*data[2:]):.1%} held out")
    run(second, data, range(half + 1, args.epochs + 1), rng)
    if not args.checkpoint:
        os.remove(path)


if __name__ == "__main__":
    main()
