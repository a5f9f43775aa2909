"""Operators, inputs, memory, modules, steps and collectives of real PyTorch work on the CPU, as the adapter records them."""
import gc
import socket
import tempfile
import threading
import unittest
import weakref
from collections import Counter
from pathlib import Path

import torch
from torch import nn
from torch.profiler import ProfilerActivity, profile
from torch.utils.data import DataLoader, TensorDataset

from recorded import contains, record, telltale_top

torch.set_num_threads(1)
torch.manual_seed(1)


def training(model, inputs, steps=3):
    """A loop over an optimizer."""
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01, momentum=0.9)

    def work():
        for _ in range(steps):
            optimizer.zero_grad()
            model(inputs).square().mean().backward()
            optimizer.step()

    work()  # what is done once is done before
    return work


def small_model():
    return nn.Sequential(nn.Linear(8, 16), nn.ReLU(), nn.Linear(16, 4))


class Operators(unittest.TestCase):
    def test_have_the_sequence_numbers_and_the_scalars_that_torch_tells(self):
        a = torch.ones(3, 4, requires_grad=True)
        recorded = record(lambda: a.t().add(1.0, alpha=2.5).sum(dim=[0, 1]).backward(), shapes=True)
        [add] = recorded.named("aten::add")
        self.assertEqual(add["args"]["Input Dims"], [[4, 3], [], []])
        self.assertEqual(add["args"]["Input Strides"], [[1, 4], [], []])
        self.assertEqual(add["args"]["Input type"], ["float", "double", "Scalar"])
        self.assertEqual(add["args"]["Concrete Inputs"], ["", "", "2.5"])
        [summed] = recorded.named("aten::sum")
        self.assertEqual(summed["args"]["Concrete Inputs"][1:3], ["[0, 1]", "False"])
        [backward] = recorded.named("AddBackward0")
        self.assertEqual(backward["args"]["Sequence number"], add["args"]["Sequence number"])
        self.assertGreater(backward["args"]["Fwd thread id"], 0)
        self.assertEqual(recorded.arrows["s"], recorded.arrows["f"])
        self.assertGreaterEqual(recorded.arrows["s"], 2)

    def test_inputs_read_as_in_the_json_of_torchs_own_profiler(self):
        embedding = nn.EmbeddingBag(10, 3, mode="sum")
        tensors = [torch.ones(2, 2), torch.zeros(2, 2)]

        def work():
            torch.stack(tensors, dim=1)
            torch.cat([torch.ones(2, 2).double(), torch.ones(1, 2).double()])
            embedding(torch.tensor([1, 2, 4]), torch.tensor([0, 2]))
            torch.nn.functional.conv2d(torch.ones(1, 1, 5, 5), torch.ones(2, 1, 3, 3), stride=2, padding=[1, 0])

        ours = record(work, shapes=True)
        with profile(activities=[ProfilerActivity.CPU], record_shapes=True) as theirs:
            work()
        expected = Counter((event.name, str(event.input_shapes)) for event in theirs.events())
        got = Counter((op["name"], str([[] if dims and isinstance(dims[0], list) else dims
                                        for dims in op["args"]["Input Dims"]])) for op in ours.operators)
        self.assertEqual(got, expected)
        [stack] = ours.named("aten::stack")
        self.assertEqual(stack["args"]["Input Dims"], [[[2, 2], [2, 2]], []])
        self.assertEqual(stack["args"]["Input type"], ["TensorList", "Scalar"])

    def test_threads_of_the_program_are_all_recorded(self):
        def work():
            threads = [threading.Thread(target=lambda: [torch.ones(4).add(1) for _ in range(50)]) for _ in range(4)]
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join()

        recorded = record(work)
        by_thread = Counter(op["tid"] for op in recorded.named("aten::add"))
        self.assertEqual(sorted(by_thread.values()), [50, 50, 50, 50])

    def test_names_that_change_all_the_time_stay_what_they_are(self):
        def work():
            for i in range(300):
                with torch.profiler.record_function(f"batch {i}"):
                    torch.ones(1)

        recorded = record(work)
        self.assertEqual(Counter(span["name"] for span in recorded.annotations),
                         Counter(f"batch {i}" for i in range(300)))

    def test_no_tensor_is_kept_alive(self):
        alive = []

        def work():
            tensor = torch.ones(100)
            alive.append(weakref.ref(tensor))
            tensor.add(1)
            del tensor
            alive.append(alive[0]() is None)

        record(work, shapes=True, memory=True)
        self.assertTrue(alive[1])

    def test_a_recording_that_ended_leaves_nothing_behind(self):
        work = training(small_model(), torch.ones(2, 8))
        record(work, shapes=True, memory=True, modules=True, stacks=True)
        from torch.nn.modules import module
        self.assertFalse(torch.autograd._profiler_enabled())
        self.assertFalse(module._global_forward_pre_hooks or module._global_forward_hooks)
        self.assertEqual(len(gc.callbacks), 0)
        again = record(work)  # without the options of the first one
        self.assertEqual(again.memory, [])
        self.assertEqual(again.python, [])
        self.assertNotIn("Input Dims", str(again.operators))


class Memory(unittest.TestCase):
    def test_of_the_host_is_got_and_given_back_within_the_operator(self):
        kept = []

        def work():
            kept.append(torch.empty(1000, dtype=torch.float32))
            torch.empty(500, dtype=torch.float64)  # given back at once

        recorded = record(work, memory=True)
        self.assertEqual([event["Bytes"] for event in recorded.memory], [4000, 4000, -4000])
        self.assertEqual([event["Total Allocated"] for event in recorded.memory], [4000, 8000, 4000])
        self.assertEqual(recorded.memory[0]["Addr"], kept[0].data_ptr())
        self.assertEqual(recorded.memory[1]["Addr"], recorded.memory[2]["Addr"])

    @unittest.skipIf(torch.__version__ < "2.4", "torch's own profiler told times in microseconds, and memory by them")
    def test_is_told_by_the_same_operators_as_in_torchs_own_profiler(self):
        work = training(small_model(), torch.ones(2, 8))
        with profile(activities=[ProfilerActivity.CPU], profile_memory=True) as theirs:
            work()
        expected = {row.key: row.self_cpu_memory_usage for row in theirs.key_averages() if row.self_cpu_memory_usage > 0}
        with tempfile.TemporaryDirectory() as folder:
            path = str(Path(folder) / "run.tell")
            record(work, memory=True, path=path)
            rows = telltale_top(path)
        got = {row["name"]: row["self_cpu_memory_bytes"] for row in rows if (row["self_cpu_memory_bytes"] or 0) > 0}
        self.assertEqual({name: got.get(name) for name in expected}, expected)

    def test_that_outlives_the_recording_is_given_back_in_peace(self):
        kept = []
        record(lambda: kept.extend(torch.ones(10_000) for _ in range(100)), memory=True)
        self.assertEqual(float(sum(tensor.sum() for tensor in kept)), 1_000_000)
        kept.clear()
        record(lambda: kept.append(torch.ones(10)), memory=True)


class Modules(unittest.TestCase):
    def test_stand_around_their_operators(self):
        model = small_model()
        recorded = record(lambda: [model(torch.ones(2, 8)) for _ in range(2)], modules=True)
        calls = Counter(span["name"] for span in recorded.python)
        self.assertEqual(calls, {"nn.Module: Sequential_0": 2, "nn.Module: Linear_0": 2, "nn.Module: ReLU_0": 2,
                                 "nn.Module: Linear_1": 2})
        for linear in recorded.named("nn.Module: Linear_0") + recorded.named("nn.Module: Linear_1"):
            self.assertEqual(sum(contains(linear, op) for op in recorded.named("aten::linear")), 1)
            self.assertEqual(sum(contains(outer, linear) for outer in recorded.named("nn.Module: Sequential_0")), 1)

    def test_that_raise_are_closed(self):
        class Failing(nn.Module):
            def forward(self, _):
                raise ValueError("no")

        model = nn.Sequential(nn.ReLU(), Failing())

        def work():
            for _ in range(2):
                with self.assertRaises(ValueError):
                    model(torch.ones(1))

        recorded = record(work, modules=True)
        self.assertEqual(len(recorded.named("nn.Module: Failing_0")), 2)
        self.assertEqual(len(recorded.named("nn.Module: Sequential_0")), 2)

    def test_are_left_alone_by_the_compiler(self):
        model = torch.compile(small_model(), backend="eager", fullgraph=True)
        x = torch.ones(2, 8)
        plain = model(x)
        recorded = record(lambda: self.assertTrue(torch.equal(model(x), plain)), modules=True)
        self.assertGreater(len(recorded.named("aten::linear")) + len(recorded.named("aten::addmm")), 0)


class Steps(unittest.TestCase):
    @unittest.skipIf(torch.__version__ < "2.4", "its compiler, once used, takes away the optimizers' annotations")
    def test_end_with_the_optimizer(self):
        recorded = record(training(small_model(), torch.ones(2, 8)), find_steps=True)
        steps = recorded.steps()
        self.assertEqual([step["name"] for step in steps], ["ProfilerStep#0", "ProfilerStep#1", "ProfilerStep#2"])
        optimizer = recorded.named("Optimizer.step#SGD.step")
        for step, last in zip(steps, optimizer, strict=True):
            self.assertTrue(contains(step, last))

    def test_begin_with_the_batches_where_nothing_is_trained(self):
        model, loader = small_model(), DataLoader(TensorDataset(torch.ones(12, 8)), batch_size=4)

        def work():
            with torch.no_grad():
                for (batch,) in loader:
                    model(batch)

        recorded = record(work, find_steps=True)
        # What comes before the first batch, two batches, and the third one, which ends where the loader finds its end.
        self.assertEqual(len(recorded.steps()), 4)
        for step in recorded.steps()[1:]:
            self.assertEqual(sum(contains(step, op) for op in recorded.named("aten::relu")), 1)

    def test_begin_with_the_annotation_that_comes_again(self):
        def work():
            for _ in range(3):
                with torch.profiler.record_function("request"):
                    with torch.profiler.record_function("decode"):
                        torch.ones(1)

        self.assertEqual(len(record(work, find_steps=True).steps()), 2)

    def test_of_the_program_itself_are_left_alone(self):
        def work():
            for i in range(2):
                with torch.profiler.record_function(f"ProfilerStep#{i + 7}"):
                    training_step()

        training_step = training(small_model(), torch.ones(2, 8), steps=1)
        names = [step["name"] for step in record(work, find_steps=True).steps()]
        self.assertEqual(names, ["ProfilerStep#7", "ProfilerStep#8"])

    def train_two(self, first, second, times=3, of_second=1):
        """How many steps are found where two optimizers take turns, the second so many times."""
        one, two = nn.Linear(4, 4), nn.Linear(4, 4)
        ahead, behind = first(one.parameters(), lr=0.1), second(two.parameters(), lr=0.1)

        def work():
            for _ in range(times):
                two(one(torch.ones(1, 4))).sum().backward()
                ahead.step()
                for _ in range(of_second):
                    behind.step()

        work()
        return len(record(work, find_steps=True).steps())

    @unittest.skipIf(torch.__version__ < "2.4", "its compiler, once used, takes away the optimizers' annotations")
    def test_with_two_optimizers_end_with_the_first_that_was_seen(self):
        self.assertEqual(self.train_two(torch.optim.Adam, torch.optim.SGD), 3)
        self.assertEqual(self.train_two(torch.optim.Adam, torch.optim.Adam), 3)
        self.assertEqual(self.train_two(torch.optim.Adam, torch.optim.Adam, of_second=5), 3)

    @unittest.skipIf(torch.__version__ < "2.4", "its compiler, once used, takes away the optimizers' annotations")
    def test_go_on_with_another_optimizer_where_the_first_has_done_its_part(self):
        # The 33rd step without the first ends one, and so does each behind it.
        self.assertEqual(self.train_two(torch.optim.Adam, torch.optim.Adam, times=1, of_second=40), 1 + 8)

    def test_break_no_graph_of_a_compiled_optimizer(self):
        layer = nn.Linear(4, 4)
        optimizer = torch.optim.SGD(layer.parameters(), lr=0.1)

        def breaks(run):
            torch._dynamo.reset()
            torch._dynamo.utils.counters.clear()
            step = torch.compile(optimizer.step, backend="eager")
            layer(torch.ones(1, 4)).sum().backward()
            run(step)
            return dict(torch._dynamo.utils.counters["graph_break"])

        self.assertEqual(breaks(lambda step: record(step, find_steps=True)), breaks(lambda step: step()))


class PythonCalls(unittest.TestCase):
    def test_stand_around_what_they_call(self):
        def inner():
            return torch.ones(2)

        def outer():
            return inner()

        recorded = record(outer, stacks=True)
        [outer_call] = [span for span in recorded.python if span["name"].endswith("): outer")]
        [inner_call] = [span for span in recorded.python if span["name"].endswith("): inner")]
        self.assertRegex(inner_call["name"], rf"test_adapter\.py\({inner.__code__.co_firstlineno}\): inner$")
        self.assertTrue(contains(outer_call, inner_call))
        [ones] = recorded.named("aten::ones")
        self.assertTrue(contains(inner_call, ones))
        self.assertEqual(len(recorded.named("<built-in method ones of type object>")), 1)
        # What was under way before is there as well, and our own functions are not.
        self.assertEqual(sum(span["name"].endswith("): <module>") for span in recorded.python), 1)
        self.assertFalse([span["name"] for span in recorded.python if "telltale/_capture" in span["name"]])

    def test_beyond_the_budget_give_way_to_modules(self):
        model = small_model()

        def work():
            for _ in range(20):
                model(torch.ones(2, 8))

        recorded = record(work, stacks=True, modules=True, python_call_budget=100)
        modules = [span for span in recorded.python if span["name"].startswith("nn.Module")]
        self.assertIn(len(modules), (80, 81))  # the call in which the budget ends may be seen from both sides
        self.assertEqual(len(recorded.python) - len(modules), 100)
        [mark] = recorded.instants
        self.assertIn("budget of 100 calls is used up", mark["name"])

    def test_of_garbage_collections(self):
        recorded = record(lambda: gc.collect())
        [collection] = recorded.named("gc.collect (generation 2)")
        self.assertGreater(collection["dur"], 0)


class Asynchronous(unittest.TestCase):
    def test_work_that_ends_on_another_thread_has_a_line_of_its_own(self):
        with socket.create_server(("localhost", 0)) as free:
            port = free.getsockname()[1]
        torch.distributed.init_process_group("gloo", init_method=f"tcp://localhost:{port}", rank=0, world_size=1)
        try:
            recorded = record(lambda: [torch.distributed.all_reduce(torch.ones(7)) for _ in range(3)])
        finally:
            torch.distributed.destroy_process_group()
        collectives = sorted(recorded.named("gloo:all_reduce"), key=lambda span: span["ts"])
        self.assertEqual(len(collectives), 3)
        [caller] = {op["tid"] for op in recorded.named("c10d::allreduce_")}
        self.assertNotIn(caller, {span["tid"] for span in collectives})
        for work, call in zip(collectives, recorded.named("c10d::allreduce_"), strict=True):
            self.assertGreater(work["ts"] + work["dur"], call["ts"])


if __name__ == "__main__":
    unittest.main()
