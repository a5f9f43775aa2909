"""What torch's experimental configuration asks for. Most of it can be given, but not read by its name."""

from __future__ import annotations

import re
from typing import Any


def asks_for(configuration: Any, option: str) -> bool:
    """Whether an option that is true or false was set; not where this version of torch does not have it."""
    if hasattr(configuration, option):
        return bool(getattr(configuration, option))
    try:
        values = configuration.__getstate__()  # for pickle: all values, in the order of the arguments
    except (AttributeError, TypeError):
        return False
    names = re.findall(r"(\w+): [^,()]*= ", (type(configuration).__init__.__doc__ or "").partition("\n")[0])
    if not isinstance(values, tuple) or len(values) != len(names):
        return False
    return dict(zip(names, values, strict=True)).get(option) is True
