"""Making room between chapters, in a made-up book."""

import pathlib
import subprocess
import sys

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tools"))

import renumber  # noqa: E402
from learn import chapters  # noqa: E402

FILES = {
    "CHANGELOG.md": "Chapter 02 was written.\n",
    "chapters/01-one/CMakeLists.txt": "project(turtle-01-one)\n",
    "chapters/01-one/README.md": "# 01 One\n\nLater: [chapter 02](../02-two/README.md).\n",
    "chapters/01-one/tests/next/01_more_test.cpp": "// Chapter 02 solves it.\n",
    "chapters/02-two/CMakeLists.txt": "project(turtle-02-two)\n",
    "chapters/02-two/README.md": "# 02 Two\n\nText.\n",
    "chapters/02-two/src/two.h": "// As in chapters\n// 01 and 02.\n",
    "chapters/02-two/exercises/1-a/solution.diff": " // See chapter 02.\n",
    "chapters/03-three/CMakeLists.txt": "project(turtle-03-three)\n",
    "chapters/03-three/README.md": "# 03 Three\n",
    "chapters/03-three/tests/next/03_less_test.cpp": "",
    "docs/page.md": "",
}


@pytest.fixture
def book(tmp_path):
    for name, text in FILES.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text)
    commit(tmp_path)
    chapters.all_chapters.cache_clear()
    yield tmp_path
    chapters.all_chapters.cache_clear()


def commit(root):
    if not (root / ".git").exists():
        subprocess.run(["git", "init", "-q"], cwd=root, check=True)
    for words in (["add", "-A"], ["-c", "user.name=n", "-c", "user.email=n@localhost", "commit", "-qm", "x"]):
        subprocess.run(["git", *words], cwd=root, check=True)


def test_folders_and_tests_of_the_next_chapter_are_renamed(book):
    renumber.run("02", 2, book)
    folders = sorted(path.name for path in (book / "chapters").iterdir())
    assert folders == ["01-one", "04-two", "05-three"]
    assert (book / "chapters/01-one/tests/next/01_more_test.cpp").is_file()
    assert (book / "chapters/05-three/tests/next/05_less_test.cpp").is_file()
    assert (book / "chapters/04-two/CMakeLists.txt").read_text() == "project(turtle-04-two)\n"
    assert (book / "chapters/04-two/README.md").read_text().startswith("# 04 Two\n")
    assert (book / "chapters/04-two/src/two.h").read_text() == "// As in chapters\n// 01 and 04.\n"
    assert (book / "chapters/04-two/exercises/1-a/solution.diff").read_text() == " // See chapter 04.\n"
    assert (book / "chapters/01-one/README.md").read_text().endswith("[chapter 04](../04-two/README.md).\n")


def test_the_way_back_leads_to_the_same_book(book):
    renumber.run("02", 2, book)
    commit(book)
    renumber.run("04", -2, book)
    assert {name: (book / name).read_text() for name in FILES} == FILES


@pytest.mark.parametrize(
    ("was", "now"),
    [
        ("chapters 01, 02 and 03", "chapters 01, 03 and 04"),
        ("Chapters 01–03; chapter\n02's", "Chapters 01–04; chapter\n03's"),
        ("from chapter 02, 30 times", "from chapter 03, 30 times"),
        ("exercises 01.2, 02.1 and 03.3", "exercises 01.2, 03.1 and 04.3"),
        ("chapter 02.5", "chapter 02.5"),
        ("`./learn start 02.1 DIR`, `./learn test 03`", "`./learn start 03.1 DIR`, `./learn test 04`"),
        ("cmake -B build/02 && ctest -L ch02", "cmake -B build/03 && ctest -L ch03"),
        ("./tests/03_less_test and 03_other_test", "./tests/04_less_test and 03_other_test"),
        ("| [02](../chapters/02-two/README.md) | 02 |", "| [03](../chapters/03-two/README.md) | 02 |"),
        ("| 02 | [Two](chapters/02-two/README.md) | 02 two", "| 03 | [Two](chapters/03-two/README.md) | 03 two"),
        ('{"chapter": "02", "port": "02"}', '{"chapter": "03", "port": "02"}'),
        ("<!-- run: chapter=02 -->", "<!-- run: chapter=03 -->"),
        ("第 01 章、第 02 和 03 章", "第 01 章、第 03 和 04 章"),
        ("at 10:02, 02 %, 0.02", "at 10:02, 02 %, 0.02"),
    ],
)
def test_numbers_of_chapters_follow_in_texts_and_others_stay(book, was, now):
    (book / "docs/page.md").write_text(was + "\n")
    commit(book)
    renumber.run("02", 1, book)
    assert (book / "docs/page.md").read_text() == now + "\n"


def test_history_stays(book):
    renumber.run("02", 1, book)
    assert (book / "CHANGELOG.md").read_text() == FILES["CHANGELOG.md"]


def test_a_bare_number_is_shown_and_left_alone(book, capsys):
    text = "The router of 02.\n\n<!-- chapters -->\n02\n<!-- /chapters -->\n\n```\n02\n```\nPort 20080.\n"
    (book / "docs/page.md").write_text(text)
    commit(book)
    renumber.run("02", 1, book)
    assert (book / "docs/page.md").read_text() == text
    assert [line for line in capsys.readouterr().out.splitlines() if "page.md" in line] == [
        "look: docs/page.md:1: The router of 02."
    ]


@pytest.mark.parametrize(("first", "by"), [("07", 1), ("02", 0), ("02", -1), ("02", 98)])
def test_what_can_not_be_is_refused_and_nothing_changes(book, first, by):
    with pytest.raises(renumber.RenumberError):
        renumber.run(first, by, book)
    assert all((book / name).is_file() for name in FILES)


def test_the_book_must_be_committed(book):
    (book / "docs/page.md").write_text("new\n")
    with pytest.raises(renumber.RenumberError, match="commit first"):
        renumber.run("02", 1, book)
