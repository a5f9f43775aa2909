"""Where the Triton kernels that torch.compile made come from: the lines of the program, and the operators that each of
them fuses."""

from __future__ import annotations

import functools
import json
import re
import sys
from collections.abc import Callable
from typing import Any

# Of text that was generated; more is no code that anybody waits to have read.
_MOST_BYTES = 1 << 23
_CALL = re.compile(r"\s+(triton_\w+)\.run\(")
_DEFINITION = re.compile(r"(triton_\w+) = async_compile\.")
_OPERATORS = re.compile(r"\s*# .*Original ATen: \[(.*)\]")

Frame = dict[str, Any]  # "filename", "line" and "name"
Kernels = dict[str, dict[str, Any]]


def kernels_in(source: str, frames_at: Callable[[int], list[Frame] | None]) -> Kernels:
    """The kernels that generated code calls. `frames_at` tells for a line of it the stack of the program, innermost
    first. A kernel that stands for several lines has none."""
    kernels: Kernels = {}
    operators: list[str] = []
    for number, line in enumerate(source.splitlines(), 1):
        if told := _OPERATORS.match(line):
            operators = told[1].split(", ") if told[1] else []
        elif defined := _DEFINITION.match(line):
            kernels.setdefault(defined[1], {})["operators"] = operators
            operators = []
        elif called := _CALL.match(line):
            place = _place(frames_at(number) or [])
            kernel = kernels.setdefault(called[1], {})
            kernel["place"] = place if kernel.get("place", place) == place else None
    return kernels


def _place(frames: list[Frame]) -> tuple[str, int, str] | None:
    """That of the innermost frame outside of torch."""
    for frame in frames:
        if "/torch/" not in frame["filename"]:
            return frame["filename"], frame["line"], frame["name"]
    return None


def compiled_kernels() -> str:
    """All that this process has compiled or taken from the compiler's cache, as JSON; empty when there are none.

    Each graph numbers its kernels anew. Of a name that stands for several lines, none is told."""
    cache: Any = getattr(sys.modules.get("torch._inductor.codecache"), "PyCodeCache", None)
    kernels: Kernels = {}
    for path in list(getattr(cache, "linemaps", ())):
        try:
            with open(path, encoding="utf-8") as file:
                source = file.read(_MOST_BYTES)
            found = kernels_in(source, functools.partial(cache.stack_frames_for_code, path))
        except Exception:  # of a torch that we do not know: its kernels have no lines
            continue
        for name, kernel in found.items():
            known = kernels.setdefault(name, kernel)
            if known.get("place") != kernel.get("place"):
                known["place"] = None
    told = {
        name: {"file": place[0], "line": place[1], "function": place[2], "operators": kernel.get("operators", [])}
        for name, kernel in kernels.items()
        if (place := kernel.get("place"))
    }
    return json.dumps(told) if told else ""
