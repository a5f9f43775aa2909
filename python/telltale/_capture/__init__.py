"""What feeds the recorder in a Python process: PyTorch's operators, modules, Python calls, garbage collections.

Users have :mod:`telltale.torch` and the command ``telltale record``; this is what both rest on.
"""

from telltale._capture.recording import Recording
from telltale._capture.source import Wanted

__all__ = ["Recording", "Wanted"]
