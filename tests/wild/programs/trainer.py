"""A trainer as libraries have it: callbacks, gradients accumulated over batches, evaluation and checkpoints in between."""
import json

import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset


class Callback:
    def on_step_end(self, trainer):
        pass

    def on_evaluate(self, trainer, loss):
        pass


class Logger(Callback):
    def __init__(self):
        self.rows = []

    def on_step_end(self, trainer):
        self.rows.append({"step": trainer.step})

    def on_evaluate(self, trainer, loss):
        print(f"step {trainer.step}: evaluation loss {loss:.3f}")


class Checkpoints(Callback):
    def on_evaluate(self, trainer, loss):
        torch.save(trainer.model.state_dict(), f"checkpoint_{trainer.step}.pt")


class Trainer:
    def __init__(self, model, training, held_out, callbacks, accumulate=2, evaluate_every=10):
        self.model, self.training, self.held_out, self.callbacks = model, training, held_out, callbacks
        self.accumulate, self.evaluate_every = accumulate, evaluate_every
        self.optimizer = torch.optim.AdamW(model.parameters(), lr=0.01)
        self.schedule = torch.optim.lr_scheduler.LinearLR(self.optimizer, total_iters=100)
        self.step = 0

    def tell(self, what, *values):
        for callback in self.callbacks:
            getattr(callback, what)(self, *values)

    def train(self, epochs):
        for _ in range(epochs):
            self.model.train()
            for number, (inputs, labels) in enumerate(self.training):
                loss = nn.functional.cross_entropy(self.model(inputs), labels) / self.accumulate
                loss.backward()
                if (number + 1) % self.accumulate:
                    continue
                nn.utils.clip_grad_norm_(self.model.parameters(), 1.0)
                self.optimizer.step()
                self.schedule.step()
                self.optimizer.zero_grad()
                self.step += 1
                self.tell("on_step_end")
                if self.step % self.evaluate_every == 0:
                    self.tell("on_evaluate", self.evaluate())

    @torch.no_grad()
    def evaluate(self):
        self.model.eval()
        losses = [nn.functional.cross_entropy(self.model(inputs), labels).item() for inputs, labels in self.held_out]
        self.model.train()
        return sum(losses) / len(losses)


torch.manual_seed(0)
data = TensorDataset(torch.randn(640, 32), torch.randint(0, 4, (640,)))
model = nn.Sequential(nn.Linear(32, 64), nn.ReLU(), nn.Dropout(0.1), nn.Linear(64, 4))
logger = Logger()
Trainer(model, DataLoader(data, 16, shuffle=True), DataLoader(data, 64), [logger, Checkpoints()]).train(2)
with open("log.json", "w", encoding="utf-8") as file:
    json.dump(logger.rows, file)
