"""The built site, and the tools that build it."""

import re
import subprocess
import sys

import pytest
from conftest import ROOT


def html_of(site, page):
    return (site / page / "index.html").read_text(encoding="utf-8")


def test_every_chapter_has_its_page(site, hooks):
    _, chapters = hooks.chapters()
    assert chapters
    for chapter in chapters:
        source = (ROOT / "chapters" / chapter["folder"] / "README.md").read_text(encoding="utf-8")
        title = re.match(r"# (.+)\n", source).group(1)
        assert title.startswith(chapter["folder"][:2] + " "), title
        page = html_of(site, f"chapters/{chapter['folder']}")
        assert re.search(r"<h1[^>]*>" + re.escape(title), page)


def test_no_chapter_is_left_out(hooks):
    _, chapters = hooks.chapters()
    there = sorted(path.parent.name for path in ROOT.glob("chapters/*/README.md"))
    assert [chapter["folder"] for chapter in chapters] == there


def test_the_other_pages_are_there(site):
    around = ("preface", "repository", "reading-map", "your-own-server", "deployment", "glossary", "troubleshooting")
    behind = ("design", "reference", "trust", "security", "contributing", "changelog")
    for page in ("", *around, *behind):
        assert "<h1" in html_of(site, page), page
    assert (site / "api/index.html").is_file()
    assert (site / "api/Connection/index.html").is_file()
    assert (site / "assets/vendor/mermaid.min.js").is_file()
    assert (site / "search/search_index.json").is_file()


def test_what_is_for_us_is_not_served(site):
    for name in ("hooks.py", "Doxyfile", "chapters.json"):
        assert not (site / name).exists()
    for path in [*site.glob("chapters/*/index.html"), site / "your-own-server/index.html"]:
        assert "<!-- run" not in path.read_text(encoding="utf-8"), path
    assert "&lt;!-- run" in re.sub(r"<[^>]*>", "", html_of(site, "contributing"))  # shown as an example


def test_each_term_of_the_glossary_is_on_the_page_that_it_names():
    glossary = (ROOT / "docs/glossary.md").read_text(encoding="utf-8")
    entries = dict(re.findall(r"^### (.+)\n\n((?:.+\n)+)", glossary, re.MULTILINE))
    assert len(entries) == glossary.count("\n### ") > 100
    anchors = {re.sub(r"[^\w]+", "-", term.lower()).strip("-") for term in entries}
    for term, text in entries.items():
        if see := re.fullmatch(r"See \[(.+)\]\(#(.+)\)\.\n", text):
            assert see[2] in anchors, (term, see[2])
            continue
        page = re.search(r"^\[Chapter (\d\d)\]\(\.\./(chapters/\1-[^)]+)\)[.;]", text, re.MULTILINE)
        assert page, term
        words = [re.sub(r"\W+", " ", word.lower()) for word in term.split(", ")]
        shown = re.sub(r"\W+", " ", (ROOT / page[2]).read_text(encoding="utf-8").lower())
        assert all(word in shown for word in words), (term, page[2])
    terms = [term.lower() for term in entries]
    assert terms == sorted(terms)


def test_only_pages_with_diagrams_load_mermaid(site):
    for path in site.rglob("index.html"):
        if not path.is_relative_to(site / "api"):
            text = path.read_text(encoding="utf-8")
            assert ("mermaid.min.js" in text) == ('class="mermaid"' in text), path


def test_a_page_says_how_long_it_takes_and_which_file_it_is(site, hooks):
    page = html_of(site, "chapters/04-looper")
    assert re.search(r"</h1>\s*<p class=\"turtle-time\">About \d+ minutes", page)
    assert "This page is <code>chapters/04-looper/README.md</code>." in page
    assert 'href="../../contributing/#if-a-page-is-wrong"' in page
    assert "This page is <code>docs/preface.md</code>." in html_of(site, "preface")
    words = "word " * 1000
    code = "```cpp\n" + "f();\n" * 200 + "```\n"
    assert hooks.minutes_to_read(words) == 5
    assert hooks.minutes_to_read(words + "\n" + code) == 15
    assert hooks.minutes_to_read(words + "\n## Exercises\n" + code) == 5


def test_what_leads_nowhere_leads_back(site):
    page = (site / "404.html").read_text(encoding="utf-8")
    assert "<h1>There is no such page</h1>" in page
    assert all(f'href="/{place}"' in page for place in ("", "reading-map/", "api/")), "for any depth"


def test_hints_unfold_and_solutions_are_shown(site):
    page = html_of(site, "chapters/01-socket")
    assert len(re.findall(r"<details\b", page)) == page.count("</details>") >= 10
    assert len(re.findall(r'<details class="hint">\s*<summary>Hint \d', page)) == page.count("<summary>Hint ") >= 6
    assert page.count('<details class="solution">') == page.count("<summary>Solution<") == 3
    assert re.search(r"<summary>Hint 1</summary>\s*<p>[^<]*<code>", page), "a hint is Markdown, too"
    solution = re.search(r"<summary>Solution</summary>\s*<div class=\"language-diff.*?</div>", page, re.DOTALL)
    assert solution and "std::endl" in solution[0]
    assert "solution.diff" not in page


def test_all_links_lead_somewhere(site, site_tool):
    assert site_tool.check_links(site) == []


@pytest.mark.parametrize(
    ("body", "problem"),
    [
        ('<a href="b/">', "no such page"),
        ('<a href="../secret.html">', "no such page"),
        ('<a href="#there">', "no such anchor"),
        ('<a href="c.html#gone">', "no such anchor"),
        ('<script src="https://cdn.example/x.js"></script>', "from the network"),
        ('<link rel="stylesheet" href="//fonts.example/x.css">', "from the network"),
        ('<img srcset="https://example.org/a.png 2x">', "from the network"),
        ('<style>@import "https://example.org/a.css";</style>', "from the network"),
        ('<div style="background: url(https://example.org/a.png)">', "from the network"),
        ('<img src="lost.png">', "no such page"),
    ],
)
def test_a_wrong_link_is_found(tmp_path, site_tool, body, problem):
    (tmp_path / "c.html").write_text('<h1 id="here">c</h1>')
    (tmp_path / "index.html").write_text('<a href="c.html#here"></a><a href="https://example.org/"></a>')
    assert site_tool.check_links(tmp_path) == []
    (tmp_path / "index.html").write_text(body)
    assert [line for line in site_tool.check_links(tmp_path) if problem in line]


def test_a_style_sheet_that_loads_from_elsewhere_is_found(tmp_path, site_tool):
    (tmp_path / "index.html").write_text("<p>")
    (tmp_path / "a.css").write_text("body { background: url('https://example.org/a.png') }")
    assert len(site_tool.check_links(tmp_path)) == 1


def test_the_tables_of_the_chapters_are_fresh():
    done = subprocess.run(
        [sys.executable, ROOT / "tools/site.py", "texts", "--check"], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr


def test_a_file_is_shown_whole(tmp_path, site_tool):
    (tmp_path / "a").mkdir()
    (tmp_path / "a/b.cpp").write_text("int main() {}\n")
    text = "x\n<!-- file: a/b.cpp -->\nold\n<!-- /file -->\ny\n"
    shown = site_tool.with_files(text, tmp_path)
    block = '```cpp title="a/b.cpp"\nint main() {}\n```\n'
    assert shown == f"x\n<!-- file: a/b.cpp -->\n{block}<!-- /file -->\ny\n"
    assert site_tool.with_files(shown, tmp_path) == shown
    (tmp_path / "a/b.cpp").write_text("// ```\n")
    with pytest.raises(site_tool.SiteError, match="a/b.cpp holds ```"):
        site_tool.with_files(text, tmp_path)
    with pytest.raises(site_tool.SiteError, match="a/c.cpp, which is not there"):
        site_tool.with_files(text.replace("b.cpp", "c.cpp"), tmp_path)


def test_the_table_lists_what_is_there_with_links_from_where_it_stands(tmp_path, hooks):
    (tmp_path / "docs").mkdir()
    (tmp_path / "docs/chapters.json").write_bytes((ROOT / "docs/chapters.json").read_bytes())
    (tmp_path / "chapters/02-poller").mkdir(parents=True)
    (tmp_path / "chapters/02-poller/README.md").write_text("# 02 Poller\n")
    text = "before\n<!-- chapters -->\nold\n<!-- /chapters -->\nafter\n"
    at_top = hooks.with_chapter_table(text, "README.md", tmp_path)
    assert "(chapters/02-poller/README.md)" in at_top
    assert "01-socket" not in at_top and "old" not in at_top
    in_docs = hooks.with_chapter_table(text, "docs/index.md", tmp_path)
    assert "(../chapters/02-poller/README.md)" in in_docs
    assert hooks.with_chapter_table(at_top, "README.md", tmp_path) == at_top


def test_the_table_of_parts_says_which_are_planned(tmp_path, hooks):
    (tmp_path / "docs").mkdir()
    (tmp_path / "docs/chapters.json").write_bytes((ROOT / "docs/chapters.json").read_bytes())
    for folder in ("02-poller", "04-looper"):
        (tmp_path / "chapters" / folder).mkdir(parents=True)
        (tmp_path / "chapters" / folder / "README.md").write_text("# x\n")
    rows = hooks.part_table("docs/index.md", tmp_path).splitlines()[2:]
    assert len(rows) == 6
    assert rows[0].startswith("| I | [One thread](../chapters/02-poller/README.md) |") and rows[0].endswith("| 02–04 |")
    assert rows[1].startswith("| II | Many threads |") and rows[1].endswith("| planned |")


def test_the_home_page_has_three_doors(site):
    home = html_of(site, "")
    doors = re.search(r'<div class="turtle-doors">(.*?)</div>', home, re.DOTALL)[1]
    assert re.findall(r'<li>\s*<a href="([^"]+)"', doors) == ["preface/", "your-own-server/", "deployment/"]
    assert "<!-- doors" not in home


def test_links_are_found_in_prose_only(hooks):
    seen = []
    text = (
        "[a](one.md) `[b](two.md)` [`c`](three.md#x)\n\n```cpp\nauto f = [d](four.md) {};\n```\n"
        "<!-- [e](five.md) -->\n\n[g]: six.md\n![h](seven.png \"title\")\n"
    )
    after = hooks.each_link(text, lambda link: seen.append(link) or "X")
    assert sorted(seen) == ["one.md", "seven.png", "six.md", "three.md#x"]
    assert "[d](four.md)" in after and "[b](two.md)" in after and "five.md" in after


def test_links_to_files_become_links_to_pages(hooks):
    page = "chapters/01-socket/README.md"
    assert hooks.target_of("../../docs/design.md#x", page) == ("docs/design.md", "x")
    assert hooks.page_uri("docs/design.md") == "design.md"
    assert hooks.target_of("src/core/socket.h", page) == ("chapters/01-socket/src/core/socket.h", "")
    assert hooks.source_uri("chapters/01-socket/src/core/socket.h").startswith("source/chapters/01-socket/")
    for outside in ("https://example.org/", "#here", "../../../elsewhere.md", "missing.md", "mailto:a@example.org"):
        assert hooks.target_of(outside, page) is None


def test_the_contents_of_a_page_name_each_section_once(site):
    for path in [*site.glob("*/index.html"), *site.glob("chapters/*/index.html")]:
        page = path.parent.relative_to(site).as_posix()
        titles = re.findall(r"<h2\b[^>]*>(.*?)</h2>", path.read_text(encoding="utf-8"))
        if page != "api":
            assert len(titles) == len(set(titles)), page


def test_every_page_has_a_menu(site):
    """Of code, too: there it is in the drawer of a narrow screen, and hidden on a wide one."""
    for page, hidden in (("chapters/04-looper/changes", True), ("source/chapters/04-looper/src/core/looper.cpp", True),
                         ("api/Looper", False), ("", False)):
        text = html_of(site, page)
        assert 'for="__drawer"' in text
        assert bool(re.search(r'data-md-type="navigation" +hidden', text)) is hidden, page
        assert "09 HTTP parser" in text


def test_a_page_of_code_says_where_it_is(site):
    def way(page):
        return re.findall(r"<li><a href=\"([^\"]*)\">([^<]*)", re.search(r'<nav class="turtle-steps".*?</nav>', html_of(site, page))[0])

    assert way("api") == [("../reference/", "Reference")]
    assert way("api/Looper")[1:] == [("../", "Classes"), ("../core/", "core")]
    assert way("chapters/04-looper/changes") == [("../", "04 Looper")]
    assert [text for _, text in way("source/chapters/04-looper/src/core/looper.cpp")] == ["04 Looper"]


def test_what_is_too_wide_scrolls(site):
    assert '<div class="turtle-scroll"><pre class="mermaid">' in html_of(site, "design")
    assert re.search(r'<span class="turtle-scroll"><img [^>]*growth.svg', html_of(site, "growth"))
