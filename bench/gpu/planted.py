"""Programs with planted faults, recorded by `telltale record` as they are: is the fault found, is its saving what
mending it gains, and is the unobserved step the one that the process measured itself?

Each program is measured first, with and without its fix, in a process that nothing records and that waits for the next
one while this one is recorded. In the recorded process it notes when each of its steps was done; those that the file
leaves out are its own measurement of the unobserved step. Programs for which there is no time are left out.
"""

import argparse
import json
import math
import os
import re
import select
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

FAULTS = Path(__file__).resolve().parent / "faults"
CLOSE_POINTS = 10
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
        words = ["--steps", "40"] if IS_DRY else []
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


def own_step_ms(path: Path, ends: list[float]) -> tuple[float, int]:
    """What an unrecorded step took by the process's own clock, and of how many: of each stretch that the file leaves
    out all but the first step, and none beyond Tukey's fences, as a diagnosis leaves them out."""
    import pyarrow
    import telltale

    recorded = set(pyarrow.table(telltale.load(path).steps)["step"].to_pylist())
    took = [
        ends[number] - ends[number - 1]
        for number in range(3, len(ends))
        if number not in recorded and number - 1 not in recorded
    ]
    if len(took) < 2:
        return (took[0] if took else 0.0), len(took)
    low, _, high = statistics.quantiles(took, n=4, method="inclusive")
    reach = 1.5 * (high - low)
    usual = [each for each in took if low - reach <= each <= high + reach]
    return statistics.mean(usual), len(usual)


def measure() -> None:
    """Programs whose names come by standard input, all in this process, which spares each of them the import of torch;
    a line for each."""
    import gc
    import importlib

    import torch

    sys.path.insert(0, str(FAULTS))
    for line in sys.stdin:
        torch.manual_seed(0)
        program = importlib.import_module(line.strip()).PROGRAM
        print(json.dumps({"name": line.strip(), "ms": program.measure(6 if IS_DRY else program.steps)}), flush=True)
        del program
        gc.collect()
        if torch.cuda.is_available():
            torch.cuda.empty_cache()


class Measuring:
    """The process that measures, made anew where one has ended or taken too long."""

    def __init__(self) -> None:
        self.process: subprocess.Popen | None = None

    def steps_of(self, fault: Fault) -> dict[str, float] | None:
        """Milliseconds by fix."""
        if self.process is None:
            words = [sys.executable, __file__, "measure"]
            self.process = subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, bufsize=0)
        until, said = time.monotonic() + min(LIMIT_S, time_left_s()), b""
        try:
            self.process.stdin.write(f"{fault.name}\n".encode())
            while not said.endswith(b"\n") or b'{"name"' not in said:
                is_there, _, _ = select.select([self.process.stdout], [], [], max(0.0, until - time.monotonic()))
                more = os.read(self.process.stdout.fileno(), 1 << 16) if is_there else b""
                if not more:
                    raise TimeoutError
                said += more
        except (OSError, TimeoutError):
            print(said.decode(errors="replace"), f"({fault.name} was not measured)", flush=True)
            self.end()
            return None
        return json.loads(said[said.index(b'{"name"') :].splitlines()[0])["ms"]

    def end(self) -> None:
        if self.process is not None:
            self.process.kill()
            self.process.wait()
            self.process.stdin.close()
            self.process.stdout.close()
            self.process = None


def check_fault(fault: Fault, measured: dict[str, float] | None) -> None:
    if measured is None:
        claim(f"{fault.name}: runs plainly", False, "it was not measured")
        return
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
    advice = next((each for each in said if fault.rules.get(each.rule) == each.fix), None)
    if advice is not None:
        gain = 100 * (1 - measured[advice.fix] / measured["faulty"])
        claim(
            f"{fault.name}: saving by {advice.fix}",
            abs(advice.percent - gain) <= CLOSE_POINTS,
            f"{advice.percent:.0f} % promised, {gain:.0f} % gained "
            f"({measured['faulty']:.2f} to {measured[advice.fix]:.2f} ms)",
            f"± {CLOSE_POINTS} points",
        )
    else:
        claim(f"{fault.name}: saving", False, f"nothing proposes {' or '.join(fault.rules.values())}")
    step = answer["step"]
    own, count = own_step_ms(path, ends)
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
    parser.add_argument("what", choices=["faults", "api", "measure"])
    parser.add_argument("--only", help="names of programs, with commas (all)")
    words = parser.parse_args()
    if words.what == "measure":
        measure()
        return 0
    chosen = [fault for fault in ALL if not words.only or fault.name in words.only.split(",")]
    if words.what == "api":
        chosen = [fault for fault in chosen if fault.name in WITH_ALL_CALLS]
    if words.what == "faults" and IS_QUICK:
        chosen = chosen[:4]
    measuring, longest = Measuring(), 0.0
    for fault in chosen:
        began = time.monotonic()
        if max(longest, LEAST_S) > time_left_s():
            left_out(fault.name, f"bench/gpu/planted.py {words.what} --only {fault.name}")
            continue
        try:
            if words.what == "faults":
                check_fault(fault, measuring.steps_of(fault))
            else:
                check_api(fault)
        except Exception as error:  # one program less, and a row that says so
            claim(f"{fault.name}: comes to its end", False, repr(error)[:160])
        longest = max(longest, time.monotonic() - began)
    measuring.end()
    return 0


if __name__ == "__main__":
    sys.exit(main())
