"""What keeps tensors alive: chains of references from them to names that the program gave, when somebody asks for it.

Looked for at the end of a recording, and, as the variables of functions are gone by then, whenever the number of an
optimizer's steps has doubled; within limits of time and number. What was found in between counts where its tensor lived
until the last step. Only what Python's garbage collector knows of can be told. What only a graph of torch's holds is
seen by the tensor that keeps the graph: it is told which operators the graph has, by autograd's numbers for them.
"""

from __future__ import annotations

import contextlib
import gc
import json
import os
import sys
import time
import weakref
from collections import Counter
from collections.abc import Callable
from inspect import CO_OPTIMIZED
from types import CellType, FrameType, FunctionType, ModuleType
from typing import Any

from telltale import _recorder
from telltale._capture.source import Wanted

PAIR = "referrers"
MOST_TENSORS = 20
_EACH_KIND = 3  # tensors of one type and shape that are looked at
_MOST_LINKS = 6
_MOST_REFERRERS = 50  # of one object; those of a very common one say nothing
_SECONDS = 2.0  # of processor time, at the end, and again for all looks before it
_SECONDS_EACH = 0.5  # of those
_FIRST_STEP = 8  # after which it looks
# Before Python 3.13, the dict that these give is the one that a look at the frame changes.
_MOST_NODES = 50_000  # of graphs that are walked through, in one look
_MOST_GRAPHS = 2  # that are told of, those of most operators
_MOST_RANGES = 40  # of numbers, of one graph
_UNNUMBERED = 1 << 63  # from here on autograd's numbers are none, as those of leaves
_SEE_LOCALS = {"locals", "vars", "dir", "eval", "exec"}
_PAIR_BYTES = 3900  # a pair holds no more


class Kept:
    """A tensor, what keeps it alive, and until when it lived."""

    def __init__(self, tensor: Any, chain: dict[str, Any], steps: Callable[[], int]) -> None:
        self.chain = chain
        self._last_step: int | None = None
        self._steps = steps
        self._tensor = weakref.ref(tensor, self._on_death)

    def _on_death(self, _tensor: Any) -> None:
        self._last_step = self._steps()

    def lived_until(self, step: int) -> bool:
        return self._last_step is None or self._last_step >= step


class ReferrerWatch:
    """Looks while optimizers take steps, and when it is stopped."""

    stops_for_pauses = False

    def __init__(self) -> None:
        self._process = 0
        self._steps = 0
        self._left = _SECONDS
        self._seen: dict[int, Kept] = {}  # by address
        self._graphs: list[dict[str, Any]] = []  # of the newest look that found any: who keeps them
        self._hook: Any = None

    def start(self, wanted: Wanted) -> None:
        if not wanted.referrers:
            return
        self._process = os.getpid()
        with contextlib.suppress(ImportError):  # as in programs without torch
            from torch.optim.optimizer import register_optimizer_step_post_hook

            self._hook = register_optimizer_step_post_hook(self._after_step)

    def stop(self) -> None:
        if self._hook is not None:
            self._hook.remove()
            self._hook = None
        if self._process != os.getpid():
            return
        self._process = 0
        with contextlib.suppress(Exception):  # nothing of ours may break the user's program
            for address in [each for each, kept in self._seen.items() if not kept.lived_until(self._steps)]:
                del self._seen[address]
            self._look(_SECONDS)
            alive = [kept.chain for kept in self._seen.values()][:MOST_TENSORS]
            # A running sum is another tensor in each step, and its graph has that of the one before. So who kept a
            # graph is told also where the tensor is gone; its address may be another's by now.
            addresses = {chain["address"] for chain in alive}
            gone = [{**chain, "address": 0} for chain in self._graphs if chain["address"] not in addresses]
            _recorder.metadata(PAIR, told([*alive, *gone]))
        self._seen.clear()
        self._graphs = []

    def _after_step(self, _optimizer: Any, _arguments: Any, _named: Any) -> None:
        self._steps += 1
        is_doubled = self._steps & (self._steps - 1) == 0
        if not is_doubled or self._steps < _FIRST_STEP or self._left <= 0 or self._process != os.getpid():
            return
        began = time.thread_time()
        with contextlib.suppress(Exception):
            self._look(min(_SECONDS_EACH, self._left))
        self._left -= time.thread_time() - began

    def _look(self, seconds: float) -> None:
        """What is found now comes first, as it has most alike."""
        found = {
            chain["address"]: Kept(tensor, chain, lambda: self._steps)
            for tensor, chain in chains_of_live_tensors(seconds)
        }
        self._graphs = [kept.chain for kept in found.values() if "graph" in kept.chain] or self._graphs
        self._seen = found | {address: kept for address, kept in self._seen.items() if address not in found}


def told(chains: list[dict[str, Any]]) -> str:
    """As JSON, as many as a pair holds: those behind go first, but graphs last."""
    chains = list(chains)
    text = json.dumps(chains, separators=(",", ":"))
    while len(text.encode()) > _PAIR_BYTES and chains:
        plain = [place for place, each in enumerate(chains) if "graph" not in each]
        del chains[plain[-1] if plain else -1]
        text = json.dumps(chains, separators=(",", ":"))
    return text


def chains_of_live_tensors(seconds: float = _SECONDS) -> list[tuple[Any, dict[str, Any]]]:
    """Those whose kind holds most memory first: many alike are what a leak looks like. Behind them those that keep the
    largest graphs."""
    deadline = time.thread_time() + seconds
    kinds = _kinds()
    graphs = _largest_graphs(kinds, deadline)
    variables, globals_ = _running_variables(), _running_globals()
    found: list[tuple[Any, dict[str, Any]]] = []
    for tensors in sorted(kinds.values(), key=lambda each: -sum(map(_bytes_of, each))):
        # The one that a variable has just now says nothing of the others.
        kept = [each for each in tensors if id(each) not in variables and id(each) not in globals_] or tensors
        for place in _examples(kept, [kinds, tensors, kept, graphs]):
            tensor = kept[place]
            if len(found) >= MOST_TENSORS - _MOST_GRAPHS or time.thread_time() > deadline:
                break
            chain = chain_to_name(tensor, deadline, [kinds, tensors, kept, graphs], variables)
            if chain:
                found.append((tensor, _told_of(tensor, chain, len(tensors))))
    for tensor, numbers in graphs:
        chain_of_it = next((told_of for each, told_of in found if each is tensor), None)
        if chain_of_it is None:
            chain = chain_to_name(tensor, deadline + _SECONDS_EACH, [kinds, *kinds.values(), graphs], variables)
            if not chain:
                continue
            chain_of_it = _told_of(tensor, chain, 1)
            found.append((tensor, chain_of_it))
        chain_of_it["graph"] = _ranges(numbers)
    return found


def _told_of(tensor: Any, chain: list[str], alike: int) -> dict[str, Any]:
    return {
        "address": tensor.untyped_storage().data_ptr(),
        "bytes": _bytes_of(tensor),
        "alike": alike,
        "chain": [_described(tensor), *chain],
    }


def _largest_graphs(kinds: dict[Any, list[Any]], deadline: float) -> list[tuple[Any, list[int]]]:
    """The tensors that keep the largest graphs, with autograd's numbers of the operators in these. Nothing that a graph
    has saved is looked at, as that may compute it again."""
    graphs: list[tuple[Any, list[int]]] = []
    left = _MOST_NODES
    for tensors in kinds.values():
        for tensor in tensors:
            numbers: set[int] = set()
            functions = [tensor.grad_fn]
            while functions and left > 0 and time.thread_time() < deadline:
                function = functions.pop()
                number_of = getattr(function, "_sequence_nr", None)  # since PyTorch 2.1
                number = _UNNUMBERED if number_of is None else number_of()
                if number >= _UNNUMBERED or number in numbers:
                    continue
                left -= 1
                numbers.add(number)
                functions += [each for each, _ in function.next_functions]
            if numbers:
                graphs.append((tensor, sorted(numbers)))
                graphs.sort(key=lambda each: -len(each[1]))
                del graphs[_MOST_GRAPHS:]
    return graphs


def _ranges(numbers: list[int]) -> list[list[int]]:
    """From the first to the last of those without a gap between them; the newest."""
    ranges: list[list[int]] = []
    for number in reversed(numbers):
        if ranges and ranges[-1][0] == number + 1:
            ranges[-1][0] = number
        elif len(ranges) == _MOST_RANGES:
            break
        else:
            ranges.append([number, number])
    return ranges


def _examples(tensors: list[Any], ours: list[Any]) -> list[int]:
    """One tensor of each thing that holds some, those first that hold most: they may leak in several places. It is the
    newest that as little else as possible holds: a variable may have the newest of all."""
    if len(tensors) <= _EACH_KIND:
        return list(range(len(tensors)))
    places = {id(each): place for place, each in enumerate(tensors)}
    own = {id(each) for each in ours}
    held_by: list[set[int]] = []  # places, by thing
    holders = gc.get_referrers(*tensors)
    for holder in holders:
        if id(holder) not in own and not isinstance(holder, FrameType):
            held_by.append({places[id(each)] for each in gc.get_referents(holder) if id(each) in places})
    holders.clear()
    times_held = Counter(place for held in held_by for place in held)
    held_by.sort(key=lambda held: (-len(held), -max(held, default=0)))
    examples = [max(held, key=lambda place: (-times_held[place], place)) for held in held_by if held]
    return list(dict.fromkeys([*examples, len(tensors) - 1]))[:_EACH_KIND]


def _running_variables() -> dict[int, str]:
    """What the variables of functions that run are called, by the id of their value: the garbage collector does not see
    the variables of frames that run."""
    named: dict[int, str] = {}
    frames = list(sys._current_frames().values())
    while frames:  # one of them is this function's own: a variable that still had it would keep all frames alive
        frame: FrameType | None = frames.pop()
        while frame is not None:
            code = frame.f_code
            if code.co_flags & CO_OPTIMIZED and code.co_filename != __file__ and not _SEE_LOCALS & set(code.co_names):
                where = f"of {code.co_name} ({os.path.basename(code.co_filename)}:{frame.f_lineno})"
                for name, value in _variables_of(frame).items():
                    named.setdefault(id(value), f"variable {name!r} {where}")
            frame = frame.f_back
    return named


def _running_globals() -> set[int]:
    """The ids of what modules have in variables of their own whose code runs."""
    held: set[int] = set()
    frames = list(sys._current_frames().values())
    while frames:  # as above
        frame: FrameType | None = frames.pop()
        while frame is not None:
            held.update(map(id, list(frame.f_globals.values())))
            frame = frame.f_back
    return held


def _variables_of(frame: FrameType) -> dict[str, Any]:
    variables = frame.f_locals
    copied = dict(variables)
    if isinstance(variables, dict):  # before Python 3.13, the frame keeps it, and so what is in it alive
        variables.clear()
    return copied


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


def chain_to_name(target: Any, deadline: float, ours: list[Any], variables: dict[int, str]) -> list[str]:
    """From what holds the object to a variable of a module or of a function that runs, the shortest way; empty where
    there is none within the limits. `variables`: those of functions, by the id of what they hold."""
    kept: list[Any] = []
    try:
        return _way_to_name(target, deadline, ours, variables, kept)
    finally:
        # Lists of what refers to what are in each other: nothing else would free what they hold, but a collection.
        for each in kept:
            each.clear()


def _way_to_name(
    target: Any, deadline: float, ours: list[Any], variables: dict[int, str], kept: list[Any]
) -> list[str]:
    """`kept`: what we hold ourselves, alive so that no other object gets its id."""
    ways: list[tuple[Any, list[str]]] = [(target, [])]
    kept.append(ways)
    passed = {id(each) for each in [target, ours, kept, *ours, *kept]}
    for _ in range(_MOST_LINKS):
        further: list[tuple[Any, list[str]]] = []
        for held, way in ways:
            if id(held) in variables:
                return [*way, variables[id(held)]]
            if time.thread_time() > deadline:
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
        # What functions inside of it use as well is in a cell, and the variable is what that holds.
        value = held.cell_contents if isinstance(held, CellType) else held
        name = next((key for key, each in holder.f_locals.items() if each is value), None)
        what = f"variable {name!r} of" if name is not None else "function"
        return f"{what} {holder.f_code.co_name} ({file}:{holder.f_lineno})"
    if isinstance(holder, dict):
        key = next((key for key, value in list(holder.items()) if value is held), None)
        module = _module_with(holder)
        if module is not None:
            return f"variable {key!r} of {module.__name__} ({_file_of(module)})"
        return f"key {str(key)[:40]!r} of a dict of {len(holder)}" if key is not None else "dict"
    if isinstance(holder, (list, tuple, set)):
        return f"{type(holder).__name__} of {len(holder)}"
    if isinstance(holder, FunctionType):
        return f"function {holder.__qualname__}"
    return _described(holder)


def _file_of(module: ModuleType) -> str:
    """Python takes its file's name from a script that has ended."""
    path = getattr(module, "__file__", None) or getattr(getattr(module, "__loader__", None), "path", None)
    if not path and module.__name__ == "__main__":
        path = sys.argv[0] if sys.argv else ""
    return os.path.basename(path or "") or "built in"


def _described(thing: Any) -> str:
    shape = getattr(thing, "shape", None)
    words = type(thing).__name__
    if type(thing).__module__.startswith("torch") and isinstance(shape, tuple):
        words += f" {list(shape)}"
        graph = getattr(thing, "grad_fn", None)
        if graph is not None:
            words += f", which keeps its graph ({type(graph).__name__})"
    return words
