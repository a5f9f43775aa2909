"""Is interrupted a hundred times a second, keeps a state when it is told to, and leaves without a good-bye."""
import os
import signal
import sys
import threading
import time

import torch

kept = []
signal.signal(signal.SIGUSR1, lambda *_: kept.append(1))
signal.signal(signal.SIGALRM, lambda *_: None)
signal.setitimer(signal.ITIMER_REAL, 0.01, 0.01)
threading.Thread(target=lambda: [time.sleep(0.02) or os.kill(os.getpid(), signal.SIGUSR1) for _ in range(5)], daemon=True).start()
layer, batch = torch.nn.Linear(256, 256), torch.randn(64, 256)
while len(kept) < 5:
    layer(batch).sum().backward()
print("kept", len(kept))
sys.stdout.flush()
os._exit(7)
