"""What tools/stubs.py empties in a made-up book whose reader writes all that is new. Stages: test_work.py."""

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
        deriver = stubs.Deriver(chapters.find(number, book.root), book.root, everything=True)
        text, found = deriver.derive("src/base/box.cpp")
        return text, {stub.function.name: stub.treatment for stub in found}

    return derived


def write(book):
    """Chapter 02's src/base/box.cpp, as the command writes it."""
    command = [sys.executable, book.root / "tools/stubs.py", "write", "--all", "02", book.root / "out"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr
    return (book.root / "out/src/base/box.cpp").read_text()


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
    deriver = stubs.Deriver(chapters.find("02", book.root), book.root, everything=True)
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
    text = write(book)
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
    text = write(book)
    assert "auto Box::Open() -> bool {\n  // TODO(02): Opens the box.\n  return false;\n}" in text
