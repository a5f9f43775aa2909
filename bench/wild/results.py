"""From the runs of the planted programs to a row each, and to the goals."""

import re
import statistics
from dataclasses import asdict, dataclass

from cases import Planted
from harness import report
from harness.goals import Goal

NEAR = 10  # points between promise and gain
LONG_MS, LONG_SLOWDOWN = 5.0, 10.0
SHORT_MS, SHORT_SLOWDOWN = 1.0, 25.0
TIME = re.compile(r"([\d.]+) (ms|us) per (?:step|sample|request|text)")


def times(output: str) -> dict:
    """What a program says of itself: what a step takes, and what its fix makes shorter, which is mostly the same."""
    found = [float(value) / (1 if unit == "ms" else 1000) for value, unit in TIME.findall(output)]
    return {"unit_ms": found[0], "step_ms": found[-1]}


@dataclass
class Row:
    name: str
    fault: str
    step_ms: float | None = None
    slowdown: float | None = None  # percent
    ranks: list[int | None] | None = None
    promised: float | None = None  # percent
    gained: float | None = None  # percent
    noise: float | None = None  # points: how far the gain lies from itself between rounds
    first_finding: str = ""
    failed: str = ""

    @staticmethod
    def of(case: Planted, runs: dict[str, list[dict]]) -> "Row":
        failures = [run["failed"] for mode in runs.values() for run in mode if "failed" in run]
        if failures:
            return Row(case.name, case.fault, failed=failures[0])
        plain, recorded, fixed = ([run["unit_ms"] for run in runs[mode]] for mode in ("plain", "recorded", "fixed"))
        gains = [100 * (1 - mended / faulty) for mended in fixed for faulty in plain]
        promises = [run["promised"] for run in runs["recorded"] if run["promised"] is not None]
        findings = runs["recorded"][0]["findings"]
        return Row(case.name, case.fault, statistics.median(run["step_ms"] for run in runs["plain"]),
                   100 * (statistics.median(recorded) / statistics.median(plain) - 1),
                   [run["rank"] for run in runs["recorded"]], statistics.median(promises) if promises else None,
                   100 * (1 - statistics.median(fixed) / statistics.median(plain)), (max(gains) - min(gains)) / 2,
                   findings[0]["rule"] if findings else "nothing")

    @property
    def is_found(self) -> bool:
        """First or second in most rounds."""
        ranks = self.ranks or []
        return 2 * sum(rank is not None and rank <= 2 for rank in ranks) > len(ranks)

    @property
    def is_near(self) -> bool:
        return (self.promised is not None and self.gained is not None
                and abs(self.promised - self.gained) <= max(NEAR, self.noise or 0))

    def as_json(self) -> dict:
        return {**asdict(self), "is_found": self.is_found, "is_near": self.is_near}


def table(rows: list[Row]) -> str:
    titles = ["program", "fault", "step", "recorded", "rank", "promised", "gained", "noise", "near", "first finding"]
    return report.table(titles, [_cells(row) for row in rows], "llrrrrrrll")


def _cells(row: Row) -> list[str]:
    if row.failed:
        return [row.name, row.fault, *["–"] * 7, "failed: " + " ".join(row.failed.split())[:200]]
    ranks = ", ".join(str(rank) if rank else "–" for rank in row.ranks or [])
    return [row.name, row.fault, f"{row.step_ms:.3g} ms", f"{row.slowdown:+.0f} %", ranks,
            "–" if row.promised is None else f"{row.promised:.0f} %", f"{row.gained:.0f} %", f"± {row.noise:.0f}",
            "yes" if row.is_near else "no", row.first_finding]


def goals(rows: list[Row]) -> list[Goal]:
    """Three quarters of the programs, as 9 of 12 are; and what recording may cost, each program by itself."""
    wanted = -(-3 * len(rows) // 4)
    made = [Goal("fault named first or second", wanted, sum(row.is_found for row in rows), True, f"of {len(rows)}"),
            Goal("promised within 10 points of the gain, or noise", wanted, sum(row.is_near for row in rows), True,
                 f"of {len(rows)}")]
    measured = [row for row in rows if row.slowdown is not None]
    for what, chosen, limit in [
        (f"slowdown of steps of {LONG_MS:g} ms and more", [row for row in measured if row.step_ms >= LONG_MS], LONG_SLOWDOWN),
        (f"slowdown of steps under {SHORT_MS:g} ms", [row for row in measured if row.step_ms < SHORT_MS], SHORT_SLOWDOWN),
    ]:
        if chosen:
            worst = max(chosen, key=lambda row: row.slowdown)
            made.append(Goal(f"{what}, the worst ({worst.name})", limit, worst.slowdown, False, "%"))
            made.append(Goal(f"{what}, the median", limit, statistics.median(row.slowdown for row in chosen), False, "%"))
    return made
