"""torch.profiler's own interface, recorded and answered by Telltale: change one import.

    >>> import telltale.torch as profiler
    >>> with profiler.profile(profile_memory=True) as p:
    ...     model(batch).sum().backward()
    >>> print(p.key_averages().table(sort_by="self_cpu_time_total", row_limit=10))
    >>> print(p.analyze())
    >>> p.save("run.tell")

Schedules, actions, activities and ``record_function`` are torch's own objects, so that code that uses both works.
"""

from torch.profiler import (
    DeviceType,
    ExecutionTraceObserver,
    ProfilerAction,
    ProfilerActivity,
    itt,
    kineto_available,
    record_function,
    schedule,
    supported_activities,
)

from telltale.torch._profile import _KinetoProfile, profile
from telltale.torch._trace_handler import tensorboard_trace_handler

__all__ = [
    "DeviceType",
    "ExecutionTraceObserver",
    "ProfilerAction",
    "ProfilerActivity",
    "_KinetoProfile",
    "itt",
    "kineto_available",
    "profile",
    "record_function",
    "schedule",
    "supported_activities",
    "tensorboard_trace_handler",
]
