#!/usr/bin/env python3
"""Moves source files and renames what they declare, in the whole book at once.

    tools/move.py files OLD NEW [OLD NEW …]    src/web/old.h src/web/new.h: in every chapter and in final/
    tools/move.py names OLD NEW [OLD NEW …]    CgiRun CgiProcess: wherever it stands as a word

A file of a chapter is mentioned in many places: in includes, in later chapters' versions, in tests, on
pages and in their excerpts, in work.txt, in solutions of exercises, in translations, in tools. All
of them follow. Solutions are made anew from the solved program, because a patch whose context has
changed does not fit. A `*` in OLD stands for a part of a file's name, and in NEW for the same part.

Afterwards it writes final/ and the generated texts anew and prints what it could not decide: places that
still name what is gone. It builds nothing; the tree must be committed before, and you look at the
difference after. Python's standard library, git and clang-format.
"""

from __future__ import annotations

import argparse
import pathlib
import re
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterable

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))

import exercises  # noqa: E402
from learn import chapters  # noqa: E402

ROOT = chapters.ROOT
CODE = (".h", ".cpp")
TEXT = (*CODE, ".md", ".txt", ".cmake", ".in", ".py", ".json", ".yml", ".yaml", ".sh", ".html")
HISTORY = ("CHANGELOG.md",)  # says what was


class MoveError(Exception):
    """What the caller has to put right."""


Change = Callable[[str], str]


def pairs(words: list[str]) -> list[tuple[str, str]]:
    if not words or len(words) % 2:
        raise MoveError("give an old and a new one, and so on in pairs")
    return list(zip(words[::2], words[1::2]))


# --- what changes --------------------------------------------------------------------------------


def expand(patterns: Iterable[tuple[str, str]], there: Iterable[str]) -> dict[str, str]:
    """The files of `there` that a pattern means, and where each goes."""
    there = sorted(there)
    moved: dict[str, str] = {}
    for old, new in patterns:
        if old.count("*") > 1 or old.count("*") != new.count("*"):
            raise MoveError(f"{old} {new}: each has one * or none")
        pattern = re.compile(re.escape(old).replace(r"\*", "([^/]*)") + "$")
        found = {path: new.replace("*", match[1] if match.groups() else "") for path in there if (match := pattern.match(path))}
        if not found:
            raise MoveError(f"{old}: no chapter has such a file")
        moved.update(found)
    taken = [new for new in moved.values() if new in there and new not in moved]
    if taken or len(set(moved.values())) < len(moved):
        raise MoveError(f"{', '.join(taken) or 'two files'}: there can't be two of one name")
    return moved


def path_change(moved: dict[str, str]) -> Change:
    """Has a text name the files as they are named after the move."""
    # As part of the tree, `src/web/old.h`, and as an include or a page names it, `web/old.h`.
    names = {}
    for old, new in moved.items():
        names[old] = new
        if old.startswith("src/") and new.startswith("src/"):
            names[old[4:]] = new[4:]
    longest_first = sorted(names, key=len, reverse=True)
    # Not a part of another path, except behind one: chapters/14-cgi/src/web/old.h, turtle/web/old.h.
    pattern = re.compile(r"(?<![\w.-])(?:" + "|".join(map(re.escape, longest_first)) + r")(?![\w-]|\.\w)")
    return lambda text: pattern.sub(lambda match: names[match[0]], text)


def name_change(renamed: dict[str, str]) -> Change:
    pattern = re.compile(r"\b(?:" + "|".join(map(re.escape, renamed)) + r")\b")
    return lambda text: pattern.sub(lambda match: renamed[match[0]], text)


def change_texts(change: Change, files: Iterable[pathlib.Path], style: pathlib.Path) -> None:
    """Code that has changed is formatted, because includes are sorted by name."""
    formatted = []
    for file in files:
        before = file.read_text(encoding="utf-8")
        after = change(before)
        if after != before:
            file.write_text(after, encoding="utf-8")
            if file.suffix in CODE:
                formatted.append(str(file))
    for at in range(0, len(formatted), 100):
        subprocess.run(["clang-format", f"--style=file:{style}", "-i", *formatted[at : at + 100]], check=True)


def code_in(folder: pathlib.Path) -> list[pathlib.Path]:
    return [path for path in sorted(folder.rglob("*")) if path.suffix in CODE]


def move_in(folder: pathlib.Path, moved: dict[str, str]) -> None:
    """Moves the files of an assembled program."""
    for old, new in moved.items():
        if (folder / old).is_file():
            (folder / new).parent.mkdir(parents=True, exist_ok=True)
            (folder / old).rename(folder / new)


# --- the book ------------------------------------------------------------------------------------


def git(root: pathlib.Path, *words: str) -> str:
    return subprocess.run(["git", *words], cwd=root, check=True, capture_output=True, text=True).stdout


def texts(root: pathlib.Path) -> list[pathlib.Path]:
    """What is written by hand and may name a file or a class."""
    names = filter(None, git(root, "ls-files", "-z").split("\0"))
    paths = [root / name for name in names if name not in HISTORY]
    return [path for path in paths if path.suffix in TEXT and path.is_file() and not path.is_symlink()]


def solved_programs(root: pathlib.Path, scratch: pathlib.Path) -> list[tuple[exercises.Exercise, pathlib.Path]]:
    """Each exercise with its chapter's program, solved, as it is now."""
    found = []
    for chapter in chapters.all_chapters(root):
        for exercise in exercises.of(chapter):
            folder = scratch / exercise.name
            exercises.lay(chapter, [exercise], folder, solved=True)
            found.append((exercise, folder))
    return found


def apply(root: pathlib.Path, moved: dict[str, str], change: Change) -> None:
    """Changes everything that is written by hand, and final/."""
    with tempfile.TemporaryDirectory(prefix="turtle-move-") as name:
        scratch = pathlib.Path(name)
        solved = solved_programs(root, scratch / "solved")
        for place in (*(chapter.folder for chapter in chapters.all_chapters(root)), root / "final"):
            for old, new in moved.items():
                if (place / old).is_file():
                    (place / new).parent.mkdir(parents=True, exist_ok=True)
                    git(root, "mv", str(place / old), str(place / new))
        chapters.all_chapters.cache_clear()
        change_texts(change, texts(root), root / ".clang-format")
        for exercise, folder in solved:
            move_in(folder, moved)
            change_texts(change, code_in(folder), root / ".clang-format")
            exercises.write(exercise, folder, scratch / "write")


def generate() -> None:
    for words in (["chapters.py", "sync"], ["translations.py", "sync"], ["site.py", "texts"]):
        subprocess.run([sys.executable, str(ROOT / "tools" / words[0]), *words[1:]], check=True)


def leftovers(root: pathlib.Path, gone: Iterable[str]) -> list[str]:
    """Lines that name a file that is gone without its ending, or as it was called in a test's name."""
    stems = {pathlib.PurePosixPath(path).with_suffix("").as_posix().removeprefix("src/") for path in gone}
    if not stems:
        return []
    pattern = re.compile(r"(?<![\w.-])(?:" + "|".join(map(re.escape, sorted(stems, key=len, reverse=True))) + r")(?![\w-]|\.\w)")
    found = []
    for path in texts(root):
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
            if pattern.search(line):
                found.append(f"{path.relative_to(root)}:{number}: {line.strip()}")
    return found


def run(options: argparse.Namespace, root: pathlib.Path) -> None:
    if git(root, "status", "--porcelain", "--untracked-files=no"):
        raise MoveError("commit first: what this does can then be looked at, and taken back")
    wanted = pairs(options.words)
    if options.command == "names":
        apply(root, {}, name_change(dict(wanted)))
        return
    there = {path for chapter in chapters.all_chapters(root) for path in chapter.files()}
    moved = expand(wanted, there)
    apply(root, moved, path_change(moved))
    for old, new in moved.items():
        print(f"{old} -> {new}")
    for line in leftovers(root, moved):
        print(f"look: {line}")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("command", choices=("files", "names"))
    parser.add_argument("words", nargs="+", metavar="OLD NEW")
    try:
        run(parser.parse_args(), ROOT)
    except (MoveError, exercises.ExerciseError) as error:
        print(f"move.py: {error}", file=sys.stderr)
        return 1
    generate()
    return 0


if __name__ == "__main__":
    sys.exit(main())
