"""What a chapter changed: each file that it carries again beside the version before, and what is new.

The page is HTML and CSS alone. On a wide screen the old lines stand beside the new ones, on a narrow
one above them; long unchanged parts are folded up, in <details>.
"""

from __future__ import annotations

import difflib
import html
import re
from collections.abc import Iterator

from website import highlight, sources
from website.shell import Leaf, crumbs

CONTEXT = 3  # unchanged lines around a change
FOLD = 8  # fewer unchanged lines than that are not folded


def url_of(folder: str) -> str:
    return f"chapters/{folder}/changes/"


def anchor_of(path: str) -> str:
    return re.sub(r"[^a-z0-9]+", "-", path.lower()).strip("-")


def rows_of(rows: tuple[str, ...], start: int, end: int) -> str:
    return "".join(f"<span>{row}</span>" for row in rows[start:end])  # each is a block


def side(name: str, rows: tuple[str, ...], start: int, end: int, hidden: bool = False) -> str:
    """Some lines of one version; `name` is the class: old, new or same."""
    if start == end:
        return '<div class="none"></div>'
    tag = {"old": "del", "new": "ins"}.get(name)
    inner = rows_of(rows, start, end)
    inner = f"<{tag}>{inner}</{tag}>" if tag else inner
    aside = ' aria-hidden="true"' if hidden else ""
    return f'<div class="{name}" style="counter-reset:line {start}"{aside}>{inner}</div>'


def same(old: tuple[str, ...], new: tuple[str, ...], i1: int, i2: int, j1: int, j2: int) -> str:
    """Unchanged lines. They stand on both sides; one of them is enough for who listens, or has a phone."""
    left = side("same left", old, i1, i2, hidden=True)
    return left + side("same", new, j1, j2)


def parts(old: tuple[str, ...], new: tuple[str, ...], codes: list[tuple[str, int, int, int, int]]) -> Iterator[str]:
    last = len(codes) - 1
    for index, (kind, i1, i2, j1, j2) in enumerate(codes):
        if kind != "equal":
            yield side("old", old, i1, i2) + side("new", new, j1, j2)
            continue
        head = CONTEXT if index > 0 else 0
        tail = CONTEXT if index < last else 0
        folded = (i2 - i1) - head - tail
        if folded < FOLD:
            yield same(old, new, i1, i2, j1, j2)
            continue
        if head:
            yield same(old, new, i1, i1 + head, j1, j1 + head)
        yield (
            f"<details><summary>{sources.count(folded, 'unchanged line')}</summary>"
            f"{side('same', new, j1 + head, j2 - tail)}</details>"
        )
        if tail:
            yield same(old, new, i2 - tail, i2, j2 - tail, j2)


def opcodes(before: str, after: str) -> list[tuple[str, int, int, int, int]]:
    return difflib.SequenceMatcher(None, highlight.rows(before), highlight.rows(after), autojunk=False).get_opcodes()


class Changes:
    """The pages of all chapters."""

    def __init__(self, book, titles: dict[str, str]) -> None:
        self._book, self._titles = book, titles

    def url(self, number: int, path: str) -> str:
        return f"{url_of(self._book.chapter(number).folder.name)}#{anchor_of(path)}"

    def leaf(self, number: int) -> Leaf:
        chapter = self._book.chapter(number)
        folder = chapter.folder.name
        url = url_of(folder)
        changes = self._book.changes(number)
        changed = [change for change in changes if change.kind == "M"]
        new = [change for change in changes if change.kind == "A"]
        withdrawn = [change for change in changes if change.kind == "D"]
        title = f"What changed in chapter {chapter.label}"
        back = f'<a href="../">{self._titles[folder]}</a>'
        differences, table = [], []
        for change in changed:
            text, added, removed, before = self._difference(change, url)
            differences.append(text)
            table.append(
                f'<tr><td><a href="#{anchor_of(change.path)}">{html.escape(change.path)}</a></td>'
                f"<td>{before}</td><td>+{added}</td><td>−{removed}</td></tr>\n"
            )
        text = crumbs(("../", self._titles[folder])) + f'<h1 id="page-title">{title}</h1>\n<p>Chapter {back} '
        text += f"adds {sources.count(len(new), 'file')} and changes {len(changed) or 'none'}"
        text += f"; it withdraws {len(withdrawn)}.</p>\n" if withdrawn else ".</p>\n"
        if changed:
            text += '<h2 id="changed">Changed files</h2>\n<p>Old lines are on the left, new ones on the right;'
            text += " on a narrow screen, old lines are above.</p>\n"
            text += table_of(("file", "was chapter", "lines added", "lines removed"), table)
        if new:
            rows = [self._new(each, folder, url) for each in new]
            text += '<h2 id="new">New files</h2>\n' + table_of(("file", "lines"), rows)
        if withdrawn:
            text += '<h2 id="withdrawn">Withdrawn files</h2>\n'
            text += table_of(("file", "was chapter"), [self._withdrawn(each, url) for each in withdrawn])
        text += "\n".join(differences)
        return Leaf(url, title, text, template="wide.html")

    def _difference(self, change, url: str) -> tuple[str, int, int, str]:
        before, after = highlight.text_of(change.before), highlight.text_of(change.after)
        old, new = highlight.of_file(change.before), highlight.of_file(change.after)
        codes = opcodes(before, after)
        added = sum(j2 - j1 for kind, _, _, j1, j2 in codes if kind != "equal")
        removed = sum(i2 - i1 for kind, i1, i2, _, _ in codes if kind != "equal")
        was = change.before.relative_to(self._book.root).as_posix()
        now = change.after.relative_to(self._book.root).as_posix()
        number, path = was.split("/")[1][:2], html.escape(change.path)
        old_link = f'<a href="{sources.relative(sources.url_of(was), url)}">{number}</a>'
        text = (
            f'<h2 id="{anchor_of(change.path)}" class="turtle-path">{path}</h2>\n'
            f"<p>Chapter {old_link}’s version beside "
            f'<a href="{sources.relative(sources.url_of(now), url)}">this one</a>: '
            f"{sources.count(added, 'line')} added, {removed} removed.</p>\n"
            f'<div class="highlight turtle-diff" tabindex="0" role="region" aria-label="Differences of {path}">\n'
            + "\n".join(parts(old, new, codes))
            + "\n</div>\n"
        )
        return text, added, removed, old_link

    def _new(self, change, folder: str, url: str) -> str:
        link = sources.relative(sources.url_of(f"chapters/{folder}/{change.path}"), url)
        number = len(highlight.rows(highlight.text_of(change.after)))
        return f'<tr><td><a href="{link}">{html.escape(change.path)}</a></td><td>{number:,}</td></tr>\n'

    def _withdrawn(self, change, url: str) -> str:
        was = change.before.relative_to(self._book.root).as_posix()
        link = sources.relative(sources.url_of(was), url)
        return f'<tr><td>{html.escape(change.path)}</td><td><a href="{link}">{was.split("/")[1][:2]}</a></td></tr>\n'


def table_of(heads: tuple[str, ...], rows: list[str]) -> str:
    head = "".join(f'<th scope="col">{each}</th>' for each in heads)
    return f"<table>\n<thead><tr>{head}</tr></thead>\n<tbody>\n{''.join(rows)}</tbody>\n</table>\n"
