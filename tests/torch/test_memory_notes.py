"""What a program's tensors are, what its processes hold, and how it ends when memory runs out: as the program itself
counts it."""
import json
import os
import re
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

import telltale
from recorded import TELLTALE
from telltale._capture import referrers

PATIENCE = 120

ATTACH = """
import json, sys, torch
from telltale._capture import attach
config = {"path": sys.argv[1], "memory": True}
assert attach.before_torch(config)
attach.after_torch(config)
"""

TRAINING = ATTACH + """
class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = torch.nn.Sequential(torch.nn.Linear(16, 32), torch.nn.BatchNorm1d(32), torch.nn.Linear(32, 4))
    def forward(self, x):
        return self.layers(x)
model = Net()
optimizer = torch.optim.Adam(model.parameters())
def place(tensor):
    return [tensor.untyped_storage().data_ptr(), tensor.untyped_storage().nbytes()]
own = {"gradients": []}
inputs = [torch.ones(8, 16) for _ in range(12)]
for step in range(12):
    optimizer.zero_grad()
    model(inputs[step]).sum().backward()
    own["gradients"].append({name: place(each.grad) for name, each in model.named_parameters()})
    optimizer.step()
own["parameters"] = {name: place(each) for name, each in model.named_parameters()}
own["buffers"] = {name: place(each) for name, each in model.named_buffers()}
own["state"] = {f"{name}.{key}": place(value) for name, each in model.named_parameters()
                for key, value in optimizer.state[each].items()}
own["inputs"] = [place(inputs[step]) for step in (0, 4, 8)]  # the first, and whenever the steps have doubled
print(json.dumps(own))
"""

COMPILED = ATTACH + """
compilations = []
def backend(graph, _inputs):
    compilations.append(graph)
    return graph.forward
model = torch.nn.Sequential(torch.nn.Linear(4, 4), torch.nn.Linear(4, 1))
compiled = torch.compile(model, backend=backend)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for _ in range(10):
    optimizer.zero_grad()
    compiled(torch.ones(2, 4)).sum().backward()
    optimizer.step()
print(json.dumps(len(compilations)))
"""

WORKERS = ATTACH + """
import os, time
class Slow(torch.utils.data.Dataset):
    def __len__(self):
        return 8
    def __getitem__(self, i):
        time.sleep(0.15)
        return torch.ones(4)
pids = []
loader = torch.utils.data.DataLoader(Slow(), batch_size=2, num_workers=2)
batches = iter(loader)
pids = [worker.pid for worker in batches._workers]
for batch in batches:
    batch.add(1)
print(json.dumps({"pids": pids}))
"""

HUNGRY = """
import resource, sys, torch
resource.setrlimit(resource.RLIMIT_AS, (6 << 30, resource.RLIM_INFINITY))
kept = []
for step in range(10_000):
    kept.append(torch.ones(256 << 20, dtype=torch.uint8))
"""

DEEP = """
import resource, torch
class Block(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.weight = torch.nn.Parameter(torch.ones(4096))
    def forward(self, x):
        return torch.tanh(x * self.weight)
blocks = torch.nn.ModuleList(Block() for _ in range(24))
optimizer = torch.optim.SGD(blocks.parameters(), lr=0.1)
x = torch.ones(64, 4096)
for step in range(4):
    if step == 3:
        taken = int(open("/proc/self/statm").read().split()[0]) * resource.getpagesize()
        resource.setrlimit(resource.RLIMIT_AS, (taken + (1 << 30), resource.RLIM_INFINITY))
        x = torch.ones(4096, 4096)
    y = x
    for block in blocks:
        y = block(y)
    y.sum().backward()
    optimizer.step()
    optimizer.zero_grad()
"""


def rows(table):
    import pyarrow

    return pyarrow.table(table).to_pylist()


class Case(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.path = Path(folder.name) / "run.tell"

    def run_program(self, text):
        """What it printed, and its recording."""
        done = subprocess.run([sys.executable, "-c", text, str(self.path)], capture_output=True, text=True,
                              timeout=PATIENCE, check=True)
        return json.loads(done.stdout.splitlines()[-1]), telltale.load(str(self.path))


class NotedTensors(Case):
    def test_are_where_the_program_has_them(self):
        own, trace = self.run_program(TRAINING)
        noted = rows(trace.noted_tensors)
        self.assertTrue(all(row["device"] is None for row in noted))

        def found(role):
            return {(row["name"] or "", row["address"], row["bytes"]) for row in noted if row["role"] == role}

        def listed(places):
            return {(name, *place) for name, place in places.items()}

        self.assertLessEqual(listed(own["parameters"]), found("parameter"))
        self.assertEqual({name for name, *_ in found("parameter")}, set(own["parameters"]))
        self.assertLessEqual(listed(own["buffers"]), found("buffer"))
        self.assertLessEqual(listed(own["state"]), found("optimizer_state"))
        self.assertLessEqual({("", *place) for place in own["inputs"]}, found("input"))
        for step, gradients in enumerate(own["gradients"]):
            self.assertLessEqual(listed(gradients), found("gradient"), f"step {step}")
        weights = [row for row in noted if row["role"] == "gradient" and row["name"] == "layers.0.weight"]
        self.assertGreaterEqual(len(weights), 8)  # those of the first steps again in each, whatever that costs

    def test_make_no_compiler_compile_again(self):
        compilations, _ = self.run_program(COMPILED)
        self.assertEqual(compilations, 1)  # one graph for one shape


class ResidentMemory(Case):
    def test_is_a_series_for_the_process_and_for_each_of_its_workers(self):
        own, trace = self.run_program(WORKERS)
        series = {}
        for row in rows(trace.counters):
            if row["counter"] == "resident memory":
                series.setdefault(row["series"], []).append(row["value"])
        self.assertLessEqual({"value", *(f"process {pid}" for pid in own["pids"])}, set(series))
        self.assertTrue(all(value > 1 << 20 for values in series.values() for value in values))

    def test_has_its_peak_at_the_end(self):
        _, trace = self.run_program(ATTACH + """
kept = torch.ones(64 << 20, dtype=torch.uint8)
del kept
import resource
print(json.dumps(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss))
""")
        peak = int(json.loads(next(r["value"] for r in rows(trace.metadata) if r["name"] == "peak_resident_bytes")))
        largest = max(row["value"] for row in rows(trace.counters) if row["counter"] == "resident memory")
        self.assertGreaterEqual(peak, 64 << 20)
        self.assertGreaterEqual(peak * 1.01, largest)


class Referrers(Case):
    def test_lead_from_what_leaks_to_the_variable_that_keeps_it(self):
        text = ATTACH.replace('"memory": True', '"memory": True, "referrers": True') + """
model = torch.nn.Linear(64, 64)
optimizer = torch.optim.Adam(model.parameters())
class Log:
    def __init__(self):
        self.losses = []
log = Log()
for _ in range(20):
    loss = model(torch.ones(128, 64)).square()
    loss.mean().backward()
    optimizer.step()
    log.losses.append(loss)
print(json.dumps([each.untyped_storage().data_ptr() for each in log.losses]))
"""
        own, trace = self.run_program(text)
        chains = json.loads(next(row["value"] for row in rows(trace.metadata) if row["name"] == "referrers"))
        first = chains[0]
        self.assertIn(first["address"], own)
        self.assertEqual((first["bytes"], first["alike"]), (128 * 64 * 4, 20))
        self.assertIn("keeps its graph", first["chain"][0])
        self.assertIn("list of 20", first["chain"])
        self.assertTrue(any("'losses'" in link or "Log" in link for link in first["chain"]), first)
        self.assertIn("'log' of __main__", first["chain"][-1])
        self.assertFalse(any("exp_avg" in link for each in chains for link in each["chain"]))

    def test_lead_to_variables_of_functions_which_end_before_the_recording_does(self):
        text = ATTACH.replace('"memory": True', '"memory": True, "referrers": True') + """
def main():
    model = torch.nn.Linear(64, 64)
    optimizer = torch.optim.Adam(model.parameters())
    kept = []
    for _ in range(20):
        loss = model(torch.ones(128, 64)).square()
        loss.mean().backward()
        optimizer.step()
        kept.append(loss)
    return [each.untyped_storage().data_ptr() for each in kept]
print(json.dumps(main()))
"""
        own, trace = self.run_program(text)
        chains = json.loads(next(row["value"] for row in rows(trace.metadata) if row["name"] == "referrers"))
        kept = [each for each in chains if "'kept' of main" in each["chain"][-1]]
        self.assertTrue(kept, chains)
        self.assertIn(kept[0]["address"], own)
        self.assertRegex(kept[0]["chain"][-2], r"^list of \d+$")

    def test_lead_to_each_of_those_that_keep_tensors_alike(self):
        """A dict, and a list with more and newer ones, in a program whose file has a name until its end."""
        text = ATTACH.replace('"memory": True', '"memory": True, "referrers": True') + """
model = torch.nn.Linear(64, 64)
optimizer = torch.optim.Adam(model.parameters())
listed, cache = [], {}
for step in range(24):
    out = model(torch.ones(128, 64))
    if step % 2:
        cache[step] = out.detach() * 2
    listed.extend(out.detach() * factor for factor in range(3))
    out.mean().backward()
    optimizer.step()
print(json.dumps([]))
"""
        _, trace = self.run_program(text)
        chains = json.loads(next(row["value"] for row in rows(trace.metadata) if row["name"] == "referrers"))
        ends = {each["chain"][-1] for each in chains}
        for name in ("listed", "cache"):
            self.assertTrue(any(f"variable '{name}' of __main__" in end for end in ends), ends)
        self.assertEqual([end for end in ends if "built in" in end], [])

    def test_name_a_variable_that_an_inner_function_uses_as_well(self):
        def outer():
            kept = []

            def inner():
                return kept

            frame = sys._getframe()
            return [referrers._link(frame, held) for held in (inner.__closure__[0], kept, inner, object())]

        words = [re.sub(r":\d+\)$", "", each) for each in outer()]
        place = f"of outer ({Path(__file__).name}"
        self.assertEqual(words, [f"variable 'kept' {place}", f"variable 'kept' {place}", f"variable 'inner' {place}",
                                 f"function outer ({Path(__file__).name}"])

    def test_tell_who_keeps_the_graph_of_a_running_sum(self):
        """The sum is another tensor in each step. Its graph has the operators of all steps until then, and those of the
        backward passes that have run are in none."""
        text = ATTACH.replace('"memory": True', '"memory": True, "referrers": True') + """
def main():
    model = torch.nn.Sequential(torch.nn.Linear(64, 64), torch.nn.GELU())
    optimizer = torch.optim.Adam(model.parameters())
    total, own, others = 0.0, [], []
    for _ in range(20):
        loss = model(torch.ones(128, 64)).square().mean()
        others.append(loss.grad_fn._sequence_nr())
        loss.backward()
        optimizer.step()
        out = model(torch.ones(128, 64))
        own.append(out.grad_fn._sequence_nr())
        total = total + out.square().mean()
    return own, others
print(json.dumps(main()))
"""
        (own, others), trace = self.run_program(text)
        chains = json.loads(next(row["value"] for row in rows(trace.metadata) if row["name"] == "referrers"))
        sums = [each for each in chains if "graph" in each and "'total' of main" in each["chain"][-1]]
        self.assertTrue(sums, chains)
        numbers = {number for first, last in sums[0]["graph"] for number in range(first, last + 1)}
        # It was looked for last behind the optimizer's sixteenth step.
        self.assertEqual([number in numbers for number in own], [True] * 15 + [False] * 5)
        self.assertFalse(numbers & set(others))
        leaks = json.loads(subprocess.run([TELLTALE, "memory", "--json", trace.path], capture_output=True,
                                          check=True).stdout)["leaks"]
        kept_by = [leak["kept_by"][-1] for leak in leaks if leak["operator"] == "aten::addmm"]
        self.assertTrue(kept_by and all("'total' of main" in each for each in kept_by), leaks)

    def test_are_looked_for_without_keeping_tensors_alive(self):
        text = ATTACH.replace('"memory": True', '"memory": True, "referrers": True') + """
import gc, weakref
gc.disable()
model = torch.nn.Linear(64, 64)
optimizer = torch.optim.Adam(model.parameters())
seen, kept = [], []
for _ in range(17):
    x = torch.ones(128, 64)
    out = model(x)
    kept.append(out.detach())
    out.square().mean().backward()
    optimizer.step()
    seen.append((weakref.ref(x), weakref.ref(out), weakref.ref(model.weight.grad)))
    optimizer.zero_grad()
print(json.dumps([[step for step, each in enumerate(seen[:-1]) if each[part]() is not None] for part in range(3)]))
"""
        self.assertEqual(self.run_program(text)[0], [[], [], []])

    def test_are_looked_for_without_keeping_anything_alive_or_changing_what_locals_gave(self):
        text = ATTACH.replace('"memory": True', '"memory": True, "referrers": True') + """
import gc, weakref
gc.disable()
class Thing:
    pass
def steps(count):
    optimizer = torch.optim.Adam([torch.zeros(3, requires_grad=True)])
    for _ in range(count):
        optimizer.step()
def drops():
    thing = Thing()
    seen = weakref.ref(thing)
    steps(8)
    del thing
    return seen() is None
def keeps_names():
    names = locals()
    before = dict(names)
    steps(8)
    return names == before
def ends():
    thing = Thing()
    steps(8)
    return weakref.ref(thing)
print(json.dumps([drops(), keeps_names(), ends()() is None]))
"""
        self.assertEqual(self.run_program(text)[0], [True, True, True])


class OutOfMemory(Case):
    def test_is_said_after_the_traceback_with_what_to_type_next(self):
        script = self.path.with_name("hungry.py")
        script.write_text(HUNGRY)
        done = subprocess.run([TELLTALE, "record", "--memory", "-o", str(self.path), "--", sys.executable, str(script)],
                              capture_output=True, text=True, timeout=PATIENCE)
        self.assertEqual(done.returncode, 1)
        traceback, _, rest = done.stderr.partition("RuntimeError")
        self.assertIn("Traceback", traceback)
        self.assertIn("telltale: memory ran out on the host: 256 MiB were asked for at hungry.py:6", rest, done.stderr)
        self.assertRegex(rest, r"telltale: at most, tensors took \d\.\d\d GiB: \d\.\d\d GiB ")
        self.assertIn("what held it: telltale memory ", rest)
        trace = telltale.load(str(self.path))
        refused = [row for row in rows(trace.allocator_events) if row["action"] == "out_of_memory"]
        self.assertEqual([(row["device"], row["bytes"]) for row in refused], [(-1, 256 << 20)])
        about = json.loads(next(row["value"] for row in rows(trace.metadata) if row["name"] == "out_of_memory"))
        self.assertEqual(about["where"], "host")
        sizes = [row["bytes"] for row in rows(trace.memory) if abs(row["bytes"]) == 256 << 20]
        self.assertGreater(sum(size > 0 for size in sizes), 2)

    def test_comes_with_what_would_free_most(self):
        # Layers that keep two tensors of 64 MiB each for the backward pass, until 1 GiB is full.
        script = self.path.with_name("deep.py")
        script.write_text(DEEP)
        done = subprocess.run([TELLTALE, "record", "--memory", "-o", str(self.path), "--", sys.executable, str(script)],
                              capture_output=True, text=True, timeout=PATIENCE)
        self.assertEqual(done.returncode, 1, done.stderr)
        rest = done.stderr.partition("RuntimeError")[2]
        self.assertRegex(rest, r"ran out on the host: 64\.0 MiB were asked for at deep\.py:8 in Block_\d+\n")
        kept = re.search(r"tensors took .*: (\d+|\d\.\d+) ([MG])iB activations kept for backward", rest)
        self.assertIsNotNone(kept, rest)
        # Of the 1 GiB, all that fits, but for the input and what the interpreter takes.
        self.assertGreater(float(kept[1]) * (1024 if kept[2] == "G" else 1), 512)
        self.assertRegex(rest, r"telltale: 1\. .*: saves \d")

    def test_is_noted_without_importing_torch(self):
        text = """
import sys
from telltale._capture import out_of_memory
assert "torch" not in sys.modules
print(out_of_memory.what_ran_out(MemoryError()), out_of_memory.what_ran_out(ValueError()) or "nothing",
      "torch" in sys.modules)
"""
        done = subprocess.run([sys.executable, "-c", text], capture_output=True, text=True, timeout=PATIENCE)
        self.assertEqual((done.stdout, done.stderr), ("host nothing False\n", ""))

    def test_leaves_the_programs_own_handler_alone(self):
        text = """
def own(kind, error, trace):
    print("mine", kind.__name__)
sys.excepthook = own
""" + ATTACH.replace("import json, sys, torch\n", "") + "raise MemoryError('no more')\n"
        done = subprocess.run([sys.executable, "-c", "import json, sys, torch\n" + text, str(self.path)],
                              capture_output=True, text=True, timeout=PATIENCE)
        self.assertEqual((done.returncode, done.stdout), (1, "mine MemoryError\n"))
        about = next(r["value"] for r in rows(telltale.load(str(self.path)).metadata) if r["name"] == "out_of_memory")
        self.assertEqual(json.loads(about), {"where": "host", "error": "MemoryError", "message": "no more"})


if __name__ == "__main__":
    os.environ.setdefault("OMP_NUM_THREADS", "1")
    unittest.main()
