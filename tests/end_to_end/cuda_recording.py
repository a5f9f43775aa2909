"""Writes made-up runs of CUDA programs: through the recorder's C interface, as recordings of ours have them, and as the
JSON that PyTorch's profiler would have written of the same events.

RECORDER in the environment is the recorder's shared library.
"""
import ctypes
import json
import os
import time

KINDS = {"annotation": 2, "operator": 3, "python": 4, "module": 5, "runtime": 6, "driver": 7, "kernel": 8, "memcpy": 9,
         "memset": 10, "sync": 11, "overhead": 13}
CATEGORIES = {"annotation": "user_annotation", "operator": "cpu_op", "runtime": "cuda_runtime", "driver": "cuda_driver",
              "kernel": "kernel", "memcpy": "gpu_memcpy", "memset": "gpu_memset", "sync": "cuda_sync"}
DEVICES = [{"id": 0, "name": "NVIDIA H200", "totalGlobalMem": 150_000_000_000, "computeMajor": 9, "computeMinor": 0,
            "numSms": 132, "warpSize": 32, "maxThreadsPerMultiprocessor": 2048, "regsPerMultiprocessor": 65536,
            "sharedMemPerMultiprocessor": 233472}]
INTEGER, NAME = 0, 4
TRACK_TYPES = {"thread": 0, "stream": 1, "other": 2}
REALTIME = 2
START_NS = time.time_ns() // 1_000_000 * 1_000_000


class Run:
    """Events, in any order. Times are microseconds; a thread is its number, a stream is one of device 0."""

    def __init__(self):
        self.threads = {}
        self.events = []
        self.facts = {"deviceProperties": DEVICES}

    def thread(self, number, name):
        self.threads[number] = name
        return number

    def on_thread(self, kind, name, thread, start, end, **values):
        self.events.append((kind, name, "thread", thread, start, end, values))

    def on_stream(self, kind, name, stream, start, end, **values):
        self.events.append((kind, name, "stream", stream, start, end, values))

    def overhead(self, name, start, end):
        """What CUPTI says it took for itself, which stands on no thread. Not in the JSON."""
        self.events.append(("overhead", name, "other", 0, start, end, {}))

    def write_json(self, path):
        events = [{"ph": "M", "name": "thread_name", "pid": 1, "tid": number, "ts": 0, "args": {"name": name}}
                  for number, name in self.threads.items()]
        for kind, name, place, number, start, end, values in self.events:
            if place == "other":
                continue
            arguments = dict(values)
            if place == "stream":
                arguments |= {"device": 0, "stream": number}
            events.append({"ph": "X", "cat": CATEGORIES[kind], "name": name, "pid": 0 if place == "stream" else 1,
                           "tid": number, "ts": round(start, 3), "dur": round(end - start, 3), "args": arguments})
        document = {"schemaVersion": 1, **self.facts, "baseTimeNanoseconds": START_NS, "traceEvents": events}
        with open(path, "w", encoding="utf-8") as file:
            json.dump(document, file)

    def write_tell(self, path):
        _Recorder(self).write(path)


class _Field(ctypes.Structure):
    _fields_ = [("name", ctypes.c_char_p), ("type", ctypes.c_uint32), ("reserved", ctypes.c_uint32)]


class _Site(ctypes.Structure):
    _fields_ = [(name, ctypes.c_char_p) for name in ("name", "category", "file", "function")] + [
        ("fields", ctypes.POINTER(_Field))] + [
        (name, ctypes.c_uint32) for name in ("field_count", "line", "kind", "id")]


class _Track(ctypes.Structure):
    _fields_ = [("name", ctypes.c_char_p), ("type", ctypes.c_uint32), ("clock", ctypes.c_uint32),
                ("device", ctypes.c_int32), ("order", ctypes.c_int32), ("native_id", ctypes.c_int64)]


class _Value(ctypes.Union):
    _fields_ = [("integer", ctypes.c_int64), ("room", ctypes.c_int64 * 2)]


class _Options(ctypes.Structure):
    _fields_ = [("size", ctypes.c_size_t), ("path", ctypes.c_char_p), ("schedule", ctypes.c_void_p),
                ("memory_limit", ctypes.c_uint64), ("policy", ctypes.c_uint32), ("fork_mode", ctypes.c_uint32),
                ("flush_ms", ctypes.c_uint32), ("compression", ctypes.c_int32), ("on_ready", ctypes.c_void_p),
                ("user", ctypes.c_void_p), ("flight_seconds", ctypes.c_double),
                ("flight_step_seconds", ctypes.c_double), ("flight_signal", ctypes.c_int32), ("quiet", ctypes.c_uint32)]


class _Recorder:
    """Everything stands on tracks with times of their own, so that it is recorded when it never happened."""

    def __init__(self, run):
        self.run = run
        self.library = ctypes.CDLL(os.environ["RECORDER"])
        self.library.telltale_intern.restype = ctypes.c_uint32
        self.library.telltale_make_track.restype = ctypes.c_uint32
        self.tracks, self.sites, self.kept = {}, {}, []

    def write(self, path):
        options = _Options()
        self.library.telltale_default_options(ctypes.byref(options), ctypes.c_size_t(ctypes.sizeof(options)))
        options.path = self.text(str(path))
        assert self.library.telltale_start(ctypes.byref(options)) == 0
        for name, value in self.run.facts.items():
            text = value if isinstance(value, str) else json.dumps(value)
            self.library.telltale_metadata(self.text(name), self.text(text))
        for kind, name, place, number, start, end, values in self.run.events:
            self.span(kind, name, self.track(place, number), start, end, dict(values))
        assert self.library.telltale_stop() == 0

    def text(self, text):
        self.kept.append(text.encode())
        return self.kept[-1]

    def span(self, kind, name, track, start, end, values):
        correlation = values.pop("correlation", 0) if kind in {"kernel", "memcpy", "memset", "sync"} else 0
        site = self.site(kind, name, tuple((key, NAME if isinstance(value, str) else INTEGER)
                                           for key, value in values.items()))
        given = (_Value * max(1, len(values)))()
        for slot, value in zip(given, values.values()):
            slot.integer = self.library.telltale_intern(value.encode()) if isinstance(value, str) else value
        status = self.library.telltale_span_at(
            ctypes.c_uint32(track), ctypes.byref(site), ctypes.c_uint64(START_NS + round(start * 1000)),
            ctypes.c_uint64(START_NS + round(end * 1000)), ctypes.c_uint64(correlation), given)
        assert status == 0, status

    def site(self, kind, name, fields):
        key = (kind, name, fields)
        if key not in self.sites:
            described = (_Field * max(1, len(fields)))(*[_Field(self.text(field), sort, 0) for field, sort in fields])
            self.kept.append(described)
            self.sites[key] = _Site(self.text(name), b"", b"", b"", described, len(fields), 0, KINDS[kind], 0)
        return self.sites[key]

    def track(self, place, number):
        if (place, number) not in self.tracks:
            name = {"stream": f"stream {number}", "other": "CUPTI overhead"}.get(place) or self.run.threads[number]
            described = _Track(self.text(name), TRACK_TYPES[place], REALTIME, 0 if place == "stream" else -1, 0, number)
            self.tracks[place, number] = self.library.telltale_make_track(ctypes.byref(described))
        return self.tracks[place, number]
