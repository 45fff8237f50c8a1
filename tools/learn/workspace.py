"""./learn start and ./learn check: a folder in which the reader writes a chapter."""

from __future__ import annotations

import concurrent.futures
import dataclasses
import json
import pathlib
import re
import shutil
from collections.abc import Iterable, Iterator

import exercises
import stubs
from learn import chapters, gtests, machine, progress, setup
from learn.chapters import ROOT
from learn.errors import LearnError
from learn.steps import Runner

MARK = ".turtle-learn.json"


@dataclasses.dataclass(frozen=True)
class Mark:
    """What a workspace is for, as its file MARK says."""

    chapter: str
    exercises: tuple[str, ...] = ()  # "05.2"
    is_complete: bool = False  # it began with the book's chapter, nothing emptied

    def write(self, folder: pathlib.Path) -> None:
        text = json.dumps({"chapter": self.chapter, "exercises": self.exercises, "complete": self.is_complete})
        (folder / MARK).write_text(text + "\n", encoding="utf-8")


def mark_of(folder: pathlib.Path) -> Mark:
    if not folder.is_dir():
        raise LearnError(f"There is no folder {folder}. A new workspace: ./learn start NN DIR")
    try:
        told = json.loads((folder / MARK).read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise LearnError(f"{folder} was not made by ./learn start: {MARK} is missing.") from error
    return Mark(told["chapter"], tuple(told.get("exercises", ())), told.get("complete", False))


def start(name: str, folder: pathlib.Path) -> int:
    """A workspace for a chapter ("05") or for one of its exercises ("05.2")."""
    folder = folder.resolve()
    if "." in name:
        return start_exercise(name, folder)
    chapter = find(name)
    make_way(folder, chapter.number)
    get_tools()
    try:
        written = stubs.write(chapter.number, folder)
    except stubs.StubError as error:
        raise LearnError(str(error)) from error
    finish(folder, Mark(chapter.number))

    print(f"Chapter {chapter.number}, {chapter.title}: your workspace is {folder}\n")
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
    folder = folder.resolve()
    mark = mark_of(folder)
    chapter = find(mark.chapter)
    get_tools()
    print(f"Chapter {chapter.number}, {chapter.title}\n")
    print("building ...", flush=True)
    log = folder / "build.log"
    try:
        build(folder, log)
    except stubs.StubError as error:
        print(f"\n{error}\n\nThe compiler's whole output: {log}")
        print(f"Next: make it compile again, then ./learn check {shown(folder)}")
        return 1
    log.unlink(missing_ok=True)

    first_bad: gtests.Result | None = None
    for heading, name, paths in groups(folder, mark, chapter):
        print(f"\n{heading}")
        every: list[gtests.Result] = []
        for path, there in run(folder, paths):
            bad = show(path, there)
            first_bad = first_bad or bad
            every += there
        if name:
            progress.note(name, passed=sum(not each.is_bad for each in every), all=len(every))

    for name in mark.exercises:
        for path in exercises.find(name).replaced():
            print(f"  not run {path:<44} exercise {name} asks for something else")

    left = unwritten(folder, chapter.number)
    print()
    if first_bad is None:
        say_what_is_done(folder, mark, chapter, left)
        return 0
    words = first_bad.message.strip().splitlines()[:12]
    print(f"Next: {first_bad.test}, which {first_bad.outcome.value}")
    for line in words:
        print(f"    {line}")
    if left:
        print(f"\nStill marked TODO({chapter.number}):")
        for path in bottom_up(folder, left):
            print(f"  {path:<40} {left[path]}")
    print(f"\nThe page: {page(chapter)}")
    for name in mark.exercises[-1:]:
        print(f"Stuck:    ./learn hint {name}")
    return 1


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


def run(folder: pathlib.Path, paths: list[str]) -> Iterator[tuple[str, list[gtests.Result]]]:
    programs = stubs.test_programs({path: folder / path for path in paths})
    with concurrent.futures.ThreadPoolExecutor(setup.jobs()) as pool:
        every = pool.map(
            lambda path: gtests.run_program(folder / "build" / "tests" / programs[path], folder / "build"), paths
        )
        yield from zip(paths, every)


def say_what_is_done(folder: pathlib.Path, mark: Mark, chapter: chapters.Chapter, left: dict[str, int]) -> None:
    done = [f"exercise {name}" for name in mark.exercises]
    done += [f"chapter {chapter.number}"] * (not mark.is_complete)
    print(f"All pass: {' and '.join(done)} {'is' if len(done) == 1 else 'are'} done.")
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


def build(folder: pathlib.Path, log: pathlib.Path) -> None:
    cache = folder / "build" / "CMakeCache.txt"
    if cache.is_file():
        home = f"CMAKE_HOME_DIRECTORY:INTERNAL={folder}\n"
        if home not in cache.read_text(encoding="utf-8", errors="replace"):
            shutil.rmtree(folder / "build")  # the workspace was moved
    stubs.build(folder, folder / "build", log, quiet=True)


def unwritten(folder: pathlib.Path, number: str) -> dict[str, int]:
    """How many TODO(NN) are left in which file."""
    left = {}
    for path in sorted((folder / "src").rglob("*")):
        if path.is_file() and path.suffix in (".h", ".cpp"):
            count = len(re.findall(rf"^\s*// TODO\({number}\):", path.read_text(encoding="utf-8"), re.MULTILINE))
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
