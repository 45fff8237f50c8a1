#!/usr/bin/env python3
"""Where the terms of docs/glossary.md are first used, in reading order: the preface, then the chapters.

    tools/glossary.py check     fails where a term's first use is neither on the page that defines it nor a link to
                                its definition, unless tools/glossary.txt lists the term; and where a listed
                                term no longer has to be: then the list can shrink
    tools/glossary.py shrink    rewrites the list; refuses to add a term
    tools/glossary.py show      the first use of each term that is used too early

A definition is the entry of the glossary, or the chapter that the entry names. Terms that are everyday words,
such as "load", are left out: a script can't tell the word from the term. So are exercises, further reading,
code, output and generated tables. Python's standard library only.
"""

from __future__ import annotations

import argparse
import dataclasses
import pathlib
import re
import sys

import english

ROOT = pathlib.Path(__file__).resolve().parent.parent
GLOSSARY = "docs/glossary.md"
LIST = "tools/glossary.txt"
HEAD = """\
# Terms that are used before they are defined; `tools/glossary.py shrink` rewrites this list. It never grows.
"""
EVERYDAY = frozenset(
    "body bounded connection counter drain exchange frame fresh hand-over handler hit load lock mask mounted origin pattern"
    " pool range request route setting stale status stuck target view watch".split()
) | {"Close", "live, ready", "Ping, Pong", "under way"}
ENTRY = re.compile(r"^### (.+)\n\n((?:.+\n)+)", re.MULTILINE)
PLACE = re.compile(r"\(\.\./chapters/([^/)]+)/README\.md\)")
LINK = re.compile(r"\[([^\]]*)\]\(([^)\s]*)\)")
OPTIONAL = re.compile(r"^## (?:Exercises|Further reading|The classes now|What changed)$.*?(?=^## |\Z)", re.MULTILINE | re.DOTALL)


@dataclasses.dataclass(frozen=True)
class Early:
    """A term whose first use explains nothing."""

    term: str
    page: str
    text: str  # around it


def terms(root: pathlib.Path) -> dict[str, str]:
    """By term, the directory of the chapter that defines it."""
    found = {}
    for term, text in ENTRY.findall((root / GLOSSARY).read_text(encoding="utf-8")):
        place = PLACE.search(text)
        if place and term not in EVERYDAY:
            found[term] = place[1]
    return found


def pages(root: pathlib.Path) -> list[pathlib.Path]:
    return [root / "docs/preface.md", *sorted((root / "chapters").glob("[0-9][0-9]-*/README.md"))]


def prose(text: str) -> str:
    """Only what is read from top to bottom."""
    return OPTIONAL.sub("", english.HIDDEN.sub("", english.GENERATED.sub("", text)))


def pattern(term: str) -> re.Pattern[str]:
    """An abbreviation is one as it is spelt; another term may begin a sentence, and be many."""
    words = "|".join(re.escape(word) for word in term.split(", "))
    flags = 0 if term.isupper() else re.IGNORECASE
    return re.compile(rf"(?<![\w/.-])(?:{words})(?:s|es|ed)?(?![\w(/-])", flags)


def first_use(term: str, text: str) -> tuple[str, str] | None:
    """The text around a page's first use, and where it leads; ("", "") for no link."""
    targets: list[tuple[int, int, str]] = []
    plain, end = "", 0
    for link in LINK.finditer(text):
        plain += text[end : link.start()]
        targets.append((len(plain), len(plain) + len(link[1]), link[2]))
        plain += link[1]
        end = link.end()
    plain += text[end:]
    shown = re.sub(r"`[^`\n]*`", lambda code: " " * len(code[0]), plain)
    match = pattern(term).search(shown)
    if not match:
        return None
    target = next((link for begin, stop, link in targets if begin <= match.start() < stop), "")
    return " ".join(plain[max(0, match.start() - 40) : match.end() + 40].split()), target


def find(root: pathlib.Path = ROOT) -> list[Early]:
    found = []
    texts = [(path, prose(path.read_text(encoding="utf-8"))) for path in pages(root)]
    for term, chapter in terms(root).items():
        for path, text in texts:
            use = first_use(term, text)
            if use:
                # A later page may come after a definition that spells the term as code.
                is_late = path.parent.parent.name == "chapters" and path.parent.name >= chapter
                explains = is_late or "glossary.md#" in use[1] or f"{chapter}/" in use[1]
                if not explains:
                    found.append(Early(term, path.relative_to(root).as_posix(), use[0]))
                break
    return found


def listed(root: pathlib.Path) -> set[str]:
    path = root / LIST
    lines = path.read_text(encoding="utf-8").splitlines() if path.is_file() else []
    return {line for line in lines if line and not line.startswith("#")}


def faults(root: pathlib.Path = ROOT) -> list[str]:
    early, known = find(root), listed(root)
    lines = [
        f"{each.page}: '{each.term}' is used before it is defined; link it to {GLOSSARY}, or explain it: {each.text}"
        for each in early
        if each.term not in known
    ]
    gone = known - {each.term for each in early}
    return lines + [f"{LIST}: '{term}' is not used too early: tools/glossary.py shrink" for term in sorted(gone)]


def shrink(root: pathlib.Path = ROOT) -> list[str]:
    """Rewrites the list. @return why it does not: what has been added"""
    early = {each.term for each in find(root)}
    path = root / LIST
    if path.is_file() and early - listed(root):
        return [f"'{term}' is not in the list" for term in sorted(early - listed(root))]
    path.write_text(HEAD + "".join(f"{term}\n" for term in sorted(early)), encoding="utf-8")
    return []


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("command", choices=["check", "shrink", "show"])
    command = parser.parse_args().command
    if command == "show":
        for each in find():
            print(f"{each.page}: {each.term}: {each.text}")
        return 0
    lines = faults() if command == "check" else shrink()
    for line in lines:
        print(line, file=sys.stderr)
    if command == "check":
        print(f"glossary.py: {len(listed(ROOT))} terms listed, {len(lines)} differ")
    return 1 if lines else 0


if __name__ == "__main__":
    sys.exit(main())
