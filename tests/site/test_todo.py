"""A browser uses the page of the to-do service, an example of chapters 16 and 18."""

import contextlib
import pathlib
import tempfile

import pytest
import serving
from test_browser import complaints, script, wait_for

TITLES = "[...document.querySelectorAll('#list .title')].map(title => title.innerText)"
DONE = "[...document.querySelectorAll('#list :checked + .title')].map(title => title.innerText)"


@contextlib.contextmanager
def todo(port=0):
    """A new service, which has never known anything; for a `with`."""
    program = serving.BINARY.parent / "examples" / "todo"
    assert program.is_file(), f"{program} is not there: build all of final"
    with tempfile.TemporaryDirectory() as folder:
        database = pathlib.Path(folder, "todo.db")
        with contextlib.closing(serving.Server(program, port, program.parent / "todo_page", database)) as service:
            yield service


@pytest.fixture
def page(browser):
    """The address of the page of a new service; the browser has it open."""
    with todo() as service:
        address = f"http://{service.url}/"
        browser.get(address)
        wait_for_summary(browser, "Nothing to do.")
        complaints(browser)
        yield address
        browser.get("about:blank")
        assert complaints(browser) == []
        assert service.stop() == (0, "")


def wait_for_titles(browser, titles, done=()):
    wait_for(browser, lambda: script(browser, TITLES) == list(titles), f"the titles {titles}")
    wait_for(browser, lambda: script(browser, DONE) == list(done), f"{done} to be done")


def wait_for_summary(browser, text):
    wait_for(browser, lambda: script(browser, "document.querySelector('#summary').innerText") == text, text)


def add(browser, title):
    browser.find_element("css selector", "#new").send_keys(title + "\n")


def row(browser, title):
    """The elements of the row with this title, by selector."""
    items = browser.find_elements("css selector", "#list li")
    found = next(item for item in items if item.find_element("css selector", ".title").text == title)
    return lambda selector: found.find_element("css selector", selector)


def test_what_is_added_ticked_and_edited_is_kept(browser, page):
    for title in ("milk", "bread", "jam"):
        add(browser, title)
        wait_for(browser, lambda title=title: title in script(browser, TITLES), title)
    assert script(browser, "document.querySelector('#new').value") == ""
    row(browser, "milk")("[type=checkbox]").click()
    wait_for_titles(browser, ["milk", "bread", "jam"], done=["milk"])
    wait_for_summary(browser, "2 of 3 to do")

    bread = row(browser, "bread")
    bread(".edit").click()
    bread("form input").clear()
    bread("form input").send_keys("rye bread\n")
    wait_for_titles(browser, ["milk", "rye bread", "jam"], done=["milk"])
    assert not bread("form").is_displayed()
    row(browser, "jam")(".delete").click()
    wait_for_titles(browser, ["milk", "rye bread"], done=["milk"])

    browser.get(page)
    wait_for_titles(browser, ["milk", "rye bread"], done=["milk"])


def test_an_edit_can_be_given_up(browser, page):
    add(browser, "milk")
    wait_for_titles(browser, ["milk"])
    milk = row(browser, "milk")
    for give_up in (lambda: milk("form input").send_keys("\N{ESCAPE}"), lambda: milk(".cancel").click()):
        milk(".edit").click()
        assert script(browser, "document.activeElement.value") == "milk"
        milk("form input").send_keys(" and honey")
        give_up()
        assert milk(".title").is_displayed()
        assert milk(".title").text == "milk"


def test_a_second_window_sees_it_at_once(browser, page):
    first = browser.current_window_handle
    browser.switch_to.new_window("window")
    try:
        browser.get(page)
        wait_for_summary(browser, "Nothing to do.")
        second = browser.current_window_handle
        browser.switch_to.window(first)
        add(browser, "milk")
        wait_for_titles(browser, ["milk"])
        browser.switch_to.window(second)
        wait_for_titles(browser, ["milk"])
        row(browser, "milk")("[type=checkbox]").click()
        browser.switch_to.window(first)
        wait_for_titles(browser, ["milk"], done=["milk"])
        browser.switch_to.window(second)
    finally:
        browser.close()
        browser.switch_to.window(first)


def test_a_page_finds_its_server_again(browser):
    with todo() as service:
        browser.get(f"http://{service.url}/")
        add(browser, "milk")
        wait_for_titles(browser, ["milk"])
        assert service.stop() == (0, ""), "an open page keeps nobody from stopping"
    wait_for_summary(browser, "Connecting …")
    with todo(service.port):
        wait_for_summary(browser, "Nothing to do.")
        browser.get("about:blank")
    complaints(browser)  # of connections that were refused meanwhile


def test_who_is_editing_is_not_disturbed(browser, page):
    add(browser, "milk")
    wait_for_titles(browser, ["milk"])
    milk = row(browser, "milk")
    milk(".edit").click()
    milk("form input").send_keys(" and hon")
    fetched = browser.execute_async_script(
        "const done = arguments[0];"
        "fetch('/api/todos', {method: 'POST', headers: {'Content-Type': 'application/json'},"
        " body: JSON.stringify({title: 'from elsewhere'})}).then(answer => done(answer.status))"
    )
    assert fetched == 201
    wait_for(browser, lambda: len(browser.find_elements("css selector", "#list li")) == 2, "the other one")
    milk("form input").send_keys("ey\n")
    wait_for_titles(browser, ["milk and honey", "from elsewhere"])


def test_a_title_is_text_whatever_it_is(browser, page):
    titles = ["<img src=x onerror=alert(1)>", "</script><script>alert(2)</script>", "&amp; &lt;b&gt;"]
    for number, title in enumerate(titles):
        add(browser, title)
        wait_for_titles(browser, titles[:number + 1])
    assert script(browser, "document.querySelectorAll('#list img, #list script').length") == 0


def test_a_script_in_the_page_would_not_run(browser, page):
    title = browser.execute_async_script(
        "const done = arguments[0];"
        "document.querySelector('#summary').innerHTML = '<img src=lost onerror=\"document.title = 1\">';"
        "document.querySelector('#summary img').addEventListener('error', () => done(document.title));"
    )
    assert title == "To do"
    assert any("Content Security Policy" in complaint for complaint in complaints(browser))


def test_what_the_server_refuses_is_said(browser, page):
    script(browser, "document.querySelector('#new').removeAttribute('maxlength')")
    add(browser, "x" * 201)
    problem = browser.find_element("css selector", "#problem")
    wait_for(browser, lambda: problem.text == "title must have at most 200 characters, not 201", "the reason")
    wait_for_titles(browser, [])
    assert ["400" in complaint for complaint in complaints(browser)] == [True]
    browser.find_element("css selector", "#new").clear()
    add(browser, "x" * 200)
    wait_for_titles(browser, ["x" * 200])
    assert problem.text == ""
