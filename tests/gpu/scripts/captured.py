"""Captures a CUDA graph before the first step and replays it in each: inference beside an optimizer's eager step."""

import sys

import torch
from torch import nn

device = "cuda" if torch.cuda.is_available() else "cpu"
torch.manual_seed(0)


class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.first, self.second = nn.Linear(256, 512), nn.Linear(512, 256)

    def forward(self, x):
        wide = self.first(x)  # a line of the graph
        return torch.tanh(self.second(torch.sigmoid(wide)))  # another one


model = nn.Sequential(Block(), Block(), Block()).to(device)
trained = nn.Linear(16, 16).to(device)
optimizer = torch.optim.SGD(trained.parameters(), lr=0.01)
static = torch.randn(32, 256, device=device)


@torch.no_grad()
def infer():
    return model(static)


def made_graph():
    if device == "cpu":
        return infer
    side = torch.cuda.Stream()
    side.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(side):
        for _ in range(3):
            infer()
    torch.cuda.current_stream().wait_stream(side)
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        infer()
    return graph.replay


replay = made_graph()
for _ in range(int(sys.argv[1])):
    replay()
    optimizer.zero_grad()
    trained(torch.randn(4, 16, device=device)).sum().backward()
    optimizer.step()
if device == "cuda":
    torch.cuda.synchronize()
