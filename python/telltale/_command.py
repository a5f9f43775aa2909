"""The command ``telltale``: becomes the program in this package, so that signals and exit codes are its own."""

from __future__ import annotations

import os
import sys
from pathlib import Path

PROGRAM = Path(__file__).parent / "bin" / "telltale"


def main() -> int:
    """Replaces this process; returns only where there is no program to become."""
    try:
        os.execv(PROGRAM, ["telltale", *sys.argv[1:]])
    except OSError as error:
        reason = "was built to record only" if not PROGRAM.exists() else f"cannot run {PROGRAM}: {error.strerror}"
        print(f"telltale: this installation {reason}", file=sys.stderr)
        return 2


if __name__ == "__main__":
    sys.exit(main())
