"""Kernels of CUDA graphs know where they come from: the operator and the line at capture, also where that was before
the recording."""

import re
import sys
from pathlib import Path

from check import TELLTALE, claim, figure, keep, run, work_folder
from traces import columns

import telltale

SCRIPT = Path(__file__).resolve().parent / "scripts" / "captured.py"
STEPS = 40
KERNELS = 12  # in the graph, at least: two products, a sigmoid and a tanh for each of three blocks


def lines_of_graph() -> dict[str, set[int]]:
    """By operator, the lines of the script that call it."""
    first, second = (
        number
        for number, line in enumerate(SCRIPT.read_text().splitlines(), 1)
        if line.endswith(("# a line of the graph", "# another one"))
    )
    return {"aten::addmm": {first, second}, "aten::sigmoid": {second}, "aten::tanh": {second}}


def operator_for(kernel: str) -> str:
    return next((f"aten::{word}" for word in ("sigmoid", "tanh") if word in kernel), "aten::addmm")


def operator_around(events: dict[str, list], event: int | None) -> str:
    while event is not None and events["kind"][event] != "operator":
        event = events["parent"][event]
    return events["name"][event] if event is not None else ""


def check(what: str, path: Path, with_operators: bool) -> None:
    trace = telltale.load(path)
    events, nodes, origins = columns(trace.events()), columns(trace.graph_nodes), columns(trace.graph_origins)
    kernels = [event for event in nodes["event"] if events["kind"][event] == "kernel"]
    claim(f"{what}: kernels of the graph", len(kernels) >= 3 * KERNELS, str(len(kernels)), f"≥ {3 * KERNELS}")
    known = dict(zip(origins["event"], zip(origins["captured_in"], origins["call_stack"])))
    wanted, wrong = lines_of_graph(), []
    lost = [event for event in kernels if event not in known]
    for event in kernels:
        captured_in, stack = known.get(event, (None, None))
        operator = operator_for(events["name"][event])
        found = re.search(r"captured\.py\((\d+)\)", stack or "")
        if not found or int(found[1]) not in wanted[operator]:
            wrong.append((events["name"][event][:60], stack))
        elif with_operators and operator_around(events, captured_in) != operator:
            wrong.append((events["name"][event][:60], operator_around(events, captured_in)))
    for each in wrong[:10]:
        print("  ", each)
    claim(
        f"{what}: whose capture is known", not lost and bool(kernels), f"all but {len(lost)} of {len(kernels)}", "all"
    )
    claim(
        f"{what}: with their {'operator and ' if with_operators else ''}line",
        not wrong and bool(kernels),
        f"{len(wrong)} wrong of {len(kernels)}",
        "0",
    )


def recorded(name: str, *options: str) -> Path:
    path = work_folder() / f"{name}.tell"
    done = run([TELLTALE, "record", *options, "-o", str(path), "--", sys.executable, str(SCRIPT), str(STEPS)], 60)
    figure(f"{name}: telltale record", f"exit status {done.returncode}")
    keep(path)
    return path


def main() -> int:
    check("graph captured in the recording", recorded("graph_inside", "--no-pauses"), with_operators=True)
    schedule = ("--wait", "8", "--warmup", "2", "--active", "10", "--repeat", "1")
    check("graph captured before the recording", recorded("graph_before", *schedule), with_operators=False)
    return 0


if __name__ == "__main__":
    sys.exit(main())
