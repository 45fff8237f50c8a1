#!/usr/bin/env python3
"""The chapters and what is made of them.

A chapter's folder, chapters/NN-name/, holds only the files that it adds or changes. This program
knows which version of a file is the newest one in any chapter, keeps final/ equal to the newest
of all, assembles a chapter's complete program, carries a fix forward through later versions, and
checks the code on the pages against the code of the chapters.

Python's standard library only (3.9 or later), and git for `carry`.
"""

from __future__ import annotations

import argparse
import difflib
import re
import shutil
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Dict, Iterator, List, Optional, Tuple

import work
from excerpts import first_difference, read_blocks, read_excerpts, resolve
from learn.chapters import all_chapters

PARTS = ("src", "tests", "examples")
ONLY_FINAL = ("conf", "packaging")  # of cmake/tree: no chapter has them
FINAL = 99

MOST_WORDS = 5000  # of a page, without its exercises
MOST_WORDS_OF_AN_EXERCISE = 120  # without its hints and its solution


class ChapterError(Exception):
    """Something the reader of the message can put right."""


@dataclass(frozen=True)
class Chapter:
    """One folder of chapters/."""

    number: int
    folder: Path

    @property
    def label(self) -> str:
        return f"{self.number:02d}"

    def files(self) -> List[str]:
        """The paths of the files that the chapter adds or changes, as in `src/core/socket.h`."""
        return part_files(self.folder)

    def withdrawn(self) -> List[str]:
        """The paths that the chapter takes away, from its withdrawn.txt."""
        listing = self.folder / "withdrawn.txt"
        if not listing.exists():
            return []
        lines = (line.strip() for line in listing.read_text().splitlines())
        return [line for line in lines if line and not line.startswith("#")]


@dataclass(frozen=True)
class Change:
    """What a chapter does to one file: `A` adds it, `M` changes it, `D` withdraws it."""

    kind: str
    path: str
    before: Optional[Path]
    after: Optional[Path]


def part_files(folder: Path) -> List[str]:
    """The files under src/, tests/ and examples/ of a folder, sorted, editors' litter left out."""
    found = []
    for part in PARTS:
        for file in (folder / part).rglob("*"):
            relative = file.relative_to(folder)
            hidden = any(name.startswith(".") or name == "__pycache__" for name in relative.parts)
            if file.is_file() and not hidden and not file.name.endswith("~"):
                found.append(relative.as_posix())
    return sorted(found)


class Book:
    """All chapters, in order."""

    def __init__(self, root: Path):
        self.root = root
        self.final = root / "final"
        self.chapters = []
        for folder in sorted((root / "chapters").glob("[0-9][0-9]-*")):
            if folder.is_dir():
                self.chapters.append(Chapter(int(folder.name[:2]), folder))

    def chapter(self, number: int) -> Chapter:
        for chapter in self.chapters:
            if chapter.number == number:
                return chapter
        known = ", ".join(chapter.label for chapter in self.chapters)
        raise ChapterError(f"there is no chapter {number:02d} (there are {known})")

    def layout(self, number: int) -> Dict[str, Chapter]:
        """The complete program of chapter `number`: each path, and whose version of it counts."""
        result: Dict[str, Chapter] = {}
        for chapter in self.chapters:
            if chapter.number <= number:
                for path in chapter.files():
                    result[path] = chapter
                for path in chapter.withdrawn():
                    result.pop(path, None)
        return dict(sorted(result.items()))

    def changes(self, number: int) -> List[Change]:
        """What chapter `number` adds, changes and withdraws."""
        chapter = self.chapter(number)
        before = self.layout(number - 1)
        result = []
        for path in chapter.files():
            old = before[path].folder / path if path in before else None
            result.append(Change("M" if old else "A", path, old, chapter.folder / path))
        for path in chapter.withdrawn():
            old = before[path].folder / path if path in before else None
            result.append(Change("D", path, old, None))
        return result

    def versions(self, path: str) -> List[Chapter]:
        """The chapters that have a version of `path`, in order."""
        return [chapter for chapter in self.chapters if (chapter.folder / path).is_file()]


# --- list, diff -----------------------------------------------------------------------------------


def count_lines(file: Path) -> int:
    return len(file.read_bytes().splitlines())


def list_chapters(book: Book) -> Iterator[str]:
    for chapter in book.chapters:
        changes = book.changes(chapter.number)
        kinds = "".join(change.kind for change in changes)
        lines = sum(count_lines(chapter.folder / path) for path in chapter.files())
        yield (
            f"{chapter.folder.name:22} {kinds.count('A'):3} new {kinds.count('M'):3} changed "
            f"{kinds.count('D'):3} withdrawn {lines:6} lines"
        )


def list_files(book: Book, number: int) -> Iterator[str]:
    for change in book.changes(number):
        yield f"{change.kind} {change.path}"


def diff(book: Book, number: int, new_files: bool = False) -> Iterator[str]:
    """A unified diff of the files that the chapter changes; new ones in full only if asked for."""
    for change in book.changes(number):
        if change.kind == "A" and not new_files:
            assert change.after
            yield f"new file {change.path} ({count_lines(change.after)} lines)"
            continue
        if change.kind == "D":
            yield f"withdrawn {change.path}"
            continue
        before = change.before.read_text().splitlines() if change.before else []
        after = change.after.read_text().splitlines() if change.after else []
        origin = f"{change.before.relative_to(book.root)}" if change.before else "/dev/null"
        target = f"{change.after.relative_to(book.root)}" if change.after else "/dev/null"
        yield from difflib.unified_diff(before, after, origin, target, lineterm="")


# --- sync, check ----------------------------------------------------------------------------------


def expected_final(book: Book) -> Dict[str, Path]:
    """Each file that final/ must have, and the file that it must be equal to."""
    result = {path: chapter.folder / path for path, chapter in book.layout(FINAL).items()}
    result.update(project_files(book, FINAL))
    return result


def project_files(book: Book, number: int) -> Dict[str, Path]:
    """The files that make a tree of sources an ordinary CMake project; with final's, what it installs."""
    tree = book.root / "cmake" / "tree"
    files = [tree / "CMakeLists.txt", *sorted((tree / "cmake").glob("*"))]
    if number == FINAL:
        files += [file for part in ONLY_FINAL for file in sorted((tree / part).glob("*"))]
    return {file.relative_to(tree).as_posix(): file for file in files if file.is_file()}


def present_final(book: Book) -> List[str]:
    paths = part_files(book.final)
    for part in ("cmake", *ONLY_FINAL):
        paths += [f"{part}/{file.name}" for file in sorted((book.final / part).glob("*"))]
    if (book.final / "CMakeLists.txt").exists():
        paths.append("CMakeLists.txt")
    return paths


def same(one: Path, other: Path) -> bool:
    return one.read_bytes() == other.read_bytes()


def copy(source: Path, target: Path) -> None:
    target.parent.mkdir(parents=True, exist_ok=True)
    shutil.copy(source, target)  # with its mode: examples/cgi-bin has scripts


def sync(book: Book) -> Iterator[str]:
    """Makes final/ equal to the newest version of every file. Equal files are not touched."""
    expected = expected_final(book)
    for path in present_final(book):
        if path not in expected:
            (book.final / path).unlink()
            yield f"removed final/{path}"
    for path, source in expected.items():
        target = book.final / path
        if not target.exists() or not same(source, target):
            copy(source, target)
            yield f"updated final/{path}"
    generated = chapter_cmake(book, FINAL)
    listing = book.final / "chapter.cmake"
    if not listing.exists() or listing.read_text() != generated:
        listing.parent.mkdir(parents=True, exist_ok=True)
        listing.write_text(generated)
        yield "updated final/chapter.cmake"
    for folder in sorted(book.final.rglob("*"), reverse=True):
        if folder.is_dir() and not any(folder.iterdir()):
            folder.rmdir()


def check(book: Book) -> Iterator[str]:
    """Yields what is wrong; nothing if all is well."""
    expected = expected_final(book)
    present = set(present_final(book))
    for path in sorted(present - expected.keys()):
        yield f"final/{path}: no chapter has it (run tools/chapters.py sync)"
    for path, source in expected.items():
        origin = source.relative_to(book.root)
        if path not in present:
            yield f"final/{path}: missing, it should be {origin} (run tools/chapters.py sync)"
        elif not same(source, book.final / path):
            yield f"final/{path}: differs from {origin} (run tools/chapters.py sync)"
    listing = book.final / "chapter.cmake"
    if not listing.exists() or listing.read_text() != chapter_cmake(book, FINAL):
        yield "final/chapter.cmake: out of date (run tools/chapters.py sync)"

    numbers = [chapter.label for chapter in book.chapters]
    for number in sorted({number for number in numbers if numbers.count(number) > 1}):
        yield f"chapters/{number}-*: more than one chapter has this number"
    for chapter in book.chapters:
        name = f"chapters/{chapter.folder.name}"
        before = book.layout(chapter.number - 1)
        for path in chapter.withdrawn():
            if path in chapter.files():
                yield f"{name}/withdrawn.txt: {path} is withdrawn by the chapter that has it"
            elif path not in before:
                yield f"{name}/withdrawn.txt: {path} is in no chapter before this one"
        for path in chapter.files():
            if path in before and same(before[path].folder / path, chapter.folder / path):
                yield f"{name}/{path}: identical to chapter {before[path].label}'s, remove it"
            if path.startswith("tests/next/"):
                if not re.fullmatch(rf"{chapter.label}_\w+_test\.cpp", Path(path).name):
                    yield f"{name}/{path}: has to be called {chapter.label}_<topic>_test.cpp"
    yield from check_words(book)
    for known in all_chapters(book.root):
        yield from work.faults(known, book.root)


# --- the words of a page --------------------------------------------------------------------------

GENERATED = re.compile(r"<!-- (file|measured|classes now)\b[^>]*-->.*?<!-- /\1 -->", re.DOTALL)
HIDDEN = re.compile(r"<!--.*?-->|<details>.*?</details>", re.DOTALL)  # comments, hints and solutions


def prose(page: Path) -> str:
    """What is read as sentences, lists and tables: no blocks, comments, hints or generated parts."""
    rows = page.read_text(encoding="utf-8").splitlines()
    for block in read_blocks(page):
        first, after = block.line - 2, block.line + len(block.code)  # from fence to fence
        rows[first:after] = [""] * (after - first)
    return HIDDEN.sub("", GENERATED.sub("", "\n".join(rows)))


def count_words(text: str) -> int:
    """Anything between blanks that has a letter or a digit, so not the lines of a table."""
    return sum(re.search(r"\w", word) is not None for word in text.split())


def check_words(book: Book) -> Iterator[str]:
    """Yields a message for each page, and each exercise, that is too long to be read."""
    for chapter in book.chapters:
        page = chapter.folder / "README.md"
        if not page.is_file():
            continue
        name = page.relative_to(book.root)
        words = 0
        for section in re.split(r"^(?=## )", prose(page), flags=re.MULTILINE):
            if not section.startswith("## Exercises\n"):
                words += count_words(section)
                continue
            for exercise in re.split(r"^### ", section, flags=re.MULTILINE)[1:]:
                title, _, text = exercise.partition("\n")
                found = count_words(text)
                if found > MOST_WORDS_OF_AN_EXERCISE:
                    yield (
                        f'{name}: exercise "{title}" has {found} words without its hints and '
                        f"solution, at most {MOST_WORDS_OF_AN_EXERCISE}"
                    )
        if words > MOST_WORDS:
            yield f"{name}: {words} words without the exercises, at most {MOST_WORDS}"


# --- assemble -------------------------------------------------------------------------------------


def assemble(book: Book, number: int, target: Path) -> int:
    """Copies the complete program of a chapter into a new folder; returns the number of files."""
    if number != FINAL:
        book.chapter(number)
    if target.exists() and any(target.iterdir()):
        raise ChapterError(f"{target} is not empty")
    layout = book.layout(number)
    for path, chapter in layout.items():
        copy(chapter.folder / path, target / path)
    for path, source in project_files(book, number).items():
        copy(source, target / path)
    (target / "chapter.cmake").write_text(chapter_cmake(book, number))
    return len(layout)


def chapter_cmake(book: Book, number: int) -> str:
    """What a tree knows of itself: its number, and the chapter that each test comes from."""
    lines = [f"set(TURTLE_CHAPTER {number:02d})"]
    if number == FINAL and book.chapters:
        lines.append(f"set(TURTLE_NEWEST_CHAPTER {book.chapters[-1].label})")
    for path, chapter in book.layout(number).items():
        if path.startswith("tests/") and path.endswith("_test.cpp"):
            lines.append(f'set("TURTLE_ORIGIN_{path}" {chapter.label})')
    return "\n".join(lines) + "\n"


# --- carry ----------------------------------------------------------------------------------------


def carry(book: Book, number: int, path: str, since: str = "HEAD") -> Iterator[str]:
    """Takes the change that chapter `number`'s version of `path` has seen since the commit `since`
    into each later version and into final/. A version in which it conflicts stays as it is, and
    so do those after it."""
    chapter = book.chapter(number)
    path = resolve(path, chapter.files()) or path
    source = chapter.folder / path
    if not source.is_file():
        owners = ", ".join(owner.label for owner in book.versions(path)) or "none"
        raise ChapterError(
            f"chapter {chapter.label} has no version of {path} (chapters that have: {owners})"
        )
    base = committed(book, source, since)
    fixed = source.read_bytes()
    if base == fixed:
        raise ChapterError(
            f"{source.relative_to(book.root)} is as it was in {since}: nothing to carry "
            "(--since REVISION names the commit before the fix)"
        )

    newest, newest_text = chapter, fixed
    for later in book.chapters:
        if later.number <= number:
            continue
        if path in later.withdrawn():
            yield f"chapter {later.label} withdraws {path}: done"
            return
        target = later.folder / path
        if not target.is_file():
            continue
        name = target.relative_to(book.root)
        old = target.read_bytes()
        merged = merge(old, base, fixed, later, newest)
        if merged == old:
            yield f"{name}: has it already"
        else:
            target.write_bytes(merged)
            yield f"{name}: merged"
            base, fixed = old, merged  # for the next one the nearest ancestor counts
        if merged == newest_text:
            yield f"{name}: now identical to chapter {newest.label}'s version, remove it"
        newest, newest_text = later, merged

    if (book.final / path).is_file():
        if (book.final / path).read_bytes() == newest_text:
            yield f"final/{path}: has it already"
        else:
            (book.final / path).write_bytes(newest_text)
            yield f"final/{path}: copied from chapter {newest.label}"


def committed(book: Book, file: Path, revision: str) -> bytes:
    """The file as it was in a commit."""
    name = f"{revision}:./{file.relative_to(book.root).as_posix()}"
    command = ["git", "-C", str(book.root), "show", name]
    result = subprocess.run(command, capture_output=True, check=False)
    if result.returncode != 0:
        raise ChapterError(f"git show {name}: {result.stderr.decode().strip()}")
    return result.stdout


def merge(ours: bytes, base: bytes, theirs: bytes, later: Chapter, earlier: Chapter) -> bytes:
    """git merge-file on three texts; raises ChapterError with the lines that conflict."""
    with tempfile.TemporaryDirectory() as folder:
        files = []
        for name, text in (("ours", ours), ("base", base), ("theirs", theirs)):
            files.append(str(Path(folder) / name))
            Path(files[-1]).write_bytes(text)
        command = ["git", "merge-file", "-p", "--diff3"]
        for label in (f"chapter {later.label}", "before the fix", f"chapter {earlier.label}, fixed"):
            command += ["-L", label]
        result = subprocess.run(command + files, capture_output=True, check=False)
    if result.returncode == 0:
        return result.stdout
    if result.returncode < 0 or result.returncode > 127:
        raise ChapterError(f"git merge-file: {result.stderr.decode().strip()}")
    text = result.stdout.decode(errors="replace")
    raise ChapterError(
        f"conflict in chapter {later.label} at {conflict_lines(text)}; its file is untouched, and so "
        f"are the later ones. Put the fix in by hand there, then carry it from {later.label} on:\n\n"
        + conflicts(text)
    )


def conflict_lines(text: str) -> str:
    """Where in chapter `later`'s own file the conflicts are, as `lines 3-5, 9`."""
    spans = []
    line = 0  # of the untouched file: its own lines are outside the conflicts and in their first part
    inside = None
    for row in text.splitlines():
        if row.startswith("<<<<<<< "):
            inside, start = "ours", line + 1
        elif row.startswith("||||||| ") and inside == "ours":
            inside = "others"
            spans.append(f"{start}-{line}" if line > start else f"{start}")
        elif row.startswith(">>>>>>> ") and inside == "others":
            inside = None
        elif inside != "others":
            line += 1
    return ("lines " if len(spans) > 1 or "-" in spans[0] else "line ") + ", ".join(spans)


def conflicts(text: str) -> str:
    """The conflicting parts of a merge, markers included."""
    found = re.findall(r"^<{7} .*?^>{7} [^\n]*$", text, re.MULTILINE | re.DOTALL)
    return "\n".join(found)


# --- excerpts -------------------------------------------------------------------------------------

PROSE = {"console", "text", "output", "txt", "", "http", "mermaid"}


def check_excerpts(book: Book) -> Iterator[str]:
    """Yields a message for each titled excerpt that is not what the chapter's file says."""
    for chapter in book.chapters:
        layout = book.layout(chapter.number)
        for page in sorted(chapter.folder.glob("*.md")):
            for excerpt in read_excerpts(page):
                where = f"{page.relative_to(book.root)}:{excerpt.line}"
                name = excerpt.title.split("›")[0].strip()
                path = resolve(name, list(layout))
                if path is None:
                    if excerpt.language not in PROSE or "›" in excerpt.title:
                        yield f"{where}: chapter {chapter.label} has no file {name}"
                    continue
                source = layout[path].folder / path
                difference = first_difference(excerpt.code, source.read_text(encoding="utf-8"))
                if difference is None:
                    continue
                row, at = difference
                message = f"{page.relative_to(book.root)}:{excerpt.line + row}: not in "
                message += f"{source.relative_to(book.root)}\n  page: {excerpt.code[row].rstrip()}"
                if row > 0 and at is not None:
                    actual = source.read_text(encoding="utf-8").splitlines()[at].rstrip()
                    message += f"\n  file: {actual}   (line {at + 1})"
                yield message


# --- the command line -----------------------------------------------------------------------------


def arguments() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="tools/chapters.py", description=(__doc__ or "").split("\n\n", maxsplit=1)[0]
    )
    parser.add_argument(
        "--root", type=Path, default=Path(__file__).resolve().parent.parent, help=argparse.SUPPRESS
    )
    commands = parser.add_subparsers(dest="command", required=True, metavar="COMMAND")

    def add(name: str, text: str, *positionals: Tuple[str, type, str]) -> argparse.ArgumentParser:
        command = commands.add_parser(name, help=text, description=text)
        for argument, kind, explanation in positionals:
            command.add_argument(argument, type=kind, metavar=argument.upper(), help=explanation)
        return command

    number = ("nn", int, "chapter, as in 05")
    listing = add("list", "the chapters, or the files that one chapter adds and changes")
    listing.add_argument("nn", type=int, nargs="?", metavar="NN", help="chapter, as in 05")
    add("check", "is final/ equal to the newest versions, and is no version superfluous?")
    add("sync", "make final/ equal to the newest version of every file")
    add(
        "assemble",
        "copy the complete program of chapter NN (99: the finished system) to a new folder",
        number,
        ("dir", Path, "a folder that is empty or does not exist"),
    )
    differences = add("diff", "what chapter NN changes in files of earlier chapters", number)
    differences.add_argument("--new", action="store_true", help="show new files in full")
    carrying = add(
        "carry",
        "take a fix in chapter NN's version of a file into later versions and final/",
        number,
        ("path", str, "as in src/core/socket.cpp"),
    )
    carrying.add_argument(
        "--since", default="HEAD", metavar="REVISION", help="commit before the fix (HEAD)"
    )
    add("excerpts", "is the titled code on the pages verbatim in the chapters' files?")
    return parser


def run(options: argparse.Namespace) -> int:
    book = Book(options.root)
    problems: List[str] = []
    output: Iterator[str] = iter(())
    if options.command == "list":
        output = list_chapters(book) if options.nn is None else list_files(book, options.nn)
    elif options.command == "diff":
        output = diff(book, options.nn, options.new)
    elif options.command == "sync":
        output = sync(book)
    elif options.command == "carry":
        output = carry(book, options.nn, options.path, options.since)
    elif options.command == "assemble":
        count = assemble(book, options.nn, options.dir)
        output = iter(
            [
                f"{count} files in {options.dir}; build and test them with",
                f"  cmake -S {options.dir} -B {options.dir}/build && "
                f"cmake --build {options.dir}/build && ctest --test-dir {options.dir}/build",
            ]
        )
    elif options.command == "check":
        problems = list(check(book))
    elif options.command == "excerpts":
        problems = list(check_excerpts(book))
    for line in output:
        print(line)
    for problem in problems:
        print(problem, file=sys.stderr)
    return 1 if problems else 0


def main() -> int:
    try:
        return run(arguments().parse_args())
    except ChapterError as error:
        print(f"chapters.py: {error}", file=sys.stderr)
        return 2
    except BrokenPipeError:
        sys.stderr.close()
        return 0


if __name__ == "__main__":
    sys.exit(main())
