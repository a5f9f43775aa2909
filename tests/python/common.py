"""What the tests of this folder share. TELLTALE in the environment says where the command is."""
import gzip
import json
import os
import subprocess
from pathlib import Path

PROGRAM = os.environ["TELLTALE"]
ROOT = Path(__file__).resolve().parents[2]
TRACES = ROOT / "examples" / "traces"
RESNET = str(TRACES / "resnet50_train.json.gz")
MLP = str(TRACES / "mlp_sync.json.gz")
SERVER = str(TRACES / "inference_server.tell")
SNAPSHOT = str(ROOT / "examples" / "memory" / "made_up_training.pickle")
# One of each sort: training, decoding, a CUDA graph, a native recording, broken memory, everything recorded.
SOME_TRACES = sorted(map(str, TRACES.iterdir())) + [
    str(ROOT / "tests" / "diagnosis" / f"{name}.json.gz") for name in ("log_every_step", "metric_keeps_its_graph", "pageable_batch")
]


def command(*words, **options):
    """The finished command, with its output as text."""
    return subprocess.run([PROGRAM, *words], capture_output=True, encoding="utf-8", **options)


def answer(*words):
    """The parsed answer of a command that prints JSON and must succeed."""
    done = command(*words, "--json", check=True)
    return json.loads(done.stdout)


def raw_events(path):
    """The events of a trace, as Python's own reader sees them."""
    with gzip.open(path) as file:
        return json.load(file)["traceEvents"]
