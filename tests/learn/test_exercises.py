"""The exercises: what a page says of them, the proof, and the commands by which a reader meets them."""

import json
import os
import pathlib
import signal
import subprocess

import exercises
import pytest
from learn import chapters, hints, progress, watch, workspace
from learn.errors import LearnError

PAGE = """\
# 01 One

Words.

## Exercises

Each begins with the chapter as it stands.

### 1. Close (quick)

Write `Box::Close`.

<details><summary>Hint 1</summary>

What does `open_` say?

</details>

<details><summary>Hint 2</summary>

Set it to [false](https://example.org/).

</details>

<details><summary>Solution</summary>

[the diff](exercises/1-close/solution.diff)

</details>

## What changed

Nothing.
"""
LID_H = "#pragma once\n/// Half of `whole`.\nauto Half(int whole) -> int;\n"
LID_CPP = '#include "base/lid.h"\nauto Half(int whole) -> int {\n  return whole;  // TODO\n}\n'
LID_TEST = """\
#include <gtest/gtest.h>
#include "base/lid.h"
TEST(Lid, IsHalf) { EXPECT_EQ(Half(4), 2); }
"""


def write(path, text):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)


@pytest.fixture
def state(tmp_path, monkeypatch):
    """Progress of this test's own."""
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    return tmp_path / "state" / "turtle" / "progress.json"


@pytest.fixture
def chapter(tmp_path):
    """A chapter's folder with one exercise, which no build knows."""
    folder = tmp_path / "chapters" / "01-one"
    write(folder / "README.md", PAGE)
    write(folder / "CMakeLists.txt", "")
    write(folder / "src/base/box.h", "")
    write(folder / "exercises/1-close/src/base/lid.h", LID_H)
    write(folder / "exercises/1-close/tests/lid_test.cpp", LID_TEST)
    write(folder / "exercises/1-close/solution.diff", "")
    return chapters.Chapter("01", "one", folder)


# --- the page ---


def test_the_page_says_what_an_exercise_is(chapter):
    (close,) = exercises.of(chapter)
    assert (close.name, close.title, close.level) == ("01.1", "Close", "quick")
    assert close.task == "Write `Box::Close`."
    assert len(close.hints) == 2
    assert close.tests() == ["tests/lid_test.cpp"]


def test_a_chapter_without_exercises_has_none(chapter):
    (chapter.folder / "README.md").write_text("# 01 One\n")
    for path in sorted((chapter.folder / "exercises").rglob("*"), reverse=True):
        path.rmdir() if path.is_dir() else path.unlink()
    assert exercises.of(chapter) == []


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        ("(quick)", "(easy)", "its level is easy"),
        ("### 1. Close (quick)", "### Close", "is not"),
        ("### 1. Close", "### 2. Close", "tells of exercises 2; exercises/ has 1"),
        ("Hint ", "Help ", "has no <details><summary>Hint"),
        ("1-close/solution.diff", "1-open/solution.diff", "does not link to exercises/1-close/solution.diff"),
    ],
)
def test_a_page_that_says_something_else_is_refused(chapter, old, new, words):
    page = chapter.folder / "README.md"
    page.write_text(page.read_text().replace(old, new))
    with pytest.raises(exercises.ExerciseError, match=words):
        exercises.of(chapter)


def test_what_stands_in_a_code_block_is_no_heading(chapter):
    page = chapter.folder / "README.md"
    page.write_text(page.read_text().replace("Write `Box", "```console\n# root\n## what\n```\n\nWrite `Box"))
    assert len(exercises.of(chapter)[0].hints) == 2


# --- every chapter of this book ---


@pytest.mark.parametrize("chapter", chapters.all_chapters(), ids=lambda each: each.number)
def test_no_program_has_two_tests_of_a_name(chapter):
    """A reader may have all exercises of a chapter in one workspace."""
    names = [pathlib.PurePosixPath(path).stem for path in chapters.layered(chapter.number) if path.endswith("_test.cpp")]
    for each in exercises.of(chapter):
        names += [pathlib.PurePosixPath(path).stem for path in each.tests()]
    assert sorted(set(names)) == sorted(names)


@pytest.mark.parametrize("chapter", chapters.all_chapters(), ids=lambda each: each.number)
def test_what_is_given_is_new(chapter):
    there = set(chapters.layered(chapter.number))
    for each in exercises.of(chapter):
        assert not there & set(each.files()), each.name


@pytest.mark.parametrize("chapter", [each for each in chapters.all_chapters() if exercises.of(each)], ids=lambda each: each.number)
def test_solutions_fit_each_alone_and_all_together(chapter, tmp_path):
    exercises.layout(tmp_path, chapter, exercises.of(chapter), solved=True)


# --- the proof ---


def edit_solution(book, solve):
    """Lays the exercise of the small book's chapter out, solves it, and writes its solution."""
    solved = book.root / "build" / "solved"
    run_tool(book, "lay", "02.1", solved)
    solve(solved)
    return run_tool(book, "write", "02.1", solved)


def run_tool(book, *arguments):
    return subprocess.run(
        [book.root / "tools" / "exercises.py", *map(str, arguments)], capture_output=True, text=True, timeout=300
    )


@pytest.fixture
def exercise(book):
    folder = book.root / "chapters" / "02-two"
    write(folder / "README.md", PAGE.replace("# 01 One", "# 02 Two"))
    write(folder / "exercises/1-close/src/base/lid.h", LID_H)
    write(folder / "exercises/1-close/src/base/lid.cpp", LID_CPP)
    write(folder / "exercises/1-close/tests/lid_test.cpp", LID_TEST)
    write(folder / "exercises/1-close/solution.diff", "")
    return folder / "exercises/1-close"


def solve(folder):
    path = folder / "src/base/lid.cpp"
    path.write_text(path.read_text().replace("return whole;  // TODO", "return whole / 2;"))


def test_the_proof_of_an_exercise(book, exercise):
    done = edit_solution(book, solve)
    assert done.returncode == 0, done.stderr
    assert "+  return whole / 2;" in (exercise / "solution.diff").read_text()
    done = run_tool(book, "prove", "02")
    assert done.returncode == 0, done.stdout
    assert "02.1: tests/lid_test.cpp: Lid.IsHalf fails as given" in done.stdout
    assert "solved: 1 tests of exercises" in done.stdout

    write(exercise / exercises.REPLACED, "tests/box_count_test.cpp tests/no_test.cpp\n")
    done = run_tool(book, "prove", "02")
    assert "fault: replaced.txt: tests/box_count_test.cpp passes" in done.stdout
    assert "fault: replaced.txt: tests/no_test.cpp is no test that has to pass" in done.stdout
    (exercise / exercises.REPLACED).unlink()

    (exercise / "solution.diff").write_text((exercise / "solution.diff").read_text().replace("/ 2", "/ 3"))
    done = run_tool(book, "prove", "02")
    assert done.returncode == 1
    assert "fault: solved: tests/lid_test.cpp: Lid.IsHalf failed" in done.stdout

    (exercise / "src/base/lid.cpp").write_text(LID_CPP.replace("return whole;  // TODO", "return whole / 2;"))
    done = run_tool(book, "prove", "02")
    assert done.returncode == 1
    assert "02.1: tests/lid_test.cpp: no assertion fails as given (all pass)" in done.stdout
    assert "the solution of 02.1 does not fit" in done.stdout


def test_a_solution_that_changes_nothing_is_refused(book, exercise):
    done = edit_solution(book, lambda folder: None)
    assert done.returncode == 1
    assert "has changed nothing" in done.stderr


# --- the reader's commands ---


def learn(book, state, *arguments, status=0):
    done = subprocess.run(
        [book.root / "learn", *map(str, arguments)],
        capture_output=True, text=True, timeout=300, cwd=book.root,
        env={**os.environ, "XDG_STATE_HOME": str(state.parent.parent)},
    )
    assert done.returncode == status, done.stdout + done.stderr
    return done.stdout + done.stderr


def test_an_exercise_from_its_start_to_its_end(book, exercise, state):
    edit_solution(book, solve)
    folder = book.root / "mine"
    told = learn(book, state, "start", "2.1", folder)
    assert "Exercise 02.1, Close (quick)" in told and "Write `Box::Close`." in told
    told = learn(book, state, "check", folder, status=1)
    assert "FAILED  tests/lid_test.cpp" in told
    assert "./learn hint 02.1" in told
    assert "○" in learn(book, state, "progress")
    assert "What does `open_` say?" in learn(book, state, "hint", folder)
    told = learn(book, state, "hint", "02.1")
    assert "Set it to false." in told and "That was the last one" in told
    assert "+  return whole / 2;" in learn(book, state, "solution", folder)
    solve(folder)
    told = learn(book, state, "check", folder)
    assert "All pass: exercise 02.1 is done." in told
    told = learn(book, state, "progress")
    assert "●" in told and "0 of 2 chapters, 1 of 1 exercises" in told


def test_an_exercise_joins_a_workspace_of_its_chapter(book, exercise, state):
    folder = book.root / "mine"
    learn(book, state, "start", "02", folder, "--all")
    assert "whose code stays as it is" in learn(book, state, "start", "02.1", folder)
    assert (folder / "tests/lid_test.cpp").is_file()
    assert json.loads((folder / workspace.MARK).read_text())["exercises"] == ["02.1"]
    assert "has exercise 02.1 already" in learn(book, state, "start", "02.1", folder, status=1)
    told = learn(book, state, "check", folder, status=1)
    assert "Exercise 02.1, Close" in told and "Tests of chapter 02" in told


def test_a_test_that_an_exercise_replaces_is_not_run(book, exercise, state):
    edit_solution(book, solve)
    write(exercise / exercises.REPLACED, "tests/box_test.cpp\n")
    folder = book.root / "mine"
    learn(book, state, "start", "02.1", folder)
    solve(folder)
    told = learn(book, state, "check", folder)
    assert "not run tests/box_test.cpp" in told and "All pass" in told


def test_a_workspace_of_another_chapter_is_refused(book, exercise, state):
    folder = book.root / "mine"
    learn(book, state, "start", "01", folder)
    assert "is a workspace of chapter 01" in learn(book, state, "start", "02.1", folder, status=1)


def test_an_exercise_that_is_not_there(book, exercise, state):
    assert "There is no exercise 02.7; chapter 02 has: 02.1." in learn(book, state, "hint", "02.7", status=1)


def test_who_has_seen_enough_gets_no_traceback(book, exercise, state):
    """As with `| head`: nobody reads what it prints."""
    reading, writing = os.pipe()
    os.close(reading)
    done = subprocess.run(
        [book.root / "learn", "solution", "02.1"],
        stdout=writing, stderr=subprocess.PIPE, text=True, timeout=60, cwd=book.root,
    )
    os.close(writing)
    assert done.returncode == 128 + signal.SIGPIPE
    assert done.stderr == ""


def test_how_a_workspace_differs_from_the_book(book, state):
    folder = book.root / "mine"
    learn(book, state, "start", "02", folder, "--all")
    told = learn(book, state, "solution", folder)
    assert "--- yours/src/base/box.cpp" in told and "+++ book/src/base/box.cpp" in told
    assert learn(book, state, "solution", folder, "no such word").startswith("Your src/ says")
    assert "whose page is the hint" in learn(book, state, "hint", folder, status=1)


def test_a_chapter_has_exercises_to_be_named(book, exercise, state):
    told = learn(book, state, "hint", "02", status=1)
    assert "02 is a chapter. Name one of its exercises (02.1), or the folder of your workspace." in told
    assert "02 is a chapter." in learn(book, state, "solution", "02", status=1)
    assert "01 is a chapter. Name the folder of your workspace." in learn(book, state, "hint", "01", status=1)


# --- progress ---


def test_progress_survives_and_adds_up(state):
    progress.note("01", passed=3, all=4)
    progress.note("01.1", hints=1)
    progress.note("01.1", passed=2, all=2)
    assert progress.load() == {"01": {"passed": 3, "all": 4}, "01.1": {"hints": 1, "passed": 2, "all": 2}}
    assert not progress.is_solved(progress.load(), "01")
    assert progress.is_solved(progress.load(), "01.1")
    assert not progress.is_solved(progress.load(), "02")


def test_the_bar_is_full_only_when_all_pass():
    assert progress.bar(999, 1000, 10) == "█" * 9 + "░"
    assert progress.bar(0, 0, 4) == "░░░░"
    assert progress.bar(5, 5, 4) == "████"


@pytest.mark.parametrize("text", ["{", "[]", '{"01": 3}'])
def test_a_spoilt_file_is_named(state, text):
    write(state, text)
    with pytest.raises(LearnError, match="progress.json"):
        progress.load()


def test_a_place_that_can_t_be_written_is_no_reason_to_stop(tmp_path, monkeypatch, capsys):
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "file"))
    monkeypatch.setattr(progress, "load", dict)
    progress.note("01", passed=1, all=1)
    assert "not remembered" in capsys.readouterr().out


# --- watch ---


def test_watch_checks_again_at_each_save_and_only_then(tmp_path):
    workspace.Mark("01").write(tmp_path)
    source = tmp_path / "src" / "a.cpp"
    write(source, "one")
    rounds = []

    def wait(_):
        if len(rounds) == 1:
            write(tmp_path / "build" / "made.cpp", "not the reader's")
            source.write_text("two!")
        elif len(rounds) == 2:
            raise KeyboardInterrupt

    assert watch.watch(tmp_path, check=lambda folder: rounds.append(folder) or 1, wait=wait) == 0
    assert rounds == [tmp_path, tmp_path]
    before = watch.snapshot(tmp_path)
    write(tmp_path / "build" / "more.cpp", "")
    assert watch.snapshot(tmp_path) == before


def test_watch_wants_a_workspace(tmp_path):
    with pytest.raises(LearnError, match="was not made by ./learn start"):
        watch.watch(tmp_path)


def test_hints_know_names_from_folders():
    assert hints.is_name("05.2") and hints.is_name("5.12")
    assert not hints.is_name("05") and not hints.is_name("./05.2")
