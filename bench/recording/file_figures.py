"""How large .tell files are and how fast they are read, beside the JSON that they were made from."""

import json
import subprocess
import tempfile
from dataclasses import dataclass
from pathlib import Path

from harness import files, goals, programs, report

EXAMPLES = programs.ROOT / "examples" / "traces"
LARGE_SOURCE = "resnet50_train.json.gz"
LARGE_BYTES = 100_000_000
LIVE_EVENTS = 2_000_000


@dataclass
class Size:
    name: str
    events: int
    json_gz: int
    tell: int

    @property
    def bytes_an_event(self) -> float:
        return self.tell / self.events


def convert(source: Path, target: Path) -> None:
    subprocess.run([programs.BIN / "telltale", "convert", source, "-o", target, "--force"], check=True,
                   stderr=subprocess.DEVNULL)


def count_rows(path: Path) -> int:
    """Events, memory events and counter values: all that the JSON has an object of its own for."""
    done = subprocess.run([programs.BIN / "read_bench", path, "1", "1"], check=True, stdout=subprocess.PIPE, text=True)
    return json.loads(done.stdout.splitlines()[-1])["rows"]


def sizes() -> list[Size]:
    """Of the real traces in the repository. Their .json.gz is as they were recorded."""
    found = []
    with tempfile.TemporaryDirectory() as folder:
        for trace in sorted(EXAMPLES.glob("*.json.gz")):
            tell = Path(folder) / "trace.tell"
            convert(trace, tell)
            found.append(Size(trace.name.removesuffix(".json.gz"), count_rows(trace), trace.stat().st_size,
                              tell.stat().st_size))
    return found


def reading_ratio(runs: int) -> tuple[float, float]:
    """Seconds to read the same long trace on one core: as JSON, and as .tell."""
    data = programs.ROOT / "bench" / "data"
    real = files.plain_copy(EXAMPLES / LARGE_SOURCE, data)
    large = files.repeated(real, round(LARGE_BYTES / real.text_bytes), programs.make_trace())
    tell = files.TraceFile(large.path.with_suffix(".tell"), large.label, large.text_bytes)
    convert(large.path, tell.path)
    return programs.our_reader(large, 1, runs).best, programs.our_reader(tell, 1, runs).best


def live_reading(runs: int) -> tuple[float, float]:
    """Seconds to read a live recording on one core: its events as JSON, and the recording itself."""
    with tempfile.TemporaryDirectory() as folder:
        tell, large = Path(folder) / "live.tell", Path(folder) / "live.json"
        subprocess.run([programs.BIN / "make_recording", tell, str(LIVE_EVENTS)], check=True)
        convert(tell, large)
        return tuple(programs.our_reader(files.TraceFile(path, path.name, path.stat().st_size), 1, runs).best
                     for path in (large, tell))


def reached(found: list[Size], json_s: float, tell_s: float) -> list[goals.Goal]:
    return [
        goals.at_most("a .tell file of a real trace, values included, the largest", 12,
                      max(size.bytes_an_event for size in found), "bytes an event"),
        goals.at_least("reading .tell, 100 MB of JSON, one core: speed of reading the JSON", 5, json_s / tell_s),
    ]


def table_of(found: list[Size]) -> str:
    rows = [[size.name, f"{size.events:,}", f"{size.json_gz:,}", f"{size.tell:,}", f"{size.json_gz / size.tell:.1f} ×",
             f"{size.bytes_an_event:.1f}"] for size in found]
    return report.table(["real trace", "events", ".json.gz, bytes", ".tell, bytes", "smaller", "bytes an event"], rows,
                        "lrrrrr")
