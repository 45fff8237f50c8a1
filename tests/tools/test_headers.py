"""Headers: each brings the alias of the namespace."""

import pathlib
import re

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
CHAPTERS = sorted((ROOT / "chapters").glob("[0-9]*"))


def headers_of(number: int) -> dict[str, str]:
    """The headers of the first `number` chapters: the newest version of each, by its name."""
    found = {}
    for chapter in CHAPTERS[:number]:
        for path in (chapter / "src").rglob("*.h"):
            found[str(path.relative_to(chapter / "src"))] = path.read_text(encoding="utf-8")
    return found


@pytest.mark.parametrize("number", range(1, len(CHAPTERS) + 1))
def test_each_header_brings_the_alias(number):
    texts = headers_of(number)
    includes = {name: re.findall(r'^#include "(.+)"', text, re.MULTILINE) for name, text in texts.items()}
    bring = {"base/namespace.h"}
    while more := {name for name, found in includes.items() if name not in bring and bring.intersection(found)}:
        bring |= more
    assert [name for name, text in texts.items() if "TURTLE_SERVER" in text and name not in bring] == []
