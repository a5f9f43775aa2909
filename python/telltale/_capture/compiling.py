"""Whether a compiler traces through the code at hand, which must then find nothing that it cannot compile."""

from __future__ import annotations


def is_compiling() -> bool:
    import torch

    ask = getattr(torch.compiler, "is_compiling", None)  # since 2.3
    return bool(ask()) if ask is not None else False
