"""Writes texts word by word with a small causal transformer."""
import argparse
import time

import torch
from torch import nn
from torch.nn.functional import scaled_dot_product_attention


class Attention(nn.Module):
    def __init__(self, width, heads):
        super().__init__()
        self.heads = heads
        self.mix, self.out = nn.Linear(width, 3 * width), nn.Linear(width, width)

    def forward(self, x, kept):
        rows, length, width = x.shape
        q, k, v = (part.view(rows, length, self.heads, -1).transpose(1, 2) for part in self.mix(x).chunk(3, -1))
        is_causal = not kept
        if kept:
            k, v = torch.cat([kept[0], k], 2), torch.cat([kept[1], v], 2)
        mixed = scaled_dot_product_attention(q, k, v, is_causal=is_causal)
        return self.out(mixed.transpose(1, 2).reshape(rows, length, width)), (k, v)


class Block(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.norms = nn.ModuleList(nn.LayerNorm(width) for _ in range(2))
        self.attention = Attention(width, 4)
        self.think = nn.Sequential(nn.Linear(width, 4 * width), nn.GELU(), nn.Linear(4 * width, width))

    def forward(self, x, kept):
        y, kept = self.attention(self.norms[0](x), kept)
        x = x + y
        return x + self.think(self.norms[1](x)), kept


class Writer(nn.Module):
    def __init__(self, words=2000, width=192, depth=4):
        super().__init__()
        self.words = nn.Embedding(words, width)
        self.blocks = nn.ModuleList(Block(width) for _ in range(depth))
        self.choose = nn.Linear(width, words)

    def forward(self, text, kept=None):
        x, now = self.words(text), []
        for i, block in enumerate(self.blocks):
            x, of_block = block(x, kept[i] if kept else None)
            now.append(of_block)
        return self.choose(x[:, -1]), now


@torch.inference_mode()
def write(model, text, count, keeps):
    scores, kept = model(text)
    for _ in range(count):
        word = scores.argmax(-1, keepdim=True)
        text = torch.cat([text, word], 1)
        scores, kept = model(word, kept) if keeps else model(text)
    return text


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--fixed", action="store_true")
    parser.add_argument("--texts", type=int, default=10)
    words = parser.parse_args()

    torch.manual_seed(0)
    model = Writer().eval()
    for i in range(words.texts):
        if i == 2:
            began = time.perf_counter()
        write(model, torch.randint(0, 2000, (1, 64)), 64, words.fixed)
    took = (time.perf_counter() - began) / (words.texts - 2)
    print(f"{1e3 * took:.3f} ms per text")


main()
