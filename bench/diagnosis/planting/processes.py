"""Work in forked processes, so that a fault of one case, or what it leaves behind, touches no other."""

import json
import os
import signal
import sys
import time
import traceback
from collections.abc import Callable
from typing import Any


def start(work: Callable[[], None], environment: dict[str, str]) -> int:
    """Forks; the child works and ends. Returns the child's id, which is also its process group's."""
    sys.stdout.flush()
    child = os.fork()
    if child:
        own_group(child)  # here as well: we may want to end it before it gets to its own call
        return child
    own_group(0)
    os.environ.update(environment)
    status = 0
    try:
        work()
    except BaseException:
        traceback.print_exc()
        status = 1
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(status)  # no handlers: the compiler's would wait for its workers


def own_group(process: int) -> None:
    try:
        os.setpgid(process, 0)
    except ProcessLookupError:
        pass  # has ended already


def end(child: int) -> None:
    """Ends a child with whatever it started."""
    try:
        os.killpg(child, signal.SIGKILL)
    except ProcessLookupError:
        pass


def still_running(children: list[int]) -> list[int]:
    """Those that have not ended; what the others have left behind is ended."""
    running = []
    for child in children:
        if os.waitpid(child, os.WNOHANG)[0]:
            end(child)
        else:
            running.append(child)
    return running


def finish(children: list[int], deadline: float) -> list[int]:
    """Waits until the deadline for all of them, then ends the rest. Returns those that failed or were ended."""
    failed, waiting = [], list(children)
    while waiting:
        for child in list(waiting):
            finished, status = os.waitpid(child, os.WNOHANG)
            if finished:
                waiting.remove(child)
                end(child)  # the compiler's workers outlive their parent
                if status:
                    failed.append(child)
        if waiting and time.monotonic() > deadline:
            for child in waiting:
                end(child)
                os.waitpid(child, 0)
            return failed + waiting
        time.sleep(0.02)
    return failed


def result_of(work: Callable[[], Any], environment: dict[str, str], deadline: float) -> Any:
    """What the work returns in a process of its own, as JSON can tell it and in few words; None when it failed."""
    reading, writing = os.pipe()
    child = start(lambda: os.write(writing, json.dumps(work()).encode()) and None, environment)
    os.close(writing)
    failed = finish([child], deadline)
    with os.fdopen(reading) as pipe:
        return None if failed else json.loads(pipe.read())
