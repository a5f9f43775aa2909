"""Has a profiler of its own around some steps."""
import torch
from torch.profiler import ProfilerActivity, profile, schedule

model = torch.nn.Sequential(torch.nn.Linear(8, 8), torch.nn.ReLU())
optimizer = torch.optim.SGD(model.parameters(), lr=0.01)


def ready(profiler):
    profiler.export_chrome_trace("own_trace.json")
    calls = {row.key: row.count for row in profiler.key_averages()}
    print("aten::addmm", calls["aten::addmm"])


with profile(activities=[ProfilerActivity.CPU], schedule=schedule(wait=1, warmup=1, active=3, repeat=1),
             on_trace_ready=ready) as profiler:
    for _ in range(12):
        loss = model(torch.ones(2, 8)).sum()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        profiler.step()
