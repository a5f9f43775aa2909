#!/usr/bin/env python3
"""What telltale.torch says of devices: against torch's own tables of real traces, and of recordings of a known GPU."""

from __future__ import annotations

import gzip
import json
import os
import tempfile
import threading
import unittest
from collections import Counter
from pathlib import Path
from types import SimpleNamespace
from typing import Any

from synthetic_gpu import DRIVER, MEMCPY, SYNC, SyntheticGpu
from telltale.torch import _rows
from telltale.torch._reader import core

ROOT = Path(__file__).resolve().parents[2]
TABLES = ROOT / "tests" / "golden" / "torch"
TRACES = {
    "mlp_sync": ROOT / "examples" / "traces" / "mlp_sync.json.gz",
    "resnet50_train": ROOT / "examples" / "traces" / "resnet50_train.json.gz",
    "autocast_train": TABLES / "autocast_train.json.gz",
}
COLUMNS = {
    "self_device_time_total": "self_device_us",
    "device_time_total": "device_us",
    "device_memory_usage": "device_mem",
}


def load(path: Path) -> Any:
    return core().load(os.fsencode(path), 0)


def is_host(device_type: Any) -> bool:
    return str(device_type).endswith("CPU")


def by_key(rows: list[Any]) -> dict[Any, Any]:
    keys = [(row.key, is_host(row.device_type), row.is_user_annotation, str(row.input_shapes or [])) for row in rows]
    assert len(set(keys)) == len(keys)
    return dict(zip(keys, rows, strict=True))


class TorchsTables(unittest.TestCase):
    """Kernels, copies and annotations on the device have rows like operators: the very rows of torch's."""

    def compare(self, by_shape: bool, field: str) -> None:
        for name, path in TRACES.items():
            with self.subTest(trace=name):
                with gzip.open(TABLES / f"{name}.key_averages.json.gz") as file:
                    table = json.load(file)[field]
                torchs = by_key([SimpleNamespace(**row) for row in table])
                ours = by_key(_rows.key_averages(load(path), by_shape, 0, True, "cuda"))
                self.assertEqual(set(ours), set(torchs))
                for key, row in ours.items():
                    self.assertEqual(row.count, torchs[key].count, key)
                    for column, theirs in COLUMNS.items():
                        expected = getattr(torchs[key], theirs)
                        slack = max(0.002 * row.count, 0.001 * abs(expected))  # torch's are rounded
                        self.assertAlmostEqual(getattr(row, column), expected, delta=slack, msg=f"{key} {column}")

    def test_are_ours_by_name(self) -> None:
        self.compare(False, "by_name")

    def test_are_ours_by_shape(self) -> None:
        self.compare(True, "by_shape")

    def test_are_what_torch_makes_of_our_events(self) -> None:
        for name, path in TRACES.items():
            with self.subTest(trace=name):
                trace = load(path)
                events = _rows.event_list(_rows.events(trace, False, False, "cuda"), "cuda", False, False)
                expected = by_key(events.key_averages())
                ours = by_key(_rows.key_averages(trace, False, 0, False, "cuda"))
                self.assertEqual(set(ours), set(expected))
                for key, row in ours.items():
                    for column in ("count", "self_device_time_total", "device_time_total", "device_memory_usage"):
                        theirs = getattr(expected[key], column)
                        self.assertAlmostEqual(getattr(row, column), theirs, places=3, msg=str(key))


# What a step does, by hand: microseconds of device work are powers of two, so that each sum tells its parts.
def run(gpu: SyntheticGpu) -> dict[str, tuple[int, int]]:
    spans = {}
    with gpu.annotation("ProfilerStep#3"):
        with gpu.operator("aten::linear"), gpu.operator("aten::addmm"):
            spans["first"] = gpu.kernel("gemm", gpu.call("cudaLaunchKernel"), 1)
            gpu.kernel("bias", gpu.call("cudaLaunchKernel"), 2)
        with gpu.operator("aten::copy_"):
            copy = gpu.call("cudaMemcpyAsync")
            gpu.work("Memcpy DtoH (Device -> Pageable)", MEMCPY, copy, 4, bytes=4096)
            gpu.work("Stream Sync", SYNC, gpu.call("cudaStreamSynchronize"), 3)
        with gpu.annotation("replay"):
            launch = gpu.call("cudaGraphLaunch")
            spans["graph"] = gpu.kernel("gemm", launch, 8, graph_id=1, graph_node_id=11)
            gpu.kernel("relu", launch, 16, graph_id=1, graph_node_id=12)
            spans["graph end"] = gpu.kernel("gemm", launch, 32, graph_id=1, graph_node_id=13)
        with gpu.operator("aten::add_"), gpu.operator("aten::add_"):  # as autocast does: one to torch
            spans["last"] = gpu.kernel("add", gpu.call("cudaLaunchKernel"), 64)

        def backward() -> None:
            evaluated = gpu.operator("autograd::engine::evaluate_function: MulBackward0")
            with evaluated, gpu.operator("MulBackward0"), gpu.operator("aten::mul"):
                gpu.kernel("mul", gpu.call("cuLaunchKernel", DRIVER), 128, stream=13)

        thread = threading.Thread(target=backward)
        thread.start()
        thread.join()
    return spans


class KnownWork(unittest.TestCase):
    @classmethod
    def setUpClass(cls) -> None:
        folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(folder.cleanup)
        cls.path = Path(folder.name) / "run.tell"
        properties = json.dumps([{"id": 0, "name": "Synthetic GPU", "numSms": 4}])
        with SyntheticGpu().recording(cls.path, {"deviceProperties": properties}) as gpu:
            cls.spans = run(gpu)
        cls.trace = load(cls.path)
        cls.rows = by_key(_rows.key_averages(cls.trace, False, 0, False, "cuda"))
        cls.events = _rows.events(cls.trace, False, False, "cuda")

    def row(self, name: str, on_host: bool, is_annotation: bool = False) -> tuple[Any, ...]:
        row = self.rows[name, on_host, is_annotation, "[]"]
        return row.count, round(row.self_device_time_total, 3), round(row.device_time_total, 3)

    def test_operators_have_what_they_and_those_inside_asked_for(self) -> None:
        self.assertEqual(self.row("aten::addmm", True), (1, 3, 3))
        self.assertEqual(self.row("aten::linear", True), (1, 0, 3))
        self.assertEqual(self.row("aten::copy_", True), (1, 4, 4))
        self.assertEqual(self.row("aten::add_", True), (1, 64, 64))
        self.assertEqual(self.row("aten::mul", True), (1, 128, 128))
        self.assertEqual(self.row("MulBackward0", True), (1, 0, 128))
        self.assertEqual(self.row("autograd::engine::evaluate_function: MulBackward0", True), (1, 0, 128))
        # As in torch's: no operator launches the graph.
        self.assertEqual(self.row("replay", True, True), (1, 0, 0))
        self.assertEqual(self.row("ProfilerStep*", True, True), (1, 0, 1 + 2 + 4 + 64))
        self.assertEqual(self.row("cudaLaunchKernel", True), (3, 0, 0))

    def test_kernels_and_copies_have_rows_of_the_device(self) -> None:
        self.assertEqual(self.row("gemm", False), (3, 1 + 8 + 32, 1 + 8 + 32))
        self.assertEqual(self.row("relu", False), (1, 16, 16))
        self.assertEqual(self.row("mul", False), (1, 128, 128))
        self.assertEqual(self.row("Memcpy DtoH (Device -> Pageable)", False), (1, 4, 4))
        on_device = {name for name, on_host, is_annotation, _ in self.rows if not on_host and not is_annotation}
        self.assertEqual(on_device, {"gemm", "bias", "relu", "add", "mul", "Memcpy DtoH (Device -> Pageable)"})

    def test_annotations_span_their_work_on_the_device(self) -> None:
        def length(first: str, last: str) -> float:
            return (self.spans[last][1] - self.spans[first][0]) / 1000

        count, own, total = self.row("replay", False, True)
        self.assertEqual(count, 1)
        self.assertAlmostEqual(own, length("graph", "graph end"), delta=0.01)
        self.assertEqual(own, total)
        count, own, _ = self.row("ProfilerStep*", False, True)
        self.assertEqual(count, 1)
        self.assertAlmostEqual(own, length("first", "last"), delta=0.01)

    def test_tables_add_the_device_up(self) -> None:
        table = _rows.event_list(list(self.rows.values()), "cuda", False, False).table(sort_by="cuda_time_total")
        self.assertIn("Self CUDA time total: 255.000us", table)

    def test_events_have_their_kernels(self) -> None:
        kernels = {event.name: event.kernels for event in self.events if event.kernels}
        told = {name: [(kernel.name, round(kernel.duration, 3)) for kernel in each] for name, each in kernels.items()}
        self.assertEqual(told, {
            "aten::addmm": [("gemm", 1), ("bias", 2)],
            "aten::copy_": [("Memcpy DtoH (Device -> Pageable)", 4)],
            "aten::add_": [("add", 64)],
            "aten::mul": [("mul", 128)],
        })

    def test_events_of_the_device_name_who_asked_for_them(self) -> None:
        names = {event.id: event.name for event in self.events}
        on_device = [event for event in self.events if not is_host(event.device_type) and not event.is_user_annotation]
        self.assertEqual(
            Counter((event.name, names.get(event.linked_correlation_id)) for event in on_device),
            Counter({
                ("gemm", "aten::addmm"): 1, ("bias", "aten::addmm"): 1, ("gemm", None): 2, ("relu", None): 1,
                ("add", "aten::add_"): 1, ("mul", "aten::mul"): 1,
                ("Memcpy DtoH (Device -> Pageable)", "aten::copy_"): 1,
            }),
        )
        streams = {event.name: (event.device_index, event.device_resource_id) for event in on_device}
        self.assertEqual((streams["relu"], streams["mul"]), ((0, 7), (0, 13)))
        activities = {event.name: event.activity_type for event in self.events}
        self.assertEqual(activities["relu"], "kernel")
        self.assertEqual(activities["cudaGraphLaunch"], "cuda_runtime")
        self.assertEqual(activities["cuLaunchKernel"], "cuda_driver")
        starts = [event.time_range.start for event in self.events]
        self.assertEqual(starts, sorted(starts))

    def test_without_a_device_asked_for_there_is_none(self) -> None:
        rows = _rows.key_averages(self.trace, False, 0, False)
        self.assertEqual(sum(row.self_device_time_total for row in rows), 0)

    def exported(self) -> Any:
        target = self.path.with_suffix(".json")
        core().write_kineto(os.fsencode(self.path), os.fsencode(target), [], False, False)
        return json.loads(target.read_text())

    def test_exports_draw_an_arrow_from_each_call_to_each_of_its_kernels(self) -> None:
        events = self.exported()["traceEvents"]
        spans = [event for event in events if event["ph"] == "X"]
        starts = {event["id"]: event for event in events if event["ph"] == "s" and event["cat"] == "ac2g"}
        arrows = Counter()
        for end in (event for event in events if event["ph"] == "f" and event["cat"] == "ac2g"):
            self.assertEqual(end["bp"], "e")
            start = starts[end["id"]]
            [work] = [each for each in spans if each["pid"] == end["pid"] and each["tid"] == end["tid"]
                      and each["ts"] <= end["ts"] < each["ts"] + each["dur"] and each["cat"] != "gpu_user_annotation"]
            around = [each for each in spans if each["pid"] == start["pid"] and each["tid"] == start["tid"]
                      and each["ts"] <= start["ts"] <= each["ts"] + each["dur"]]
            call = min(around, key=lambda each: each["dur"])
            self.assertEqual(work["args"]["correlation"], call["args"]["correlation"])
            arrows[call["name"], work["name"]] += 1
        expected = {
            ("cudaLaunchKernel", "gemm"): 1, ("cudaLaunchKernel", "bias"): 1, ("cudaLaunchKernel", "add"): 1,
            ("cudaMemcpyAsync", "Memcpy DtoH (Device -> Pageable)"): 1, ("cudaGraphLaunch", "gemm"): 2,
            ("cudaGraphLaunch", "relu"): 1, ("cuLaunchKernel", "mul"): 1,
        }
        self.assertEqual({arrow: count for arrow, count in arrows.items() if arrow[1] != "Stream Sync"}, expected)

    def test_exports_name_the_device(self) -> None:
        [device] = self.exported()["deviceProperties"]
        self.assertEqual((device["id"], device["name"], device["numSms"]), (0, "Synthetic GPU", 4))


if __name__ == "__main__":
    unittest.main()
