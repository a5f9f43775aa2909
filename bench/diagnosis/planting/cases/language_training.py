"""Programs that train models of language."""

import io
import json
import os
import tempfile

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from planting.case import Plan, case
from planting.device import DEVICE
from planting.transformer import Attention, Block, language_model, next_token_loss, random_tokens
from planting.workload import Workload


@case("fp32_matmul", "tf32", "TF32 allowed", nostack=True)
def long_fp32_pretraining(plan: Plan) -> Workload:
    model = language_model(32000, 1024, 16, 8)
    return Workload(model, [(random_tokens(plan.batch(8), 1024, 32000),)], next_token_loss)


@case("none", None, "")
def small_language_model(plan: Plan) -> Workload:
    model = language_model(16384, 640, 10, 8)
    tokens = random_tokens(plan.batch(16), 512, 16384)
    return Workload(model, [(tokens,)], next_token_loss, autocast=torch.bfloat16, fused=True)


class PiecewiseNorm(nn.Module):
    def __init__(self, width: int):
        super().__init__()
        self.weight = nn.Parameter(torch.ones(width))

    def forward(self, x: Tensor) -> Tensor:
        precise = x.to(torch.float32)  # fault: rotary_model_in_pieces
        variance = precise.pow(2).mean(-1, keepdim=True)
        return self.weight * (precise * torch.rsqrt(variance + 1e-6)).to(x.dtype)


def rotated(x: Tensor, cos: Tensor, sin: Tensor) -> Tensor:
    first, second = x.chunk(2, dim=-1)
    return x * cos + torch.cat((-second, first), dim=-1) * sin


class RotaryBlock(nn.Module):
    def __init__(self, width: int, heads: int, norm: type[nn.Module]):
        super().__init__()
        self.heads = heads
        self.norms = nn.ModuleList(norm(width) for _ in range(2))
        self.qkv, self.out = nn.Linear(width, 3 * width, bias=False), nn.Linear(width, width, bias=False)
        inner = 8 * width // 3 // 64 * 64
        self.gate, self.up = nn.Linear(width, inner, bias=False), nn.Linear(width, inner, bias=False)
        self.down = nn.Linear(inner, width, bias=False)

    def forward(self, x: Tensor) -> Tensor:
        batch, length, width = x.shape
        q, k, v = self.qkv(self.norms[0](x)).view(batch, length, 3, self.heads, -1).permute(2, 0, 3, 1, 4).unbind(0)
        half = torch.arange(0, q.shape[-1], 2, device=x.device) / q.shape[-1]
        angles = torch.arange(length, device=x.device)[:, None] * 10000.0**-half
        angles = torch.cat([angles, angles], dim=-1)
        cos, sin = angles.cos().to(x.dtype), angles.sin().to(x.dtype)
        mixed = F.scaled_dot_product_attention(rotated(q, cos, sin), rotated(k, cos, sin), v, is_causal=True)
        x = x + self.out(mixed.transpose(1, 2).reshape(batch, length, width))
        y = self.norms[1](x)
        return x + self.down(F.silu(self.gate(y)) * self.up(y))


@case("unfused_norm", "fuse_norm", "torch.nn.RMSNorm")
def rotary_model_in_pieces(plan: Plan) -> Workload:
    norm = nn.RMSNorm if plan.has("fuse_norm") else PiecewiseNorm
    model = language_model(8192, 1024, 16, 6, block=lambda width, heads: RotaryBlock(width, heads, norm))
    model = model.to(torch.bfloat16)
    return Workload(model, [(random_tokens(plan.batch(16), 1024, 8192),)], next_token_loss, fused=True)


@case("misaligned_dims", "pad_dims", "the vocabulary padded to a multiple of 64")
def vocabulary_with_added_tokens(plan: Plan) -> Workload:
    vocabulary = 32064 if plan.has("pad_dims") else 32003
    model = language_model(vocabulary, 768, 12, 2)
    tokens = random_tokens(plan.batch(16), 512, 32003)
    return Workload(model, [(tokens,)], next_token_loss, autocast=torch.bfloat16, fused=True)


class AdamByHand(torch.optim.Optimizer):
    """As from a paper's pseudocode: one parameter after the other."""

    def __init__(self, parameters, lr: float):
        super().__init__(parameters, {"lr": lr})
        self.steps = 0

    @torch.no_grad()
    def step(self) -> None:
        self.steps += 1
        for group in self.param_groups:
            for p in group["params"]:
                state = self.state[p]
                if not state:
                    state["m"], state["v"] = torch.zeros_like(p), torch.zeros_like(p)
                m, v = state["m"], state["v"]
                m.mul_(0.9).add_(p.grad, alpha=0.1)  # fault: optimizer_by_hand
                v.mul_(0.999).addcmul_(p.grad, p.grad, value=0.001)
                corrected = m / (1 - 0.9**self.steps)
                p.mul_(1 - 0.01 * group["lr"])
                p.sub_(group["lr"] * corrected / ((v / (1 - 0.999**self.steps)).sqrt() + 1e-8))


@case("single_tensor_optimizer", "fused_optimizer", "torch.optim.AdamW(fused=True)", nostack=True)
def optimizer_by_hand(plan: Plan) -> Workload:
    model = language_model(8192, 384, 6, 5)
    tokens = random_tokens(plan.batch(8), 256, 8192)
    optimizer = torch.optim.AdamW if plan.has("fused_optimizer") else AdamByHand
    return Workload(model, [(tokens,)], next_token_loss, autocast=torch.bfloat16, optimizer=optimizer)


class Adapted(nn.Module):
    """A frozen layer with two narrow matrices beside it that are trained."""

    def __init__(self, frozen: nn.Linear, rank: int):
        super().__init__()
        self.frozen = frozen.requires_grad_(False)
        self.a = nn.Linear(frozen.in_features, rank, bias=False)
        self.b = nn.Linear(rank, frozen.out_features, bias=False)

    def forward(self, x: Tensor) -> Tensor:
        return self.frozen(x) + self.b(self.a(x))


@case("logging_in_step", "log_less", "adapters and metrics written every 20th step")
def adapters_saved_every_step(plan: Plan) -> Workload:
    model = language_model(16384, 768, 12, 6).requires_grad_(False)
    with torch.device(DEVICE):
        for attention in [block.attention for block in model.blocks]:
            attention.qkv, attention.out = Adapted(attention.qkv, 16), Adapted(attention.out, 16)
    log, kept = tempfile.TemporaryFile("w"), tempfile.TemporaryFile("wb")
    steps = 0

    def save(loss: Tensor, model: nn.Module) -> None:
        adapters = {name: p.detach().cpu() for name, p in model.named_parameters() if p.requires_grad}
        buffer = io.BytesIO()
        torch.save(adapters, buffer)  # fault: adapters_saved_every_step
        kept.seek(0)
        kept.write(buffer.getvalue())
        os.fsync(kept.fileno())
        print(json.dumps({"step": steps, "loss": loss.item()}), file=log, flush=True)

    def after(loss: Tensor, model: nn.Module) -> None:
        nonlocal steps
        steps += 1
        if not plan.has("log_less") or steps % 20 == 0:
            save(loss, model)

    tokens = random_tokens(plan.batch(8), 512, 16384)
    return Workload(model, [(tokens,)], next_token_loss, autocast=torch.bfloat16, fused=True, after=after)


class MixtureOfExperts(nn.Module):
    """Each expert takes the tokens that want it most, as many as its share."""

    def __init__(self, width: int, count: int, at_once: bool):
        super().__init__()
        self.count, self.at_once = count, at_once
        self.router = nn.Linear(width, count, bias=False)
        self.up = nn.Parameter(0.02 * torch.randn(count, width, 2 * width))
        self.down = nn.Parameter(0.02 * torch.randn(count, 2 * width, width))

    def forward(self, x: Tensor) -> Tensor:
        rows = x.flatten(0, 1)
        weights, chosen = self.router(rows).softmax(-1).topk(len(rows) // self.count, dim=0)
        if self.at_once:
            hidden = F.gelu(torch.bmm(rows[chosen.t()], self.up))
            parts = torch.bmm(hidden, self.down) * weights.t()[..., None]
            out = torch.zeros_like(rows, dtype=parts.dtype).index_add(0, chosen.t().flatten(), parts.flatten(0, 1))
        else:
            out = torch.zeros_like(rows)
            for i in range(self.count):
                mine = chosen[:, i]
                part = F.gelu(rows[mine] @ self.up[i]) @ self.down[i]  # fault: experts_one_after_another
                out = out.index_add(0, mine, (part * weights[:, i, None]).to(out.dtype))
        return out.view_as(x)


class ExpertBlock(nn.Module):
    def __init__(self, width: int, heads: int, at_once: bool):
        super().__init__()
        self.norms = nn.ModuleList(nn.LayerNorm(width) for _ in range(2))
        self.attention, self.experts = Attention(width, heads), MixtureOfExperts(width, 16, at_once)

    def forward(self, x: Tensor) -> Tensor:
        x = x + self.attention(self.norms[0](x))
        return x + self.experts(self.norms[1](x))


@case("loop_indexing", "batch_calls", "one batched product for all experts")
def experts_one_after_another(plan: Plan) -> Workload:
    at_once = plan.has("batch_calls")
    model = language_model(8192, 512, 8, 3, block=lambda width, heads: ExpertBlock(width, heads, at_once))
    tokens = random_tokens(plan.batch(8), 256, 8192)
    return Workload(model, [(tokens,)], next_token_loss, autocast=torch.bfloat16, fused=True)


@case("none", None, "")
def masked_words(plan: Plan) -> Workload:
    from transformers import BertConfig, BertForMaskedLM

    config = BertConfig(num_hidden_layers=6, hidden_size=512, num_attention_heads=8, intermediate_size=2048)
    model = BertForMaskedLM(config).to(DEVICE).train()
    ids = random_tokens(plan.batch(32), 128, config.vocab_size)

    def loss(model: nn.Module, ids: Tensor) -> Tensor:
        hidden = torch.rand(ids.shape, device=ids.device) < 0.15
        return model(ids.masked_fill(hidden, 103), labels=torch.where(hidden, ids, -100)).loss

    return Workload(model, [(ids,)], loss, autocast=torch.bfloat16)


class RecomputedBlock(Block):
    def forward(self, x: Tensor) -> Tensor:
        from torch.utils.checkpoint import checkpoint

        return checkpoint(super().forward, x, use_reentrant=False)  # fault: recomputed_blocks


@case("excess_recompute", "no_checkpointing", "checkpointing off")
def recomputed_blocks(plan: Plan) -> Workload:
    model = language_model(16384, 768, 12, 6, block=Block if plan.has("no_checkpointing") else RecomputedBlock)
    tokens = random_tokens(plan.batch(16), 512, 16384)
    return Workload(model, [(tokens,)], next_token_loss, autocast=torch.bfloat16, fused=True)
