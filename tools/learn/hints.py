"""./learn hint and ./learn solution: as much help as the reader asks for, one step at a time."""

from __future__ import annotations

import difflib
import pathlib
import re

import exercises
from learn import chapters, progress, stages, workspace
from learn.errors import LearnError


def exercise(name: str) -> exercises.Exercise:
    try:
        return exercises.find(name)
    except LookupError as error:
        raise LearnError(f"{str(error)[0].upper()}{str(error)[1:]}.") from error
    except exercises.ExerciseError as error:
        raise LearnError(str(error)) from error


def hint(what: str, show_all: bool = False) -> int:
    """The next hint of exercise "05.2", or of the one that a workspace is for; or what its stage asks for."""
    refuse_chapter(what)
    if not is_name(what) and is_in_a_stage(what):
        return stages.hint(pathlib.Path(what))
    chosen = exercise(what if is_name(what) else exercise_of(pathlib.Path(what)))
    shown = len(chosen.hints) if show_all else min(progress.load().get(chosen.name, {}).get("hints", 0) + 1, len(chosen.hints))
    progress.note(chosen.name, hints=shown)
    print(f"{chosen.name} {chosen.title} ({chosen.level})\n")
    for number in range(1 if show_all else shown, shown + 1):
        print(f"Hint {number} of {len(chosen.hints)}: {plain(chosen.hints[number - 1])}\n")
    if shown < len(chosen.hints):
        print(f"Another one: ./learn hint {chosen.name}")
    else:
        print(f"That was the last one; the solution: ./learn solution {chosen.name}")
    return 0


def solution(what: str, word: str = "") -> int:
    """The solution of exercise "05.2", or how a workspace, or its stage, differs from the book."""
    refuse_chapter(what)
    if is_name(what):
        chosen = exercise(what)
        print(f"{chosen.name} {chosen.title} ({chosen.level}): {workspace.shown(chosen.solution)}\n")
        print(chosen.solution.read_text(encoding="utf-8"), end="")
        return 0
    if not word and is_in_a_stage(what):
        return stages.solution(pathlib.Path(what))
    folder = pathlib.Path(what).resolve()
    mark = workspace.mark_of(folder)
    chapter = workspace.find(mark.chapter)
    if mark.exercises and not word:
        for name in mark.exercises:
            solution(name)
        return 0
    differences = 0
    book = chapters.layered(chapter.number)
    for path, file in sorted(book.items()):
        own = folder / path
        if not path.startswith("src/") or (word and word not in file.read_text(encoding="utf-8")):
            continue
        theirs = own.read_text(encoding="utf-8").splitlines() if own.is_file() else []
        ours = file.read_text(encoding="utf-8").splitlines()
        if theirs != ours:
            differences += 1
            print("\n".join(difflib.unified_diff(theirs, ours, f"yours/{path}", f"book/{path}", lineterm="")))
    if not differences:
        print(f"Your src/ says what the book's chapter {chapter.number} says, to the letter.")
    return 0


def is_in_a_stage(folder: str) -> bool:
    mark = workspace.mark_of(pathlib.Path(folder).resolve())
    told = stages.of(mark)
    return told is not None and stages.current(mark, told) is not None


def is_name(what: str) -> bool:
    return re.fullmatch(r"\d\d?\.\d+", what) is not None


def refuse_chapter(what: str) -> None:
    """A LearnError if "05" is no folder that is here, but the number of a chapter."""
    if re.fullmatch(r"\d\d?", what) and not pathlib.Path(what).is_dir():
        names = ", ".join(each.name for each in exercises.of(workspace.find(what)))
        exercise_or = f"Name one of its exercises ({names}), or" if names else "Name"
        raise LearnError(f"{what} is a chapter. {exercise_or} the folder of your workspace.")


def exercise_of(folder: pathlib.Path) -> str:
    """The first exercise of a workspace that is not solved."""
    mark = workspace.mark_of(folder.resolve())
    if not mark.exercises:
        todo = workspace.unwritten(folder.resolve(), mark.chapter)
        what = f"Chapter {mark.chapter} is finished in {folder}; its exercises have hints of their own."
        if todo:
            what = f"{folder} is chapter {mark.chapter} itself, whose page is the hint; exercises have hints of their own."
            what += f" Still marked TODO({mark.chapter}): {', '.join(sorted(todo))}."
        raise LearnError(f"{what} The book's own code: ./learn solution {workspace.shown(folder)}")
    known = progress.load()
    open_ones = [name for name in mark.exercises if not progress.is_solved(known, name)]
    return (open_ones or mark.exercises)[0]


def plain(markdown: str) -> str:
    """For a terminal: without the marks that only a page needs."""
    text = re.sub(r"\[([^\]]+)\]\([^)]*\)", r"\1", markdown)
    return re.sub(r"^```\w*.*\n?", "", text, flags=re.MULTILINE).strip()
