#!/usr/bin/env python3
"""The exercises of the chapters, and the proof that each can be solved and is not solved yet.

    tools/exercises.py list [NN ...]       which there are
    tools/exercises.py lay NN.K DIR        the chapter's program with what exercise K gives
                                           (--solved: and its solution)
    tools/exercises.py write NN.K DIR      makes the solution anew from what DIR has changed
    tools/exercises.py prove [NN ...]      the tests fail as given and pass on the solution, and so
                                           do the chapter's own tests

`chapters/NN-name/exercises/K-name/` holds one exercise:

    tests/*_test.cpp    what a solution has to pass; laid over the chapter's program
    src/, examples/     what is given, if anything: laid over it as well
    solution.diff       made by `write`, from the program as given
    replaced.txt        if there are any: tests of the chapter, or of one before it, that fail when
                        the exercise is solved, because it asks for something else

What is asked, and the hints, stand on the chapter's page under "## Exercises", each exercise under
a heading "### K. Title (level)" with the levels quick, real and hard. A hint is a
`<details><summary>Hint …</summary>`; the last `<details>` links to the solution.

All solutions of a chapter fit on each other, too, whatever their order: the proof builds them
together.
"""

from __future__ import annotations

import argparse
import concurrent.futures
import dataclasses
import os
import pathlib
import re
import shutil
import subprocess
import sys
import textwrap

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))

import stubs  # noqa: E402
from learn import chapters, gtests  # noqa: E402
from learn.chapters import Chapter  # noqa: E402

ROOT = chapters.ROOT
SOLUTION = "solution.diff"
REPLACED = "replaced.txt"
LEVELS = ("quick", "real", "hard")
HEADING = re.compile(r"^### (?P<number>\d+)\. (?P<title>.+) \((?P<level>\w+)\)$")
DETAILS = re.compile(r"<details>\s*<summary>(?P<summary>.*?)</summary>(?P<text>.*?)</details>", re.DOTALL)


class ExerciseError(Exception):
    """Something that the person who writes or solves the exercise has to put right."""


@dataclasses.dataclass(frozen=True)
class Exercise:
    chapter: Chapter
    number: str  # "2"
    folder: pathlib.Path
    title: str
    level: str
    task: str  # Markdown, without the hints
    hints: tuple[str, ...]

    @property
    def name(self) -> str:
        return f"{self.chapter.number}.{self.number}"

    @property
    def solution(self) -> pathlib.Path:
        return self.folder / SOLUTION

    def files(self) -> dict[str, pathlib.Path]:
        """What is laid over the chapter's program: path inside it -> file."""
        return {
            path.relative_to(self.folder).as_posix(): path
            for top in ("src", "tests", "examples")
            for path in sorted((self.folder / top).rglob("*"))
            if path.is_file() and not path.name.startswith(".")
        }

    def tests(self) -> list[str]:
        return [path for path in self.files() if path.endswith("_test.cpp")]

    def replaced(self) -> list[str]:
        """The tests of the chapter and those before it that fail when it is solved, as they must."""
        place = self.folder / REPLACED
        return place.read_text(encoding="utf-8").split() if place.is_file() else []


# --- what the page says --------------------------------------------------------------------------


def section(page: str) -> list[str]:
    """The lines under "## Exercises"."""
    lines = page.splitlines()
    if "## Exercises" not in lines:
        return []
    rest = lines[lines.index("## Exercises") + 1 :]
    fenced = False
    for at, line in enumerate(rest):
        fenced = fenced != line.startswith("```")
        if not fenced and re.match(r"##? ", line):
            return rest[:at]
    return rest


def of(chapter: Chapter) -> list[Exercise]:
    """The exercises of a chapter, as its page tells of them. An ExerciseError if page and folders differ."""
    page = chapter.folder / "README.md"
    texts: dict[str, tuple[re.Match[str], list[str]]] = {}
    lines: list[str] = []
    for line in section(page.read_text(encoding="utf-8")) if page.is_file() else ():
        heading = HEADING.match(line)
        if heading:
            lines = []
            texts[heading["number"]] = (heading, lines)
        elif line.startswith("### "):
            raise ExerciseError(f'{page}: "{line}" is not "### K. Title (level)"')
        else:
            lines.append(line)
    folders = {
        path.name.split("-")[0]: path for path in sorted((chapter.folder / "exercises").glob("[0-9]*-*")) if path.is_dir()
    }
    if list(texts) != sorted(folders, key=int):
        there, told = (", ".join(each) or "none" for each in (sorted(folders, key=int), texts))
        raise ExerciseError(f"{page}: tells of exercises {told}; exercises/ has {there}")
    found = []
    for number, (heading, lines) in texts.items():
        text = "\n".join(lines)
        where = f"{page}: exercise {number}"
        details = list(DETAILS.finditer(text))
        hints = [each["text"].strip() for each in details if each["summary"].startswith("Hint")]
        link = f"exercises/{folders[number].name}/{SOLUTION}"
        if heading["level"] not in LEVELS:
            raise ExerciseError(f"{where}: its level is {heading['level']}, not one of {', '.join(LEVELS)}")
        if not hints:
            raise ExerciseError(f"{where}: has no <details><summary>Hint …")
        if not details or link not in details[-1]["text"]:
            raise ExerciseError(f"{where}: its last <details> does not link to {link}")
        task = DETAILS.sub("", text).strip()
        found.append(Exercise(chapter, number, folders[number], heading["title"], heading["level"], task, tuple(hints)))
    return found


def find(name: str, root: pathlib.Path = ROOT) -> Exercise:
    """Exercise "5.2" or "05.2"; a LookupError that lists what there is."""
    number, _, wanted = name.partition(".")
    chapter = chapters.find(number, root)
    there = of(chapter)
    for each in there:
        if each.number == wanted:
            return each
    names = ", ".join(each.name for each in there) or "none"
    raise LookupError(f"there is no exercise {name}; chapter {chapter.number} has: {names}")


# --- laying out ----------------------------------------------------------------------------------


def lay(chapter: Chapter, exercises: list[Exercise], target: pathlib.Path, solved: bool = False) -> None:
    """The chapter's program in the new folder `target`, with what the exercises give."""
    stubs.assemble(chapter.number, target)
    add(exercises, target)
    for each in exercises if solved else ():
        apply(each, target)


def add(exercises: list[Exercise], target: pathlib.Path) -> None:
    """What the exercises give, over the program in `target`."""
    for each in exercises:
        for path, file in each.files().items():
            (target / path).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(file, target / path)


def git(*arguments: str | pathlib.Path, cwd: pathlib.Path) -> subprocess.CompletedProcess[str]:
    """Git as if `cwd` were in no repository, so that paths are taken as they are."""
    environment = {**os.environ, "GIT_CEILING_DIRECTORIES": str(cwd.parent), "GIT_CONFIG_GLOBAL": os.devnull}
    return subprocess.run(
        ["git", *map(str, arguments)], cwd=cwd, env=environment, capture_output=True, text=True, check=False
    )


def apply(exercise: Exercise, target: pathlib.Path, only_check: bool = False) -> None:
    """The solution, on the program in `target`. An ExerciseError if it does not fit."""
    options = ["--check"] if only_check else []
    done = git("apply", *options, exercise.solution.resolve(), cwd=target.resolve())
    if done.returncode:
        raise ExerciseError(f"the solution of {exercise.name} does not fit:\n{done.stderr.strip()}")


def write(exercise: Exercise, solved: pathlib.Path, scratch: pathlib.Path) -> None:
    """Makes the solution from the difference between the program as given and `solved`."""
    shutil.rmtree(scratch, ignore_errors=True)
    lay(exercise.chapter, [exercise], scratch / "a")
    for top in ("src", "examples"):
        if (solved / top).is_dir():
            shutil.copytree(solved / top, scratch / "b" / top)
        (scratch / "a" / top).mkdir(exist_ok=True)
        (scratch / "b" / top).mkdir(exist_ok=True, parents=True)
    text = "".join(
        git("diff", "--no-index", "--no-color", "--no-prefix", f"a/{top}", f"b/{top}", cwd=scratch).stdout
        for top in ("src", "examples")
    )
    shutil.rmtree(scratch)
    if not text:
        raise ExerciseError(f"{solved} has changed nothing in src/ and examples/")
    kept = [line for line in text.splitlines() if not re.match(r"index [0-9a-f]+\.\.", line)]
    exercise.solution.write_text("\n".join(kept) + "\n", encoding="utf-8")


# --- proving -------------------------------------------------------------------------------------


@dataclasses.dataclass
class Proof:
    chapter: Chapter
    exercises: int = 0
    lines: list[str] = dataclasses.field(default_factory=list)
    faults: list[str] = dataclasses.field(default_factory=list)


def prove(chapter: Chapter, folder: pathlib.Path) -> Proof:
    """Builds the exercises of a chapter in `folder`, as given and solved, and runs their tests."""
    proof = Proof(chapter)
    exercises = of(chapter)
    proof.exercises = len(exercises)
    if not exercises:
        return proof
    tests = {path: each for each in exercises for path in each.tests()}
    programs = stubs.test_programs({**chapters.layered(chapter.number), **{path: ROOT for path in tests}})
    for each in exercises:
        if not each.tests():
            proof.faults.append(f"{each.name}: has no test")

    layout(folder, chapter, exercises, solved=False)
    for path, each in tests.items():
        try:
            stubs.build(folder / "tree", folder, quiet=True, targets=[programs[path]])
        except stubs.StubError as error:
            proof.lines.append(f"{each.name}: {path} does not compile as given: {str(error).splitlines()[1].strip()}")
            continue
        results = gtests.run_program(
            folder / "tests" / programs[path], folder, seconds=15.0, seconds_per_test=12.0, stop_at_first_failure=True
        )
        failed = [result for result in results if result.outcome is gtests.Outcome.FAILED]
        proof.lines.append(f"{each.name}: {path}: {failed[0].test if failed else 'nothing'} fails as given")
        if not failed:
            worst = ", ".join(f"{result.test} {result.outcome.value}" for result in results if result.is_bad)
            proof.faults.append(f"{each.name}: {path}: no assertion fails as given ({worst or 'all pass'})")

    try:
        layout(folder, chapter, exercises, solved=True)
        own = [path for path in chapter.files() if path in programs and not path.startswith("tests/next/")]
        own += tests_of_programs(chapter, exercises, {*own, *tests})
        targets = ["all_examples", *(programs[path] for path in (*tests, *own))]
        stubs.build(folder / "tree", folder, quiet=True, targets=targets)
    except (ExerciseError, stubs.StubError) as error:
        proof.faults.append(f"solved: {error}")
        return proof
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        replaced = {path for each in exercises for path in each.replaced()}
        for path in sorted(replaced.difference(own)):
            proof.faults.append(f"{REPLACED}: {path} is no test that has to pass")
        for path, results in zip(
            (*tests, *own),
            pool.map(lambda path: gtests.run_program(folder / "tests" / programs[path], folder), (*tests, *own)),
        ):
            if path in replaced:
                if not any(each.is_bad for each in results):
                    proof.faults.append(f"{REPLACED}: {path} passes")
                continue
            for each in results:
                if each.is_bad:
                    words = (each.message.strip().splitlines() or [""])[0]
                    proof.faults.append(f"solved: {path}: {each.test} {each.outcome.value}: {words}")
    proof.lines.append(f"solved: {len(tests)} tests of exercises and {len(own)} of the program ran")
    return proof


def tests_of_programs(chapter: Chapter, exercises: list[Exercise], known: set[str]) -> list[str]:
    """The earlier tests that run a program of examples/, if a solution changes one there."""
    if not any("+++ b/examples/" in each.solution.read_text(encoding="utf-8") for each in exercises):
        return []
    return [
        path
        for path, file in chapters.layered(chapter.number).items()
        if path.endswith("_test.cpp")
        and path not in known
        and not path.startswith(f"tests/next/{chapter.number}_")
        and '"support/child.h"' in file.read_text(encoding="utf-8")
    ]


def layout(folder: pathlib.Path, chapter: Chapter, exercises: list[Exercise], solved: bool) -> None:
    fresh = folder / "fresh"
    shutil.rmtree(fresh, ignore_errors=True)
    folder.mkdir(parents=True, exist_ok=True)
    lay(chapter, exercises, fresh)
    if solved:
        for each in exercises:
            apply(each, fresh, only_check=True)  # alone
        for each in exercises:
            apply(each, fresh)
    stubs.update_tree(fresh, folder / "tree")


# --- command line --------------------------------------------------------------------------------


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    commands = parser.add_subparsers(dest="command", required=True)
    listing = commands.add_parser("list", help="which exercises there are")
    listing.add_argument("numbers", metavar="NN", nargs="*", help="default: every chapter")
    laying = commands.add_parser("lay", help="the chapter's program with what the exercise gives")
    laying.add_argument("name", metavar="NN.K")
    laying.add_argument("folder", metavar="DIR", type=pathlib.Path)
    laying.add_argument("--solved", action="store_true", help="and with its solution")
    writing = commands.add_parser("write", help="make the solution anew from what a folder has changed")
    writing.add_argument("name", metavar="NN.K")
    writing.add_argument("folder", metavar="DIR", type=pathlib.Path)
    proving = commands.add_parser("prove", help="build and test the exercises, as given and solved")
    proving.add_argument("numbers", metavar="NN", nargs="*", help="default: every chapter")
    proving.add_argument("--build", type=pathlib.Path, default=ROOT / "build" / "exercises")
    arguments = parser.parse_args()
    try:
        if arguments.command == "lay":
            exercise = find(arguments.name)
            lay(exercise.chapter, [exercise], arguments.folder.resolve(), arguments.solved)
            return 0
        if arguments.command == "write":
            write(find(arguments.name), arguments.folder.resolve(), ROOT / "build" / "exercises" / "write")
            return 0
        chosen = [chapters.find(number) for number in arguments.numbers] or list(chapters.all_chapters())
        if arguments.command == "list":
            for chapter in chosen:
                for each in of(chapter):
                    print(f"{each.name}  {each.level:<5}  {each.title}")
            return 0
        failed = False
        for chapter in chosen:
            proof = prove(chapter, arguments.build.resolve() / chapter.number)
            failed = failed or bool(proof.faults)
            print(f"{chapter.number}: {'FAILED' if proof.faults else 'ok'}: {proof.exercises} exercises")
            for line in proof.lines:
                print(f"    {line}")
            for fault in proof.faults:
                print(textwrap.indent(f"fault: {fault}", "    "))
            sys.stdout.flush()
        return 1 if failed else 0
    except (ExerciseError, stubs.StubError, LookupError) as error:
        print(f"exercises.py: {error}", file=sys.stderr)
        return 1


if __name__ == "__main__":
    sys.exit(main())
