#!/usr/bin/env python3
"""Counts lines: source, tests and examples of each chapter (what it adds or changes) and of final.

A line counts as code if it is neither empty nor only a comment.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Iterable, List, Tuple

from chapters import PARTS, Book

SUFFIXES = {".h", ".cpp"}


def count(files: Iterable[Path]) -> Tuple[int, int]:
    """All lines, and lines of code, of C++ files."""
    lines = code = 0
    for file in files:
        in_comment = False
        for line in file.read_text(encoding="utf-8").splitlines():
            lines += 1
            text = line.strip()
            if in_comment:
                in_comment = "*/" not in text
            elif text.startswith("/*"):
                in_comment = "*/" not in text
            elif text and not text.startswith("//"):
                code += 1
    return lines, code


def row(name: str, folder: Path) -> Tuple[str, List[int]]:
    numbers: List[int] = []
    for part in PARTS:
        files = (file for file in (folder / part).rglob("*") if file.suffix in SUFFIXES)
        numbers += count(files)
    return name, numbers


def main() -> int:
    book = Book(Path(__file__).resolve().parent.parent)
    rows = [row(chapter.folder.name, chapter.folder) for chapter in book.chapters]
    total = [sum(column) for column in zip(*(numbers for _, numbers in rows))]
    rows += [("all chapters", total), row("final", book.final)]
    print(f"{'':22}" + "".join(f"{part:>16}" for part in PARTS))
    print(f"{'lines, lines of code':22}" + f"{'all':>8}{'code':>8}" * len(PARTS))
    for name, numbers in rows:
        print(f"{name:22}" + "".join(f"{number:8}" for number in numbers))
    return 0


if __name__ == "__main__":
    sys.exit(main())
