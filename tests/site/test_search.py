"""The search: who asks for a name is led to the chapter that explains it first."""

import json
import sys
import types
import urllib.parse

import pytest
from conftest import ROOT
from test_browser import script, wait_for

sys.path.insert(0, str(ROOT / "tools"))

import chapters as book_of_chapters  # noqa: E402
from website import classes, search  # noqa: E402

ASKED = {
    "LruCache": "chapters/15-lru-cache/#stage-1-a-node-in-a-table-and-in-a-list",
    "Connection": "chapters/03-connection/",
    "epoll_wait": "chapters/02-poller/#stage-3-waiting-for-all-of-them",
    "SO_REUSEPORT": "chapters/27-accept-at-scale/#the-idea-in-five-lines",
    "io_uring_enter": "chapters/28-io-uring/#a-complete-echo-first",
    "TimerQueue": "chapters/05-timer/#stage-2-timers",
    "Looper::Post": "chapters/06-thread-pool/#stage-4-a-ticket",
    "recvfrom": "chapters/24-udp/#stage-3-many-by-one-call",
    "recv(2)": "chapters/01-socket/",
    "TURTLE_SERVER::HttpParser": "chapters/09-http-parser/",
    "backpressure": "chapters/03-connection/#the-idea-in-five-lines",
    "connection": "chapters/03-connection/",
}


@pytest.fixture(scope="module")
def index(site):
    return json.loads((site / "search/search_index.json").read_text(encoding="utf-8"))


def results(browser, server, question):
    """The addresses of the first result and its part that is shown at once, as paths below the server's."""
    browser.get(f"{server}?q={urllib.parse.quote(question)}")
    shown = ("[...document.querySelectorAll('.md-search-result__item:first-child a')]"
             ".filter(a => !a.closest('details')).map(a => a.href)")
    wait_for(browser, lambda: script(browser, shown), f"results for {question}")
    return [url.removeprefix(server) for url in script(browser, shown)]


@pytest.mark.parametrize("question", ASKED)
def test_a_name_leads_to_what_explains_it(browser, server, question):
    page, _, anchor = ASKED[question].partition("#")
    found = results(browser, server, question)
    assert found[0].split("?")[0] == page
    if anchor:  # the page, and the one part of it that is shown at once
        assert [url.split("#")[1] for url in found[1:]] == [anchor]


def test_other_questions_are_answered_by_the_theme(browser, server):
    assert results(browser, server, "starve")
    assert "chapters/05-timer/" in results(browser, server, '"monotonic clock"')[0]


def test_every_class_is_found_in_its_chapter(index):
    book = book_of_chapters.Book(ROOT)
    histories = classes.histories(book)
    listed = [entry["location"].split("/")[1] for entry in index["docs"]
              if entry["location"].startswith("api/") and "#" not in entry["location"]]
    assert len(listed) > 150
    names, count = index["config"]["names"], 0
    for name in listed:
        place = names.get(name.lower())
        if place and name in histories:
            folder = book.chapter(histories[name].introduced).folder.name
            assert place.startswith(f"chapters/{folder}/"), name
            count += 1
    assert count > 100


def test_the_reference_comes_after_the_book(index):
    boosts = {entry.get("boost", 1) for entry in index["docs"] if entry["location"].startswith("api/")}
    assert boosts and max(boosts) < 1


PAGE = """# 01 One

A `knot` holds. **Rope** is long, and **this whole sentence here is bold.**

## The code

### Tying

```cpp title="core/rope.h › Rope › Tie"
::tie_rope(knot);
```

## Test it

`Rope` and knot(2), SO_ROPE
"""


def sections():
    return search.read_page(PAGE, 1, "one/", ["top", "the-code", "tying", "test-it"])


def test_the_weightiest_place_is_home():
    assert search.home(sections(), ["Rope"]) == "one/"
    assert search.home(sections(), ["Rope::Tie"]) == "one/#tying"
    assert search.home(sections(), ["knot"]) == "one/#tying"
    assert search.home(sections(), ["SO_ROPE"]) == "one/#test-it"
    assert search.home(sections(), ["gone"]) is None
    assert [each.defined for each in sections()] == [["Rope"], [], [], []]


def test_names_are_those_of_the_system_and_of_the_book():
    nothing = types.SimpleNamespace(compounds={}, free=[])
    names = search.names(sections(), [PAGE], [(1, "x = ::tie_rope(1); y.member(2);")], nothing, {})
    assert names == {"knot": "one/#tying", "rope": "one/", "rope::tie": "one/#tying", "so_rope": "one/#test-it",
                     "tie_rope": "one/#tying"}


def test_a_page_whose_headings_are_not_known_is_an_error():
    with pytest.raises(ValueError, match="4 headings, 1 anchor"):
        search.read_page(PAGE, 1, "one/", ["top"])


def test_a_place_that_is_not_there_is_found(tmp_path, site_tool):
    (tmp_path / "index.html").write_text('<h1 id="here">c</h1>')
    (tmp_path / "search").mkdir()
    data = {"config": {"names": {"x": "#gone"}}, "docs": [{"location": ""}, {"location": "lost/"}, {"location": "#here"}]}
    (tmp_path / "search/search_index.json").write_text(json.dumps(data))
    assert site_tool.check_links(tmp_path) == ["the search: #gone: no such anchor", "the search: lost/: no such page"]
