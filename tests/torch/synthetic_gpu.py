"""Recordings of a GPU that is not there: what the recorder is told of calls and device work, through its C interface.

Times of device work are chosen; host scopes take what they take.
"""
import ctypes
import time
from contextlib import contextmanager
from pathlib import Path

import telltale
from telltale import _recorder

SCOPE, ANNOTATION, OPERATOR, RUNTIME, DRIVER, KERNEL, MEMCPY, MEMSET, SYNC = 0, 2, 3, 6, 7, 8, 9, 10, 11
INTEGER, FLOAT, TEXT, SHAPE, NAME = range(5)  # types of fields
_STREAM, _MONOTONIC = 1, 1


class _Field(ctypes.Structure):
    _fields_ = (("name", ctypes.c_char_p), ("type", ctypes.c_uint32), ("reserved", ctypes.c_uint32))


class _Site(ctypes.Structure):
    _fields_ = (
        *((name, ctypes.c_char_p) for name in ("name", "category", "file", "function")),
        ("fields", ctypes.POINTER(_Field)),
        *((name, ctypes.c_uint32) for name in ("field_count", "line", "kind", "id")),
    )


class _Span(ctypes.Structure):
    _fields_ = (("data", ctypes.c_void_p), ("size", ctypes.c_size_t))


class _Value(ctypes.Union):
    _fields_ = (("integer", ctypes.c_int64), ("number", ctypes.c_double), ("span", _Span))


class _Track(ctypes.Structure):
    _fields_ = (
        ("name", ctypes.c_char_p),
        ("type", ctypes.c_uint32),
        ("clock", ctypes.c_uint32),
        ("device", ctypes.c_int32),
        ("order", ctypes.c_int32),
        ("native_id", ctypes.c_int64),
    )


class SyntheticGpu:
    """One recording. Host calls are made by whichever thread makes them."""

    def __init__(self):
        self._library = ctypes.CDLL(str(Path(telltale.__file__).parent / "lib" / "libtelltale.so"))
        self._library.telltale_make_site.restype = ctypes.c_void_p
        self._library.telltale_scope_begin.restype = ctypes.c_uint64
        self._library.telltale_make_track.restype = ctypes.c_uint32
        self._last = 0
        self._end = {}  # of what a stream did last
        self._tracks = {}

    @contextmanager
    def recording(self, path, metadata=()):
        for key, value in dict(metadata).items():
            _recorder.metadata(key, value)
        _recorder.start(str(path))
        try:
            yield self
        finally:
            _recorder.stop()

    def _site(self, name, kind, fields=()):
        described = (_Field * len(fields))(*[_Field(field.encode(), type_, 0) for field, type_ in fields])
        site = _Site(name.encode(), b"", b"", b"", described, len(fields), 0, kind, 0)
        return ctypes.c_void_p(self._library.telltale_make_site(ctypes.byref(site)))

    @contextmanager
    def scope(self, name, kind):
        site = self._site(name, kind)
        start = ctypes.c_uint64(self._library.telltale_scope_begin(site))
        try:
            yield
        finally:
            time.sleep(0.00005)  # so that no two scopes begin or end at once
            self._library.telltale_scope_end(site, start)

    def operator(self, name):
        return self.scope(name, OPERATOR)

    def annotation(self, name):
        return self.scope(name, ANNOTATION)

    def call(self, name, kind=RUNTIME):
        """A call of CUDA; its correlation."""
        self._last += 1
        site = self._site(name, kind, [("correlation", INTEGER)])
        start = ctypes.c_uint64(self._library.telltale_scope_begin(site))
        time.sleep(0.00005)
        self._library.telltale_scope_end_words(site, start, ctypes.byref(ctypes.c_uint64(self._last)))
        return self._last

    def work(self, name, kind, correlation, micros, stream=7, device=0, **fields):
        """Work of that stream, right behind its last; at the earliest now. Returns when it starts and ends, in ns."""
        names = {"graph_id": "graph id", "graph_node_id": "graph node id"}
        values = [(names.get(field, field), value) for field, value in fields.items()]
        types = [(field, SHAPE if isinstance(value, list) else INTEGER) for field, value in values]
        site = self._site(name, kind, types)
        track = self._track(device, stream)
        given = (_Value * len(values))()
        for value, (_, number) in zip(given, values, strict=True):
            if isinstance(number, list):
                dims = (ctypes.c_int64 * len(number))(*number)
                value.span = _Span(ctypes.cast(dims, ctypes.c_void_p), len(number))
            else:
                value.integer = number
        start = max(time.clock_gettime_ns(time.CLOCK_MONOTONIC), self._end.get((device, stream), 0))
        end = self._end[device, stream] = start + micros * 1000
        numbers = (ctypes.c_uint64(start), ctypes.c_uint64(end), ctypes.c_uint64(correlation))
        status = self._library.telltale_span_at(ctypes.c_uint32(track), site, *numbers, given)
        assert status == 0, status
        return start, end

    def _track(self, device, stream):
        if (device, stream) not in self._tracks:
            track = _Track(f"stream {stream}".encode(), _STREAM, _MONOTONIC, device, 0, stream)
            self._tracks[device, stream] = self._library.telltale_make_track(ctypes.byref(track))
        return self._tracks[device, stream]

    def kernel(self, name, correlation, micros, **fields):
        return self.work(name, KERNEL, correlation, micros, grid=[8, 1, 1], block=[128, 1, 1], **fields)
