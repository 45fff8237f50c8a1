"""The pages of the sources and of what each chapter changed, against the files themselves."""

import html.parser
import json
import re
import sys

import pytest
from conftest import ROOT

sys.path.insert(0, str(ROOT / "tools"))

import chapters as book_of_chapters  # noqa: E402
import excerpts  # noqa: E402
from website import changes, highlight, sources  # noqa: E402

BOOK = book_of_chapters.Book(ROOT)
CHANGED = [(chapter.number, change) for chapter in BOOK.chapters for change in BOOK.changes(chapter.number)]


class Lines(html.parser.HTMLParser):
    """The lines of a page by the class of their block, per difference: old, new, same, left."""

    def __init__(self, text):
        super().__init__()
        self.files, self._path, self._block, self._depth, self._line = {}, None, None, 0, None
        self.feed(text)

    def handle_starttag(self, tag, attributes):
        values = dict(attributes)
        name = values.get("class") or ""
        if "turtle-diff" in name:
            self._path = values["aria-label"].removeprefix("Differences of ")
            self.files[self._path] = []
        elif self._path and tag == "div" and name in ("old", "new", "same", "same left"):
            first = int(re.fullmatch(r"counter-reset:line (\d+)", values["style"])[1]) + 1
            self._block = (name, first, [])
            self.files[self._path].append(self._block)
        elif self._block and tag == "span":
            self._depth += 1
            if self._depth == 1:
                self._block[2].append("")

    def handle_endtag(self, tag):
        if tag == "span" and self._depth:
            self._depth -= 1
        elif tag == "div" and self._block:
            self._block = None

    def handle_data(self, data):
        if self._depth:
            self._block[2][-1] += data


def put_together(blocks, names):
    """The text that the blocks of these classes show; each has to begin at the line that it says."""
    rows = []
    for name, first, lines in blocks:
        if name in names:
            if name != "same" or "new" in names:  # the shared blocks count the lines of the new version
                assert first == len(rows) + 1
            rows += lines
    return rows


def page_of(site, url):
    return (site / url / "index.html").read_text(encoding="utf-8")


@pytest.mark.parametrize("number", [chapter.number for chapter in BOOK.chapters])
def test_both_versions_can_be_read_off_the_page(site, number):
    text = page_of(site, changes.url_of(BOOK.chapter(number).folder.name))
    shown = Lines(text).files
    changed = {change.path: change for change in BOOK.changes(number) if change.kind == "M"}
    assert shown.keys() == changed.keys()
    for path, change in changed.items():
        expand = [row.expandtabs(8) for row in highlight.rows(highlight.text_of(change.before))]
        assert put_together(shown[path], ("old", "same")) == expand, path
        expand = [row.expandtabs(8) for row in highlight.rows(highlight.text_of(change.after))]
        assert put_together(shown[path], ("new", "same")) == expand, path
        assert all(name == "same left" or lines for name, _, lines in shown[path])


@pytest.mark.parametrize("number", [chapter.number for chapter in BOOK.chapters])
def test_what_is_new_is_listed_with_its_lines(site, number):
    folder = BOOK.chapter(number).folder
    text = page_of(site, changes.url_of(folder.name))
    for change in BOOK.changes(number):
        if change.kind == "A":
            link = sources.relative(sources.url_of(f"chapters/{folder.name}/{change.path}"), changes.url_of(folder.name))
            lines = book_of_chapters.count_lines(change.after)
            assert f'<a href="{link}">{change.path}</a></td><td>{lines:,}</td>' in text, change.path


def test_every_chapter_page_leads_to_what_changed(site):
    for chapter in BOOK.chapters:
        text = page_of(site, f"chapters/{chapter.folder.name}")
        section = text.split('id="what-changed"')[1].split("<h2")[0]
        assert '<a href="changes/">' in section, chapter.label


def test_a_source_page_shows_the_file(site):
    for path in ("chapters/05-timer/src/core/looper.cpp", "chapters/20-router/examples/todo_page/index.html",
                 "chapters/14-cgi/examples/cgi-bin/hello.sh"):
        text = page_of(site, sources.url_of(path))
        code = re.search(r"<code>(.*?)</code></pre>", text, re.DOTALL)[1]
        assert html.unescape(re.sub(r"<[^>]+>", "", code)) == (ROOT / path).read_text(encoding="utf-8"), path


def test_the_title_of_an_excerpt_leads_to_its_first_line(site):
    count = 0
    for chapter in BOOK.chapters:
        folder = chapter.folder.name
        by_title = {}
        for each in excerpts.read_excerpts(chapter.folder / "README.md"):
            by_title.setdefault(each.title, []).append(excerpts.dedent(each.code))
        text = page_of(site, f"chapters/{folder}")
        for link, title in re.findall(r'<span class="filename"><a href="([^"]+)">([^<]+)</a></span>', text):
            url, _, line = link.partition("#L")
            target = (site / "chapters" / folder / url / "index.html").resolve()
            source = ROOT / target.parent.relative_to(site / "source")
            row = highlight.rows(highlight.text_of(source))[int(line) - 1].strip()
            codes = by_title[html.unescape(title)]
            assert any(row == code_row.strip() for code in codes for code_row in code[:3]), f"{folder}: {title}"
            assert source.name == title.split(" ")[0].split("/")[-1]
            count += 1
    assert count > 200


def test_differences_and_sources_are_not_searched(site):
    index = json.loads((site / "search/search_index.json").read_text(encoding="utf-8"))
    places = [entry["location"] for entry in index["docs"]]
    assert len(places) > 300
    assert [place for place in places if "changes/" in place.split("#")[0] or place.startswith("source/")] == []


def test_what_is_withdrawn_is_said(tmp_path):
    for name, files in {"01-one": ("a.h", "b.h"), "02-two": ("c.h",)}.items():
        for file in files:
            place = tmp_path / "chapters" / name / "src" / file
            place.parent.mkdir(parents=True, exist_ok=True)
            place.write_text(f"// {file}\n")
    (tmp_path / "chapters/02-two/withdrawn.txt").write_text("src/a.h\n")
    made = changes.Changes(book_of_chapters.Book(tmp_path), {"01-one": "01 One", "02-two": "02 Two"})
    text = made.leaf(2).content
    assert "adds 1 file and changes none; it withdraws 1." in text
    assert '<tr><td>src/a.h</td><td><a href="../../../source/chapters/01-one/src/a.h/">01</a></td></tr>' in text
    assert "b.h" not in text


def test_long_unchanged_parts_are_folded():
    old = tuple(f"line {number}" for number in range(100))
    new = (*old[:50], "another", *old[50:])
    text = "".join(changes.parts(old, new, changes.opcodes("\n".join(old), "\n".join(new))))
    assert text.count("<details>") == 2
    assert "<summary>47 unchanged lines</summary>" in text
    few = ("first", *old[:9])
    assert "<details>" not in "".join(changes.parts(old[:9], few, changes.opcodes("\n".join(old[:9]), "\n".join(few))))
