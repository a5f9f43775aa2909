"""What to leave out of the names of Python files, as torch's own profiler does: where packages are installed."""

from __future__ import annotations

import os
import site
import sys


def path_prefixes() -> list[str]:
    """The longest first, each with the separator behind it."""
    folders = [*sys.path, *site.getsitepackages(), site.getusersitepackages()]
    absolute = {os.path.abspath(folder) + os.sep for folder in folders if isinstance(folder, str)}
    return sorted(absolute, key=lambda folder: (-len(folder), folder))
