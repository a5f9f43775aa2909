"""Telltale says why a model is slow and what each fix would buy.

    >>> import telltale
    >>> trace = telltale.load("trace.json.gz")
    >>> print(trace.analyze())

Traces come from torch.profiler, from Telltale itself (``.tell``) or from anything that writes Chrome's trace format.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING

from telltale._errors import TelltaleError
from telltale._version import VERSION as __version__

if TYPE_CHECKING:
    from telltale._core import Table
    from telltale._trace import Trace, load, memory
    from telltale._view import Page, view
    from telltale.diagnosis import Diagnosis, Finding
    from telltale.memory_report import MemoryReport, MemoryWhatIf
    from telltale.results import Info, Top, WhatIf
else:

    def __getattr__(name):
        if name not in _PLACES:
            raise AttributeError(f"module 'telltale' has no attribute {name!r}")
        globals()[name] = getattr(importlib.import_module(_PLACES[name]), name)
        return globals()[name]


__all__ = [
    "Diagnosis",
    "Finding",
    "Info",
    "MemoryReport",
    "MemoryWhatIf",
    "Page",
    "Table",
    "TelltaleError",
    "Top",
    "Trace",
    "WhatIf",
    "__version__",
    "load",
    "memory",
    "view",
]

# What reads is imported when it is first used: processes that are only recorded import this package, too.
_PLACES = {
    "Diagnosis": "telltale.diagnosis",
    "Finding": "telltale.diagnosis",
    "Info": "telltale.results",
    "MemoryReport": "telltale.memory_report",
    "MemoryWhatIf": "telltale.memory_report",
    "Page": "telltale._view",
    "Table": "telltale._core",
    "Top": "telltale.results",
    "Trace": "telltale._trace",
    "WhatIf": "telltale.results",
    "load": "telltale._trace",
    "memory": "telltale._trace",
    "view": "telltale._view",
}


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
