"""Programs that recommend."""

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from planting.case import Plan, case
from planting.device import DEVICE
from planting.models import mlp
from planting.transformer import Block
from planting.workload import Workload


class CrossedFeatures(nn.Module):
    """Products of all pairs of features, one pair after the other or all in one product."""

    def __init__(self, features: int, rows: int, width: int, at_once: bool):
        super().__init__()
        self.at_once = at_once
        self.table = nn.Embedding(features * rows, width)
        self.register_buffer("first", torch.arange(features) * rows, persistent=False)
        self.register_buffer("pairs", torch.tril_indices(features, features, -1), persistent=False)
        self.top = mlp(features * (features - 1) // 2 + features * width, 512, 256, 1)

    def forward(self, ids: Tensor) -> Tensor:
        x = self.table(ids + self.first)
        if self.at_once:
            crossed = torch.bmm(x, x.transpose(1, 2))[:, self.pairs[0], self.pairs[1]]
        else:
            crosses = []
            for i in range(x.shape[1]):
                for j in range(i):
                    crosses.append((x[:, i] * x[:, j]).sum(-1))  # fault: crosses_pair_by_pair
            crossed = torch.stack(crosses, dim=1)
        return self.top(torch.cat([crossed, x.flatten(1)], dim=1)).squeeze(1)


def click_loss(model: nn.Module, features: Tensor, clicks: Tensor) -> Tensor:
    return F.binary_cross_entropy_with_logits(model(features), clicks)


@case("loop_indexing", "batch_calls", "all pairs in one batched product", nostack=True)
def crosses_pair_by_pair(plan: Plan) -> Workload:
    features, rows, batch = 14, 20_000, plan.batch(4096)
    with torch.device(DEVICE):
        model = CrossedFeatures(features, rows, 32, at_once=plan.has("batch_calls"))
    ids = torch.randint(rows, (batch, features), device=DEVICE)
    return Workload(model, [(ids, torch.rand(batch, device=DEVICE))], click_loss, fused=True)


class TwoTowers(nn.Module):
    def __init__(self, features: int, width: int):
        super().__init__()
        self.user, self.item = mlp(features, 2048, 1024, width), mlp(features, 2048, 1024, width)

    def forward(self, users: Tensor, items: Tensor) -> Tensor:
        return F.normalize(self.user(users), dim=1) @ F.normalize(self.item(items), dim=1).t()


@case("pageable_copy", "pin_memory", "batches from pinned memory, copied without blocking")
def towers_fed_from_the_host(plan: Plan) -> Workload:
    batch, features = plan.batch(8192), 1500
    with torch.device(DEVICE):
        model = TwoTowers(features, 128)
    batches = [(torch.randn(batch, features), torch.randn(batch, features)) for _ in range(2)]

    def loss(model: nn.Module, users: Tensor, items: Tensor) -> Tensor:
        scores = model(users, items).float() / 0.05
        return F.cross_entropy(scores, torch.arange(len(scores), device=scores.device))

    return Workload(model, batches, loss, autocast=torch.bfloat16, fused=True)


class NextItem(nn.Module):
    def __init__(self, items: int, width: int, longest: int):
        super().__init__()
        self.items, self.places = nn.Embedding(items, width), nn.Embedding(longest, width)
        self.blocks = nn.Sequential(*(Block(width, 2) for _ in range(3)))

    def forward(self, history: Tensor, offered: Tensor) -> Tensor:
        x = self.items(history) + self.places(torch.arange(history.shape[1], device=history.device))
        return (self.blocks(x)[:, :, None] * self.items(offered)).sum(-1)


@case("none", None, "")
def next_item_of_a_session(plan: Plan) -> Workload:
    batch, length, items = plan.batch(256), 100, 50_000
    with torch.device(DEVICE):
        model = NextItem(items, 128, length)
    history = torch.randint(items, (batch, length + 1), device=DEVICE)

    def loss(model: nn.Module, history: Tensor) -> Tensor:
        wrong = torch.randint(items, (batch, length, 4), device=history.device)
        scores = model(history[:, :-1], torch.cat([history[:, 1:, None], wrong], dim=-1))
        wanted = (torch.arange(5, device=scores.device) == 0).float()
        return F.binary_cross_entropy_with_logits(scores, wanted.expand_as(scores))

    return Workload(model, [(history,)], loss, tf32=True)


class ManyTables(nn.Module):
    """Several ids of each feature, their vectors summed: a table for each feature, or one for all."""

    def __init__(self, features: int, rows: int, width: int, together: bool):
        super().__init__()
        count = 1 if together else features
        self.tables = nn.ModuleList(nn.EmbeddingBag(rows * features // count, width, mode="sum") for _ in range(count))
        self.register_buffer("first", torch.arange(features)[:, None] * rows, persistent=False)
        self.deep = mlp(features * width, 512, 256, 1)

    def forward(self, ids: Tensor) -> Tensor:
        batch = len(ids)
        if len(self.tables) == 1:
            x = self.tables[0]((ids + self.first).flatten(0, 1)).view(batch, -1)
        else:
            columns = [table(ids[:, i]) for i, table in enumerate(self.tables)]  # fault: a_table_for_each_feature
            x = torch.cat(columns, dim=1)
        return self.deep(x).squeeze(1)


@case("loop_indexing", "batch_calls", "one table for all features")
def a_table_for_each_feature(plan: Plan) -> Workload:
    features, rows, batch = 40, 5_000, plan.batch(4096)
    with torch.device(DEVICE):
        model = ManyTables(features, rows, 32, together=plan.has("batch_calls"))
    ids = torch.randint(rows, (batch, features, 3), device=DEVICE)
    return Workload(model, [(ids, torch.rand(batch, device=DEVICE))], click_loss, optimizer=torch.optim.Adagrad)
