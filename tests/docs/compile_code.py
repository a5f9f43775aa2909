#!/usr/bin/env python3
"""Compiles the C and C++ that Markdown files show.

    compile_code.py --include FOLDER [--cxx COMPILER] [--cc COMPILER] FILE.md …

Each ```c and ```cpp block is a source file of its own, behind the standard headers that prose would only lengthen.
"""

import argparse
import re
import subprocess
import sys
from pathlib import Path

FENCE = re.compile(r"^```(c|cpp)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
STANDARD = {"c": "-std=c99", "cpp": "-std=c++17"}
USUAL = {"c": "", "cpp": "#include <cstdio>\n#include <cstdlib>\n#include <string>\n"}
WARNINGS = ["-Wall", "-Wextra", "-Wpedantic", "-Werror"]


def failures_in(markdown, compilers, include):
    text = markdown.read_text()
    blocks = list(FENCE.finditer(text))
    failures = 0
    for block in blocks:
        language, code = block.groups()
        line = text.count("\n", 0, block.start()) + 2
        source = f'{USUAL[language]}#line {line} "{markdown.name}"\n{code}'
        command = [compilers[language], STANDARD[language], *WARNINGS, f"-I{include}", "-fsyntax-only",
                   "-x", "c" if language == "c" else "c++", "-"]
        done = subprocess.run(command, input=source, encoding="utf-8", stderr=subprocess.PIPE)
        if done.returncode != 0:
            failures += 1
            print(done.stderr)
    print(f"{markdown}: {len(blocks)} blocks of code, {failures} failed")
    return failures


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--include", type=Path, required=True)
    parser.add_argument("--cc", default="cc")
    parser.add_argument("--cxx", default="c++")
    parser.add_argument("markdown", type=Path, nargs="+")
    arguments = parser.parse_args()
    compilers = {"c": arguments.cc, "cpp": arguments.cxx}
    failures = sum(failures_in(markdown, compilers, arguments.include) for markdown in arguments.markdown)
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
