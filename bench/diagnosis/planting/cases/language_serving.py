"""Programs that answer: decoding token by token, embedding, ranking."""

from collections.abc import Callable

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from planting.case import Plan, case
from planting.device import DEVICE, ON_GPU
from planting.transformer import language_model, random_tokens
from planting.workload import Workload


class CachedAttention(nn.Module):
    """Attention of new tokens to all before them, kept in a cache that grows or in one of fixed size."""

    def __init__(self, width: int, heads: int):
        super().__init__()
        self.heads = heads
        self.qkv, self.out = nn.Linear(width, 3 * width, bias=False), nn.Linear(width, width, bias=False)

    def forward(self, x: Tensor, cache: tuple[Tensor, Tensor], place: Tensor | None) -> tuple[Tensor, tuple]:
        batch, length, width = x.shape
        q, k, v = self.qkv(x).view(batch, length, 3, self.heads, -1).permute(2, 0, 3, 1, 4).unbind(0)
        keys, values, mask = *cache, None
        if place is None:
            keys, values = torch.cat([keys, k], dim=2), torch.cat([values, v], dim=2)  # fault: cache_grown_by_cat
        else:
            keys.index_copy_(2, place, k)
            values.index_copy_(2, place, v)
            mask = torch.arange(keys.shape[2], device=x.device)[None] <= place[:, None]
        mixed = F.scaled_dot_product_attention(q, keys, values, attn_mask=mask)
        return self.out(mixed.transpose(1, 2).reshape(batch, length, width)), (keys, values)


class CachedBlock(nn.Module):
    def __init__(self, width: int, heads: int):
        super().__init__()
        self.norms = nn.ModuleList(nn.RMSNorm(width) for _ in range(2))
        self.attention = CachedAttention(width, heads)
        self.gate, self.up = nn.Linear(width, 3 * width, bias=False), nn.Linear(width, 3 * width, bias=False)
        self.down = nn.Linear(3 * width, width, bias=False)

    def forward(self, x: Tensor, cache: tuple[Tensor, Tensor], place: Tensor | None) -> tuple[Tensor, tuple]:
        mixed, cache = self.attention(self.norms[0](x), cache, place)
        x = x + mixed
        y = self.norms[1](x)
        return x + self.down(F.silu(self.gate(y)) * self.up(y)), cache


class Generator(nn.Module):
    def __init__(self, vocabulary: int, width: int, heads: int, layers: int):
        super().__init__()
        self.tokens = nn.Embedding(vocabulary, width)
        self.blocks = nn.ModuleList(CachedBlock(width, heads) for _ in range(layers))
        self.norm, self.head = nn.RMSNorm(width), nn.Linear(width, vocabulary, bias=False)

    def forward(self, ids: Tensor, caches: list[tuple], place: Tensor | None = None) -> tuple[Tensor, list[tuple]]:
        x, grown = self.tokens(ids), []
        for block, cache in zip(self.blocks, caches):
            x, cache = block(x, cache, place)
            grown.append(cache)
        return self.head(self.norm(x[:, -1])), grown

    def caches(self, batch: int, length: int) -> list[tuple[Tensor, Tensor]]:
        heads, width = self.blocks[0].attention.heads, self.tokens.embedding_dim
        shape = (2, batch, heads, length, width // heads)
        return [torch.zeros(shape, dtype=torch.bfloat16, device=DEVICE).unbind(0) for _ in self.blocks]


def generator(vocabulary: int, width: int, heads: int, layers: int) -> Generator:
    with torch.device(DEVICE):
        return Generator(vocabulary, width, heads, layers).to(torch.bfloat16).eval()


def captured(run: Callable[[], Tensor]) -> Callable[[], None]:
    """`run` as a CUDA graph."""
    if not ON_GPU:
        return run
    aside = torch.cuda.Stream()
    aside.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(aside), torch.inference_mode():
        for _ in range(3):
            run()
    torch.cuda.current_stream().wait_stream(aside)
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph), torch.inference_mode():
        run()
    return graph.replay


def decoding_in_place(model: Generator, batch: int, prompt: int, new: int) -> tuple[Callable, Callable]:
    """One token more for each sequence in caches of fixed size; and a start from the beginning again."""
    caches = model.caches(batch, prompt + new)
    ids, place = random_tokens(batch, 1, model.tokens.num_embeddings), torch.tensor([prompt], device=DEVICE)

    def restart() -> None:
        place.fill_(prompt)

    def token(called: nn.Module = model) -> None:
        logits, _ = called(ids, caches, place)
        ids.copy_(logits.argmax(-1, keepdim=True))
        place.add_(1)

    return token, restart


@case(
    "launch_bound",
    "cuda_graph",
    "a cache of fixed size, one token as a CUDA graph",
    also=("stable_shapes",),
    without={
        "compile": "each length would be compiled anew, then once for all of them",
        "compile_graphs": "each length would be a graph of its own",
    },
)
def cache_grown_by_cat(plan: Plan) -> Workload:
    batch, prompt, new = plan.batch(4), 256, 6
    model = generator(16384, 1024, 16, 8)
    start = [(k.clone(), v.clone()) for k, v in model.caches(batch, prompt)]
    first = random_tokens(batch, 1, 16384)
    token, restart = decoding_in_place(model, batch, prompt, new)
    if plan.has("cuda_graph"):
        token = captured(token)

    def generate(model: nn.Module, ids: Tensor) -> None:
        if plan.has("cuda_graph") or plan.has("stable_shapes"):
            restart()
            for _ in range(new):
                token()
            return
        caches = start
        for _ in range(new):
            logits, caches = model(ids, caches)
            ids = logits.argmax(-1, keepdim=True)

    return Workload(model, [(first,)], generate, trains=False)


@case("launch_bound", "cuda_graph", "one token as a CUDA graph", nostack=True)
def decode_with_fixed_cache(plan: Plan) -> Workload:
    batch, prompt, new = plan.batch(16), 512, 6
    model = generator(16384, 768, 12, 8)
    token, restart = decoding_in_place(model, batch, prompt, new)
    if plan.has("cuda_graph"):
        graph = captured(token)
        token = lambda called: graph()  # noqa: E731

    def generate(model: nn.Module, ids: Tensor) -> None:
        restart()
        for _ in range(new):
            token(model)

    return Workload(model, [(random_tokens(batch, 1, 16384),)], generate, trains=False)


def pick_on_host(logits: Tensor, seen: list[set[int]]) -> Tensor:
    """The usual ways to sample, on the host: repeated tokens punished, the best 50 kept, one drawn."""
    scores = logits.float().cpu()  # fault: sampling_on_the_host
    for row, tokens in zip(scores, seen):
        row[list(tokens)] *= 0.9
    best, which = scores.topk(50, dim=-1)
    drawn = torch.multinomial((best / 0.8).softmax(-1), 1)
    ids = which.gather(1, drawn)
    for tokens, token in zip(seen, ids.flatten().tolist()):
        tokens.add(token)
    return ids.to(DEVICE)


def pick_on_device(logits: Tensor, seen: Tensor) -> Tensor:
    scores = torch.where(seen, logits * 0.9, logits).float()
    best, which = scores.topk(50, dim=-1)
    # The exponential trick: torch.multinomial would wait to see whether the weights are valid.
    drawn = ((best / 0.8).softmax(-1) / torch.empty_like(best).exponential_()).argmax(-1, keepdim=True)
    ids = which.gather(1, drawn)
    seen.scatter_(1, ids, True)
    return ids


@case("host_sync", "remove_sync", "sampled on the device", also=("build_on_device",))
def sampling_on_the_host(plan: Plan) -> Workload:
    batch, prompt, new, vocabulary = plan.batch(16), 256, 6, 32768
    model = generator(vocabulary, 1024, 16, 6)
    caches, place = model.caches(batch, prompt + new), torch.tensor([prompt], device=DEVICE)
    fixed = plan.has("remove_sync") or plan.has("build_on_device")

    def generate(model: nn.Module, ids: Tensor) -> None:
        seen = torch.zeros(batch, vocabulary, dtype=torch.bool, device=DEVICE) if fixed else [{0} for _ in range(batch)]
        pick = pick_on_device if fixed else pick_on_host
        place.fill_(prompt)
        for _ in range(new):
            logits, _ = model(ids, caches, place)
            ids = pick(logits, seen)
            place.add_(1)

    return Workload(model, [(random_tokens(batch, 1, vocabulary),)], generate, trains=False)


@case("none", None, "")
def embedding_service(plan: Plan) -> Workload:
    model = language_model(32768, 768, 12, 6).to(torch.float16).eval()

    def embed(model: nn.Module, ids: Tensor) -> Tensor:
        return F.normalize(model(ids)[:, -1, :256].float(), dim=-1).cpu()

    requests = [(torch.randint(32768, (plan.batch(16), length)),) for length in (96, 128, 64)]
    return Workload(model, requests, embed, trains=False)


@case("no_mixed_precision", "bf16", "bf16 autocast")
def ranking_in_fp32(plan: Plan) -> Workload:
    model = language_model(8192, 1024, 16, 6).eval()

    def rank(model: nn.Module, ids: Tensor) -> Tensor:
        scores = model(ids)[:, -1, 0]
        return scores.topk(min(10, len(scores))).indices.cpu()

    return Workload(model, [(torch.randint(8192, (plan.batch(32), 192)),)], rank, trains=False)
