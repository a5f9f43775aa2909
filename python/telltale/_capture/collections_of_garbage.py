"""Python's garbage collections as scopes."""

from __future__ import annotations

import gc
from typing import Any

from telltale import _recorder


def _on_collection(phase: str, info: dict[str, Any]) -> None:
    if phase == "start":
        _recorder.begin_scope(f"gc.collect (generation {info['generation']})", "python")
    else:
        _recorder.end_scope()


def watch_collections() -> None:
    if _on_collection not in gc.callbacks:
        gc.callbacks.append(_on_collection)


def unwatch_collections() -> None:
    if _on_collection in gc.callbacks:
        gc.callbacks.remove(_on_collection)
