"""Imports torch when it is needed at last."""
import json


def prepared():
    return [json.loads(json.dumps({"x": i})) for i in range(1000)]


def trained(rows):
    import torch

    model = torch.nn.Linear(1, 1)
    torch.nn.init.ones_(model.weight)
    torch.nn.init.zeros_(model.bias)
    with torch.no_grad():
        return sum(model(torch.tensor([float(row["x"])])).item() for row in rows[:100])


print(trained(prepared()))
