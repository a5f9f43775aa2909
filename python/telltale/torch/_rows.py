"""Rows and events as torch has them, made from what the core computes."""

from __future__ import annotations

import gc
import inspect
import json
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from torch.autograd.profiler_util import DeviceType, EventList, FunctionEvent, FunctionEventAvg

from telltale.torch._reader import core

_USER_SCOPE, _BACKWARD_SCOPE = 7, 1  # of at::RecordScope
_MEMORY = "[memory]"  # what torch calls an allocation outside of all operators
_NO_THREAD = 2**64 - 1  # torch's number of the thread of what runs on a device


_HAS_CUDA_BY_ITSELF = hasattr(EventList(), "_use_cuda")  # before 2.3, when other devices alone had a name


def _renamed(names: dict[str, Any], example: object) -> dict[str, Any]:
    """Attributes by the names that this version of torch gives them: what is a device was CUDA before 2.3."""
    return {name if hasattr(example, name) else name.replace("device", "cuda"): value for name, value in names.items()}


def key_averages(
    trace: Any, by_shape: bool, stack_depth: int, with_flops: bool, use_device: str | None = None
) -> list[Any]:
    """Torch's FunctionEventAvg, in torch's order: that of the first call."""
    rows: list[tuple[int, Any]] = []
    for row in core().torch_rows(trace, by_shape, stack_depth):
        name, first_start, is_annotation, calls, cpu, self_cpu, memory, self_memory, *rest = row
        device, self_device, flops, shapes, stack, is_on_device, device_time, self_device_time = rest
        average = _row(name)
        average.count = calls
        average.cpu_time_total = cpu / 1000
        average.self_cpu_time_total = self_cpu / 1000
        average.cpu_memory_usage = memory
        average.self_cpu_memory_usage = self_memory
        changed = {"device_memory_usage": device, "self_device_memory_usage": self_device}
        if use_device:
            changed |= {"device_time_total": device_time / 1000, "self_device_time_total": self_device_time / 1000}
        average.__dict__.update(_renamed(changed, average))
        if is_on_device:
            average.device_type = DeviceType.CUDA
        average.flops = flops if with_flops else 0
        average.input_shapes = (shapes or []) if by_shape else ""
        average.stack = (stack or [])[:stack_depth]
        average.scope = _USER_SCOPE if is_annotation else 0
        average.is_user_annotation = is_annotation
        rows.append((first_start, average))
    rows += _stray_row(trace, by_shape)
    if use_device:
        rows += _annotations_on_devices(trace, by_shape)
    for _, average in rows:
        average.use_device = None if _HAS_CUDA_BY_ITSELF else use_device
    return [average for _, average in sorted(rows, key=lambda row: row[0])]


def _annotations_on_devices(trace: Any, by_shape: bool) -> list[tuple[int, Any]]:
    """Torch has them as rows of the device: from the first to the last of the work that was asked for in one."""
    rows = []
    for name, first_start, count, took in core().torch_device_annotations(trace):
        average = _row(name)
        average.count = count
        average.device_type = DeviceType.CUDA
        average.is_user_annotation = True
        average.input_shapes = [] if by_shape else ""
        average.scope = 0
        times = {"device_time_total": took / 1000, "self_device_time_total": took / 1000}
        average.__dict__.update(_renamed(times, average))
        rows.append((first_start, average))
    return rows


def _row(name: str) -> Any:
    average = FunctionEventAvg()
    average.key = name
    average.node_id = -1
    average.stack = []
    average.cpu_children = []
    average.overload_name = ""
    average.is_user_annotation = False
    return average


def _stray_row(trace: Any, by_shape: bool) -> list[tuple[int, Any]]:
    strays = core().torch_stray_memory(trace)
    if not strays:
        return []
    average = _row(_MEMORY)
    average.count = len(strays)
    average.input_shapes = [] if by_shape else ""
    average.scope = 0
    average.cpu_memory_usage = average.self_cpu_memory_usage = sum(stray[2] for stray in strays)
    device = sum(stray[3] for stray in strays)
    changed = {"device_memory_usage": device, "self_device_memory_usage": device}
    average.__dict__.update(_renamed(changed, average))
    return [(strays[0][0], average)]


def merged(lists: list[list[Any]]) -> list[Any]:
    """The rows of several cycles as one."""
    if len(lists) == 1:
        return lists[0]
    rows: dict[tuple[str, ...], Any] = {}
    for row in (row for rows_of_cycle in lists for row in rows_of_cycle):
        key = (row.key, str(row.device_type), str(row.is_user_annotation), str(row.input_shapes), *row.stack)
        rows.setdefault(key, FunctionEventAvg()).add(row)
    return list(rows.values())


def events(trace: Any, with_flops: bool, with_numbers: bool = False, use_device: str | None = None) -> list[Any]:
    """Torch's FunctionEvent, with parents, children and kernels, in torch's order.

    ``with_numbers``: with what torch calls their metadata, which are Kineto's numbers.
    """
    with _without_garbage_collection():
        listed, inputs, stacks, extras, on_devices = core().torch_events(trace)
        described = [_accepted(_inputs(*texts)) for texts in inputs]
        described.append(_accepted({"input_shapes": [], "concrete_inputs": []}))  # at -1: of no inputs
        given = [(overload, json.loads(keywords or "{}")) for overload, keywords in extras]
        result: list[Any] = []
        for row in listed:
            event = _event(len(result) + 1, row, described, stacks, with_flops)
            event.overload_name, keywords = given[row[_EXTRAS]]
            event.kwinputs = dict(keywords)
            event.external_id, event.flow_id, event.flow_start, event.activity_type, linked = row[_LINKS:]
            event.flow_type = _FORWARD_BACKWARD if event.flow_id else 0
            event.use_device = None if _HAS_CUDA_BY_ITSELF else use_device
            event.linked_correlation_id = linked + 1  # as events are numbered; 0: none
            if with_numbers:
                event._metadata_json = f'"Ev Idx": {row[_NUMBER]}'
            result.append(event)
            parent = row[_PARENT]
            if parent >= 0:
                result[-1].cpu_parent = result[parent]
                result[parent].cpu_children.append(result[-1])
        if use_device:
            result += _events_on_devices(on_devices, result, use_device)
    return _with_strays(result, trace, bool(on_devices), use_device)


def _events_on_devices(rows: list[tuple[Any, ...]], on_host: list[Any], use_device: str) -> list[Any]:
    """What a device did; operators that asked for it learn of it."""
    result: list[Any] = []
    for name, trace_name, start, end, device, stream, linked, activity in rows:
        is_annotation = activity == "gpu_user_annotation"
        event = FunctionEvent(
            len(on_host) + len(result) + 1,
            name,
            _NO_THREAD,
            start / 1000,
            end / 1000,
            fwd_thread=0,
            input_shapes=[],
            stack=[],
            use_device=None if _HAS_CUDA_BY_ITSELF else use_device,
            device_type=DeviceType.CUDA,
            device_index=device,
            device_resource_id=stream,
            trace_name=trace_name,
            **_accepted({"concrete_inputs": [], "kwinputs": {}, "overload_name": ""}),
        )
        event.overload_name = ""
        event.is_user_annotation = is_annotation
        event.activity_type = activity
        event.linked_correlation_id = linked + 1
        if linked >= 0 and not is_annotation and not on_host[linked].is_async:
            on_host[linked].append_kernel(name, device, (end - start) / 1000)
        result.append(event)
    return result


_PARENT, _EXTRAS, _NUMBER, _LINKS = 5, 16, 17, 18
_FORWARD_BACKWARD = 1  # Kineto's number of such arrows


def _event(number: int, row: tuple[Any, ...], inputs: list[Any], stacks: list[list[str]], with_flops: bool) -> Any:
    name, trace_name, start, end, thread, _, is_annotation, is_backward, is_async, sequence = row[:10]
    forward_thread, input_id, stack, memory, device_memory, flops = row[10:16]
    event = FunctionEvent(
        number,
        name,
        thread,
        start / 1000,
        end / 1000,
        fwd_thread=forward_thread,
        stack=stacks[stack],
        scope=_USER_SCOPE if is_annotation else _BACKWARD_SCOPE if is_backward else 0,
        cpu_memory_usage=memory,
        is_async=is_async,
        sequence_nr=sequence,
        flops=flops if with_flops else 0,
        trace_name=trace_name,
        **inputs[input_id],
    )
    event.is_user_annotation = is_annotation
    if device_memory:
        _set_device_memory(event, device_memory)
    return event


def _accepted(arguments: dict[str, Any]) -> dict[str, Any]:
    """Those that the events of this version of torch have."""
    return {name: value for name, value in arguments.items() if name in _EVENT_ARGUMENTS}


_EVENT_ARGUMENTS = set(inspect.signature(FunctionEvent.__init__).parameters)


def _set_device_memory(event: Any, size: int) -> None:
    for name, value in _renamed({"device_memory_usage": size}, event).items():
        setattr(event, name, value)


@contextmanager
def _without_garbage_collection() -> Iterator[None]:
    """Millions of new objects, none of them garbage, would be looked at again and again."""
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_enabled:
            gc.enable()


def _with_strays(result: list[Any], trace: Any, is_unsorted: bool, use_device: str | None) -> list[Any]:
    strays = core().torch_stray_memory(trace)
    for time, thread, on_host, on_device in strays:
        event = FunctionEvent(
            len(result) + 1, _MEMORY, thread, time / 1000, time / 1000, fwd_thread=thread, input_shapes=[], stack=[]
        )
        event.overload_name = ""
        event.use_device = None if _HAS_CUDA_BY_ITSELF else use_device
        event.cpu_memory_usage = on_host
        _set_device_memory(event, on_device)
        result.append(event)
    if strays or is_unsorted:
        result.sort(key=lambda event: (event.time_range.start, -event.time_range.end))
    return result


def _inputs(shapes: str, strides: str, types: str, concrete: str) -> dict[str, Any]:
    """What torch says of an operator's arguments; a list of tensors has no shape but in the structured form."""
    dims = json.loads(shapes or "[]")
    return {
        "input_shapes": [[] if shape and isinstance(shape[0], list) else shape for shape in dims],
        "structured_input_shapes": dims,
        "structured_input_strides": json.loads(strides or "[]"),
        "input_dtypes": json.loads(types or "[]"),
        "concrete_inputs": [_value(text) for text in json.loads(concrete or "[]")],
    }


def _value(text: str) -> Any:
    """2, [2, 2], 0.5, True or None, as they were written; what is none of these stays text."""
    if text in ("True", "False"):
        return text == "True"
    if not text:
        return None
    if text.startswith("[") and text.endswith("]"):
        return [_value(part.strip()) for part in text[1:-1].split(",") if part.strip()]
    for number in (int, float):
        try:
            return number(text)
        except ValueError:
            continue
    return text


def event_list(rows: list[Any], use_device: str | None, profile_memory: bool, with_flops: bool) -> Any:
    """Torch's own list, whose table() is the one that everybody knows."""
    arguments: dict[str, Any] = {"profile_memory": profile_memory, "with_flops": with_flops, "use_device": use_device}
    if _HAS_CUDA_BY_ITSELF:
        arguments |= {"use_cuda": use_device == "cuda", "use_device": None}
    events = EventList(rows, **arguments)
    events._tree_built = True
    return events
