"""Memory by category over time, in the files that torch.profiler writes."""

from __future__ import annotations

import gzip
import json
from typing import Any

from telltale._capture.tensor_notes import TensorNotes, number_of
from telltale.torch._memory_page import page
from telltale.torch._reader import core

_PREEXISTING = 1  # of torch's actions; its time is not known


def export(trace: Any, notes: TensorNotes | None, path: str, device: Any) -> None:
    """``.html``: a page; ``raw.json.gz``: each change; ``.json`` and ``.json.gz``: [times, sizes by category]."""
    noted = notes.to_bytes() if notes is not None else b""
    changes, over_time = core().torch_memory(trace, noted, number_of(device))
    if path.endswith(".html"):
        _write(path, page(over_time, str(device)))
    elif path.endswith("raw.json.gz"):
        _write(path, json.dumps([_raw(*change) for change in changes]))
    else:
        # Torch has a column of zeros before those of the categories.
        _write(path, json.dumps([[at // 1000 for at, _ in over_time], [[0, *sizes] for _, sizes in over_time]]))


def _raw(at: int, action: int, size: int, category: int) -> tuple[int, int, int, int]:
    return (-1 if action == _PREEXISTING else at, action, size, category)


def _write(path: str, text: str) -> None:
    with gzip.open(path, "wt") if path.endswith(".gz") else open(path, "w", encoding="utf-8") as file:
        file.write(text)
