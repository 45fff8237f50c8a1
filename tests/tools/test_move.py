"""Moving files and renaming classes in the whole book, on a made-up one."""

import argparse
import pathlib
import subprocess
import sys

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tools"))

import move  # noqa: E402
from learn import chapters  # noqa: E402

BOX = '#include "web/box.h"\n\n#include "web/lid.h"\n\nint Box() { return 1; }\n'
FILES = {
    ".clang-format": "BasedOnStyle: Google\n",
    "CHANGELOG.md": "`src/web/box.h` was born.\n",
    "chapters/01-one/CMakeLists.txt": "# src/web/box.cpp\n",
    "chapters/01-one/README.md": "See [`web/box.h`](src/web/box.h) and `web/box`; not web/box.html, nor web/box.h.in.\n",
    "chapters/01-one/src/web/box.h": "int Box();\n",
    "chapters/01-one/src/web/box.cpp": BOX,
    "chapters/01-one/src/web/lid.h": "int Lid();\n",
    "chapters/01-one/work.txt": "write src/web/box.cpp Box\n",
    "chapters/01-one/tests/all_test.cpp": '#include "web/box.h"\n#include "web/lid.h"\n',
    "chapters/02-two/CMakeLists.txt": "",
    "chapters/02-two/src/web/box.cpp": BOX.replace("1", "2"),
    "final/src/web/box.cpp": BOX.replace("1", "2"),
    "docs/page.md": "chapters/01-one/src/web/box.h, [Box](../final/src/web/box.cpp), Boxes\n",
}


@pytest.fixture
def book(tmp_path):
    for name, text in FILES.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text)
    for words in (["init", "-q"], ["add", "-A"], ["-c", "user.name=n", "-c", "user.email=n@localhost", "commit", "-qm", "x"]):
        subprocess.run(["git", *words], cwd=tmp_path, check=True)
    chapters.all_chapters.cache_clear()
    yield tmp_path
    chapters.all_chapters.cache_clear()


def run(book, *words):
    move.run(argparse.Namespace(command=words[0], words=list(words[1:])), book)


def test_a_file_moves_in_each_chapter_and_all_that_names_it_follows(book, capsys):
    run(book, "files", "src/web/box.*", "src/a_room/box.*")
    chapter = book / "chapters" / "01-one"
    assert not list(book.rglob("web/box.*"))
    for place in (chapter, book / "chapters" / "02-two", book / "final"):
        assert (place / "src/a_room/box.cpp").read_text().startswith('#include "a_room/box.h"\n')
    assert (chapter / "work.txt").read_text() == "write src/a_room/box.cpp Box\n"
    assert (chapter / "CMakeLists.txt").read_text() == "# src/a_room/box.cpp\n"
    page = (chapter / "README.md").read_text()
    assert page == "See [`a_room/box.h`](src/a_room/box.h) and `web/box`; not web/box.html, nor web/box.h.in.\n"
    assert "final/src/a_room/box.cpp" in (book / "docs" / "page.md").read_text()
    assert (book / "CHANGELOG.md").read_text() == FILES["CHANGELOG.md"], "it says what was"
    said = capsys.readouterr().out
    assert "src/web/box.cpp -> src/a_room/box.cpp" in said
    assert "look: chapters/01-one/README.md:1: " in said, "`web/box` is not decided"


def test_includes_stay_sorted(book):
    run(book, "files", "src/web/box.h", "src/z/box.h")
    assert (book / "chapters/01-one/tests/all_test.cpp").read_text() == '#include "web/lid.h"\n#include "z/box.h"\n'


def test_a_name_changes_where_it_is_a_word(book):
    run(book, "names", "Box", "Crate")
    assert "int Crate() { return 2; }" in (book / "final/src/web/box.cpp").read_text()
    assert (book / "chapters/01-one/work.txt").read_text() == "write src/web/box.cpp Crate\n"
    assert "[Crate](../final/src/web/box.cpp), Boxes" in (book / "docs/page.md").read_text()


@pytest.mark.parametrize(
    "words, complaint",
    [
        (["files", "src/web/bag.h", "src/a/bag.h"], "src/web/bag.h: no chapter has such a file"),
        (["files", "src/web/box.h", "src/web/lid.h"], "src/web/lid.h: there can't be two of one name"),
        (["files", "src/web/*.h", "src/a/same.h"], "one \\* or none"),
        (["files", "src/web/box.h"], "in pairs"),
    ],
)
def test_what_can_not_be_moved_is_told(book, words, complaint):
    with pytest.raises(move.MoveError, match=complaint):
        run(book, *words)


def test_uncommitted_changes_are_left_alone(book):
    (book / "docs/page.md").write_text("mine\n")
    with pytest.raises(move.MoveError, match="commit first"):
        run(book, "files", "src/web/box.h", "src/a/box.h")
    assert (book / "docs/page.md").read_text() == "mine\n"
