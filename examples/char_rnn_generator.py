"""Learn to write in the manner of a short tale, one character after the other.

The text is cut into rows that are read side by side.  Training goes along them window by window:
the LSTM's state is carried from one window into the next, but gradients are not (truncated
backpropagation through time).  To write, the network reads its own last character again and again.

    python -m torchlike examples/char_rnn_generator.py
    python -m torchlike examples/char_rnn_generator.py --start "On Monday" --temperature 0.5
"""

import argparse
import math
from pathlib import Path

import torch
from torch import nn, optim

TALE = Path(__file__).resolve().parent / "data" / "lighthouse.txt"
ROWS = 12
WINDOW = 40


class Alphabet:
    """The characters of a text, numbered."""

    def __init__(self, text):
        self.characters = sorted(set(text))
        self.index = {character: i for i, character in enumerate(self.characters)}

    def __len__(self):
        return len(self.characters)

    def encode(self, text):
        return torch.tensor([self.index[character] for character in text])

    def decode(self, numbers):
        return "".join(self.characters[number] for number in numbers)


class Writer(nn.Module):
    def __init__(self, characters, hidden=128):
        super().__init__()
        self.embedding = nn.Embedding(characters, 32)
        self.lstm = nn.LSTM(32, hidden, batch_first=True)
        self.linear = nn.Linear(hidden, characters)

    def forward(self, characters, state=None):
        """Scores for the character after each one: (rows, time) -> (rows, time, alphabet)."""
        output, state = self.lstm(self.embedding(characters), state)
        return self.linear(output), state


def windows(text):
    """Pairs (characters, the ones that follow), each rows x WINDOW, in reading order."""
    length = (len(text) - 1) // ROWS
    inputs = text[: ROWS * length].view(ROWS, length)
    targets = text[1 : ROWS * length + 1].view(ROWS, length)
    return list(zip(inputs.split(WINDOW, dim=1), targets.split(WINDOW, dim=1), strict=True))


def train_epoch(net, pairs, optimizer):
    """Read the text once; return the mean loss of a character, in nats."""
    net.train()
    state, total, seen = None, 0.0, 0
    for inputs, targets in pairs:
        scores, state = net(inputs, state)
        loss = nn.functional.cross_entropy(scores.flatten(0, 1), targets.flatten())
        optimizer.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(net.parameters(), max_norm=1.0)
        optimizer.step()
        state = tuple(part.detach() for part in state)  # remembered, but no way back
        total += loss.item() * targets.numel()
        seen += targets.numel()
    return total / seen


@torch.no_grad()
def write(net, alphabet, start, length, temperature):
    """Continue the start; a low temperature keeps to what is likely."""
    net.eval()
    written = alphabet.encode(start).tolist()
    scores, state = net(torch.tensor([written]))
    for _ in range(length):
        chances = torch.softmax(scores[0, -1] / temperature, dim=0)
        following = torch.multinomial(chances, 1)
        written.append(following.item())
        scores, state = net(following.view(1, 1), state)
    return alphabet.decode(written)


def parse_options():
    parser = argparse.ArgumentParser(description="Train an LSTM on a text and let it write.")
    parser.add_argument("--text", type=Path, default=TALE, help="a text file to learn from")
    parser.add_argument("--epochs", type=int, default=60)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--start", default="The keeper")
    parser.add_argument("--length", type=int, default=400)
    parser.add_argument("--temperature", type=float, default=0.5)
    return parser.parse_args()


def main():
    options = parse_options()
    torch.manual_seed(options.seed)
    text = options.text.read_text(encoding="utf-8")
    alphabet = Alphabet(text)
    net = Writer(len(alphabet))
    print(f"{len(text)} characters, {len(alphabet)} different ones")
    print(f"knowing nothing, the loss would be {math.log(len(alphabet)):.4f}\n")

    pairs = windows(alphabet.encode(text))
    optimizer = optim.Adam(net.parameters(), lr=0.005)
    print("epoch    loss")
    for epoch in range(1, options.epochs + 1):
        loss = train_epoch(net, pairs, optimizer)
        if epoch == 1 or epoch % 5 == 0:
            print(f"{epoch:5d}  {loss:.4f}", flush=True)
    print("\n" + write(net, alphabet, options.start, options.length, options.temperature))


if __name__ == "__main__":
    main()
