"""The picture of the rooms in docs/design.md is true, and what is wrong with one is told."""

import pathlib
import sys

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tools"))

import rooms  # noqa: E402
from learn import chapters  # noqa: E402

PAGE = "# Design\n\n## Modules\n\nWords.\n\n```mermaid\nflowchart LR\n{}\n```\n"


@pytest.fixture
def book(tmp_path, monkeypatch):
    """Chapter 01 with two rooms: web includes base."""
    monkeypatch.setattr(rooms, "CIRCLES", ())
    monkeypatch.setattr(rooms, "LAYERS", (("app",), ("web",), ("http",), ("base",)))

    def write(files, picture="  web --> base"):
        for name, text in {"web/page.h": '#include "base/text.h"\n', "base/text.h": "", **files}.items():
            for place in ("chapters/01-one", "final"):
                path = tmp_path / place / "src" / name
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_text(text)
        (tmp_path / "chapters/01-one/CMakeLists.txt").touch()
        (tmp_path / "docs").mkdir(exist_ok=True)
        (tmp_path / "docs/design.md").write_text(PAGE.format(picture))
        return tmp_path

    chapters.all_chapters.cache_clear()
    yield write
    chapters.all_chapters.cache_clear()


def test_the_picture_of_this_book_is_true():
    assert rooms.faults() == []


def test_the_picture_leaves_out_what_another_way_replaces(book):
    http = {"http/parser.h": '#include "base/text.h"\n', "web/server.h": '#include "http/parser.h"\n'}
    root = book(http)
    rooms.draw(root)
    assert (root / "docs/design.md").read_text() == PAGE.format("  web --> http\n  http --> base")
    assert rooms.faults(root) == []


def test_an_include_that_leads_up_is_told(book):
    told = rooms.faults(book({"base/up.cpp": '#include "web/page.h"\n', "web/page.h": ""}, "  base --> web"))
    assert told == [f"{where}: base/up.cpp includes web/page.h, and web is not below base in LAYERS"
                    for where in ("chapter 01", "final")]  # fmt: skip


def test_a_room_that_has_no_layer_is_told(book):
    told = rooms.faults(book({"web/more.h": '#include "loft/box.h"\n', "loft/box.h": ""}))
    assert "chapter 01: web/more.h includes loft/box.h, and loft is not below web in LAYERS" in told


def test_another_picture_is_told(book):
    told = rooms.faults(book({}, "  web --> http --> base"))
    assert told == ["docs/design.md: the picture is not of this code; tools/rooms.py draw mends it"]


def test_a_page_without_a_picture_is_told(book):
    root = book({})
    (root / "docs/design.md").write_text("# Design\n")
    assert rooms.faults(root) == ["docs/design.md: there is no picture under Modules"]


def test_a_circle_within_a_room_is_told_unless_it_is_known(book, monkeypatch):
    circle = {"web/a.cpp": '#include "web/b.h"\n', "web/a.h": "", "web/b.h": '#include "web/a.h"\n'}
    root = book(circle)
    assert rooms.faults(root)[0] == "chapter 01: these include each other in a circle: web/a, web/b"
    monkeypatch.setattr(rooms, "CIRCLES", (frozenset({"web/a", "web/b"}),))
    assert rooms.faults(root) == []
    monkeypatch.setattr(rooms, "CIRCLES", (frozenset({"web/a", "web/b"}), frozenset({"web/c", "web/d"})))
    assert rooms.faults(root) == ["rooms.py: CIRCLES knows one that is gone: web/c, web/d"]
