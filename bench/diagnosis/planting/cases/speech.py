"""Programs that listen: recognizers, spotters of keywords, prediction networks."""

import math

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from planting.case import Plan, case
from planting.device import DEVICE
from planting.models import classification, labels, on_device
from planting.transformer import Block
from planting.workload import Workload


class SoundClassifier(nn.Module):
    def __init__(self, bins: int, width: int, classes: int):
        super().__init__()
        self.inputs = nn.Conv1d(bins, width, 5, stride=2, padding=2)
        self.blocks = nn.Sequential(*(Block(width, 8, causal=False) for _ in range(4)))
        self.head = nn.Linear(width, classes)

    def forward(self, spectra: Tensor) -> Tensor:
        x = F.gelu(self.inputs(spectra)).transpose(1, 2)
        return self.head(self.blocks(x).mean(1))


@case("cpu_built_tensor", "build_on_device", "the spectrogram computed on the device")
def spectrogram_on_cpu(plan: Plan) -> Workload:
    window = torch.hann_window(400)

    def spectra_of(waves: Tensor) -> Tensor:
        spectra = torch.stft(waves, 400, 160, window=window.to(waves.device), return_complex=True)
        return torch.log(spectra.abs().square() + 1e-6)

    batch = plan.batch(32)
    waves = torch.randn(batch, 4 * 16000)

    def loss(model: nn.Module, y: Tensor) -> Tensor:
        if plan.has("build_on_device"):
            return F.cross_entropy(model(spectra_of(waves.to(DEVICE))), y)
        return F.cross_entropy(model(spectra_of(waves).to(DEVICE)), y)  # fault: spectrogram_on_cpu

    with torch.device(DEVICE):
        model = SoundClassifier(201, 512, 35)
    return Workload(model, [(labels(batch, 35),)], loss, autocast=torch.bfloat16, fused=True)


class Recognizer(nn.Module):
    def __init__(self, bins: int, width: int, letters: int):
        super().__init__()
        self.first = nn.Conv1d(bins, width, 3, stride=2, padding=1)
        self.second = nn.Conv1d(width, width, 3, stride=2, padding=1)
        self.blocks = nn.Sequential(*(Block(width, 8, causal=False) for _ in range(4)))
        self.head = nn.Linear(width, letters)

    def forward(self, spectra: Tensor) -> Tensor:
        x = F.gelu(self.second(F.gelu(self.first(spectra)))).transpose(1, 2)
        return self.head(self.blocks(x)).float().log_softmax(-1)


@case("host_sync", "remove_sync", "repetitions counted on the device, for all utterances", also=("batch_calls",))
def transcripts_compared_each_step(plan: Plan) -> Workload:
    batch, frames, letters = plan.batch(24), 800, 32
    spectra = on_device(batch, 80, frames)
    texts = torch.randint(1, letters, (batch, 40), device=DEVICE)
    times = torch.full((batch,), frames // 4, dtype=torch.long)
    sizes = torch.full((batch,), 40, dtype=torch.long)
    history: list[object] = []

    def lengths_one_by_one(best: Tensor) -> object:
        errors = 0
        for heard, said in zip(best, texts):
            letters_heard = torch.unique_consecutive(heard)  # fault: transcripts_compared_each_step
            letters_heard = letters_heard[letters_heard != 0]
            errors += abs(len(letters_heard) - len(said))
        return errors / len(best)

    def lengths_together(best: Tensor) -> object:
        starts = F.pad(best[:, 1:] != best[:, :-1], (1, 0), value=True) & (best != 0)
        return (starts.sum(1) - texts.shape[1]).abs().float().mean()

    fixed = plan.has("remove_sync") or plan.has("batch_calls")

    def loss(model: nn.Module, spectra: Tensor) -> Tensor:
        scores = model(spectra)
        history.append((lengths_together if fixed else lengths_one_by_one)(scores.detach().argmax(-1)))
        del history[:-100]
        return F.ctc_loss(scores.transpose(0, 1), texts, times, sizes)

    with torch.device(DEVICE):
        model = Recognizer(80, 384, letters)
    return Workload(model, [(spectra,)], loss, autocast=torch.bfloat16, fused=True)


class BiasedAttention(nn.Module):
    """Attention with a learned bias for each distance, a mask of the padding, and dropout."""

    def __init__(self, width: int, heads: int, farthest: int, fused: bool):
        super().__init__()
        self.heads, self.fused, self.farthest = heads, fused, farthest
        self.qkv, self.out = nn.Linear(width, 3 * width), nn.Linear(width, width)
        self.distance = nn.Embedding(2 * farthest + 1, heads)

    def forward(self, x: Tensor, padding: Tensor) -> Tensor:
        batch, length, width = x.shape
        q, k, v = self.qkv(x).view(batch, length, 3, self.heads, -1).permute(2, 0, 3, 1, 4).unbind(0)
        place = torch.arange(length, device=x.device)
        distance = (place[:, None] - place[None]).clamp(-self.farthest, self.farthest) + self.farthest
        bias = self.distance(distance).permute(2, 0, 1)[None]
        if self.fused:
            bias = bias.to(q.dtype).masked_fill(padding[:, None, None], float("-inf"))
            mixed = F.scaled_dot_product_attention(q, k, v, attn_mask=bias, dropout_p=0.1)
        else:
            scores = q @ k.transpose(-2, -1) / math.sqrt(q.shape[-1]) + bias
            scores = scores.masked_fill(padding[:, None, None], float("-inf"))
            weights = F.dropout(F.softmax(scores, dim=-1), 0.1)  # fault: speech_attention_written_out
            mixed = weights.to(v.dtype) @ v
        return self.out(mixed.transpose(1, 2).reshape(batch, length, width))


class ConvolutionBlock(nn.Module):
    """Half of a conformer: attention, then a gated depthwise convolution, then a feed-forward part."""

    def __init__(self, width: int, fused: bool):
        super().__init__()
        self.norms = nn.ModuleList(nn.LayerNorm(width) for _ in range(3))
        self.attention = BiasedAttention(width, 8, 64, fused)
        self.gate = nn.Linear(width, 2 * width)
        self.depthwise = nn.Conv1d(width, width, 15, padding=7, groups=width)
        self.mlp = nn.Sequential(nn.Linear(width, 4 * width), nn.SiLU(), nn.Linear(4 * width, width))

    def forward(self, x: Tensor, padding: Tensor) -> Tensor:
        x = x + self.attention(self.norms[0](x), padding)
        gated = F.glu(self.gate(self.norms[1](x)))
        x = x + F.silu(self.depthwise(gated.transpose(1, 2))).transpose(1, 2)
        return x + self.mlp(self.norms[2](x))


class SpeechEncoder(nn.Module):
    def __init__(self, width: int, layers: int, fused: bool):
        super().__init__()
        self.blocks = nn.ModuleList(ConvolutionBlock(width, fused) for _ in range(layers))
        self.head = nn.Linear(width, 128)

    def forward(self, x: Tensor, padding: Tensor) -> Tensor:
        for block in self.blocks:
            x = block(x, padding)
        return self.head(x)


@case("unfused_attention", "sdpa", "scaled_dot_product_attention with the bias as its mask", nostack=True)
def speech_attention_written_out(plan: Plan) -> Workload:
    batch, length = plan.batch(16), 768
    frames = on_device(batch, length, 512)
    padding = torch.arange(length, device=DEVICE)[None] >= torch.randint(600, length, (batch, 1), device=DEVICE)
    with torch.device(DEVICE):
        model = SpeechEncoder(512, 5, fused=plan.has("sdpa"))
    loss = lambda m, x, p: m(x, p).float().square().mean()  # noqa: E731
    return Workload(model, [(frames, padding)], loss, autocast=torch.bfloat16, fused=True)


class KeywordSpotter(nn.Module):
    def __init__(self, width: int, classes: int):
        super().__init__()
        layers: list[nn.Module] = [nn.Conv1d(40, width, 3), nn.BatchNorm1d(width), nn.ReLU()]
        for _ in range(5):
            layers += [
                nn.Conv1d(width, width, 9, padding=4, groups=width, bias=False),
                nn.Conv1d(width, width, 1, bias=False),
                nn.BatchNorm1d(width),
                nn.ReLU(),
            ]
        self.body, self.head = nn.Sequential(*layers), nn.Linear(width, classes)

    def forward(self, x: Tensor) -> Tensor:
        return self.head(self.body(x).mean(-1))


@case("none", None, "")
def keyword_spotter(plan: Plan) -> Workload:
    with torch.device(DEVICE):
        model = KeywordSpotter(128, 12)
    batch = plan.batch(256)
    return Workload(model, [(on_device(batch, 40, 100), labels(batch, 12))], classification, optimizer=torch.optim.Adam)


class PredictionNetwork(nn.Module):
    """The language side of a transducer: letters in, one vector for each out."""

    def __init__(self, letters: int, width: int, whole: bool):
        super().__init__()
        self.embedding = nn.Embedding(letters, width)
        self.cell = None if whole else nn.LSTMCell(width, width)
        self.recurrent = nn.LSTM(width, width, batch_first=True) if whole else None
        self.head = nn.Linear(width, letters)

    def forward(self, ids: Tensor) -> Tensor:
        x = self.embedding(ids)
        if self.recurrent is not None:
            return self.head(self.recurrent(x)[0])
        hidden = cell = x.new_zeros(len(x), x.shape[-1])
        outputs = []
        for t in range(x.shape[1]):
            hidden, cell = self.cell(x[:, t], (hidden, cell))  # fault: cells_in_a_loop
            outputs.append(hidden)
        return self.head(torch.stack(outputs, dim=1))


@case("loop_indexing", "batch_calls", "nn.LSTM instead of LSTMCell in a loop")
def cells_in_a_loop(plan: Plan) -> Workload:
    batch, length, letters = plan.batch(64), 48, 512
    ids = torch.randint(letters, (batch, length), device=DEVICE)
    with torch.device(DEVICE):
        model = PredictionNetwork(letters, 512, whole=plan.has("batch_calls"))

    def loss(model: nn.Module, ids: Tensor) -> Tensor:
        return F.cross_entropy(model(ids)[:, :-1].flatten(0, 1), ids[:, 1:].flatten())

    return Workload(model, [(ids,)], loss, fused=True)
