"""Leaves with a status of its own, in the way that the first argument says."""
import atexit
import os
import signal
import sys
import time

import torch

atexit.register(lambda: print("good-bye"))
x = torch.ones(16, 16)
began = time.monotonic()
while time.monotonic() < began + 0.3:
    x = x @ x / 16
print("computed", flush=True)
how = sys.argv[1]
if how == "exit":
    sys.exit(3)
if how == "message":
    sys.exit("no such data set")
if how == "at_once":
    os._exit(4)
if how == "terminated":
    os.kill(os.getpid(), signal.SIGTERM)
if how == "aborted":
    os.abort()
