"""A page for each file and folder that a page leads to, and for every file of every chapter."""

from __future__ import annotations

import html
import pathlib
import posixpath
import re

from website import highlight
from website.shell import Leaf, crumbs
from work import count

CHAPTER_FILE = re.compile(r"chapters/(?P<folder>(?P<number>\d\d)-[^/]+)/(?P<path>(?:src|tests|examples)/.+)")
LIMIT = 200_000  # bytes; larger files are no reading matter


def is_shown(path: pathlib.Path, root: pathlib.Path) -> bool:
    if any(part in ("__pycache__", "build") or part.startswith(".") for part in path.relative_to(root).parts):
        return False
    return path.stat().st_size < LIMIT and b"\0" not in path.read_bytes()[:4096]


def url_of(path: str) -> str:
    # A page of this name would lie where the page of its folder is looked for.
    return f"source/{path}-file/" if path.endswith("/index.html") else f"source/{path}/"


def relative(url: str, page_url: str) -> str:
    """The link from one page of the site to another; both end with a slash, or have an anchor behind it."""
    place, hash_mark, anchor = url.partition("#")
    way = posixpath.relpath("/" + place, "/" + page_url)
    return ("./" if way == "." else way + "/") + hash_mark + anchor


class Sources:
    """All of them. `book` is tools/chapters.py's; `changes_url` says where what a chapter changed is shown."""

    def __init__(self, root: pathlib.Path, book, titles: dict[str, str], changes_url) -> None:
        self._root, self._book, self._titles, self._changes_url = root, book, titles, changes_url

    def of_chapters(self) -> list[str]:
        return [
            f"chapters/{chapter.folder.name}/{path}"
            for chapter in self._book.chapters
            for path in chapter.files()
            if is_shown(chapter.folder / path, self._root)
        ]

    def leaf(self, path: str) -> Leaf:
        place = self._root / path
        return self._folder(path) if place.is_dir() else self._file(path)

    def _folder(self, path: str) -> Leaf:
        place = self._root / path
        files = sorted(p for p in place.rglob("*") if p.is_file() and is_shown(p, self._root))
        names = [p.relative_to(place).as_posix() for p in files]
        items = "".join(
            f'<li><a href="{relative(url_of(f"{path}/{name}"), url_of(path))}">{html.escape(name)}</a></li>\n'
            for name in names
        )
        content = f'<h1 id="page-title" class="turtle-path">{html.escape(path)}</h1>\n<ul>\n{items}</ul>\n'
        return Leaf(url_of(path), path, content, template="wide.html")

    def _file(self, path: str) -> Leaf:
        url = url_of(path)
        place = self._root / path
        rows = highlight.of_file(place)
        name, about, way = path, count(len(rows), "line"), ""
        found = CHAPTER_FILE.fullmatch(path)
        if found:
            name = found["path"]
            about = f"{self._about(found, url)} {count(len(rows), 'line')}."
            way = crumbs((relative(f"chapters/{found['folder']}/", url), self._titles[found["folder"]]))
        code = "".join(f'<span id="L{number}">{row}\n</span>' for number, row in enumerate(rows, 1))
        return Leaf(
            url,
            name,
            f'{way}<h1 id="page-title" class="turtle-path">{html.escape(name)}</h1>\n<p>{about}</p>\n'
            f'<div class="highlight turtle-source"><pre tabindex="0" role="region" aria-label="{html.escape(name)}">'
            f"<code>{code}</code></pre></div>\n",
            template="wide.html",
        )

    def _about(self, found: re.Match[str], url: str) -> str:
        """Whose version it is, what was different, and who else has one."""
        number, path = int(found["number"]), found["path"]
        chapter = relative(f"chapters/{found['folder']}/", url)
        text = f'As <a href="{chapter}">chapter {self._titles[found["folder"]]}</a> has it.'
        versions = self._book.versions(path)
        earlier = [each for each in versions if each.number < number]
        if earlier:
            changes = relative(self._changes_url(number, path), url)
            text += f' <a href="{changes}">What it changed</a>.'
        others = [
            f'<a href="{relative(url_of(f"chapters/{each.folder.name}/{path}"), url)}">{each.label}</a>'
            for each in versions
            if each.number != number
        ]
        if others:
            text += f" Versions of other chapters: {', '.join(others)}."
        return text
