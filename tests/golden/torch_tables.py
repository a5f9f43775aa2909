#!/usr/bin/env python3
"""`telltale top` against torch.profiler's own key_averages(), recorded in the same process as the trace.

    torch_tables.py TELLTALE TRACE KEY_AVERAGES

Prints what disagrees, and fails when it is more than the tolerances below allow.
"""
import gzip
import json
import subprocess
import sys

NANOSECONDS_PER_CALL = 2  # torch's own microseconds are rounded
TIME_TOLERANCE = 0.001
# Fewer may agree where threads launch work without operators: torch nests such calls in whatever thread it saw last.
LEAST_ROWS_BY_SHAPE = 0.97
LEAST_TIMES = 0.99
LEAST_MEMORY = 0.95

TIMES = {"self_cpu_ns": "self_cpu_us", "cpu_ns": "cpu_us", "self_device_ns": "self_device_us", "device_ns": "device_us"}
MEMORY = {
    "cpu_memory_bytes": "cpu_mem",
    "self_cpu_memory_bytes": "self_cpu_mem",
    "device_memory_bytes": "device_mem",
    "self_device_memory_bytes": "self_device_mem",
}
HOST_KINDS = {"operator", "annotation", "runtime", "driver"}
DEVICE_KINDS = {"kernel", "memcpy", "memset", "device_annotation"}


def shapes_text(shapes):
    return json.dumps(shapes or None)  # torch has an empty list where it has no shapes


def our_rows(telltale, trace, group):
    command = [telltale, "top", trace, "--by", "all", "--group", group, "--json"]
    answer = json.loads(subprocess.run(command, check=True, capture_output=True).stdout)
    rows = {}
    for row in answer["rows"]:
        if row["kind"] not in HOST_KINDS | DEVICE_KINDS:
            continue
        is_annotation = row["kind"] in ("annotation", "device_annotation")
        key = (row["name"], row["kind"] in HOST_KINDS, is_annotation, shapes_text(row["input_shapes"]))
        assert key not in rows, f"two rows for {key}"
        rows[key] = row
    return rows, answer["totals"]


def torch_rows(rows):
    return {
        (row["key"], row["device_type"].endswith("CPU"), row["is_user_annotation"], shapes_text(row["input_shapes"])): row
        for row in rows
    }


class Score:
    def __init__(self, what, least):
        self.what, self.least, self.right, self.wrong = what, least, 0, []

    def add(self, is_right, complaint):
        if is_right:
            self.right += 1
        else:
            self.wrong.append(complaint)

    def report(self):
        total = self.right + len(self.wrong)
        share = self.right / total if total else 1
        print(f"  {self.what}: {self.right} of {total}, at least {self.least:.0%} asked for")
        for complaint in self.wrong[:10]:
            print(f"    {complaint}")
        return share >= self.least


def agree_in_time(ours, theirs_us, calls):
    theirs = theirs_us * 1000
    return abs((ours or 0) - theirs) <= max(abs(theirs) * TIME_TOLERANCE, NANOSECONDS_PER_CALL * calls)


def compare(ours, theirs, least_rows):
    calls = Score("calls", least_rows)
    times = Score("times", LEAST_TIMES)
    memory = Score("memory", LEAST_MEMORY)
    flops = Score("FLOPs", 1)
    for key, row in theirs.items():
        name, is_host, is_annotation, _ = key
        our_row = ours.get(key, {"calls": 0})
        calls.add(our_row["calls"] == row["count"], f"{name}: {our_row['calls']}, torch {row['count']}")
        if our_row["calls"] != row["count"]:
            continue
        if is_host or not is_annotation:  # the projection of an annotation is no device work to us
            pairs = [(field, our_row[field], row[theirs_field]) for field, theirs_field in TIMES.items()]
            wrong = [pair for pair in pairs if not agree_in_time(pair[1], pair[2], row["count"])]
            times.add(not wrong, f"{name}: {wrong}")
        else:
            times.add(our_row["device_ns"] is None, f"{name}: a projection with device time")
        pairs = [(field, our_row[field] or 0, row[theirs_field]) for field, theirs_field in MEMORY.items()]
        wrong = [pair for pair in pairs if pair[1] != pair[2]]
        memory.add(not wrong, f"{name}: {wrong}")
        if row["flops"]:
            flops.add(our_row["flops"] == row["flops"], f"{name}: {our_row['flops']}, torch {row['flops']}")
        else:
            assert not our_row["flops"], f"{name} has FLOPs that torch does not know"
    extra = [key for key in ours if key not in theirs]
    print(f"  rows that torch does not have: {len(extra)} {extra[:5]}")
    return all([score.report() for score in (calls, times, memory, flops)]) and len(extra) <= len(theirs) * (1 - least_rows)


def torch_total(table, label):
    number = next(line for line in table.splitlines() if line.startswith(label)).split()[-1]
    for unit, size in (("us", 1e3), ("ms", 1e6), ("s", 1e9)):
        if number.endswith(unit):
            return float(number[: -len(unit)]) * size
    raise ValueError(number)


def main():
    telltale, trace, oracle = sys.argv[1:]
    with gzip.open(oracle) as file:
        torch = json.load(file)
    is_good = True
    for group, field, least_rows in (("name", "by_name", 1), ("shape", "by_shape", LEAST_ROWS_BY_SHAPE)):
        print(f"by {group}:")
        ours, totals = our_rows(telltale, trace, group)
        is_good &= compare(ours, torch_rows(torch[field]), least_rows)
    for field, label in (("self_cpu_ns", "Self CPU time total"), ("self_device_ns", "Self CUDA time total")):
        if label not in torch["table"]:
            is_good &= totals[field] is None
            continue
        expected = torch_total(torch["table"], label)
        print(f"{label}: {totals[field]} ns, torch {expected:.0f} ns")
        is_good &= abs(totals[field] - expected) <= expected * TIME_TOLERANCE
    sys.exit(0 if is_good else 1)


if __name__ == "__main__":
    main()
