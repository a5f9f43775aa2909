"""The transformer that several families share, written as people write it. Made on the device."""

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from planting.device import DEVICE


class Attention(nn.Module):
    def __init__(self, width: int, heads: int, causal: bool = True):
        super().__init__()
        self.heads, self.causal = heads, causal
        self.qkv = nn.Linear(width, 3 * width)
        self.out = nn.Linear(width, width)

    def forward(self, x: Tensor) -> Tensor:
        batch, length, width = x.shape
        q, k, v = self.qkv(x).view(batch, length, 3, self.heads, -1).permute(2, 0, 3, 1, 4).unbind(0)
        mixed = F.scaled_dot_product_attention(q, k, v, is_causal=self.causal)
        return self.out(mixed.transpose(1, 2).reshape(batch, length, width))


class Block(nn.Module):
    def __init__(self, width: int, heads: int, causal: bool = True):
        super().__init__()
        self.attention_norm, self.mlp_norm = nn.LayerNorm(width), nn.LayerNorm(width)
        self.attention = Attention(width, heads, causal)
        self.mlp = nn.Sequential(nn.Linear(width, 4 * width), nn.GELU(), nn.Linear(4 * width, width))

    def forward(self, x: Tensor) -> Tensor:
        x = x + self.attention(self.attention_norm(x))
        return x + self.mlp(self.mlp_norm(x))


class LanguageModel(nn.Module):
    """From tokens to logits; `block` makes a layer from its width and heads."""

    def __init__(self, vocabulary: int, width: int, heads: int, layers: int, block=Block, longest: int = 2048):
        super().__init__()
        self.tokens = nn.Embedding(vocabulary, width)
        self.positions = nn.Embedding(longest, width)
        self.blocks = nn.ModuleList(block(width, heads) for _ in range(layers))
        self.norm = nn.LayerNorm(width)
        self.head = nn.Linear(width, vocabulary, bias=False)

    def forward(self, ids: Tensor) -> Tensor:
        x = self.tokens(ids) + self.positions(torch.arange(ids.shape[1], device=ids.device))
        for block in self.blocks:
            x = block(x)
        return self.head(self.norm(x))


def language_model(vocabulary: int, width: int, heads: int, layers: int, block=Block) -> LanguageModel:
    with torch.device(DEVICE):
        return LanguageModel(vocabulary, width, heads, layers, block)


def random_tokens(batch: int, length: int, vocabulary: int) -> Tensor:
    return torch.randint(vocabulary, (batch, length), device=DEVICE)


def next_token_loss(model: nn.Module, ids: Tensor) -> Tensor:
    logits = model(ids)
    return F.cross_entropy(logits[:, :-1].flatten(0, 1).float(), ids[:, 1:].flatten())
