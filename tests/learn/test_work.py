"""tools/work.py and the proof of stages, on a made-up book."""

import subprocess
import sys

import pytest
import stubs
import work
from conftest import BOX_CPP_2, PAGE, TEST, WORK
from learn import chapters


def find(book, number="02"):
    chapters.all_chapters.cache_clear()
    work.tests_in.cache_clear()
    return chapters.find(number, book.root)


def run(book, *arguments):
    return subprocess.run(
        [sys.executable, book.root / "tools/stubs.py", *map(str, arguments)],
        capture_output=True, text=True, timeout=300,
    )


def faults(book):
    return work.faults(find(book), book.root)


# --- reading ---


def test_a_chapter_without_the_file_is_a_fault(book):
    book.remove("02-two/work.txt")
    assert "02-two/work.txt is missing" in faults(book)[0]
    for command in ("show", "prove"):
        done = run(book, command, "02")
        assert done.returncode == 1 and "02-two/work.txt is missing" in done.stderr
    done = subprocess.run([book.root / "learn", "start", "02", book.root / "mine"], capture_output=True, text=True, timeout=60)
    assert done.returncode == 1 and "02-two/work.txt is missing" in done.stderr


def test_stages_have_functions_and_tests(book):
    told = work.read(find(book), book.root)
    assert [stage.heading for stage in told.stages] == ["Stage 1: Open it", "Stage 2: Its key", "Stage 3: Its name"]
    assert told.stage_of("src/base/box.cpp", "Box::GetKey") == 2
    assert told.stage_of("src/base/box.cpp", "Box::Count") == 0
    (first,), (rest,) = told.stages[0].tests, told.stages[1].tests
    assert first.has("BoxCount.Counts") and not first.has("BoxCount.HasKey")
    assert not rest.has("BoxCount.Counts") and rest.has("BoxCount.HasKey"), "a whole file: what no other line names"


def test_what_no_stage_names_is_known(book):
    told = work.read(find(book), book.root)
    assert told.unnamed("tests/box_count_test.cpp", ["BoxCount.Counts", "BoxCount.HasKey"]) is None
    left = told.unnamed("tests/box_name_test.cpp", ["Name.IsInTheRegister", "Given.IsThere"])
    assert left.has("Given.IsThere") and not left.has("Name.IsInTheRegister")


@pytest.mark.parametrize(
    ("name", "plain"),
    [("Suite.Name", "Suite.Name"), ("All/Suite.Name/3", "Suite.Name"), ("Suite/0.Name", "Suite.Name"),
     ("All/Suite.Name/a_b", "Suite.Name")],
)
def test_a_test_with_parameters_has_the_name_of_its_source(name, plain):
    assert work.plain(name) == plain
    assert work.Tests("x", ("Suite.*",)).has(name) and not work.Tests("x", but=("Suite.Name",)).has(name)


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        ("stage Open it\n", "", "before the first `stage`"),
        ("Next Box::Open", "", "needs a function"),
        ("Next Box::Open", "Box::Shut", "defines no Box::Shut"),
        ("src/base/box.cpp Next", "src/base/lid.cpp Next", "has no src/base/lid.cpp"),
        ("BoxCount.Counts", "BoxCount.Sings", "has no test BoxCount.Sings"),
        ("write src/base/box.cpp Box::GetKey", "write src/base/box.cpp Box::GetKey Next", "Next is named 2 times"),
        ("Name.*", "Name.*\ntest tests/box_count_test.cpp", "2 stages have all tests of tests/box_count_test.cpp"),
        ("write", "wrote", "expected stage, write"),
        ("stage", "given src/base/nowhere.cpp\nstage", "has no src/base/nowhere.cpp"),
        ("stage", "given src/base/box.cpp Box::Gone\nstage", "defines no Box::Gone"),
        ("stage", "given tests/box_test.cpp\nstage", "neither adds nor changes a source file tests/box_test.cpp"),
    ],
)
def test_a_line_that_means_nothing_is_an_error(book, old, new, words):
    assert old in WORK
    book.write({"02-two/work.txt": WORK.replace(old, new, 1)})
    with pytest.raises(stubs.StubError, match="work.txt") as error:
        work.read(find(book), book.root)
    assert words in str(error.value)


# --- the rules of the book ---


def test_a_sound_chapter_has_no_fault(book):
    assert faults(book) == []
    done = run(book, "check", "02")
    assert done.returncode == 0 and done.stdout == "1 chapter: all is well\n"


def test_lines_of_work_are_those_between_the_braces_and_of_a_changed_one_the_new_ones(book):
    chapter = find(book)
    told = work.read(chapter, book.root)
    lines = {piece.function.name: len(piece.lines) for piece in work.pieces(chapter, told, book.root)}
    assert lines == {"Next": 1, "Box::Open": 1, "Box::GetKey": 1, "Box::Name": 1, "Box::Self": 1}
    whole = work.amount(work.pieces(chapter, told, book.root), work.printed(chapter, book.root))
    assert (whole.functions, whole.lines, whole.printed) == (5, 5, 4)


def test_what_is_too_much_or_not_on_the_page_is_found(book, monkeypatch):
    book.write({"02-two/README.md": PAGE.replace("### Stage 2: Its key", "### Stage 2: The key")})
    assert faults(book) == ['chapters/02-two/README.md: under "The code" stands no heading "### Stage 2: Its key"']
    book.write({"02-two/README.md": PAGE.replace("## Run it", "### Stage 4: More\n\n## Run it")})
    assert "other stages than work.txt" in faults(book)[0]
    book.write({"02-two/README.md": PAGE.replace('title="base/box.cpp"', "")})
    assert faults(book) == ["chapters/02-two/README.md: prints 1 of 5 lines of work, 20 %; half of them is the least"]
    book.write({"02-two/README.md": PAGE})
    for name, most, words in (
        ("MOST_FUNCTIONS", 4, "5 functions to write, at most 4"),
        ("MOST_LINES", 4, "5 lines to write, at most 4"),
        ("FEWEST_STAGES", 4, "3 stages, not 4 to 8"),
        ("MOST_FUNCTIONS_OF_A_STAGE", 1, "stage 1 has 2 functions, not 1 to 1"),
    ):
        with monkeypatch.context() as patch:
            patch.setattr(work, name, most)
            assert words in faults(book)[0]


def test_a_function_that_is_as_it_was_is_no_work(book):
    book.write({"02-two/work.txt": WORK.replace("Next Box::Open", "Next Box::Open Box::IsOpen")})
    assert "Box::IsOpen is as it was before" in faults(book)[0]


def test_checking_the_book_checks_its_work(book):
    book.write({"02-two/work.txt": WORK.replace("Its name", "Her name")})
    done = subprocess.run(
        [sys.executable, book.root / "tools/chapters.py", "check"], capture_output=True, text=True, timeout=60
    )
    assert done.returncode == 1
    assert 'no heading "### Stage 3: Her name"' in done.stderr


# --- stubs ---


def derive(book, done=0, everything=False):
    deriver = stubs.Deriver(find(book), book.root, everything)
    deriver.done = done
    return deriver.derive("src/base/box.cpp")


def test_only_what_a_stage_names_is_emptied_and_its_mark_says_which(book):
    text, found = derive(book)
    assert {stub.function.name: stub.stage for stub in found} == {
        "Next": 1, "Box::Open": 1, "Box::GetKey": 2, "Box::Self": 3, "Box::Name": 3,
    }
    assert "// TODO(02, stage 1): as it was in the chapter before; change it. Opens the box.\n  open_ = true;\n}" in text
    assert 'throw std::logic_error("TODO(02, stage 3): Box::Name");' in text
    assert "auto Box::Count() const -> int { return count_; }" in text


def test_stages_that_are_done_are_complete(book):
    text, found = derive(book, done=2)
    assert {stub.function.name for stub in found} == {"Box::Self", "Box::Name"}
    assert "count_ = Next(count_);" in text


def test_everything_may_be_written_all_the_same(book):
    text, found = derive(book, everything=True)
    assert "Box::Count" in {stub.function.name for stub in found}
    assert "TODO(02): How often" in text and "stage" not in text
    book.write({"02-two/work.txt": WORK + "given src/base/box.cpp Box::Count  # why\n"})
    assert "Box::Count" not in {stub.function.name for stub in derive(book, everything=True)[1]}
    book.write({"02-two/work.txt": WORK + "given src/base/box.cpp\n"})
    assert derive(book, everything=True)[1] == []


def test_a_stub_may_throw_or_lose_its_earlier_body(book):
    asked = WORK.replace("write src/base/box.cpp Next Box::Open", "empty src/base/box.cpp Box::Open\nthrow src/base/box.cpp Next")
    book.write({"02-two/work.txt": asked})
    treatments = {stub.function.name: stub.treatment for stub in derive(book)[1]}
    assert treatments["Box::Open"] is stubs.Treatment.EMPTIED
    assert treatments["Next"] is stubs.Treatment.THROWS


def test_show_says_how_much_it_is(book):
    done = run(book, "show", "02")
    assert done.returncode == 0, done.stderr
    assert "Stage 1: Open it (2 functions, 2 lines of work, 1 of them printed)\n" in done.stdout
    assert done.stdout.endswith("In all 3 stages: 5 functions, 5 lines of work, 4 of them printed on the page, 80 %\n")


# --- the proof ---


def test_each_stage_is_proven(book):
    done = run(book, "prove", "02")
    assert done.returncode == 0, done.stdout + done.stderr
    assert "02: ok: 4 functions emptied, 1 keep their earlier body" in done.stdout
    assert "stubs: 2 tests of 2 files that no stage names pass" in done.stdout
    assert "with stage 1: 1 tests pass" in done.stdout and "with all stages: 3 tests pass" in done.stdout


def test_a_short_proof_builds_what_the_chapter_brings(book):
    done = run(book, "prove", "--new", "02")
    assert done.returncode == 0, done.stdout + done.stderr
    built = book.root / "build/stubs/02/tests"
    assert (built / "box_count_test").exists() and not (built / "box_test").exists()


def test_a_stage_that_needs_a_later_one_or_none_is_found(book):
    changed = WORK.replace("test tests/box_count_test.cpp\n", "test tests/box_count_test.cpp\ntest tests/box_name_test.cpp Given.*\n")
    book.write({"02-two/work.txt": changed.replace("BoxCount.Counts", "BoxCount.HasKey")})
    done = run(book, "prove", "02")
    assert done.returncode == 1
    assert "fault: tests/box_name_test.cpp: passes on the stubs, so it does not need stage 2" in done.stdout
    assert "fault: tests/box_count_test.cpp: BoxCount.HasKey failed with stage 1" in done.stdout
    assert "fault: tests/box_count_test.cpp: passes with stage 1, so it does not need stage 2" in done.stdout
    assert "fault: stage 2: no test fails by an assertion with stage 1" in done.stdout


def test_a_new_test_that_no_stage_names_has_to_pass_on_the_stubs(book):
    book.write({
        "02-two/tests/more_test.cpp": TEST + "TEST(More, Counts) { Box box; box.Open(); EXPECT_EQ(box.Count(), 1); }\n"
        "TEST(More, IsGiven) { EXPECT_EQ(Box().Count(), 0); }\n",
    })
    done = run(book, "prove", "--new", "02")
    assert done.returncode == 1
    assert "fault: tests/more_test.cpp: More.Counts, no stage names it, and it failed on the stubs" in done.stdout


def test_an_earlier_test_passes_on_the_stubs_or_is_won_back(book):
    emptied = WORK.replace("write src/base/box.cpp Next Box::Open", "write src/base/box.cpp Next\nempty src/base/box.cpp Box::Open")
    book.write({"02-two/work.txt": emptied})
    done = run(book, "prove", "02")
    assert done.returncode == 1
    assert "fault: tests/box_test.cpp: Box.Opens, an earlier test, failed on the stubs" in done.stdout
    book.write({"02-two/work.txt": emptied + "again tests/box_test.cpp\n"})
    done = run(book, "prove", "02")
    assert done.returncode == 0, done.stdout
    assert "with all stages: 4 tests pass" in done.stdout


def test_a_crash_is_no_failure_unless_it_can_be_no_other(book):
    crash = TEST + "#include <cstdlib>\nTEST(Name, Dies) { if (&Box().Self() == nullptr) std::abort(); }\n"
    book.write({
        "02-two/tests/box_name_test.cpp": crash,
        "02-two/src/base/box.cpp": BOX_CPP_2.replace("return name_;", "return name_; /* later */"),
        "02-two/work.txt": WORK.replace("Box::Name Box::Self", "Box::Name"),
    })
    book.write({"02-two/tests/box_name_test.cpp": crash.replace("&Box().Self() == nullptr", "Dead(Box())").replace(
        "TEST(Name", "auto Dead(const Box& box) -> bool { try { return box.Name().empty(); } catch (...) { return true; } }\nTEST(Name"
    )})
    done = run(book, "prove", "--new", "02")
    assert done.returncode == 1
    assert "fault: stage 3: no test fails by an assertion on the stubs (Name.Dies crashed)" in done.stdout
    book.write({"02-two/work.txt": WORK.replace("Box::Name Box::Self", "Box::Name") + "crash tests/box_name_test.cpp\n"})
    done = run(book, "prove", "--new", "02")
    assert done.returncode == 0, done.stdout
