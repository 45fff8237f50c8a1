"""Who reads with other means than eyes and a mouse, or on a telephone, reads the same book."""

import importlib.util
import pathlib

import pytest
from selenium.webdriver.support.ui import WebDriverWait

AXE = pathlib.Path(importlib.util.find_spec("axe_playwright_python").origin).with_name("axe.min.js")
NARROW = 360  # the width of a small telephone, in CSS pixels

# One page of each kind. The longest are left to the eye: axe takes minutes for them.
KINDS = (
    "",
    "chapters/03-connection/",
    "chapters/03-connection/changes/",
    "source/chapters/03-connection/src/core/buffer.h/",
    "api/",
    "api/Connection/",
    "microseconds/",
    "404.html",
)


def browse(browser, page, scheme, width):
    """Opens `page` with these settings, which stay until reset()."""
    browser.execute_cdp_cmd(
        "Emulation.setEmulatedMedia", {"features": [{"name": "prefers-color-scheme", "value": scheme}]}
    )
    browser.execute_cdp_cmd(
        "Emulation.setDeviceMetricsOverride",
        {"width": width, "height": 900, "deviceScaleFactor": 1, "mobile": False},
    )
    browser.get(page)
    browser.execute_script("localStorage.clear()")  # the scheme of the page before is kept there
    browser.get(page)


@pytest.fixture
def reset(browser):
    yield
    browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": []})
    browser.execute_cdp_cmd("Emulation.clearDeviceMetricsOverride", {})


def complaints_of(browser):
    """What axe finds and calls serious or critical: rule, place, and why."""
    browser.execute_script(AXE.read_text(encoding="utf-8"))
    found = browser.execute_async_script(
        "const done = arguments[0];"
        "axe.run(document, {resultTypes: ['violations']}).then(r => done(r.violations), e => done(String(e)))"
    )
    assert isinstance(found, list), found
    return [
        f"{rule['id']} ({rule['impact']}): {node['target'][0]}: {node['failureSummary'].splitlines()[-1].strip()}"
        for rule in found if rule["impact"] in ("serious", "critical") for node in rule["nodes"]
    ]


@pytest.mark.parametrize(("scheme", "width"), [("light", 1400), ("dark", NARROW)])
@pytest.mark.parametrize("page", KINDS, ids=lambda page: page or "home")
def test_axe_finds_nothing_serious(browser, server, reset, page, scheme, width):
    browse(browser, server + page, scheme, width)
    assert complaints_of(browser) == []


def test_axe_would_find_something(browser, server):
    browser.get(server)
    browser.execute_script("document.querySelector('h1').innerHTML = '<button></button>'")
    assert any("button-name" in line for line in complaints_of(browser))


def test_a_telephone_scrolls_in_one_direction_only(browser, server, site, reset):
    browse(browser, server, "light", NARROW)
    for page in (*KINDS, *(f"{path.parent.relative_to(site)}/" for path in sorted(site.glob("*/index.html")))):
        browser.get(server + page)
        # A wide table gets a box of its own, which scrolls, when the page's script has run.
        WebDriverWait(browser, 20).until(
            lambda _: browser.execute_script("return document.documentElement.scrollWidth") <= NARROW, page
        )


def test_a_console_block_is_copied_without_what_was_printed(browser, server):
    browser.get(server + "chapters/03-connection/")
    copied = browser.execute_script(
        "const block = [...document.querySelectorAll('.language-console')].find(e => e.querySelector('.go'));"
        "const button = document.createElement('button');"
        "block.querySelector('code').id = 'the-block';"
        "button.dataset.clipboardTarget = '#the-block';"
        "block.append(button); button.click();"
        "return [block.querySelector('code').textContent, button.dataset.clipboardText]"
    )
    assert copied[0].startswith("$ ") and not copied[1].startswith("$")
    assert copied[1] in copied[0].replace("\n$ ", "\n").removeprefix("$ ")
    assert len(copied[1]) < len(copied[0]) - 2


def test_what_scrolls_sideways_is_reached_by_the_keyboard(browser, server, reset):
    browse(browser, server + "chapters/03-connection/", "light", NARROW)
    wrong = (
        "[...document.querySelectorAll('pre > code')]"
        ".filter(e => (e.scrollWidth > e.clientWidth) !== (e.tabIndex === 0)).length"
    )
    assert browser.execute_script(
        "return [...document.querySelectorAll('pre > code')].some(e => e.scrollWidth > e.clientWidth)"
    )
    browser.execute_script("document.querySelectorAll('details').forEach(e => e.open = true)")
    WebDriverWait(browser, 20).until(lambda _: browser.execute_script(f"return {wrong}") == 0)
