#!/usr/bin/env python3
"""The translations of pages, and whether they keep up with what they were made from.

    tools/translations.py check          says what is wrong (that is an error), and which sections have
                                         fallen behind their source (that is not)
    tools/translations.py sync           copies what is never translated from the sources: blocks of code,
                                         generated tables, sections that are new there; and has both pages
                                         lead to each other. `site.py texts` does the same
    tools/translations.py start PAGE     makes the translation of a page, with every section in English yet
    tools/translations.py done FILE [SECTION…]
                                         notes that a translation's sections, or all, are those of the source

The translation of chapters/01-socket/README.md is README.zh.md beside it. Before each of its headings
stands the source's heading, with a digest of that section's sentences:

    <!-- from: 5d41402abc4b The picture -->
    ## 一图看懂

The digest leaves out what `sync` copies, so a new output on a page makes no translation old. A section
whose digest is `untranslated` is the source's own text.
"""

from __future__ import annotations

import argparse
import collections
import dataclasses
import difflib
import hashlib
import json
import os
import pathlib
import posixpath
import re
import sys

from website import steps

ROOT = pathlib.Path(__file__).resolve().parent.parent
LANGUAGE = "zh"
SUFFIX = f".{LANGUAGE}.md"
TERMS = f"docs/{LANGUAGE}/terms.md"
PHRASES = f"docs/{LANGUAGE}/phrases.json"
UNTRANSLATED = "untranslated"
IN_ENGLISH = "（英文）"

HEADING = re.compile(r"(#{1,6}) +(.+?)\s*$")
MARK = re.compile(r"<!-- from: (\S+) (.+?) -->\s*$")
FENCE = re.compile(r"(```+|~~~+)(.*)$")
MADE = re.compile(r"<!-- (chapters|parts|classes now) -->\s*$")
COMMENT = re.compile(r"<!--.*?-->\n?", re.DOTALL)
LINK = re.compile(r"(\]\()([^()\s]+)((?:\s+\"[^\"]*\")?\))")
CODE = re.compile(r"(?<!`)`([^`\n]+)`(?!`)")
CALL = re.compile(r"\w+\(\)")
# Below a page's first heading, for who reads on a code host; tools/website has a switch of its own.
SWITCH = re.compile(
    r"^(?:\*\*English\*\* · \[简体中文\]\([^()\n]+\)|\[English\]\([^()\n]+\) · \*\*简体中文\*\*)\n+", re.MULTILINE)
HASHED = {"console", "bash", "sh", "cmake", "python", "json", "ini"}


class TranslationError(Exception):
    """Something that the caller can do something about."""


# ---------------------------------------------------------------- a page, taken apart


@dataclasses.dataclass
class Piece:
    """Part of a section: sentences, a fenced block, or what stands between two markers and is generated."""

    kind: str  # "text", "block", "made"
    text: str
    info: str = ""  # of a block, what stands behind its fence; of what is made, its name


@dataclasses.dataclass
class Section:
    """A heading, and what follows until the next one."""

    level: int
    title: str
    pieces: list[Piece]
    line: int = 0
    digest: str | None = None  # what the mark says: of a translation only
    source: str | None = None  # the heading of the source, as the mark says

    def text(self) -> str:
        return "".join(piece.text for piece in self.pieces if piece.kind == "text")

    def prose(self) -> str:
        return unswitched(COMMENT.sub("", self.text()))

    def of(self, kind: str) -> list[Piece]:
        return [piece for piece in self.pieces if piece.kind == kind]

    def fingerprint(self) -> str:
        """Of what a translator translates: the sentences. Line breaks don't count."""
        parts = [self.title]
        for piece in self.pieces:
            parts.append(unswitched(COMMENT.sub("", piece.text)) if piece.kind == "text" else f"[{piece.kind}]")
        words = " ".join(" ".join(parts).split())
        return hashlib.sha256(words.encode()).hexdigest()[:12]


def unswitched(text: str) -> str:
    return SWITCH.sub("", text, count=1)


def switched(text: str, path: str) -> str:
    """The page with the line that leads to the other language."""
    if path.endswith(SUFFIX):
        line = f"[English]({posixpath.basename(source_of(path))}) · **简体中文**"
    else:
        line = f"**English** · [简体中文]({posixpath.basename(translation_of(path))})"
    bare = unswitched(text)
    heading = re.search(r"^# .+\n\n*", bare, re.MULTILINE)
    if not heading:
        return bare
    body = bare[heading.end() :]
    return f"{bare[: heading.start()]}{heading[0].rstrip()}\n\n{line}\n" + (f"\n{body}" if body else "")


def split(body: list[str]) -> list[Piece]:
    pieces: list[Piece] = []
    text: list[str] = []
    index = 0

    def flush() -> None:
        if text:
            pieces.append(Piece("text", "".join(text)))
            text.clear()

    while index < len(body):
        fence, made = FENCE.match(body[index]), MADE.match(body[index])
        if not fence and not made:
            text.append(body[index])
            index += 1
            continue
        if fence:
            ends = [i for i in range(index + 1, len(body)) if body[i].strip() == fence[1]]
        else:
            ends = [i for i in range(index + 1, len(body)) if body[i].strip() == f"<!-- /{made[1]} -->"]
        end = ends[0] if ends else len(body) - 1
        flush()
        info = fence[2].strip() if fence else made[1]
        pieces.append(Piece("block" if fence else "made", "".join(body[index : end + 1]), info))
        index = end + 1
    flush()
    return pieces


def read(text: str) -> tuple[str, list[Section]]:
    """What stands before the first heading, and the sections. A mark belongs to the heading below it."""
    lines = text.splitlines(keepends=True)
    sections: list[Section] = []
    head: list[str] = []
    bodies: list[list[str]] = [head]
    fence, comment, mark = None, False, None
    for number, line in enumerate(lines, 1):
        opened = FENCE.match(line)
        found = None
        if fence:
            fence = None if line.strip() == fence else fence
        elif comment:
            comment = "-->" not in line
        elif opened:
            fence = opened[1]
        elif MARK.match(line):
            mark = MARK.match(line)
            continue
        elif line.lstrip().startswith("<!--") and "-->" not in line:
            comment = True
        else:
            found = HEADING.match(line)
        if found:
            sections.append(Section(len(found[1]), found[2], [], number, *(mark.groups() if mark else (None, None))))
            bodies.append([])
            mark = None
        else:
            bodies[-1].append(line)
    for section, body in zip(sections, bodies[1:]):
        section.pieces = split(body)
    return "".join(head), sections


def spaced(pieces: list[Piece]) -> list[Piece]:
    """The pieces of a section with one empty line between any two of them. A comment of the translation's
    own may stand directly above what it is about."""
    result: list[Piece] = []
    before, comment = "\n", False  # the heading ends so
    for piece in pieces:
        bare = piece.text.lstrip("\n")
        ends, starts = len(before) - len(before.rstrip("\n")), len(piece.text) - len(bare)
        wanted = min(2, ends + starts) if comment else 2
        text = "\n" * (wanted - ends) + bare
        result.append(dataclasses.replace(piece, text=text))
        before += text
        comment = (piece.kind == "text" if bare else comment) and before.rstrip().endswith("-->")
    return result


def write(head: str, sections: list[Section]) -> str:
    text = head
    for section in sections:
        if text and not text.endswith("\n\n"):
            text += "\n"
        if section.digest:
            text += f"<!-- from: {section.digest} {section.source} -->\n"
        text += f"{'#' * section.level} {section.title}\n"
        text += "".join(piece.text for piece in section.pieces)
    return re.sub(r"\n+\Z", "\n", text)


# ---------------------------------------------------------------- where translations are


def translation_of(path: str) -> str:
    return path[: -len(".md")] + SUFFIX


def source_of(path: str) -> str:
    return path[: -len(SUFFIX)] + ".md"


def all_translations(root: pathlib.Path = ROOT) -> list[str]:
    found = [*root.glob(f"*{SUFFIX}"), *root.glob(f"docs/*{SUFFIX}"), *root.glob(f"chapters/*/*{SUFFIX}")]
    return sorted(path.relative_to(root).as_posix() for path in found)


def load_phrases(root: pathlib.Path = ROOT) -> dict[str, str]:
    path = root / PHRASES
    return json.loads(path.read_text(encoding="utf-8")) if path.is_file() else {}


# ---------------------------------------------------------------- what is copied from the source


def without_comments(block: Piece) -> str:
    """A block without what a translation may say in its own words."""
    language = (re.match(r"[\w+-]*", block.info) or [""])[0]
    lines = block.text.splitlines()
    if language in HASHED:
        lines = [re.sub(r"(^|\s+)#.*", "", line) for line in lines]
    else:
        lines = [re.sub(r"\s*//.*", "", line) for line in lines]
    if language == "console":
        lines[0] = re.sub(r'\s*title="[^"]*"', "", lines[0])
    return "\n".join(lines)


class Phrases:
    """The short texts of generated tables; what is not among them stays in English, and is noted."""

    def __init__(self, known: dict[str, str]) -> None:
        self._known = known
        self.missing: set[str] = set()

    def __call__(self, text: str) -> str:
        if text in self._known:
            return self._known[text]
        for known, translated in self._known.items():  # "The 8 classes of earlier chapters"
            if "{}" in known:
                found = re.fullmatch(re.escape(known).replace(r"\{\}", r"(\d+)"), text)
                if found:
                    return translated.replace("{}", found[1])
        if re.search(r"[a-z]{2}", CALL.sub("", CODE.sub("", text))):
            self.missing.add(text)
            return text
        return text.replace(", ", "、")


class Copier:
    """Brings what is never translated into a translation of `path`'s source."""

    def __init__(self, path: str, root: pathlib.Path = ROOT) -> None:
        self.path, self.root = path, root
        self.phrases = Phrases(load_phrases(root))
        self.notes: list[str] = []  # what was not as it should be

    def run(self, text: str, source: str) -> str:
        head, mine = read(text)
        _, theirs = read(source)
        if mine and all(section.digest is None for section in mine):
            raise TranslationError(f"{self.path} has no marks: python3 tools/translations.py done {self.path}")
        result = []
        for own, other in paired(mine, theirs):
            if other is None:
                self.notes.append(f"section '{own.source or own.title}' is not in the source")
            elif own is None:
                self.notes.append(f"section '{other.title}' is missing")
                result.append(self.fresh(other))
            else:
                result.append(self.renewed(own, other))
        return write(head, result)

    def fresh(self, other: Section) -> Section:
        """A section in English yet."""
        pieces = []
        for piece in other.pieces:
            text = piece.text
            if piece.kind == "text":  # of comments only the marks of a picture are the reader's business
                text = unswitched(re.sub(r"<!-- (?!/?steps\b).*?-->\n", "", text, flags=re.DOTALL))
            pieces.append(self.block(piece) if piece.kind == "block" else Piece(piece.kind, text, piece.info))
        section = Section(other.level, other.title, pieces, digest=UNTRANSLATED, source=other.title)
        return self.with_copies(section, other)

    def renewed(self, own: Section, other: Section) -> Section:
        if own.level != other.level:
            self.notes.append(f"section '{other.title}' has another level than in the source")
        section = dataclasses.replace(own, level=other.level, source=other.title)
        if own.digest == UNTRANSLATED:
            fresh = self.fresh(other)
            if write("", [fresh]).strip() != unswitched(write("", [own])).strip():
                self.notes.append(f"section '{other.title}' is untranslated and not the source's")
            return fresh
        return self.with_copies(section, other)

    def with_copies(self, section: Section, other: Section) -> Section:
        blocks = self.blocks(section, other)
        made = collections.deque(other.of("made"))
        pieces: list[Piece] = []
        for piece in section.pieces:
            if piece.kind == "text":
                pieces.append(Piece("text", self.with_links(piece.text)))
            elif piece.kind == "made":
                if made:
                    new = Piece("made", self.table(made.popleft().text), piece.info)
                    if new.text != piece.text:
                        self.notes.append(f"section '{other.title}': the table of {piece.info} is old")
                    pieces.append(new)
            else:
                pieces += blocks.popleft()
        for piece in made:
            self.notes.append(f"section '{other.title}': the table of {piece.info} is missing")
            pieces.append(Piece("made", self.table(piece.text), piece.info))
        for left in blocks:
            pieces += left
        return dataclasses.replace(section, pieces=spaced(pieces))

    def block(self, source: Piece) -> Piece:
        """A block of the source, as it stands in the translation."""
        first, rest = source.text.split("\n", 1)
        if source.info.startswith("console"):
            first = re.sub(r'title="([^"]*)"', lambda match: f'title="{self.phrases(match[1])}"', first)
        return Piece("block", f"{first}\n{rest}", source.info)

    def blocks(self, section: Section, other: Section) -> collections.deque[list[Piece]]:
        """For each block of the translation what takes its place, and at the end what is left."""
        own, source = section.of("block"), other.of("block")
        keys = [[without_comments(block) for block in blocks] for blocks in (own, source)]
        if len(own) == len(source):
            places = [("replace", i, i + 1, i, i + 1) for i in range(len(own))]
        else:
            self.notes.append(f"section '{other.title}' has {len(own)} blocks, the source has {len(source)}")
            places = difflib.SequenceMatcher(None, *keys, autojunk=False).get_opcodes()
        result: list[list[Piece]] = [[] for _ in range(len(own) + 1)]
        for kind, i1, i2, j1, j2 in places:
            for step, j in enumerate(range(j1, j2)):
                i = i1 + step
                if kind in ("equal", "replace") and i < i2 and keys[0][i] == keys[1][j]:
                    has_own_words = re.search(rf"[{HAN}]", own[i].text)  # in its comments
                    result[i].append(own[i] if has_own_words else self.block(source[j]))
                    continue
                if kind == "replace" and len(own) == len(source):
                    self.notes.append(f"section '{other.title}': block {j + 1} is not the source's")
                copy = self.block(source[j])
                if i < i2:
                    result[i].append(copy)
                else:  # behind the one before
                    at = max(i2 - 1, 0) if own else len(own)
                    result[at].append(copy)
        return collections.deque(result)

    def with_links(self, text: str) -> str:
        """Links to a page that is translated lead to the translation."""

        def change(match: re.Match[str]) -> str:
            location, mark, anchor = match[2].partition("#")
            path = self.target(location)
            if path is None or not path.endswith(".md") or path.endswith(SUFFIX):
                return match[0]
            if path == source_of(self.path) or not (self.root / translation_of(path)).is_file():
                return match[0]
            return f"{match[1]}{translation_of(location)}{mark}{anchor}{match[3]}"

        return LINK.sub(change, text)

    def target(self, location: str) -> str | None:
        if not location or re.match(r"[a-zA-Z][\w+.-]*:|/", location):
            return None
        return posixpath.normpath(posixpath.join(posixpath.dirname(self.path), location))

    def table(self, text: str) -> str:
        """A generated table, its cells translated by the phrases."""

        def linked(match: re.Match[str]) -> str:
            made = self.with_links(f"[{self.phrases(match[1])}]({match[2]})")
            return made if f"{SUFFIX})" in made else made + IN_ENGLISH

        def cell(each: str) -> str:
            each = each.strip()
            if not each or re.fullmatch(r":?-+:?", each):
                return each
            link = re.fullmatch(r"\[([^\]]+)\]\(([^()]+)\)", each)
            bold = re.fullmatch(r"\*\*(.+)\*\*", each)
            if link:
                return linked(link)
            return f"**{self.phrases(bold[1])}**" if bold else self.phrases(each)

        def row(line: str) -> str:
            if not line.startswith("|"):
                return re.sub(r"<summary>(.+?)</summary>", lambda m: f"<summary>{self.phrases(m[1])}</summary>", line)
            cells = re.split(r"(?<!\\)\|", line.strip().strip("|"))
            if all(re.fullmatch(r"\s*:?-+:?\s*", each) for each in cells):
                return line
            return "| " + " | ".join(cell(each) for each in cells) + " |"

        return "\n".join(row(line).replace("|  |", "| |").replace("|  |", "| |") for line in text.split("\n"))


def paired(mine: list[Section], theirs: list[Section]) -> list[tuple[Section | None, Section | None]]:
    """Each section of a translation with the source's: by the heading in its mark, or where a heading has
    another name now, by its place."""
    titles = [section.source or "" for section in mine], [section.title for section in theirs]
    result: list[tuple[Section | None, Section | None]] = []
    for kind, i1, i2, j1, j2 in difflib.SequenceMatcher(None, *titles, autojunk=False).get_opcodes():
        if kind == "equal" or (kind == "replace" and i2 - i1 == j2 - j1):
            result += zip(mine[i1:i2], theirs[j1:j2])
        else:
            result += [(section, None) for section in mine[i1:i2]]
            result += [(None, section) for section in theirs[j1:j2]]
    return result


def synced(path: str, root: pathlib.Path = ROOT) -> tuple[str, Copier]:
    source = root / source_of(path)
    if not source.is_file():
        raise TranslationError(f"{path} is the translation of {source_of(path)}, which is not there")
    copier = Copier(path, root)
    text = copier.run((root / path).read_text(encoding="utf-8"), source.read_text(encoding="utf-8"))
    return switched(text, path), copier


def texts(root: pathlib.Path = ROOT) -> dict[str, str]:
    """Every translation as it should be, and every source with the line that leads there: for tools/site.py."""
    result = {}
    for path in all_translations(root):
        result[path] = synced(path, root)[0]
        result[source_of(path)] = switched((root / source_of(path)).read_text(encoding="utf-8"), source_of(path))
    return result


# ---------------------------------------------------------------- what has fallen behind


@dataclasses.dataclass(frozen=True)
class Behind:
    source: str  # the heading of the source
    title: str
    untranslated: bool


def behind(text: str, source: str) -> list[Behind]:
    """The sections of a translation whose source has changed since, or that are not translated."""
    result = []
    for own, other in paired(read(text)[1], read(source)[1]):
        if own and other and own.digest != other.fingerprint():
            result.append(Behind(other.title, own.title, own.digest == UNTRANSLATED))
    return result


# ---------------------------------------------------------------- the words


@dataclasses.dataclass(frozen=True)
class Term:
    english: str
    chinese: tuple[str, ...]
    wrong: tuple[str, ...]

    def is_in(self, english: str) -> bool:
        return bool(re.search(rf"\b{re.escape(self.english)}(?:s|es)?\b(?!\()", english, re.IGNORECASE))


def read_terms(text: str) -> list[Term]:
    """The table of docs/zh/terms.md: English, Chinese (several with 、 between), not, why."""
    result = []
    for line in text.splitlines():
        cells = [cell.strip() for cell in line.strip().strip("|").split("|")]
        if line.startswith("|") and len(cells) == 4 and re.match(r"[A-Za-z]", cells[0]) and cells[0] != "English":
            words = [tuple(word for word in re.split("、", cell) if word and word != "—") for cell in cells[1:3]]
            result.append(Term(cells[0], *words))
    return result


def plain(text: str) -> str:
    """Prose without code, and without the targets of links."""
    return re.sub(r"<[^>\n]*>", "", CODE.sub("`", LINK.sub("](", text)))


HAN = r"\u3400-\u4dbf\u4e00-\u9fff"
TYPOGRAPHY = [
    (re.compile(rf"[{HAN}](?=[A-Za-z0-9`])"), "no space between Chinese and Latin"),
    (re.compile(rf"[A-Za-z0-9`](?=[{HAN}])"), "no space between Latin and Chinese"),
    (re.compile(rf"[{HAN}][,;:!?]|[{HAN}]\.(?![A-Za-z0-9])|[{HAN}] ?\((?=[^)]*[{HAN}])"), "punctuation of Latin"),
    (re.compile(r"[，。；：！？、（）「」《》“”] (?=[^\s|])|[^|] [，。；：！？、）」》]"), "a space beside full-width punctuation"),
]
# CommonMark neither begins nor ends an emphasis between a letter and a punctuation mark inside it.
EMPHASIS = re.compile(r"(\*\*|\*)([^*\n]+)\1")
MARKS = "，。；：！？、（）「」《》“”"


def wrong_typography(text: str) -> list[str]:
    """What a Chinese text breaks of the rules: a space between the scripts, its own punctuation."""
    found = []
    for match in EMPHASIS.finditer(text):
        before, after = text[match.start() - 1 : match.start()], text[match.end() : match.end() + 1]
        if (match[2][-1] in MARKS and after.isalnum()) or (match[2][0] in MARKS and before.isalnum()):
            found.append(f"an emphasis that a code host doesn't see: {match[0]}")
    text = re.sub(r"\*\*|(?<!\*)\*(?!\*)", "", text)
    text = CODE.sub("`x`", re.sub(r"\[([^\]]+)\]\([^()]+\)", r"\1", COMMENT.sub("", text)))
    text = re.sub(r"</?\w[^>\n]*>", "\n", text)
    for line in text.splitlines():
        for pattern, what in TYPOGRAPHY:
            for match in pattern.finditer(line):
                found.append(f"{what}: …{line[max(0, match.start() - 6) : match.end() + 6]}…")
    return found


def shape(text: str) -> dict[str, int]:
    """What a section has of each, in any language."""
    return {
        "entries of lists": len(re.findall(r"^\s*(?:[-*]|\d+\.) ", text, re.MULTILINE)),
        "rows of tables": len(re.findall(r"^\|", text, re.MULTILINE)),
        "foldings": text.count("<details>"),
    }


def targets(copier: Copier, text: str) -> collections.Counter[str]:
    """Where a section's links lead, whatever the language."""
    found = []
    for match in LINK.finditer(text):
        location, _, anchor = match[2].partition("#")
        path = copier.target(location) or location
        found.append((source_of(path) if path.endswith(SUFFIX) else path) + ("#" + anchor if anchor else ""))
    return collections.Counter(found)


def wrong_words(own: Section, other: Section, copier: Copier, terms: list[Term]) -> list[str]:
    """What is wrong in the sentences of a section that is up to date."""
    english, chinese = other.prose(), own.prose()
    codes = [set(CODE.findall(re.sub(r"(?<!\n)\n(?!\n)", " ", text))) for text in (english, chinese)]
    problems = []
    # What is quoted in English, such as the title of a book, speaks English.
    said = re.sub(r'"([^"\n]+)"', lambda match: "" if match[1] in chinese else match[0], plain(english))
    for term in terms:
        if term.is_in(said) and not any(word in chinese for word in (*term.chinese, f"`{term.english}`")):
            problems.append(f"'{term.english}' is {' or '.join(term.chinese)}")
    ours, theirs = shape(chinese), shape(english)
    problems += [f"{ours[what]} {what}, the source has {theirs[what]}" for what in ours if ours[what] != theirs[what]]
    if targets(copier, chinese) != targets(copier, english):
        differing = (targets(copier, english) - targets(copier, chinese)) + (
            targets(copier, chinese) - targets(copier, english))
        problems.append(f"the links differ: {', '.join(sorted(differing))}")
    if steps.MARK.findall(own.text()) != steps.MARK.findall(other.text()):
        problems.append("the pictures that are stepped through are not the source's")
    problems += [f"`{code}` is lost" for code in sorted(codes[0] - codes[1])]
    return problems


@dataclasses.dataclass
class Report:
    errors: list[str]
    warnings: list[str]


def check(root: pathlib.Path = ROOT) -> Report:
    report = Report([], [])
    terms = read_terms((root / TERMS).read_text(encoding="utf-8")) if (root / TERMS).is_file() else []
    missing: set[str] = set()
    for path in all_translations(root):
        try:
            text, copier = synced(path, root)
        except TranslationError as error:
            report.errors.append(str(error))
            continue
        now, page = (root / path).read_text(encoding="utf-8"), source_of(path)
        for name in steps.MARK.findall(now):
            steps.in_words(steps.read_scene(root, name), copier.phrases)
        missing |= copier.phrases.missing
        report.errors += [f"{path}: {note}" for note in copier.notes]
        if text != now and not copier.notes:
            report.errors.append(f"{path}: what is copied from the source is old: python3 tools/site.py texts")
        source = (root / page).read_text(encoding="utf-8")
        if switched(source, page) != source:
            report.errors.append(f"{page} doesn't lead to its translation: python3 tools/site.py texts")
        for own, other in paired(read(now)[1], read(source)[1]):
            if own is None or other is None or own.digest == UNTRANSLATED:
                continue
            name = f"{path}: section '{other.title}'"
            if own.digest is None or not re.fullmatch(r"[0-9a-f]{12}", own.digest):
                report.errors.append(f"{name} has no mark")
            elif own.digest == other.fingerprint():
                report.errors += [f"{name}: {each}" for each in wrong_words(own, other, copier, terms)]
            chinese = own.title + "\n" + own.prose()
            report.errors += [f"{name}: {each}" for each in wrong_typography(chinese)]
            report.errors += [
                f"{name}: '{word}' is not said for '{term.english}'"
                for term in terms for word in term.wrong if word in plain(chinese)
            ]
        for each in behind(now, source):
            state = "is not translated" if each.untranslated else "has changed"
            report.warnings.append(f"{page[:-3].removesuffix('/README')}: section '{each.source}' {state}")
    report.warnings += [f"{PHRASES}: no phrase for '{phrase}'" for phrase in sorted(missing)]
    return report


# ---------------------------------------------------------------- the commands


def run_check() -> int:
    report = check()
    for warning in report.warnings:
        print(f"behind: {warning}")
    for error in report.errors:
        print(error, file=sys.stderr)
    pages = len(all_translations())
    print(f"{pages} translations, {len(report.errors)} faults, {len(report.warnings)} places that have fallen behind")
    return 1 if report.errors else 0


def run_sync() -> int:
    for path, text in texts().items():
        if (ROOT / path).read_text(encoding="utf-8") != text:
            (ROOT / path).write_text(text, encoding="utf-8")
            print(f"written: {path}")
    return 0


def run_start(page: str) -> int:
    path = ROOT / translation_of(page)
    if path.exists():
        raise TranslationError(f"{path.relative_to(ROOT)} is there already")
    copier = Copier(translation_of(page), ROOT)
    _, sections = read((ROOT / page).read_text(encoding="utf-8"))
    path.write_text(switched(write("", [copier.fresh(section) for section in sections]), translation_of(page)),
                    encoding="utf-8")
    (ROOT / page).write_text(switched((ROOT / page).read_text(encoding="utf-8"), page), encoding="utf-8")
    print(f"{path.relative_to(ROOT)} has {len(sections)} sections to be translated")
    return 0


def noted(text: str, source: str, titles: list[str], path: str = "the translation") -> str:
    """`text` with the digests of the source's sections as they are now."""
    head, mine = read(text)
    theirs = read(source)[1]
    unknown = set(titles) - {section.title for section in theirs}
    if unknown:
        raise TranslationError(f"no section '{unknown.pop()}' in the source")
    if all(section.digest is None for section in mine):  # made without `start`
        if [section.level for section in mine] != [section.level for section in theirs]:
            raise TranslationError(f"the headings of {path} are not those of the source")
        pairs = list(zip(mine, theirs))
    else:
        pairs = [(own, other) for own, other in paired(mine, theirs) if own and other]
    for own, other in pairs:
        english = own.digest == UNTRANSLATED and " ".join(own.prose().split()) == " ".join(other.prose().split())
        own.source = other.title
        if (not titles or other.title in titles) and (not english or other.title in titles):
            own.digest = other.fingerprint()
    return write(head, mine)


def run_done(file: str, titles: list[str]) -> int:
    path = pathlib.Path(os.path.relpath(pathlib.Path(file).resolve(), ROOT)).as_posix()
    if not path.endswith(SUFFIX) or not (ROOT / path).is_file():
        raise TranslationError(f"{file} is no translation")
    text = noted((ROOT / path).read_text(encoding="utf-8"), (ROOT / source_of(path)).read_text(encoding="utf-8"),
                 titles, path)
    (ROOT / path).write_text(text, encoding="utf-8")
    text, _ = synced(path, ROOT)
    (ROOT / path).write_text(text, encoding="utf-8")
    return 0


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = parser.add_subparsers(dest="command", required=True)
    commands.add_parser("check")
    commands.add_parser("sync")
    commands.add_parser("start").add_argument("page")
    done = commands.add_parser("done")
    done.add_argument("file")
    done.add_argument("sections", nargs="*")
    options = parser.parse_args(arguments)
    try:
        if options.command == "check":
            return run_check()
        if options.command == "sync":
            return run_sync()
        if options.command == "start":
            return run_start(options.page)
        return run_done(options.file, options.sections)
    except TranslationError as error:
        print(f"translations: {error}", file=sys.stderr)
        return 1


if __name__ == "__main__":
    sys.exit(main())
