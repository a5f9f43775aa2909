"""What keeps tensors alive: chains of references from them to names that the program gave, when somebody asks for it.

Looked for once, at the end of a recording, within limits of time and number. Only what Python's garbage collector knows
of can be told: what only torch's graph holds is seen by the tensor that keeps the graph.
"""

from __future__ import annotations

import contextlib
import gc
import json
import os
import sys
import time
from types import FrameType, FunctionType, ModuleType
from typing import Any

from telltale import _recorder
from telltale._capture.source import Wanted

PAIR = "referrers"
MOST_TENSORS = 20
_EACH_KIND = 2  # tensors of one type and shape that are looked at
_MOST_LINKS = 6
_MOST_REFERRERS = 50  # of one object; those of a very common one say nothing
_SECONDS = 2.0
_PAIR_BYTES = 3900  # a pair holds no more


class ReferrerWatch:
    """Acts when it is stopped."""

    stops_for_pauses = False

    def __init__(self) -> None:
        self._process = 0

    def start(self, wanted: Wanted) -> None:
        if wanted.referrers:
            self._process = os.getpid()

    def stop(self) -> None:
        if self._process != os.getpid():
            return
        self._process = 0
        with contextlib.suppress(Exception):  # nothing of ours may break the user's program
            _recorder.metadata(PAIR, told(chains_of_live_tensors()))


def told(chains: list[dict[str, Any]]) -> str:
    """As JSON, as many as a pair holds."""
    text = json.dumps(chains, separators=(",", ":"))
    while len(text.encode()) > _PAIR_BYTES and chains:
        chains = chains[:-1]
        text = json.dumps(chains, separators=(",", ":"))
    return text


def chains_of_live_tensors(seconds: float = _SECONDS) -> list[dict[str, Any]]:
    """Those whose kind holds most memory first: many alike are what a leak looks like."""
    deadline = time.monotonic() + seconds
    kinds = _kinds()
    found: list[dict[str, Any]] = []
    for tensors in sorted(kinds.values(), key=lambda each: -sum(map(_bytes_of, each))):
        for place in range(max(0, len(tensors) - _EACH_KIND), len(tensors)):
            tensor = tensors[place]
            if len(found) >= MOST_TENSORS or time.monotonic() > deadline:
                return found
            chain = chain_to_name(tensor, deadline, [kinds, tensors])
            if chain:
                found.append(
                    {
                        "address": tensor.untyped_storage().data_ptr(),
                        "bytes": _bytes_of(tensor),
                        "alike": len(tensors),
                        "chain": [_described(tensor), *chain],
                    }
                )
    return found


def _kinds() -> dict[Any, list[Any]]:
    """The tensors that are alive and that no module or optimizer has, by type, shape and device."""
    import torch

    kinds: dict[Any, list[Any]] = {}
    owned: set[int] = set()
    tensors = []
    for each in gc.get_objects():
        kind = type(each)  # isinstance() may ask the object itself
        if issubclass(kind, torch.optim.Optimizer):
            states = [state for state in each.state.values() if isinstance(state, dict)]
            owned.update(id(value) for state in states for value in state.values())
        elif issubclass(kind, torch.nn.Module):
            owned.update(id(buffer) for buffer in each.__dict__.get("_buffers", {}).values())
        elif issubclass(kind, torch.Tensor) and not issubclass(kind, torch.nn.Parameter):
            tensors.append(each)
    for each in tensors:
        if id(each) in owned:
            continue
        kind = type(each)
        try:
            if each.layout is torch.strided and each.untyped_storage().data_ptr() != 0:
                kinds.setdefault((kind, each.dtype, tuple(each.shape), str(each.device)), []).append(each)
        except (RuntimeError, NotImplementedError):  # a tensor without a storage
            continue
    return kinds


def _bytes_of(tensor: Any) -> int:
    return int(tensor.untyped_storage().nbytes())


def chain_to_name(target: Any, deadline: float, ours: list[Any]) -> list[str]:
    """From what holds the object to a variable of a module or of a function that runs, the shortest way; empty where
    there is none within the limits."""
    ways: list[tuple[Any, list[str]]] = [(target, [])]
    kept = [*ours, ways]  # what we hold ourselves, alive so that no other object gets its id
    passed = {id(each) for each in [target, kept, *kept]}
    for _ in range(_MOST_LINKS):
        further: list[tuple[Any, list[str]]] = []
        for held, way in ways:
            if time.monotonic() > deadline:
                return []
            holders = gc.get_referrers(held)
            kept.append(holders)
            passed.update((id(holders), id(further)))
            for holder in holders[:_MOST_REFERRERS]:
                if id(holder) in passed or _is_own(holder, held):
                    continue
                passed.add(id(holder))
                link = _link(holder, held)
                if _is_end(holder):
                    return [*way, link]
                further.append((holder, [*way, link]))
        kept.append(further)
        ways = further
    return []


def _is_own(holder: Any, held: Any) -> bool:
    """Whether it is a part of this very search."""
    if isinstance(holder, FrameType):
        return holder.f_code.co_filename == __file__
    return isinstance(holder, tuple) and len(holder) == 2 and holder[0] is held and isinstance(holder[1], list)


def _is_end(holder: Any) -> bool:
    return isinstance(holder, FrameType) or (isinstance(holder, dict) and _module_with(holder) is not None)


def _module_with(variables: dict[Any, Any]) -> ModuleType | None:
    name = variables.get("__name__")
    module = sys.modules.get(name) if isinstance(name, str) else None
    return module if module is not None and vars(module) is variables else None


def _link(holder: Any, held: Any) -> str:
    """What holds the other, in a few words."""
    if isinstance(holder, FrameType):
        file = os.path.basename(holder.f_code.co_filename)
        name = next((key for key, value in holder.f_locals.items() if value is held), "")
        return f"variable {name!r} of {holder.f_code.co_name} ({file}:{holder.f_lineno})"
    if isinstance(holder, dict):
        key = next((key for key, value in list(holder.items()) if value is held), None)
        module = _module_with(holder)
        if module is not None:
            file = os.path.basename(getattr(module, "__file__", None) or "")
            return f"variable {key!r} of {module.__name__} ({file or 'built in'})"
        return f"key {str(key)[:40]!r} of a dict of {len(holder)}" if key is not None else "dict"
    if isinstance(holder, (list, tuple, set)):
        return f"{type(holder).__name__} of {len(holder)}"
    if isinstance(holder, FunctionType):
        return f"function {holder.__qualname__}"
    return _described(holder)


def _described(thing: Any) -> str:
    shape = getattr(thing, "shape", None)
    words = type(thing).__name__
    if type(thing).__module__.startswith("torch") and isinstance(shape, tuple):
        words += f" {list(shape)}"
        graph = getattr(thing, "grad_fn", None)
        if graph is not None:
            words += f", which keeps its graph ({type(graph).__name__})"
    return words
