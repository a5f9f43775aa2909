"""Whose code a file holds, and how its name is shown."""

from __future__ import annotations

import os
import site
import sys
import sysconfig
from types import CodeType

from telltale import _recorder


def path_prefixes() -> list[str]:
    """What to leave out of the names of Python files, as torch's own profiler does: where packages are installed.

    The longest first, each with the separator behind it.
    """
    folders = [*sys.path, *site.getsitepackages(), site.getusersitepackages()]
    absolute = {os.path.abspath(folder) + os.sep for folder in folders if isinstance(folder, str)}
    return sorted(absolute, key=lambda folder: (-len(folder), folder))


def library_folders() -> list[str]:
    """Where the standard library and installed packages are, each with the separator behind it."""
    paths = sysconfig.get_paths()
    folders = {paths[name] for name in ("stdlib", "platstdlib", "purelib", "platlib")}
    folders.update(site.getsitepackages(), [site.getusersitepackages()])
    return sorted(os.path.abspath(folder) + os.sep for folder in folders)


def own_folder() -> str:
    """Where this package is, whose functions are no part of the user's program."""
    return os.path.dirname(os.path.dirname(os.path.abspath(__file__))) + os.sep


def module_call() -> CodeType:
    """Of the function that calls a module, whose first argument it is."""
    from torch.nn import Module

    return Module._wrapped_call_impl.__code__


def describe_code() -> None:
    """Tells the recorder how to show the frames of stacks that it reads by itself."""
    from torch.nn import Module

    around = Module._call_impl.__code__
    _recorder.describe_code(path_prefixes(), library_folders(), own_folder(), module_call(), around)
