"""All pages that are made of code, and what the chapters' pages want to know of them."""

from __future__ import annotations

import dataclasses
import html
import json
import pathlib
import re
import tempfile
from collections.abc import Callable, Iterable

import chapters
import excerpts

from website import classes, doxygen, highlight, search, sources
from website.changes import Changes, url_of
from website.reference import Reference
from website.shell import Leaf


@dataclasses.dataclass(frozen=True)
class Words:
    """What the site adds to a page, in the page's language, and the headings of a chapter where it does."""

    what_changed: str  # a pattern
    classes_now: str  # a pattern
    beside: str
    only_new: str
    new: str
    changed: str
    time: str
    origin: str
    edit: str
    wrong: str
    comma: str


WORDS = Words(
    what_changed="What changed",
    classes_now="The classes now",
    beside="[On this site: each changed file beside its version before, and what is new]({}).",
    only_new="[On this site: what is new]({}).",
    new="New in the reference: {}.",
    changed="Changed in the reference: {}.",
    time="About {} minutes, without the exercises.",
    origin="This page is <code>{}</code>. {}.",
    edit="Edit it",
    wrong="If something is wrong on it",
    comma=", ",
)
FILENAME = re.compile(r'<span class="filename">([^<]*)</span>')


class Pages:
    """Made once for a build. `titles` has the title of each chapter's folder: "05 Timer"."""

    def __init__(self, root: pathlib.Path, titles: dict[str, str], linked: Iterable[str]) -> None:
        self._root = root
        self.book = chapters.Book(root)
        self._changes = Changes(self.book, titles)
        self._sources = sources.Sources(root, self.book, titles, self._changes.url)
        self.leaves: dict[str, Callable[[], Leaf]] = {}
        for path in sorted({*linked, *self._sources.of_chapters()}):
            self.leaves[sources.url_of(path)] = lambda path=path: self._sources.leaf(path)
        for chapter in self.book.chapters:
            if chapter.folder.name in titles:
                self.leaves[url_of(chapter.folder.name)] = lambda chapter=chapter: self._changes.leaf(chapter.number)
        self.histories = classes.histories(self.book)
        places = {int(folder[:2]): (f"chapters/{folder}/", title) for folder, title in titles.items()}
        with tempfile.TemporaryDirectory() as scratch:
            xml = doxygen.run(root, pathlib.Path(scratch))
            self.reference = Reference(xml, self.histories, self._header_url, places, self._changes.url)
        self.leaves.update(self.reference.leaves())

        self._sections: list[search.Section] = []

    def note_page(self, markdown: str, number: int, url: str, toc) -> None:
        """For the search: what a chapter's page speaks of, and where."""
        self._sections += search.read_page(markdown, number, url, list(search.flat(toc)))

    def with_names(self, index: str) -> str:
        """The index of the search with the classes of the reference, and with the places of names."""
        made = json.loads(index)
        made["docs"] += self.reference.entries()
        pages = [highlight.text_of(chapter.folder / "README.md") for chapter in self.book.chapters]
        code = [
            (chapter.number, highlight.text_of(chapter.folder / path))
            for chapter in self.book.chapters
            for path in chapter.files()
            if path.startswith("src/")
        ]
        sections = sorted(self._sections, key=lambda section: section.chapter)
        made["config"]["names"] = search.names(sections, pages, code, self.reference, self.histories)
        return json.dumps(made, separators=(",", ":"), ensure_ascii=False)

    def _header_url(self, header: str) -> str:
        """The page of a header of final: it is the newest chapter's."""
        owner = self.book.versions(f"src/{header}")[-1]
        return sources.url_of(f"chapters/{owner.folder.name}/src/{header}")

    def with_linked_titles(self, content: str, page: pathlib.Path, url: str) -> str:
        """The HTML of a chapter's page; the title of an excerpt leads to the line where it begins."""
        layout = self.book.layout(int(page.parent.name[:2]))
        titled = iter(excerpts.read_excerpts(page))

        def linked(match: re.Match[str]) -> str:
            title = html.unescape(match[1])
            excerpt = next((each for each in titled if each.title == title), None)
            path = excerpts.resolve(title.split("›")[0].strip(), list(layout))
            if excerpt is None or path is None:
                return match[0]
            place = layout[path].folder / path
            line = excerpts.place_of(excerpt.code, highlight.text_of(place))
            target = sources.relative(sources.url_of(place.relative_to(self._root).as_posix()), url)
            return f'<span class="filename"><a href="{target}#L{line or 1}">{match[1]}</a></span>'

        return FILENAME.sub(linked, content)

    def with_changes(self, markdown: str, number: int, to_top: str = "../../", words: Words = WORDS) -> str:
        """The Markdown of a chapter's page; its section "What changed" leads to the differences, and to
        the reference of the classes that are new or changed."""
        folder = self.book.chapter(number).folder.name
        changed = any(change.kind == "M" for change in self.book.changes(number))
        text = (words.beside if changed else words.only_new).format(f"{to_top}{url_of(folder)}index.html")
        for sentence, names in zip((words.new, words.changed), self._classes(number)):
            if names:
                text += "\n\n" + sentence.format(words.comma.join(self._linked(name, to_top) for name in names))
        heading = rf"^(## {words.what_changed})$"
        return re.sub(heading, lambda m: f"{m[1]}\n\n{text}", markdown, count=1, flags=re.MULTILINE)

    def _classes(self, number: int) -> tuple[list[str], list[str]]:
        """The classes that a chapter introduces, and those that it changes; of final's, and of their own."""
        new: list[str] = []
        changed: list[str] = []
        for name in sorted(self.reference.compounds, key=str.lower):
            history = self.histories.get(name)
            if history and "::" not in name:
                (new if history.introduced == number else changed if number in history.changed else []).append(name)
        return new, changed

    def _linked(self, name: str, to_top: str) -> str:
        return f"[`{name}`]({to_top}{self.reference.url_of(name)}index.html)"

    def with_linked_classes(self, markdown: str, to_top: str, heading: str | None = None) -> str:
        """The Markdown with the classes in its tables linked to the reference; with a heading, only below it;
        the heading is a pattern."""

        def in_code(match: re.Match[str]) -> str:
            url, _, anchor = (self.reference.url_of(match[1]) or "").partition("#")
            return f"[{match[0]}]({to_top}{url}index.html{'#' + anchor if anchor else ''})" if url else match[0]

        def in_row(match: re.Match[str]) -> str:
            return match[0] if "](" in match[0] else re.sub(r"`([A-Za-z_][\w:]*)(?:<[^`]*>|\(\))?`", in_code, match[0])

        def in_table(text: str) -> str:
            column = r"^\|[^|\n]*\|" if heading else r"^\|.*$"
            return re.sub(column, in_row, text, flags=re.MULTILINE)

        if heading is None:
            return in_table(markdown)
        section = re.compile(rf"^## {heading}$.*?(?=^## |\Z)", re.MULTILINE | re.DOTALL)
        return section.sub(lambda match: in_table(match[0]), markdown)
