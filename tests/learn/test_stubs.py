"""tools/stubs.py on a made-up book: what is emptied, and what `prove` finds."""

import re
import subprocess
import sys

import pytest
import stubs
from conftest import BOX_CPP_2, BOX_H_2
from learn import chapters


@pytest.fixture
def derive(book):
    def derived(number="02"):
        chapters.all_chapters.cache_clear()
        deriver = stubs.Deriver(chapters.find(number, book.root), book.root)
        text, found = deriver.derive("src/base/box.cpp")
        return text, {stub.function.name: stub.treatment for stub in found}

    return derived


def run(book, *arguments, seconds=300):
    return subprocess.run(
        [sys.executable, book.root / "tools/stubs.py", *map(str, arguments)],
        capture_output=True, text=True, timeout=seconds,
    )


def test_only_what_the_chapter_adds_or_changes_is_touched(derive):
    text, treatments = derive()
    assert treatments == {
        "Next": stubs.Treatment.EMPTIED,
        "Box::Open": stubs.Treatment.EARLIER,
        "Box::Count": stubs.Treatment.EMPTIED,
        "Box::GetKey": stubs.Treatment.THROWS,
        "Box::Self": stubs.Treatment.EMPTIED,
        "Box::Name": stubs.Treatment.THROWS,
    }
    assert "  return open_;  // unchanged but for this comment\n" in text


def test_an_empty_body_says_what_is_to_be_written(derive):
    text, _ = derive()
    assert "auto Box::Count() const -> int {\n  // TODO(02): How often it was opened.\n  return 0;\n}\n" in text
    assert "auto Box::Self() -> Box& {\n  // TODO(02): Itself, for chaining.\n  return *this;\n}\n" in text
    assert "// One more.\nauto Next(int count) -> int {\n  // TODO(02): write Next().\n" in text
    assert '  throw std::logic_error("TODO(02): Box::Name");\n' in text
    assert text.count("#include <stdexcept>") == 1


def test_a_static_function_has_no_object_to_return(book):
    shared = "  static auto Shared() -> Box& {\n    static Box box;\n    return box;\n  }\n private:"
    book.write({"02-two/src/base/box.h": shared.join(BOX_H_2.rsplit(" private:", 1))})
    chapters.all_chapters.cache_clear()
    deriver = stubs.Deriver(chapters.find("02", book.root), book.root)
    text, _ = deriver.derive("src/base/box.h")
    assert 'throw std::logic_error("TODO(02): Box::Shared");' in text and "return *this" not in text


def test_a_function_of_the_same_name_in_a_header_that_is_not_included_says_nothing(book, derive):
    book.write({"02-two/src/base/page.h": "#pragma once\n/// Turns the page.\nauto Next(int count) -> int;\n"})
    text, _ = derive()
    assert "// TODO(02): write Next().\n" in text and "page" not in text
    including = BOX_CPP_2.replace('box.h"\n', 'box.h"\n#include "base/page.h"\n', 1)
    book.write({"02-two/src/base/box.cpp": including})
    text, _ = derive()
    assert "// TODO(02): Turns the page.\n" in text


def test_a_changed_function_keeps_its_earlier_body(derive):
    text, _ = derive()
    assert re.search(r"void Box::Open\(\) \{\n  // TODO\(02\): .*Opens the box\.\n  open_ = true;\n\}", text)


def test_a_function_with_other_parameters_is_a_changed_one(book, derive):
    for name in ("box.h", "box.cpp"):
        path = book.root / "chapters/02-two/src/base" / name
        path.write_text(path.read_text().replace("Open()", "Open(int times)"))
    text, treatments = derive()
    assert treatments["Box::Open"] is stubs.Treatment.EARLIER
    assert "  open_ = true;\n}" in text


def test_the_first_chapter_is_emptied_whole(derive):
    _, treatments = derive("01")
    assert set(treatments) == {"Box::Open", "Box::IsOpen"}


def test_exceptions(book, derive):
    book.write({"02-two/stubs.txt": "# why\ngiven src/base/box.cpp Box::Count\nempty src/base/box.cpp Box::Open\n"})
    _, treatments = derive()
    assert "Box::Count" not in treatments
    assert treatments["Box::Open"] is stubs.Treatment.EMPTIED
    book.write({"02-two/stubs.txt": "throw src/base/box.cpp Box::Count\n"})
    assert derive()[1]["Box::Count"] is stubs.Treatment.THROWS
    book.write({"02-two/stubs.txt": "given src/base/box.cpp  # all of it\n"})
    assert derive()[1] == {}


@pytest.mark.parametrize(
    "line", ["given src/base/nowhere.cpp", "given src/base/box.cpp Box::Gone", "empty src/base/box.cpp", "drop x"]
)
def test_an_exception_that_means_nothing_is_an_error(book, derive, line):
    book.write({"02-two/stubs.txt": line + "\n"})
    with pytest.raises(stubs.StubError, match="stubs.txt"):
        derive()


def test_a_source_for_another_system_is_given():
    here = "__linux__" if sys.platform == "linux" else "__APPLE__"
    assert not stubs.is_for_another_system(f"#ifdef {here}\nvoid F() {{}}\n#endif\n")
    assert stubs.is_for_another_system(f"// x\n#include \"a.h\"\n#ifndef {here}\nvoid F() {{}}\n#endif\n")
    assert not stubs.is_for_another_system(f"#ifndef {here}\nint a;\n#endif\nvoid F() {{}}\n#if 1\n#endif\n")
    assert not stubs.is_for_another_system(f"#ifndef {here}\nint a;\n#else\nint b;\n#endif\n")


def test_with_include_sorts_it_in():
    text = '#include "a.h"\n\n#include <string>\n#include <vector>\n'
    assert "#include <stdexcept>\n#include <string>" in stubs.with_include(text, "<stdexcept>")
    assert stubs.with_include("#include <stdexcept>\n", "<stdexcept>") == "#include <stdexcept>\n"
    assert stubs.with_include("#pragma once\nint a;\n", "<stdexcept>").startswith("#pragma once\n\n#include <stdexcept>\n")


def test_what_does_not_compile_is_emptied_further(book):
    """An earlier body that uses what the header no longer has; a type that {} can't make."""
    chapter = "02-two/src/base/box"
    header = (book.root / "chapters" / f"{chapter}.h").read_text()
    source = (book.root / "chapters" / f"{chapter}.cpp").read_text()
    book.write(
        {
            f"{chapter}.h": header.replace("open_", "opened_").replace(
                "class Box {", "struct Pair { int& a; };\nclass Box {\n public:\n  auto GetPair() -> Pair;"
            ),
            f"{chapter}.cpp": source.replace("open_", "opened_") + "auto Box::GetPair() -> Pair { return {count_}; }\n",
        }
    )
    done = run(book, "write", "02", book.root / "out")
    assert done.returncode == 0, done.stderr
    text = (book.root / "out/src/base/box.cpp").read_text()
    assert "open_ = true" not in text.replace("opened_", "")
    assert "void Box::Open() {\n  // TODO(02): Opens the box.\n}" in text
    assert 'throw std::logic_error("TODO(02): Box::GetPair")' in text


def test_an_earlier_body_that_returned_nothing_is_emptied(book):
    """It would compile, and crash every earlier test that runs off its end."""
    for name, old, new in (
        ("box.h", "void Open()", "auto Open() -> bool"),
        ("box.cpp", "void Box::Open() {", "auto Box::Open() -> bool {\n  if (open_) return true;"),
    ):
        path = book.root / "chapters/02-two/src/base" / name
        text = path.read_text()
        assert old in text
        path.write_text(text.replace(old, new).replace("count_ = Next(count_);", "return count_ = Next(count_);"))
    done = run(book, "write", "02", book.root / "out")
    assert done.returncode == 0, done.stderr
    text = (book.root / "out/src/base/box.cpp").read_text()
    assert "auto Box::Open() -> bool {\n  // TODO(02): Opens the box.\n  return false;\n}" in text


def test_prove_passes_on_a_sound_chapter(book):
    done = run(book, "prove", "01", "02")
    assert done.returncode == 0, done.stdout + done.stderr
    assert "tests/box_count_test.cpp: at least 1 of 2 fail" in done.stdout
    assert "tests/next/01_count_test.cpp: 1 of 1 fail (the felt problem)" in done.stdout
    assert "earlier chapters: 1 tests pass" in done.stdout


def test_the_new_tests_alone_are_enough_for_a_short_proof(book):
    book.write({"02-two/stubs.txt": "empty src/base/box.cpp Box::Open\n"})  # an earlier test fails on that
    done = run(book, "prove", "--new", "02")
    assert done.returncode == 0, done.stdout + done.stderr
    assert "tests/box_count_test.cpp: at least 1 of 2 fail" in done.stdout
    assert "earlier" not in done.stdout.replace("keep their earlier body", "")
    built = book.root / "build/stubs/02/tests"
    assert (built / "box_count_test").exists() and not (built / "box_test").exists()


def test_prove_finds_what_is_wrong(book):
    test = (book.root / "chapters/02-two/tests/box_count_test.cpp").read_text()
    include = test.split("TEST(")[0]
    book.write(
        {
            "02-two/tests/vain_test.cpp": include + "TEST(Vain, Passes) { EXPECT_TRUE(true); }\n",
            "02-two/tests/crash_test.cpp": include
            + "#include <cstdlib>\nTEST(Crash, Dies) { if (Box().Count() == 0) std::abort(); }\n"
            "TEST(Crash, Lives) { EXPECT_TRUE(true); }\n",
            "02-two/stubs.txt": "empty src/base/box.cpp Box::Open\n",
        }
    )
    done = run(book, "prove", "02")
    assert done.returncode == 1
    assert "tests/vain_test.cpp: passes on the stubs" in done.stdout
    assert "tests/crash_test.cpp: fails by crashing only (Crash.Dies crashed)" in done.stdout
    assert "tests/box_test.cpp: Box.Opens, an earlier test, failed on the stubs" in done.stdout


def test_an_earlier_test_may_have_to_be_won_back(book):
    book.write({"02-two/stubs.txt": "empty src/base/box.cpp Box::Open\nagain tests/box_test.cpp\n"})
    done = run(book, "prove", "02")
    assert done.returncode == 0, done.stdout
    assert "to be won back" in done.stdout
    book.write({"02-two/stubs.txt": "again tests/box_test.cpp\n"})
    done = run(book, "prove", "02")
    assert done.returncode == 1
    assert "take its `again` out" in done.stdout


def test_a_new_test_of_what_is_given_passes(book):
    vain = {"02-two/tests/vain_test.cpp": "#include <gtest/gtest.h>\nTEST(Vain, Passes) { EXPECT_TRUE(true); }\n"}
    book.write({**vain, "02-two/stubs.txt": "passes tests/vain_test.cpp\n"})
    done = run(book, "prove", "02")
    assert done.returncode == 0, done.stdout
    assert "tests/vain_test.cpp: 0 of 1 fail" in done.stdout
    book.write({"02-two/tests/vain_test.cpp": vain["02-two/tests/vain_test.cpp"].replace("true", "false")})
    done = run(book, "prove", "02")
    assert done.returncode == 1
    assert "take its `passes` out" in done.stdout
