"""The map of the classes: what counts as one, and which chapter has changed it."""

import pathlib
import sys

import pytest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "tools"))

import classmap  # noqa: E402
from learn import chapters  # noqa: E402

BOX = """\
#pragma once
class Key;  // only declared

/// Something to keep a thing in. It has a lid: see
/// Open().
///
/// @tparam T nothing
class Box final : public Thing {
 public:
  void Open();
};

struct Hidden {
  int no_comment = 0;
};
"""


def write(root, path, text):
    (root / path).parent.mkdir(parents=True, exist_ok=True)
    (root / path).write_text(text)


@pytest.fixture
def root(tmp_path):
    """Three chapters: the second changes another file, the third the source beside the header."""
    for number, name in ((1, "one"), (2, "two"), (3, "three")):
        write(tmp_path, f"chapters/0{number}-{name}/CMakeLists.txt", "")
    write(tmp_path, "chapters/01-one/src/base/box.h", BOX)
    write(tmp_path, "chapters/01-one/src/base/box.cpp", "void Box::Open() {}")
    write(tmp_path, "chapters/02-two/src/base/lid.h", "/// Closes it.\nstruct Lid {\n};\n")
    write(tmp_path, "chapters/03-three/src/base/box.cpp", "void Box::Open() { open_ = true; }")
    chapters.all_chapters.cache_clear()
    yield tmp_path
    chapters.all_chapters.cache_clear()


def test_a_class_has_a_comment_and_a_body():
    found = classmap.classes_of(BOX)
    assert list(found) == ["Box"]
    summary, text = found["Box"]
    assert summary == "Something to keep a thing in."
    assert text.startswith("class Box final") and text.endswith("};")


def test_where_each_was_born_and_changed(root):
    told = [(each.name, each.module, each.born, each.changed) for each in classmap.entries(root)]
    assert told == [("Box", "base", "01", ["03"]), ("Lid", "base", "02", [])]


def test_another_class_of_the_same_header_has_not_changed(root):
    write(root, "chapters/02-two/src/base/box.h", BOX + "/// New.\nclass Case {\n};\n")
    told = {each.name: (each.born, each.changed) for each in classmap.entries(root)}
    assert told["Box"] == ("01", ["03"])
    assert told["Case"] == ("02", ["03"])  # the source file beside them is of both


def test_a_class_that_is_withdrawn_is_on_no_map(root):
    write(root, "chapters/03-three/withdrawn.txt", "src/base/lid.h\n")
    assert [each.name for each in classmap.entries(root)] == ["Box"]


def test_only_what_stands_between_the_markers_is_written(root):
    page = "Before.\n<!-- classes -->\nold\n<!-- /classes -->\n<!-- layers 02: src/base/box.h -->\n<!-- /layers -->\nAfter.\n"
    fresh = classmap.generated(page, root)
    assert fresh.startswith("Before.\n<!-- classes -->\n") and fresh.endswith("<!-- /layers -->\nAfter.\n")
    assert "old" not in fresh
    assert "| [`Box`](../final/src/base/box.h) | Something to keep a thing in. |" in fresh
    assert "src/base/box.h  chapters/01-one/src/base/box.h" in fresh
    assert classmap.generated(fresh, root) == fresh
