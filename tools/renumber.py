#!/usr/bin/env python3
"""Makes room between chapters: a chapter and all that follow it get higher numbers, in the whole book.

    tools/renumber.py NN BY    chapter NN becomes NN+BY, and so do those after it

Numbers of chapters are in the names of folders and of tests of the next chapter, in links, commands,
builds, labels and exercises, and in prose. What is certain follows: `chapter 12`, `chapters 09 to 12`,
`build/12`, `ch12`, `12-cgi`, `exercise 12.1`, `./learn start 12`, `[12](…/12-cgi/…)`, `第 12 章`. A bare
number could be a port, a size or a year, so lines that hold one are printed to be looked at.

Afterwards it writes final/ and the generated texts anew. It builds nothing; the tree must be committed
before, and you look at the difference after. Python's standard library and git.
"""

from __future__ import annotations

import argparse
import pathlib
import re
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))

import move  # noqa: E402
from learn import chapters  # noqa: E402

ROOT = chapters.ROOT
# The tools' own tests have chapters that are made up.
MADE_UP = ("tests/tools/", "tests/learn/", "tests/site/", "tools/renumber.py")

NUMBER = r"(?:0[1-9]|[1-9]\d)"
# Between the words of a sentence there may be a line's end, and in code the next line's comment.
GAP = r"(?:[ \t]+|[ \t]*\n[ \t]*(?://+[ \t]*|\#[ \t]*|>[ \t]*)?)"
LIST = rf"{NUMBER}\b(?:(?:,?{GAP}(?:and|to|or|through){GAP}|,{GAP}|[–-]){NUMBER}\b(?![.,]\d))*"
EXERCISE = rf"{NUMBER}\.[1-9]\b"

# Each finds a place whose numbers are those of chapters.
CERTAIN = (
    rf"\b[Cc]hapters?{GAP}{LIST}(?![.,]\d)",
    rf"\b[Ee]xercises?{GAP}{EXERCISE}(?:(?:,?{GAP}(?:and|to|or){GAP}|,{GAP}){EXERCISE})*",
    rf"^\#+[ \t]+{NUMBER}(?:\.[1-9])?(?=[ \t])",
    rf"\./learn{GAP}\w+{GAP}{NUMBER}(?:\.[1-9])?\b",
    rf"\bchapters\.py \w+ {NUMBER}\b",
    rf"\b(?:build/(?:test/|stubs/|ch)?|ch){NUMBER}\b",
    rf"\bchapter={NUMBER}\b",
    rf"\btests/{NUMBER}_\w+",
    rf"\[{NUMBER}(?:\.[1-9])?\](?=\([^)\s]*{NUMBER}-)",
    rf"\"(?:chapter|name)\": \"{NUMBER}\"",
    rf"\|[ \t]*{NUMBER}[ \t]*\|(?=[ \t]*\[[^\]]*\]\([^)\s]*{NUMBER}-)",
    rf"第 {NUMBER}(?:(?:、| 到 | 和 | 至 ){NUMBER})* 章",
)
# What site.py and code blocks hold between their two lines is written anew, or checked by running it.
GENERATED = re.compile(
    r"^```.*?^```"
    r"|<!-- (classes now|chapters|measured|steps|file)\b[^\n]*? -->.*?<!-- /\1 -->"
    r"|<!-- =[^\n]*? -->.*?<!-- / -->",
    re.MULTILINE | re.DOTALL,
)
BARE = re.compile(rf"(?<![\w.,:%/+*=<>~^({{\[-]){NUMBER}(?![\w:%/+*=<>~^)}}\]-]|[.,]\d)")
PROSE = (".md", ".py", ".txt", ".json", ".yml")


class RenumberError(Exception):
    """What the caller has to put right."""


def numbering(first: str, by: int, every: list[chapters.Chapter]) -> dict[str, str]:
    """Old number -> new number, of the chapters that move."""
    moved = {each.number: f"{int(each.number) + by:02}" for each in every if int(each.number) >= int(first)}
    if first not in moved:
        raise RenumberError(f"{first}: there is no such chapter")
    if by == 0 or (by < 0 and int(min(moved.values())) <= len(every) - len(moved)) or int(max(moved.values())) > 99:
        raise RenumberError(f"{first} by {by}: the numbers {', '.join(moved.values())} can't be had")
    return moved


def certain(every: list[chapters.Chapter]) -> re.Pattern[str]:
    """What is a chapter's number for certain; the names of folders and of felt problems are known."""
    names = [rf"\b{each.number}[- ]{each.folder.name[3:]}\b" for each in every]
    felt = [rf"\b{path.stem}" for each in every for path in sorted((each.folder / "tests/next").glob("*_test.cpp"))]
    return re.compile("|".join((*CERTAIN, *names, *felt)), re.MULTILINE)


def renumbered(text: str, moved: dict[str, str], pattern: re.Pattern[str]) -> str:
    def place(match: re.Match[str]) -> str:
        number = re.compile(rf"(?<!\d){NUMBER}(?!\d)")
        return number.sub(lambda found: moved.get(found[0], found[0]), match[0])

    return pattern.sub(place, text)


def doubtful(text: str, moved: dict[str, str], pattern: re.Pattern[str]) -> list[tuple[int, str]]:
    """The lines with a bare number that may be one of the chapters that move, outside of code."""
    rest = pattern.sub(lambda match: re.sub(r"[^\n]", " ", match[0]), text)
    rest = GENERATED.sub(lambda match: re.sub(r"[^\n]", " ", match[0]), rest)
    lines = text.splitlines()
    found = []
    for number, line in enumerate(rest.splitlines(), 1):
        if any(match[0] in moved for match in BARE.finditer(line)):
            found.append((number, lines[number - 1].strip()))
    return found


def rename(root: pathlib.Path, every: list[chapters.Chapter], moved: dict[str, str]) -> None:
    """Highest first, so that each finds its place free; downwards, lowest first."""
    up = next(iter(moved.values())) > next(iter(moved))
    for chapter in sorted(every, key=lambda each: each.number, reverse=up):
        if chapter.number not in moved:
            continue
        folder = chapter.folder.with_name(moved[chapter.number] + chapter.folder.name[2:])
        move.git(root, "mv", str(chapter.folder), str(folder))
        for test in sorted((folder / "tests/next").glob(f"{chapter.number}_*")):
            move.git(root, "mv", str(test), str(test.with_name(moved[chapter.number] + test.name[2:])))


def texts(root: pathlib.Path) -> list[pathlib.Path]:
    """Where numbers of chapters are written: also in the solutions of exercises, which quote the code."""
    solutions = move.git(root, "ls-files", "-z", "*.diff").split("\0")
    return [*move.texts(root), *(root / name for name in solutions if name)]


def run(first: str, by: int, root: pathlib.Path) -> None:
    if move.git(root, "status", "--porcelain", "--untracked-files=no"):
        raise RenumberError("commit first: what this does can then be looked at, and taken back")
    every = chapters.all_chapters(root)
    moved = numbering(first, by, every)
    pattern = certain(every)
    rename(root, every, moved)
    chapters.all_chapters.cache_clear()
    look = []
    for file in texts(root):
        name = file.relative_to(root).as_posix()
        if name.startswith((*MADE_UP, "final/tests/next/")):
            continue
        before = file.read_text(encoding="utf-8")
        after = renumbered(before, moved, pattern)
        if after != before:
            file.write_text(after, encoding="utf-8")
        if file.suffix in PROSE and not name.startswith("docs/measured/"):
            look += [f"look: {name}:{number}: {line}" for number, line in doubtful(before, moved, pattern)]
    for old, new in moved.items():
        print(f"{old} -> {new}")
    print("\n".join(look))


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("first", metavar="NN")
    parser.add_argument("by", metavar="BY", type=int)
    options = parser.parse_args()
    try:
        run(options.first, options.by, ROOT)
        move.generate()
    except (RenumberError, move.MoveError) as error:
        print(f"renumber.py: {error}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
