"""A module that knows how it is trained, and a loop that calls its hooks."""
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset


class Classifier(nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = nn.Sequential(nn.Conv2d(1, 8, 3), nn.ReLU(), nn.Flatten(), nn.Linear(8 * 36, 4))

    def forward(self, pictures):
        return self.layers(pictures)

    def training_step(self, batch, index):
        return nn.functional.cross_entropy(self(batch[0]), batch[1])

    def validation_step(self, batch, index):
        return (self(batch[0]).argmax(1) == batch[1]).float().mean()

    def configure_optimizers(self):
        return torch.optim.SGD(self.parameters(), lr=0.1)

    def on_train_epoch_end(self):
        print("epoch ends")


class Loop:
    def fit(self, module, training, validation, epochs):
        optimizer = module.configure_optimizers()
        for _ in range(epochs):
            for index, batch in enumerate(training):

                def closure():
                    optimizer.zero_grad()
                    loss = module.training_step(batch, index)
                    loss.backward()
                    return loss

                optimizer.step(closure)
            module.eval()
            with torch.no_grad():
                right = [module.validation_step(batch, index) for index, batch in enumerate(validation)]
            module.train()
            print(f"accuracy {torch.stack(right).mean():.2f}")
            module.on_train_epoch_end()


torch.manual_seed(0)
pictures = TensorDataset(torch.randn(320, 1, 8, 8), torch.randint(0, 4, (320,)))
Loop().fit(Classifier(), DataLoader(pictures, 16, shuffle=True), DataLoader(pictures, 64), 2)
