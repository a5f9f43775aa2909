"""Texts of differing lengths, token by token: a model of plain functions with a cache that grows, and heads by a generator."""
import torch
import torch.nn.functional as F

WIDTH, HEADS, LAYERS, WORDS = 128, 4, 3, 1000
LENGTHS = (12, 20, 8, 16, 24, 10, 18, 14, 22, 9, 15, 11)

torch.manual_seed(0)
torch.set_num_threads(1)
layers = [[0.05 * torch.randn(WIDTH, width) for width in (3 * WIDTH, WIDTH)] for _ in range(LAYERS)]
embedding, head = torch.randn(WORDS, WIDTH), torch.randn(WIDTH, WORDS)


def attend(x, weights, cache):
    q, k, v = (part.view(1, -1, HEADS, WIDTH // HEADS).transpose(1, 2) for part in (x @ weights[0]).chunk(3, -1))
    if cache:
        k, v = torch.cat([cache[0], k], 2), torch.cat([cache[1], v], 2)
    cache[:] = k, v
    return x + F.scaled_dot_product_attention(q, k, v).transpose(1, 2).reshape(1, -1, WIDTH) @ weights[1]


def next_token(token, caches):
    x = F.embedding(token, embedding)
    for weights, cache in zip(layers, caches):
        x = attend(x, weights, cache)
    return (x[:, -1:] @ head).argmax(-1)


@torch.inference_mode()
def text(length):
    caches, token = [[] for _ in layers], torch.zeros(1, 1, dtype=torch.long)
    tokens = []
    for _ in range(length):
        token = next_token(token, caches)
        tokens.append(token)
    return torch.cat(tokens, 1)


print(sum(text(length).shape[1] for length in LENGTHS))
