"""The site and the server for these tests.

TURTLE_SITE    a site that is built already; without it one is built
TURTLE_BINARY  the `turtle` to serve it with; without it build/final/turtle
CHROMIUM, CHROMEDRIVER  where they are, if not on the PATH
"""

import contextlib
import importlib.util
import os
import pathlib
import re
import select
import shutil
import signal
import subprocess
import sys
import time

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.dont_write_bytecode = True

# Without the program there is nothing to open; with it, nothing may be left out.
collect_ignore = [] if (ROOT / "final/src/app/main.cpp").exists() else ["test_browser.py"]


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


def read_line(stream, seconds):
    """One line of a pipe, or what came of it until the time was up."""
    line, deadline = b"", time.monotonic() + seconds
    while not line.endswith(b"\n"):
        left = deadline - time.monotonic()
        if left <= 0 or not select.select([stream], [], [], left)[0]:
            break
        byte = os.read(stream.fileno(), 1)
        if not byte:
            break
        line += byte
    return line.decode()


@pytest.fixture(scope="session")
def server(site):
    """The address of `turtle` serving the site: http://127.0.0.1:PORT/"""
    turtle = pathlib.Path(os.environ.get("TURTLE_BINARY", ROOT / "build/final/turtle"))
    assert turtle.is_file(), f"{turtle} is not there: build final, or set TURTLE_BINARY"
    process = subprocess.Popen(
        [turtle, "serve", site, "--address", "127.0.0.1", "--port", "0"], stdout=subprocess.PIPE
    )
    try:
        line = read_line(process.stdout, 10)
        address = re.search(r"http://127\.0\.0\.1:\d+/", line)
        assert address, f"the first line of `turtle serve` names no address: {line!r}"
        yield address.group()
        process.send_signal(signal.SIGTERM)
        assert process.wait(timeout=15) == 0
    finally:
        if process.poll() is None:
            process.kill()
            process.wait()
        process.stdout.close()


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
