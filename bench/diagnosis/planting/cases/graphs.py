"""Programs that learn from graphs."""

import random

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from planting.case import Plan, case
from planting.device import DEVICE
from planting.models import labels, mlp, on_device
from planting.workload import Workload


class SampledNeighbors(torch.utils.data.Dataset):
    """Nodes with some of their neighbors and some of the neighbors' own, drawn in Python from lists."""

    def __init__(self, nodes: int, neighbors: int):
        dice = random.Random(0)
        self.neighbors = [dice.sample(range(nodes), neighbors) for _ in range(nodes)]

    def __len__(self) -> int:
        return 1 << 20

    def __getitem__(self, index: int) -> tuple[Tensor, int]:
        node = index % len(self.neighbors)
        near = random.choices(self.neighbors[node], k=8)
        far = [random.choices(self.neighbors[other], k=4) for other in near]
        return torch.tensor([node, *near, *(other for group in far for other in group)]), node % 40


class TwoHops(nn.Module):
    def __init__(self, nodes: int, width: int, classes: int):
        super().__init__()
        self.register_buffer("features", torch.randn(nodes, width), persistent=False)
        self.near, self.far = nn.Linear(2 * width, width), nn.Linear(2 * width, width)
        self.head = nn.Linear(width, classes)

    def forward(self, ids: Tensor) -> Tensor:
        x = self.features[ids]
        node, near, far = x[:, 0], x[:, 1:9], x[:, 9:].unflatten(1, (8, 4))
        near = F.relu(self.far(torch.cat([near, far.mean(2)], dim=-1)))
        return self.head(F.relu(self.near(torch.cat([node, near.mean(1)], dim=-1))))


@case("loader_no_workers", "loader_workers", "eight workers draw the neighbors")
def neighbors_drawn_in_python(plan: Plan) -> Workload:
    nodes = 10_000
    with torch.device(DEVICE):
        model = TwoHops(nodes, 512, 40)
    workers = 8 if plan.has("loader_workers") else 0
    loader = torch.utils.data.DataLoader(
        SampledNeighbors(nodes, 16), plan.batch(512), num_workers=workers, persistent_workers=workers > 0
    )
    loss = lambda m, ids, y: F.cross_entropy(m(ids), y)  # noqa: E731
    return Workload(model, loader, loss, fused=True)


class MessagePassing(nn.Module):
    def __init__(self, width: int):
        super().__init__()
        self.message, self.update = mlp(2 * width, width, width), nn.GRUCell(width, width)

    def forward(self, x: Tensor, source: Tensor, target: Tensor) -> Tensor:
        messages = self.message(torch.cat([x[source], x[target]], dim=-1))
        gathered = torch.zeros_like(x).index_add_(0, target, messages.to(x.dtype))
        return self.update(gathered, x)


class GraphNet(nn.Module):
    def __init__(self, width: int, layers: int, classes: int):
        super().__init__()
        self.layers = nn.ModuleList(MessagePassing(width) for _ in range(layers))
        self.head = nn.Linear(width, classes)

    def forward(self, x: Tensor, source: Tensor, target: Tensor) -> Tensor:
        for layer in self.layers:
            x = layer(x, source, target)
        return self.head(x)


@case("none", None, "", nostack=True)
def messages_along_edges(plan: Plan) -> Workload:
    nodes, edges = plan.batch(16_384), plan.batch(131_072)
    with torch.device(DEVICE):
        model = GraphNet(128, 4, 40)
    source, target = torch.randint(nodes, (2, edges), device=DEVICE)
    graph = (on_device(nodes, 128), source, target, labels(nodes, 40))
    loss = lambda m, x, source, target, y: F.cross_entropy(m(x, source, target), y)  # noqa: E731
    return Workload(model, [graph], loss, optimizer=torch.optim.Adam)


class MoleculeNet(nn.Module):
    """Reads out each molecule of a batch: its atoms picked by a mask, or all summed where they belong."""

    def __init__(self, width: int, layers: int, together: bool):
        super().__init__()
        self.together = together
        self.layers = nn.ModuleList(MessagePassing(width) for _ in range(layers))
        self.attention, self.head = nn.Linear(width, 1), mlp(width, width, 1)

    def forward(self, x: Tensor, source: Tensor, target: Tensor, molecule: Tensor, count: int) -> Tensor:
        for layer in self.layers:
            x = layer(x, source, target)
        scores = self.attention(x)
        if self.together:
            weights = scores.exp()
            sums = torch.zeros(count, x.shape[1], device=x.device, dtype=x.dtype).index_add(0, molecule, weights * x)
            totals = torch.zeros(count, 1, device=x.device, dtype=x.dtype).index_add(0, molecule, weights)
            return self.head(sums / totals)
        read_out = []
        for i in range(count):
            mine = molecule == i
            weights = scores[mine].softmax(0)  # fault: molecules_read_out_one_by_one
            read_out.append((weights * x[mine]).sum(0))
        return self.head(torch.stack(read_out))


@case("host_sync", "remove_sync", "index_add over all atoms", also=("batch_calls",))
def molecules_read_out_one_by_one(plan: Plan) -> Workload:
    count, atoms = plan.batch(48), 20
    with torch.device(DEVICE):
        model = MoleculeNet(128, 3, together=plan.has("remove_sync") or plan.has("batch_calls"))
    source, target = torch.randint(count * atoms, (2, 4 * count * atoms), device=DEVICE)
    molecule = torch.arange(count * atoms, device=DEVICE) // atoms

    def loss(model: nn.Module, x: Tensor, wanted: Tensor) -> Tensor:
        return F.mse_loss(model(x, source, target, molecule, count).squeeze(1), wanted)

    batch = (on_device(count * atoms, 128), on_device(count))
    return Workload(model, [batch], loss, fused=True)
