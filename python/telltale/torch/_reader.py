"""The core, which reads what was recorded; a build for training nodes has none."""

from __future__ import annotations

from typing import Any

from telltale._errors import TelltaleError


def core() -> Any:
    """``telltale._core``; a sentence where it is not there."""
    try:
        import telltale._core as found
    except ModuleNotFoundError:
        raise TelltaleError(
            "this build of Telltale records but cannot read: keep what was recorded with save(), and ask it elsewhere"
        ) from None
    return found
