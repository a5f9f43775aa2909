"""What is to be done once the program has initialized CUDA."""

from __future__ import annotations

from collections.abc import Callable

from telltale._inject.telltale_say import say_once

_waiting: dict[str, Callable[[], None]] = {}  # by what is not recorded if it fails


def when_cuda_is_there(what: str, act: Callable[[], None]) -> None:
    """Acts now where CUDA is initialized already, and otherwise within torch's own initialization, just after CUDA's.

    One of each `what` waits, the last one asked for: those before it have ended. torch keeps what it is given for good,
    so that it gets one call of ours for each.
    """
    import torch

    if torch.cuda.is_initialized():
        act()
        return
    is_queued = what in _waiting
    _waiting[what] = act
    if not is_queued:
        torch.cuda._lazy_call(lambda: _act(what))


def _act(what: str) -> None:
    act = _waiting.get(what)
    if act is None:
        return
    try:
        act()
    except Exception as error:  # the program's initialization must not fail because of us
        say_once(f"{what} is not recorded: {error}")
