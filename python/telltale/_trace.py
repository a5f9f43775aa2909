"""Traces: loading them, and asking them."""

from __future__ import annotations

import json
import os
from typing import Any

from telltale._errors import TelltaleError

try:
    import telltale._core as _core
except ModuleNotFoundError as missing:  # a build that only records has no reader
    if missing.name != "telltale._core":
        raise
    _core = None


class Trace:
    """What happened in a process, as :func:`load` read it."""

    def __init__(self, info: dict[str, Any]) -> None:
        self.info = info


def load(path: str | os.PathLike[str]) -> Trace:
    """Reads a trace of whatever format the file has."""
    if _core is None:
        raise TelltaleError("this build of Telltale records and cannot read: it was made with TELLTALE_RECORD_ONLY")
    return Trace(json.loads(_core.info_json(os.fspath(path))))
