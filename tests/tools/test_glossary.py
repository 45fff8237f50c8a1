"""tools/glossary.py: a term's first use in reading order explains it, or leads to what does."""

import pathlib
import sys

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tools"))

import glossary  # noqa: E402

ENTRIES = """# Glossary

### edge-triggered

Reported once.
[Chapter 02](../chapters/02-two/README.md); epoll(7).

### FIN

The last packet.
[Chapter 01](../chapters/01-one/README.md).

### load

An everyday word.
[Chapter 02](../chapters/02-two/README.md).

### poller

See [edge-triggered](#edge-triggered).
"""


@pytest.fixture
def book(tmp_path):
    for folder in ("docs", "tools", "chapters/01-one", "chapters/02-two"):
        (tmp_path / folder).mkdir(parents=True)
    (tmp_path / "docs/glossary.md").write_text(ENTRIES)
    (tmp_path / "docs/preface.md").write_text("Hello. A load of pages.\n")
    (tmp_path / "chapters/01-one/README.md").write_text("# 01 One\n\nIt sends a FIN.\n")
    (tmp_path / "chapters/02-two/README.md").write_text("# 02 Two\n\n**Edge-triggered** means once.\n")
    (tmp_path / glossary.LIST).write_text("")
    return tmp_path


def add(book, page, text):
    path = book / page
    path.write_text(path.read_text() + text)


def test_each_term_of_the_book_is_explained_where_it_is_first_used():
    assert glossary.faults() == []


def test_a_definition_comes_first(book):
    assert glossary.terms(book) == {"edge-triggered": "02-two", "FIN": "01-one"}
    assert glossary.faults(book) == []


@pytest.mark.parametrize("text", ["An edge-triggered one.", "Edge-triggered\nones.", "**edge-triggered**"])
def test_a_use_before_it_is_found(book, text):
    add(book, "chapters/01-one/README.md", f"\n{text}\n")
    (fault,) = glossary.faults(book)
    assert fault.startswith("chapters/01-one/README.md: 'edge-triggered' is used before it is defined")


@pytest.mark.parametrize("text", [
    "An [edge-triggered](../../docs/glossary.md#edge-triggered) one.",
    "What [edge-triggered](../02-two/README.md) means comes later.",
    "`edge-triggered` is code",
    "```text\nedge-triggered\n```",
    "a fin, and not a FINAL one",
    "## Exercises\n\nBe edge-triggered.",
])  # fmt: skip
def test_links_code_and_other_words_are_no_such_use(book, text):
    add(book, "chapters/01-one/README.md", f"\n{text}\n")
    assert glossary.faults(book) == []


def test_only_the_first_use_counts(book):
    add(book, "docs/preface.md", "\nA [FIN](glossary.md#fin), and a FIN.\n")
    assert glossary.faults(book) == []


def test_the_list_shrinks_and_does_not_grow(book):
    add(book, "docs/preface.md", "\nA FIN.\n")
    assert len(glossary.faults(book)) == 1
    assert glossary.shrink(book) == ["'FIN' is not in the list"]
    (book / glossary.LIST).write_text("FIN\nedge-triggered\n")
    assert glossary.faults(book) == ["tools/glossary.txt: 'edge-triggered' is not used too early: tools/glossary.py shrink"]
    assert glossary.shrink(book) == []
    assert glossary.listed(book) == {"FIN"}
    assert glossary.faults(book) == []
