"""The picture of measure/growth.py: a panel for each figure, a bar for each chapter."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from html import escape

from measure import machine
from measure.chart import MARGIN, STYLE, WIDTH, text

HEIGHT, GAP = 84, 44
TALL = 4.0  # medians: a bar that is higher is broken off

OWN_STYLE = """
  .echo { fill: var(--peer); } .web { fill: var(--final); }
  .alone { fill-opacity: 0.25; stroke: var(--peer); stroke-dasharray: 3 2; }
  .small { font-size: 10px; fill: var(--faint); }
"""


def short(value: float) -> str:
    """At most five letters."""
    if value >= 99_950:
        return f"{value / 1000:.0f}k"
    if value >= 9_995:
        return f"{value / 1000:.1f}k"
    if value >= 1000:
        return f"{value:,.0f}"
    return f"{value:.0f}" if value >= 99.5 else f"{value:.1f}" if value % 1 else f"{value:.0f}"


PANELS: tuple[tuple[str, str, Callable[[dict], float]], ...] = (
    ("CPU time per request, µs", "less is better", lambda each: each["cpu_us"]),
    ("requests per second", "more is better", lambda each: each["requests_per_second"]),
    ("99 % are answered within, ms", "less is better", lambda each: each["p99_us"] / 1000),
    ("clients held at once", "of {asked:,} that come", lambda each: each["held"]),
    ("lines of code in src/", "neither empty nor comment", lambda each: each["lines"]),
)


def panel(y: float, entries: Sequence[dict], title: str, aside: str, value: Callable[[dict], float]) -> list[str]:
    amounts = [value(each) for each in entries]
    most = min(max(amounts), TALL * sorted(amounts)[len(amounts) // 2]) or max(amounts) or 1.0
    step = (WIDTH - 2 * MARGIN) / len(entries)
    base = y + 24 + HEIGHT
    parts = [text(MARGIN, y + 6, title, "panel"), text(WIDTH - MARGIN, y + 6, aside, "faint end")]
    for index, (each, amount) in enumerate(zip(entries, amounts)):
        height = max(1.0, min(1.0, amount / most) * (HEIGHT - 14))
        left, middle = MARGIN + index * step + 3, MARGIN + (index + 0.5) * step
        style = each["kind"] + (" alone" if each["connections"] == 1 else "")
        parts.append(
            f'<rect x="{left:.1f}" y="{base - height:.1f}" width="{step - 6:.1f}" height="{height:.1f}"'
            f' class="{style}"/>'
        )
        if amount > most:
            parts.append(f'<path d="M{left - 2:.1f} {base - height + 12:.1f} l{step - 2:.1f} -6" class="break"/>')
        parts.append(text(middle, base - height - 4, short(amount), "small middle"))
        parts.append(text(middle, base + 13, each["chapter"], "small middle"))
    parts.append(f'<line x1="{MARGIN}" y1="{base:.1f}" x2="{WIDTH - MARGIN}" y2="{base:.1f}" class="grid"/>')
    return parts


def remarks(data: dict) -> list[str]:
    """What has to be known to read the bars."""
    settings, described = data["settings"], data["machine"]
    rounds = f"medians of {settings['rounds']} interleaved rounds" if settings["rounds"] > 1 else "one round"
    where = "server on one core, load on the other" if settings["pinned"] else "unpinned"
    return [
        machine.subtitle(described),
        f"{rounds} of {settings['seconds']:g} s; {where}",
        f"other work took {data['other_cpus']:g} of {described['cores']} cores meanwhile: compare the bars with each"
        " other, not with another machine's",
    ]


def svg(data: dict) -> str:
    entries = data["medians"]
    title = "How it grew: one load on the server of every chapter"
    parts = [text(MARGIN, MARGIN + 12, title, "title")]
    y = MARGIN + 32.0
    for line in remarks(data):
        parts.append(text(MARGIN, y, line, "faint"))
        y += 18
    x = float(MARGIN)
    for style, words in (
        ("echo alone", "echo of 64 bytes, one client: it serves no second"),
        ("echo", "echo of 64 bytes, 64 clients"),
        ("web", "a small file over HTTP, 64 clients"),
    ):
        parts.append(f'<rect x="{x:.0f}" y="{y - 2:.0f}" width="12" height="12" class="{style}"/>')
        parts.append(text(x + 18, y + 8, words, "faint"))
        x += 46 + 6.4 * len(words)
    y += 40
    for name, aside, value in PANELS:
        parts += panel(y, entries, name, aside.format(**data["settings"]), value)
        y += 24 + HEIGHT + GAP
    height = y
    return "\n".join(
        [
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height:.0f}" width="{WIDTH}"'
            f' height="{height:.0f}" role="img" aria-label="{escape(title)}">',
            f"<style>{STYLE}{OWN_STYLE}</style>",
            '<rect class="page" width="100%" height="100%"/>',
            *parts,
            "</svg>\n",
        ]
    )
