"""Fails where our code asks for a variable of the environment without secure_getenv(): no_plain_getenv.py FOLDER.

Tests are free to; programs in examples/ are users' programs.
"""

import re
import sys
from pathlib import Path

PLAIN = re.compile(r"(?<!secure_)\bgetenv\s*\(|\benviron\b(?!\")")
ALLOWED = {"src/capture/run/child.cpp", "src/cli/browser.cpp"}  # hand the whole environment on to another program


def plain_uses(root: Path) -> list[str]:
    uses = []
    for folder in ("src", "include", "python/bindings"):
        for path in sorted((root / folder).rglob("*")):
            name = str(path.relative_to(root))
            if path.suffix not in {".h", ".hpp", ".cpp", ".c"} or path.stem.endswith("_test") or name in ALLOWED:
                continue
            for number, line in enumerate(path.read_text().splitlines(), 1):
                if PLAIN.search(line.partition("//")[0]):
                    uses.append(f"{name}:{number}: {line.strip()}")
    return uses


def main() -> int:
    root = Path(sys.argv[1])
    assert PLAIN.search('std::getenv("X")') and not PLAIN.search('secure_getenv("X")')
    assert (root / "src" / "record").is_dir(), "there is nothing to look at"
    uses = plain_uses(root)
    print("\n".join(uses) or "none")
    return 1 if uses else 0


sys.exit(main())
