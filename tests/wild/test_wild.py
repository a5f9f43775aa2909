"""A program of the usual kinds runs as it would without us when it is recorded. The recording of one with a planted
fault says why it is slow.

test_wild.py NAME [--telltale PATH]: one program of cases.py, recorded, and plain if it is a usual one. --names: all."""
import argparse
import os
import re
import shutil
import sys
import tempfile
from pathlib import Path

from cases import FAULTS, HERE, USUAL, Planted, Program
from diagnoses import diagnosis, named_recording, telltale
from running import ROOT, Outcome, run, without_numbers

DEVICE_WORDS = re.compile(r"\bGPUs?\b|CUDA|\bkernels?\b|pin_memory", re.IGNORECASE)
CASES = {case.name: case for case in [*USUAL, *FAULTS]}
DEEP_ENOUGH = 2  # the fault is first or second
MOST_RUNS = 5
ABORTED = "terminate called without an active exception"
MOST_BY_OTHERS = 0.2  # processors, where a fault is one only on idle ones


class Check:
    """Collects what is wrong, so that one run tells all."""

    def __init__(self) -> None:
        self.wrong: list[str] = []

    def same(self, what: str, plain: object, recorded: object) -> None:
        if plain != recorded:
            self.wrong.append(f"{what}: plain {plain!r:.2000}\n  recorded {recorded!r:.2000}")

    def holds(self, claim: bool, otherwise: str) -> None:
        if not claim:
            self.wrong.append(otherwise)


def listed_as_not_yet() -> set[str]:
    lines = (HERE / "not_yet").read_text(encoding="utf-8").splitlines()
    return {line.split()[0] for line in lines if line.strip() and not line.startswith("#")}


def run_to_end(case: Planted | Program, folder: Path, recorder: list[str]) -> Outcome:
    """Again where PyTorch may have ended it."""
    for _ in range(MOST_RUNS):
        if folder.exists():
            shutil.rmtree(folder)
        outcome = run(case, folder, recorder, arguments=getattr(case, "short", ()))
        if not is_aborted(case, outcome):
            break
        print(f"{case.name} was aborted:\n{outcome.errors}")
    return outcome


def is_aborted(case: Planted | Program, outcome: Outcome) -> bool:
    return getattr(case, "may_abort", False) and outcome.status != 0 and ABORTED in outcome.errors


def compare(check: Check, plain: Outcome, recorded: Outcome) -> None:
    check.same("exit status", plain.status, recorded.status)
    check.same("standard output", plain.output, recorded.output)
    check.same("files left behind", plain.files, recorded.files)
    check.same("temporary files left behind", plain.temporary, recorded.temporary)
    # What telltale says stands between the program's lines or behind its last one, which may have no end.
    rest = without_numbers(recorded.errors)
    for line in filter(None, without_numbers(plain.errors).split("\n")):
        _, found, behind = rest.partition(line)
        check.holds(bool(found), f"standard error lacks {line!r} or has it too early:\n{recorded.errors}")
        rest = behind if found else rest


def read_again(check: Check, program: str, folder: Path, recorded: Outcome) -> dict | None:
    """The file says what the command had said: the diagnosis."""
    check.holds(bool(recorded.recordings), f"nothing was recorded:\n{recorded.errors}")
    named = named_recording(recorded)
    check.holds(bool(named), f"no diagnosis was printed:\n{recorded.errors}")
    if not named or not recorded.recordings:
        return None
    check.holds(named in {path.name for path in recorded.recordings}, f"{named} is no file")
    text = telltale(program, folder, "analyze", named)
    check.holds(text in recorded.errors, f"the file says otherwise:\n{text}\nthan the command:\n{recorded.errors}")
    for word in DEVICE_WORDS.finditer(text.replace(" · no GPU · ", " · ")):
        if "device_words" in listed_as_not_yet():
            break
        line = text[text.rfind("\n", 0, word.start()) + 1:text.find("\n", word.end())]
        check.holds(False, f"speaks of devices where there is none: {line.strip()}")
    return diagnosis(program, folder, recorded)


def busy_by_others(answer: dict) -> float:
    means = {counter["name"]: counter["mean"] for counter in answer["counters"]}
    return means.get("processors busy", 0) - means.get("process processors", 0)


def judge(check: Check, case: Planted, answer: dict) -> None:
    # What other programs do to this one is no fault of its own.
    is_disturbed = busy_by_others(answer) > MOST_BY_OTHERS and "many_threads" not in case.rules
    findings = [finding for finding in answer["findings"] if not is_disturbed or finding["rule"] != "many_threads"]
    rank = case.rank(findings)
    told = "\n".join(f"  {finding['rule']} {finding['saving']['likely_percent']:.0f} % {finding['title']} "
                     f"{finding['source'] and (Path(finding['source']['file']).name, finding['source']['line'])}"
                     for finding in findings) or "  nothing"
    print(f"{case.name} ({case.fault}): rank {rank}\n{told}")
    if case.name in listed_as_not_yet():
        print("listed as not yet found")
        return
    if case.wants_idle and is_disturbed:
        print(f"not judged: other programs keep {busy_by_others(answer):.1f} processors busy")
        return
    # What saves no time, as a leak's end, comes behind all that saves some.
    is_found = rank is not None and (rank <= DEEP_ENOUGH or not case.is_timed)
    check.holds(is_found, f"{case.fault}: not first or second, but {rank}")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("name", choices=CASES, nargs="?")
    parser.add_argument("--names", choices=["usual", "planted"])
    parser.add_argument("--telltale", default=os.environ.get("TELLTALE", str(ROOT / "build" / "bin" / "telltale")))
    words = parser.parse_args()
    if words.names:
        print("\n".join(case.name for case in (USUAL if words.names == "usual" else FAULTS)))
        return 0
    case, check = CASES[words.name], Check()
    with tempfile.TemporaryDirectory() as folder:
        recorder = [words.telltale, "record", *getattr(case, "options", ()), "--"]
        recorded = run_to_end(case, Path(folder) / "recorded", recorder)
        if isinstance(case, Planted):
            check.same("exit status", 0, recorded.status)
        else:
            plain = run_to_end(case, Path(folder) / "plain", [])
            if is_aborted(case, plain):
                print(f"not compared: PyTorch aborts it {MOST_RUNS} times in a row without us")
                check.same("exit status", 0, recorded.status)
            else:
                compare(check, plain, recorded)
        if getattr(case, "records", True):
            answer = read_again(check, words.telltale, Path(folder) / "recorded", recorded)
            if answer and isinstance(case, Planted):
                judge(check, case, answer)
            elif answer and case.steps:
                check.same("steps", case.steps, answer["steps"][-1]["index"] + 1)
        else:
            check.holds(not recorded.recordings and "nothing was recorded" in recorded.errors,
                        f"does not say that nothing was recorded:\n{recorded.errors}")
    for wrong in check.wrong:
        print(f"{case.name}: {wrong}")
    return 1 if check.wrong else 0


if __name__ == "__main__":
    sys.exit(main())
