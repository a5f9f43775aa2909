#!/usr/bin/env python3
"""Runs the Python that Markdown files show, and compares what it prints with what the files say it prints.

    run_python.py --root REPOSITORY FILE.md …

All ```pycon blocks of a file are one session, in REPOSITORY. "…" stands for any text, as elsewhere in the documentation.
"""

import argparse
import doctest
import os
import re
import sys
from pathlib import Path

FENCE = re.compile(r"^```(\w*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def session_of(markdown):
    """The text with all that is not Python blanked, so that lines keep their numbers."""
    kept, end = [], 0
    for block in FENCE.finditer(markdown):
        kept.append("\n" * markdown.count("\n", end, block.start(2)))
        body = block.group(2)
        kept.append(body if block.group(1) == "pycon" else "\n" * body.count("\n"))
        end = block.end(2)
    return "".join(kept).replace("…", "...")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--root", type=Path, required=True)
    parser.add_argument("markdown", type=Path, nargs="+")
    arguments = parser.parse_args()
    files = [path.resolve() for path in arguments.markdown]
    os.chdir(arguments.root)

    failed = 0
    for path in files:
        test = doctest.DocTestParser().get_doctest(session_of(path.read_text(encoding="utf-8")), {}, path.name, str(path), 0)
        result = doctest.DocTestRunner(optionflags=doctest.ELLIPSIS).run(test)
        print(f"{path}: {result.attempted} lines of Python, {result.failed} failed")
        failed += result.failed
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
