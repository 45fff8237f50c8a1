"""All pages that are made of code, and what the chapters' pages want to know of them."""

from __future__ import annotations

import html
import pathlib
import re
from collections.abc import Callable, Iterable

import chapters

from website import highlight, sources
from website.changes import Changes, url_of
from website.shell import Leaf

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

    def with_linked_titles(self, content: str, page: pathlib.Path, url: str) -> str:
        """The HTML of a chapter's page; the title of an excerpt leads to the line where it begins."""
        layout = self.book.layout(int(page.parent.name[:2]))
        excerpts = iter(chapters.read_excerpts(page))

        def linked(match: re.Match[str]) -> str:
            title = html.unescape(match[1])
            excerpt = next((each for each in excerpts if each.title == title), None)
            path = chapters.resolve(title.split("›")[0].strip(), list(layout))
            if excerpt is None or path is None:
                return match[0]
            place = layout[path].folder / path
            line = chapters.place_of(excerpt.code, highlight.text_of(place))
            target = sources.relative(sources.url_of(place.relative_to(self._root).as_posix()), url)
            return f'<span class="filename"><a href="{target}#L{line or 1}">{match[1]}</a></span>'

        return FILENAME.sub(linked, content)

    def with_changes(self, markdown: str, number: int) -> str:
        """The Markdown of a chapter's page; its section "What changed" leads to the differences."""
        made = {change.path: change for change in self.book.changes(number)}
        count = sum(change.kind == "M" for change in made.values())
        beside = "each changed file beside its version before, and what is new" if count else "what is new"
        link = f"[On this site: {beside}](changes/index.html)."
        return re.sub(r"^(## What changed)$", rf"\1\n\n{link}", markdown, count=1, flags=re.MULTILINE)
