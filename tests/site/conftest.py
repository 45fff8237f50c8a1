"""The site and the server for these tests.

TURTLE_SITE    a site that is built already; without it one is built
TURTLE_BINARY  the `turtle` to serve it with; without it build/final/turtle
CHROMIUM, CHROMEDRIVER  where they are, if not on the PATH
"""

import contextlib
import importlib.util
import os
import pathlib
import shutil
import subprocess
import sys

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.dont_write_bytecode = True
sys.path.insert(0, str(ROOT / "tests" / "support"))

import serving  # noqa: E402

# Without the program there is nothing to open; with it, nothing may be left out.
collect_ignore = [] if (ROOT / "final/src/app/main.cpp").exists() else ["test_browser.py"]
if not (ROOT / "final/examples/todo.cpp").exists():
    collect_ignore.append("test_todo.py")
if not (ROOT / "final/src/ops/dashboard").exists():
    collect_ignore.append("test_dashboard.py")
if not (ROOT / "final/examples/web_chat.cpp").exists():
    collect_ignore.append("test_web_chat.py")


def load(path, name):
    spec = importlib.util.spec_from_file_location(name, ROOT / path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="session")
def site_tool():
    return load("tools/site.py", "turtle_site")


@pytest.fixture(scope="session")
def hooks():
    return load("docs/hooks.py", "turtle_hooks")


@pytest.fixture(scope="session")
def site(tmp_path_factory):
    """The folder of the built site."""
    if "TURTLE_SITE" in os.environ:
        return pathlib.Path(os.environ["TURTLE_SITE"]).resolve()
    target = tmp_path_factory.mktemp("built") / "site"
    subprocess.run([sys.executable, ROOT / "tools/site.py", "build", target], check=True, timeout=600)
    return target


@pytest.fixture(scope="session")
def server(site):
    """The address of `turtle` serving the site: http://127.0.0.1:PORT/"""
    turtle = serving.Turtle(site, "--address", "127.0.0.1")
    try:
        yield f"{turtle.url}/"
        assert turtle.stop()[0] == 0
    finally:
        turtle.close()


@pytest.fixture(scope="session")
def browser(tmp_path_factory):
    """Headless Chromium that can reach nothing but 127.0.0.1."""
    from selenium import webdriver

    chromium = os.environ.get("CHROMIUM") or shutil.which("chromium") or shutil.which("chromium-browser")
    driver = os.environ.get("CHROMEDRIVER") or shutil.which("chromedriver")
    assert chromium and driver, "chromium and chromedriver are needed: apt-get install chromium-driver"
    options = webdriver.ChromeOptions()
    options.binary_location = chromium
    for argument in (
        "--headless", "--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-dev-shm-usage",
        "--disable-background-networking", "--disable-component-update", "--disable-sync",
        "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1", "--no-proxy-server",
        "--window-size=1400,1000", f"--user-data-dir={tmp_path_factory.mktemp('profile')}",
    ):
        options.add_argument(argument)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL", "performance": "ALL"})
    chrome = webdriver.Chrome(options=options, service=webdriver.ChromeService(driver))
    chrome.set_page_load_timeout(30)
    # Material draws into closed shadow trees; opened, the drawings can be looked at.
    chrome.execute_cdp_cmd(
        "Page.addScriptToEvaluateOnNewDocument",
        {"source": "const attach = Element.prototype.attachShadow;"
                   "Element.prototype.attachShadow = function() { return attach.call(this, {mode: 'open'}); };"},
    )
    yield chrome
    with contextlib.suppress(Exception):
        chrome.quit()
