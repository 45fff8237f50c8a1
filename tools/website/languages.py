"""The Chinese side of the site, below zh/: its pages, its navigation, its search.

A page that is translated has the same address below zh/, and its headings have the same anchors. One
that is not is linked in English, and said to be so. Each page knows the others of its kind; the theme's
switch (docs/theme) leads to them.
"""

from __future__ import annotations

import json
import logging
import pathlib
import posixpath
import re
from typing import Any

import translations

from website.pages import Words

PREFIX = translations.LANGUAGE + "/"
TAG = "zh-Hans"
HOME = PREFIX + "index.md"
NAMES = {"en": "English", TAG: "简体中文"}
# What the theme takes from mkdocs.yml, and what is not the theme's own.
COPYRIGHT = "Turtle，依 MIT 许可证发布"
DESCRIPTION = "一个 C++ 网络服务器：从阻塞的套接字写起，直到带缓存的网站。"
SAID = {
    'title="Dark"': 'title="深色"',
    'aria-label="Dark"': 'aria-label="深色"',
    'title="Light"': 'title="浅色"',
    'aria-label="Light"': 'aria-label="浅色"',
    'title="Link to this section"': 'title="本节链接"',
}
TERMS_URL = "terms/"
FAINT = 0.1  # what an English page counts in the search beside a Chinese one

WORDS = Words(
    what_changed=r".+ \{#what-changed\}",
    classes_now=r".+ \{#the-classes-now\}",
    beside="在本站上看：[改动过的文件与旧版并排，以及新增的文件]({})。",
    only_new="在本站上看：[新增的文件]({})。",
    new="参考手册中新增的类：{}。",
    changed="参考手册中有改动的类：{}。",
    time="约 {} 分钟，不含练习。",
    origin="本页的文件是 <code>{}</code>。{}。",
    edit="编辑本页",
    wrong="发现错误怎么办",
    comma="、",
)


# ---------------------------------------------------------------- which pages there are


def uri_of(path: str) -> str | None:
    """The page's name for MkDocs of a translation, or of a page that is only in this language."""
    if path == translations.translation_of("README.md"):
        return HOME
    if path.endswith(translations.SUFFIX):
        return PREFIX + translations.source_of(path.removeprefix("docs/"))
    return path.removeprefix("docs/") if path.startswith("docs/" + PREFIX) else None


def path_of(uri: str) -> str | None:
    """The other way round."""
    if not uri.startswith(PREFIX):
        return None
    if "docs/" + uri == translations.TERMS:
        return translations.TERMS
    path = translations.translation_of(uri.removeprefix(PREFIX))
    return path if path.startswith("chapters/") else "docs/" + path


def pages(root: pathlib.Path) -> dict[str, str]:
    """By the repository's file, the page's name for MkDocs. README.zh.md is no page, as README.md is none."""
    return {path: uri_of(path) for path in translations.all_translations(root) if "/" in path}


source_of = translations.source_of
unswitched = translations.unswitched  # of a line that does on a code host what the theme's switch does


def translated(path: str, root: pathlib.Path) -> str:
    """The translation of a page of the repository if there is one, else the page."""
    there = path.endswith(".md") and (root / translations.translation_of(path)).is_file()
    return translations.translation_of(path) if there else path


# ---------------------------------------------------------------- a page's Markdown


def anchors(titles: list[str]) -> list[str]:
    """The ids that MkDocs gives to headings."""
    from markdown.extensions.toc import slugify, unique

    used: set[str] = set()
    return [unique(slugify(re.sub(r"[`*]", "", title), "-"), used) for title in titles]


def prepared(markdown: str, path: str, root: pathlib.Path, to_source: str) -> str:
    """A translation's Markdown with the source's anchors, and with a note where it has fallen behind.
    `to_source` leads to the page of the source."""
    if not path.endswith(translations.SUFFIX):
        return markdown
    source = (root / translations.source_of(path)).read_text(encoding="utf-8")
    head, sections = translations.read(markdown)
    titles = [section.title for section in translations.read(source)[1]]
    ids = dict(zip(titles, anchors(titles)))
    old = {each.source: each for each in translations.behind(markdown, source)}
    parts = [head]
    for section in sections:
        anchor = ids.get(section.source or "", "")
        parts.append(f"{'#' * section.level} {section.title}{f' {{#{anchor}}}' if anchor else ''}\n")
        body = "".join(piece.text for piece in section.pieces)
        note = old.get(section.source or "")
        link = f"[原文]({to_source}#{anchor})"
        if section is sections[0] and old:
            parts.append("\n" + summary(list(old.values()), ids))
        if note and note.untranslated:
            parts.append(f'\n!!! note "本节尚未翻译"\n    以下是英文原文。\n\n<div lang="en" markdown="1">\n{body}\n</div>\n\n')
            continue
        if note:
            parts.append(f'\n!!! warning "本节译文落后于原文"\n    原文在翻译之后有过改动，请以{link}为准。\n')
        parts.append(body)
    return "".join(parts)


def with_marked_links(content: str, url: str) -> str:
    """The HTML of a Chinese page, in which links to English pages say so."""

    def marked(match: re.Match[str]) -> str:
        link = match[1]
        if re.match(r"[a-zA-Z][\w+.-]*:|/|#", link):
            return match[0]
        target = posixpath.normpath(posixpath.join(url, link.split("#")[0])) + "/"
        return match[0] if target.startswith(PREFIX) else f'<a hreflang="en" href="{link}"'

    return re.sub(r'<a href="([^"]*)"', marked, content)


def summary(old: list[translations.Behind], ids: dict[str, str]) -> str:
    links = "、".join(f"[{each.title}](#{ids[each.source]})" for each in old)
    return f'!!! note "译文与原文不完全同步"\n    这几节在翻译之后，英文原文有了改动，或者还没有翻译：{links}。代码与命令输出始终与原文一致。\n'


# ---------------------------------------------------------------- the navigation


class Sites:
    """Both sites, and which page of the one is which page of the other."""

    def __init__(self, root: pathlib.Path) -> None:
        self.root = root
        self.phrases = translations.Phrases(translations.load_phrases(root))
        self._navigation: Any = None
        self._texts: tuple[str, str] | None = None
        self._uris: set[str] = set()

    def navigate(self, plan: list, files: Any, config: Any) -> None:
        """Makes the Chinese navigation from the English one's plan, as it is in the configuration."""
        from mkdocs.structure import nav

        self._texts = config.copyright, config.site_description
        self._uris = {file.src_uri for file in files.documentation_pages()}
        sequence: list[Any] = []

        def title_of(text: str) -> str:
            chapter = re.fullmatch(r"(\d\d) (.+)", text)
            part = re.fullmatch(r"([IVX]+) · (.+)", text)
            if chapter:
                return f"{chapter[1]} {self.phrases(chapter[2])}"
            return f"{part[1]} · {self.phrases(part[2])}" if part else self.phrases(text)

        def page(title: str, uri: str) -> Any:
            file = files.get_file_from_path(PREFIX + uri)
            if file is None:
                item = nav.Link(title_of(title) + translations.IN_ENGLISH, files.get_file_from_path(uri).url)
            else:
                item = file.page
                item.title = title_of(title)
            sequence.append(item)
            return item

        def items(plan: list) -> list:
            result = []
            for entry in plan:
                for title, value in entry.items():
                    if isinstance(value, str):
                        result.append(page(title, value))
                    else:
                        result.append(nav.Section(title_of(title), items(value)))
            return result

        made = items(plan)
        terms = files.get_file_from_path(translations.TERMS.removeprefix("docs/")).page
        made[-1].children.append(terms)
        sequence.append(terms)
        nav._add_parent_links(made)
        for before, item, after in zip([None, *sequence[:-1]], sequence, [*sequence[1:], None]):
            if isinstance(item, nav.Page):
                item.previous_page, item.next_page = before, after
        self._navigation = nav.Navigation(made, [item for item in sequence if isinstance(item, nav.Page)])
        self._navigation.homepage = files.get_file_from_path(HOME).page

    def dress(self, context: dict, page: Any, config: Any) -> None:
        """The theme around a page in the page's language."""
        uri = page.file.src_uri
        chinese = uri.startswith(PREFIX)
        config.theme["language"] = translations.LANGUAGE if chinese else "en"
        config["copyright"], config["site_description"] = (COPYRIGHT, DESCRIPTION) if chinese else self._texts
        if chinese:
            context["nav"] = self._navigation
        context["languages"] = self.languages(uri, page, context["nav"])

    def languages(self, uri: str, page: Any, navigation: Any) -> list[dict[str, Any]]:
        """For the switch: each language, the page it leads to, and whether that is this page's twin."""
        here = {"link": page.url, "twin": True, "current": True}
        other = uri.removeprefix(PREFIX) if uri.startswith(PREFIX) else PREFIX + uri
        twin = other in self._uris
        home = "./" if uri.startswith(PREFIX) else PREFIX
        there = {"link": url_of(other) if twin else home, "twin": twin, "current": False}
        pair = (there, here) if uri.startswith(PREFIX) else (here, there)
        return [{"tag": tag, "name": NAMES[tag], **each} for tag, each in zip(NAMES, pair)]


def url_of(uri: str) -> str:
    """The address of a page: a/index.md and a/README.md are a/, and a/b.md is a/b/."""
    folder, name = posixpath.split(uri)
    stem = name.removesuffix(".md")
    parts = [folder] if stem in ("index", "README") else [folder, stem]
    return "/".join(part for part in parts if part) + "/" if any(parts) else "./"


def finished(output: str, url: str) -> str:
    """The HTML of a Chinese page. Its base is zh/, where the theme then looks for the index of the search."""
    if not url.startswith(PREFIX):
        return output
    from mkdocs.utils import get_relative_url

    base = get_relative_url(PREFIX, url).rstrip("/") or "."
    output = output.replace(f'<html lang="{translations.LANGUAGE}"', f'<html lang="{TAG}"', 1)
    output = re.sub(r'(<script id="__config"[^>]*>.*?"base": ")[^"]*"', rf'\g<1>{base}"', output, count=1, flags=re.DOTALL)
    for english, chinese in SAID.items():
        output = output.replace(english, chinese)
    return output


# ---------------------------------------------------------------- the search


def learn_words(root: pathlib.Path, scratch: pathlib.Path) -> None:
    """The terms are words, for what cuts Chinese sentences into words; it keeps its dictionary in `scratch`."""
    import jieba

    jieba.setLogLevel(logging.WARNING)
    jieba.dt.tmp_dir = str(scratch)  # else a file in /tmp that anybody may have left there is loaded
    for term in translations.read_terms((root / translations.TERMS).read_text(encoding="utf-8")):
        for word in term.chinese:
            jieba.add_word(word)


def split_index(text: str) -> tuple[str, list[dict[str, Any]]]:
    """The index of the search without the Chinese pages, and these."""
    index = json.loads(text)
    chinese = [entry for entry in index["docs"] if entry["location"].startswith(PREFIX)]
    index["docs"] = [entry for entry in index["docs"] if not entry["location"].startswith(PREFIX)]
    return json.dumps(index, separators=(",", ":"), ensure_ascii=False), chinese


def chinese_index(english: str, chinese: list[dict[str, Any]], root: pathlib.Path) -> str:
    """The index of the Chinese pages, as seen from zh/. What is not translated is found there, too, but
    behind everything that is."""
    index = json.loads(english)
    docs = [{**entry, "location": entry["location"].removeprefix(PREFIX)} for entry in chinese]
    for entry in docs:
        if entry["location"].startswith(TERMS_URL):  # it has every word, and explains none
            entry["boost"] = FAINT
    there = {entry["location"].split("#")[0] for entry in docs}
    for entry in index["docs"]:
        page, _, anchor = entry["location"].partition("#")
        if page not in there:
            title = entry["title"] if anchor else entry["title"] + translations.IN_ENGLISH
            boost = entry.get("boost", 1) * FAINT
            docs.append({**entry, "location": "../" + entry["location"], "title": title, "boost": boost})
    names = {name: place if place.split("#")[0] in there else "../" + place
             for name, place in index["config"]["names"].items()}
    for term in translations.read_terms((root / translations.TERMS).read_text(encoding="utf-8")):
        for word in term.chinese:
            if term.english in names and "`" not in word:
                names.setdefault(word.lower(), names[term.english])
    separator = "(?:" + index["config"]["separator"] + r"|[\u200b\u3000-\u303f\uff00-\uffef])+"
    index["config"].update(separator=separator, names=names)
    index["docs"] = docs
    return json.dumps(index, separators=(",", ":"), ensure_ascii=False)
