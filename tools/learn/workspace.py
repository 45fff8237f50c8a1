"""./learn start and ./learn check: a folder in which the reader writes a chapter."""

from __future__ import annotations

import concurrent.futures
import json
import pathlib
import re
import shutil

import stubs
from learn import chapters, gtests, machine, setup
from learn.chapters import ROOT
from learn.errors import LearnError
from learn.steps import Runner

MARK = ".turtle-learn.json"


def start(number: str, folder: pathlib.Path) -> int:
    chapter = find(number)
    folder = folder.resolve()
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise LearnError(f"{folder} is not empty. Choose a new folder: ./learn start {chapter.number} DIR")
    if folder.is_dir():
        folder.rmdir()
    if folder.is_relative_to(ROOT / "chapters") or folder.is_relative_to(ROOT / "final"):
        raise LearnError("Choose a folder outside chapters/ and final/: those are the solutions.")
    get_tools()
    try:
        written = stubs.write(chapter.number, folder)
    except stubs.StubError as error:
        raise LearnError(str(error)) from error
    mark = {"chapter": chapter.number}
    (folder / MARK).write_text(json.dumps(mark) + "\n", encoding="utf-8")
    (folder / ".gitignore").write_text("build/\n", encoding="utf-8")

    print(f"Chapter {chapter.number}, {chapter.title}: your workspace is {folder}\n")
    by_file: dict[str, list[stubs.Stub]] = {}
    for stub in written:
        by_file.setdefault(stub.path, []).append(stub)
    for path, there in sorted(by_file.items()):
        new = sum(stub.treatment is not stubs.Treatment.EARLIER for stub in there)
        parts = [f"{new} to write"] * (new > 0) + [f"{len(there) - new} to change"] * (len(there) > new)
        print(f"  {path:<40} {', '.join(parts)}")
    print(f"\nEach is marked TODO({chapter.number}); the headers say what it promises.")
    print(f"The page:  {page(chapter)}")
    print(f"Then:      ./learn check {shown(folder)}")
    return 0


def check(folder: pathlib.Path) -> int:
    folder = folder.resolve()
    mark = folder / MARK
    if not mark.is_file():
        raise LearnError(f"{folder} was not made by ./learn start: {MARK} is missing.")
    chapter = find(json.loads(mark.read_text(encoding="utf-8"))["chapter"])
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

    here = {path.relative_to(folder).as_posix(): path for path in (folder / "tests").rglob("*_test.cpp")}
    known = chapters.layered(chapter.number)
    previous = chapters.before(chapter)
    is_new = {path: path in chapter.files() or path not in known for path in here}
    for path in here:
        if previous and path.startswith(f"tests/next/{previous.number}_"):
            is_new[path] = True  # the felt problem: this chapter is its cure
    problem = [path for path in here if path.startswith(f"tests/next/{chapter.number}_")]
    for path in problem:
        del is_new[path]
    programs = stubs.test_programs(here)
    first_bad: gtests.Result | None = None
    for heading, wanted in ((f"Tests of chapter {chapter.number}", True), ("Tests of earlier chapters", False)):
        paths = [path for path in sorted(is_new) if is_new[path] == wanted]
        if not paths:
            continue
        print(f"\n{heading}")
        with concurrent.futures.ThreadPoolExecutor(setup.jobs()) as pool:
            runs = pool.map(
                lambda path: gtests.run_program(folder / "build" / "tests" / programs[path], folder / "build"),
                paths,
            )
            for path, results in zip(paths, runs):
                bad = show(path, results)
                first_bad = first_bad or bad

    left = unwritten(folder, chapter.number)
    print()
    if first_bad is None:
        print(f"All pass: chapter {chapter.number} is done.")
        if left:
            print(f"TODO({chapter.number}) still stands in {', '.join(sorted(left))}.")
        following = chapters.after(chapter)
        if following:
            print(f"Next: what it still can't do is felt in chapter {following.number}, {following.title}:")
            print(f"      {page(following)}")
            print(f"      ./learn start {following.number} DIR   (begins with the book's chapter {chapter.number})")
        else:
            print("Next: that was the last chapter. ./learn list shows them all.")
        return 0
    words = first_bad.message.strip().splitlines()[:12]
    print(f"Next: {first_bad.test}, which {first_bad.outcome.value}")
    for line in words:
        print(f"    {line}")
    if left:
        print(f"\nStill marked TODO({chapter.number}):")
        for path, count in sorted(left.items()):
            print(f"  {path:<40} {count}")
    print(f"\nThe page: {page(chapter)}")
    return 1


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
            count = len(re.findall(rf"TODO\({number}\):", path.read_text(encoding="utf-8")))
            if count:
                left[path.relative_to(folder).as_posix()] = count
    return left


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
