"""A browser reads the site that `turtle` serves."""

import json
import pathlib

import pytest

SECONDS = 20  # for anything to appear


def wait_for(browser, condition, what):
    from selenium.webdriver.support.ui import WebDriverWait

    return WebDriverWait(browser, SECONDS).until(lambda _: condition(), what)


def script(browser, code, *arguments):
    return browser.execute_script("return " + code, *arguments)


def click(browser, selector, text=None):
    """Clicks the first link that is visible and, if given, has this text."""
    def find():
        for element in browser.find_elements("css selector", selector):
            if element.is_displayed() and (text is None or text in element.text):
                return element
        return None

    before = browser.current_url
    wait_for(browser, find, f"no {selector} with {text!r}").click()
    wait_for(browser, lambda: browser.current_url != before, f"{selector} {text!r} leads nowhere")


def requests(browser):
    """The URLs that the browser has asked for since the last call."""
    urls = []
    for entry in browser.get_log("performance"):
        message = json.loads(entry["message"])["message"]
        if message["method"] == "Network.requestWillBeSent":
            urls.append(message["params"]["request"]["url"])
    return urls


def complaints(browser):
    return [entry["message"] for entry in browser.get_log("browser") if entry["level"] == "SEVERE"]


@pytest.fixture(autouse=True)
def quiet(browser, server):
    """No test may leave a complaint in the console, or ask anybody but the server."""
    requests(browser)
    complaints(browser)
    yield
    foreign = [url for url in requests(browser) if not url.startswith((server, "data:", "blob:"))]
    assert [url for url in foreign if url.startswith(("http", "ws"))] == []
    assert complaints(browser) == []


def pages_of(site):
    """The pages of the book, as paths below the server's address."""
    pages = [path.parent.relative_to(site).as_posix() for path in site.rglob("index.html")]
    return sorted("" if page == "." else page + "/" for page in pages
                  if not page.startswith(("api", "source")))


def test_every_page_opens(browser, server, site):
    pages = pages_of(site)
    assert len(pages) >= 7
    for page in pages:
        browser.get(server + page)
        assert script(browser, "document.querySelector('h1')?.innerText"), page
        assert script(browser, "getComputedStyle(document.querySelector('.md-header')).position") == "sticky", page


def test_the_navigation_leads_through_the_book(browser, server, hooks):
    browser.get(server)
    _, chapters = hooks.chapters()
    click(browser, ".md-nav--primary a", f"{chapters[0]['folder'][:2]} {chapters[0]['title']}")
    for chapter in chapters:
        assert browser.current_url == f"{server}chapters/{chapter['folder']}/"
        click(browser, "a.md-footer__link--next")
    assert browser.current_url == server + "your-own-server/"


def test_the_table_leads_to_the_chapters(browser, server, hooks):
    _, chapters = hooks.chapters()
    browser.get(server + "reading-map/")
    click(browser, ".md-content table a", chapters[-1]["title"])
    assert browser.current_url == f"{server}chapters/{chapters[-1]['folder']}/"


def test_the_reference_is_reached(browser, server):
    browser.get(server + "reference/")
    click(browser, ".md-content a", "reference of all classes")
    assert browser.current_url.startswith(server + "api/")
    click(browser, ".md-content table a", "NetAddress")
    assert browser.current_url == server + "api/NetAddress/"
    assert "NetAddress" in browser.title


def test_a_search_finds_a_chapter(browser, server, hooks):
    _, chapters = hooks.chapters()
    title = f"{chapters[-1]['folder'][:2]} {chapters[-1]['title']}"
    browser.get(server)
    field = browser.find_element("css selector", "input.md-search__input")
    field.click()
    field.send_keys(title)
    click(browser, ".md-search-result__item h1", title)  # a part of the link where nothing scrolls
    assert f"/chapters/{chapters[-1]['folder']}/" in browser.current_url


def test_code_is_titled_and_coloured(browser, server, site):
    for page in pages_of(site):
        if not page.startswith("chapters/") or page.endswith("/changes/"):
            continue
        browser.get(server + page)
        titles = script(browser, "[...document.querySelectorAll('.highlight .filename')].map(e => e.innerText)")
        assert any("›" in title for title in titles), f"{page} has no titled excerpt"
        assert script(browser, "document.querySelectorAll('.language-cpp code span[class]').length") > 0, page


def test_a_screenshot_can_be_kept(browser, server, tmp_path):
    browser.get(server)
    target = pathlib.Path(tmp_path) / "index.png"
    assert browser.save_screenshot(str(target))
    assert target.stat().st_size > 10_000
