"""Where PyTorch is and what it was built like, without importing it."""

from __future__ import annotations

import importlib.util
import re
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class TorchPlace:
    """The PyTorch of this interpreter."""

    folder: Path
    version: str

    @property
    def release(self) -> tuple[int, int]:
        """(2, 13) of "2.13.0+cpu"; (0, 0) of what does not read like a version."""
        numbers = re.match(r"(\d+)\.(\d+)", self.version)
        return (int(numbers[1]), int(numbers[2])) if numbers else (0, 0)

    @property
    def libraries(self) -> Path:
        return self.folder / "lib"

    def has_new_strings(self) -> bool:
        """Whether it was compiled with C++11's std::string: old wheels were not.

        Told by the name that the linker has for a function which takes one.
        """
        library = (self.libraries / "libc10.so").read_bytes()
        return re.search(rb"torchCheckFail\w*RKSs\b", library) is None

    def has_cuda(self) -> bool:
        return (self.libraries / "libc10_cuda.so").exists()


def find_torch() -> TorchPlace | None:
    """None when there is no PyTorch, or none with headers to compile against."""
    spec = importlib.util.find_spec("torch")
    if spec is None or spec.origin is None:
        return None
    folder = Path(spec.origin).parent
    try:
        text = (folder / "version.py").read_text()
    except OSError:
        return None
    version = re.search(r"^__version__ *= *['\"]([^'\"]+)['\"]", text, re.MULTILINE)
    return TorchPlace(folder, version[1]) if version else None
