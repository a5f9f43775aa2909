"""CUDA's caching allocator: watched from the moment at which it exists, with what it holds when a recording begins.

The log is watched first and the state taken then: the look at it leaves a mark in the log of each device, and what
stands before the mark is part of the state.
"""

from __future__ import annotations

import json
from typing import Any

from telltale import _recorder
from telltale._capture.adapter import Adapter, load_adapter
from telltale._capture.cuda_begins import when_cuda_is_there
from telltale._capture.source import Wanted
from telltale._inject.telltale_say import say_once

SETTINGS_PAIR = "allocator_settings"
_STATES = {"active_allocated": 1, "active_pending_free": 2, "active_awaiting_free": 2}  # both spellings of torch's
_PAIR_BYTES = 3900  # a pair holds no more


class AllocatorWatch:
    """A program that uses CUDA only later has an empty state."""

    stops_for_pauses = True  # each recorded window begins with a state

    def __init__(self) -> None:
        self._is_started = False

    def start(self, wanted: Wanted) -> None:
        if not wanted.memory:
            return
        adapter = load_adapter()
        if not adapter.sees_cuda_memory():
            return
        self._is_started = True
        when_cuda_is_there("CUDA memory", self._begin)

    def stop(self) -> None:
        self._is_started = False

    def _begin(self) -> None:
        if not self._is_started:
            return
        adapter = load_adapter()
        if not adapter.watch_cuda_memory():
            say_once("CUDA memory is not recorded: the allocator in use has no log")
            return
        snapshot = _snapshot(adapter)
        write_state(snapshot.get("segments", ()))
        settings = json.dumps(snapshot.get("allocator_settings", {}), default=str)
        if len(settings) <= _PAIR_BYTES:
            _recorder.metadata(SETTINGS_PAIR, settings)


def _snapshot(adapter: Adapter) -> dict[str, Any]:
    import torch

    adapter.take_state(True)
    try:
        found: dict[str, Any] = torch.cuda.memory._snapshot()
        return found
    finally:
        adapter.take_state(False)


def write_state(segments: Any) -> None:
    """Segments and blocks as torch's snapshots have them."""
    for segment in segments:
        start, device = segment["address"], segment["device"]
        pool = tuple(segment.get("segment_pool_id", (0, 0)))
        _recorder.note_segment(
            start,
            segment["total_size"],
            device,
            segment["stream"],
            "" if pool == (0, 0) else ".".join(str(part) for part in pool),
            segment["segment_type"] == "large",
            bool(segment.get("is_expandable", False)),
        )
        address = start
        for block in segment["blocks"]:
            state = _STATES.get(block["state"], 0)
            requested = block.get("requested_size", block["size"]) if state else 0
            _recorder.note_block(address, block["size"], device, requested, state, start)
            address += block["size"]
