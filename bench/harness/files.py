"""The traces that are read: a real one, and longer ones made from it, plain and compressed."""

import gzip
import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path

COMPRESSORS = {".gz": ["gzip", "-6", "-c"], ".zst": ["zstd", "-q", "-3", "-c"]}


@dataclass(frozen=True)
class TraceFile:
    path: Path
    label: str  # "1 GB"
    text_bytes: int  # of the decompressed text

    @property
    def name(self) -> str:
        return f"{self.label} {''.join(self.path.suffixes)}"


def readable_size(size: int) -> str:
    """Three digits are noise in a label: 99,087,039 bytes are "100 MB"."""
    if size >= 950_000_000:
        return f"{size / 1e9:.0f} GB"
    if size >= 50_000_000:
        return f"{size / 1e6:.0f} MB"
    return f"{size / 1e6:.1f} MB"


def plain_copy(source: Path, folder: Path) -> TraceFile:
    """The source itself, decompressed."""
    stem = source.name.split(".json")[0]
    path = folder / f"{stem}.json"
    if _is_due(path, source):
        opener = gzip.open if source.suffix == ".gz" else open
        with opener(source, "rb") as packed, _finished(path) as plain:
            shutil.copyfileobj(packed, plain, 1 << 20)
    return _trace_file(path)


def repeated(source: TraceFile, copies: int, make_trace: Path) -> TraceFile:
    path = source.path.with_name(f"{source.path.stem}_x{copies}.json")
    if _is_due(path, source.path, make_trace):
        with open(source.path, "rb") as short, _finished(path) as long:
            subprocess.run([make_trace, "--copies", str(copies)], stdin=short, stdout=long,
                           stderr=subprocess.PIPE, check=True)
    return _trace_file(path)


def compressed(plain: TraceFile, suffix: str) -> TraceFile:
    path = plain.path.with_name(plain.path.name + suffix)
    if _is_due(path, plain.path):
        with open(plain.path, "rb") as text, _finished(path) as packed:
            subprocess.run(COMPRESSORS[suffix], stdin=text, stdout=packed, check=True)
    return TraceFile(path, plain.label, plain.text_bytes)


def warm(file: TraceFile) -> None:
    """Brings the file into the page cache, so that no run waits for a disk."""
    with open(file.path, "rb", buffering=0) as stream:
        while stream.read(1 << 24):
            pass


def _trace_file(path: Path) -> TraceFile:
    size = path.stat().st_size
    return TraceFile(path, readable_size(size), size)


def _is_due(path: Path, *origins: Path) -> bool:
    return not path.exists() or any(path.stat().st_mtime < origin.stat().st_mtime for origin in origins)


class _finished:
    """A file that bears its name only once it is complete."""

    def __init__(self, path: Path):
        self._path = path
        self._part = path.with_name(path.name + ".part")

    def __enter__(self):
        self._path.parent.mkdir(parents=True, exist_ok=True)
        self._file = open(self._part, "wb")
        return self._file

    def __exit__(self, error, *_):
        self._file.close()
        if error is None:
            self._part.rename(self._path)
        else:
            self._part.unlink()
