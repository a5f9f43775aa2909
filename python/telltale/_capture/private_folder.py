"""Folders that only this user can change: what is loaded into a process is kept in no other."""

from __future__ import annotations

import contextlib
import os
import stat
from pathlib import Path


class NotOurs(Exception):
    """Why something is not used, in a sentence without its end, with what to do."""


class PrivateFolder:
    """An open folder of this user's. All that is done in it is done in this very folder, wherever its path leads."""

    def __init__(self, path: Path, descriptor: int) -> None:
        self.path = path
        self._descriptor = descriptor

    @staticmethod
    def at(path: Path) -> PrivateFolder:
        """Made, for this user alone, where it is missing."""
        missing = [folder for folder in (path, *path.parents) if not folder.exists()]
        for folder in reversed(missing):
            _make(folder)
        status = path.lstat()
        if stat.S_ISLNK(status.st_mode) and status.st_uid not in (os.geteuid(), 0):
            raise NotOurs(f"{path} is a link of another user; remove it, or set TELLTALE_CACHE to a folder of yours")
        return _opened(path, os.open(path, os.O_RDONLY | os.O_DIRECTORY))

    def folder(self, name: str) -> PrivateFolder:
        """One in it, by the same rules; never a link."""
        _make(name, self._descriptor)
        flags = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW
        return _opened(self.path / name, os.open(name, flags, dir_fd=self._descriptor))

    def open(self, name: str, flags: int) -> int:
        """A file in it, for this user alone where it is made."""
        return os.open(name, flags | os.O_NOFOLLOW | os.O_NONBLOCK, 0o600, dir_fd=self._descriptor)

    def open_own(self, name: str) -> int:
        """One that is there, to be read; only where nobody else can have written to it."""
        file = self.open(name, os.O_RDONLY)
        _check(self.path / name, file)
        return file

    def has(self, name: str) -> bool:
        try:
            return stat.S_ISREG(os.lstat(name, dir_fd=self._descriptor).st_mode)
        except FileNotFoundError:
            return False

    def replace(self, name: str, other: str) -> None:
        """Gives a file the name of another one."""
        os.replace(name, other, src_dir_fd=self._descriptor, dst_dir_fd=self._descriptor)

    def place(self) -> str:
        """Its path, for a child process that is to work in it."""
        place = f"/proc/self/fd/{self._descriptor}"
        return place if os.path.exists(place) else str(self.path)

    def close(self) -> None:
        os.close(self._descriptor)


def _make(folder: Path | str, inside: int | None = None) -> None:
    with contextlib.suppress(FileExistsError):
        os.mkdir(folder, 0o700, dir_fd=inside)


def _opened(path: Path, descriptor: int) -> PrivateFolder:
    try:
        _check(path, descriptor)
    except NotOurs:
        os.close(descriptor)
        raise
    return PrivateFolder(path, descriptor)


def _check(path: Path, descriptor: int) -> None:
    status = os.fstat(descriptor)
    if status.st_uid != os.geteuid():
        raise NotOurs(f"{path} belongs to another user; remove it, or set TELLTALE_CACHE to a folder of yours")
    if status.st_mode & (stat.S_IWGRP | stat.S_IWOTH):
        raise NotOurs(f"others may write to {path}; remove it, or set TELLTALE_CACHE to a folder of yours")
