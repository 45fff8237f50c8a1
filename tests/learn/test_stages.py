"""A workspace that is written by stages, from ./learn start to the last ./learn check."""

import json
import shutil
import subprocess

import pytest
import work
from conftest import PAGE
from learn import chapters, progress, stages, workspace


@pytest.fixture
def staged(book):
    page = PAGE + "\n## You can now …\n\n- count how often a box\n  is [opened](x.md);\n"
    book.write({"02-two/README.md": page})
    return book


@pytest.fixture
def folder(tmp_path):
    return tmp_path / "mine"


def learn(book, *arguments, status=0):
    done = subprocess.run(
        [book.root / "learn", *map(str, arguments)], capture_output=True, text=True, timeout=300, cwd=book.root
    )
    assert done.returncode == status, done.stdout + done.stderr
    return done.stdout + done.stderr


def write(folder, old, new):
    """What the reader does."""
    file = folder / "src/base/box.cpp"
    text = file.read_text()
    assert text.count(old) == 1, text
    file.write_text(text.replace(old, new))


OPEN = "  // TODO(02, stage 1): as it was in the chapter before; change it. Opens the box.\n  open_ = true;\n"
NEXT = "  // TODO(02, stage 1): write Next().\n  return 0;\n"
KEY = '  // TODO(02, stage 2): The key that fits.\n  throw std::logic_error("TODO(02, stage 2): Box::GetKey");\n'


def test_the_work_is_listed_by_stages(staged, folder):
    told = learn(staged, "start", "2", folder)
    assert "Stage 1: Open it\n  src/base/box.cpp                 Next, Box::Open\n" in told
    assert "  tests: tests/box_count_test.cpp (1 of 2)\n" in told
    assert f"./learn skip {folder}" in told
    assert json.loads((folder / workspace.MARK).read_text())["stage"] == 1


def test_a_file_is_listed_once(tmp_path):
    (tmp_path / "a_test.cpp").write_text("TEST(A, One) {}\nTEST(A, Two) {}\nTEST(A, Three) {}\n")
    (tmp_path / "b_test.cpp").write_text("TEST_P(B, HoweverOften) {}\n")
    (tmp_path / "c_test.cpp").write_text("TEST_P(C, HoweverOften) {}\nTEST(C, Once) {}\n")
    named = [
        work.Tests("a_test.cpp", ("A.One",)), work.Tests("b_test.cpp"), work.Tests("a_test.cpp", ("A.Three",)),
        work.Tests("c_test.cpp", ("C.Once",)),
    ]
    assert list(stages.count_tests(tmp_path, named)) == ["a_test.cpp (2 of 3)", "b_test.cpp", "c_test.cpp (some)"]


def test_from_the_first_stage_to_the_last(staged, folder):
    learn(staged, "start", "2", folder)
    told = learn(staged, "check", folder, status=1)
    assert told.startswith("Chapter 02, A box that counts. Stage 1 of 3: Open it\n")
    assert "Next                                     to write\n      Box::Open                                to change" in told
    assert "Stage 1: Open it\n  FAILED  tests/box_count_test.cpp                     0 of 1\n" in told
    assert "What is given" not in told and "Earlier chapters" not in told, "those of before wait for the stage's own"
    assert "Next: BoxCount.Counts, which failed" in told
    assert "Stage 2" not in told and "box_name_test" not in told

    write(folder, OPEN, "  open_ = true;\n  count_ = Next(count_);\n")
    write(folder, NEXT, "  return count + 1;\n")
    told = learn(staged, "check", folder)
    assert "ok      tests/box_count_test.cpp                     1 of 1" in told
    assert "What is given\n  ok      1 test in 1 file\n" in told and "Earlier chapters\n  ok      1 test in 1 file\n" in told
    assert "Stage 1 of 3 is done. Next:\n\nChapter 02, A box that counts. Stage 2 of 3: Its key\n" in told
    assert "1 of 3 stages" in learn(staged, "progress")

    write(folder, KEY, "  return Key(7);\n")
    told = learn(staged, "check", folder)
    assert "Stage 2: Its key\n  ok" in told and "Earlier stages\n  ok      tests/box_count_test.cpp" in told
    assert told.index("Stage 2: Its key\n  ok") < told.index("Earlier stages") < told.index("Earlier chapters")

    shutil.copy(staged.root / "chapters/02-two/src/base/box.cpp", folder / "src/base/box.cpp")
    told = learn(staged, "check", folder)
    assert "That was the last stage. Now the whole:" in told and "Tests of earlier chapters" in told
    assert "All pass: chapter 02 is done.\nYou can now\n  - count how often a box is opened;\n" in told
    assert "last chapter" in told
    assert "1 of 2 chapters" in learn(staged, "progress")
    assert "Tests of chapter 02" in learn(staged, "check", folder), "from then on, the whole"
    assert "All 3 stages of" in learn(staged, "skip", folder, status=1)


def test_a_stage_that_is_written_ahead_is_not_asked_for(staged, folder):
    learn(staged, "start", "2", folder)
    shutil.copy(staged.root / "chapters/02-two/src/base/box.cpp", folder / "src/base/box.cpp")
    told = learn(staged, "check", folder)
    assert told.count("The next stage is written, too.") == 2 and "chapter 02 is done" in told


def test_what_breaks_an_earlier_stage_is_next(staged, folder):
    learn(staged, "start", "2", folder)
    shutil.copy(staged.root / "chapters/02-two/src/base/box.cpp", folder / "src/base/box.cpp")
    write(folder, "return name_;", "// TODO(02, stage 3): name\n  return name_;")
    learn(staged, "check", folder)
    write(folder, "return Key(7);", "return Key(8);")
    told = learn(staged, "check", folder, status=1)
    assert "Stage 3: Its name\n  ok" in told and "Next: BoxCount.HasKey, which failed" in told
    assert "2 of 3 stages" in learn(staged, "progress")


def test_what_breaks_an_earlier_stage_is_not_to_be_skipped(staged, folder):
    learn(staged, "start", "2", folder)
    learn(staged, "skip", folder)
    learn(staged, "check", folder)
    write(folder, KEY, "  return Key(7);\n")
    write(folder, "return count + 1;", "return count;")
    told = learn(staged, "check", folder, status=1)
    assert "Stage 2: Its key\n  ok" in told and "Next: BoxCount.Counts, which failed" in told
    assert "It passed before stage 2" in told and "./learn skip" not in told
    assert "1 of 3 stages" in learn(staged, "progress")


def test_a_stage_is_remembered_though_its_reader_does_not_wait(staged, folder, monkeypatch):
    """The tests of before may take minutes to build, and a reader presses Ctrl-C."""
    learn(staged, "start", "2", folder)
    learn(staged, "skip", folder)
    marks = []

    def interrupted(*_):
        marks.append(workspace.mark_of(folder).stage)
        raise KeyboardInterrupt

    monkeypatch.setattr(workspace, "ROOT", staged.root)
    monkeypatch.setattr(stages, "run_earlier", interrupted)
    chapter = chapters.find("2", staged.root)
    monkeypatch.setattr(workspace, "find", lambda number: chapter)
    told = work.read(chapter, staged.root)
    with pytest.raises(KeyboardInterrupt):
        stages.check(folder, workspace.mark_of(folder), told)
    assert marks == [2]


def test_skipping_writes_bodies_and_nothing_else(staged, folder):
    learn(staged, "start", "2", folder)
    write(folder, "// One more.", "// Mine.")
    stubbed = (folder / "src/base/box.cpp").read_text()
    told = learn(staged, "skip", folder)
    assert "Stage 1: Open it: written as the book has it\n  src/base/box.cpp                 Next, Box::Open\n" in told
    text = (folder / "src/base/box.cpp").read_text()
    assert "// Mine.\nauto Next(int count) -> int { return count + 1; }" in text
    assert "  open_ = true;\n  count_ = Next(count_);\n}" in text and "TODO(02, stage 2)" in text and "stage 1" not in text
    assert (folder / "before-stage-1/src/base/box.cpp").read_text() == stubbed
    assert "Stage 2: Its key: written" in learn(staged, "skip", folder), "once more: the next one"
    told = learn(staged, "check", folder)
    assert "Stage 2 of 3 is done" in told


def test_skipping_again_keeps_what_was_written_meanwhile(staged, folder):
    learn(staged, "start", "2", folder)
    stubbed = (folder / "src/base/box.cpp").read_text()
    learn(staged, "skip", folder)
    write(folder, "return count + 1;", "return 1 + count;")
    own = (folder / "src/base/box.cpp").read_text()
    assert "before-stage-1.2." in learn(staged, "skip", folder)
    assert (folder / "before-stage-1/src/base/box.cpp").read_text() == stubbed
    assert (folder / "before-stage-1.2/src/base/box.cpp").read_text() == own


def test_skipping_says_what_it_can_not_find(staged, folder):
    learn(staged, "start", "2", folder)
    write(folder, "auto Next(int count)", "auto Following(int count)")
    stubbed = (folder / "src/base/box.cpp").read_text()
    told = learn(staged, "skip", folder, status=1)
    assert "src/base/box.cpp has no auto Next(int count) -> int {" in told and "Nothing is changed" in told
    assert (folder / "src/base/box.cpp").read_text() == stubbed
    assert not (folder / "before-stage-1").exists()
    assert "Next                                     is not in the file" in learn(staged, "hint", folder)


def test_a_stage_has_its_promises_for_a_hint_and_its_own_solution(staged, folder):
    learn(staged, "start", "2", folder)
    told = learn(staged, "hint", folder)
    assert "void Box::Open()\n    Opens the box. It stays open.\n" in told and "GetKey" not in told
    told = learn(staged, "solution", folder)
    assert "+++ book/src/base/box.cpp › Box › Open" in told and "+  count_ = Next(count_);" in told and "GetKey" not in told
    assert "+auto Box::GetKey() const -> Key { return Key(7); }" in learn(staged, "solution", folder, "GetKey")


def test_without_stages_everything_is_to_be_written(staged, folder):
    told = learn(staged, "start", "2", folder, "--all")
    assert "5 to write, 1 to change" in told
    assert "TODO(02): How often it was opened." in (folder / "src/base/box.cpp").read_text()
    assert "Still marked TODO(02)" in learn(staged, "check", folder, status=1)
    assert "is not written by stages" in learn(staged, "skip", folder, status=1)


def test_a_workspace_from_before_the_stages_has_none(staged, folder):
    learn(staged, "start", "2", folder, "--all")
    mark = json.loads((folder / workspace.MARK).read_text())
    del mark["stage"]
    (folder / workspace.MARK).write_text(json.dumps(mark))
    assert stages.of(workspace.mark_of(folder)) is None


def test_a_chapter_with_stages_is_done_when_all_are():
    progress.note("01", stage=4, stages=5)
    assert not progress.is_solved(progress.load(), "01")
    progress.note("01", stage=5)
    assert progress.is_solved(progress.load(), "01")
    progress.note("02", stage=2, stages=5, passed=7, all=7)
    assert progress.is_solved(progress.load(), "02"), "without stages it is done as well"


def test_a_stage_that_no_longer_compiles_says_so(staged, folder):
    learn(staged, "start", "2", folder)
    write(folder, NEXT, "  return one more;\n")
    told = learn(staged, "check", folder, status=1)
    assert "make it compile again" in told and "error:" in told
