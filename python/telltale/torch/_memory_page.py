"""Memory by category over time as a page that needs nothing else: a picture, and its numbers."""

from __future__ import annotations

import html

# In the order of the columns of torch's timeline, drawn from the bottom up. Told apart by the color-blind, too.
_CATEGORIES = (
    ("parameters", "#0072b2"),
    ("optimizer state", "#56b4e9"),
    ("inputs", "#999999"),
    ("temporaries", "#f0e442"),
    ("activations", "#d55e00"),
    ("gradients", "#009e73"),
    ("autograd detail", "#cc79a7"),
    ("unknown", "#cccccc"),
)
_WIDTH, _HEIGHT = 1000, 400
_MOST_POINTS = 2000

_STYLE = """
body { font: 15px/1.5 system-ui, sans-serif; margin: 2em auto; max-width: 1060px; color: #222; background: #fff; }
svg { width: 100%; height: auto; background: #f7f7f7; }
table { border-collapse: collapse; font-variant-numeric: tabular-nums; }
td, th { padding: 0.2em 1em 0.2em 0; text-align: right; font-weight: normal; }
td:first-child { text-align: left; }
i { display: inline-block; width: 0.8em; height: 0.8em; margin-right: 0.5em; }
@media (prefers-color-scheme: dark) { body { color: #ddd; background: #1b1b1b; } svg { background: #262626; } }
"""

Point = tuple[int, list[int]]


def page(over_time: list[Point], device: str) -> str:
    """All of it in one text."""
    title = f"Memory on {html.escape(device)}"
    head = f"<!doctype html><html lang=en><meta charset=utf-8><title>{title}</title><style>{_STYLE}</style>"
    if not over_time:
        return f"{head}<h1>{title}</h1><p>No memory of this device was recorded.</p></html>\n"
    peak = max(over_time, key=lambda point: sum(point[1]))
    start, end = over_time[0][0], over_time[-1][0]
    said = f"At most {_size(sum(peak[1]))}, {_time(peak[0] - start)} after the start; {_time(end - start)} in all."
    return f"{head}<h1>{title}</h1><p>{said}</p>{_picture(_thinned(over_time))}{_table(peak, over_time[-1])}</html>\n"


def _thinned(over_time: list[Point]) -> list[Point]:
    """So many points that a screen shows them all, the highest of each neighborhood kept."""
    each = max(1, -(-len(over_time) // _MOST_POINTS))
    groups = (over_time[start : start + each] for start in range(0, len(over_time), each))
    return [max(group, key=lambda point: sum(point[1])) for group in groups]


def _picture(points: list[Point]) -> str:
    start, end = points[0][0], max(points[-1][0], points[0][0] + 1)
    most = max(1, *(sum(sizes) for _, sizes in points))
    across = [(at - start) / (end - start) * _WIDTH for at, _ in points]
    below = [0.0] * len(points)
    areas = []
    for column, (name, color) in enumerate(_CATEGORIES):
        above = [height + max(0, sizes[column]) for height, (_, sizes) in zip(below, points, strict=True)]
        if above != below:
            outline = _steps(across, above, most) + _steps(across, below, most)[::-1]
            corners = " ".join(f"{x:.1f},{y:.1f}" for x, y in outline)
            areas.append(f'<polygon points="{corners}" fill="{color}"><title>{name}</title></polygon>')
        below = above
    return f'<svg viewBox="0 0 {_WIDTH} {_HEIGHT}" role="img">{"".join(areas)}</svg>'


def _steps(across: list[float], heights: list[float], most: int) -> list[tuple[float, float]]:
    """Memory stays as it is until it changes."""
    corners = []
    for i, height in enumerate(heights):
        y = _HEIGHT * (1 - height / most)
        corners += [(across[i], y), (across[i + 1] if i + 1 < len(across) else _WIDTH, y)]
    return corners


def _table(peak: Point, last: Point) -> str:
    rows = [
        f'<tr><td><i style="background:{color}"></i>{name}<td>{_size(peak[1][column])}<td>{_size(last[1][column])}'
        for column, (name, color) in reversed(list(enumerate(_CATEGORIES)))
    ]
    total = f"<tr><td>all<td>{_size(sum(peak[1]))}<td>{_size(sum(last[1]))}"
    return f"<table><tr><th><th>at the peak<th>at the end{''.join(rows)}{total}</table>"


def _size(number: int) -> str:
    for unit, factor in (("GiB", 1 << 30), ("MiB", 1 << 20), ("KiB", 1 << 10)):
        if abs(number) >= factor:
            return f"{number / factor:.3g} {unit}"
    return f"{number} B"


def _time(nanoseconds: int) -> str:
    for unit, factor in (("s", 10**9), ("ms", 10**6)):
        if nanoseconds >= factor:
            return f"{nanoseconds / factor:.3g} {unit}"
    return f"{nanoseconds / 1000:.3g} µs"
