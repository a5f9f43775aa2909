"""What a trace in Chrome's JSON format says, read with nothing but Python's own json module."""
import gzip
import json
from decimal import Decimal


def document_of(path):
    opener = gzip.open if str(path).endswith(".gz") else open
    with opener(path, "rt", encoding="utf-8") as file:
        return json.load(file, parse_float=Decimal)


def nanoseconds(microseconds):
    return int(Decimal(str(microseconds)) * 1000)


def is_timed(event):
    return event["ph"] in "XiIRC"


def origin_of(events):
    """The time of the first event, which is where the model's time begins."""
    return min(nanoseconds(event["ts"]) for event in events if is_timed(event))


def spans_of(events):
    """The complete events, with exact times from the first event on."""
    origin = origin_of(events)
    for event in events:
        if event["ph"] == "X":
            start = nanoseconds(event["ts"]) - origin
            yield event, start, start + nanoseconds(event.get("dur", 0))
