"""An encoder trained in 32 bits, without tensor cores."""

import loop
import torch
from torch import nn

SIZE = (16, 256, 1024) if loop.DEVICE == "cuda" else (2, 8, 64)


def make(fix):
    width = SIZE[2]
    model = nn.TransformerEncoder(
        nn.TransformerEncoderLayer(width, 16, 4 * width, dropout=0.0, batch_first=True), 4
    ).to(loop.DEVICE)
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-5, fused=True)
    batch, target = torch.randn(SIZE, device=loop.DEVICE), torch.randn(SIZE, device=loop.DEVICE)

    def step():
        torch.backends.cuda.matmul.allow_tf32 = fix == "tf32"
        with torch.autocast(loop.DEVICE, torch.bfloat16, enabled=fix == "bf16"):
            loss = nn.functional.mse_loss(model(batch), target)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()

    return step


PROGRAM = loop.Program(make, ("bf16", "tf32"), 60)

if __name__ == "__main__":
    PROGRAM.run()
