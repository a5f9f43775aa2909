"""The diagnosis needs no more calls of CUDA's API than our recorder records.

Traces that have every call of the runtime, with launches by its names, are compared with what our recorder would have
written of the same run: launches by the driver's names, of other calls those that matter, and what the host waits for.
"""
import gzip
import json
import sys
import tempfile
import unittest
from pathlib import Path

from telltale import ROOT, answer

API_CALLS = {"cuda_runtime", "cuda_driver"}
DRIVER_NAMES = {
    "cudaLaunchKernel": "cuLaunchKernel",
    "cudaLaunchKernelExC": "cuLaunchKernelEx",
    "cudaLaunchCooperativeKernel": "cuLaunchCooperativeKernel",
    "cudaGraphLaunch": "cuGraphLaunch",
}
# What is recorded besides launches, by how its name begins behind "cuda" or "cu".
RECORDED = (
    *("Memcpy", "Memset", "MemPrefetch", "Malloc", "Free", "HostAlloc", "HostRegister", "HostUnregister"),
    *("MemAlloc", "MemFree", "MemHost", "MemCreate", "MemMap", "MemUnmap", "MemRelease", "ModuleLoad", "LibraryLoad"),
    *("DeviceSynchronize", "ThreadSynchronize", "CtxSynchronize", "StreamSynchronize", "StreamWaitEvent"),
    *("StreamQuery", "EventRecord", "EventSynchronize", "EventQuery", "Launch", "GraphLaunch"),
)


def is_recorded(name):
    return name.removeprefix("cuda" if name.startswith("cuda") else "cu").startswith(RECORDED)


def as_we_record(event):
    """The event in a recording of ours; None where that has none."""
    if event.get("cat") not in API_CALLS:
        return event
    if not is_recorded(event["name"]):
        return None
    if event["name"] not in DRIVER_NAMES:
        return event
    return {**event, "cat": "cuda_driver", "name": DRIVER_NAMES[event["name"]]}


def waits_for(events):
    """What the host's waits are on the device, which torch.profiler leaves out: a record on the stream, or on number -1
    for all of them. Which stream a call waits for is known where there is only one."""
    works = [event for event in events if event.get("cat") in {"kernel", "gpu_memcpy", "gpu_memset"}]
    streams = {(event["pid"], event["tid"]) for event in works}
    for event in events:
        is_of_device = event.get("name") == "cudaDeviceSynchronize"
        if event.get("cat") not in API_CALLS or not (is_of_device or event["name"] == "cudaStreamSynchronize"):
            continue
        if len(streams) != 1:
            continue
        device, stream = next(iter(streams))
        kind = "Context Sync" if is_of_device else "Stream Sync"
        stream = -1 if is_of_device else stream
        arguments = {"correlation": event["args"]["correlation"], "cuda_sync_kind": kind, "stream": stream}
        yield {"ph": "X", "cat": "cuda_sync", "name": kind, "pid": device, "tid": stream, "ts": event["ts"],
               "dur": event["dur"], "args": {**arguments, "device": device}}


def findings_of(path):
    return [(each["rule"], each["saving"]["likely_percent"] if each["saving"] else None)
            for each in answer("analyze", str(path))["findings"]]


class ChosenCalls(unittest.TestCase):
    def check(self, path, folder):
        with gzip.open(path) as file:
            trace = json.load(file)
        events = trace["traceEvents"]
        chosen_events = [each for event in events if (each := as_we_record(event)) is not None]
        trace["traceEvents"] = [*chosen_events, *waits_for(events)]
        chosen = Path(folder) / "chosen.json"
        chosen.write_text(json.dumps(trace), encoding="utf-8")
        whole, part = findings_of(path), findings_of(chosen)
        self.assertEqual([rule for rule, _ in whole], [rule for rule, _ in part])
        for (rule, of_whole), (_, of_part) in zip(whole, part, strict=True):
            self.assertEqual(of_whole is None, of_part is None, rule)
            if of_whole is not None:
                self.assertAlmostEqual(of_whole, of_part, delta=1, msg=rule)
        return len(events) - len(chosen_events)

    def test_are_all_that_the_diagnosis_needs(self):
        left_out = 0
        with tempfile.TemporaryDirectory() as folder:
            for path in sorted((ROOT / "tests" / "diagnosis").glob("*.json.gz")):
                with self.subTest(path.name):
                    left_out += self.check(path, folder)
        self.assertGreater(left_out, 5000)


if __name__ == "__main__":
    unittest.main(argv=sys.argv)
