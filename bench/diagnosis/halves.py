#!/usr/bin/env python3
"""Which half of all programs one belongs to, by a hash of its name: nobody chooses, and it never changes.

Constants may be fitted on the fit half alone. The held half says what they are worth. As a program, prints the names of
one half of the cases in folders with a truth.json: halves.py fit FOLDER...
"""

import hashlib
import json
import sys
from pathlib import Path

HALVES = ("fit", "held")


def half_of(program: str) -> str:
    return HALVES[hashlib.sha256(program.encode()).digest()[0] & 1]


def main() -> int:
    if len(sys.argv) < 3 or sys.argv[1] not in HALVES:
        print("usage: halves.py fit|held FOLDER...", file=sys.stderr)
        return 2
    for folder in sys.argv[2:]:
        for row in json.loads((Path(folder) / "truth.json").read_text(encoding="utf-8"))["cases"]:
            if half_of(row["case"]) == sys.argv[1]:
                print(row["case"])
    return 0


if __name__ == "__main__":
    sys.exit(main())
