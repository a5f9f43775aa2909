"""What we want to reach, and whether we did."""

from dataclasses import dataclass


@dataclass
class Goal:
    what: str
    wanted: float
    measured: float | None  # None: not measured in this run
    at_least: bool  # otherwise at most
    unit: str = "×"

    @property
    def is_met(self) -> bool:
        return self.measured >= self.wanted if self.at_least else self.measured <= self.wanted

    @property
    def wanted_text(self) -> str:
        return f"{'≥' if self.at_least else '≤'} {self.wanted:g} {self.unit}"

    @property
    def measured_text(self) -> str:
        return "–" if self.measured is None else f"{self.measured:.3g} {self.unit}"

    @property
    def verdict(self) -> str:
        if self.measured is None:
            return "not measured"
        return "met" if self.is_met else "missed"


def at_least(what: str, wanted: float, measured: float | None) -> Goal:
    return Goal(what, wanted, measured, True)


def at_most(what: str, wanted: float, measured: float | None, unit: str = "×") -> Goal:
    return Goal(what, wanted, measured, False, unit)
