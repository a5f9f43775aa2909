"""What the machine gives this process."""

from __future__ import annotations

import os
from pathlib import Path


def memory_bytes(proc: Path = Path("/proc"), groups: Path = Path("/sys/fs/cgroup")) -> int:
    """How much memory the process may use: that of the machine, or less where a control group limits it."""
    limits = [os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")]
    for group in _groups_of_memory(proc, groups):
        for name in ("memory.max", "memory.limit_in_bytes"):
            try:
                limits.append(int((group / name).read_text()))
            except (OSError, ValueError):  # not there, or "max"
                continue
    return min(limits)


def has_bf16_instructions(proc: Path = Path("/proc")) -> bool:
    """Whether the CPU multiplies bfloat16 by instructions of its own, as x86 and Arm CPUs tell it."""
    try:
        lines = (proc / "cpuinfo").read_text(errors="replace").splitlines()
    except OSError:
        return False
    features = next((line for line in lines if line.startswith(("flags", "Features"))), "")
    return not {"avx512_bf16", "amx_bf16", "bf16"}.isdisjoint(features.split())


def _groups_of_memory(proc: Path, groups: Path) -> list[Path]:
    """The process's group and all that it lies in; where a container hides the path, its root."""
    found = [groups, groups / "memory"]
    try:
        lines = (proc / "self" / "cgroup").read_text().splitlines()
    except OSError:
        return found
    for line in lines:
        _, controllers, path = line.split(":", 2)
        if controllers not in ("", "memory"):
            continue
        group = groups / controllers / path.strip("/")
        while group not in found and group.is_relative_to(groups / controllers):
            found.append(group)
            group = group.parent
    return found
