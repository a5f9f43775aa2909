"""May open few files and write small ones only."""
import resource
import signal

import torch

resource.setrlimit(resource.RLIMIT_NOFILE, (16, 16))
resource.setrlimit(resource.RLIMIT_FSIZE, (50_000, 50_000))
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
layer = torch.nn.Linear(64, 64)
for _ in range(2000):
    layer(torch.randn(8, 64)).sum().backward()
print("computed")
