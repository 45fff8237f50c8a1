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


def test_an_arrow_may_lead_by_way_of_another_room(book):
    http = {"http/parser.h": '#include "base/text.h"\n', "web/server.h": '#include "http/parser.h"\n'}
    assert rooms.faults(book(http, "  web --> http --> base")) == []


def test_an_include_against_the_arrows_is_told(book):
    told = rooms.faults(book({"base/up.cpp": '#include "web/page.h"\n'}))
    assert told == [
        f"{where}: base/up.cpp includes web/page.h, and no arrow leads from base to web" for where in ("chapter 01", "final")
    ]


@pytest.mark.parametrize(
    "picture, complaint",
    [
        ("  web --> base\n  base --> web", "the arrows lead from web back to web"),
        ("  web --> base\n  web --> app", "web --> app: no file of web includes one of app"),
        ("", "there is no picture under Modules"),
    ],
)
def test_a_wrong_picture_is_told(book, picture, complaint):
    assert any(complaint in line for line in rooms.faults(book({}, picture)))


def test_a_circle_within_a_room_is_told_unless_it_is_known(book, monkeypatch):
    circle = {"web/a.cpp": '#include "web/b.h"\n', "web/a.h": "", "web/b.h": '#include "web/a.h"\n'}
    root = book(circle)
    assert rooms.faults(root)[0] == "chapter 01: these include each other in a circle: web/a, web/b"
    monkeypatch.setattr(rooms, "CIRCLES", (frozenset({"web/a", "web/b"}),))
    assert rooms.faults(root) == []
    monkeypatch.setattr(rooms, "CIRCLES", (frozenset({"web/a", "web/b"}), frozenset({"web/c", "web/d"})))
    assert rooms.faults(root) == ["rooms.py: CIRCLES knows one that is gone: web/c, web/d"]
