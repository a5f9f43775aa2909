"""Needs no torch."""
import sys

print(sum(range(1000)), sys.flags.dev_mode, sys.argv)
