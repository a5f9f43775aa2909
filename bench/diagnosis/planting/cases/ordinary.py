"""Programs as people write them. No constant of ours was fitted on them: they test what was."""

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from planting.case import Plan, case
from planting.device import DEVICE
from planting.models import classification, energy, labels, mlp, on_device
from planting.workload import Workload


@case("none", None, "")
def vision_transformer(plan: Plan) -> Workload:
    import torchvision

    model = torchvision.models.vit_b_16().to(DEVICE)
    batch = plan.batch(32)
    images = (on_device(batch, 3, 224, 224), labels(batch, 1000))
    return Workload(model, [images], classification, autocast=torch.bfloat16, fused=True)


class Tagger(nn.Module):
    def __init__(self, words: int, width: int, tags: int):
        super().__init__()
        self.embedding = nn.Embedding(words, width, device=DEVICE)
        self.recurrent = nn.LSTM(width, width, num_layers=2, batch_first=True, device=DEVICE)
        self.head = nn.Linear(width, tags, device=DEVICE)

    def forward(self, words: Tensor) -> Tensor:
        return self.head(self.recurrent(self.embedding(words))[0]).flatten(0, 1)


@case("none", None, "", without={"compile_graphs": "cuDNN's recurrent networks are not captured"})
def recurrent_tagger(plan: Plan) -> Workload:
    batch, length = plan.batch(32), 96
    words = torch.randint(20000, (batch, length), device=DEVICE)
    return Workload(Tagger(20000, 512, 64), [(words, labels(batch * length, 64))], classification, fused=True)


@case("none", None, "")
def mobile_network(plan: Plan) -> Workload:
    import torchvision

    model = torchvision.models.mobilenet_v3_large().to(DEVICE)
    batch = plan.batch(64)
    images = (on_device(batch, 3, 224, 224), labels(batch, 1000))
    return Workload(model, [images], classification, autocast=torch.bfloat16)


def encoder(layers: int, width: int, heads: int) -> nn.TransformerEncoder:
    layer = nn.TransformerEncoderLayer(
        width, heads, 4 * width, dropout=0.0, batch_first=True, norm_first=True, device=DEVICE
    )
    return nn.TransformerEncoder(layer, layers, enable_nested_tensor=False)


@case("host_sync", "remove_sync", "the norms kept on the device")
def norms_of_all_gradients(plan: Plan) -> Workload:
    history: list[object] = []

    def after(loss: Tensor, model: nn.Module) -> None:
        for parameter in model.parameters():
            norm = parameter.grad.norm()
            history.append(norm if plan.has("remove_sync") else norm.item())  # fault: norms_of_all_gradients
        del history[:-1000]

    x = on_device(plan.batch(16), 256, 768)
    return Workload(encoder(6, 768, 12), [(x,)], energy, autocast=torch.bfloat16, fused=True, after=after)


class WideAndDeep(nn.Module):
    def __init__(self, tables: int, rows: int, width: int):
        super().__init__()
        self.tables = nn.ModuleList(nn.Embedding(rows, width, device=DEVICE) for _ in range(tables))
        self.deep = mlp(tables * width, 1024, 512, 256, 1)

    def forward(self, ids: Tensor) -> Tensor:
        columns = [table(ids[:, i]) for i, table in enumerate(self.tables)]
        return self.deep(torch.cat(columns, dim=1)).squeeze(1)


@case("none", None, "")
def click_prediction(plan: Plan) -> Workload:
    batch, tables = plan.batch(2048), 26
    ids = torch.randint(5000, (batch, tables), device=DEVICE)
    clicks = torch.rand(batch, device=DEVICE)

    def loss(model: nn.Module, ids: Tensor, clicks: Tensor) -> Tensor:
        return F.binary_cross_entropy_with_logits(model(ids), clicks)

    return Workload(WideAndDeep(tables, 5000, 32), [(ids, clicks)], loss)


class OwnAttention(nn.Module):
    def __init__(self, width: int, heads: int, fused: bool):
        super().__init__()
        self.heads, self.fused = heads, fused
        self.norm = nn.LayerNorm(width, device=DEVICE)
        self.inputs = nn.Linear(width, 3 * width, device=DEVICE)
        self.output = nn.Linear(width, width, device=DEVICE)

    def forward(self, x: Tensor) -> Tensor:
        batch, length, width = x.shape
        q, k, v = self.inputs(self.norm(x)).view(batch, length, 3, self.heads, -1).permute(2, 0, 3, 1, 4)
        if self.fused:
            mixed = F.scaled_dot_product_attention(q, k, v)
        else:
            weights = torch.softmax(q @ k.transpose(-2, -1) / q.shape[-1] ** 0.5, dim=-1)  # fault: own_attention
            mixed = weights @ v
        return x + self.output(mixed.transpose(1, 2).reshape(batch, length, width))


@case("unfused_attention", "sdpa", "scaled_dot_product_attention")
def own_attention(plan: Plan) -> Workload:
    model = nn.Sequential(*(OwnAttention(1024, 16, fused=plan.has("sdpa")) for _ in range(6)))
    x = on_device(plan.batch(16), 768, 1024)
    return Workload(model, [(x,)], energy, autocast=torch.bfloat16, fused=True)


@case("fp32_matmul", "tf32", "TF32 allowed")
def encoder_in_fp32(plan: Plan) -> Workload:
    x = on_device(plan.batch(8), 512, 1024)
    return Workload(encoder(6, 1024, 16), [(x,)], energy)


@case(
    "excess_recompute",
    "no_checkpointing",
    "checkpointing off",
    without={"compile": "the loop over layers is not compiled", "compile_graphs": "the loop over layers is not compiled"},
)
def checkpointed_encoder(plan: Plan) -> Workload:
    from torch.utils.checkpoint import checkpoint

    model = encoder(8, 1024, 16)

    def loss(called: nn.Module, x: Tensor) -> Tensor:
        if plan.has("no_checkpointing"):
            return called(x).square().mean()
        for layer in called.layers:
            x = checkpoint(layer, x, use_reentrant=False)  # fault: checkpointed_encoder
        return x.square().mean()

    x = on_device(plan.batch(16), 512, 1024)
    return Workload(model, [(x,)], loss, autocast=torch.bfloat16, fused=True)
