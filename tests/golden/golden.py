#!/usr/bin/env python3
"""Compares what a command prints with the text that stands below it.

    golden.py TELLTALE TEXT …

The first line of a text is the command, with variables of the environment before it:

    $ COLUMNS=80 telltale info examples/traces/resnet50_train.json.gz

With UPDATE_GOLDEN=1 in the environment the texts are rewritten instead.
"""
import difflib
import os
import shlex
import subprocess
import sys
from pathlib import Path


def printed_by(telltale, command):
    words = shlex.split(command.removeprefix("$ "))
    program = words.index("telltale")
    environment = os.environ | dict(word.split("=", 1) for word in words[:program])
    done = subprocess.run([telltale, *words[program + 1 :]], env=environment, capture_output=True)
    return (done.stdout + done.stderr).decode()


def main():
    telltale, *paths = sys.argv[1:]
    has_failed = False
    for path in map(Path, paths):
        command, _, expected = path.read_bytes().decode().partition("\n")
        actual = printed_by(telltale, command)
        if actual == expected:
            continue
        if os.environ.get("UPDATE_GOLDEN"):
            path.write_bytes(f"{command}\n{actual}".encode())
            continue
        has_failed = True
        lines = difflib.unified_diff(expected.splitlines(True), actual.splitlines(True), str(path), "printed now")
        sys.stdout.writelines(lines)
        print("If the new text is right: UPDATE_GOLDEN=1 ctest -R golden")
    sys.exit(1 if has_failed else 0)


if __name__ == "__main__":
    main()
