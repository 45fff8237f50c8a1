"""./learn start and ./learn check: a folder in which the reader writes a chapter."""

from __future__ import annotations

import concurrent.futures
import dataclasses
import json
import pathlib
import re
import shutil
import sys
from collections.abc import Iterable, Iterator, Sequence

import exercises
import stubs
import work
from learn import chapters, gtests, machine, progress, setup
from learn.chapters import ROOT
from learn.errors import LearnError
from learn.steps import Runner

MARK = ".turtle-learn.json"
SILENCE = 20.0  # s without output after which a test hangs; one that waits in vain gives up after 10 s


@dataclasses.dataclass(frozen=True)
class Mark:
    """What a workspace is for, as its file MARK says."""

    chapter: str
    exercises: tuple[str, ...] = ()  # "05.2"
    is_complete: bool = False  # it began with the book's chapter, nothing emptied
    stage: int = 0  # the first that is not done; one more than there are: all are; 0: it has no stages

    def write(self, folder: pathlib.Path) -> None:
        told = {"chapter": self.chapter, "exercises": self.exercises, "complete": self.is_complete, "stage": self.stage}
        (folder / MARK).write_text(json.dumps(told) + "\n", encoding="utf-8")


def mark_of(folder: pathlib.Path) -> Mark:
    if not folder.is_dir():
        raise LearnError(f"There is no folder {folder}. A new workspace: ./learn start NN DIR")
    try:
        told = json.loads((folder / MARK).read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise LearnError(f"{folder} was not made by ./learn start: {MARK} is missing.") from error
    return Mark(told["chapter"], tuple(told.get("exercises", ())), told.get("complete", False), told.get("stage", 0))


def start(name: str, folder: pathlib.Path, everything: bool = False) -> int:
    """A workspace for a chapter ("05") or for one of its exercises ("05.2"). With `everything`, no stages:
    all that is new in the chapter is to be written."""
    folder = folder.resolve()
    if "." in name:
        return start_exercise(name, folder)
    chapter = find(name)
    make_way(folder, chapter.number)
    get_tools()
    try:
        told = None if everything else work.read(chapter)
        written = stubs.write(chapter.number, folder, everything=everything)
    except stubs.StubError as error:
        raise LearnError(str(error)) from error
    finish(folder, Mark(chapter.number, stage=1 if told else 0))

    print(f"Chapter {chapter.number}, {chapter.title}: your workspace is {folder}\n")
    if told:
        from learn import stages  # which imports this module

        stages.outline(folder, told)
        print(f"Each function is marked TODO({chapter.number}, stage K), and its header says what it promises. All else is given.")
        print(f"The page:  {page(chapter)}")
        print(f"Then:      ./learn check {shown(folder)}")
        print(f"Stuck:     ./learn hint {shown(folder)}; ./learn skip {shown(folder)} writes the stage for you")
        return 0
    by_file: dict[str, list[stubs.Stub]] = {}
    for stub in written:
        by_file.setdefault(stub.path, []).append(stub)
    for path in bottom_up(folder, by_file):
        there = by_file[path]
        new = sum(stub.treatment is not stubs.Treatment.EARLIER for stub in there)
        parts = [f"{new} to write"] * (new > 0) + [f"{len(there) - new} to change"] * (len(there) > new)
        print(f"  {path:<40} {', '.join(parts)}")
    print(f"\nEach is marked TODO({chapter.number}); the headers say what it promises. The list goes from the")
    print("bottom up. The programs in examples/ and the tests are complete.")
    print(f"The page:  {page(chapter)}")
    print(f"Then:      ./learn check {shown(folder)}")
    print(f"Programs:  {shown(folder / 'build' / 'examples')}, after a check that builds")
    return 0


def start_exercise(name: str, folder: pathlib.Path) -> int:
    """The whole chapter with the exercise's tests; or these alone, in a workspace of the chapter."""
    try:
        exercise = exercises.find(name)
    except LookupError as error:
        raise LearnError(f"{str(error)[0].upper()}{str(error)[1:]}.") from error
    except exercises.ExerciseError as error:
        raise LearnError(str(error)) from error
    chapter = exercise.chapter
    if (folder / MARK).is_file():
        mark = mark_of(folder)
        if mark.chapter != chapter.number:
            raise LearnError(f"{folder} is a workspace of chapter {mark.chapter}. Choose a new folder, or one of {chapter.number}.")
        if exercise.name in mark.exercises:
            raise LearnError(f"{folder} has exercise {exercise.name} already.")
        given = [path for path in exercise.files() if (folder / path).exists()]
        if given:
            raise LearnError(f"{folder} has {', '.join(given)} already, which the exercise brings. Choose a new folder.")
        exercises.add([exercise], folder)
        dataclasses.replace(mark, exercises=(*mark.exercises, exercise.name)).write(folder)
        where = f"added to your workspace {folder}, whose code stays as it is"
    else:
        make_way(folder, exercise.name)
        get_tools()
        try:
            exercises.lay(chapter, [exercise], folder)
        except (stubs.StubError, exercises.ExerciseError) as error:
            raise LearnError(str(error)) from error
        finish(folder, Mark(chapter.number, (exercise.name,), is_complete=True))
        where = f"your workspace is {folder}"
    print(f"Exercise {exercise.name}, {exercise.title} ({exercise.level}): {where}\n")
    print(exercise.task)
    print()
    for path in exercise.files():
        print(f"  {path}")
    print(f"\nThen:      ./learn check {shown(folder)}")
    print(f"Stuck:     ./learn hint {exercise.name}")
    return 0


def make_way(folder: pathlib.Path, name: str) -> None:
    """A LearnError unless `folder` is a good place for a new workspace."""
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise LearnError(f"{folder} is not empty. Choose a new folder: ./learn start {name} DIR")
    if folder.is_relative_to(ROOT / "chapters") or folder.is_relative_to(ROOT / "final"):
        raise LearnError("Choose a folder outside chapters/ and final/: those are the solutions.")
    if folder.is_dir():
        folder.rmdir()


def finish(folder: pathlib.Path, mark: Mark) -> None:
    mark.write(folder)
    (folder / ".gitignore").write_text("build/\n", encoding="utf-8")


def check(folder: pathlib.Path) -> int:
    """Builds and tests: by stages, or everything."""
    from learn import stages  # which imports this module

    folder = folder.resolve()
    mark = mark_of(folder)
    chapter = find(mark.chapter)
    get_tools()
    told = stages.of(mark)
    if told and stages.current(mark, told):
        return stages.check(folder, mark, told)
    print(f"Chapter {chapter.number}, {chapter.title}\n")
    return check_whole(folder, mark, chapter)


def check_whole(folder: pathlib.Path, mark: Mark, chapter: chapters.Chapter) -> int:
    """All programs and all tests."""
    if not build_or_say_why(folder):
        return 1
    first_bad: gtests.Result | None = None
    its_file = ""
    for heading, name, paths in groups(folder, mark, chapter):
        print(f"\n{heading}")
        every: list[gtests.Result] = []
        for tests, there in run(folder, [work.Tests(path) for path in paths]):
            bad = show(tests.path, there)
            if bad and not first_bad:
                first_bad, its_file = bad, tests.path
            every += there
        if name:
            progress.note(name, passed=sum(not each.is_bad for each in every), all=len(every))

    for name in mark.exercises:
        for path in exercises.find(name).replaced():
            print(f"  not run {path:<44} exercise {name} asks for something else")

    left = unwritten(folder, chapter.number)
    if first_bad is None:
        print()
        say_what_is_done(folder, mark, chapter, left)
        return 0
    say_next(folder, its_file, first_bad)
    if left:
        print(f"\nStill marked TODO({chapter.number}):")
        for path in bottom_up(folder, left):
            print(f"  {path:<40} {left[path]}")
    print(f"\nThe page: {page(chapter)}")
    for name in mark.exercises[-1:]:
        print(f"Stuck:    ./learn hint {name}")
    return 1


def build_or_say_why(folder: pathlib.Path, targets: Sequence[str] = ()) -> bool:
    """Builds everything, or these programs; says what the compiler says."""
    what = work.count(len(targets), "test program") if targets else "all programs"
    is_first = not (folder / "build").is_dir()
    print(f"Building {what}{'; the first build compiles all that is given, too' * is_first} ...", flush=True)
    log = folder / "build.log"
    try:
        build(folder, log, targets)
    except stubs.StubError as error:
        print(f"\n{error}\n\nThe compiler's whole output: {log}")
        print(f"Next: make it compile again, then ./learn check {shown(folder)}")
        return False
    log.unlink(missing_ok=True)
    return True


def say_next(folder: pathlib.Path, path: str, bad: gtests.Result) -> None:
    """The first test that fails, with its words and the command that runs it alone."""
    print(f"\nNext: {bad.test}, which {bad.outcome.value}")
    for line in bad.message.strip().splitlines()[:12]:
        print(f"    {line}")
    program = stubs.test_programs({path: folder / path})[path]
    place = shown(folder / "build")
    chosen = f" --gtest_filter={bad.test}" if "." in bad.test else ""
    print(f"Alone: cmake --build {place} --target {program} && {place}/tests/{program}{chosen}")
    if bad.outcome is gtests.Outcome.CRASHED:
        print(f"Where: gdb -batch -ex run -ex bt --args {place}/tests/{program}{chosen}")


def groups(folder: pathlib.Path, mark: Mark, chapter: chapters.Chapter) -> list[tuple[str, str, list[str]]]:
    """The tests of a workspace: what they are of, under which name their count is remembered, which."""
    here = {path.relative_to(folder).as_posix() for path in (folder / "tests").rglob("*_test.cpp")}
    known = chapters.layered(chapter.number)
    previous = chapters.before(chapter)
    # This chapter's felt problem is the next one's to solve; the one before's is solved here.
    here -= {path for path in here if path.startswith(f"tests/next/{chapter.number}_")}
    found = []
    for name in mark.exercises:
        exercise = exercises.find(name)
        here -= set(exercise.replaced())
        own = [path for path in exercise.tests() if path in here]
        here -= set(own)
        found.append((f"Exercise {name}, {exercise.title}", name, own))
    felt = f"tests/next/{previous.number}_" if previous else "no file"
    new = {path for path in here if path in chapter.files() or path not in known or path.startswith(felt)}
    found.append((f"Tests of chapter {chapter.number}", "" if mark.is_complete else chapter.number, bottom_up(folder, new)))
    found.append(("Tests of earlier chapters", "", sorted(here - new)))
    return [group for group in found if group[2]]


def run(folder: pathlib.Path, selected: Sequence[work.Tests]) -> Iterator[tuple[work.Tests, list[gtests.Result]]]:
    programs = stubs.test_programs({tests.path: folder / tests.path for tests in selected})

    def one(tests: work.Tests) -> list[gtests.Result]:
        program = folder / "build" / "tests" / programs[tests.path]
        order = {name: place for place, name in enumerate(work.tests_in(folder / tests.path))}
        results = gtests.run_program(program, folder / "build", 600, SILENCE, silence=SILENCE, chosen=tests.filter)
        return sorted(results, key=lambda each: order.get(work.plain(each.test), len(order)))  # as one reads them

    with concurrent.futures.ThreadPoolExecutor(setup.jobs()) as pool:
        yield from zip(selected, pool.map(one, selected))


def say_what_is_done(folder: pathlib.Path, mark: Mark, chapter: chapters.Chapter, left: dict[str, int]) -> None:
    done = [f"exercise {name}" for name in mark.exercises]
    done += [f"chapter {chapter.number}"] * (not mark.is_complete)
    print(f"All pass: {' and '.join(done)} {'is' if len(done) == 1 else 'are'} done.")
    for line in [] if mark.is_complete else abilities(chapter):
        print(line)
    if left:
        print(f"TODO({chapter.number}) still stands in {', '.join(sorted(left))}.")
    programs = sorted(path.stem for path in (folder / "examples").glob("*.cpp"))
    if programs:
        print(f"To run it as the page does: cd {shown(folder / 'build')}   (in examples/: {', '.join(programs)})")
    for name in mark.exercises:
        print(f"How the book does it: ./learn solution {name}")
    more = [each for each in exercises.of(chapter) if each.name not in mark.exercises]
    for each in more:
        print(f"More: ./learn start {each.name} {shown(folder)}   {each.title} ({each.level})")
    following = chapters.after(chapter)
    if following:
        print(f"Next: what it still can't do is felt in chapter {following.number}, {following.title}:")
        print(f"      {page(following)}")
        print(f"      ./learn start {following.number} DIR   (begins with the book's chapter {chapter.number})")
    else:
        print("Next: that was the last chapter. ./learn list shows them all.")


def abilities(chapter: chapters.Chapter) -> list[str]:
    """What the reader has now, as the page says it under "You can now"."""
    file = chapter.folder / "README.md"
    text = file.read_text(encoding="utf-8") if file.is_file() else ""
    section = re.search(r"^## You can now[^\n]*\n(.*?)(?=^## |\Z)", text, re.MULTILINE | re.DOTALL)
    lines = re.findall(r"^- .+(?:\n  .+)*", section[1], re.MULTILINE) if section else []
    plain = [re.sub(r"\[([^\]]+)\]\([^)]*\)", r"\1", " ".join(line.split())) for line in lines]
    return ["You can now", *(f"  {line}" for line in plain)] if plain else []


def show(path: str, results: list[gtests.Result]) -> gtests.Result | None:
    """One line for a test file, one for each of its first bad tests; returns the first of them."""
    bad = [each for each in results if each.is_bad]
    passed = sum(each.outcome is gtests.Outcome.PASSED for each in results)
    print(f"  {'FAILED' if bad else 'ok':<7} {path:<44} {passed} of {len(results)}", flush=True)
    for each in bad[:5]:
        print(f"          {each.test} {each.outcome.value}")
    if len(bad) > 5:
        print(f"          and {len(bad) - 5} more")
    return bad[0] if bad else None


def build(folder: pathlib.Path, log: pathlib.Path, targets: Sequence[str] = ()) -> None:
    cache = folder / "build" / "CMakeCache.txt"
    if cache.is_file():
        home = f"CMAKE_HOME_DIRECTORY:INTERNAL={folder}\n"
        if home not in cache.read_text(encoding="utf-8", errors="replace"):
            shutil.rmtree(folder / "build")  # the workspace was moved
    stubs.build(folder, folder / "build", log, quiet=True, targets=targets, is_shown=sys.stdout.isatty())


def unwritten(folder: pathlib.Path, number: str) -> dict[str, int]:
    """How many functions of which file are still marked TODO(NN)."""
    left = {}
    todo = rf"TODO\({number}(?:, stage \d)?\):"
    marked = f"// {todo}"
    thrown = rf'throw std::logic_error\("{todo}'
    a_mark = re.compile(rf"{marked}.*\n(?: *//.*\n)* *{thrown}|{marked}|{thrown}")  # some have both
    for path in sorted((folder / "src").rglob("*")):
        if path.is_file() and path.suffix in (".h", ".cpp"):
            count = len(a_mark.findall(path.read_text(encoding="utf-8")))
            if count:
                left[path.relative_to(folder).as_posix()] = count
    return left


def bottom_up(folder: pathlib.Path, paths: Iterable[str]) -> list[str]:
    """The paths, each after those whose headers it includes: what can be written and tested first is first."""
    depths: dict[pathlib.Path, int] = {}

    def includes(path: pathlib.Path) -> set[pathlib.Path]:
        if not path.is_file():
            return set()
        names = re.findall(r'^#include "(.+)"', path.read_text(encoding="utf-8"), re.MULTILINE)
        return {top / name for name in names for top in (folder / "src", folder / "tests") if (top / name).is_file()}

    def depth(path: pathlib.Path) -> int:
        if path not in depths:
            depths[path] = 0  # for a header that includes itself by a detour
            needed = includes(path)
            if path.suffix == ".cpp":  # wakeup_eventfd.cpp fills wakeup.h
                own = {each for each in needed if f"{path.stem}_".startswith(f"{each.stem}_")}
                needed = (needed - own).union(*map(includes, own))
            depths[path] = max((depth(each) + 1 for each in needed), default=0)
        return depths[path]

    return sorted(paths, key=lambda path: (depth(folder / path), path))


def find(number: str) -> chapters.Chapter:
    try:
        return chapters.find(number)
    except LookupError as error:
        raise LearnError(f"{str(error)[0].upper()}{str(error)[1:]}.") from error


def get_tools() -> None:
    runner = Runner()
    setup.environment(runner)
    if not setup.packages(runner, (*machine.BUILD, *machine.PROGRAM, *machine.TESTS)):
        raise LearnError("What is needed to build could not be installed: see above.")


def page(chapter: chapters.Chapter) -> str:
    return shown(chapter.folder / "README.md")


def shown(path: pathlib.Path) -> str:
    """Relative to where the reader is, when that is shorter."""
    here = pathlib.Path.cwd()
    return str(path.relative_to(here)) if path.is_relative_to(here) else str(path)
