"""Times a variant of a case, and records a trace of the faulty one.

Both run in processes of their own: a profiler leaves some of its cost behind in the process it recorded.
"""

import contextlib
import copy
import gzip
import shutil
import signal
import statistics
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import torch
from torch.profiler import ProfilerActivity, profile, schedule

from planting import device
from planting.case import Case, Plan
from planting.fixes import COMPILING, GENERIC, NotApplicable
from planting.workload import step_of

SECONDS_FOR_A_FIX = 30
SECONDS_FOR_A_COMPILED_FIX = 40
SECONDS_OF_WARMUP = 1.0  # after this, three steps are enough
ROW_MS = 200
RECORDED_STEPS = 3


class TooLong(BaseException):
    """Not an Exception: nothing between the alarm and us may swallow it."""


@contextlib.contextmanager
def at_most(seconds: float):
    def give_up(*_):
        raise TooLong(f"took more than {seconds:.0f} s")

    signal.signal(signal.SIGALRM, give_up)
    signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)


def step_with(case: Case, fix: str | None, shrink: int) -> Callable[[], None]:
    """The step of the faulty program with one fix applied, or none."""
    if fix in case.without:
        raise NotApplicable(case.without[fix])
    torch.manual_seed(0)
    work = case.make(Plan(fix, shrink))
    if fix in GENERIC:
        GENERIC[fix](work)
    return step_of(work)


def mean_ms(step: Callable[[], None], count: int) -> float:
    device.synchronize()
    start = time.perf_counter()
    for _ in range(count):
        step()
    device.synchronize()
    return 1e3 * (time.perf_counter() - start) / count


def warm_up(case: Case, step: Callable[[], None]) -> None:
    start = time.monotonic()
    for done in range(case.warmups):
        if done >= 3 and time.monotonic() - start > SECONDS_OF_WARMUP:
            return
        step()
        device.synchronize()


def step_ms(case: Case, step: Callable[[], None]) -> float:
    """The median of the means of some rows of steps: inside a row the host may run ahead, as it does in training."""
    warm_up(case, step)
    count = case.steps or max(3, min(40, int(ROW_MS / max(1.0, mean_ms(step, 3)))))
    return statistics.median(mean_ms(step, count) for _ in range(case.rows))


def measured(case: Case, fix: str | None, shrink: int = 1) -> dict:
    """{"ms", "peak_mib"} of a variant, or {"skipped": why}. For larger_batch, the time of half of its samples."""
    limit = SECONDS_FOR_A_COMPILED_FIX if fix in COMPILING else SECONDS_FOR_A_FIX
    try:
        with at_most(limit):
            device.forget_peak()
            ms = step_ms(case, step_with(case, fix, shrink))
            if fix == "larger_batch":
                ms /= 2
            return {"ms": round(ms, 4), "peak_mib": round(device.peak_mib(), 1)}
    except NotApplicable as why:
        return {"skipped": str(why)}
    except (Exception, TooLong) as error:  # a fix that fails is a result too
        first_line = (str(error).strip().splitlines() or [""])[0]
        return {"skipped": f"failed: {type(error).__name__}: {first_line}"[:240]}
    finally:
        device.release_everything()


def rehearse(case: Case, shrink: int = 1) -> dict[str, str]:
    """What a process pays once (libraries, clocks, compiler workers) is paid before the first measurement.

    Returns the fixes that have nothing to do in the faulty program, and why.
    """
    work = case.make(Plan(None, shrink))
    warm_up(case, step_of(work))
    reasons = {}
    for fix, apply in GENERIC.items():
        try:
            apply(copy.copy(work))
        except NotApplicable as why:
            reasons[fix] = str(why)
        except Exception:  # the measurement will say so
            continue
    return reasons | case.without


@dataclass(frozen=True)
class Recording:
    """What torch.profiler is asked to record besides times."""

    shapes: bool = True
    memory: bool = True
    stacks: bool = True


def record(step: Callable[[], None], path: Path, what: Recording) -> None:
    activities = [ProfilerActivity.CPU] + ([ProfilerActivity.CUDA] if device.ON_GPU else [])
    plan = {"wait": 1, "warmup": 2, "active": RECORDED_STEPS, "repeat": 1}
    with tempfile.TemporaryDirectory() as folder:
        plain = str(Path(folder) / "trace.json")
        with profile(
            activities=activities,
            schedule=schedule(**plan),
            on_trace_ready=lambda profiler: profiler.export_chrome_trace(plain),
            record_shapes=what.shapes,
            profile_memory=what.memory,
            with_stack=what.stacks,
        ) as profiler:
            for _ in range(sum(plan.values()) - plan["repeat"]):
                step()
                profiler.step()
        with open(plain, "rb") as text, gzip.open(path, "wb", 6) as packed:
            shutil.copyfileobj(text, packed)


def recorded(case: Case, folder: Path, shrink: int = 1, stacks: bool = True) -> dict:
    """The faulty step timed, then its trace written to the folder; what was timed is what was recorded."""
    step = step_with(case, None, shrink)
    ms = step_ms(case, step)
    path = folder / (f"{case.name}.json.gz" if stacks else f"{case.name}.nostack.json.gz")
    record(step, path, Recording(stacks=case.stacks and stacks))
    return {"ms": round(ms, 4), "trace_bytes": path.stat().st_size}
