"""Faults in what the device is asked to compute, and how."""

import torch
from torch import Tensor, nn

from planting.case import Plan, case
from planting.device import DEVICE
from planting.models import classification, energy, labels, mlp, on_device
from planting.workload import Workload


@case("channels_last", "channels_last", "model and images in channels_last", also=("drop_bias",))
def convolutions_in_nchw(plan: Plan) -> Workload:
    channels = [3, 64, 128, 128, 256, 256, 256, 512, 512]
    strides = [2, 2, 1, 2, 1, 1, 2, 1]
    layers = []
    for inputs, outputs, stride in zip(channels, channels[1:], strides):
        convolution = nn.Conv2d(inputs, outputs, 3, stride, padding=1, bias=not plan.has("drop_bias"))
        layers += [convolution, nn.BatchNorm2d(outputs), nn.ReLU(inplace=True)]
    model = nn.Sequential(*layers, nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(512, 1000)).to(DEVICE)
    images = plan.batch(128)
    batch = (on_device(images, 3, 192, 192), labels(images, 1000))
    return Workload(model, [batch], classification, autocast=torch.float16)


class PointwiseBlock(nn.Module):
    """Works on channels alone. Takes and gives images with the channels last, or first, which it has to move."""

    def __init__(self, width: int, channels_first: bool):
        super().__init__()
        self.norm = nn.LayerNorm(width, device=DEVICE)
        self.mlp = mlp(width, 2 * width, width)
        self.channels_first = channels_first

    def forward(self, x: Tensor) -> Tensor:
        if not self.channels_first:
            return x + self.mlp(self.norm(x))
        y = x.permute(0, 2, 3, 1).contiguous()  # fault: layout_back_and_forth
        y = self.mlp(self.norm(y))
        return x + y.permute(0, 3, 1, 2).contiguous()


@case("layout_copies", "contiguous_layout", "one layout throughout")
def layout_back_and_forth(plan: Plan) -> Workload:
    first = not plan.has("contiguous_layout")
    model = nn.Sequential(*(PointwiseBlock(512, first) for _ in range(5)))
    images = plan.batch(64)
    x = on_device(images, 512, 28, 28) if first else on_device(images, 28, 28, 512)
    return Workload(model, [(x,)], energy, autocast=torch.bfloat16)


@case("misaligned_dims", "pad_dims", "widths padded to multiples of 64")
def odd_widths(plan: Plan) -> Workload:
    narrow, wide = (2048, 4096) if plan.has("pad_dims") else (2047, 4093)
    model = mlp(narrow, wide, narrow, wide, narrow)
    x = on_device(plan.batch(8192), narrow)
    return Workload(model, [(x,)], energy, autocast=torch.bfloat16)


@case("zero_grad_memset", "set_to_none", "zero_grad(set_to_none=True)")
def gradients_set_to_zero(plan: Plan) -> Workload:
    model = mlp(8192, 8192, 8192, 8192, 8192)
    x = on_device(plan.batch(32), 8192)
    return Workload(model, [(x,)], energy, optimizer=torch.optim.SGD, set_to_none=plan.has("set_to_none"))


class PiecewiseRMSNorm(nn.Module):
    def __init__(self, width: int):
        super().__init__()
        self.weight = nn.Parameter(torch.ones(width, device=DEVICE))

    def forward(self, x: Tensor) -> Tensor:
        precise = x.float()  # fault: norm_in_pieces
        precise = precise * torch.rsqrt(precise.pow(2).mean(-1, keepdim=True) + 1e-6)
        return self.weight * precise.to(x.dtype)


@case("unfused_norm", "fuse_norm", "torch.nn.RMSNorm")
def norm_in_pieces(plan: Plan) -> Workload:
    width, layers = 2048, []
    for _ in range(6):
        norm = nn.RMSNorm(width, device=DEVICE) if plan.has("fuse_norm") else PiecewiseRMSNorm(width)
        layers += [norm, nn.Linear(width, width, bias=False, device=DEVICE)]
    model = nn.Sequential(*layers).to(torch.bfloat16)
    x = on_device(plan.batch(16384), width, dtype=torch.bfloat16)
    return Workload(model, [(x,)], energy)


class Retrieval(nn.Module):
    """Scores each query against every item: a softmax over rows that are few and very long."""

    def __init__(self, items: int, width: int):
        super().__init__()
        self.query = nn.Linear(width, width, device=DEVICE)
        self.register_buffer("items", on_device(width, items), persistent=False)

    def forward(self, x: Tensor) -> Tensor:
        return self.query(x) @ self.items


@case("underfilled_gpu", "larger_batch", "twice the batch, counted per sample")
def few_queries_many_items(plan: Plan) -> Workload:
    items, width, queries = 4_000_000, 64, plan.batch(8)
    batch = (on_device(queries, width), labels(queries, items))
    return Workload(Retrieval(items, width), [batch], classification)
