"""Work spread over processes: a pool that forks, and an executor that spawns."""
import concurrent.futures
import multiprocessing

import torch


def judged(seed):
    torch.set_num_threads(1)
    torch.manual_seed(seed)
    model = torch.nn.Linear(16, 4)
    return round(sum(model(torch.ones(2, 16) * i).sum().item() for i in range(10)), 2)


if __name__ == "__main__":
    with multiprocessing.get_context("fork").Pool(2) as pool:
        print(pool.map(judged, range(6)))
    spawn = multiprocessing.get_context("spawn")
    with concurrent.futures.ProcessPoolExecutor(1, mp_context=spawn) as executor:
        print(list(executor.map(judged, range(3))))
