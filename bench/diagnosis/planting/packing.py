"""Packs a folder of results into a few tar files of bounded size, for machines that give back few files."""

import tarfile
from pathlib import Path

LARGEST_BYTES = 15 << 20
BYTES_AROUND_A_FILE = 1024  # its header, and the padding of its end


def pack(folder: Path, into: Path) -> list[Path]:
    """Writes results_0.tar, results_1.tar and so on: the small files first, then the traces."""
    groups: list[list[Path]] = [[]]
    room = LARGEST_BYTES
    for path in sorted(folder.iterdir(), key=lambda path: (path.name.endswith(".gz"), path.name)):
        size = path.stat().st_size + BYTES_AROUND_A_FILE
        if size > room and groups[-1]:
            groups.append([])
            room = LARGEST_BYTES
        groups[-1].append(path)
        room -= size
    into.mkdir(parents=True, exist_ok=True)
    written = []
    for number, group in enumerate(groups):
        written.append(into / f"results_{number}.tar")
        with tarfile.open(written[-1], "w") as packed:
            for path in group:
                packed.add(path, path.name)
    return written
