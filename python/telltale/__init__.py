"""Telltale says why a model is slow and what each fix would buy.

    >>> import telltale
    >>> trace = telltale.load("trace.json.gz")
    >>> print(trace.analyze())

Traces come from torch.profiler, from Telltale itself (``.tell``) or from anything that writes Chrome's trace format.
"""

from telltale._errors import TelltaleError
from telltale._trace import Trace, load
from telltale._version import VERSION as __version__
from telltale.diagnosis import Analysis, Finding
from telltale.results import Info, Top, WhatIf

__all__ = ["Analysis", "Finding", "Info", "TelltaleError", "Top", "Trace", "WhatIf", "__version__", "load"]
