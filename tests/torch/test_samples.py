"""Stacks of operators and samples of threads: what they show, and that they do no harm."""
import inspect
import os
import re
import subprocess
import sys
import tempfile
import threading
import time
import unittest

import torch
from recorded import contains, record

from telltale import _recorder
from telltale._capture import Recording, Wanted, samples

HERE = os.path.basename(__file__)


def line_with(function, text):
    lines, first = inspect.getsourcelines(function)
    return first + next(number for number, line in enumerate(lines) if text in line)


def stack_of(span):
    """Outermost first."""
    return span["args"]["Call stack"].split(";")[::-1]


def seen_while(work, per_second=1000):
    """The lines of this file that samples found while the work was done: (line, waits for) → samples."""
    usual, samples._PER_SECOND = samples._PER_SECOND, per_second
    try:
        record(work, samples=True)
    finally:
        samples._PER_SECOND = usual
    rows = _recorder.sampled_lines()
    return {(line, waits_for): count for file, line, _, waits_for, count in rows if os.path.basename(file) == HERE}


def calls_of(recorded, function, of_interest=None):
    """The operators in each call of the function, or of modules of a class, that was made out of what was seen."""
    name = re.compile(rf".*: {function}(_\d+)?")
    calls = sorted((span for span in recorded.python if name.fullmatch(span["name"])), key=lambda span: span["ts"])
    operators = sorted(recorded.operators, key=lambda span: span["ts"])
    if of_interest:
        operators = [span for span in operators if span["name"] in of_interest]
    return [[span["name"] for span in operators if contains(call, span)] for call in calls]


class TwoLayers(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.first = torch.nn.Linear(4, 4)
        self.second = torch.nn.Linear(4, 4)

    def forward(self, x):
        x = self.first(x)
        x = x.cos()
        return self.second(x)


ONE_LAYER = torch.nn.Linear(4, 4)
A_ROW = torch.nn.Sequential(torch.nn.Linear(4, 4), torch.nn.Linear(4, 4), torch.nn.ReLU())


def make_a_norm():
    return torch.nn.BatchNorm1d(4)


def one_call(x):
    x = x.sin()
    return x.exp()


def with_loop(x):
    for _ in range(3):
        x = x.sin()
        x = x.exp()
    return x


def with_inputs_again(times):
    for inputs in (INPUTS, OTHERS) * times:
        one_call(inputs)


def with_list_of_its_own():
    results = []
    for _ in range(3):
        results.append(one_call(INPUTS))
    return results


def with_list_for_each_turn():
    for _ in range(3):
        results = []
        for _ in range(2):
            results.append(one_call(INPUTS))
        KEPT.append(results)


INPUTS, OTHERS, KEPT = torch.ones(2), torch.ones(2), []


class OperatorsKnow(unittest.TestCase):
    def test_the_line_that_calls_them(self):
        recorded = record(lambda: one_call(torch.ones(2)), samples=True)
        [sine] = recorded.named("aten::sin")
        [exponential] = recorded.named("aten::exp")
        self.assertEqual(stack_of(sine)[-1], f"{HERE}({line_with(one_call, 'x.sin')}): one_call")
        self.assertEqual(stack_of(exponential)[-1], f"{HERE}({line_with(one_call, 'x.exp')}): one_call")

    def test_the_modules_they_stand_in(self):
        model = TwoLayers()
        recorded = record(lambda: model(torch.ones(2, 4)), samples=True)
        first, second = (stack_of(span) for span in recorded.named("aten::linear"))
        self.assertEqual(first[-1][: len("nn.Module: Linear_")], "nn.Module: Linear_")
        self.assertNotEqual(first[-1], second[-1])
        self.assertEqual(first[-2], f"{HERE}({line_with(TwoLayers.forward, 'self.first(x)')}): forward")
        self.assertTrue(first[-3].startswith("nn.Module: TwoLayers_"), first)

    def test_which_calls_go_on(self):
        def twice():
            x = torch.ones(2)
            for _ in range(2):
                x = one_call(x)

        calls = calls_of(record(twice, samples=True), "one_call")
        self.assertEqual(calls, [["aten::sin", "aten::exp"]] * 2)

    def test_that_a_loop_is_one_call(self):
        calls = calls_of(record(lambda: with_loop(torch.ones(2)), samples=True), "with_loop")
        self.assertEqual(calls, [["aten::sin", "aten::exp"] * 3])

    def test_that_a_loop_is_one_call_though_a_function_in_it_gets_the_same_tensor_again(self):
        calls = calls_of(record(lambda: with_inputs_again(3), samples=True), "with_inputs_again")
        self.assertEqual(calls, [["aten::sin", "aten::exp"] * 6])

    def test_which_calls_with_a_loop_go_on_where_the_first_variable_is_set_before_it(self):
        def thrice():
            for _ in range(3):
                KEPT.append(with_list_of_its_own())

        calls = calls_of(record(thrice, samples=True), "with_list_of_its_own")
        self.assertEqual(calls, [["aten::sin", "aten::exp"] * 3] * 3)

    def test_that_a_loop_which_sets_the_first_variable_is_one_call(self):
        calls = calls_of(record(with_list_for_each_turn, samples=True), "with_list_for_each_turn")
        self.assertEqual(calls, [["aten::sin", "aten::exp"] * 6])

    def test_which_calls_of_a_loop_over_modules_go_on(self):
        def thrice():
            for _ in range(3):
                A_ROW(torch.ones(2, 4))

        calls = calls_of(record(thrice, samples=True), "Sequential", ["aten::linear", "aten::relu"])
        self.assertEqual(calls, [["aten::linear", "aten::linear", "aten::relu"]] * 3)

    def test_which_calls_of_a_module_go_on(self):
        inputs = torch.ones(2, 4)

        def thrice():
            for _ in range(3):
                ONE_LAYER(inputs)

        self.assertEqual(calls_of(record(thrice, samples=True), "Linear", ["aten::linear"]), [["aten::linear"]] * 3)

    def test_modules_by_their_class_though_they_take_the_places_of_others(self):
        def many():
            for kind in (torch.nn.Tanh, torch.nn.Sigmoid) * 50:
                kind()(torch.ones(2))  # gone at once: the next one is likely to stand where it stood

        recorded = record(many, samples=True)
        for operator, name in (("aten::tanh", "Tanh"), ("aten::sigmoid", "Sigmoid")):
            modules = {re.sub(r"_\d+$", "", stack_of(span)[-1]) for span in recorded.named(operator)}
            self.assertEqual(modules, {f"nn.Module: {name}"})

    def test_that_what_makes_a_module_is_one_call(self):
        # Its count of batches is made by torch.tensor(), which calls several operators.
        [operators] = calls_of(record(make_a_norm, samples=True), "make_a_norm")
        self.assertIn("aten::detach_", operators)

    def test_nothing_where_nobody_asked(self):
        [sine] = record(lambda: one_call(torch.ones(2))).named("aten::sin")
        self.assertNotIn("Call stack", sine.get("args", {}))


def sleep_for_a_while():
    time.sleep(0.3)


def wait_for_lock(lock):
    lock.acquire()


def wait_for_process():
    subprocess.run([sys.executable, "-S", "-c", "import time; time.sleep(0.3)"], check=True)


def wait_for_pipe(read_end):
    os.read(read_end, 1)


def compute_for_a_while():
    end = time.monotonic() + 0.3
    while time.monotonic() < end:
        sum(range(200))


def draw_from_generators_for_a_while():
    end = time.monotonic() + 0.5
    while time.monotonic() < end:
        for _ in range(1000):
            all(number >= 0 for number in (1, 2, 3))


class SamplesShow(unittest.TestCase):
    def assert_waits(self, seen, line, waits_for):
        """Most samples of the line found it waiting for that."""
        found = {kind: count for (at, kind), count in seen.items() if at == line}
        self.assertEqual(max(found, key=found.get, default=None), waits_for, seen)
        self.assertGreater(found[waits_for], 5, seen)

    def test_sleeping(self):
        seen = seen_while(sleep_for_a_while)
        self.assert_waits(seen, line_with(sleep_for_a_while, "time.sleep"), "sleep")

    def test_waiting_for_a_lock_on_another_thread(self):
        def work():
            lock = threading.Lock()
            lock.acquire()
            waiter = threading.Thread(target=wait_for_lock, args=(lock,))
            waiter.start()
            time.sleep(0.3)
            lock.release()
            waiter.join()

        self.assert_waits(seen_while(work), line_with(wait_for_lock, "acquire"), "lock")

    def test_waiting_for_a_process(self):
        seen = seen_while(wait_for_process)
        self.assert_waits(seen, line_with(wait_for_process, "subprocess.run"), "process")

    def test_waiting_for_a_pipe(self):
        def work():
            read_end, write_end = os.pipe()
            timer = threading.Timer(0.3, os.write, (write_end, b"x"))
            timer.start()
            wait_for_pipe(read_end)
            timer.join()

        self.assert_waits(seen_while(work), line_with(wait_for_pipe, "os.read"), "pipe")

    def test_running(self):
        seen = seen_while(compute_for_a_while)
        self.assert_waits(seen, line_with(compute_for_a_while, "sum(range"), "")

    def test_generators_in_the_calls_that_draw_from_them(self):
        usual, samples._PER_SECOND = samples._PER_SECOND, 1000
        try:
            recorded = record(draw_from_generators_for_a_while, samples=True)
        finally:
            samples._PER_SECOND = usual
        drawing = [span for span in recorded.python if span["name"].endswith(": draw_from_generators_for_a_while")]
        generating = [span for span in recorded.python if span["name"].endswith(": <genexpr>")]
        self.assertTrue(generating)
        lone = [span for span in generating if not any(contains(caller, span) for caller in drawing)]
        self.assertEqual(lone, [])

    def test_what_a_forked_child_does_that_has_a_file_of_its_own(self):
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "run.tell")
            recording = Recording(path, Wanted(samples=True), own_file_after_fork=True)
            recording.start()
            read_end, write_end = os.pipe()
            pid = os.fork()
            if pid == 0:
                compute_for_a_while()
                lines = [line for file, line, *_ in _recorder.sampled_lines() if os.path.basename(file) == HERE]
                os.write(write_end, str(max(lines, default=0)).encode())
                os._exit(0)
            os.waitpid(pid, 0)
            recording.stop()
            told = int(os.read(read_end, 100))
        first = compute_for_a_while.__code__.co_firstlineno
        self.assertTrue(first < told <= first + 3, told)


class SamplesDoNoHarm(unittest.TestCase):
    def test_to_threads_that_come_and_go_and_make_new_code(self):
        sums = []

        def restless():
            names = {}
            for number in range(40):
                exec(f"def f_{number}(n):\n    return n and f_{number}(n - 1) + 1 if n else 0", names)
                sums.append(names[f"f_{number}"](number))

        def work():
            for _ in range(10):
                threads = [threading.Thread(target=restless) for _ in range(8)]
                for thread in threads:
                    thread.start()
                for thread in threads:
                    thread.join()

        seen_while(work, per_second=5000)
        self.assertEqual(sum(sums), 10 * 8 * sum(range(40)))

    def test_when_started_and_stopped_often(self):
        for _ in range(20):
            seen_while(lambda: torch.ones(2).add(1), per_second=2000)


if __name__ == "__main__":
    unittest.main()
