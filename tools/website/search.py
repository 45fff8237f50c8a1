"""Which place of the book explains a name first: the search leads there before anywhere else.

Names are the classes and functions of final, the calls and constants of the system that a chapter
speaks of, and the terms that it defines. A class is looked for in the chapter that introduced it, a
call of the system in the first chapter that makes it, everything else in all. What counts is the place
where it is said with the most weight: set in bold, in a heading, as the title of an excerpt, in code, in
a sentence. Of two that are equal the earlier one is taken.
"""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Iterable, Iterator

BOLD, HEADING, TITLE, CODE, PROSE, TABLE, CONSOLE = 10.0, 8.0, 6.0, 4.0, 3.0, 0.5, 0.1
# Sections that show a thing, or list it, and don't explain it.
ASIDE = {"Run it": 0.5, "Test it": 0.1, "Measure it": 0.1, "Break it": 0.1, "Exercises": 0.1, "What changed": 0.1,
         "The classes now": 0.1, "Further reading": 0.1}  # fmt: skip
SHOWN = {"console", "text", "output", "mermaid", "http", "diff", ""}

WORD = re.compile(r"[A-Za-z_~]\w*(?:::[A-Za-z_~]\w*)*")
CONSTANT = re.compile(r"[A-Z][A-Z0-9]*_[A-Z0-9_]+|E[A-Z]{4,}")
MANUAL = re.compile(r"\b([a-z][a-z0-9_]+)\([1-8]\)")
CALL = re.compile(r"(?<![\w.>)])([a-z][a-z0-9_]+)\(")  # no member
BLOCK = re.compile(r"^(?P<fence>```+|~~~+)(?P<info>[^\n]*)\n(?P<code>.*?)^(?P=fence)[ \t]*$", re.MULTILINE | re.DOTALL)
HEADINGS = re.compile(r"^(#{1,6}) +(.+?)\s*$", re.MULTILINE)
INLINE = re.compile(r"(?<!`)`([^`\n]+)`(?!`)")
DEFINED = re.compile(r"\*\*([^*\n]+)\*\*")
NAMED = re.compile(r"(?<!`)`([a-z][a-z0-9_]{2,})`(?!`)")


@dataclasses.dataclass
class Section:
    """A part of a chapter's page, between two headings."""

    chapter: int
    location: str  # of the page, with the anchor
    weights: dict[str, float] = dataclasses.field(default_factory=dict)  # of each word
    defined: list[str] = dataclasses.field(default_factory=list)

    def note(self, words: Iterable[str], weight: float) -> None:
        for word in words:
            if self.weights.get(word, 0.0) < weight:
                self.weights[word] = weight


def read_page(markdown: str, chapter: int, url: str, anchors: list[str]) -> list[Section]:
    """`anchors` are the ids of the page's headings, in order."""
    blocks: list[tuple[str, str]] = []

    def aside(match: re.Match[str]) -> str:
        blocks.append((match["info"], match["code"]))
        return f"\n\0{len(blocks) - 1}\0\n"

    text = BLOCK.sub(aside, re.sub(r"<!--.*?-->", "", markdown, flags=re.DOTALL))
    places = list(HEADINGS.finditer(text))
    if len(places) != len(anchors):
        raise ValueError(f"{url}: {len(places)} headings, {len(anchors)} anchors")
    result, factor = [], 1.0
    for index, (match, anchor) in enumerate(zip(places, anchors)):
        if len(match[1]) <= 2:
            factor = ASIDE.get(match[2], 1.0)
        end = places[index + 1].start() if index + 1 < len(places) else len(text)
        section = Section(chapter, url if len(match[1]) == 1 else f"{url}#{anchor}")
        section.note(WORD.findall(match[2]), HEADING * factor)
        for line in text[match.end() : end].split("\n"):
            found = re.fullmatch("\0(\\d+)\0", line)
            if found:
                note_block(section, *blocks[int(found[1])], factor)
            elif line.startswith("|"):
                section.note(WORD.findall(line), TABLE * factor)
            else:
                section.note(WORD.findall(line), PROSE * factor)
                # A whole sentence may be set in bold, too, and defines nothing.
                bold = [phrase for phrase in DEFINED.findall(line) if phrase.count(" ") < 3]
                section.defined += bold
                section.note((word for phrase in bold for word in WORD.findall(phrase)), BOLD * factor)
                section.note(in_code(" ".join(INLINE.findall(line))), PROSE * factor)
        result.append(section)
    return result


def note_block(section: Section, info: str, code: str, factor: float) -> None:
    language = (re.match(r"[{ .]*([\w+-]*)", info) or [""])[1]
    weight = (CONSOLE if language in SHOWN else CODE) * factor
    section.note((*WORD.findall(code), *in_code(code)), weight)
    title = re.search(r'title="([^"]*)"', info)
    parts = [part.strip() for part in title[1].split("›")][1:] if title else []
    section.note(["::".join(parts), *parts], TITLE * factor)


def in_code(code: str) -> Iterator[str]:
    """Its words, as marked as to be told from those of a sentence: `Add` is a function, "Add" is not."""
    return (f"`{word}" for word in WORD.findall(code))


def home(sections: Iterable[Section], words: Iterable[str]) -> str | None:
    """Where the first of `words` is said with the most weight."""
    best, place = 0.0, None
    wanted = tuple(words)
    for section in sections:
        weight = max(section.weights.get(word, 0.0) for word in wanted)
        if weight > best:
            best, place = weight, section.location
    return place if best > CONSOLE else None


def callers(sections: list[Section], code: Iterable[tuple[int, str]]) -> dict[str, list[Section]]:
    """By call of the system: the sections of the first chapter whose code makes it and whose page says so."""
    result: dict[str, list[Section]] = {}
    for chapter, text in code:
        own = [section for section in sections if section.chapter == chapter]
        for name in CALL.findall(text):
            if any(section.weights.get(name, 0.0) >= PROSE for section in own):
                result.setdefault(name, own)
    return result


def names(
    sections: list[Section], pages: Iterable[str], code: list[tuple[int, str]], reference, histories
) -> dict[str, str]:
    """By name, in lower case: the location of what explains it first. `code` is each file with its chapter, in order."""
    result: dict[str, str] = {}

    def add(name: str, place: str | None) -> None:
        if place:
            result.setdefault(name.lower(), place)

    for name, compound in reference.compounds.items():
        history = histories.get(name)
        own = [each for each in sections if history and each.chapter == history.introduced]
        add(name, home(own, [name, name.rsplit("::", 1)[-1]]))
        later = [each for each in sections if history and each.chapter >= history.introduced]
        for member in compound.members:
            full = f"{name}::{member.name}"
            word = f"`{member.name}"
            add(full, home(later, [full]) or home(own, [word]) or home(later, [word]))
    for member in reference.free:
        add(member.name, home(sections, [member.name]))
    system = {name for text in pages for name in (*MANUAL.findall(text), *NAMED.findall(text))}
    system |= {name for _, text in code for name in re.findall(r"(?<![\w>)])::([a-z][a-z0-9_]+)\(", text)}
    called = callers(sections, code)
    words = {word for section in sections for word in section.weights}
    for word in sorted(words):
        if word in system or CONSTANT.fullmatch(word) or ("::" in word and "`" not in word):
            add(word, home(called.get(word, sections), [word]))
    for section in sections:
        for phrase in section.defined:
            add(phrase.replace("`", ""), section.location)
    return dict(sorted(result.items()))


def flat(toc: Iterable) -> Iterator[str]:
    """The ids of a table of contents, in order."""
    for item in toc:
        yield item.id
        yield from flat(item.children)
