"""What is recorded here: programs of the usual kinds, and programs with a planted fault and what must be found in them.

A program stands in programs/ and has a command; a planted one stands in planted/, takes --fixed, and ends with what it measured."""
import signal
from dataclasses import dataclass, field
from pathlib import Path

HERE = Path(__file__).resolve().parent
PROGRAMS = HERE / "programs"
PLANTED = HERE / "planted"
ENTRY_POINT = "#!{python}\nimport sys\nfrom greeter.__main__ import main\nif __name__ == '__main__':\n    sys.exit(main())\n"


@dataclass(frozen=True)
class Program:
    name: str
    words: tuple[str, ...]  # behind the interpreter, or "./…": a script of its own
    typed: str = ""  # what stands in its standard input
    told: signal.Signals | None = None  # what its process group gets when it has printed "ready"
    scripts: dict[str, str] = field(default_factory=dict)  # executables that must be there
    variables: dict[str, str] = field(default_factory=dict)
    records: bool = True  # whether there is something to record
    steps: int | None = None  # how many the recording must show, where that matters
    # PyTorch's ranks abort at their end now and then, recorded or not ("terminate called without an active exception").
    may_abort: bool = False


def script(name: str, *words: str) -> tuple[str, ...]:
    return str(PROGRAMS / name), *words


WITH_PACKAGE = {"PYTHONPATH": str(PROGRAMS)}
USUAL = [
    Program("loader_fork", script("loader_workers.py", "fork")),
    Program("loader_spawn", script("loader_workers.py", "spawn")),
    Program("trainer", script("trainer.py")),
    Program("hooks", script("hooks.py")),
    Program("compiled", script("compiled.py")),
    Program("ranks_spawned", script("ranks_spawned.py"), may_abort=True),
    Program("ranks_torchrun", ("-m", "torch.distributed.run", "--nproc-per-node", "2", "--standalone", "--local-addr", "127.0.0.1",
                               *script("ranks_torchrun.py")), may_abort=True),
    Program("forked", script("forked.py")),
    Program("fork_at_end", script("fork_at_end.py")),
    Program("pools", script("pools.py")),
    Program("threads", script("eager_threads.py")),
    Program("thread_server", script("thread_server.py")),
    Program("async_server", script("async_server.py")),
    Program("package", ("-m", "greeter", "Anna", "--fail"), variables=WITH_PACKAGE),
    Program("entry_point", ("./greet", "Bert"), scripts={"greet": ENTRY_POINT}, variables=WITH_PACKAGE),
    Program("command_line", ("-c", "import torch, sys\nfor _ in range(20): torch.ones(9).sum()\nprint(sys.argv)", "a b", "")),
    Program("raises", script("raises.py")),
    Program("exit_status", script("exits.py", "exit")),
    Program("exit_message", script("exits.py", "message")),
    Program("exit_at_once", script("exits.py", "at_once")),
    Program("kills_itself", script("exits.py", "terminated")),
    Program("aborts", script("exits.py", "aborted")),
    Program("stopped", script("stops.py"), told=signal.SIGTERM),
    Program("stopped_by_hand", script("stops.py"), told=signal.SIGINT),
    Program("interrupted", script("interrupted.py"), told=signal.SIGINT),
    Program("streams", script("streams.py"), typed="two\nlines\n"),
    Program("late_torch", script("late.py")),
    Program("no_torch", script("never.py", "--flag"), records=False),
    Program("inference", script("inference.py"), steps=40),
    Program("decode", script("decode.py"), steps=20),
    Program("texts", script("texts.py"), steps=12),
    Program("own_profiler", script("own_profiler.py")),
    Program("notebook", script("notebook.py")),
    Program("closes_files", script("closes_files.py")),
    Program("daemon", script("daemon.py")),
    Program("scarce", script("scarce.py")),
    Program("timers", script("timers.py")),
]


@dataclass(frozen=True)
class Planted:
    name: str  # of the file, and of the case
    fault: str  # in words
    rules: tuple[str, ...]  # what names it; any of these will do
    lines: tuple[str, ...]  # where it stands: what a line begins with, blanks left out; the finding must name one of these
    short: tuple[str, ...] = ()  # arguments that make it short enough for a test
    options: tuple[str, ...] = ()  # of `telltale record`, where the default cannot see it
    is_timed: bool = True  # whether the fixed version is faster
    wants_idle: bool = False  # whether there is a fault only where other programs leave processors idle
    variables: dict[str, str] = field(default_factory=dict)

    @property
    def path(self) -> Path:
        return PLANTED / f"{self.name}.py"

    def line_numbers(self) -> list[int]:
        """The lines that a finding may name; empty where it needs none."""
        text = self.path.read_text(encoding="utf-8").splitlines()
        numbers = [number for number, line in enumerate(text, 1) if line.strip().startswith(self.lines)]
        if self.lines and len(numbers) < len(self.lines):
            raise ValueError(f"{self.path} has not all of {self.lines}")
        return numbers

    def rank(self, findings: list[dict]) -> int | None:
        """Where the fault stands among the findings, from 1 on; None if it is not named."""
        numbers = self.line_numbers() if self.lines else []
        for place, finding in enumerate(findings, 1):
            if finding["rule"] not in self.rules:
                continue
            source = finding["source"]
            if not self.lines or (source and Path(source["file"]).name == self.path.name and source["line"] in numbers):
                return place
        return None


WAITING = ("waiting_in_step",)
FAULTS = [
    Planted("weather", "a sleep in each step", WAITING, ("time.sleep(self.pause)", "progress.show("), ("--steps", "60")),
    Planted("telemetry", "a lock that another thread holds while it sends", WAITING,
            ("with self.guard:", "self.rows.append(", "metrics.add("), ("--steps", "60")),
    Planted("tabular", "a file read in each step", ("python_overhead", *WAITING),
            ("table = np.load", "return torch.from_numpy(table", "mean, scale =", "batch = scaler("), ("--steps", "50")),
    Planted("draws", "a generator that shuffles all rows for each batch", ("python_overhead",),
            ("rows = np.random.choice(", "def batches"), ("--steps", "50")),
    Planted("indexing", "an index read in each step", ("python_overhead", *WAITING),
            ("return json.load(", "def read_index", "with open(path, encoding", "known = index if"), ("--steps", "50")),
    Planted("autoencoder", "a process started in each step", ("python_overhead", *WAITING),
            ("table = subprocess", "self.lines.append(", "log.write("), ("--steps", "60")),
    Planted("digits", "a transform in pure Python", ("data_loading", "loader_line", "loader_no_workers", "python_overhead"),
            ("picture = self.normalize(", "for pixel in", "value = (", "values.append(", "return torch.tensor(values)"), ("--epochs", "2")),
    Planted("sentences", "a collate_fn in pure Python", ("data_loading", "loader_line", "loop_indexing", "python_overhead"),
            ("for row, (words", "for column in", "batch[row, column] ="), ("--steps", "40")),
    Planted("iris", "batches of four", ("small_batch", "small_host_batch"), (), ("--epochs", "3")),
    Planted("encoder", "one thread where there are two processors", ("few_threads",), (), ("--steps", "20"), wants_idle=True),
    Planted("mixer", "sixteen threads on two processors", ("many_threads",), (), ("--steps", "20")),
    Planted("tagger", "a loop over the rows of a batch", ("loop_indexing", "python_overhead"), ("last = torch.stack(",),
            ("--steps", "20")),
    Planted("student", "a Python loop over parameters", ("python_overhead", "loop_indexing"),
            ("theirs.data =", "for theirs, ours", "update("), ("--steps", "40")),
    Planted("surface", "float64 without need", ("slow_host_types",), (), ("--steps", "30")),
    Planted("physics", "a chain of elementwise operators", ("unfused_host_chains",), (), ("--steps", "40")),
    Planted("ratings", "workers that start anew in each epoch", ("loader_restarts",), (), ("--epochs", "8")),
    Planted("two_ranks", "a rank that waits for the other", ("exposed_communication", "waiting_for_ranks", *WAITING), (),
            ("--steps", "40")),
    Planted("answers", "a lock held while features are fetched", ("request_serving", *WAITING),
            ("with self.guard:", "features = self.store.features(", "time.sleep(0.01)", "return self.judged(features)"),
            ("--requests", "30")),
    Planted("signals", "anomaly detection left on", ("anomaly_detection",), (), ("--steps", "60")),
    Planted("appraisal", "weights read anew for each answer", ("file_loading",), ("self.model.load_state_dict(torch.load(",),
            ("--pictures", "200")),
    Planted("balance", "an optimizer that walks from parameter to parameter", ("single_tensor_optimizer",), (), ("--steps", "800")),
    Planted("writer", "texts written without a cache", ("recomputed_tokens",), ("scores, kept = model(word",), ("--texts", "5")),
    Planted("survey", "losses kept with their graphs", ("memory_leak",), (), ("--steps", "40"), ("--memory",), is_timed=False),
]

