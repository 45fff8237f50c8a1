"""The map of the classes: what counts as one, and which chapter has changed it."""

import pathlib
import re
import sys

import pytest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "tools"))

import classmap  # noqa: E402
from learn import chapters  # noqa: E402

BOX = """\
// Boxes with a lid: for whatever must
// not get wet. They float.
#pragma once
class Key;  // only declared

namespace box_detail {
/// The hinge.
struct Hinge {
};
}  // namespace box_detail

/// Something to keep a thing in. It has a lid: see
/// Open().
///
/// @tparam T nothing
class Box final : public Thing {
 public:
  void Open();
  struct Inner {
    int depth;
  };
};

struct Hidden {
  int no_comment = 0;
};

/// What a box is made of.
struct [[nodiscard]] Wood {
  int age;
};
"""
BOX_CPP = """\
#include "base/box.h"
namespace {
constexpr int kTurns = 3;
}
void Box::Open() {}
"""


def write(root, path, text):
    (root / path).parent.mkdir(parents=True, exist_ok=True)
    (root / path).write_text(text)


@pytest.fixture
def root(tmp_path):
    """Three chapters: the second adds a header, the third changes a function of Box."""
    for number, name in ((1, "one"), (2, "two"), (3, "three")):
        write(tmp_path, f"chapters/0{number}-{name}/CMakeLists.txt", "")
    write(tmp_path, "chapters/01-one/src/base/box.h", BOX)
    write(tmp_path, "chapters/01-one/src/base/box.cpp", BOX_CPP)
    write(tmp_path, "chapters/02-two/src/base/lid.h", "/// Closes it.\nstruct Lid {\n};\n")
    write(tmp_path, "chapters/03-three/src/base/box.cpp", BOX_CPP.replace("{}", "{ open_ = true; }"))
    forget()
    yield tmp_path
    forget()


def forget():
    chapters.all_chapters.cache_clear()
    classmap.functions_of.cache_clear()


def told(root):
    forget()
    return {each.name: (each.born, each.changed) for each in classmap.entries(root)}


def test_a_class_has_a_comment_and_a_body():
    found = classmap.classes_of(BOX)
    assert list(found) == ["Box", "Wood"]
    summary, text = found["Box"]
    assert summary == "Something to keep a thing in."
    assert text.startswith("class Box final")


def test_what_a_header_is_for():
    assert classmap.purpose_of(BOX) == "Boxes with a lid: for whatever must not get wet."
    assert classmap.purpose_of("// Turns bytes into boxes:\n//\n//  * one\n") == "Turns bytes into boxes."
    assert classmap.purpose_of("#pragma once\n") == ""


def test_where_each_was_born_and_changed(root):
    assert told(root) == {"Box": ("01", ["03"]), "Wood": ("01", []), "Lid": ("02", [])}


def test_another_class_of_the_same_header_has_not_changed(root):
    write(root, "chapters/02-two/src/base/box.h", BOX + "/// New.\nclass Case {\n};\n")
    assert told(root)["Case"] == ("02", [])
    assert told(root)["Box"] == ("01", ["03"])


def test_only_code_of_the_class_counts(root):
    path = "chapters/02-two/src/base/box.cpp"
    write(root, path, BOX_CPP.replace("{}", "{ /* soon */ }").replace("#include", "#include <cmath>\n#include"))
    assert told(root)["Box"] == ("01", ["03"])
    write(root, path, BOX_CPP.replace("3;", "4;"))
    assert told(root)["Box"] == ("01", ["03"])
    write(root, "chapters/02-two/src/base/box.h", BOX.replace("keep a thing in", "put a thing in"))
    write(root, path, BOX_CPP)
    assert told(root)["Box"] == ("01", ["03"])


def test_functions_in_a_file_of_their_own_count(root):
    write(root, "chapters/02-two/src/base/box_linux.cpp", "void Box::Shut() {}")
    assert told(root)["Box"] == ("01", ["02", "03"])


def test_a_class_that_is_withdrawn_is_on_no_map(root):
    write(root, "chapters/03-three/withdrawn.txt", "src/base/lid.h\n")
    assert list(told(root)) == ["Box", "Wood"]


def test_only_what_stands_between_the_markers_is_written(root):
    page = (
        "Before.\n<!-- classes -->\nold\n<!-- /classes -->\n"
        "<!-- layers 02: src/base/box.h -->\n<!-- /layers -->\nAfter.\n"
    )
    fresh = classmap.generated(page, root)
    assert fresh.startswith("Before.\n<!-- classes -->\n") and fresh.endswith("<!-- /layers -->\nAfter.\n")
    assert "old" not in fresh
    assert (
        "| **[box.h](../final/src/base/box.h)** | **Boxes with a lid: for whatever must not get wet.** | | |\n"
        "| `Box` | Something to keep a thing in. | [01](../chapters/01-one/README.md) | [03]"
    ) in fresh
    assert "src/base/box.h  chapters/01-one/src/base/box.h\n\n3 files, 1 of them from chapters/02-two\n" in fresh
    assert classmap.generated(fresh, root) == fresh


def test_every_class_of_our_headers_is_on_the_map():
    """The pattern that finds them overlooks none: whatever has a body and stands at a line's start."""
    forget()
    there = {(each.header, each.name) for each in classmap.entries()}
    for header in sorted((classmap.chapters.ROOT / "final/src").rglob("*.h")):
        text = classmap.DETAILS.sub("", header.read_text(encoding="utf-8"))
        path = "src/" + header.relative_to(classmap.chapters.ROOT / "final/src").as_posix()
        for line in re.findall(r"^(?:class|struct)\b[^;\n]*\{", text, re.MULTILINE):
            assert any(re.search(rf"\b{name}\b", line) for where, name in there if where == path), (path, line)
    assert all(each.purpose and each.summary for each in classmap.entries())


def test_a_page_shows_what_its_chapter_changed_and_folds_the_rest(root):
    empty = "Words.\n<!-- classes now -->\nold\n<!-- /classes now -->\nMore.\n"
    for name in ("01-one", "02-two", "03-three"):
        write(root, f"chapters/{name}/README.md", empty)
    forget()
    pages = classmap.page_texts(root)
    one, two, three = (pages[f"chapters/{name}/README.md"] for name in ("01-one", "02-two", "03-three"))
    assert all(page.startswith("Words.\n<!-- classes now -->\n") and page.endswith("\nMore.\n") for page in pages.values())
    box = "| `Box` | Something to keep a thing in. | `base/box.h` |"
    lid = "| `Lid` | Closes it. | `base/lid.h` | 02 |"
    assert f"{box} 01 |" in one and "<details>" not in one and "old" not in one
    shown, folded = two.split("<details><summary>The 2 classes of earlier chapters</summary>")
    assert lid in shown and f"{box} 01 |" in folded and "Box" not in shown
    shown, folded = three.split("<details>")
    assert f"{box} 03 |" in shown and lid in folded and "Box" not in folded


def test_a_page_says_it_when_its_chapter_changes_no_class(root):
    write(root, "chapters/04-four/CMakeLists.txt", "")
    write(root, "chapters/04-four/examples/four.cpp", "int main() {}\n")
    write(root, "chapters/04-four/README.md", "<!-- classes now -->\n<!-- /classes now -->\n")
    forget()
    page = classmap.page_texts(root)["chapters/04-four/README.md"]
    assert "This chapter changes no class." in page and "The 3 classes of earlier chapters" in page


def test_every_chapter_shows_its_classes():
    forget()
    for chapter in chapters.all_chapters():
        text = (chapter.folder / "README.md").read_text(encoding="utf-8")
        assert len(classmap.CLASSES_NOW.findall(text)) == 1, chapter.name
        assert "\n## The classes now\n\n<!-- classes now -->\n" in text, chapter.name
