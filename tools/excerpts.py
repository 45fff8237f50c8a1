"""The blocks of code on a page, and where the titled ones, the excerpts, stand in a file."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path
from typing import List, Optional, Tuple

ELISION = re.compile(r"^\s*(//|#|/\*)?\s*…\s*(\*/)?\s*$")


@dataclass(frozen=True)
class Excerpt:
    """A code block on a page."""

    page: Path
    line: int  # of its first line of code
    language: str
    title: str  # "" if it has none
    code: Tuple[str, ...]


def read_blocks(page: Path) -> List[Excerpt]:
    """The fenced blocks of a page."""
    result = []
    fence = None
    indent = line = 0
    language = title = ""
    code: List[str] = []
    for number, row in enumerate(page.read_text(encoding="utf-8").splitlines(), 1):
        if fence is None:
            opening = re.match(r"^(\s*)(`{3,}|~{3,})\s*(.*)$", row)
            if opening:
                indent, fence, line, code = len(opening[1]), opening[2], number + 1, []
                found = re.search(r'title="([^"]*)"', opening[3])
                title = found[1] if found else ""
                word = re.match(r"[{ .]*([\w+-]*)", opening[3])
                language = word[1] if word and not word[1].startswith("title") else ""
        elif re.match(rf"^\s*{re.escape(fence[0])}{{{len(fence)},}}\s*$", row):
            result.append(Excerpt(page, line, language, title, tuple(code)))
            fence = None
        else:
            code.append(row[indent:] if not row[:indent].strip() else row)
    return result


def read_excerpts(page: Path) -> List[Excerpt]:
    """Those of them that have a title."""
    return [block for block in read_blocks(page) if block.title]


def resolve(path: str, known: List[str]) -> Optional[str]:
    """`core/socket.h` stands for `src/core/socket.h`."""
    return next((p for p in (path, f"src/{path}") if p in known), None)


def dedent(code: Tuple[str, ...]) -> List[str]:
    rows = [row.rstrip() for row in code]
    indents = [len(row) - len(row.lstrip()) for row in rows if row and not ELISION.match(row)]
    cut = min(indents, default=0)
    return [row if ELISION.match(row) else row[cut:] for row in rows]


def first_difference(code: Tuple[str, ...], text: str) -> Optional[Tuple[int, Optional[int]]]:
    """None if the excerpt is verbatim in the text. Else which of its lines is the first that is
    not, in the best attempt, and the line of the text that stands in its place."""
    rows = dedent(code)
    lines = [line.rstrip() for line in text.splitlines()]
    best = (-1, None)  # how many rows fitted, and where in the text it ended
    for shift in sorted({len(line) - len(line.lstrip()) for line in lines}):
        wanted = [" " * shift + row if row and not ELISION.match(row) else row for row in rows]
        for start in range(len(lines)):
            fitted, at = fit(wanted, lines, start)
            if fitted == len(wanted):
                return None
            if fitted > best[0]:
                best = (fitted, at)
    return best


def lines_of(code: Tuple[str, ...], text: str) -> Optional[List[int]]:
    """The lines of the text, from 1, that a verbatim excerpt shows; None if it isn't verbatim."""
    parts: List[List[str]] = [[]]  # between elisions
    for row in dedent(code):
        if ELISION.match(row):
            parts.append([])
        else:
            parts[-1].append(row)
    parts = [part for part in parts if part]
    lines = [line.rstrip() for line in text.splitlines()]

    def place(part: List[str], start: int) -> int:
        places = range(start, len(lines) - len(part) + 1)
        return next((at for at in places if lines[at : at + len(part)] == part), -1)

    for shift in sorted({len(line) - len(line.lstrip()) for line in lines}):
        wanted = [[" " * shift + row if row else row for row in part] for part in parts]
        at = place(wanted[0], 0) if wanted else -1
        shown: List[int] = []
        for part in wanted:
            at = place(part, at) if at >= 0 else -1
            if at < 0:
                break
            shown += range(at + 1, at + len(part) + 1)
            at += len(part)
        else:
            if shown:
                return shown
    return None


def place_of(code: Tuple[str, ...], text: str) -> Optional[int]:
    """The line of the text, from 1, at which the first line of a verbatim excerpt stands."""
    shown = lines_of(code, text)
    return shown[0] if shown else None


def fit(rows: List[str], lines: List[str], start: int) -> Tuple[int, Optional[int]]:
    """How many rows of an excerpt fit the text from line `start` on."""
    at = start
    row = 0
    while row < len(rows):
        if not ELISION.match(rows[row]):
            if at >= len(lines) or lines[at] != rows[row]:
                return row, at if at < len(lines) else None
            row, at = row + 1, at + 1
            continue
        row += 1
        end = row  # of the rows up to the next elision: they stand together
        while end < len(rows) and not ELISION.match(rows[end]):
            end += 1
        best = (0, None)
        for place in range(at, len(lines) + 1):
            fitted, stop = fit(rows[row:end], lines, place)
            if fitted == end - row:
                at = place + fitted
                break
            if fitted > best[0]:
                best = (fitted, stop)
        else:
            return row + best[0], best[1]
        row = end
    return row, at
