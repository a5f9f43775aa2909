"""From measurements to the truth that a diagnosis is compared with."""

import ast
import json
import re
from pathlib import Path

from planting.case import CASES, Case

NOTE = (
    "step_ms: the unprofiled faulty step, in the process and just before the trace was recorded. gains: percent of the "
    "step saved by each fix applied alone, unprofiled, both sides in one process that had recorded nothing; "
    "larger_batch: per sample at twice the batch. noise_percent: how far apart three plain runs are, two of them in "
    "one process; clear: the planted fix gains more than the noise. skipped: fixes not measured, and why. peak_mib: "
    "device memory at its highest, by fix (none: the faulty step). source: the function at fault in the program "
    "that was recorded, by the line of its def. nostack_step_ms: as step_ms, for the trace CASE.nostack.json.gz. "
    "trace: its file, where that is not CASE.json.gz, of a recording by `telltale record`; there step_ms was timed in a "
    "process of its own, just before, and run_step_ms is the median step as the recorded program saw it."
)

FAULTY, FAULTY_AGAIN, RECORDED, RECORDED_NOSTACK = "none", "none again", "recorded", "recorded without stacks"
NO_FIXES = (FAULTY, FAULTY_AGAIN, RECORDED, RECORDED_NOSTACK)


def sources_of_faults() -> dict[str, dict]:
    """Finds the comments `# fault: case ...` in our programs: the function that a diagnosis should name, and its line.

    The line is that of the `def`, since that is the one that a trace knows.
    """
    found, root = {}, Path(__file__).parent
    for path in sorted(root.rglob("*.py")):
        text = path.read_text()
        functions = [node for node in ast.walk(ast.parse(text)) if isinstance(node, ast.FunctionDef)]
        for number, line in enumerate(text.splitlines(), 1):
            mark = re.search(r"# fault: ([\w ]+)$", line)
            if not mark:
                continue
            around = [f for f in functions if f.lineno <= number <= f.end_lineno]
            innermost = max(around, key=lambda f: f.lineno)
            for name in mark[1].split():
                file = path.relative_to(root.parent).as_posix()
                found[name] = {"file": file, "line": innermost.lineno, "function": innermost.name}
    return found


def row_of(case: Case, measurements: dict[str, dict]) -> dict | None:
    """One case's truth, from what was measured of it under each fix; None while the essentials are missing."""
    plain = [measurements[run]["ms"] for run in (FAULTY, FAULTY_AGAIN) if "ms" in measurements.get(run, {})]
    if len(plain) < 2 or RECORDED not in measurements:
        return None
    faulty = sum(plain) / 2
    plain.append(measurements[RECORDED]["ms"])
    noise = 100 * (max(plain) - min(plain)) / faulty
    fixes = {fix: m for fix, m in measurements.items() if fix not in NO_FIXES}
    gains = {fix: round(100 * (1 - m["ms"] / faulty), 1) for fix, m in fixes.items() if "ms" in m}
    row = {
        "case": case.name,
        "cause": case.cause,
        "fix": case.fix,
        "fix_id": case.fix_id,
        "step_ms": round(measurements[RECORDED]["ms"], 3),
        "noise_percent": round(noise, 1),
    }
    if "ms" in (nostack := measurements.get(RECORDED_NOSTACK, {})):
        row["nostack_step_ms"] = round(nostack["ms"], 3)
    if case.fix_id in gains:
        row |= {"gain_percent": gains[case.fix_id], "clear": gains[case.fix_id] > noise}
    row["gains"] = dict(sorted(gains.items(), key=lambda item: -item[1]))
    row["skipped"] = {fix: m["skipped"] for fix, m in fixes.items() if "skipped" in m}
    row["peak_mib"] = {fix: m["peak_mib"] for fix, m in measurements.items() if "peak_mib" in m and fix != FAULTY_AGAIN}
    if case.name in (sources := sources_of_faults()):
        row["source"] = sources[case.name]
    return row


def cases_in(path: Path) -> set[str]:
    return {row["case"] for row in json.loads(path.read_text())["cases"]} if path.exists() else set()


def merge_into(path: Path, machine: dict[str, str], rows: list[dict]) -> None:
    """Replaces or adds the rows of a truth file, and leaves its other rows alone."""
    known = {row["case"]: row for row in json.loads(path.read_text())["cases"]} if path.exists() else {}
    known |= {row["case"]: row for row in rows}
    order = list(CASES)
    cases = sorted(known.values(), key=lambda row: order.index(row["case"]) if row["case"] in order else len(order))
    path.write_text(json.dumps({**machine, "note": NOTE, "cases": cases}, indent=1) + "\n")
