"""Reads standard input, and writes to its outputs in all the ways there are."""
import os
import subprocess
import sys

import torch

sys.stdout.write("no newline yet")
sys.stdout.flush()
os.write(1, b" \xff\xfe raw bytes\n")
sys.stdout.buffer.write(b"buffered\n")
print(len(sys.stdin.read()), "characters,", torch.ones(4, 4).sum().item(), flush=True)
subprocess.run(["sh", "-c", "echo from a shell; echo its complaint >&2"], check=True)
print("a bar\r\x1b[2K", end="", file=sys.stderr)
os.write(2, b"50 %\r100 %\n")
print("x" * 100_000)
print("isatty", sys.stdin.isatty(), sys.stdout.isatty(), sys.stderr.isatty())
sys.stdout.flush()
os.dup2(os.open("redirected.txt", os.O_CREAT | os.O_WRONLY), 1)
print("behind the back")
print("the end without a newline", end="", file=sys.stderr)
