"""The Chinese side of the site: its pages, the switch of languages, its navigation and its search."""

import json
import re
import sys
import urllib.parse

import pytest
from conftest import ROOT
from test_browser import click, script, wait_for

sys.path.insert(0, str(ROOT / "tools"))

import translations  # noqa: E402
from website import languages  # noqa: E402

PAGES = [languages.url_of(uri) for uri in languages.pages(ROOT).values()]
ASKED = {
    "背压": "zh/chapters/03-connection/",
    "边缘触发": "zh/chapters/02-poller/",
    "套接字": "zh/chapters/01-socket/",
    "握手": "zh/chapters/01-socket/",
    "高水位": "zh/chapters/03-connection/",
    "三种读法": "zh/",
    "epoll_wait": "zh/chapters/02-poller/",
    "Connection": "zh/chapters/03-connection/",
    "IoUringEngine": "chapters/28-io-uring/",  # in English
    "io_uring_enter": "chapters/28-io-uring/",
}


def html_of(site, url):
    return (site / url / "index.html").read_text(encoding="utf-8")


def headings(text):
    return re.findall(r'<h[1-6] id="([^"]+)"', text)


def alternates(text):
    return re.findall(r'<link rel="alternate translation" hreflang="([^"]+)" href="([^"]+)"', text)


def test_what_is_translated_has_its_page(site):
    assert {"zh/", "zh/preface/", "zh/chapters/01-socket/"} <= set(PAGES)
    for url in PAGES:
        assert re.search(r"<h1[^>]*>", html_of(site, url)), url
    for name in ("preface.zh", "index.zh", "zh/phrases.json", "zh/README"):
        assert not (site / name).exists(), name


@pytest.mark.parametrize("url", PAGES)
def test_a_translation_is_the_twin_of_its_source(site, url):
    english = url.removeprefix("zh/")
    pages = {"en": html_of(site, english), "zh-Hans": html_of(site, url)}
    for tag, text in pages.items():
        assert re.search(rf'<html lang="{tag}"', text)
        here = english if tag == "en" else url
        found = {key: urllib.parse.urljoin("/" + here, link) for key, link in alternates(text)}
        assert found == {"en": "/" + english, "zh-Hans": "/" + url, "x-default": "/" + english}
    assert headings(pages["zh-Hans"]) == headings(pages["en"])


def test_the_line_that_leads_to_the_other_language_is_for_code_hosts(site):
    for path, uri in languages.pages(ROOT).items():
        url = languages.url_of(uri)
        for page, address in ((path, url), (languages.source_of(path), url.removeprefix("zh/"))):
            markdown = (ROOT / page).read_text(encoding="utf-8")
            assert translations.switched(markdown, page) == markdown
            article = html_of(site, address).split("<article")[1].split("</article>")[0]
            assert "简体中文" in markdown and "简体中文" not in article, address


def test_a_page_without_a_translation_claims_none(site):
    for url in ("glossary/", "zh/terms/", "api/Connection/"):
        assert alternates(html_of(site, url)) == [], url


def test_the_titles_of_excerpts_lead_to_the_code(site):
    text = html_of(site, "zh/chapters/02-poller/")
    assert re.search(r'class="filename"><a hreflang="en" href="../../../source/chapters/02-poller/src/[^"]+#L\d+"', text)
    assert 'href="../../../chapters/02-poller/changes/"' in text
    assert re.search(r'href="../../../api/Poller/"', text)


def test_what_is_not_translated_is_said_to_be_english(site):
    navigation = html_of(site, "zh/").split("<nav class=\"md-nav md-nav--primary")[1].split("</nav>\n")[0]
    marked = re.findall(r'<a href="([^"]+)" class="md-nav__link">\s*<span class="md-ellipsis">\s*(.*?)\s*</span>',
                        html_of(site, "zh/"), re.DOTALL)
    assert navigation and marked
    for link, title in marked:
        if "#" not in link:
            assert title.endswith("（英文）") == link.startswith("../"), (link, title)
    assert ("../chapters/28-io-uring/", "28 io_uring（英文）") in marked


def test_the_navigation_has_its_phrases(site):
    def titles(url):
        entry = r'<a href="[^"#]+" class="md-nav__link[^"]*">\s*<span class="md-ellipsis">\s*(?:\d\d )?(.*?)\s*</span>'
        return {title.removesuffix("（英文）") for title in re.findall(entry, html_of(site, url), re.DOTALL)}

    phrases = translations.Phrases(translations.load_phrases())
    english, chinese = titles("chapters/01-socket/"), titles("zh/chapters/01-socket/")
    assert "Poller" in english and "轮询器" in chinese
    assert {phrases(title) for title in english} <= chinese
    assert phrases.missing == set()


def test_a_link_to_an_english_page_says_so(site):
    text = html_of(site, "zh/preface/")
    assert '<a hreflang="en" href="../../glossary/">术语表</a>' in text
    assert re.search(r'<a href="preface/">读这本书</a>', html_of(site, "zh/"))
    page = '<a href="#x"><a href="../y/#z"><a href="https://a.b/"><a href="../../c/">'
    marked = languages.with_marked_links(page, "zh/p/")
    assert marked == page.replace('<a href="../../c/">', '<a hreflang="en" href="../../c/">')


def test_the_note_says_what_has_fallen_behind(tmp_path):
    (tmp_path / "docs").mkdir()
    source = "# A\n\nOne.\n\n## B `c`\n\nTwo.\n\n## D\n\nThree.\n"
    text = translations.noted("# 甲\n\n一。\n\n## 乙\n\n二。\n\n## 丁\n\n三。\n", source, [])
    (tmp_path / "docs/a.md").write_text(source, encoding="utf-8")
    made = languages.prepared(text, "docs/a.zh.md", tmp_path, "../a.md")
    assert "!!!" not in made and "## 乙 {#b-c}\n" in made
    (tmp_path / "docs/a.md").write_text(source.replace("Two.", "2."), encoding="utf-8")
    made = languages.prepared(text, "docs/a.zh.md", tmp_path, "../a.md")
    head, section = made.split("## 乙 {#b-c}\n")
    assert "[乙](#b-c)" in head and "丁" not in head
    assert section.startswith('\n!!! warning "本节译文落后于原文"\n') and "[原文](../a.md#b-c)" in section
    english = re.sub(r"<!-- from: \w+ D -->\n## 丁\n\n三。", "<!-- from: untranslated D -->\n## D\n\nThree.", text)
    made = languages.prepared(english, "docs/a.zh.md", tmp_path, "../a.md")
    assert '!!! note "本节尚未翻译"' in made and '<div lang="en" markdown="1">\n\nThree.\n\n</div>' in made


def test_each_search_keeps_to_its_language(site):
    indexes = [json.loads((site / folder / "search/search_index.json").read_text(encoding="utf-8"))
               for folder in ("", "zh")]
    english, chinese = ([entry["location"].split("#")[0] for entry in index["docs"]] for index in indexes)
    assert not [page for page in english if page.startswith("zh/")]
    own = {page for page in chinese if not page.startswith("../")}
    assert {"zh/" + page for page in own} == {*PAGES, "zh/terms/"}
    assert not own & {page.removeprefix("../") for page in chinese if page.startswith("../")}
    others = [entry for entry in indexes[1]["docs"] if entry["location"].startswith("../")]
    assert max(entry["boost"] for entry in others) < 0.2
    assert {entry["location"].split("#")[0] for entry in indexes[1]["docs"] if entry not in others
            and entry.get("boost", 1) != 1} == {"terms/"}


@pytest.mark.parametrize("question", ASKED)
def test_the_search_understands_chinese(browser, server, question):
    browser.get(f"{server}zh/?q={urllib.parse.quote(question)}")
    shown = "[...document.querySelectorAll('.md-search-result__item:first-child a')].map(a => a.href)"
    wait_for(browser, lambda: script(browser, shown), f"results for {question}")
    assert script(browser, shown)[0].split("?")[0].split("#")[0] == server + ASKED[question]


def switch(browser, tag):
    """Chooses a language; the list of them is shown while the mouse is there only."""
    link = f".md-select__link[hreflang={tag}]"
    wait_for(browser, lambda: script(browser, "document.readyState") == "complete", "the page")
    script(browser, f"document.querySelector('{link}').click()")


def test_the_switch_leads_to_the_same_page_or_home(browser, server):
    for start, tag, end in (
        ("chapters/01-socket/", "zh-Hans", "zh/chapters/01-socket/"),
        ("zh/chapters/01-socket/", "en", "chapters/01-socket/"),
        ("", "zh-Hans", "zh/"),
        ("zh/", "en", ""),
        ("glossary/", "zh-Hans", "zh/"),
        ("zh/terms/", "en", ""),
        ("api/Connection/", "zh-Hans", "zh/"),
        ("api/Connection/", "en", "api/Connection/"),
    ):
        browser.get(server + start)
        switch(browser, tag)
        wait_for(browser, lambda end=end: browser.current_url == server + end, f"{start} to {tag}")


def test_the_navigation_leads_through_the_translation_and_on(browser, server, hooks):
    browser.get(server + "zh/")
    assert "搜索" in script(browser, "document.querySelector('.md-search__input').placeholder")
    click(browser, ".md-nav--primary a", "02 轮询器")
    assert browser.current_url == server + "zh/chapters/02-poller/"
    click(browser, "a.md-footer__link--prev")
    for chapter in hooks.chapters()[1]:
        page = f"chapters/{chapter['folder']}/"
        if f"zh/{page}" not in PAGES:
            assert browser.current_url == server + page
            break
        assert browser.current_url == f"{server}zh/{page}"
        title = script(browser, "document.querySelector('a.md-footer__link--next').innerText")
        click(browser, "a.md-footer__link--next")
    assert title.strip().endswith("（英文）")
