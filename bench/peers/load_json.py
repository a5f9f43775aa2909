"""Times a JSON library of Python: load_json.py json|orjson FILE RUNS. Prints {"read_s": […], …}.

The garbage collector is off, which makes both libraries faster than most programs see them.
"""

import gc
import importlib
import json
import platform
import sys
import time


def main() -> None:
    library_name, path, runs = sys.argv[1], sys.argv[2], int(sys.argv[3])
    library = importlib.import_module(library_name)
    gc.disable()
    seconds = []
    for _ in range(runs):
        start = time.perf_counter()
        with open(path, "rb") as file:
            trace = library.loads(file.read())
        seconds.append(time.perf_counter() - start)
        events = len(trace["traceEvents"])
        del trace
    version = library.__version__ if library_name != "json" else platform.python_version()
    print(json.dumps({"read_s": seconds, "events": events, "version": version}))


main()
