"""A language model that writes its attention out."""

import loop
import torch
from torch import nn

SHAPE, LAYERS, WORDS = ((8, 1024), 8, 4096) if loop.DEVICE == "cuda" else ((2, 8), 2, 64)
WIDTH, HEADS = 768, 12


def own_attention(query, key, value):
    scores = query @ key.transpose(-2, -1) / query.shape[-1] ** 0.5
    return torch.softmax(scores, -1) @ value


class Block(nn.Module):
    def __init__(self, attends):
        super().__init__()
        self.attends = attends
        self.before, self.after = nn.LayerNorm(WIDTH), nn.LayerNorm(WIDTH)
        self.queries, self.out = nn.Linear(WIDTH, 3 * WIDTH), nn.Linear(WIDTH, WIDTH)
        self.wide, self.narrow = nn.Linear(WIDTH, 4 * WIDTH), nn.Linear(4 * WIDTH, WIDTH)

    def forward(self, x):
        batch, length, _ = x.shape
        parts = self.queries(self.before(x)).chunk(3, -1)
        query, key, value = (part.view(batch, length, HEADS, -1).transpose(1, 2) for part in parts)
        attended = self.attends(query, key, value).transpose(1, 2).reshape(batch, length, WIDTH)
        x = x + self.out(attended)
        return x + self.narrow(nn.functional.gelu(self.wide(self.after(x))))


def make(fix):
    attends = own_attention if fix is None else nn.functional.scaled_dot_product_attention
    blocks = (Block(attends) for _ in range(LAYERS))
    model = nn.Sequential(nn.Embedding(WORDS, WIDTH), *blocks, nn.Linear(WIDTH, WORDS)).to(loop.DEVICE)
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-5, fused=True)
    tokens = torch.randint(0, WORDS, SHAPE, device=loop.DEVICE)

    def step():
        with torch.autocast(loop.DEVICE, torch.bfloat16):
            scores = model(tokens)
        loss = nn.functional.cross_entropy(scores.flatten(0, 1).float(), tokens.flatten())
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()

    return step


PROGRAM = loop.Program(make, ("sdpa",), 60)

if __name__ == "__main__":
    PROGRAM.run()
