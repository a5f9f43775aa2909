"""What ``telltale memory`` says beside what programs know of themselves: ``python bench/gpu/memory/truth.py``.

Each program of programs.py runs under ``telltale record --memory``; categories at the peak, the leaking line and the
cause of fragmentation are compared with what the program counted or was made for. Each program of fixes.py is recorded,
run again plainly, and run with its fix: the bytes promised stand beside those measured. Prints Markdown. Needs torch
with CUDA and the telltale package, and some minutes. Without a GPU it only shows that everything runs.
"""

import argparse
import json
import os
import pathlib
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor

FOLDER = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(FOLDER))

AT_ONCE = 5
MIB = 1 << 20
NEAR = 0.03  # of a category
NEAR_SAVING = 0.10

# What makes what stays, as it stands in programs.py.
LEAKING_LINES = {
    "leaking_losses": "loss = (forward or model)(x).square().mean()",
    "leaking_graphs": "return x + self.down(torch.nn.functional.gelu(self.up(x)))",  # which most of it comes from
    "leaking_cache": "x = torch.randn(rows, 128, 1024, device=DEVICE)",
    "leaking_worker": "self.seen.append(torch.zeros(MIB // 4))",
    "out_of_memory": "kept.append(x.repeat(4, 1, 1))",
}
ABOUT_RESERVED = {"unused_segments"}  # what PyTorch holds, and not what tensors take
CAUSES = {
    "fragmented_by_live_blocks": "hard_bytes",
    "fragmented_by_growing_sizes": "soft_bytes",
    "fragmented_by_streams": "stream_bytes",
}


# What fixes.py mends with, of rules that propose several things.
FIX_OF = {"optimizer_memory": "fused_optimizer"}


def run(command, what, **environment):
    """What a program says of itself in its last line; an empty dict where it went wrong."""
    try:
        done = subprocess.run(
            command, env=os.environ | environment, capture_output=True, text=True, timeout=120, check=False
        )
    except subprocess.TimeoutExpired:
        print(f"{what} took too long", file=sys.stderr)
        return {}
    if done.returncode != 0:
        print(f"{what} failed: {done.stderr.strip()[-600:]}", file=sys.stderr)
        return {}
    return json.loads([line for line in done.stdout.splitlines() if line.startswith("{")][-1])


def program(script, *arguments):
    return [sys.executable, str(FOLDER / script), *arguments]


def recorded(telltale, file, command):
    """What the recorded program printed, and what telltale says of its memory."""
    own = run([telltale, "record", "--memory", "--output", str(file), "--", *command], " ".join(command[1:]))
    # Where several processes record, each has a file with its number.
    files = [file] if file.exists() else sorted(file.parent.glob(f"{file.stem}_*.tell"))
    answers = []
    for each in files:
        answer = subprocess.run([telltale, "memory", str(each), "--json"], capture_output=True, text=True, check=False)
        if answer.returncode == 0:
            answers.append(json.loads(answer.stdout))
        else:
            print(f"telltale memory {each.name}: {answer.stderr.strip()}", file=sys.stderr)
    if not answers:
        return own, {}
    leaks = [leak for answer in answers for leak in answer["leaks"]]
    # That of the process which uses the GPU.
    return own, max(answers, key=lambda answer: answer["devices"][0]["device"]) | {"leaks": leaks}


def shown(number):
    return f"{number / MIB:.1f} MiB"


def row(question, name, what, told, known, is_right):
    return {"question": question, "program": name, "what": what, "told": told, "known": known, "right": is_right}


def device_of(memory):
    return next(iter(memory.get("devices", ())), {})


def category_rows(name, own, memory):
    rows, device = [], device_of(memory)
    if own.get("allocated"):
        told, known = device.get("peak_allocated_bytes", 0), own["allocated"]
        rows.append(row("peak", name, "", shown(told), shown(known), abs(told - known) <= NEAR * known))
    told_of = {each["name"]: each["bytes"] for each in device.get("categories", ())}
    for what, (low, high) in own.get("known", {}).items():
        told = told_of.get(what, 0)
        is_right = (1 - NEAR) * low - MIB <= told <= (1 + NEAR) * high + MIB
        known = shown(low) if low == high else f"{shown(low)} to {shown(high)}"
        rows.append(row("category", name, what, shown(told), known, is_right))
    return rows


def is_line(source, text, script):
    if not source or pathlib.Path(source["file"]).name != script:
        return False
    lines = (FOLDER / script).read_text(encoding="utf-8").splitlines()
    return text in lines[source["line"] - 1]


def leak_rows(name, memory, text):
    leaks = memory.get("leaks", ())
    sources = [leak.get("source") for leak in leaks]
    told = ", ".join(
        f"{source['file'].rsplit('/', 1)[-1]}:{source['line']} {leak['bytes_per_step']}"
        for leak, source in zip(leaks, sources, strict=True)
        if source
    )
    is_found = any(is_line(source, text, "programs.py") for source in sources)
    return [row("leak", name, "", told[:60] or str(leaks)[:60], text, is_found)]


def cause_rows(name, memory, cause):
    fragmentation = device_of(memory).get("fragmentation") or {}
    by_cause = {key: value for key, value in fragmentation.items() if key in CAUSES.values()}
    told = max(by_cause, key=by_cause.get, default="")
    return [row("fragmentation", name, "", f"{told} {shown(by_cause.get(told, 0))}", cause, told == cause)]


def told_by(telltale, name, folder):
    own, memory = recorded(telltale, folder / f"{name}.tell", program("programs.py", name))
    rows = category_rows(name, own, memory)
    if name in LEAKING_LINES:
        rows += leak_rows(name, memory, LEAKING_LINES[name])
    if name in CAUSES:
        rows += cause_rows(name, memory, CAUSES[name])
    return rows


def promised(telltale, rule, folder):
    _own, memory = recorded(telltale, folder / f"fix_{rule}.tell", program("fixes.py", rule))
    findings = memory.get("findings", ())
    fix = FIX_OF.get(rule)
    found = [each for each in findings if each["rule"] == rule and fix in (None, each["fix"]["id"])]
    if not found:
        names = ", ".join(f"{each['rule']} ({each['fix']['id']})" for each in findings)
        return [row("fix", rule, "", f"not found, but {names}", "", False)]
    saving = found[0].get("saving_bytes") or 0
    settings = found[0]["fix"]["code"].partition("PYTORCH_CUDA_ALLOC_CONF=")[2]
    which = "reserved" if settings or rule in ABOUT_RESERVED else "allocated"
    before = run(program("fixes.py", rule), rule)
    after = run(program("fixes.py", rule, "--fixed"), rule, PYTORCH_CUDA_ALLOC_CONF=settings)
    measured = before.get(which, 0) - after.get(which, 0)
    return [
        row(
            "fix",
            rule,
            settings or found[0]["title"][:60],
            shown(saving),
            f"{shown(measured)} of {shown(before.get(which, 0))}",
            abs(saving - measured) <= NEAR_SAVING * measured,
        )
    ]


def main():
    from fixes import FIXES
    from programs import PROGRAMS

    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--telltale", default="telltale")
    parser.add_argument("--only", nargs="*", choices=[*PROGRAMS, *FIXES], default=[*PROGRAMS, *FIXES])
    parser.add_argument("--keep", type=pathlib.Path, help="a folder for the recordings")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as temporary, ThreadPoolExecutor(AT_ONCE) as pool:
        folder = arguments.keep or pathlib.Path(temporary)
        folder.mkdir(parents=True, exist_ok=True)

        def rows_of(name):
            return (told_by if name in PROGRAMS else promised)(arguments.telltale, name, folder)

        rows = [each for part in pool.map(rows_of, arguments.only) for each in part]
    columns = ("question", "program", "what", "told", "known", "right")
    print("| " + " | ".join(columns) + " |\n" + "|---" * len(columns) + "|")
    for each in rows:
        print("| " + " | ".join(str(each[column]) for column in columns) + " |")
    for question in dict.fromkeys(each["question"] for each in rows):
        of_kind = [each["right"] for each in rows if each["question"] == question]
        print(f"\n{question}: {sum(of_kind)} of {len(of_kind)} right")


if __name__ == "__main__":
    main()
