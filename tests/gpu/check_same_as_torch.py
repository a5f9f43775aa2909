"""The same program recorded by us and by torch.profiler: the same kernels, copies, operators and times.

A process records its programs twice with ours and then once with torch.profiler, after which ours cannot record there
any more.
"""

import argparse
import json
import signal
import statistics
import sys
import time
from collections import defaultdict
from pathlib import Path

from check import IS_DRY, IS_QUICK, claim, figure, keep, same_counts, skip, synchronize, within_percent, work_folder
from programs import OPERATORS_OF_A_ROUND, PROGRAMS, ROUNDS_OF_A_THREAD, THREADS, Repetition, warmed_up
from traces import Work, columns, counts, device_work, operators_with_one_kernel, torch_device_work

import telltale
import telltale.torch
import torch

REPETITIONS = 10 if IS_QUICK or IS_DRY else 30
COMPILE_LIMIT_S = 40
MOST_RESIDUAL_NS = 5000
MOST_NAMELESS = 0.01  # one was, of 18,000; of more, the comparison would say little


def recorded(profiler, step: Repetition, options: dict):
    """A profile of so many repetitions; all that was launched in them ends in them."""
    activities = [torch.profiler.ProfilerActivity.CPU, torch.profiler.ProfilerActivity.CUDA]
    with profiler.profile(activities=activities, **options) as profile:
        for _ in range(REPETITIONS):
            step()
        synchronize()
    return profile


def options_for(program: str) -> dict:
    """torch.profiler sees operators of the threads that it is told to look at alone."""
    if program != "threads":
        return {}
    try:
        return {"experimental_config": torch._C._profiler._ExperimentalConfig(profile_all_threads=True)}
    except TypeError:
        return {}


def typical_ns(works: list[Work], repetitions: int = REPETITIONS) -> float:
    """The time of all kernels, each taking the mean of the middle half of those at its place in the repetitions:
    disturbed ones do not count, and steps of the device's clock even out."""
    durations = defaultdict(list)
    for work in works:
        if work.kind == "kernel":
            durations[work.name, work.operator, work.stream].append(work.duration_ns)
    total = 0.0
    for each in durations.values():
        places = len(each) // repetitions if len(each) % repetitions == 0 else 1
        for place in range(places):
            total += len(each) / places * statistics.mean(middle_half(each[place::places]))
    return total


def middle_half(values: list[int]) -> list[int]:
    quarter = len(values) // 4
    return sorted(values)[quarter : len(values) - quarter]


def compare(program: str, rounds: list[list[Work]], theirs: list[Work]) -> None:
    ours = rounds[-1]
    same_counts(f"{program}: kernels by name", counts(ours, "kernel", "name"), counts(theirs, "kernel", "name"))
    if program == "graph":
        same_counts(
            "graph: kernels that are nodes of a graph",
            counts(ours, "kernel", "name", "in_graph"),
            counts(theirs, "kernel", "name", "in_graph"),
        )
        eager = [[work for work in works if not work.in_graph] for works in (ours, theirs)]
        same_counts(
            "graph: operators of the other kernels", *(counts(works, "kernel", "name", "operator") for works in eager)
        )
    elif program == "threads":
        compare_threads(ours, theirs)
    else:
        same_counts(
            f"{program}: kernels by operator",
            counts(ours, "kernel", "name", "operator"),
            counts(theirs, "kernel", "name", "operator"),
        )
    if program in ("nested", "training", "compiled"):
        same_counts(
            f"{program}: kernels by annotations around them",
            counts(ours, "kernel", "annotations"),
            counts(theirs, "kernel", "annotations"),
        )
    for kind, least in (("memcpy", int(program == "training")), ("memset", 0)):
        same_counts(
            f"{program}: {kind}s by name and bytes",
            counts(ours, kind, "name", "bytes"),
            counts(theirs, kind, "name", "bytes"),
            least,
        )
    unlaunched = sum(not work.is_launched for work in ours)
    claim(f"{program}: work whose launch is known", unlaunched == 0, f"all but {unlaunched} of {len(ours)}", "all")
    if theirs:
        mine = statistics.median(typical_ns(works) for works in rounds)
        within_percent(f"{program}: time of all kernels", mine / 1e6, typical_ns(theirs) / 1e6, 1, " ms")
        plain = [sum(work.duration_ns for work in works if work.kind == "kernel") / 1e6 for works in (*rounds, theirs)]
        figure(f"{program}: sums as recorded", " and ".join(f"{each:.4g}" for each in plain) + " ms")


def compare_threads(ours: list[Work], theirs: list[Work]) -> None:
    """What the program launches is known. torch.profiler gives a few of so many kernels no operator at all (traces.py
    says why), and must name ours for all others."""
    mine = counts(ours, "kernel", "operator", "stream")
    own_streams = sorted({stream for _, stream in mine})[:THREADS]
    launched = {(name, each): REPETITIONS * ROUNDS_OF_A_THREAD for name in OPERATORS_OF_A_ROUND for each in own_streams}
    same_counts("threads: kernels by operator and stream, as launched", mine, launched, THREADS)

    mine, torchs = (counts(works, "kernel", "name", "operator") for works in (ours, theirs))
    total = sum(torchs.values())
    nameless = sum(times for (_, operator), times in torchs.items() if not operator)
    others = {key: times - mine[key] for key, times in torchs.items() if key[1] and times > mine[key]}
    for (name, operator), times in others.items():
        print(f"  {times} more have the operator {operator} by torch.profiler: {name}")
    claim(
        "threads: kernels that torch.profiler gives another operator",
        not others and 0 < total >= nameless / MOST_NAMELESS,
        f"{sum(others.values())} of {total}, {nameless} have none",
        f"0, and ≤ {100 * MOST_NAMELESS:g} % with none",
    )


def starts_before_launch(trace: telltale.Trace) -> tuple[int, int]:
    """Device work that begins before the call that launched it does, and all that has one."""
    events = columns(trace.events())
    pairs = [
        (start, cause)
        for start, kind, cause in zip(events["start_ns"], events["kind"], events["cause"])
        if kind in ("kernel", "memcpy", "memset") and cause is not None
    ]
    return sum(start < events["start_ns"][cause] for start, cause in pairs), len(pairs)


def compare_rows(program: str, ours, theirs) -> None:
    """Rows of key_averages() that have something on the device: operators, and the device's own. Calls of CUDA and
    CUPTI's overhead are left out: torch numbers them like operators and so gives them time of kernels at random."""

    def rows(averages) -> list:
        not_operators = (
            "cuda",
            "cu",
            "Activity Buffer",
            "Buffer Flush",
            "Lazy Function",
            "Instrumentation",
            "Resource",
        )
        return [row for row in averages if row.self_device_time_total > 0 and not row.key.startswith(not_operators)]

    calls = [{(row.key, str(row.device_type)): row.count for row in rows(averages)} for averages in (ours, theirs)]
    same_counts(f"{program}: calls of rows with device time", *calls)
    times = [
        sum(row.self_device_time_total for row in rows(averages) if str(row.device_type) == "DeviceType.CPU")
        for averages in (ours, theirs)
    ]
    if times[1] > 0:
        within_percent(f"{program}: device time of all operators' rows", times[0] / 1e3, times[1] / 1e3, 5, " ms")


def check_exported(profile, ours: list[Work], path: Path) -> None:
    """What export_chrome_trace() writes, read like torch's own."""
    profile.export_chrome_trace(str(path))
    exported = torch_device_work(path)
    for kind in ("kernel", "memcpy", "memset"):
        fields = ("name", "operator", "duration_ns", "bytes")
        same_counts(f"training: {kind}s as exported", counts(ours, kind, *fields), counts(exported, kind, *fields), 0)
    arrows = [event for event in json.loads(path.read_text())["traceEvents"] if event.get("cat") == "ac2g"]
    begun = {arrow["id"] for arrow in arrows if arrow["ph"] == "s"}
    ends = {(arrow["tid"], round(arrow["ts"] * 1e3)) for arrow in arrows if arrow["ph"] == "f" and arrow["id"] in begun}
    lacking = sum((work.stream, work.start_ns) not in ends for work in exported)
    claim("training: work without an arrow as exported", lacking == 0, f"{lacking} of {len(exported)}", "0")


def check_clock(trace: telltale.Trace) -> None:
    """The file says how well the device's clock was fitted."""
    metadata = columns(trace.metadata)
    told = json.loads(dict(zip(metadata["name"], metadata["value"])).get("device_clock", "{}"))
    told = json.loads(told) if isinstance(told, str) else told
    residual = told.get("residual_ns")
    is_close = residual is not None and abs(residual) <= MOST_RESIDUAL_NS
    claim("training: what is left between the clocks", is_close, json.dumps(told), f"≤ {MOST_RESIDUAL_NS} ns")


def check_lines(trace: telltale.Trace) -> None:
    """Triton kernels know the line that torch.compile made them from."""
    events, sources = columns(trace.events()), columns(trace.sources)
    places = dict(zip(sources["event"], zip(sources["file"], sources["line"])))
    kernels = [row for row, name in enumerate(events["name"]) if events["kind"][row] == "kernel" and "triton_" in name]
    source = Path(PROGRAMS["compiled"].__code__.co_filename).read_text().splitlines()
    line = next(number for number, text in enumerate(source, 1) if "return torch.softmax(" in text)
    found = sum(places.get(row, ("", 0))[0].endswith("programs.py") and places[row][1] == line for row in kernels)
    file, at = places.get(kernels[0], ("no file", 0)) if kernels else ("no kernel", 0)
    measured = f"{found} of {len(kernels)}, as {Path(file).name}:{at}"
    claim("compiled: Triton kernels with their line", found == len(kernels) > 0, measured, f"programs.py:{line}")


def made(program: str) -> Repetition | None:
    """Warmed up; None where it is torch.compile's and that does not come to an end."""
    began = time.monotonic()
    if program != "compiled":
        step = warmed_up(program)
    else:
        signal.signal(signal.SIGALRM, give_up)
        signal.alarm(COMPILE_LIMIT_S)
        try:
            step = warmed_up(program)
        except Exception as error:
            skip("compiled", f"torch.compile does not work here: {error!r}"[:200])
            return None
        finally:
            signal.alarm(0)
    figure(f"{program}: making and warming up", f"{time.monotonic() - began:.1f} s")
    return step


def give_up(*_: object) -> None:
    raise TimeoutError(f"not compiled after {COMPILE_LIMIT_S} s")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("programs", nargs="+", choices=PROGRAMS)
    folder: Path = work_folder()
    steps = {name: step for name in parser.parse_args().programs if (step := made(name)) is not None}
    rounds, averages = {}, {}
    for name, step in steps.items():
        rounds[name] = []
        for number in range(2):
            profile = recorded(telltale.torch, step, options_for(name))
            path = folder / f"{name}_{number}.tell"
            profile.save(path)
            rounds[name].append(device_work(telltale.load(path)))
        averages[name] = profile.key_averages()
        if name == "compiled":
            check_lines(telltale.load(path))
        if name == "training":
            check_exported(profile, rounds[name][-1], folder / "exported.json")
            check_clock(telltale.load(path))
        if name == "threads":
            operators, served = operators_with_one_kernel(telltale.load(path), OPERATORS_OF_A_ROUND)
            wanted = REPETITIONS * THREADS * ROUNDS_OF_A_THREAD * len(OPERATORS_OF_A_ROUND)
            is_each = operators == served == wanted
            claim("threads: operators with one kernel each", is_each, f"{served} of {operators}", str(wanted))
        keep(path)
        early, launched = starts_before_launch(telltale.load(path))
        claim(f"{name}: work that begins before its launch", early == 0, f"{early} of {launched}", "0")
    for name, step in steps.items():
        profile = recorded(torch.profiler, step, options_for(name))
        path = folder / f"{name}.json"
        profile.export_chrome_trace(str(path))
        compare(name, rounds[name], torch_device_work(path))
        if name in ("training", "graph"):
            compare_rows(name, averages[name], profile.key_averages())
    return 0


if __name__ == "__main__":
    sys.exit(main())
