"""The machine, the tools and the state of the source that a measurement belongs to."""

import datetime
import os
import platform
import subprocess
from pathlib import Path


def describe(root: Path) -> dict[str, str]:
    return {
        "date": datetime.date.today().isoformat(),
        "commit": _first_line(["git", "-C", root, "describe", "--always", "--dirty"]),
        "processor": f"{_field('/proc/cpuinfo', 'model name')}, {len(os.sched_getaffinity(0))} cores",
        "memory": f"{int(_field('/proc/meminfo', 'MemTotal').split()[0]) / 2**20:.0f} GiB",
        "kernel": f"{platform.system()} {platform.release()}",
        "compiler": _first_line(["c++", "--version"]),
    }


def load_average() -> float:
    return os.getloadavg()[0]


def _field(path: str, name: str) -> str:
    for line in Path(path).read_text().splitlines():
        key, _, value = line.partition(":")
        if key.strip() == name:
            return value.strip()
    return "unknown"


def _first_line(command: list) -> str:
    done = subprocess.run(command, capture_output=True, text=True)
    return done.stdout.splitlines()[0] if done.returncode == 0 and done.stdout else "unknown"
