"""Which chapter introduced a class, and which have changed it since."""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Iterator

import cpp_functions

from website import highlight

CODE = re.compile(r'("(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])+\')|//[^\n]*|/\*.*?\*/', re.DOTALL)
DEFINITION = re.compile(
    r"\b(?:class|struct|union)\s+(?:alignas\s*\([^()]*\)\s*|TURTLE_\w+(?:\([^()]*\))?\s*|\[\[[^\]]*\]\]\s*)*"
    r"(?P<name>\w+)\s*(?:final\s*)?(?::(?!:)[^;{}]*)?\{"
)


@dataclasses.dataclass
class History:
    """Of one class: the chapter that introduced it, and those with another version of its code."""

    header: str  # as in "src/core/looper.h"
    introduced: int
    changed: list[int] = dataclasses.field(default_factory=list)
    files: dict[int, list[str]] = dataclasses.field(default_factory=dict)  # what each of them changed


def without_comments(text: str) -> str:
    """Only code counts: a comment that is worded anew changes no class."""
    return "\n".join(row.strip() for row in CODE.sub(lambda m: m[1] or "", text).splitlines() if row.strip())


def definitions(text: str) -> Iterator[tuple[str, str]]:
    """(name with the classes around it, code) of each class that a file defines."""
    masked = cpp_functions.mask(text)
    around: list[tuple[str, int]] = []
    for match in DEFINITION.finditer(masked):
        around = [each for each in around if each[1] > match.start()]
        depth, end = 1, match.end()
        while depth and end < len(masked):
            depth += {"{": 1, "}": -1}.get(masked[end], 0)
            end += 1
        name = "::".join([*(each[0].rsplit("::", 1)[-1] for each in around), match["name"]])
        around.append((name, end))
        yield name, text[match.start() : end]


def members(text: str) -> Iterator[tuple[str, str]]:
    """(class, code) of each function that a file defines outside of its class."""
    for function in cpp_functions.functions(text):
        if function.body and "::" in function.name:
            yield function.name.rsplit("::", 1)[0], text[function.start : function.end]


def histories(book) -> dict[str, History]:
    """By name, without the namespace, of all classes that a header of a chapter defines."""
    result: dict[str, History] = {}
    code: dict[tuple[str, str], str] = {}  # of a class in a file, as it stands now
    for chapter in book.chapters:
        for path in chapter.files():
            if not path.startswith("src/") or not path.endswith((".h", ".cpp")):
                continue
            text = highlight.text_of(chapter.folder / path)
            found: dict[str, list[str]] = {}
            for name, part in (*definitions(text), *(members(text) if path.endswith(".cpp") else ())):
                found.setdefault(name, []).append(part)
                if path.endswith(".h") and name not in result:
                    result[name] = History(path, chapter.number)
            for name in {*found, *(name for name, place in code if place == path)}:
                now = without_comments("\n".join(found.get(name, ())))
                if code.get((name, path)) == now:
                    continue
                code[name, path] = now
                history = result.get(name)
                if history:
                    if chapter.number not in (history.introduced, *history.changed):
                        history.changed.append(chapter.number)
                    history.files.setdefault(chapter.number, []).append(path)
    return result
