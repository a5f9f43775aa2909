"""What a device did, as a recording of ours and a trace of torch.profiler tell it.

The first is read with the package, the second with Python's json alone, so that neither reader can hide the other's
mistakes.
"""

import json
from bisect import bisect_right
from collections import Counter, defaultdict
from pathlib import Path
from typing import NamedTuple

import pyarrow

import telltale

DEVICE_KINDS = ("kernel", "memcpy", "memset")
CALL_KINDS = ("runtime", "driver")


class Work(NamedTuple):
    kind: str  # of DEVICE_KINDS
    name: str
    start_ns: int
    duration_ns: int
    stream: int
    operator: str  # the innermost one around its launch; "" where there is none
    annotations: tuple[str, ...]  # around its launch, the outermost first
    bytes: int | None
    is_launched: bool  # whether the call that launched it is known
    in_graph: bool


def columns(table) -> dict[str, list]:
    return pyarrow.table(table).to_pydict()


def device_work(trace: telltale.Trace) -> list[Work]:
    """As our reader has it."""
    events, tracks = columns(trace.events()), columns(trace.tracks)
    copies = columns(trace.copies)
    bytes_of = dict(zip(copies["event"], copies["bytes"]))
    in_graphs = set(columns(trace.graph_nodes)["event"])
    stream_of = dict(zip(tracks["track"], tracks["native_id"]))
    kinds, names, parents = events["kind"], events["name"], events["parent"]
    found = []
    for row, kind in enumerate(kinds):
        if kind not in DEVICE_KINDS:
            continue
        operator, annotations, around = "", [], events["cause"][row]
        is_launched = around is not None and kinds[around] in CALL_KINDS
        while around is not None:
            if kinds[around] == "operator" and not operator:
                operator = names[around]
            elif kinds[around] == "annotation":
                annotations.insert(0, names[around])
            around = parents[around]
        found.append(
            Work(
                kind,
                names[row],
                events["start_ns"][row],
                events["duration_ns"][row],
                stream_of[events["track"][row]],
                operator,
                tuple(annotations),
                bytes_of.get(row),
                is_launched,
                row in in_graphs,
            )
        )
    return sorted(found, key=lambda work: work.start_ns)


class _Nest:
    """Spans of one thread, for asking which of them are open at a time."""

    def __init__(self, spans: list[tuple[float, float, str]]) -> None:
        self.spans = sorted(spans, key=lambda span: (span[0], -span[1]))
        self.starts = [span[0] for span in self.spans]
        self.parents: list[int] = []
        is_open: list[int] = []
        for number, (start, _, _) in enumerate(self.spans):
            while is_open and self.spans[is_open[-1]][1] <= start:
                is_open.pop()
            self.parents.append(is_open[-1] if is_open else -1)
            is_open.append(number)

    def around(self, time: float) -> list[str]:
        """The innermost first."""
        names, number = [], bisect_right(self.starts, time) - 1
        while number >= 0:
            if self.spans[number][1] >= time:
                names.append(self.spans[number][2])
            number = self.parents[number]
        return names


def torch_device_work(path: Path | str) -> list[Work]:
    """As torch.profiler wrote it: a kernel's operator is the one with its "External id", which the profiler pushed when
    that began, or with that of the call with its correlation, or else the innermost around that call.

    One kernel in thousands has no id where many are recorded: as of torch 2.11, Kineto looks for the id of a kernel
    when it comes to the kernel's record, and reads CUPTI's buffers in the order of their addresses, so that the id may
    come later. Nor does the call's thread help then where threads have ended: CUPTI tells it by its pthread_t, which
    the next thread gets again."""
    with open(path, "rb") as file:
        events = [event for event in json.load(file)["traceEvents"] if event.get("ph") == "X"]
    operators, annotations, named, calls = defaultdict(list), defaultdict(list), {}, {}
    for event in events:
        category, arguments = event.get("cat"), event.get("args", {})
        if category in ("cpu_op", "user_annotation"):
            span = (event["ts"], event["ts"] + event["dur"], event["name"])
            (operators if category == "cpu_op" else annotations)[event["tid"]].append(span)
            if category == "cpu_op" and "External id" in arguments:
                named[arguments["External id"]] = event["name"]
        elif category in ("cuda_runtime", "cuda_driver"):
            calls[arguments.get("correlation")] = event
    operators = {thread: _Nest(spans) for thread, spans in operators.items()}
    annotations = {thread: _Nest(spans) for thread, spans in annotations.items()}

    kinds = {"kernel": "kernel", "gpu_memcpy": "memcpy", "gpu_memset": "memset"}
    found, told_by = [], Counter()
    for event in events:
        kind, arguments = kinds.get(event.get("cat")), event.get("args", {})
        if kind is None:
            continue
        call = calls.get(arguments.get("correlation"))
        operator, marks = named.get(arguments.get("External id"), ""), []
        if call is not None:
            of_call = named.get(call["args"].get("External id"), "")
            around = operators[call["tid"]].around(call["ts"]) if call["tid"] in operators else []
            if not operator:
                told_by["its call" if of_call else "what is open on the thread" if around else "nothing"] += 1
            operator = operator or of_call or (around[0] if around else "")
            marks = annotations[call["tid"]].around(call["ts"]) if call["tid"] in annotations else []
        found.append(
            Work(
                kind,
                event["name"],
                round(event["ts"] * 1e3),
                round(event["dur"] * 1e3),
                arguments.get("stream", event["tid"]),
                operator,
                tuple(reversed(marks)),
                arguments.get("bytes") if kind != "kernel" else None,
                call is not None,
                call is not None and "GraphLaunch" in call["name"],
            )
        )
    if told_by:
        print(f"  without an operator's id in {Path(path).name}, but told by: {dict(told_by)}")
    return sorted(found, key=lambda work: work.start_ns)


def counts(works: list[Work], kind: str, *fields: str) -> Counter:
    return Counter(tuple(getattr(work, field) for field in fields) for work in works if work.kind == kind)


def operators_with_one_kernel(trace: telltale.Trace, names: tuple[str, ...]) -> tuple[int, int]:
    """How many operators have these names, and how many of them are the innermost around the launch of one kernel, on
    the one stream that their thread launches to."""
    events = columns(trace.events())
    operators = [row for row, name in enumerate(events["name"]) if events["kind"][row] == "operator" and name in names]
    streams_of_operator, streams_of_thread = defaultdict(list), defaultdict(set)
    for row, kind in enumerate(events["kind"]):
        around = events["cause"][row]
        if kind != "kernel" or around is None:
            continue
        streams_of_thread[events["track"][around]].add(events["track"][row])
        while around is not None and events["kind"][around] != "operator":
            around = events["parent"][around]
        streams_of_operator[around].append(events["track"][row])
    served = sum(
        len(streams_of_operator[row]) == 1 and len(streams_of_thread[events["track"][row]]) == 1 for row in operators
    )
    return len(operators), served


def launches_without_kernels(trace: telltale.Trace) -> tuple[int, int]:
    """How many calls launched a kernel, and how many of them have no kernel."""
    events = columns(trace.events())
    served = {cause for cause, kind in zip(events["cause"], events["kind"]) if kind == "kernel" and cause is not None}
    launches = [
        row
        for row, (kind, name) in enumerate(zip(events["kind"], events["name"]))
        if kind in CALL_KINDS and "LaunchKernel" in name
    ]
    return len(launches), sum(row not in served for row in launches)
