"""Programs that make pictures out of noise: training and sampling."""

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from planting.case import Plan, case
from planting.device import DEVICE
from planting.models import labels, on_device
from planting.transformer import Attention
from planting.workload import Workload


class TimedResidual(nn.Module):
    """Two convolutions with group norms; what time it is shifts the channels in between."""

    def __init__(self, inputs: int, outputs: int, time: int):
        super().__init__()
        self.norm, self.conv = nn.GroupNorm(16, inputs), nn.Conv2d(inputs, outputs, 3, padding=1)
        self.time = nn.Linear(time, outputs)
        self.second_norm, self.second_conv = nn.GroupNorm(16, outputs), nn.Conv2d(outputs, outputs, 3, padding=1)
        self.across = nn.Conv2d(inputs, outputs, 1) if inputs != outputs else nn.Identity()

    def forward(self, x: Tensor, time: Tensor) -> Tensor:
        y = self.conv(F.silu(self.norm(x))) + self.time(F.silu(time))[:, :, None, None]
        return self.across(x) + self.second_conv(F.silu(self.second_norm(y)))


class PixelAttention(nn.Module):
    def __init__(self, width: int):
        super().__init__()
        self.norm, self.attention = nn.GroupNorm(16, width), Attention(width, 4, causal=False)

    def forward(self, x: Tensor) -> Tensor:
        pixels = self.norm(x).flatten(2).transpose(1, 2)
        return x + self.attention(pixels).transpose(1, 2).reshape(x.shape)


def time_features(time: Tensor, width: int) -> Tensor:
    speeds = torch.exp(-9.2 * torch.arange(width // 2, device=time.device) / (width // 2))
    angles = time.float()[:, None] * speeds
    return torch.cat([angles.sin(), angles.cos()], dim=1)


class Denoiser(nn.Module):
    def __init__(self, channels: int, width: int):
        super().__init__()
        self.time_width = 4 * width
        self.time = nn.Sequential(nn.Linear(4 * width, 4 * width), nn.SiLU(), nn.Linear(4 * width, 4 * width))
        widths = [width, 2 * width, 4 * width]
        self.inputs = nn.Conv2d(channels, width, 3, padding=1)
        self.down = nn.ModuleList(TimedResidual(a, b, 4 * width) for a, b in zip([width, *widths], widths))
        self.middle = TimedResidual(4 * width, 4 * width, 4 * width)
        self.attention = PixelAttention(4 * width)
        self.up = nn.ModuleList(TimedResidual(2 * b, a, 4 * width) for a, b in zip([width, *widths], widths))
        self.norm, self.output = nn.GroupNorm(16, width), nn.Conv2d(width, channels, 3, padding=1)

    def forward(self, x: Tensor, time: Tensor) -> Tensor:
        time = self.time(time_features(time, self.time_width).to(x.dtype))
        x, levels = self.inputs(x), []
        for block in self.down:
            x = block(x, time)
            levels.append(x)
            x = F.avg_pool2d(x, 2)
        x = self.attention(self.middle(x, time))
        for block, level in zip(reversed(self.up), reversed(levels)):
            x = block(torch.cat([F.interpolate(x, scale_factor=2), level], dim=1), time)
        return self.output(F.silu(self.norm(x)))


def denoising_loss(model: nn.Module, clean: Tensor) -> Tensor:
    time = torch.randint(1000, (len(clean),), device=clean.device)
    kept = torch.cos(time / 1000 * 1.5708)[:, None, None, None]
    noise = torch.randn_like(clean)
    return F.mse_loss(model(kept * clean + (1 - kept**2).sqrt() * noise, time).float(), noise)


@case("no_mixed_precision", "bf16", "bf16 autocast")
def image_denoiser_fp32(plan: Plan) -> Workload:
    torch.backends.cudnn.allow_tf32 = plan.has("tf32")
    with torch.device(DEVICE):
        model = Denoiser(3, 128)
    return Workload(model, [(on_device(plan.batch(32), 3, 64, 64),)], denoising_loss)


@case("host_sync", "remove_sync", "the threshold kept on the device, torch.where instead of if")
def sampler_looks_at_every_step(plan: Plan) -> Workload:
    with torch.device(DEVICE):
        model = Denoiser(4, 64).to(torch.bfloat16).eval()
    noise = on_device(plan.batch(4), 4, 32, 32, dtype=torch.bfloat16)
    times = torch.linspace(990, 10, 8)

    def sample(model: nn.Module, x: Tensor) -> Tensor:
        for time in times:
            kept = torch.cos(time / 1000 * 1.5708).item()
            predicted = model(x, torch.full((len(x),), float(time), device=x.device))
            clean = x - (1 - kept**2) ** 0.5 * predicted
            if plan.has("remove_sync"):
                clean = clean / clean.abs().amax().clamp(min=1.0)
            else:
                largest = clean.abs().max().item()  # fault: sampler_looks_at_every_step
                if largest > 1.0:
                    clean = clean / largest
                if torch.isnan(clean).any():
                    raise FloatingPointError("the sampler diverged")
            x = kept * clean + (1 - kept**2) ** 0.5 * predicted
        return x

    return Workload(model, [(noise,)], sample, trains=False)


class ModulatedBlock(nn.Module):
    """A transformer's layer whose norms are shifted and scaled by what time it is."""

    def __init__(self, width: int, heads: int):
        super().__init__()
        self.modulation = nn.Linear(width, 6 * width)
        self.norm, self.second_norm = (nn.LayerNorm(width, elementwise_affine=False) for _ in range(2))
        self.attention = Attention(width, heads, causal=False)
        self.mlp = nn.Sequential(nn.Linear(width, 4 * width), nn.GELU(approximate="tanh"), nn.Linear(4 * width, width))

    def forward(self, x: Tensor, condition: Tensor) -> Tensor:
        shift, scale, gate, shift2, scale2, gate2 = self.modulation(F.silu(condition))[:, None].chunk(6, dim=-1)
        x = x + gate * self.attention(self.norm(x) * (1 + scale) + shift)
        return x + gate2 * self.mlp(self.second_norm(x) * (1 + scale2) + shift2)


class PatchDenoiser(nn.Module):
    def __init__(self, channels: int, size: int, width: int, heads: int, layers: int, classes: int = 1000):
        super().__init__()
        self.channels, self.width = channels, width
        self.patches = nn.Conv2d(channels, width, 2, stride=2)
        self.places = nn.Parameter(0.02 * torch.randn(1, (size // 2) ** 2, width))
        self.time, self.classes = nn.Linear(width, width), nn.Embedding(classes, width)
        self.blocks = nn.ModuleList(ModulatedBlock(width, heads) for _ in range(layers))
        self.output = nn.Linear(width, 4 * channels)

    def forward(self, x: Tensor, time: Tensor, kind: Tensor) -> Tensor:
        height, columns = x.shape[2] // 2, x.shape[3] // 2
        condition = self.time(time_features(time, self.width)) + self.classes(kind)
        x = self.patches(x).flatten(2).transpose(1, 2) + self.places
        for block in self.blocks:
            x = block(x, condition)
        x = self.output(x).view(len(x), height, columns, self.channels, 2, 2)
        return x.permute(0, 3, 1, 4, 2, 5).reshape(len(x), self.channels, 2 * height, 2 * columns)


def guided_loss(model: nn.Module, clean: Tensor, kind: Tensor) -> Tensor:
    time = torch.rand(len(clean), device=clean.device)
    noise = torch.randn_like(clean)
    share = time[:, None, None, None]
    return F.mse_loss(model((1 - share) * clean + share * noise, 1000 * time, kind).float(), noise - clean)


@case("none", None, "")
def diffusion_transformer(plan: Plan) -> Workload:
    with torch.device(DEVICE):
        model = PatchDenoiser(4, 32, 768, 12, 6)
    batch = plan.batch(32)
    latents = (on_device(batch, 4, 32, 32), labels(batch, 1000))
    return Workload(model, [latents], guided_loss, autocast=torch.bfloat16, fused=True)


@case("loop_indexing", "batch_calls", "torch._foreach_lerp_ over all parameters")
def average_of_weights_by_hand(plan: Plan) -> Workload:
    with torch.device(DEVICE):
        model = PatchDenoiser(4, 16, 384, 6, 8)
    average = [parameter.detach().clone() for parameter in model.parameters()]

    @torch.no_grad()
    def after(loss: Tensor, model: nn.Module) -> None:
        if plan.has("batch_calls"):
            torch._foreach_lerp_(average, [parameter.detach() for parameter in model.parameters()], 1e-4)
            return
        for kept, parameter in zip(average, model.parameters()):
            kept.mul_(0.9999).add_(parameter.data, alpha=0.0001)  # fault: average_of_weights_by_hand

    batch = plan.batch(16)
    latents = (on_device(batch, 4, 16, 16), labels(batch, 1000))
    return Workload(model, [latents], guided_loss, autocast=torch.bfloat16, fused=True, after=after)
