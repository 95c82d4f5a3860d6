"""Tell from its letters which language a first name comes from.

A name is read one character at a time by a recurrent network (GRU), and its last state is what
the classifier sees.  Names differ in length, so a batch of them is packed: no step is spent on
padding.

    python -m torchlike examples/char_rnn_classifier.py
    python -m torchlike examples/char_rnn_classifier.py --epochs 60 Heikki Gwyneth Masako
"""

import argparse
from pathlib import Path

import torch
from torch import nn, optim
from torch.nn.utils.rnn import pack_padded_sequence, pad_sequence
from torch.utils.data import DataLoader, random_split

NAMES = Path(__file__).resolve().parent / "data" / "names.txt"
LETTERS = "abcdefghijklmnopqrstuvwxyz"
HELD_OUT = 90
TRY = ["Annikki", "Evdokia", "Gianna", "Tomohiro", "Katarzyna", "Llewellyn"]


def load_names():
    """Pairs (name, index of its language), and the languages."""
    lines = NAMES.read_text(encoding="ascii").splitlines()
    table = dict(line.split(": ") for line in lines)
    languages = list(table)
    pairs = [(name, i) for i, lang in enumerate(languages) for name in table[lang].split()]
    return pairs, languages


def encode(name):
    """The name's letters as numbers from 1 on; 0 is left for padding."""
    return torch.tensor([LETTERS.index(letter) + 1 for letter in name.lower()])


def collate(pairs):
    """A batch: padded names (N, longest), their lengths (N), their languages (N)."""
    names = [encode(name) for name, _ in pairs]
    lengths = torch.tensor([len(name) for name in names])
    languages = torch.tensor([language for _, language in pairs])
    return pad_sequence(names, batch_first=True), lengths, languages


class NameClassifier(nn.Module):
    def __init__(self, languages, hidden=64):
        super().__init__()
        self.embedding = nn.Embedding(len(LETTERS) + 1, 32, padding_idx=0)
        self.gru = nn.GRU(32, hidden, batch_first=True)
        self.dropout = nn.Dropout(0.3)
        self.linear = nn.Linear(hidden, languages)

    def forward(self, names, lengths):
        letters = self.dropout(self.embedding(names))
        packed = pack_padded_sequence(letters, lengths, batch_first=True, enforce_sorted=False)
        _, last = self.gru(packed)  # 1 x N x hidden: each name's state after its own last letter
        return self.linear(self.dropout(last[0]))


def train_epoch(net, loader, loss_function, optimizer):
    """Go once through the names; return the mean loss."""
    net.train()
    total, seen = 0.0, 0
    for names, lengths, languages in loader:
        optimizer.zero_grad()
        loss = loss_function(net(names, lengths), languages)
        loss.backward()
        optimizer.step()
        total += loss.item() * len(languages)
        seen += len(languages)
    return total / seen


@torch.no_grad()
def confusion(net, pairs, languages):
    """Counts of the held-out names: row, the true language; column, the answer."""
    net.eval()
    names, lengths, truth = collate(pairs)
    answers = net(names, lengths).argmax(dim=1)
    cells = truth * len(languages) + answers
    return torch.bincount(cells, minlength=len(languages) ** 2).view(len(languages), -1)


def print_confusion(counts, languages):
    print("\n" + " " * 10 + "  ".join(f"{language:>8}" for language in languages))
    for language, row in zip(languages, counts.tolist(), strict=True):
        print(f"{language:<10}" + "  ".join(f"{count:8d}" for count in row))


@torch.no_grad()
def guess(net, name, languages):
    """Print the two likeliest languages of one name."""
    net.eval()
    names, lengths, _ = collate([(name, 0)])
    chances, order = net(names, lengths)[0].softmax(dim=0).topk(2)
    answers = [f"{languages[i]} {chance:.0%}" for chance, i in zip(chances, order, strict=True)]
    print(f"{name:<12}", "  ".join(answers))


def parse_options():
    parser = argparse.ArgumentParser(description="Classify first names by language.")
    parser.add_argument("names", nargs="*", default=TRY, help="names to try at the end")
    parser.add_argument("--epochs", type=int, default=20)
    parser.add_argument("--seed", type=int, default=0)
    return parser.parse_args()


def main():
    options = parse_options()
    torch.manual_seed(options.seed)
    pairs, languages = load_names()
    train_set, test_set = random_split(pairs, [len(pairs) - HELD_OUT, HELD_OUT])
    print(f"{len(train_set)} names to train on, {len(test_set)} held out")

    net = NameClassifier(len(languages))
    loader = DataLoader(train_set, batch_size=32, shuffle=True, collate_fn=collate)
    optimizer = optim.Adam(net.parameters(), lr=0.005)
    print("epoch    loss   held out")
    for epoch in range(1, options.epochs + 1):
        loss = train_epoch(net, loader, nn.CrossEntropyLoss(), optimizer)
        counts = confusion(net, test_set, languages)
        print(f"{epoch:5d}  {loss:.4f}     {counts.trace().item() / HELD_OUT:6.1%}")

    print_confusion(counts, languages)
    print()
    for name in options.names:
        guess(net, name, languages)


if __name__ == "__main__":
    main()
