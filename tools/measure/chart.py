"""The medians as an SVG picture, readable on light and dark pages; Python's library has no charts."""

from __future__ import annotations

import math
import statistics
from collections.abc import Sequence
from html import escape

from measure.report import KINDS, ORDER, number
from measure.table import QUOTED, SCALING, SCENARIOS

WIDTH, MARGIN, GAP = 960, 24, 28
PANEL = (WIDTH - 2 * MARGIN - GAP) / 2
LABEL = 132  # width for the names of servers
BAR, STEP = 12, 18
HEAD = 34  # a panel's title
OUTLIER = 3.0  # medians
LEAST = 0.01  # us; less than a clock's tick in all is 0, which has no place on a logarithmic axis
LINES = 220  # height of a picture with lines

STYLE = """
  svg { --page: #ffffff; --ink: #1f2328; --faint: #656d76; --grid: #d8dee4;
        --final: #1a7f4e; --floor: #a0a8b0; --peer: #6a90c9; }
  @media (prefers-color-scheme: dark) {
    svg { --page: #12161c; --ink: #e6edf3; --faint: #9aa4af; --grid: #333b45;
          --final: #4cc38a; --floor: #6f7781; --peer: #5b82bd; } }
  .page { fill: var(--page); }
  text { fill: var(--ink); font: 12px system-ui, sans-serif; }
  .title { font-size: 18px; font-weight: 600; }
  .panel { font-weight: 600; }
  .faint { fill: var(--faint); }
  .end { text-anchor: end; }
  .middle { text-anchor: middle; }
  .final { fill: var(--final); } .floor { fill: var(--floor); } .peer { fill: var(--peer); }
  .variant { opacity: 0.55; }
  .quoted { fill: none; stroke: var(--peer); stroke-dasharray: 3 2; }
  .break { stroke: var(--page); stroke-width: 3; }
  .own { font-weight: 600; }
  .grid { stroke: var(--grid); }
  .line { fill: none; stroke-width: 1.6; }
  .line.final { stroke: var(--final); stroke-width: 2.6; fill: none; }
  .line.floor { stroke: var(--floor); fill: none; } .line.peer { stroke: var(--peer); fill: none; }
"""


def style_of(server: str) -> str:
    """The class of a server's bars and lines; `final` itself stands out from its variants."""
    kind = KINDS[server]
    return f"{kind} variant" if kind == "final" and server != "final" else kind


def text(x: float, y: float, words: str, style: str = "") -> str:
    return f'<text x="{x:.1f}" y="{y:.1f}" class="{style}">{escape(words)}</text>'


def bars(x: float, y: float, title: str, values: Sequence[tuple[str, float, str]]) -> tuple[list[str], float]:
    """A panel of (name, value, style), least first; its elements and its height."""
    parts = [text(x, y + 14, title, "panel")]
    amounts = [value for _, value, _ in values]
    # One server far off would make all others look alike: its bar is broken off.
    most = min(max(amounts), OUTLIER * statistics.median(amounts)) or max(amounts) or 1.0
    room = PANEL - LABEL - 52
    top = y + HEAD - 10
    for name, value, style in sorted(values, key=lambda each: each[1]):
        length = min(room, max(1.0, value / most * room))
        own = "own" if style == "final" else ""
        parts.append(text(x + LABEL - 8, top + BAR - 2, name, f"end {own}"))
        parts.append(f'<rect x="{x + LABEL:.1f}" y="{top:.1f}" width="{length:.1f}" height="{BAR}" class="{style}"/>')
        if value > most:
            at = x + LABEL + room - 22
            parts.append(f'<path d="M{at:.1f} {top + BAR} l6 -{BAR}" class="break"/>')
        parts.append(text(x + LABEL + length + 6, top + BAR - 2, number(value), f"faint {own}"))
        top += STEP
    return parts, top - y


def lines(x: float, y: float, title: str, series: dict[str, list[tuple[int, float]]]) -> tuple[list[str], float]:
    """A panel of cost over connections, for each server; both axes are logarithmic."""
    parts = [text(x, y + 14, title, "panel")]
    costs = [cost for points in series.values() for _, cost in points]
    counts = sorted({count for points in series.values() for count, _ in points})
    left, right, top, bottom = x + 40, x + PANEL * 2 + GAP - 130, y + HEAD, y + HEAD + LINES
    low, high = math.log(min(costs) / 1.1), math.log(max(costs) * 1.1)

    def place(count: int, cost: float) -> tuple[float, float]:
        span = math.log(counts[-1] / counts[0]) or 1.0
        along = math.log(count / counts[0]) / span
        return left + along * (right - left), bottom - (math.log(cost) - low) / (high - low) * (bottom - top)

    for count in counts:
        at, _ = place(count, costs[0])
        parts.append(f'<line x1="{at:.1f}" y1="{top:.1f}" x2="{at:.1f}" y2="{bottom:.1f}" class="grid"/>')
        parts.append(text(at, bottom + 16, f"{count:,}", "faint middle"))
    for mark in (1, 2, 5, 10, 20, 50, 100, 200, 500):
        if low <= math.log(mark) <= high:
            _, at = place(counts[0], mark)
            parts.append(f'<line x1="{left:.1f}" y1="{at:.1f}" x2="{right:.1f}" y2="{at:.1f}" class="grid"/>')
            parts.append(text(left - 6, at + 4, str(mark), "faint end"))
    ends = []
    for name, points in series.items():
        path = " ".join(f"{px:.1f},{py:.1f}" for px, py in (place(*point) for point in points))
        parts.append(f'<polyline points="{path}" class="line {style_of(name)}"/>')
        ends.append((place(*points[-1])[1], name))
    floor = -math.inf
    for at, name in sorted(ends):  # names that would overlap move down
        floor = max(at, floor + 14)
        parts.append(text(right + 8, floor + 4, name, "own" if name == "final" else "faint"))
    return parts, max(HEAD + LINES + 24, floor - y + 12)


def svg(entries: Sequence[dict], subtitle: str) -> str:
    parts: list[str] = []
    y = MARGIN + 64.0
    every = sorted({each["threads"] for each in entries})
    good = [each for each in entries if each["rounds"]]
    for threads in every:
        if len(every) > 1:
            parts.append(text(MARGIN, y + 18, f"{threads} thread{'s' if threads > 1 else ''}", "title"))
            y += 36
        panels = []
        mine = [each for each in good if each["threads"] == threads]
        for scenario in SCENARIOS:
            of_it = [each for each in mine if each["scenario"] == scenario.name]
            values = [(each["server"], each["cpu_us"], style_of(each["server"])) for each in of_it]
            if values and threads == 1:
                values += [(each.name, each.cpu_us, "quoted") for each in QUOTED if each.scenario == scenario.name]
            if values:
                panels.append((f"{scenario.name}: {scenario.title}", values))
            idle = [
                (each["server"], each["idle_bytes"], style_of(each["server"])) for each in of_it if "idle_bytes" in each
            ]
            if idle:
                panels.append((f"{scenario.name}: bytes of memory per idle connection", idle))
        for index in range(0, len(panels), 2):
            height = 0.0
            for column, (title, values) in enumerate(panels[index : index + 2]):
                drawn, used = bars(MARGIN + column * (PANEL + GAP), y, title, values)
                parts += drawn
                height = max(height, used)
            y += height + GAP
        series: dict[str, list[tuple[int, float]]] = {}
        for scenario in SCALING:
            for each in mine:
                if each["scenario"] == scenario.name:
                    cost = max(each["cpu_us"], LEAST)
                    series.setdefault(each["server"], []).append((scenario.connections, cost))
        if series:
            ordered = dict(sorted(series.items(), key=lambda each: -ORDER[each[0]]))  # final on top
            drawn, used = lines(MARGIN, y, "S1 over the number of connections", ordered)
            parts += drawn
            y += used + GAP
    title = "CPU microseconds per request"
    key = []
    x = MARGIN
    kinds = [("final", "final"), ("floor", "floor: no parsing, a canned reply"), ("peer", "other servers")]
    if any('class="quoted"' in part for part in parts):
        kinds.append(("quoted", "other servers, quoted"))
    for style, words in kinds:
        key.append(f'<rect x="{x}" y="{MARGIN + 42}" width="12" height="12" class="{style}"/>')
        key.append(text(x + 18, MARGIN + 52, words, "faint"))
        x += 40 + 7 * len(words)
    height = y + MARGIN - GAP
    return "\n".join(
        [
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height:.0f}" width="{WIDTH}"'
            f' height="{height:.0f}" role="img" aria-label="{title}">',
            f"<style>{STYLE}</style>",
            '<rect class="page" width="100%" height="100%"/>',
            text(MARGIN, MARGIN + 12, f"{title}: less is better", "title"),
            text(MARGIN, MARGIN + 32, subtitle, "faint"),
            *key,
            *parts,
            "</svg>\n",
        ]
    )
