"""Cells that are compiled and executed one after another in one namespace, as a notebook's kernel does."""
CELLS = [
    "import torch\ntorch.manual_seed(0)\nmodel = torch.nn.Linear(4, 4)",
    "optimizer = torch.optim.SGD(model.parameters(), lr=0.1)\nlosses = []",
    "for _ in range(20):\n    loss = model(torch.ones(2, 4)).square().mean()\n    optimizer.zero_grad()\n"
    "    loss.backward()\n    optimizer.step()\n    losses.append(loss.item())",
    "print(len(losses), losses[-1] < losses[0])",
    "undefined_name",
    "print('the next cell runs')",
]
namespace = {"__name__": "__main__"}
for number, cell in enumerate(CELLS, 1):
    try:
        exec(compile(cell, f"<cell {number}>", "exec"), namespace)
    except Exception as error:
        print(f"cell {number}: {type(error).__name__}: {error}")
