"""A GPT, small enough to read in one sitting: it learns a short tale and continues it.

Each block mixes information across time (causal self-attention) and then within each position (a
two-layer network), and adds both to what it was given.  The matrix that turns characters into
vectors also turns vectors back into scores for characters.

    python -m torchlike examples/tiny_gpt.py
    python -m torchlike examples/tiny_gpt.py --steps 800 --start "On Sunday"
"""

import argparse
import math

import torch
from char_rnn_generator import TALE, Alphabet
from torch import nn, optim
from torch.nn import functional as F

CONTEXT = 32  # how many characters it sees at once
WIDTH = 64
HEADS = 4
BLOCKS = 2
BATCH = 32
RATE = 3e-3
WARMUP = 20  # steps until the full learning rate


class SelfAttention(nn.Module):
    def __init__(self):
        super().__init__()
        self.queries_keys_values = nn.Linear(WIDTH, 3 * WIDTH)
        self.output = nn.Linear(WIDTH, WIDTH)

    def forward(self, x):
        batch, time, _ = x.shape
        parts = self.queries_keys_values(x).view(batch, time, 3, HEADS, WIDTH // HEADS)
        q, k, v = parts.permute(2, 0, 3, 1, 4)  # each: batch, head, time, width of a head
        mixed = F.scaled_dot_product_attention(q, k, v, is_causal=True)  # nobody sees the future
        return self.output(mixed.transpose(1, 2).reshape(batch, time, WIDTH))


class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.norm1 = nn.LayerNorm(WIDTH)
        self.attention = SelfAttention()
        self.norm2 = nn.LayerNorm(WIDTH)
        self.mlp = nn.Sequential(
            nn.Linear(WIDTH, 4 * WIDTH), nn.GELU(), nn.Linear(4 * WIDTH, WIDTH)
        )

    def forward(self, x):
        x = x + self.attention(self.norm1(x))
        return x + self.mlp(self.norm2(x))


class GPT(nn.Module):
    def __init__(self, characters):
        super().__init__()
        self.characters = nn.Embedding(characters, WIDTH)
        self.positions = nn.Embedding(CONTEXT, WIDTH)
        self.blocks = nn.Sequential(*[Block() for _ in range(BLOCKS)])
        self.norm = nn.LayerNorm(WIDTH)
        self.scores = nn.Linear(WIDTH, characters, bias=False)
        self.scores.weight = self.characters.weight  # one matrix, used both ways
        nn.init.normal_(self.characters.weight, std=0.1)
        nn.init.normal_(self.positions.weight, std=0.1)

    def forward(self, characters):
        """(batch, time) -> (batch, time, alphabet): scores for the character after each one."""
        place = torch.arange(characters.shape[1])
        x = self.characters(characters) + self.positions(place)
        return self.scores(self.norm(self.blocks(x)))


def batch_of(text):
    """Random pieces of the text, and the same pieces one character further on."""
    starts = torch.randint(len(text) - CONTEXT, (BATCH, 1))
    places = starts + torch.arange(CONTEXT)
    return text[places], text[places + 1]


def make_optimizer(net, steps):
    """AdamW that decays matrices only, and a rate that rises in a line and falls as a cosine."""
    matrices = [p for p in net.parameters() if p.dim() >= 2]
    others = [p for p in net.parameters() if p.dim() < 2]
    groups = [{"params": matrices, "weight_decay": 0.1}, {"params": others, "weight_decay": 0.0}]
    optimizer = optim.AdamW(groups, lr=RATE, betas=(0.9, 0.99))

    def factor(step):
        rest = max(0, step - WARMUP) / max(1, steps - WARMUP)
        return min((step + 1) / WARMUP, 0.55 + 0.45 * math.cos(math.pi * rest))

    return optimizer, optim.lr_scheduler.LambdaLR(optimizer, factor)


def train(net, text, steps):
    optimizer, scheduler = make_optimizer(net, steps)
    print(" step    loss       rate  gradient")
    for step in range(1, steps + 1):
        inputs, targets = batch_of(text)
        loss = F.cross_entropy(net(inputs).flatten(0, 1), targets.flatten())
        optimizer.zero_grad()
        loss.backward()
        norm = nn.utils.clip_grad_norm_(net.parameters(), max_norm=1.0)
        rate = scheduler.get_last_lr()[0]
        optimizer.step()
        scheduler.step()
        if step <= 3 or step % 50 == 0:
            print(f"{step:5d}  {loss.item():.4f}  {rate:.3e}    {norm.item():.4f}", flush=True)


@torch.no_grad()
def write(net, alphabet, start, length, temperature):
    """Continue the start; of the likeliest characters one is drawn each time."""
    written = alphabet.encode(start)
    for _ in range(length):
        best, which = net(written[None, -CONTEXT:])[0, -1].topk(5)
        drawn = torch.multinomial(torch.softmax(best / temperature, dim=0), 1)
        written = torch.cat([written, which[drawn]])
    return alphabet.decode(written.tolist())


def parse_options():
    parser = argparse.ArgumentParser(description="Train a tiny GPT on a tale.")
    parser.add_argument("--steps", type=int, default=400)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--start", default="On Monday")
    parser.add_argument("--length", type=int, default=400)
    parser.add_argument("--temperature", type=float, default=0.5)
    return parser.parse_args()


def main():
    options = parse_options()
    torch.manual_seed(options.seed)
    tale = TALE.read_text(encoding="utf-8")
    alphabet = Alphabet(tale)
    net = GPT(len(alphabet))
    weights = sum(parameter.numel() for parameter in net.parameters())
    print(f"{weights} weights, {len(tale)} characters of text\n")
    train(net, alphabet.encode(tale), options.steps)
    print("\n" + write(net, alphabet, options.start, options.length, options.temperature))


if __name__ == "__main__":
    main()
