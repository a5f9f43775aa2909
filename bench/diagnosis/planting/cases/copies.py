"""Faults in how data reaches the device."""

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from planting.case import Plan, case
from planting.device import DEVICE
from planting.models import classification, labels, mlp, on_device
from planting.workload import Workload


@case("pageable_copy", "pin_memory", "batches from pinned memory, copied without blocking")
def pageable_batch(plan: Plan) -> Workload:
    rows = plan.batch(32768)
    batches = [(torch.randn(rows, 1024), labels(rows, 16, "cpu")) for _ in range(3)]
    return Workload(mlp(1024, 4096, 1024, 16), batches, classification, autocast=torch.bfloat16)


class Pictures(torch.utils.data.Dataset):
    """Made, not read: the work of decoding and resizing, without the files."""

    def __len__(self) -> int:
        return 1 << 20

    def __getitem__(self, index: int) -> tuple[Tensor, int]:
        raw = torch.randint(0, 255, (1, 3, 256, 256), dtype=torch.uint8).float()
        return F.interpolate((raw / 255 - 0.45) / 0.22, size=(128, 128), mode="bilinear")[0], index % 1000


@case("data_loading", "loader_workers", "eight workers instead of one")
def one_loader_worker(plan: Plan) -> Workload:
    layers = [nn.Conv2d(3, 64, 7, 4), nn.ReLU(), nn.Conv2d(64, 128, 3, 2), nn.ReLU(), nn.AdaptiveAvgPool2d(1)]
    model = nn.Sequential(*layers, nn.Flatten(), nn.Linear(128, 1000)).to(DEVICE)
    workers = 8 if plan.has("loader_workers") else 1
    loader = torch.utils.data.DataLoader(Pictures(), plan.batch(32), num_workers=workers)
    return Workload(model, loader, classification, autocast=torch.bfloat16)


class Recommender(nn.Module):
    def __init__(self, features: int, values: int, width: int = 32):
        super().__init__()
        self.embedding = nn.Embedding(values, width, device=DEVICE)
        self.tower = mlp(features * width, 1024, 512, 1)

    def forward(self, ids: Tensor) -> Tensor:
        return self.tower(self.embedding(ids).flatten(1))


@case("small_copies", "pack_copies", "one copy of all features together")
def many_small_copies(plan: Plan) -> Workload:
    features, values = 48, 10_000
    columns = torch.randint(values, (features, plan.batch(2048)))
    packed = plan.has("pack_copies")
    batch = (columns,) if packed else tuple(column.clone() for column in columns)

    def loss(model: nn.Module, *features: Tensor) -> Tensor:
        ids = features[0] if packed else torch.stack(features)
        return F.softplus(model(ids.t())).mean()

    return Workload(Recommender(features, values), [batch], loss)


@case("cpu_built_tensor", "build_on_device", "torch.randn(..., device=...)")
def noise_made_on_cpu(plan: Plan) -> Workload:
    def loss(model: nn.Module, x: Tensor) -> Tensor:
        if plan.has("build_on_device"):
            noise = torch.randn(x.shape, device=DEVICE)
        else:
            noise = torch.randn(x.shape).to(DEVICE)  # fault: noise_made_on_cpu
        return F.mse_loss(model(x + noise), noise)

    clean = on_device(plan.batch(1024), 1024)
    return Workload(mlp(1024, 4096, 4096, 1024), [(clean,)], loss, autocast=torch.bfloat16)
