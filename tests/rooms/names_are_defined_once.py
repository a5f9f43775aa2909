#!/usr/bin/env python3
"""A type of a namespace has one definition in all rooms: of two, the linker takes parts of either, and no compiler says so.

    names_are_defined_once.py ROOT

Types of unnamed namespaces and of tests do not count: nobody else sees them."""
import re
import sys
from collections import defaultdict
from pathlib import Path

OPENS = re.compile(r"^(?:inline )?namespace ?([\w:]*) \{")
CLOSES = re.compile(r"^\}  // namespace")
DEFINES = re.compile(r"^(?:struct|class|enum class) (\w+)(?: final)?(?: :[^:;]*)? \{")


def definitions(path: Path) -> list[str]:
    names, around = [], []
    for line in path.read_text(encoding="utf-8").splitlines():
        if opened := OPENS.match(line):
            around.append(opened[1])
        elif CLOSES.match(line) and around:
            around.pop()
        elif (defined := DEFINES.match(line)) and "" not in around:
            names.append("::".join([*around, defined[1]]))
    return names


def main() -> int:
    places = defaultdict(set)
    for path in sorted(Path(sys.argv[1], "src").rglob("*.[hc]*")):
        if not path.stem.endswith("_test") and "testing" not in path.parts:
            for name in definitions(path):
                places[name].add(str(path))
    if len(places) < 100:
        print(f"only {len(places)} types were found: the way in which they are looked for is wrong")
        return 1
    twice = {name: sorted(paths) for name, paths in places.items() if len(paths) > 1}
    for name, paths in twice.items():
        print(f"{name} is defined in {' and in '.join(paths)}")
    return 1 if twice else 0


if __name__ == "__main__":
    sys.exit(main())
