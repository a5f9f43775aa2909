"""What a case is, and the list of all of them."""

from collections.abc import Callable
from dataclasses import dataclass, field

from planting.workload import Workload


@dataclass(frozen=True)
class Plan:
    """Which variant of a case to build: the faulty one, or the faulty one with a single fix applied."""

    fix: str | None = None
    shrink: int = 1  # divides batches, to try a case's code where there is no GPU

    def has(self, fix: str) -> bool:
        return self.fix == fix

    def batch(self, size: int) -> int:
        return max(1, size * (2 if self.fix == "larger_batch" else 1) // self.shrink)


@dataclass(frozen=True)
class Case:
    name: str
    cause: str  # the rule that should find it; "none" for a program without a planted fault
    fix_id: str | None
    fix: str  # in words
    make: Callable[[Plan], Workload]
    also: tuple[str, ...] = ()  # more fixes that only this case knows how to apply
    without: dict[str, str] = field(default_factory=dict)  # fix that makes no sense here: why
    environment: dict[str, str] = field(default_factory=dict)  # of the process; the planted fix removes it
    warmups: int = 5
    steps: int | None = None  # steps in a row that is timed; None: as many as take about a fifth of a second, 3 to 40
    rows: int = 5
    stacks: bool = True  # recorded with Python frames
    nostack: bool = False  # recorded a second time, without them


CASES: dict[str, Case] = {}


def case(cause: str, fix_id: str | None, fix: str, **options):
    """Registers the function below it, which builds a variant of the case that has the function's name."""

    def register(make: Callable[[Plan], Workload]) -> Callable[[Plan], Workload]:
        CASES[make.__name__] = Case(make.__name__, cause, fix_id, fix, make, **options)
        return make

    return register
