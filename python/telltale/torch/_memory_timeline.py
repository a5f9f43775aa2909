from typing import Any


def export(trace: Any, notes: Any, path: str, device: Any) -> None: ...
