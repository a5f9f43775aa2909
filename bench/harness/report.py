"""The results as Markdown: for the terminal, and for the marked part of RESULTS.md."""

from pathlib import Path

from harness.goals import Goal
from harness.measure import Measurement

END = "<!-- end of results -->"


def results(machine: dict[str, str], goals: list[Goal], measurements: list[Measurement], notes: list[str]) -> str:
    parts = [
        table(["", ""], [[key, value] for key, value in machine.items()], "ll"),
        goals_table(goals),
        table(["file", "program", "best", "median", "text read", "peak memory"],
              [_row(measurement) for measurement in measurements], "llrrrr"),
    ]
    if notes:
        parts.append("\n".join(f"- {note}" for note in notes))
    return "\n\n".join(parts)


def goals_table(goals: list[Goal]) -> str:
    return table(["goal", "wanted", "measured", ""],
                 [[goal.what, goal.wanted_text, goal.measured_text, goal.verdict] for goal in goals], "lrrl")


def write_between_markers(page: Path, text: str, script: str) -> None:
    """Replaces what the script wrote there the last time."""
    begin = f"<!-- results: written by {script} -->"
    before, found, rest = page.read_text().partition(begin)
    assert found, f"{page} has no place for the results of {script}"
    _, _, after = rest.partition(END)
    page.write_text(f"{before}{begin}\n\n{text}\n\n{END}{after}")


def _row(measurement: Measurement) -> list[str]:
    peak = measurement.peak_bytes
    return [
        measurement.file.name,
        measurement.program,
        _seconds(measurement.best),
        _seconds(measurement.median),
        f"{measurement.bytes_per_second / 1e9:.3g} GB/s",
        f"{peak / 1e6:,.0f} MB" if peak else "–",
    ]


def _seconds(seconds: float) -> str:
    return f"{seconds * 1e3:.3g} ms" if seconds < 0.9995 else f"{seconds:.3g} s"


def table(titles: list[str], rows: list[list[str]], alignment: str) -> str:
    widths = [max(len(row[i]) for row in [titles, *rows]) for i in range(len(titles))]
    padded = [[cell.rjust(width) if side == "r" else cell.ljust(width)
               for cell, width, side in zip(row, widths, alignment)] for row in [titles, *rows]]
    rule = ["-" * (width - 1) + ":" if side == "r" else "-" * width for width, side in zip(widths, alignment)]
    return "\n".join("| " + " | ".join(row) + " |" for row in [padded[0], rule, *padded[1:]])
