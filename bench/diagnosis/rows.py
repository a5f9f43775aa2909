"""The rows of a folder's truth.json, each with its trace."""

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from halves import half_of

TRUTH_KEYS = ("case", "cause", "fix_id", "step_ms", "noise_percent", "gains")


class BadInput(Exception):
    """A sentence for the user."""


@dataclass
class Row:
    truth: dict[str, Any]  # of this trace: the times of the step are its own
    trace: Path
    half: str


def rows_of(folder: Path) -> list[Row]:
    """A program that was recorded without stacks too makes two rows."""
    path = folder / "truth.json"
    try:
        cases = json.loads(path.read_text(encoding="utf-8"))["cases"]
    except OSError as error:
        raise BadInput(f"{path} cannot be read: {error.strerror}") from error
    except (ValueError, KeyError, TypeError) as error:
        raise BadInput(f"{path} is not a JSON object with a list of cases") from error
    if not isinstance(cases, list) or not all(isinstance(case, dict) for case in cases):
        raise BadInput(f"{path} has no list of cases")
    rows = []
    for truth in cases:
        missing = [key for key in TRUTH_KEYS if key not in truth]
        if missing:
            raise BadInput(f"{path}: a case lacks {missing[0]}")
        name = truth["case"]
        trace = folder / truth.get("trace", f"{name}.json.gz")
        if not trace.is_file():
            raise BadInput(f"{folder} has no trace of the case {name}")
        rows.append(Row(truth, trace, half_of(name)))
        without_stacks = folder / f"{name}.nostack.json.gz"
        if "nostack_step_ms" in truth and without_stacks.is_file():
            rows.append(Row(truth_without_stacks(truth), without_stacks, half_of(name)))
    return rows


def truth_without_stacks(truth: dict[str, Any]) -> dict[str, Any]:
    """Such a trace knows no functions, so that none at fault can be named."""
    kept = {key: value for key, value in truth.items() if key != "source"}
    return {**kept, "case": f"{truth['case']} (no stacks)", "step_ms": truth["nostack_step_ms"]}
