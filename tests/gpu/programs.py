"""Programs that both profilers record in turn. Each is made once, warmed up, and repeated: seeded, the same work every
time."""

import threading
from collections.abc import Callable

import torch
from check import DEVICE, IS_DRY, synchronize
from torch import nn

Repetition = Callable[[], None]


def training() -> Repetition:
    """Copies from pageable and pinned memory, backward in autograd's thread, an optimizer, a wait for the loss."""
    model = nn.TransformerEncoder(nn.TransformerEncoderLayer(256, 4, 1024, dropout=0.0, batch_first=True), 2).to(DEVICE)
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-4)
    batch, target = torch.randn(16, 128, 256), torch.randn(16, 128, 256)
    if not IS_DRY:
        target = target.pin_memory()

    def step() -> None:
        inputs, wanted = batch.to(DEVICE), target.to(DEVICE, non_blocking=True)
        loss = nn.functional.mse_loss(model(inputs), wanted)
        optimizer.zero_grad(set_to_none=False)
        loss.backward()
        optimizer.step()
        loss.item()

    return step


def graph() -> Repetition:
    """Replays of a CUDA graph, with an eager operator between them."""
    model = nn.Sequential(
        *[layer for _ in range(6) for layer in (nn.Linear(512, 512), nn.LayerNorm(512), nn.GELU())]
    ).to(DEVICE)
    inputs = torch.randn(64, 512, device=DEVICE)
    with torch.no_grad():
        replay = captured(lambda: model(inputs))

        def step() -> None:
            for _ in range(4):
                inputs.add_(0.001)
                replay()

    return step


def captured(work: Callable[[], object]) -> Callable[[], object]:
    """The work as one CUDA graph; without a GPU, the work itself."""
    if IS_DRY:
        return work
    side = torch.cuda.Stream()
    side.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(side):
        for _ in range(3):
            work()
    torch.cuda.current_stream().wait_stream(side)
    made = torch.cuda.CUDAGraph()
    with torch.cuda.graph(made):
        work()
    return made.replay


def streams() -> Repetition:
    """Two streams that wait for each other. Their kernels are small, so that neither slows the other down."""
    a, b = torch.randn(64, 64, device=DEVICE), torch.randn(64, 64, device=DEVICE)
    if IS_DRY:
        return lambda: (a @ b).sum()
    first, second = torch.cuda.Stream(), torch.cuda.Stream()

    def step() -> None:
        with torch.cuda.stream(first):
            for _ in range(20):
                a.mul_(0.99)
        second.wait_stream(first)
        with torch.cuda.stream(second):
            for _ in range(20):
                b.mul_(0.99)
            (a @ b).sum()
        torch.cuda.current_stream().wait_stream(second)
        first.wait_stream(second)

    return step


THREADS = 4
ROUNDS_OF_A_THREAD = 50
OPERATORS_OF_A_ROUND = ("aten::mul_", "aten::add_", "aten::clamp_")  # each launches one kernel


def threads() -> Repetition:
    """Four threads of the host that launch at the same time, each on a stream of its own."""
    places = [torch.randn(256, device=DEVICE) for _ in range(THREADS)]
    own_streams = [None if IS_DRY else torch.cuda.Stream() for _ in range(THREADS)]

    def launch(number: int) -> None:
        with torch.cuda.stream(own_streams[number]):
            for _ in range(ROUNDS_OF_A_THREAD):
                places[number].mul_(1.01).add_(0.5).clamp_(-4, 4)

    def step() -> None:
        running = [threading.Thread(target=launch, args=(number,)) for number in range(THREADS)]
        for thread in running:
            thread.start()
        for thread in running:
            thread.join()

    return step


def nested() -> Repetition:
    """Annotations inside annotations, around operators and around backward."""
    mark = torch.profiler.record_function
    model = nn.Linear(128, 128).to(DEVICE)
    inputs = torch.randn(32, 128, device=DEVICE)

    def step() -> None:
        with mark("outer"):
            inputs.mul(2)
            with mark("middle"):
                with mark("inner"):
                    loss = model(inputs).relu().sum()
                loss.neg()
            with mark("backward pass"):
                loss.backward()
            model.zero_grad()

    return step


def compiled() -> Repetition:
    """A function that torch.compile makes Triton kernels of."""
    bias = torch.randn(1024, device=DEVICE)
    inputs = torch.randn(256, 1024, device=DEVICE)
    weights = torch.randn(1024, 1024, device=DEVICE)

    @torch.compile
    def block(x: torch.Tensor) -> torch.Tensor:
        return torch.softmax(torch.tanh(x @ weights + bias) * 0.5, -1).sum(0)

    def step() -> None:
        with torch.no_grad():
            block(inputs)

    return step


PROGRAMS: dict[str, Callable[[], Repetition]] = {
    "training": training,
    "graph": graph,
    "streams": streams,
    "threads": threads,
    "nested": nested,
    "compiled": compiled,
}


def warmed_up(name: str, times: int = 5) -> Repetition:
    torch.manual_seed(0)
    step = PROGRAMS[name]()
    for _ in range(times):
        step()
    synchronize()
    return step
