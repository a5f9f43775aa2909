"""Compares what `telltale analyze` says about planted faults with what was measured.

A percentage is a share of the unprofiled step everywhere, a point is one of these percents.
"""

from dataclasses import asdict, dataclass
from statistics import median
from typing import Any

from halves import HALVES

CLOSE_POINTS = 10.0  # a predicted saving this near to the measured one is right
OVERPROMISE_POINTS = 15.0
CLOSE_STEP_PERCENT = 10.0
TIMED_STEP_PERCENT = 3.0  # where the recorder has timed unrecorded steps


@dataclass
class Part:
    """What a rule says whose finding became part of another one, because the same change mends both."""

    rule: str
    fix: str
    likely: float


@dataclass
class Advice:
    """A finding, with what its fix bought when it was tried."""

    rule: str
    title: str
    fix: str
    low: float
    likely: float
    high: float
    confidence: str
    source: dict[str, Any] | None
    measured: float | None  # None: nobody tried
    parts: list[Part]

    @property
    def promises_time(self) -> bool:
        """Findings about memory, or about the trace itself, save nothing and can be wrong by nothing."""
        return self.likely > 0

    @property
    def error(self) -> float | None:
        return self.likely - self.measured if self.promises_time and self.measured is not None else None

    @property
    def overpromises(self) -> bool:
        return self.error is not None and self.error > OVERPROMISE_POINTS


@dataclass
class Planted:
    """What became of the fault that was planted."""

    cause: str
    fix: str
    gain: float
    is_clear: bool  # its gain stands out of the noise
    found_as: int | None = None  # the place in the list of findings, from 1
    found_by: str | None = None  # "rule and fix", "rule" or "fix": what of the finding is that of the fault
    error: float | None = None  # of the predicted saving; None when not found, or when it promises no time
    is_close: bool = False
    names_function: bool | None = None  # None: not found, or the function at fault is not known


@dataclass
class Verdict:
    case: str
    half: str
    noise: float
    advice: list[Advice]
    planted: Planted | None  # None: a healthy program
    best_fix: str | None  # None: to do nothing is best
    best_gain: float
    followed_fix: str | None  # of the first finding that promises time
    followed_gain: float  # 0 when nobody tried that fix
    followed_was_tried: bool
    recorded_ms: float
    unobserved_ms: float
    lowest_ms: float  # the range that is given for it
    highest_ms: float
    unrecorded_steps: int  # that the recorder has timed; 0: the unobserved step is an estimate
    measured_ms: float
    step_error_percent: float  # of the unobserved step
    gains: dict[str, float]

    @property
    def regret(self) -> float:
        return self.best_gain - self.followed_gain


def judge(truth: dict[str, Any], half: str, answer: dict[str, Any]) -> Verdict:
    """`truth` is a case of truth.json, `answer` what `telltale analyze --json` prints about its trace."""
    gains: dict[str, float] = truth["gains"]
    advice = [advice_of(finding, gains) for finding in answer["findings"]]
    best = max(gains, key=lambda fix: gains[fix], default=None)
    if best is not None and gains[best] <= 0:
        best = None
    followed = next((entry for entry in advice if entry.promises_time), None)
    step = answer["step"]
    unobserved_ms = step["unobserved_ns"] / 1e6
    # Older versions say neither a range nor that steps were timed.
    lowest_ms, highest_ms = (step.get(f"unobserved_{end}_ns", step["unobserved_ns"]) / 1e6 for end in ("low", "high"))
    return Verdict(
        case=truth["case"], half=half, noise=truth["noise_percent"], advice=advice, planted=planted_of(truth, advice),
        best_fix=best, best_gain=gains[best] if best else 0.0,
        followed_fix=followed.fix if followed else None,
        followed_gain=(followed.measured or 0.0) if followed else 0.0,
        followed_was_tried=followed is None or followed.measured is not None,
        recorded_ms=step["mean_ns"] / 1e6, unobserved_ms=unobserved_ms, lowest_ms=lowest_ms, highest_ms=highest_ms,
        unrecorded_steps=step.get("unrecorded_steps", 0), measured_ms=truth["step_ms"],
        step_error_percent=100 * (unobserved_ms / truth["step_ms"] - 1), gains=gains)


def advice_of(finding: dict[str, Any], gains: dict[str, float]) -> Advice:
    saving, fix = finding["saving"], finding["fix"]["id"]
    return Advice(finding["rule"], finding["title"], fix, saving["low_percent"], saving["likely_percent"],
                  saving["high_percent"], finding["confidence"], finding["source"], gains.get(fix),
                  [Part(part["rule"], part["fix"], part["saving"]["likely_percent"])
                   for part in finding.get("parts", [])])


def planted_of(truth: dict[str, Any], advice: list[Advice]) -> Planted | None:
    if truth["fix_id"] is None:
        return None
    planted = Planted(truth["cause"], truth["fix_id"], truth["gain_percent"], truth["clear"])
    matches = {"rule and fix": lambda said: said.rule == planted.cause and said.fix == planted.fix,
               "rule": lambda said: said.rule == planted.cause,
               "fix": lambda said: said.fix == planted.fix}
    # Findings first, then what is part of one.
    all_said: list[tuple[int, Advice | Part]] = list(enumerate(advice, 1))
    all_said += [(place, part) for place, entry in enumerate(advice, 1) for part in entry.parts]
    for found_by, is_match in matches.items():
        place, said = next((each for each in all_said if is_match(each[1])), (None, None))
        if place is None or said is None:
            continue
        found = advice[place - 1]
        planted.found_as, planted.found_by = place, found_by
        if found.promises_time:
            planted.error = said.likely - planted.gain
            planted.is_close = abs(planted.error) <= max(CLOSE_POINTS, truth["noise_percent"])
        if truth.get("source"):
            planted.names_function = bool(found.source) and found.source["function"] == truth["source"]["function"]
        break
    return planted


@dataclass
class Summary:
    cases: int
    clear: int
    clear_found: int
    clear_close: int
    unclear: int
    unclear_found: int
    functions_known: int
    functions_named: int
    good_first_findings: int
    worst_regret: float
    overpromises: int
    advice_with_measured_gain: int
    median_error: float | None
    close_steps: int
    steps_in_range: int
    timed_steps: int  # of cases whose recorder has timed unrecorded steps
    close_timed_steps: int


def summary_of(verdicts: list[Verdict]) -> Summary:
    planted = [verdict.planted for verdict in verdicts if verdict.planted]
    clear = [fault for fault in planted if fault.is_clear]
    unclear = [fault for fault in planted if not fault.is_clear]
    located = [fault.names_function for fault in planted if fault.names_function is not None]
    timed = [verdict for verdict in verdicts if verdict.unrecorded_steps > 0]
    errors = [abs(entry.error) for verdict in verdicts for entry in verdict.advice if entry.error is not None]
    return Summary(
        cases=len(verdicts),
        clear=len(clear),
        clear_found=sum(fault.found_as is not None for fault in clear),
        clear_close=sum(fault.is_close for fault in clear),
        unclear=len(unclear),
        unclear_found=sum(fault.found_as is not None for fault in unclear),
        functions_known=len(located),
        functions_named=sum(located),
        good_first_findings=sum(verdict.regret <= CLOSE_POINTS for verdict in verdicts),
        worst_regret=max((verdict.regret for verdict in verdicts), default=0.0),
        overpromises=sum(entry.overpromises for verdict in verdicts for entry in verdict.advice),
        advice_with_measured_gain=len(errors),
        median_error=median(errors) if errors else None,
        close_steps=sum(abs(verdict.step_error_percent) <= CLOSE_STEP_PERCENT for verdict in verdicts),
        steps_in_range=sum(verdict.lowest_ms <= verdict.measured_ms <= verdict.highest_ms for verdict in verdicts),
        timed_steps=len(timed),
        close_timed_steps=sum(abs(verdict.step_error_percent) <= TIMED_STEP_PERCENT for verdict in timed))


def summaries_of(verdicts: list[Verdict]) -> dict[str, Summary]:
    """Of all, and of each half that has cases."""
    by_half = {half: [verdict for verdict in verdicts if verdict.half == half] for half in HALVES}
    return {"all": summary_of(verdicts)} | {half: summary_of(some) for half, some in by_half.items() if some}


def as_json(verdict: Verdict) -> dict[str, Any]:
    values = asdict(verdict)
    for entry, advice in zip(values["advice"], verdict.advice):
        entry.update(error=advice.error, overpromises=advice.overpromises)
    return {**values, "regret": verdict.regret}
