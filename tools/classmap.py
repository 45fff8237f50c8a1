"""The map of the classes: which chapter each one was born in, and which chapters changed it.

Made of the chapters' headers, for docs/repository.md, which says the rule to its readers, and for the
section "The classes now" of each chapter's page:

* A class counts if it is public: defined in a header at the start of a line, described by a `///`
  comment, and in no namespace for details. The comment's first sentence says what it is; the first
  sentence of the header, what the header is for.
* A chapter has changed it if it brings another text of its definition or of one of its functions.
  Comments don't count.
"""

from __future__ import annotations

import dataclasses
import functools
import pathlib
import re
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))

import cpp_functions  # noqa: E402
from learn import chapters  # noqa: E402

DEFINITION = re.compile(
    r"^(?P<comment>(?:///[^\n]*\n)+)"
    r"(?:template <[^\n]*>\n)?"
    r"(?P<text>(?:class|struct) (?:\[\[nodiscard\]\] |alignas\([^)]*\) |TURTLE_\w+(?:\([^)\n]*\))? )*(?P<name>\w+)[^;{]*\{.*?^\};)",
    re.MULTILINE | re.DOTALL,
)
DETAILS = re.compile(r"^namespace (\w*detail) \{$.*?^\}  // namespace \1$", re.MULTILINE | re.DOTALL)
CLASSES_NOW = re.compile(r"(<!-- classes now -->\n).*?(<!-- /classes now -->)", re.DOTALL)
HEAD_COMMENT = re.compile(r"(?:#[^\n]*\n|\s*\n)*((?://[^\n]*\n)+)")


@dataclasses.dataclass
class Entry:
    name: str
    header: str  # "src/core/socket.h"
    purpose: str  # of the header
    summary: str
    born: str  # "01"
    changed: list[str]

    @property
    def module(self) -> str:
        return self.header.split("/")[1]

    @property
    def last_changed(self) -> str:
        return self.changed[-1] if self.changed else self.born


def classes_of(header: str) -> dict[str, tuple[str, str]]:
    """Name -> (what it is in a sentence, its definition without comments)."""
    found = {}
    for match in DEFINITION.finditer(DETAILS.sub("", header)):
        words = " ".join(line[3:].strip() for line in match["comment"].splitlines())
        found[match["name"]] = (first_sentence(words), cpp_functions.normalised(match["text"]))
    return found


def purpose_of(header: str) -> str:
    """The first sentence of the comment at its top."""
    match = HEAD_COMMENT.match(header)
    words = " ".join(line[2:].strip() for line in match[1].splitlines()) if match else ""
    return re.sub(r":$", ".", first_sentence(re.split(r"(?<=:) +\*|  ", words)[0].strip()))


def first_sentence(text: str) -> str:
    text = re.sub(r"\s*@\w+.*", "", text)
    return re.split(r"(?<=[.!?])\s+(?=[A-Z]|\w+\(\d\))", text, maxsplit=1)[0]


@functools.cache
def functions_of(file: pathlib.Path) -> dict[str, str]:
    """Of a source file: class -> its functions."""
    text = file.read_text(encoding="utf-8")
    functions: dict[str, str] = {}
    for each in cpp_functions.definitions(text):
        if "::" in each.name:
            name = each.name.split("::")[0]
            functions[name] = functions.get(name, "") + cpp_functions.normalised(text[each.start : each.end])
    return functions


def sources_of(name: str, module: str, files: dict[str, pathlib.Path]) -> list[str]:
    """What the source files of a module have of a class."""
    sources = (files[path] for path in sorted(files) if path.startswith(f"src/{module}/") and path.endswith(".cpp"))
    return [functions_of(file)[name] for file in sources if name in functions_of(file)]


def history(root: pathlib.Path = chapters.ROOT) -> dict[str, list[Entry]]:
    """Of each chapter every class as it stands there, by header, in the order of the header."""
    states: dict[str, list[Entry]] = {}
    before: dict[tuple[str, str], tuple[Entry, object]] = {}
    for chapter in chapters.all_chapters(root):
        files = chapters.layered(chapter.number, root)
        now: dict[tuple[str, str], tuple[Entry, object]] = {}
        for path in sorted(files):
            if not (path.startswith("src/") and path.endswith(".h")):
                continue
            header = files[path].read_text(encoding="utf-8")
            for name, (summary, definition) in classes_of(header).items():
                entry = Entry(name, path, purpose_of(header), summary, chapter.number, [])
                code = (definition, sources_of(name, entry.module, files))
                if (path, name) in before:
                    earlier, earlier_code = before[path, name]
                    entry.born = earlier.born
                    entry.changed = earlier.changed + ([chapter.number] if code != earlier_code else [])
                now[path, name] = (entry, code)
        states[chapter.number] = [entry for entry, _ in now.values()]
        before = now
    return states


def entries(root: pathlib.Path = chapters.ROOT) -> list[Entry]:
    """Every class of the newest state."""
    return list(history(root).values())[-1]


def table(root: pathlib.Path = chapters.ROOT) -> str:
    """As Markdown, for a page in docs/: a table for each folder, a row for each header and each class."""
    folders = {each.number: each.folder.name for each in chapters.all_chapters(root)}

    def link(number: str) -> str:
        return f"[{number}](../chapters/{folders[number]}/README.md)"

    lines: list[str] = []
    module = header = None
    for each in entries(root):
        if each.module != module:
            module = each.module
            lines += ["", f"### `{module}/`", "", "| class | what it is | born | changed |", "|---|---|---|---|"]
        if each.header != header:
            header = each.header
            name = header.split("/", 2)[2]
            lines.append(f"| **[{name}](../final/{header})** | **{cell(each.purpose)}** | | |")
        changed = ", ".join(link(number) for number in each.changed)
        lines.append(f"| `{each.name}` | {cell(each.summary)} | {link(each.born)} | {changed} |")
    return "\n".join(lines[1:]) + "\n"


def classes_now(number: str, there: list[Entry]) -> str:
    """The classes of a chapter, as Markdown: what it has changed stands open, the others unfold."""
    here = [each for each in there if each.last_changed == number]
    others = [each for each in there if each.last_changed != number]
    lines = ["", *rows(here)] if here else ["", "This chapter changes no class."]
    if others:
        how_many = "The class" if len(others) == 1 else f"The {len(others)} classes"
        lines += ["", f"<details><summary>{how_many} of earlier chapters</summary>", "", *rows(others), "", "</details>"]
    return "\n".join([*lines, "", ""])


def rows(classes: list[Entry]) -> list[str]:
    lines = ["| class | what it is | header | last changed |", "|---|---|---|---|"]
    for each in classes:
        header = each.header.removeprefix("src/")
        lines.append(f"| `{each.name}` | {cell(each.summary)} | `{header}` | {each.last_changed} |")
    return lines


def page_texts(root: pathlib.Path = chapters.ROOT) -> dict[str, str]:
    """The chapters' pages: path below `root` -> the page with its classes made anew."""
    texts = {}
    states = history(root)
    for chapter in chapters.all_chapters(root):
        page = chapter.folder / "README.md"
        if page.is_file():
            texts[page.relative_to(root).as_posix()] = CLASSES_NOW.sub(
                lambda match, number=chapter.number: match[1] + classes_now(number, states[number]) + match[2],
                page.read_text(encoding="utf-8"),
            )
    return texts


def cell(text: str) -> str:
    return text.replace("|", "\\|")


def layers(number: str, paths: list[str], root: pathlib.Path = chapters.ROOT) -> str:
    """Where the files at `paths` come from when chapter `number` is laid out, as a block of text; and how many come
    from the chapter itself."""
    files = chapters.layered(number, root)
    width = max(len(path) for path in paths)
    lines = [f"{path:<{width}}  {files[path].relative_to(root).as_posix()}" for path in paths]
    folder = chapters.find(number, root).folder
    own = sum(path.is_relative_to(folder) for path in files.values())
    lines += ["", f"{len(files)} files, {own} of them from {folder.relative_to(root).as_posix()}"]
    return "\n".join(["", "```text", *lines, "```", "", ""])


def generated(text: str, root: pathlib.Path = chapters.ROOT) -> str:
    """`text` with what stands between its markers made anew."""
    text = re.sub(
        r"(<!-- classes -->\n).*?(<!-- /classes -->)",
        lambda match: f"{match[1]}\n{table(root)}\n{match[2]}",
        text,
        flags=re.DOTALL,
    )
    return re.sub(
        r"(<!-- layers (\d\d): ([^\n]*) -->\n).*?(<!-- /layers -->)",
        lambda match: match[1] + layers(match[2], match[3].split(), root) + match[4],
        text,
        flags=re.DOTALL,
    )
