"""The reference of final, as pages of the site, from what Doxygen says in XML.

Doxygen reads the headers and checks the comments; what it knows is shown in the site's own form, so
that the search, the dark scheme and the telephone are the same everywhere. Each class says which
chapter introduced it and which have changed it.
"""

from __future__ import annotations

import dataclasses
import html
import pathlib
import re
import xml.etree.ElementTree as ElementTree
from collections.abc import Callable, Iterable, Iterator

from website import highlight, sources
from website.classes import History
from website.shell import Leaf, crumbs

NAMESPACE = "TURTLE_SERVER::"
SECTIONS = {
    "public-type": "Types",
    "public-func": "Functions",
    "public-static-func": "Static functions",
    "public-attrib": "Fields",
    "public-static-attrib": "Constants",
    "protected-func": "For derived classes",
    "friend": "Friends",
}
OF_MODULE = {
    "function": "Functions",
    "enum": "Enumerations",
    "typedef": "Types",
    "variable": "Constants",
    "define": "Macros",
}
INLINE = {"computeroutput": "code", "emphasis": "em", "bold": "strong"}
LISTS = {"param": "Parameters", "exception": "Throws", "templateparam": "Template parameters"}
SIMPLE = {"return": "Returns", "note": "Note", "warning": "Warning", "see": "See"}


class ReferenceError(Exception):
    """Doxygen says something that these pages can't show."""


@dataclasses.dataclass
class Member:
    """A function, a field, a type: what has no page of its own."""

    element: ElementTree.Element
    name: str
    kind: str
    section: str
    header: str  # as in "core/looper.h"
    line: int
    anchor: str = ""


@dataclasses.dataclass
class Compound:
    """A class or struct."""

    element: ElementTree.Element
    id: str
    name: str  # with the classes around it
    kind: str
    header: str
    line: int
    members: list[Member]

    @property
    def url(self) -> str:
        return f"api/{re.sub(r'[^A-Za-z0-9_]+', '.', self.name.replace('::', '.')).strip('.')}/"

    @property
    def module(self) -> str:
        return self.header.split("/")[0]


def flat(element: ElementTree.Element | None) -> str:
    return "" if element is None else " ".join("".join(element.itertext()).split())


def plain_type(text: str) -> str:
    """Doxygen writes `std::optional< TimePoint >`."""
    return re.sub(r"(\w)< ", r"\1<", text).replace(" >", ">").replace("> >", ">>").replace("&lt; ", "&lt;")


def with_anchors(members: list[Member]) -> list[Member]:
    """Each gets a name for links; overloads are numbered."""
    taken: set[str] = set()
    for member in members:
        stem = re.sub(r"[^a-z0-9~]+", "-", member.name.lower()).strip("-").replace("~", "destructor-") or "operator"
        anchor, number = stem, 1
        while anchor in taken:
            number += 1
            anchor = f"{stem}-{number}"
        taken.add(anchor)
        member.anchor = anchor
    return members


def members_of(
    compound: ElementTree.Element, is_wanted: Callable[[str, ElementTree.Element], bool]
) -> Iterator[Member]:
    for section in compound.findall("sectiondef"):
        for element in section.findall("memberdef"):
            if is_wanted(section.get("kind", ""), element):
                place = element.find("location")
                assert place is not None
                yield Member(
                    element,
                    element.findtext("name", ""),
                    element.get("kind", ""),
                    section.get("kind", ""),
                    place.get("file", ""),
                    int(place.get("line", "1")),
                )


class Reference:
    """All pages. `source` gives the page of a header of final; `chapter_url` and `changes_url` those of a chapter."""

    def __init__(
        self,
        xml: pathlib.Path,
        histories: dict[str, History],
        source: Callable[[str], str],
        titles: dict[int, tuple[str, str]],  # by number: the page's address and its title
        changes_url: Callable[[int, str], str],
    ) -> None:
        self._histories, self._source, self._titles, self._changes_url = histories, source, titles, changes_url
        self.compounds: dict[str, Compound] = {}
        self.free: list[Member] = []
        self._target: dict[str, str] = {}  # of Doxygen's ids: where they are shown
        self._read(xml)
        self.modules = sorted(
            {each.module for each in self.compounds.values()} | {m.header.split("/")[0] for m in self.free}
        )
        self._index()

    # -- reading ----------------------------------------------------------------------------------

    def _read(self, xml: pathlib.Path) -> None:
        trees = [ElementTree.parse(path).getroot() for path in sorted(xml.glob("*.xml")) if path.name != "index.xml"]
        found = [compound for tree in trees for compound in tree.findall("compounddef")]
        hidden = {
            inner.get("refid")
            for compound in found
            for inner in compound.findall("innerclass")
            if inner.get("prot") == "private"
        }
        for element in found:
            kind, name = element.get("kind", ""), element.findtext("compoundname", "")
            if kind in ("class", "struct", "union"):
                self._add_class(element, kind, name, hidden)
            elif kind == "namespace" and name.startswith(NAMESPACE[:-2]) and not name.endswith("detail"):
                self.free += members_of(element, lambda *_: True)
            elif kind == "file":
                self.free += members_of(element, lambda section, _: section == "define")
        self.free.sort(key=lambda member: (member.header, member.line))

    def _add_class(self, element: ElementTree.Element, kind: str, name: str, hidden: set[str | None]) -> None:
        place = element.find("location")
        if place is None or element.get("id") in hidden or not name.startswith(NAMESPACE) or "detail::" in name:
            return
        short = name.removeprefix(NAMESPACE)
        outer = "::".join(name.split("::")[:-1])
        if any(
            each is not None and outer and each.endswith(outer.replace("_", "__").replace("::", "_1_1"))
            for each in hidden
        ):
            return  # inside of a private class
        members = members_of(element, lambda section, _: section in SECTIONS)
        members_list = with_anchors([m for m in members if m.kind != "friend" or m.element.get("prot") == "public"])
        compound = Compound(
            element,
            element.get("id", ""),
            short,
            kind,
            place.get("file", ""),
            int(place.get("line", "1")),
            members_list,
        )
        self.compounds[short] = compound

    def _index(self) -> None:
        urls: dict[str, str] = {}
        for compound in self.compounds.values():
            if urls.setdefault(compound.url.lower(), compound.name) != compound.name:
                raise ReferenceError(f"{compound.name} and {urls[compound.url.lower()]} would have one page")
            self._target[compound.id] = compound.url
            for member in compound.members:
                self._target[member.element.get("id", "")] = f"{compound.url}#{member.anchor}"
        for module in self.modules:
            for member in with_anchors([m for m in self.free if m.header.split("/")[0] == module]):
                self._target[member.element.get("id", "")] = f"api/{module}/#{member.anchor}"
        self._types = {name: compound.url for name, compound in self.compounds.items()}
        for member in self.free:
            if member.kind in ("enum", "typedef"):
                self._types.setdefault(member.name, self._target[member.element.get("id", "")])
        self._type = re.compile(
            r"(?<![\w>&])(" + "|".join(sorted(map(re.escape, self._types), key=len, reverse=True)) + r")(?!\w)"
        )

    def url_of(self, name: str) -> str | None:
        """Where a class, or a function, type or macro of its own, is described."""
        if name in self._types:
            return self._types[name]
        found = next((member for member in self.free if member.name == name), None)
        return self._target[found.element.get("id", "")] if found else None

    # -- comments ---------------------------------------------------------------------------------

    def _link(self, target: str, url: str, text: str) -> str:
        return f'<a href="{sources.relative(target, url)}">{text}</a>'

    def _inline(self, element: ElementTree.Element, url: str) -> str:
        text = html.escape(element.text or "", quote=False)
        for child in element:
            text += self._inline_child(child, url) + html.escape(child.tail or "", quote=False)
        return text

    def _inline_child(self, child: ElementTree.Element, url: str) -> str:
        if child.tag == "ref":
            target = self._target.get(child.get("refid", ""))
            inner = self._inline(child, url)
            return self._link(target, url, inner) if target else inner
        if child.tag in INLINE:
            return f"<{INLINE[child.tag]}>{self._inline(child, url)}</{INLINE[child.tag]}>"
        if child.tag == "ulink":
            return f'<a href="{html.escape(child.get("url", ""))}">{self._inline(child, url)}</a>'
        signs = {"ndash": "–", "mdash": "—", "linebreak": "<br>", "sp": " ", "nonbreakablespace": "\u00a0"}
        if child.tag in signs:
            return signs[child.tag]
        raise ReferenceError(f"no form for <{child.tag}> in a comment")

    def _blocks(self, element: ElementTree.Element | None, url: str) -> str:
        return "" if element is None else "".join(self._block(child, url) for child in element)

    def _block(self, child: ElementTree.Element, url: str) -> str:
        if child.tag == "para":
            return self._para(child, url)
        if child.tag in ("itemizedlist", "orderedlist"):
            tag = "ul" if child.tag == "itemizedlist" else "ol"
            return f"<{tag}>" + "".join(f"<li>{self._blocks(item, url)}</li>" for item in child) + f"</{tag}>\n"
        if child.tag == "parameterlist":
            rows = "".join(self._parameter(item, url) for item in child)
            return f'<p class="turtle-of">{LISTS[child.get("kind", "")]}</p>\n<dl>{rows}</dl>\n'
        if child.tag == "simplesect":
            return f'<p class="turtle-of">{SIMPLE[child.get("kind", "")]}</p>\n{self._blocks(child, url)}'
        if child.tag in ("programlisting", "verbatim"):
            text = child.text if child.tag == "verbatim" else "\n".join("".join(row.itertext()) for row in child)
            return f'<div class="highlight"><pre><code>{html.escape(text or "", quote=False)}</code></pre></div>\n'
        raise ReferenceError(f"no form for <{child.tag}> in a comment")

    def _para(self, para: ElementTree.Element, url: str) -> str:
        """Doxygen puts lists into paragraphs; HTML has them between."""
        done, text = "", html.escape(para.text or "", quote=False)
        for child in para:
            if child.tag in (
                "itemizedlist",
                "orderedlist",
                "parameterlist",
                "simplesect",
                "programlisting",
                "verbatim",
            ):
                done += f"<p>{text.strip()}</p>\n" if text.strip() else ""
                done, text = done + self._block(child, url), ""
            else:
                text += self._inline_child(child, url)
            text += html.escape(child.tail or "", quote=False)
        return done + (f"<p>{text.strip()}</p>\n" if text.strip() else "")

    def _parameter(self, item: ElementTree.Element, url: str) -> str:
        names = ", ".join(f"<code>{html.escape(flat(name))}</code>" for name in item.iter("parametername"))
        return f"<dt>{names}</dt><dd>{self._blocks(item.find('parameterdescription'), url)}</dd>"

    def _comment(self, element: ElementTree.Element, url: str) -> str:
        return self._blocks(element.find("briefdescription"), url) + self._blocks(
            element.find("detaileddescription"), url
        )

    def brief(self, element: ElementTree.Element) -> str:
        return flat(element.find("briefdescription"))

    # -- code -------------------------------------------------------------------------------------

    def _code(self, text: str, url: str) -> str:
        """C++ with its types linked."""
        rows = "\n".join(highlight.lines(text, "cpp"))
        parts = re.split(r"(<[^>]*>)", rows)

        def linked(match: re.Match[str]) -> str:
            target = self._types[match[1]]
            return match[1] if target == url else self._link(target, url, match[1])

        code = "".join(part if part.startswith("<") else self._type.sub(linked, part) for part in parts)
        return f'<div class="highlight turtle-signature"><pre tabindex="0"><code>{code}</code></pre></div>\n'

    def _signature(self, member: Member) -> str:
        element = member.element
        text = ""
        templates = element.find("templateparamlist")
        if templates is not None:
            text = f"template <{', '.join(self._template_parameter(each) for each in templates)}>\n"
        kind = flat(element.find("type"))
        if member.kind == "enum":
            name = f"enum class {member.name}" if element.get("strong") == "yes" else f"enum {member.name}".rstrip()
            return f"{text}{name}" + (f" : {kind}" if kind else "")
        if member.kind == "typedef":
            return f"{text}using {member.name} = {plain_type(kind)}"
        if member.kind == "define":
            names = [flat(each) for each in element.findall("param")]
            return f"#define {member.name}" + (f"({', '.join(names)})" if names else "")
        words = [word for word in ("static", "explicit") if element.get(word) == "yes" and word not in kind.split()]
        words += ["virtual"] * (element.get("virt") in ("virtual", "pure-virtual") and "virtual" not in kind.split())
        text += "".join(f"{word} " for word in (*words, plain_type(kind)) if word)
        text += member.name + plain_type(element.findtext("argsstring", ""))
        value = flat(element.find("initializer"))
        return text + (f" {value}" if value and len(value) < 60 else "")

    def _template_parameter(self, each: ElementTree.Element) -> str:
        name, value = flat(each.find("declname")), flat(each.find("defval"))
        return plain_type(f"{flat(each.find('type'))} {name}".strip() + (f" = {value}" if value else ""))

    def _member(self, member: Member, url: str, level: int = 3) -> str:
        place = f"{self._source(member.header)}#L{member.line}"
        text = (
            f'<h{level} id="{member.anchor}" class="turtle-member"><code>{html.escape(member.name)}</code></h{level}>\n'
        )
        text += self._code(self._signature(member), url) + self._comment(member.element, url)
        values = member.element.findall("enumvalue")
        if values:
            rows = "".join(
                f"<tr><td><code>{html.escape(value.findtext('name', ''))}</code></td>"
                f"<td>{self._comment(value, url).replace('<p>', '').replace('</p>', '')}</td></tr>\n"
                for value in values
            )
            text += table(("value", "meaning"), rows)
        return text + f'<p class="turtle-place">{self._link(place, url, f"{member.header}, line {member.line}")}</p>\n'

    def _fields(self, members: Iterable[Member], url: str) -> str:
        rows = ""
        for member in members:
            value = flat(member.element.find("initializer")).removeprefix("= ")
            kind = html.escape(plain_type(flat(member.element.find("type"))), quote=False)
            linked = self._type.sub(lambda m: self._link(self._types[m[1]], url, m[1]), kind)
            rows += (
                f'<tr id="{member.anchor}"><td><code>{html.escape(member.name)}</code></td><td><code>{linked}</code></td>'
                f"<td>{f'<code>{html.escape(value)}</code>' if value else ''}</td><td>{self._comment(member.element, url)}</td></tr>\n"
            )
        return table(("name", "type", "at first", "meaning"), rows)

    # -- pages ------------------------------------------------------------------------------------

    def leaves(self) -> Iterator[tuple[str, Callable[[], Leaf]]]:
        yield "api/", self._contents
        for module in self.modules:
            yield f"api/{module}/", lambda module=module: self._module(module)
        for compound in self.compounds.values():
            yield compound.url, lambda compound=compound: self._class(compound)

    def _path(self, url: str, *places: tuple[str, str]) -> str:
        return crumbs(*((sources.relative(place, url), text) for place, text in places))

    def _contents(self) -> Leaf:
        url = "api/"
        text = self._path(url, ("reference/", "Reference"))
        text += '<h1 id="page-title">The classes of final</h1>\n<p>By module; a class can use the modules above its own.</p>\n'
        order = sorted(self.modules, key=lambda m: (MODULES.index(m) if m in MODULES else 99, m))
        for module in order:
            text += f'<h2 id="{module}">{self._link(f"api/{module}/", url, module)}</h2>\n' + self._class_table(
                module, url
            )
        return Leaf(url, "Classes", text, [(module, module) for module in order])

    def _class_table(self, module: str, url: str) -> str:
        rows = "".join(
            f"<tr><td>{self._link(each.url, url, f'<code>{html.escape(each.name)}</code>')}</td>"
            f"<td>{self._inline_brief(each, url)}</td><td>{self._introduced(each, url)}</td></tr>\n"
            for each in sorted(self.compounds.values(), key=lambda each: each.name.lower())
            if each.module == module and "::" not in each.name
        )
        return table(("class", "what it is", "chapter"), rows) if rows else ""

    def _inline_brief(self, compound: Compound, url: str) -> str:
        paras = compound.element.findall("briefdescription/para")
        return " ".join(self._inline(para, url).strip() for para in paras)

    def _introduced(self, compound: Compound, url: str) -> str:
        history = self._histories.get(compound.name)
        if history is None:
            return ""
        return self._link(self._titles[history.introduced][0], url, f"{history.introduced:02d}")

    def _module(self, module: str) -> Leaf:
        url = f"api/{module}/"
        text = self._path(url, ("reference/", "Reference"), ("api/", "Classes"))
        text += f'<h1 id="page-title">The module {module}</h1>\n'
        toc = []
        classes = self._class_table(module, url)
        if classes:
            toc.append(("classes", "Classes"))
            text += f'<h2 id="classes">Classes</h2>\n{classes}'
        for kind, title in OF_MODULE.items():
            members = [m for m in self.free if m.kind == kind and m.header.split("/")[0] == module]
            if members:
                toc.append((f"all-{kind}", title))
                text += f'<h2 id="all-{kind}">{title}</h2>\n' + "".join(self._member(member, url) for member in members)
        return Leaf(url, f"Module {module}", text, toc)

    def _class(self, compound: Compound) -> Leaf:
        url = compound.url
        text = self._path(url, ("reference/", "Reference"), ("api/", "Classes"), (f"api/{compound.module}/", compound.module))
        text += f'<h1 id="page-title"><code>{html.escape(compound.name)}</code></h1>\n'
        text += self._comment(compound.element, url) + self._about(compound, url)
        nested = [each for each in self.compounds.values() if each.name.rpartition("::")[0] == compound.name]
        toc = []
        if nested:
            toc.append(("nested", "Classes within"))
            rows = "".join(
                f"<tr><td>{self._link(each.url, url, f'<code>{html.escape(each.name)}</code>')}</td>"
                f"<td>{self._inline_brief(each, url)}</td></tr>\n"
                for each in nested
            )
            text += '<h2 id="nested">Classes within</h2>\n' + table(("class", "what it is"), rows)
        for section, title in SECTIONS.items():
            members = [member for member in compound.members if member.section == section]
            if not members:
                continue
            name = f"all-{section}"
            text += f'<h2 id="{name}">{title}</h2>\n'
            if section in ("public-attrib", "public-static-attrib"):
                text += self._fields(members, url)
                toc.append((name, title))
            else:
                text += "".join(self._member(member, url) for member in members)
                toc.append((name, title))
                toc += [(member.anchor, f"<code>{html.escape(member.name)}</code>") for member in members]
        text += self._head_of(compound.header, url)
        return Leaf(url, compound.name, text, toc)

    def _about(self, compound: Compound, url: str) -> str:
        """Where it is, whose it is, and in which chapters."""
        kind = compound.kind
        templates = compound.element.find("templateparamlist")
        if templates is not None:
            kind += f" template <code>&lt;{html.escape(', '.join(self._template_parameter(t) for t in templates))}&gt;</code>"
        place = self._link(f"{self._source(compound.header)}#L{compound.line}", url, compound.header)
        is_installed = not compound.header.startswith("app/")
        header = f"&lt;turtle/{place}&gt;" if is_installed else f'"{place}"'
        rows = [("is a", kind), ("header", f"<code>#include {header}</code>")]
        for tag, title in (("basecompoundref", "inherits"), ("derivedcompoundref", "inherited by")):
            names = [self._base(each, url) for each in compound.element.findall(tag)]
            if names:
                rows.append((title, ", ".join(names)))
        history = self._histories.get(compound.name)
        if history:
            page, title = self._titles[history.introduced]
            rows.append(("introduced in", f"chapter {self._link(page, url, title)}"))
            if history.changed:
                rows.append(
                    ("changed in", ", ".join(self._changed(number, history, url) for number in history.changed))
                )
        body = "".join(f'<tr><th scope="row">{name}</th><td>{value}</td></tr>\n' for name, value in rows)
        return f'<table class="turtle-about">\n<tbody>\n{body}</tbody>\n</table>\n'

    def _base(self, each: ElementTree.Element, url: str) -> str:
        target = self._target.get(each.get("refid", ""))
        text = f"<code>{html.escape(flat(each).removeprefix(NAMESPACE))}</code>"
        return self._link(target, url, text) if target else text

    def _changed(self, number: int, history: History, url: str) -> str:
        page, title = self._titles[number]
        files = sorted(history.files[number], key=lambda path: (path != history.header, path))
        difference = self._link(self._changes_url(number, files[0]), url, "what")
        return f"{self._link(page, url, title)} ({difference})"

    def _head_of(self, header: str, url: str) -> str:
        """The comment at the head of the file, which says how its parts belong together."""
        page = self._source(header)
        text = self._head_text(page)
        if not text:
            return ""
        return (
            f'<h2 id="head">The head of {html.escape(header)}</h2>\n'
            f'<div class="turtle-head" tabindex="0" role="region" aria-label="Head of {html.escape(header)}">{html.escape(text, quote=False)}</div>\n'
        )

    def _head_text(self, page: str) -> str:
        path = self.root / page.removeprefix("source/").rstrip("/")
        rows = []
        for row in highlight.rows(highlight.text_of(path)):
            if not row.startswith("//"):
                break
            rows.append(row[2:].removeprefix(" "))
        return "\n".join(rows).strip()

    root = pathlib.Path(__file__).resolve().parents[2]

    # -- search -----------------------------------------------------------------------------------

    def entries(self) -> Iterator[dict[str, object]]:
        """For the index of the search: a class and the names of what it has."""
        for compound in self.compounds.values():
            names = " ".join(dict.fromkeys(member.name for member in compound.members))
            text = f"{self.brief(compound.element)} {names}".strip()
            yield {
                "location": compound.url,
                "title": compound.name,
                "text": f"<p>{html.escape(text, quote=False)}</p>",
                "boost": 0.5,
            }
        for member in self.free:
            yield {
                "location": self._target[member.element.get("id", "")],
                "title": member.name,
                "text": f"<p>{html.escape(self.brief(member.element), quote=False)}</p>",
                "boost": 0.5,
            }


# Each can use those above it, as docs/design.md draws.
MODULES = ["base", "log", "task", "core", "http", "uring", "udp", "tls", "compress", "db", "process", "web", "files", "cgi",
           "sites", "websocket", "response_cache", "ops", "app"]  # fmt: skip


def table(heads: tuple[str, ...], rows: str) -> str:
    head = "".join(f'<th scope="col">{each}</th>' for each in heads)
    return f"<table>\n<thead><tr>{head}</tr></thead>\n<tbody>\n{rows}</tbody>\n</table>\n"
