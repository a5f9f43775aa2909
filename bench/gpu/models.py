"""What the measurements on a GPU run: a training step and a decode step whose pace the host sets."""

import sys
from collections.abc import Callable
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "tests" / "gpu"))

import torch
from check import DEVICE, IS_DRY
from torch import nn


def small_training() -> Callable[[], None]:
    """A step of some 250 small kernels."""
    torch.manual_seed(0)
    model = nn.Sequential(
        *[layer for _ in range(12) for layer in (nn.Linear(128, 128), nn.LayerNorm(128), nn.GELU())]
    ).to(DEVICE)
    optimizer = torch.optim.SGD(model.parameters(), lr=1e-4)
    batch = torch.randn(32, 128, device=DEVICE)

    def step() -> None:
        optimizer.zero_grad()
        model(batch).square().mean().backward()
        optimizer.step()

    return step


def llama_decode(layers: int = 16) -> Callable[[], None]:
    """One token through a Llama with random weights: the same shapes in every call, and far less for the GPU than for
    the host."""
    from transformers import LlamaConfig, LlamaForCausalLM

    torch.manual_seed(0)
    layers = 2 if IS_DRY else layers
    config = LlamaConfig(
        vocab_size=8000,
        hidden_size=512,
        intermediate_size=1376,
        num_hidden_layers=layers,
        num_attention_heads=8,
        num_key_value_heads=8,
        max_position_embeddings=2048,
    )
    with torch.device(DEVICE):
        model = LlamaForCausalLM(config).to(torch.bfloat16).eval()
    token = torch.zeros(1, 1, dtype=torch.long, device=DEVICE)

    def decode() -> None:
        with torch.inference_mode():
            model(token, use_cache=False).logits[:, -1].argmax(-1, keepdim=True)

    return decode
