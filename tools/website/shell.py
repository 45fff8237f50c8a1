"""Pages that MkDocs doesn't make: many, and made of code, not of Markdown.

The theme's template is rendered once for each depth and kind, with marks in the places of what
differs from page to page; a page is then a replacement of texts. That takes a hundredth of the
time that a page of Markdown takes.
"""

from __future__ import annotations

import dataclasses
import html
import re
from typing import Any


@dataclasses.dataclass
class Leaf:
    """A page. `content` is HTML with an h1; its links are relative to the page."""

    url: str  # ends with a slash; below the top of the site
    title: str
    content: str
    toc: list[tuple[str, str]] = dataclasses.field(default_factory=list)  # (id, text as HTML)
    template: str = "leaf.html"


def crumbs(*places: tuple[str, str]) -> str:
    """Where a page is: links, from the outermost place to the nearest; (address, text as HTML)."""
    steps = "".join(f'<li><a href="{html.escape(link)}">{text}</a></li>' for link, text in places)
    return f'<nav class="turtle-steps" aria-label="Where this is"><ol>{steps}</ol></nav>\n'


MARK = "\u2063turtle-{}\u2063"
ENTRY = re.compile(r"<li class=\"md-nav__item\">(?:(?!<li).)*?" + MARK.format("entry") + r".*?</li>", re.DOTALL)


@dataclasses.dataclass
class Anchor:
    """What the theme wants of an entry of a table of contents."""

    title: str
    id: str
    level: int
    children: list["Anchor"] = dataclasses.field(default_factory=list)

    @property
    def url(self) -> str:
        return "#" + self.id


class ShellPage:
    """What the theme wants of a page."""

    def __init__(self, url: str, is_wide: bool) -> None:
        self.url = url
        self.title = MARK.format("title")
        self.content = "<h1></h1>" + MARK.format("content")
        # Code needs the room of the side bars. On a narrow screen the navigation is in the drawer all the same.
        self.meta: dict[str, Any] = {"hide": ["navigation", "toc"]} if is_wide else {}
        self.toc = [Anchor("", "page-title", 1, [Anchor(MARK.format("entry"), MARK.format("id"), 2)])]
        self.is_homepage = False
        self.canonical_url = self.edit_url = self.previous_page = self.next_page = None
        self.active = True


class Shell:
    """The theme around such pages."""

    def __init__(self, config: Any, nav: Any, files: Any, env: Any, post: Any = None) -> None:
        self._config, self._nav, self._files, self._env = config, nav, files, env
        self._post = post  # changes the HTML of a page of this URL, as it does with MkDocs' own
        self._made: dict[tuple[str, int, bool], str] = {}

    def render(self, leaf: Leaf) -> str:
        text = self._made_for(leaf.template, leaf.url.count("/"), bool(leaf.toc))
        if leaf.toc:
            entry = ENTRY.search(text)
            assert entry, "the theme shows no table of contents"
            items = (
                entry[0].replace(MARK.format("id"), name).replace(MARK.format("entry"), title)
                for name, title in leaf.toc
            )
            made = "\n".join(items)
            text = ENTRY.sub(lambda _: made, text)
        text = text.replace(MARK.format("title"), html.escape(leaf.title))
        return text.replace("<h1></h1>" + MARK.format("content"), leaf.content)

    def _made_for(self, template: str, depth: int, has_toc: bool) -> str:
        key = (template, depth, has_toc)
        if key not in self._made:
            from mkdocs.commands.build import get_context

            page: Any = ShellPage("leaf/" * depth, template == "wide.html")
            if not has_toc:
                page.toc[0].children = []
            context = get_context(self._nav, self._files, self._config, page)
            text = self._env.get_template(template).render(context)
            self._made[key] = self._post(text, page.url) if self._post else text
        return self._made[key]
