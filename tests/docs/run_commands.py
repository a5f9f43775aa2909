#!/usr/bin/env python3
"""Runs the commands that Markdown files show, and compares what they print with what the files say they print.

    run_commands.py --path FOLDER_OF_TELLTALE --root REPOSITORY [FILE.md …]      default: all our documentation

A command is a line after "$ " in a ```console block; the lines below it, up to the next command, are what it prints.
"…" there stands for any text within a line and, alone on a line, for any number of lines. Behind the comment
"<!-- numbers vary -->" any amount may stand for another one: 933 KiB for 9.4 MiB, not for 9.4 s. A command that shows
no output may print what it likes. It must succeed, either way. A ```sh block is a script that must succeed.

`telltale view` is told to end when nobody comes. `python` is the interpreter that runs this script. A command that calls it is left out where that has no torch.

The commands run in a scratch folder that looks like the repository's root, so that what they write is thrown away;
only `make` runs in the root itself, where it finds what is built already.
"""

import argparse
import importlib.util
import os
import re
import subprocess
import sys
import tempfile
from dataclasses import dataclass, field
from pathlib import Path

FENCE = re.compile(r"^```(\w*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
ANY = "…"

VARIES = "<!-- numbers vary -->\n"
NUMBER = re.compile(r"\d[\d.,]*")
# A number that varies may be written with another unit of the family.
UNITS = [("ns", "µs", "ms", "s", "min"), ("B", "KiB", "MiB", "GiB")]

# These run the tests, take minutes or write outside the repository: that they exist is all that is checked.
ONLY_LOOKED_UP = re.compile(r"^make (test|wheel|bench|fuzz|lint|format|install|clean)\b")

# Serves until somebody ends it. Here nobody comes, and it ends by itself.
SERVES = re.compile(r"^telltale view\b")
UNTIL_IDLE = " --no-browser --idle 0.02"


@dataclass
class Command:
    line: int
    text: str
    output: list = field(default_factory=list)
    varies: bool = False  # the numbers that it prints


def commands_in(markdown):
    """The commands in the text of a Markdown file, with what each is shown to print."""
    found = []
    for block in FENCE.finditer(markdown):
        language, body = block.groups()
        line = markdown.count("\n", 0, block.start()) + 1
        if language == "sh":
            found.append(Command(line, body))
            continue
        if language != "console":
            if re.search(r"^\$ ", body, re.MULTILINE):
                sys.exit(f"line {line}: a command outside of a ```console block, where nobody runs it")
            continue
        first_in_block = len(found)
        varies = markdown.endswith(VARIES, 0, block.start())
        for number, text in enumerate(body.splitlines(), line + 1):
            if text.startswith("$ "):
                found.append(Command(number, text[2:], varies=varies))
            elif len(found) == first_in_block:
                sys.exit(f"line {number}: output before the first command of its block")
            else:
                found[-1].output.append(text)
    return found


def pattern_of_text(text, varies):
    """What matches a part of a line; its numbers and the spaces around them stand for any others where they vary."""
    if not varies:
        return re.escape(text)
    first, *behind_numbers = [re.sub(r"(\\ )+", " +", re.escape(part)) for part in NUMBER.split(text)]
    return NUMBER.pattern.join([first, *map(with_any_unit, behind_numbers)])


def with_any_unit(behind_number):
    """The pattern of what stands behind a number; its unit stands for all of the unit's family."""
    match = re.match(r"( \+)(\S+?)(?=\W|$)", behind_number)
    family = next((units for units in UNITS if match and match[2] in units), None)
    if not family:
        return behind_number
    return f"{match[1]}(?:{'|'.join(family)}){behind_number[match.end():]}"


def pattern_of(output, varies=False):
    """The regular expression that text printed as `output` says must match."""
    lines = []
    for line in output:
        if line.strip() == ANY:
            lines.append(r"(?:.*\n)*?")
        else:
            lines.append(".*".join(pattern_of_text(part, varies) for part in line.split(ANY)) + r"\n")
    return re.compile("".join(lines))


def trimmed(lines):
    """The lines without spaces at their ends, and without empty lines before and after."""
    return "\n".join(line.rstrip() for line in lines).strip("\n").splitlines()


def failure_of(command, root, scratch, environment):
    """What is wrong with a command, or None."""
    text = command.text
    folder = root if text.startswith("make ") else scratch
    if ONLY_LOOKED_UP.match(text):
        text = text.replace("make", "make --dry-run", 1) + " > /dev/null"
    if SERVES.match(text):
        text += UNTIL_IDLE
    result = subprocess.run(["bash", "-e", "-o", "pipefail", "-c", text], cwd=folder, env=environment, text=True,
                            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    if result.returncode != 0:
        return f"ends with {result.returncode}:\n{result.stdout}"
    shown, printed = trimmed(command.output), trimmed(result.stdout.splitlines())
    if shown and not pattern_of(shown, command.varies).fullmatch("".join(line + "\n" for line in printed)):
        return "\n".join(["prints", *printed, "but is shown to print", *shown])
    return None


def can_run(command):
    """Installing for the user is never tried; what calls Python wants torch."""
    if command.text.startswith("pip install"):
        return False
    return importlib.util.find_spec("torch") is not None or not re.search(r"-- (python|torchrun)\b", command.text)


def documentation(root):
    return sorted(path for pattern in ("*.md", "docs/**/*.md", "bench/*.md", "fuzz/*.md", "examples/**/*.md")
                  for path in root.glob(pattern))


def failures_in(markdown, root, environment):
    """Runs the commands of one file, prints what is wrong, and returns how many failed."""
    commands = [command for command in commands_in(markdown.read_text()) if can_run(command)]
    failures = 0
    with tempfile.TemporaryDirectory() as folder:
        for entry in root.iterdir():
            Path(folder, entry.name).symlink_to(entry)
        for command in commands:
            failure = failure_of(command, root, folder, environment)
            if failure:
                failures += 1
                print(f"{markdown}:{command.line}: $ {command.text.strip()}\n{failure}\n")
    print(f"{markdown}: {len(commands)} commands, {failures} failed")
    return failures


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--path", type=Path, required=True)
    parser.add_argument("--root", type=Path, required=True)
    parser.add_argument("markdown", type=Path, nargs="*")
    arguments = parser.parse_args()

    folders = [str(arguments.path), str(Path(sys.executable).parent), os.environ["PATH"]]
    environment = os.environ | {"PATH": ":".join(folders), "NO_COLOR": "1", "COLUMNS": "100"}
    files = arguments.markdown or documentation(arguments.root)
    failures = sum(failures_in(markdown, arguments.root.resolve(), environment) for markdown in files)
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
