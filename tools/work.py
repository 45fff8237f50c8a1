"""The work of a chapter, as its `work.txt` says: what the reader writes, in stages, and which tests turn green.

    # `#` begins a comment. A function that no line names is given.
    stage Read what has arrived
    write src/core/buffer.cpp Buffer::Append Buffer::Clear     # functions to write; all their overloads
    throw src/core/socket.cpp Socket::Recv                     # as write, but its stub throws
    empty src/core/socket.cpp Socket::Send                     # as write, but its earlier body does not stay
    test tests/buffer_test.cpp                                 # turns green: what no other line names of the file,
    test tests/socket_test.cpp Socket.CarriesBytes TwoWays.*   # or these tests of it

    again tests/loop_test.cpp      # an earlier test that breaks with the stubs and is won back in the end
    crash tests/server_test.cpp    # without a solution these tests can't but crash
    given src/core/loop.cpp Run    # given even in a workspace of --all; without a name, the whole file

A test is named as its source spells it, `Suite.Name`; `*` stands for any letters. A stage is a section
`### Stage 2: Title` under "The code" on the chapter's page. faults() says what is against the rules of the
book that can be seen without a compiler; that the tests turn green is proven by tools/stubs.py.
"""

from __future__ import annotations

import collections
import dataclasses
import difflib
import fnmatch
import functools
import pathlib
import re
from collections.abc import Iterable, Iterator

import cpp_functions
import excerpts
from learn import chapters

FILE = "work.txt"
ROOT = chapters.ROOT

MOST_FUNCTIONS = 30
MOST_LINES = 400
FEWEST_STAGES, MOST_STAGES = 3, 8
MOST_FUNCTIONS_OF_A_STAGE = 6


class StubError(Exception):
    """Something that the person who writes the chapter has to put right."""


@dataclasses.dataclass(frozen=True)
class Named:
    """A function to be written, with all its overloads."""

    path: str
    function: str  # with its class, "Socket::Recv"
    how: str  # "write", "throw" or "empty"


@dataclasses.dataclass(frozen=True)
class Tests:
    """Tests of one file."""

    path: str
    only: tuple[str, ...] = ()  # patterns of names; none: all tests
    but: tuple[str, ...] = ()  # that other lines name

    def has(self, name: str) -> bool:
        """Whether a test, as the source or as the program names it, is among them."""
        name = plain(name)
        return (not self.only or matches(name, self.only)) and not matches(name, self.but)

    @property
    def filter(self) -> str:
        """For GoogleTest's --gtest_filter; "" for all."""
        return ":".join(spellings(self.only)) + ("-" + ":".join(spellings(self.but)) if self.but else "")


@dataclasses.dataclass(frozen=True)
class Stage:
    number: int  # from 1
    title: str
    functions: tuple[Named, ...]
    tests: tuple[Tests, ...]

    @property
    def heading(self) -> str:
        return f"Stage {self.number}: {self.title}"

    @property
    def files(self) -> list[str]:
        return list(dict.fromkeys(each.path for each in self.functions))


@dataclasses.dataclass(frozen=True)
class Work:
    stages: tuple[Stage, ...]
    given: frozenset[tuple[str, str]] = frozenset()  # (path, function), "" for the whole file
    again: frozenset[str] = frozenset()
    crash: frozenset[str] = frozenset()

    def how(self, path: str, function: str) -> str:
        """How a function is to be written: "write", "throw" or "empty"; "" if no stage names it."""
        named = (each for stage in self.stages for each in stage.functions)
        return next((each.how for each in named if (each.path, each.function) == (path, function)), "")

    def stage_of(self, path: str, function: str) -> int:
        """The number of the stage in which a function is written; 0: it is given."""
        for stage in self.stages:
            if any((each.path, each.function) == (path, function) for each in stage.functions):
                return stage.number
        return 0

    def upto(self, number: int) -> list[Tests]:
        """All tests of the stages up to this one, by file."""
        found: dict[str, Tests] = {}
        for stage in self.stages[:number]:
            for tests in stage.tests:
                before = found.get(tests.path, tests)
                if tests.only and before.only:
                    found[tests.path] = Tests(tests.path, tuple(dict.fromkeys(before.only + tests.only)))
                else:  # the whole file but for what later stages name
                    found[tests.path] = Tests(tests.path)
        for path, tests in found.items():
            later = [each for stage in self.stages[number:] for each in stage.tests if each.path == path]
            if not tests.only:
                found[path] = Tests(path, but=tuple(pattern for each in later for pattern in each.only))
        return list(found.values())

    def unnamed(self, path: str, names: Iterable[str]) -> Tests | None:
        """Those of a file's tests that no stage names; None if there are none."""
        named = [tests for stage in self.stages for tests in stage.tests if tests.path == path]
        if all(any(tests.has(name) for tests in named) for name in names):
            return None
        return Tests(path, but=tuple(pattern for tests in named for pattern in tests.only))


def read(chapter: chapters.Chapter, root: pathlib.Path = ROOT) -> Work:
    """The work of a chapter. A StubError says that its work.txt is missing, or which line is wrong."""
    place = chapter.folder / FILE
    if not place.is_file():
        raise StubError(f"{place} is missing: it lists what the reader writes, as the head of tools/work.py explains")
    present = chapters.layered(chapter.number, root)
    stages: list[tuple[str, list[Named], list[Tests]]] = []
    given: set[tuple[str, str]] = set()
    sets: dict[str, set[str]] = {"again": set(), "crash": set()}
    for number, line in enumerate(place.read_text(encoding="utf-8").splitlines(), 1):
        words = line.split("#")[0].split()
        where = f"{place}:{number}"
        if not words:
            continue
        what, rest = words[0], words[1:]
        if what not in ("stage", "write", "throw", "empty", "test", "given", *sets) or not rest:
            raise StubError(f"{where}: expected stage, write, throw, empty, test, again, crash or given: {line}")
        if what == "stage":
            stages.append((" ".join(rest), [], []))
            continue
        path, names = rest[0], rest[1:]
        if path not in present:
            raise StubError(f"{where}: chapter {chapter.number} has no {path}")
        if what in sets:
            sets[what].add(path)
            continue
        if what != "given" and not stages:
            raise StubError(f"{where}: `{what}` before the first `stage`")
        if what == "test":
            known = tests_in(present[path])
            for name in names:
                if not any(fnmatch.fnmatchcase(each, name) for each in known):
                    raise StubError(f"{where}: {path} has no test {name}")
            add(stages[-1][2], Tests(path, tuple(names)))
            continue
        if path not in chapter.files() or not path.startswith("src/"):
            raise StubError(f"{where}: chapter {chapter.number} neither adds nor changes a source file {path}")
        there = {each.name for each in cpp_functions.definitions(present[path].read_text(encoding="utf-8"))}
        for name in names:
            if name not in there:
                raise StubError(f"{where}: {path} defines no {name}")
        if what == "given":
            given |= {(path, name) for name in names or [""]}
        elif names:
            stages[-1][1].extend(Named(path, name, what) for name in names)
        else:
            raise StubError(f"{where}: `{what}` needs a function: {line}")
    check_twice(place, stages)
    if not stages:
        raise StubError(f"{place}: has no stage")
    return Work(
        tuple(
            Stage(number, title, tuple(functions), tuple(without_others(tests, stages) for tests in all_tests))
            for number, (title, functions, all_tests) in enumerate(stages, 1)
        ),
        frozenset(given),
        **{word: frozenset(paths) for word, paths in sets.items()},
    )


def add(all_tests: list[Tests], more: Tests) -> None:
    """One entry for each file: several lines may name tests of it."""
    for index, tests in enumerate(all_tests):
        if tests.path == more.path and tests.only and more.only:
            all_tests[index] = Tests(more.path, tests.only + more.only)
            return
    all_tests.append(more)


def check_twice(place: pathlib.Path, stages: list[tuple[str, list[Named], list[Tests]]]) -> None:
    functions = collections.Counter((each.path, each.function) for _, named, _ in stages for each in named)
    for (path, function), count in functions.items():
        if count > 1:
            raise StubError(f"{place}: {path} {function} is named {count} times")
    whole = collections.Counter(each.path for _, _, tests in stages for each in tests if not each.only)
    for path, count in whole.items():
        if count > 1:
            raise StubError(f"{place}: {count} stages have all tests of {path}; name those of one")


def without_others(tests: Tests, stages: list[tuple[str, list[Named], list[Tests]]]) -> Tests:
    """A line for a whole file means the tests of it that no other line names."""
    if tests.only:
        return tests
    others = [each for _, _, all_tests in stages for each in all_tests if each.path == tests.path and each.only]
    return Tests(tests.path, but=tuple(pattern for each in others for pattern in each.only))


# --- names of tests ------------------------------------------------------------------------------


@functools.cache
def tests_in(file: pathlib.Path) -> tuple[str, ...]:
    """The tests that a source file writes down, `Suite.Name`."""
    text = file.read_text(encoding="utf-8")
    found = re.findall(r"^(?:TYPED_)?TEST(?:_[FP])?\(\s*(\w+),\s*(\w+)\)", text, re.MULTILINE)
    return tuple(".".join(each) for each in found)


def has_parameters(file: pathlib.Path) -> bool:
    """Whether a test of the file runs several times, so that its source does not tell how often."""
    return re.search(r"^(?:TYPED_TEST|TEST_P)\(", file.read_text(encoding="utf-8"), re.MULTILINE) is not None


def plain(name: str) -> str:
    """`Suite.Name` of a test that has parameters, `All/Suite.Name/3`, or types, `Suite/0.Name`."""
    typed = re.fullmatch(r"([^/.]+)/\d+\.([^/]+)", name)
    if typed:
        return ".".join(typed.groups())
    return re.sub(r"^[^/.]+/(?=[^/]+\.)|(?<=\w)/[^.]*$", "", name)


def matches(name: str, patterns: Iterable[str]) -> bool:
    return any(fnmatch.fnmatchcase(name, pattern) for pattern in patterns)


def spellings(patterns: Iterable[str]) -> Iterator[str]:
    """As GoogleTest's filter wants them: plain, with parameters, with types."""
    for pattern in patterns:
        suite, _, name = pattern.partition(".")
        yield from (pattern, f"*/{pattern}/*", f"{suite}/*.{name}") if name else (pattern,)


# --- how much it is ------------------------------------------------------------------------------


@dataclasses.dataclass(frozen=True)
class Piece:
    """One function of the work."""

    stage: int
    path: str
    function: cpp_functions.Function
    lines: frozenset[int]  # of the file: those that the reader writes, without blank ones and comments


def pieces(chapter: chapters.Chapter, work: Work, root: pathlib.Path = ROOT) -> list[Piece]:
    """All functions of the work, with the lines of their solution; of one that changes, those that are new."""
    previous = chapters.before(chapter, root)
    earlier = chapters.layered(previous.number, root) if previous else {}
    found = []
    for path in dict.fromkeys(path for stage in work.stages for path in stage.files):
        text = chapter.files()[path].read_text(encoding="utf-8")
        old_text = earlier[path].read_text(encoding="utf-8") if path in earlier else ""
        old = cpp_functions.definitions(old_text)
        for function in cpp_functions.definitions(text):
            stage = work.stage_of(path, function.name)
            if stage:
                kept = next((each for each in old if each.key == function.key), None)
                if kept is None:  # one that has only got other parameters since
                    of_that_name = [each for each in old if each.name == function.name]
                    kept = of_that_name[0] if len(of_that_name) == 1 else None
                if work.how(path, function.name) != "write":
                    kept = None
                lines = code_lines(text, function)
                if kept:
                    lines = new_lines(lines, code_lines(old_text, kept))
                found.append(Piece(stage, path, function, frozenset(lines)))
    return sorted(found, key=lambda piece: piece.stage)


def code_lines(text: str, function: cpp_functions.Function) -> dict[int, str]:
    """The lines between a function's braces that hold code: number in the file -> the code, without comments."""
    begin, end = function.body
    masked = cpp_functions.mask(text)
    first = masked.index("{", begin) + 1
    line = text.count("\n", 0, first) + 1
    rows = zip(masked[first : end - 1].split("\n"), text[first : end - 1].split("\n"))
    return {number: cpp_functions.normalised(row) for number, (code, row) in enumerate(rows, line) if code.strip()}


def new_lines(lines: dict[int, str], before: dict[int, str]) -> set[int]:
    numbers, old = list(lines), list(before.values())
    found: set[int] = set()
    for tag, _, _, begin, end in difflib.SequenceMatcher(None, old, list(lines.values()), False).get_opcodes():
        if tag in ("insert", "replace"):
            found.update(numbers[begin:end])
    return found


def printed(chapter: chapters.Chapter, root: pathlib.Path = ROOT) -> dict[str, set[int]]:
    """The lines of the program's files that the excerpts of the page show."""
    page = chapter.folder / "README.md"
    layout = chapters.layered(chapter.number, root)
    found: dict[str, set[int]] = {}
    for excerpt in excerpts.read_excerpts(page) if page.is_file() else ():
        path = excerpts.resolve(excerpt.title.split("›")[0].strip(), list(layout))
        if path:
            text = layout[path].read_text(encoding="utf-8")
            found.setdefault(path, set()).update(excerpts.lines_of(excerpt.code, text) or ())
    return found


@dataclasses.dataclass(frozen=True)
class Amount:
    """How much work there is, in a stage or in all."""

    functions: int
    lines: int
    printed: int  # of these lines

    @property
    def share(self) -> int:
        """In percent, rounded down."""
        return 100 * self.printed // self.lines if self.lines else 100

    def __str__(self) -> str:
        return f"{count(self.functions, 'function')}, {count(self.lines, 'line')} of work, {self.printed} of them printed"


def count(number: int, noun: str) -> str:
    return f"{number:,} {noun}" + "s" * (number != 1)


def amount(found: Iterable[Piece], shown: dict[str, set[int]]) -> Amount:
    there = list(found)
    return Amount(
        len(there),
        sum(len(piece.lines) for piece in there),
        sum(len(piece.lines & shown.get(piece.path, set())) for piece in there),
    )


# --- the rules -----------------------------------------------------------------------------------


def faults(chapter: chapters.Chapter, root: pathlib.Path = ROOT) -> list[str]:
    """What is against the rules of the book, as far as it can be seen without a compiler."""
    name = f"chapters/{chapter.folder.name}"
    try:
        work = read(chapter, root)
    except StubError as error:
        return [str(error)]
    found = []
    there = pieces(chapter, work, root)
    for piece in there:
        if not piece.lines:
            found.append(f"{name}/{FILE}: {piece.path} {piece.function.name} is as it was before: nothing to write")
    whole = amount(there, printed(chapter, root))
    if whole.functions > MOST_FUNCTIONS:
        found.append(f"{name}/{FILE}: {whole.functions} functions to write, at most {MOST_FUNCTIONS}")
    if whole.lines > MOST_LINES:
        found.append(f"{name}/{FILE}: {whole.lines} lines to write, at most {MOST_LINES}")
    if not FEWEST_STAGES <= len(work.stages) <= MOST_STAGES:
        found.append(f"{name}/{FILE}: {len(work.stages)} stages, not {FEWEST_STAGES} to {MOST_STAGES}")
    for stage in work.stages:
        functions = sum(piece.stage == stage.number for piece in there)
        if not 1 <= functions <= MOST_FUNCTIONS_OF_A_STAGE:
            found.append(
                f"{name}/{FILE}: stage {stage.number} has {functions} functions, not 1 to {MOST_FUNCTIONS_OF_A_STAGE}"
            )
        if not stage.tests:
            found.append(f"{name}/{FILE}: stage {stage.number} has no test")
    wanted, told = [stage.heading for stage in work.stages], headings(chapter)
    if wanted != told:
        first = next((each for each in wanted if each not in told), "")
        what = f'no heading "### {first}"' if first else f"other stages than {FILE}, or in another order"
        found.append(f'{name}/README.md: under "The code" stands {what}')
    if 2 * whole.printed < whole.lines:
        found.append(
            f"{name}/README.md: prints {whole.printed} of {whole.lines} lines of work, {whole.share} %; half of them is the least"
        )
    return found


def headings(chapter: chapters.Chapter) -> list[str]:
    """The stages on the page, as the headings of its section "The code" say."""
    page = chapter.folder / "README.md"
    found = []
    fenced = inside = False
    for line in page.read_text(encoding="utf-8").splitlines() if page.is_file() else ():
        fenced = fenced != line.startswith("```")
        if fenced:
            continue
        if line.startswith("## "):
            inside = line == "## The code"
        elif inside and line.startswith("### Stage "):
            found.append(line.removeprefix("### ").strip())
    return found
