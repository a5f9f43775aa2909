"""A decoder that launches every small kernel by itself."""

import loop
import torch
from torch import nn
from torch.profiler import record_function

LAYERS = 64 if loop.DEVICE == "cuda" else 4


def make(fix):
    layers = [layer for _ in range(LAYERS) for layer in (nn.Linear(256, 256), nn.LayerNorm(256), nn.GELU())]
    model = nn.Sequential(*layers).to(loop.DEVICE, torch.bfloat16).eval()
    state = torch.randn(1, 256, device=loop.DEVICE, dtype=torch.bfloat16)

    def decode():
        with torch.inference_mode():
            model(state)

    replay = captured(decode) if fix and loop.DEVICE == "cuda" else decode

    def step():
        with record_function("decode"):
            replay()

    return step


def captured(work):
    side = torch.cuda.Stream()
    side.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(side):
        for _ in range(3):
            work()
    torch.cuda.current_stream().wait_stream(side)
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        work()
    return graph.replay


PROGRAM = loop.Program(make, ("cuda_graph",), 400)

if __name__ == "__main__":
    PROGRAM.run()
