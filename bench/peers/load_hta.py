"""Times HTA on one trace: load_hta.py FILE RUNS. Prints {"read_s": […], …}.

Importing HTA and its libraries is not counted.
"""

import importlib.metadata
import json
import logging
import os
import sys
import time

from hta.trace_analysis import TraceAnalysis


def main() -> None:
    path, runs = os.path.abspath(sys.argv[1]), int(sys.argv[2])
    logging.disable(logging.CRITICAL)
    seconds = []
    for _ in range(runs):
        start = time.perf_counter()
        analysis = TraceAnalysis(trace_files={0: path}, trace_dir=os.path.dirname(path))
        seconds.append(time.perf_counter() - start)
        rows = len(analysis.t.get_trace(0))
    version = importlib.metadata.version("HolisticTraceAnalysis")
    print(json.dumps({"read_s": seconds, "rows": rows, "version": version}))


main()
