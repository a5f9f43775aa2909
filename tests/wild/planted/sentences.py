"""Classifies sentences of unequal length. Two workers tokenize and pad them."""
import argparse
import random
import time

import torch
from torch import nn
from torch.nn.utils.rnn import pad_sequence
from torch.utils.data import DataLoader, Dataset

LONGEST = 256
WORDS = 5000


class Sentences(Dataset):
    def __init__(self, count):
        generator = random.Random(0)
        self.sentences = [[generator.randrange(1, WORDS) for _ in range(generator.randrange(LONGEST // 2, LONGEST))]
                          for _ in range(count)]

    def __len__(self):
        return len(self.sentences)

    def __getitem__(self, index):
        return torch.tensor(self.sentences[index]), index % 2


def pad_word_by_word(samples):
    longest = max(len(words) for words, _ in samples)
    batch = torch.zeros(len(samples), longest, dtype=torch.long)
    for row, (words, _) in enumerate(samples):
        for column in range(len(words)):
            batch[row, column] = words[column]
    return batch, torch.tensor([label for _, label in samples])


def pad(samples):
    return (pad_sequence([words for words, _ in samples], batch_first=True),
            torch.tensor([label for _, label in samples]))


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--fixed", action="store_true")
    parser.add_argument("--steps", type=int, default=60)
    words = parser.parse_args()

    torch.manual_seed(0)
    batch_size = 32
    loader = DataLoader(Sentences(batch_size * words.steps), batch_size, num_workers=2,
                        collate_fn=pad if words.fixed else pad_word_by_word)
    embed, rest = nn.Embedding(WORDS, 64, padding_idx=0), nn.Sequential(nn.Linear(64, 64), nn.Tanh(), nn.Linear(64, 2))
    optimizer = torch.optim.SGD([*embed.parameters(), *rest.parameters()], lr=0.05)
    for step, (batch, labels) in enumerate(loader):
        if step == 5:
            began = time.perf_counter()
        loss = nn.functional.cross_entropy(rest(embed(batch).mean(1)), labels)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    took = (time.perf_counter() - began) / (words.steps - 5)
    print(f"{1e3 * took:.3f} ms per step")


if __name__ == "__main__":
    main()
