"""The map of the classes: which chapter each one was born in, and which chapters changed it.

Made of the chapters' headers, for docs/repository.md. A class counts if it is public: defined in a
header at the start of a line and described by a `///` comment. A chapter has changed it if it brings
another text of its definition, or of the source file beside that header.
"""

from __future__ import annotations

import dataclasses
import pathlib
import re
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))

from learn import chapters  # noqa: E402

DEFINITION = re.compile(
    r"^(?P<comment>(?:///[^\n]*\n)+)"
    r"(?:template <[^\n]*>\n)?"
    r"(?P<text>(?:class|struct) (?:\[\[nodiscard\]\] |alignas\([^)]*\) |TURTLE_\w+(?:\([^)\n]*\))? )*(?P<name>\w+)[^;{]*\{.*?^\};)",
    re.MULTILINE | re.DOTALL,
)


@dataclasses.dataclass
class Entry:
    name: str
    header: str  # "src/core/socket.h"
    summary: str
    born: str  # "01"
    changed: list[str]

    @property
    def module(self) -> str:
        return self.header.split("/")[1]


def classes_of(header: str) -> dict[str, tuple[str, str]]:
    """Name -> (what it is in a sentence, its definition)."""
    found = {}
    for match in DEFINITION.finditer(header):
        words = " ".join(line[3:].strip() for line in match["comment"].splitlines())
        found[match["name"]] = (first_sentence(words), match["text"])
    return found


def first_sentence(text: str) -> str:
    return re.split(r"(?<=[.!?])\s+(?=[A-Z])", re.sub(r"\s*@\w+.*", "", text), maxsplit=1)[0]


def entries(root: pathlib.Path = chapters.ROOT) -> list[Entry]:
    """Every class of the newest state, by module and name."""
    found: dict[tuple[str, str], Entry] = {}
    known: dict[tuple[str, str], tuple[str, str]] = {}
    for chapter in chapters.all_chapters(root):
        files = chapters.layered(chapter.number, root)
        there = {}
        for path, file in files.items():
            if not (path.startswith("src/") and path.endswith(".h")):
                continue
            beside = files.get(path[: -len(".h")] + ".cpp")
            source = beside.read_text(encoding="utf-8") if beside else ""
            for name, (summary, text) in classes_of(file.read_text(encoding="utf-8")).items():
                key = (path, name)
                there[key] = (text, source)
                entry = found.setdefault(key, Entry(name, path, summary, chapter.number, []))
                entry.summary = summary
                if key in known and known[key] != there[key]:
                    entry.changed.append(chapter.number)
        known = there
    return sorted((found[key] for key in known), key=lambda each: (each.module, each.name.lower()))


def table(root: pathlib.Path = chapters.ROOT) -> str:
    """As Markdown, for a page in docs/."""
    folders = {each.number: each.folder.name for each in chapters.all_chapters(root)}

    def link(number: str) -> str:
        return f"[{number}](../chapters/{folders[number]}/README.md)"

    lines = []
    module = None
    for each in entries(root):
        if each.module != module:
            module = each.module
            lines += ["", f"### `{module}/`", "", "| class | what it is | born | changed |", "|---|---|---|---|"]
        summary = each.summary.replace("|", "\\|")
        changed = ", ".join(link(number) for number in each.changed) or "–"
        lines.append(f"| [`{each.name}`](../final/{each.header}) | {summary} | {link(each.born)} | {changed} |")
    return "\n".join(lines[1:]) + "\n"


def layers(number: str, paths: list[str], root: pathlib.Path = chapters.ROOT) -> str:
    """Where the files at `paths` come from when chapter `number` is laid out, as a block of text."""
    files = chapters.layered(number, root)
    width = max(len(path) for path in paths)
    lines = [f"{path:<{width}}  {files[path].relative_to(root).as_posix()}" for path in paths]
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
