"""A workspace whose chapter is written by stages: what ./learn start, check, skip, hint and solution do there."""

from __future__ import annotations

import dataclasses
import difflib
import functools
import pathlib
import re
from collections.abc import Iterable, Iterator, Sequence

import cpp_functions
import exercises
import stubs
import work
from learn import chapters, gtests, progress, workspace
from learn.errors import LearnError
from learn.workspace import Mark, shown

KEPT = "before-stage-{}"  # where ./learn skip keeps what it replaces


def of(mark: Mark) -> work.Work | None:
    """The stages of a workspace; None if it was not begun by stages."""
    return read(mark.chapter) if mark.stage else None


@functools.cache
def read(number: str) -> work.Work:
    try:
        return work.read(workspace.find(number))
    except stubs.StubError as error:
        raise LearnError(str(error)) from error


def current(mark: Mark, told: work.Work) -> work.Stage | None:
    """The first stage whose tests have not passed; None when all have."""
    return told.stages[mark.stage - 1] if 0 < mark.stage <= len(told.stages) else None


# --- what is to be done --------------------------------------------------------------------------


def outline(folder: pathlib.Path, told: work.Work) -> None:
    """All stages: which functions of which files, and how many tests turn green."""
    for stage in told.stages:
        print(f"{stage.heading}")
        for path in stage.files:
            names = [each.function for each in stage.functions if each.path == path]
            say(f"  {path:<32} ", names)
        say("  tests: ", count_tests(folder, stage.tests))
        print()


def introduce(folder: pathlib.Path, chapter: chapters.Chapter, told: work.Work, stage: work.Stage) -> None:
    """One stage: its functions, written or not, and its tests."""
    print(f"Chapter {chapter.number}, {chapter.title}. Stage {stage.number} of {len(told.stages)}: {stage.title}\n")
    for path in stage.files:
        states = function_states(folder, path, stage, chapter.number)
        print(f"  {path}")
        for name, state in states.items():
            print(f"      {name:<40} {state}")
    say("  tests that turn green: ", count_tests(folder, stage.tests))
    print(f'  the page: {workspace.page(chapter)}, "{stage.heading}"\n')


def say(first: str, items: Iterable[str]) -> None:
    """A list in one line, or in more of them if it is long."""
    line = first
    for number, item in enumerate(items):
        if number:
            line += ","
            if len(line) + len(item) > 99:
                print(line)
                line = " " * (len(first) - 1)
            line += " "
        line += item
    print(line)


def count_tests(folder: pathlib.Path, selected: Sequence[work.Tests]) -> Iterator[str]:
    """Each file once, with the number of its tests where the source tells it."""
    for path, lines in by_file(selected).items():
        names = work.tests_in(folder / path) if (folder / path).is_file() else ()
        count = sum(any(tests.has(name) for tests in lines) for name in names)
        if (folder / path).is_file() and work.has_parameters(folder / path):
            yield path if count == len(names) else f"{path} (some)"
        else:
            yield f"{path} ({count} of {len(names)})"


def by_file(selected: Iterable[work.Tests]) -> dict[str, list[work.Tests]]:
    """Several lines of a work.txt may name tests of one file."""
    found: dict[str, list[work.Tests]] = {}
    for tests in selected:
        found.setdefault(tests.path, []).append(tests)
    return found


def function_states(folder: pathlib.Path, path: str, stage: work.Stage, number: str) -> dict[str, str]:
    """Of each function of a stage in a file: is it still to be written?"""
    text = (folder / path).read_text(encoding="utf-8") if (folder / path).is_file() else ""
    there = cpp_functions.definitions(text)
    states = {}
    for named in stage.functions:
        if named.path == path:
            bodies = [text[slice(*each.body)] for each in there if each.name == named.function]
            marked = [body for body in bodies if is_marked(body, number, stage.number)]
            states[named.function] = (
                "is not in the file" if not bodies else "written" if not marked
                else "to change" if all("as it was in the chapter before" in body for body in marked)
                else "to write"
            )  # fmt: skip
    return states


def is_marked(text: str, number: str, stage: int) -> bool:
    return f"TODO({number}, stage {stage})" in text


def is_untouched(folder: pathlib.Path, stage: work.Stage, number: str) -> bool:
    """Whether something of a stage is still marked."""
    files = [folder / path for path in stage.files]
    return any(is_marked(file.read_text(encoding="utf-8"), number, stage.number) for file in files if file.is_file())


# --- check ---------------------------------------------------------------------------------------


@dataclasses.dataclass
class Bad:
    """The first test that fails."""

    path: str
    result: gtests.Result


def check(folder: pathlib.Path, mark: Mark, told: work.Work) -> int:
    """The tests of the stage. Once they pass, those of earlier stages, of what is given, and of earlier chapters."""
    chapter = workspace.find(mark.chapter)
    number = mark.stage
    while True:
        stage = told.stages[number - 1]
        introduce(folder, chapter, told, stage)
        if not build(folder, stage.tests):
            return 1
        print(f"\n{stage.heading}")
        bad = run(folder, stage.tests)
        if bad or number == len(told.stages) or is_untouched(folder, told.stages[number], chapter.number):
            break
        print("\nThe next stage is written, too.\n")
        number += 1
    if bad:
        remember(folder, mark, told, number)
        return say_next(folder, chapter, stage, bad)
    if number == len(told.stages):
        remember(folder, mark, told, number)
        print("\nThat was the last stage. Now the whole:")
        if workspace.check_whole(folder, mark, chapter):
            return 1
        remember(folder, mark, told, number + 1)
        return 0

    remember(folder, mark, told, number + 1)  # though the reader may not wait for what follows
    broken = run_earlier(folder, mark, chapter, told, number)
    if broken is None or broken:
        remember(folder, mark, told, number)
        return say_broken(folder, stage, broken[0]) if broken else 1
    print(f"\nStage {number} of {len(told.stages)} is done. Next:\n")
    introduce(folder, chapter, told, told.stages[number])
    print(f"Then:  ./learn check {shown(folder)}")
    return 0


def remember(folder: pathlib.Path, mark: Mark, told: work.Work, number: int) -> None:
    """That the workspace is at this stage, so that those before it are done."""
    dataclasses.replace(mark, stage=number).write(folder)
    progress.note(mark.chapter, stage=number - 1, stages=len(told.stages))


def build(folder: pathlib.Path, selected: Iterable[work.Tests]) -> bool:
    files = {tests.path: folder / tests.path for tests in selected if (folder / tests.path).is_file()}
    return workspace.build_or_say_why(folder, sorted(stubs.test_programs(files).values()))


def run(folder: pathlib.Path, selected: Sequence[work.Tests], is_short: bool = False) -> Bad | None:
    """Runs tests and shows how they end, file by file, or, if `is_short`, only those that fail and a count."""
    first: Bad | None = None
    passed = files = 0
    left = {path: len(lines) for path, lines in by_file(selected).items()}
    together: dict[str, list[gtests.Result]] = {}
    for tests, some in workspace.run(folder, selected):
        results = together.setdefault(tests.path, [])
        results += some
        left[tests.path] -= 1
        if left[tests.path]:
            continue  # more of this file's tests are to come
        is_bad = any(each.is_bad for each in results)
        if is_bad or not is_short:
            result = workspace.show(tests.path, results)
            first = first or (Bad(tests.path, result) if result else None)
        if not is_bad:
            passed += len(results)
            files += 1
    if is_short and files:
        print(f"  ok      {work.count(passed, 'test')} in {work.count(files, 'file')}", flush=True)
    return first


def run_earlier(
    folder: pathlib.Path, mark: Mark, chapter: chapters.Chapter, told: work.Work, number: int
) -> list[Bad] | None:
    """The tests of earlier stages, of what is given, and of earlier chapters; None: it doesn't build."""
    stages = told.upto(number - 1)
    here = {path.relative_to(folder).as_posix() for path in (folder / "tests").rglob("*_test.cpp")}
    given, earlier = remaining(folder, mark, chapter, told, here)
    groups = [
        ("Earlier stages", [each for each in stages if each.path in here], False),
        ("What is given", given, True),
        ("Earlier chapters", earlier, True),
    ]
    every = [tests for _, selected, _ in groups for tests in selected]
    if every:
        print("\nThe stage's own tests pass. Now those of before:")
        if not build(folder, every):
            return None
    found = []
    for heading, selected, is_short in groups:
        if selected:
            print(f"\n{heading}")
            found += [bad for bad in [run(folder, selected, is_short)] if bad]
    return found


def remaining(
    folder: pathlib.Path, mark: Mark, chapter: chapters.Chapter, told: work.Work, here: set[str]
) -> tuple[list[work.Tests], list[work.Tests]]:
    """What no stage names and has to pass all the time: tests of the chapter, and those of earlier ones."""
    files = {path: folder / path for path in chapters.layered(chapter.number) if (folder / path).is_file()}
    new = {path for path in chapter.files() if path.startswith(("tests/", "examples/"))}
    examples = {pathlib.PurePosixPath(path).stem for path in new if path.startswith("examples/")}
    named = {tests.path for stage in told.stages for tests in stage.tests}
    out = {path for name in mark.exercises for path in exercises.find(name).files()} | told.again
    given, earlier = [], []
    for path in sorted(here - out):
        file = folder / path
        if path.startswith("tests/next/"):
            continue  # the felt problem of the chapter before may wait for the last stage
        if path in new or path in named:
            tests = told.unnamed(path, work.tests_in(file))
            given += [tests] if tests else []
        elif not stubs.starts_one_of(examples, file, files) and not stubs.includes_one_of(new, file):
            earlier.append(work.Tests(path))
    return given, earlier


def say_next(folder: pathlib.Path, chapter: chapters.Chapter, stage: work.Stage, bad: Bad) -> int:
    workspace.say_next(folder, bad.path, bad.result)
    print(f'\nThe page:  {workspace.page(chapter)}, "{stage.heading}"')
    print(f"Stuck:     ./learn hint {shown(folder)}; ./learn skip {shown(folder)} writes this stage for you")
    return 1


def say_broken(folder: pathlib.Path, stage: work.Stage, bad: Bad) -> int:
    """A test of before that a finished stage breaks: writing the stage for the reader might not mend it."""
    workspace.say_next(folder, bad.path, bad.result)
    print(f"\nIt passed before stage {stage.number}: something that you have changed since breaks it.")
    print(f"Compare:   ./learn solution {shown(folder)}, for the functions of this stage")
    return 1


# --- skip, hint, solution ------------------------------------------------------------------------


def need(folder: pathlib.Path) -> tuple[Mark, chapters.Chapter, work.Work, work.Stage]:
    """The stage that a workspace is in; a LearnError if it is in none."""
    mark = workspace.mark_of(folder)
    told = of(mark)
    if told is None:
        raise LearnError(f"{shown(folder)} is not written by stages. The book's own code: ./learn solution {shown(folder)}")
    stage = current(mark, told)
    if stage is None:
        raise LearnError(f"All {len(told.stages)} stages of {shown(folder)} are done.")
    return mark, workspace.find(mark.chapter), told, stage


@dataclasses.dataclass(frozen=True)
class Place:
    """A function of a stage: as the book has it, and where it is in the reader's file."""

    path: str
    function: cpp_functions.Function  # the book's
    book: str  # its body, from "{" to "}"
    own: tuple[int, int] | None  # of the reader's body; None: there is no such function

    def head(self, text: str) -> str:
        """The first line of the function, as the book writes it."""
        return " ".join(text[self.function.start : self.function.body[0]].split()) + " {"


def places(folder: pathlib.Path, stage: work.Stage, chapter: chapters.Chapter) -> list[Place]:
    found = []
    for path in stage.files:
        text = chapter.files()[path].read_text(encoding="utf-8")
        own_text = (folder / path).read_text(encoding="utf-8") if (folder / path).is_file() else ""
        own = cpp_functions.definitions(own_text)
        names = {each.function for each in stage.functions if each.path == path}
        book = [each for each in cpp_functions.definitions(text) if each.name in names]
        for function in book:
            same = [each for each in own if each.key == function.key]
            if not same and sum(each.name == function.name for each in book) == 1:  # other parameters, but no overloads
                same = [each for each in own if each.name == function.name]
            body = same[0].body if len(same) == 1 else None
            found.append(Place(path, function, text[slice(*function.body)], body))
    return found


def skip(folder: pathlib.Path) -> int:
    """Writes the solution of the current stage: the bodies of its functions, and nothing else."""
    folder = folder.resolve()
    mark, chapter, told, stage = need(folder)
    while is_as_in_the_book(folder, stage, chapter) and stage.number < len(told.stages):
        stage = told.stages[stage.number]  # it has been skipped, and not yet checked
    there = places(folder, stage, chapter)
    missing = [place for place in there if place.own is None]
    if missing:
        lines = []
        for place in missing:
            text = chapter.files()[place.path].read_text(encoding="utf-8")
            lines.append(f"  {place.path} has no {place.head(text)}")
        raise LearnError(
            "Nothing is changed, for these functions of the stage can't be found:\n" + "\n".join(lines)
            + "\nPut them back, with an empty body, and skip again."
        )
    kept = place_to_keep(folder, stage)
    for path in stage.files:
        file = folder / path
        text = file.read_text(encoding="utf-8")
        (kept / path).parent.mkdir(parents=True, exist_ok=True)
        (kept / path).write_text(text, encoding="utf-8")
        pieces = [(place.own, place.book) for place in there if place.path == path and place.own]
        for (begin, end), body in sorted(pieces, reverse=True):
            text = text[:begin] + body + text[end:]
        file.write_text(text, encoding="utf-8")
    print(f"{stage.heading}: written as the book has it")
    for path in stage.files:
        say(f"  {path:<32} ", dict.fromkeys(each.function.name for each in there if each.path == path))
    print(f"What you had is in {shown(kept)}.")
    print(f'Read it beside the page: {workspace.page(chapter)}, "{stage.heading}"')
    print(f"Then:  ./learn check {shown(folder)}")
    return 0


def place_to_keep(folder: pathlib.Path, stage: work.Stage) -> pathlib.Path:
    """A new directory each time: a reader may skip a stage, write it after all, and skip it again."""
    name = KEPT.format(stage.number)
    times = 1
    while (folder / name).exists():
        times += 1
        name = f"{KEPT.format(stage.number)}.{times}"
    return folder / name


def is_as_in_the_book(folder: pathlib.Path, stage: work.Stage, chapter: chapters.Chapter) -> bool:
    for place in places(folder, stage, chapter):
        text = (folder / place.path).read_text(encoding="utf-8") if place.own else ""
        if not place.own or cpp_functions.normalised(text[slice(*place.own)]) != cpp_functions.normalised(place.book):
            return False
    return True


def hint(folder: pathlib.Path) -> int:
    """What the headers promise of the functions of the current stage, and where to read on."""
    folder = folder.resolve()
    _, chapter, told, stage = need(folder)
    introduce(folder, chapter, told, stage)
    deriver = stubs.Deriver(chapter)
    for place in places(folder, stage, chapter):
        text = deriver.changed[place.path]
        comment = deriver.comment(place.path, text, place.function)
        comment = comment or cpp_functions.comment_above(text, place.function.start)
        print(place.head(text).removesuffix(" {"))
        for line in comment.splitlines():
            print(f"    {line}".rstrip())
        print()
    print(f"How the book does it: ./learn solution {shown(folder)}")
    print(f"To have it written:   ./learn skip {shown(folder)}")
    return 0


def solution(folder: pathlib.Path) -> int:
    """How the functions of the current stage differ from the book's."""
    folder = folder.resolve()
    _, chapter, _, stage = need(folder)
    print(f"{stage.heading}\n")
    is_same = True
    for place in places(folder, stage, chapter):
        own = (folder / place.path).read_text(encoding="utf-8")[slice(*place.own)] if place.own else ""
        if own != place.book:
            is_same = False
            name = re.sub(r"::", " › ", place.function.name)
            print("\n".join(difflib.unified_diff(
                own.splitlines(), place.book.splitlines(), f"yours/{place.path} › {name}", f"book/{place.path} › {name}",
                n=100, lineterm="",
            )))  # fmt: skip
    if is_same:
        print("You have written it as the book has, to the letter.")
    return 0
