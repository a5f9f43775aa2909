"""Programs with planted faults, recorded by `telltale record` as they are: is the fault found, is its saving what
mending it gains, and is the unobserved step the one that the process measured itself?

In the recorded process a program notes when each of its steps was done; those that the file leaves out are its own
measurement of the unobserved step. Then it runs plainly, with and without its fix in turns, each time in a process of
its own, and the same steps of its life are compared: some programs become faster or slower as they go on, and processes
of one program differ. Programs for which there is no time are left out.
"""

import argparse
import json
import math
import os
import re
import statistics
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "tests" / "gpu"))

from check import (
    IS_DRY,
    IS_QUICK,
    TELLTALE,
    claim,
    figure,
    keep,
    left_out,
    run,
    time_left_s,
    within_percent,
    work_folder,
)
from plain_runs import FAULTS, PlainRuns

CLOSE_POINTS = 10
LEAST_TURNS, MOST_TURNS = 2, 3  # of plain runs; more than the least where their gains are not that close
DRY_STEPS = 40
CLOSE_STEP_PERCENT = 3
FIRST_PLACES = 2
LIMIT_S = 60
LEAST_S = 20  # with less, no program begins: it would be ended amid its recording


@dataclass(frozen=True)
class Fault:
    name: str
    rules: dict[str, str]  # those that name the fault, each with the fix that it proposes
    steps: int | None = None

    @property
    def script(self) -> str:
        return str(FAULTS / f"{self.name}.py")


# First those of which something failed when it was checked last.
ALL = [
    Fault("decode", {"launch_bound": "cuda_graph", "cuda_graph_candidate": "cuda_graph"}),
    Fault("single_tensor_optimizer", {"single_tensor_optimizer": "fused_optimizer"}),
    Fault("pageable_batches", {"pageable_copy": "pin_memory"}),
    Fault("row_loop", {"loop_indexing": "batch_calls"}),
    Fault("own_attention", {"unfused_attention": "sdpa"}),
    Fault("single_precision", {"no_mixed_precision": "bf16", "fp32_matmul": "tf32"}),
    Fault("item_every_layer", {"host_sync": "remove_sync"}),
    Fault("one_loader_worker", {"data_loading": "loader_workers"}),
]
WITH_ALL_CALLS = ("item_every_layer", "decode")


def recording_of(fault: Fault, *options: str) -> tuple[Path, list[float]] | None:
    """The file, and when each step ended; None where there is none."""
    path = Path(os.environ.get("GPU_CHECK_RECORDINGS", work_folder())) / f"{fault.name}{''.join(options)}.tell"
    ends = path.with_suffix(".ends")
    if not path.exists():
        words = ["--steps", str(DRY_STEPS)] if IS_DRY else []
        words = ["record", *options, "-o", str(path), "--", sys.executable, fault.script, *words]
        done = run([TELLTALE, *words], min(LIMIT_S, time_left_s()))
        told = [line for line in done.stdout.splitlines() if line.startswith("[")]
        diagnosed = re.search(r"^(\S+\.tell) · ", done.stdout, re.MULTILINE)  # of several processes, that which matters
        if diagnosed and not path.exists() and (path.parent / diagnosed[1]).exists():
            (path.parent / diagnosed[1]).rename(path)
        if not path.exists() or not told:
            return None
        ends.write_text(told[-1])
        keep(path)
    return path, json.loads(ends.read_text())


def diagnosis_of(path: Path) -> dict:
    done = subprocess.run([TELLTALE, "analyze", "--json", str(path)], stdout=subprocess.PIPE, check=True)
    return json.loads(done.stdout)


@dataclass(frozen=True)
class Advice:
    """What a rule says, in a finding of its own or in one that it became part of."""

    place: int  # of the finding, from 1 on
    rule: str
    fix: str
    percent: float


def advice_of(answer: dict) -> list[Advice]:
    said = []
    for place, finding in enumerate(answer["findings"], 1):
        for each in (finding, *finding.get("parts", [])):
            fix = each["fix"]["id"] if isinstance(each["fix"], dict) else each["fix"]
            said.append(Advice(place, each["rule"], fix, each["saving"]["likely_percent"]))
    return said


def unrecorded_steps(path: Path, count: int) -> list[int]:
    """Of so many steps those that the file leaves out, but for the first of each stretch and those that warm up."""
    import pyarrow
    import telltale

    recorded = set(pyarrow.table(telltale.load(path).steps)["step"].to_pylist())
    return [number for number in range(3, count) if number not in recorded and number - 1 not in recorded]


def usual_step_ms(ends: list[float], numbers: list[int]) -> tuple[float, int]:
    """What these steps took by the process's own clock, and how many count: none beyond Tukey's fences, as a diagnosis
    leaves them out."""
    took = [ends[number] - ends[number - 1] for number in numbers if number < len(ends)]
    if len(took) < 2:
        return (took[0] if took else 0.0), len(took)
    low, _, high = statistics.quantiles(took, n=4, method="inclusive")
    reach = 1.5 * (high - low)
    usual = [each for each in took if low - reach <= each <= high + reach]
    return statistics.mean(usual), len(usual)


@dataclass
class Gain:
    """What a fix gained: programs with and without it in turns, each in a process of its own, over the steps that were
    not recorded in the recorded process."""

    faulty: list[float]  # milliseconds of a step
    fixed: list[float]
    own: float | None  # the recorded process's own faulty step

    def percents(self) -> list[float]:
        """Of each turn, and of what all turns with the fix leave of the recorded process's own step."""
        gains = [100 * (1 - fixed / faulty) for faulty, fixed in zip(self.faulty, self.fixed, strict=True)]
        if self.own:
            gains.append(100 * (1 - statistics.median(self.fixed) / self.own))
        return gains

    def spread(self) -> float:
        return max(self.percents()) - min(self.percents())


def measured_gain(runs: PlainRuns, fault: Fault, fix: str, numbers: list[int], own: float | None) -> Gain | None:
    """In more turns where processes differ, and only once where each has to import torch. None where one of the
    programs does not run."""
    gain = Gain([], [], own)
    steps = DRY_STEPS if IS_DRY else None
    while len(gain.fixed) < (MOST_TURNS if runs.may_fork else 1):
        began = time.monotonic()
        for each, means in ((None, gain.faulty), (fix, gain.fixed)):
            ends = runs.ends_of(fault.name, each, steps)
            mean, _ = usual_step_ms(ends, numbers) if ends else (0.0, 0)
            if mean <= 0:
                return None
            means.append(mean)
        is_steady = len(gain.fixed) >= LEAST_TURNS and gain.spread() <= CLOSE_POINTS
        if is_steady or time_left_s() < LEAST_S + time.monotonic() - began:
            break
    return gain


def check_saving(runs: PlainRuns, fault: Fault, said: list[Advice], numbers: list[int], own: float | None) -> None:
    """Where processes of one program differ by more than what a promise may be off by, that may be off as far, but
    never by more than the double."""
    advice = next((each for each in said if fault.rules.get(each.rule) == each.fix), None)
    if advice is None and IS_DRY:  # its runs are tried all the same
        rule, fix = next(iter(fault.rules.items()))
        advice = Advice(0, rule, fix, 0.0)
    if advice is None:
        claim(f"{fault.name}: saving", False, f"nothing proposes {' or '.join(fault.rules.values())}")
        return
    gain = measured_gain(runs, fault, advice.fix, numbers, own)
    if gain is None:
        claim(f"{fault.name}: runs plainly", False, f"with or without {advice.fix}, it was not measured")
        return
    percents = gain.percents()
    close = min(max(CLOSE_POINTS, gain.spread()), 2 * CLOSE_POINTS)
    faulty, fixed = (", ".join(f"{each:.2f}" for each in times) for times in (gain.faulty, gain.fixed))
    recorded = f"; {own:.2f} in the recorded process" if own else ""
    claim(
        f"{fault.name}: saving by {advice.fix}",
        abs(advice.percent - statistics.median(percents)) <= close,
        f"{advice.percent:.0f} % promised, {statistics.median(percents):.0f} % gained "
        f"({min(percents):.0f} to {max(percents):.0f}: {faulty} to {fixed} ms{recorded})",
        f"± {close:.0f} points",
    )


def check_fault(fault: Fault, runs: PlainRuns) -> None:
    made = recording_of(fault)
    if made is None:
        claim(f"{fault.name}: is recorded", False, "no file")
        return
    path, ends = made
    answer = diagnosis_of(path)
    (path.with_suffix(".diagnosis.json")).write_text(json.dumps(answer))
    keep(path.with_suffix(".diagnosis.json"))
    said = advice_of(answer)
    listed = "; ".join(f"{each.place} {each.rule} {each.percent:.0f} %" for each in said[:5]) or "nothing"
    places = [each.place for each in said if each.rule in fault.rules]
    claim(
        f"{fault.name}: found",
        bool(places) and places[0] <= FIRST_PLACES,
        listed,
        f"{' or '.join(fault.rules)} among the first {FIRST_PLACES}",
    )
    step, numbers = answer["step"], unrecorded_steps(path, len(ends))
    own, count = usual_step_ms(ends, numbers)
    if count:
        within_percent(
            f"{fault.name}: unobserved step, to the process's own {count}",
            step["unobserved_ns"] / 1e6,
            own,
            CLOSE_STEP_PERCENT,
            " ms",
        )
    else:
        claim(
            f"{fault.name}: unobserved step",
            False,
            f"no step of {len(ends)} ran unrecorded; {step['unobserved_source']}",
        )
    figure(
        f"{fault.name}: recorded step",
        f"{step['mean_ns'] / 1e6:.2f} ms, {step['slowdown_percent']:.0f} % slower; {step['unobserved_source']}",
    )
    later_half = list(range(len(ends) // 2, len(ends)))
    check_saving(runs, fault, said, numbers if count else later_half, own if count else None)


def check_api(fault: Fault) -> None:
    """The diagnosis with every call of CUDA's interface recorded, and with those that matter."""
    chosen, every = recording_of(fault), recording_of(fault, "--api")
    if chosen is None or every is None:
        claim(f"{fault.name} with --api: both are recorded", False, "no file")
        return
    answers = [diagnosis_of(path)["findings"] for path, _ in (chosen, every)]
    rules = [[finding["rule"] for finding in answer[:FIRST_PLACES]] for answer in answers]
    has_same = bool(rules[0]) and rules[0] == rules[1]
    claim(
        f"{fault.name} with --api: the first findings",
        has_same,
        " / ".join(", ".join(each) or "nothing" for each in rules),
        "the same, and some",
    )
    savings = [[finding["saving"]["likely_percent"] for finding in answer[:FIRST_PLACES]] for answer in answers]
    off = max(abs(one - other) for one, other in zip(*savings, strict=True)) if has_same else math.inf
    claim(
        f"{fault.name} with --api: their savings",
        off <= CLOSE_POINTS,
        f"{off:.1f} points apart",
        f"± {CLOSE_POINTS} points",
    )


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("what", choices=["faults", "api"])
    parser.add_argument("--only", help="names of programs, with commas (all)")
    words = parser.parse_args()
    chosen = [fault for fault in ALL if not words.only or fault.name in words.only.split(",")]
    if words.what == "api":
        chosen = [fault for fault in chosen if fault.name in WITH_ALL_CALLS]
    if words.what == "faults" and IS_QUICK:
        chosen = chosen[:4]
    runs, longest = PlainRuns(LIMIT_S), 0.0
    for fault in chosen:
        began = time.monotonic()
        if max(longest, LEAST_S) > time_left_s():
            left_out(fault.name, f"bench/gpu/planted.py {words.what} --only {fault.name}")
            continue
        try:
            if words.what == "faults":
                check_fault(fault, runs)
            else:
                check_api(fault)
        except Exception as error:  # one program less, and a row that says so
            claim(f"{fault.name}: comes to its end", False, repr(error)[:160])
        longest = max(longest, time.monotonic() - began)
    runs.close()
    return 0


if __name__ == "__main__":
    sys.exit(main())
