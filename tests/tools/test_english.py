"""tools/english.py finds what it should, leaves alone what is right, and its list only shrinks."""

import pathlib
import sys

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tools"))

import english  # noqa: E402


@pytest.fixture
def book(tmp_path):
    def write(files):
        for name, text in files.items():
            path = tmp_path / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)
        (tmp_path / "tools").mkdir(exist_ok=True)
        return tmp_path

    return write


def rules(text):
    return [rule for sentence in english.sentences(text) for rule in english.findings_of(sentence)]


def test_the_list_is_true_of_this_book():
    assert english.faults() == []


@pytest.mark.parametrize(
    "text, rule",
    [
        ("Who asks waits.", "who"),
        ("The thread that calls, and who wakes it.", "who"),
        ("Serve whoever is ready.", "whoever"),
        ("What is refused is dropped.", "what"),
        ("The next request lies behind it.", "behind"),
        ("It is built anew.", "anew"),
        ("The log tells of it.", "tell of"),
        ("It sees to it that both end.", "sees to it"),
        ("Closed in the moment in which the client asks.", "moment"),
        ("A thread of its own.", "of its own"),
        ("Also if it is empty.", "also if"),
        ("The byte lies in the socket.", "stands"),
        ("The client closes his end.", "he"),
        ("Four threads by standard.", "standard"),
        ("The figures are per loop.", "figures"),
        ("A folder of files.", "folder"),
        ("The handler gives an answer.", "answer"),
        ("It has a time-out.", "time-out"),
        (" ".join(["word"] * 36) + ".", "long"),
    ],
)
def test_each_rule_has_a_finding(text, rule):
    assert rules(text) == [rule]
    assert rule in english.ADVICE


@pytest.mark.parametrize(
    "text",
    [
        "Who closes the descriptor?",
        "A client who waits.",
        "It runs behind a reverse proxy.",
        "The reader has fallen behind.",
        "Returns what the client has sent.",
        "The C++ standard allows both.",
        "The server answers at once.",
        " ".join(["word"] * 35) + ". " + " ".join(["Word"] * 35) + ".",
    ],
)
def test_what_is_right_is_left_alone(text):
    assert rules(text) == []


def code(text, with_strings=True):
    return [(line, " ".join(block.split())) for line, block in english.prose_of_code(text, with_strings)]


def test_comments_are_read_item_by_item():
    assert code(
        "// A head, that\n// goes on.\n//\n//  * one\n//    item\n//  * another\n//\n//     code();\n#pragma once\n"
        "int a;  // beside\n        // it\nint b;  /* old */\n"
        "/// Does.\n/// @param x a number\n/// @return nothing\n"
    ) == [
        (1, "A head, that goes on."),
        (4, "one item"),
        (6, "another"),
        (10, "beside it"),
        (12, "old"),
        (13, "Does."),
        (14, "x a number"),
        (15, "nothing"),
    ]


def test_literals_side_by_side_are_one_text_and_code_is_none():
    text = 'auto x = f("one // two "\n         "three\\nfour", \'"\', R"(raw "text")", 1\'000);  // end\n'
    assert code(text) == [(1, "one // two three four"), (2, 'raw "text"'), (2, "end")]
    assert code(text, with_strings=False) == [(2, "end")]


def test_pages_are_read_without_code_and_generated_parts():
    page = (
        "# A title\n\nA `folder` and\n[a link](folder.md).\n\n```console\n$ folder\n```\n<!-- run: folder\nmore -->\n"
        "<!-- classes now -->\n| folder |\n<!-- /classes now -->\n| one | two |\n- an item\n- **another**\n"
    )
    assert [block for _, block in english.prose_of_page(page)] == [
        "# A title", "A ¤ and a link.", "one", "two", "an item", "another",
    ]  # fmt: skip


def test_code_that_looks_like_a_tag_hides_nothing_behind_it():
    page = "Include `<turtle/core/socket.h>` or `\"core/socket.h\"`.\nA <br/>folder, then 404. So it is."
    assert [block for _, block in english.prose_of_page(page)] == ["Include ¤ or ¤. A folder, then 404. So it is."]


def test_the_title_of_an_exercise_is_no_riddle():
    assert list(english.findings_of_heading("### 1. Lately (quick)")) == ["title"]
    assert list(english.findings_of_heading("### 2. From hand to hand (hard)")) == ["title"]
    assert list(english.findings_of_heading("### 3. Idle timeout per route (real)")) == []
    assert list(english.findings_of_heading("## What changed")) == []


def test_the_versions_of_a_file_count_once(book):
    root = book(
        {
            "chapters/01-one/src/core/a.h": "// It is built anew.\n",
            "chapters/02-two/src/core/a.h": "// It is built anew.\n\n// A folder.\n",
            "final/src/core/a.h": "// It is built anew.\n\n// A folder.\n",
            "final/bench/b.cpp": 'f("a folder or two");\n',
            "chapters/02-two/tests/a_test.cpp": 'EXPECT_EQ(f(), "a folder or two");  // anew\n',
            "chapters/02-two/README.zh.md": "anew\n",
            "docs/zh/terms.md": "anew\n",
            "docs/a.md": "One, anew.\n",
        }
    )
    assert [(each.file, each.place, each.rule) for each in english.find(root)] == [
        ("src/core/a.h", "chapters/01-one/src/core/a.h:1", "anew"),
        ("src/core/a.h", "chapters/02-two/src/core/a.h:3", "folder"),
        ("tests/a_test.cpp", "chapters/02-two/tests/a_test.cpp:1", "anew"),
        ("bench/b.cpp", "final/bench/b.cpp:1", "folder"),
        ("docs/a.md", "docs/a.md:1", "anew"),
    ]


def test_the_list_shrinks_and_never_grows(book):
    root = book({"docs/a.md": "Built anew. Made anew.\n"})
    assert english.shrink(root) == []  # there was none
    assert english.faults(root) == []
    book({"docs/a.md": "Built anew.\n"})
    assert english.faults(root) == [
        "docs/a.md: anew: 1, and 2 listed: the list can shrink, by tools/english.py shrink"
    ]
    assert english.shrink(root) == []
    assert english.read_list(root / english.LIST) == {"docs/a.md": {"anew": 1}}
    book({"docs/a.md": "Built anew. Made anew.\n", "docs/b.md": "In a folder.\n"})
    assert english.shrink(root) == ["docs/a.md: anew: 2, and 1 listed", "docs/b.md: folder: 1, and 0 listed"]
    assert english.faults(root) == [
        "docs/a.md: anew: 2, and 1 listed; write: again",
        "    docs/a.md:1: Built anew.",
        "    docs/a.md:1: Made anew.",
        "docs/b.md: folder: 1, and 0 listed; write: directory",
        "    docs/b.md:1: In a folder.",
    ]
    assert english.read_list(root / english.LIST) == {"docs/a.md": {"anew": 1}}
