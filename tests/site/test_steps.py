"""Pictures that are stepped through: what they say is in the code, and a browser steps through them."""

import base64
import dataclasses
import json
import re
import sys

import pytest
from conftest import ROOT
from test_browser import complaints, requests, script, wait_for

sys.path.insert(0, str(ROOT / "tools"))

import chapters as book_of_chapters  # noqa: E402
import translations  # noqa: E402
from website import languages, steps  # noqa: E402

BOOK = book_of_chapters.Book(ROOT)
WORDS = {
    "": {"buttons": ["Reset", "Back", "Play", "Next"], "pause": "Pause", "count": "{} of {}"},
    languages.PREFIX: {"buttons": ["重来", "上一步", "播放", "下一步"], "pause": "暂停", "count": "{} / {}"},
}


@dataclasses.dataclass(frozen=True)
class Picture:
    """One on a chapter's page, on the home page, or on a translation."""

    chapter: book_of_chapters.Chapter  # whose code it shows
    name: str
    sentences: list[str]
    prefix: str = ""  # of the page's address
    is_home: bool = False

    def page(self):
        return self.prefix if self.is_home else f"{self.prefix}chapters/{self.chapter.folder.name}/"

    def words(self):
        return WORDS[self.prefix]

    def scene(self):
        """As the page shows it."""
        say = translations.Phrases(translations.load_phrases()) if self.prefix else str
        return steps.in_words(steps.read_scene(ROOT, self.name), say)


def pictures():
    places = [(chapter, chapter.folder, "README", False) for chapter in BOOK.chapters]
    places.append((BOOK.chapters[-1], ROOT / "docs", "index", True))
    return [
        Picture(chapter, name, sentences, prefix, is_home)
        for chapter, folder, stem, is_home in places
        for prefix, suffix in (("", ".md"), (languages.PREFIX, translations.SUFFIX))
        if (folder / (stem + suffix)).is_file()
        for name, sentences in steps.blocks((folder / (stem + suffix)).read_text(encoding="utf-8"))
    ]


PICTURES = {picture.prefix + picture.name: picture for picture in pictures()}
EACH = pytest.mark.parametrize("picture", PICTURES.values(), ids=PICTURES)


# ---------------------------------------------------------------- what they say


def test_all_scenes_are_shown():
    names = [picture.name for picture in PICTURES.values() if not picture.prefix]
    assert sorted(names) == sorted(path.stem for path in (ROOT / steps.SCENES).iterdir())
    assert {"zh/level-and-edge", "zh/backpressure"} <= set(PICTURES)


def code_of(chapter):
    """All that the chapter's program is made of."""
    return "\n".join(
        (owner.folder / path).read_text(encoding="utf-8")
        for path, owner in BOOK.layout(chapter.number).items()
        if path.startswith(("src/", "examples/"))
    )


@EACH
def test_they_name_what_is_in_the_code(picture):
    chapter, name, sentences, scene = picture.chapter, picture.name, picture.sentences, picture.scene()
    code = code_of(chapter)
    said = [text for step in scene["steps"] for text in step.get("text", {}).values()]
    called = {call for text in [*sentences, *said] for call in re.findall(r"\b([A-Za-z]\w*)\(\)", text)}
    spelt = {word for text in sentences for word in re.findall(r"`([\w:]+)`", text)}
    assert called
    for call in called:
        assert re.search(rf"\b{call}\(", code), f"{name}: {call}() is nowhere in chapter {chapter.number:02}"
    for word in spelt:
        assert word.split("::")[-1] in code, f"{name}: {word} is nowhere in chapter {chapter.number:02}"


def test_the_marks_are_those_of_the_code():
    header = (ROOT / "chapters/03-connection/src/core/connection.h").read_text(encoding="utf-8")
    numbers = dict(re.findall(r"(kHighWater|kLowWater|kRecvSize) = std::size_t\{(\d+)\} \* 1024", header))
    for name, said in (
        ("backpressure", ("high-water mark, {kHighWater} KB", "low-water mark, {kLowWater} KB", "takes {kRecvSize} KB")),
        ("zh/backpressure", ("高水位，{kHighWater} KB", "低水位 {kLowWater} KB", "最多取 {kRecvSize} KB")),
    ):
        text = " ".join(PICTURES[name].sentences)
        assert [each for each in said if each.format(**numbers) not in text] == []
    (marks,) = [part["marks"] for part in steps.read_scene(ROOT, "backpressure")["parts"] if part["id"] == "out"]
    assert [mark for _, mark in marks] == [f"{numbers['kHighWater']} KB", f"{numbers['kLowWater']} KB"]
    echo = (ROOT / "chapters/02-poller/examples/echo_server.cpp").read_text(encoding="utf-8")
    assert "std::array<char, 65536> bytes_" in echo  # "has room for 64 KB"


def test_a_hand_over_has_the_numbers_and_words_of_the_code():
    folder = ROOT / "chapters/26-restart/src"
    place = re.search(r"kFirstFd = (\d+);", (folder / "ops/inherited_listeners.h").read_text(encoding="utf-8"))[1]
    sentences, scene = PICTURES["hand-over"].sentences, PICTURES["hand-over"].scene()
    assert f"the listener as descriptor {place} and the pipe as {int(place) + 1}" in " ".join(sentences)
    assert {place, str(int(place) + 1)} <= {part.get("token") for part in scene["parts"]}
    said = dict(re.findall(r'(kReady|kFailed) = "([A-Z]+=1?)', (folder / "app/hand_over.cpp").read_text(encoding="utf-8")))
    in_the_pipe = [step["text"]["pipe"].rstrip("…") for step in scene["steps"] if step.get("text", {}).get("pipe")]
    assert [text for text in in_the_pipe if text in said.values()] == [said["kFailed"], said["kReady"]]
    assert "last_chance{1000}" in (folder / "core/server_options.h").read_text(encoding="utf-8")
    assert "a second at most" in " ".join(sentences)


def test_in_a_ring_an_entry_is_where_head_and_tail_say():
    rings = {"s": (0, 185), "c": (185, 400)}  # submissions and completions, by their place in the drawing
    where, moved = {}, []
    for number, step in enumerate(steps.read_scene(ROOT, "ring-round")["steps"], 1):
        for part, at in step.get("at", {}).items():
            if part in where and at:
                assert part in step["on"], (number, part)  # a part that moves is drawn boldly
                moved.append(part)
            where[part] = at
        for ring, (left, right) in rings.items():
            head, tail = where[f"{ring}head"][0], where[f"{ring}tail"][0]
            entries = {at[0] for part, at in where.items()
                       if part in ("recv", "send", "b0", "b1") and at and at[1] == 129 and left < at[0] < right}
            assert left < head <= tail < right, (number, ring)
            if head < tail:
                assert entries and all(head <= entry < tail for entry in entries), (number, ring)
            else:  # Next() has given an entry, and Enter() has not moved the tail yet
                assert entries <= ({tail} if ring == "s" else set()), (number, ring)
    assert {"shead", "stail", "chead", "ctail", "btail", "recv", "send", "b0", "b1"} == set(moved)
    assert where["btail"][0] > where["b0"][0]  # GiveBack() has moved it past the buffer


def test_each_kind_has_its_colours():
    css = (ROOT / "docs/assets/pictures.css").read_text(encoding="utf-8")
    kinds = {part["kind"] for path in (ROOT / steps.SCENES).iterdir()
             for part in steps.read_scene(ROOT, path.stem)["parts"] if "kind" in part}
    assert [kind for kind in sorted(kinds - {"code"}) if f".steps .{kind} {{ --own: var(--kind-{kind})" not in css] == []


PAGE = """# Title

<!-- steps: two -->

**Two of them**

1. One `a`.
2. Two,
   in two lines.

<!-- /steps -->

The end.
"""
SCENE = {"size": [1, 1], "parts": [{"id": "a"}], "steps": [{"on": ["a"]}, {"text": {"a": "b"}}]}


@pytest.fixture
def root(tmp_path):
    (tmp_path / steps.SCENES).mkdir(parents=True)
    return tmp_path


def write(root, **changes):
    (root / steps.SCENES / "two.json").write_text(json.dumps({**SCENE, **changes}), encoding="utf-8")


def test_a_list_becomes_a_figure(root):
    write(root)
    made = steps.with_figures(PAGE, root)
    assert made.startswith('# Title\n\n<figure class="steps" data-scene="two" markdown="1">\n')
    assert '<figcaption markdown="span">Two of them</figcaption>\n\n1. One `a`.\n2. Two,' in made
    assert made.endswith("in two lines.\n\n</figure>\n\nThe end.\n")
    assert steps.blocks(PAGE) == [("two", ["One `a`.", "Two,\n   in two lines."])]


@pytest.mark.parametrize(
    ("changes", "problem"),
    [
        ({"steps": SCENE["steps"][:1]}, "2 sentences on the page, 1 steps in the scene"),
        ({"parts": [{"id": "a"}, {"id": "a"}]}, "two parts have one name"),
        ({"steps": [{"on": ["b"]}, {}]}, "step 1: no such part: b"),
        ({"steps": [{}, {"level": {"c": 1}}]}, "step 2: no such part: c"),
        ({"steps": [{"off": ["a"]}, {}]}, "step 1: what is off"),
    ],
)
def test_a_list_and_a_scene_that_do_not_fit_are_an_error(root, changes, problem):
    write(root, **changes)
    with pytest.raises(steps.StepsError, match=problem):
        steps.with_figures(PAGE, root)


def test_a_scene_is_told_in_the_words_of_the_page(root):
    write(root, parts=[{"id": "a", "title": "full", "text": "", "marks": [[0.5, "half"]]}, {"id": "t", "token": "full"}],
          steps=[{"title": {"a": "half"}, "text": {"a": "full"}, "level": {"a": 1}}, {"at": {"t": None}}])
    scene = steps.read_scene(root, "two")
    said = steps.in_words(scene, {"full": "满", "half": "半"}.__getitem__)
    assert scene == steps.read_scene(root, "two")
    assert said["parts"] == [{"id": "a", "title": "满", "text": "", "marks": [[0.5, "半"]]}, {"id": "t", "token": "full"}]
    assert said["steps"] == [{"title": {"a": "半"}, "text": {"a": "满"}, "level": {"a": 1}}, {"at": {"t": None}}]
    page = '<body><figure class="steps" data-scene="two"></body>'
    made = steps.with_scenes(page, root, "s.js", {"full": "满", "half": "半"}.__getitem__)
    assert json.loads(re.search(r'json">(.*?)</script>', made)[1]) == said


def test_a_block_that_is_not_understood_is_an_error(root):
    with pytest.raises(steps.StepsError, match="there is no docs/assets/steps/two.json"):
        steps.with_figures(PAGE, root)
    write(root)
    with pytest.raises(steps.StepsError, match="wants a title in bold"):
        steps.with_figures(PAGE.replace("**", ""), root)


def test_an_example_of_a_block_is_left_alone(root):
    example = f"a\n\n````markdown\n{PAGE}````\n\nb\n"
    assert steps.with_figures(example, root) == example


def test_only_pages_with_such_a_picture_load_the_script(site):
    with_picture = {picture.page() for picture in PICTURES.values()}
    pages = ["*/index.html", "chapters/*/index.html", "zh/*/index.html", "zh/chapters/*/index.html"]
    for path in [path for pattern in pages for path in site.glob(pattern)]:
        text = path.read_text(encoding="utf-8")
        page = path.parent.relative_to(site).as_posix() + "/"
        assert ("assets/steps.js" in text) == ('<figure class="steps"' in text) == (page in with_picture), page


# ---------------------------------------------------------------- in a browser


@pytest.fixture(autouse=True)
def quiet(request):
    """No test may leave a complaint in the console, or ask anybody but the server."""
    if "browser" not in request.fixturenames:
        yield
        return
    browser, server = request.getfixturevalue("browser"), request.getfixturevalue("server")
    requests(browser)
    complaints(browser)
    yield
    foreign = [url for url in requests(browser) if not url.startswith((server, "data:", "blob:"))]
    assert [url for url in foreign if url.startswith(("http", "ws"))] == []
    assert complaints(browser) == []


@pytest.fixture
def media(browser):
    """Sets what a style sheet may ask for; the test's end takes it back."""

    def be(scheme="light", motion="no-preference", medium="", width=None):
        features = [{"name": "prefers-color-scheme", "value": scheme},
                    {"name": "prefers-reduced-motion", "value": motion}]
        browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": medium, "features": features})
        if width:
            browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride",
                                    {"width": width, "height": 800, "deviceScaleFactor": 1, "mobile": False})

    yield be
    browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": "", "features": []})
    browser.execute_cdp_cmd("Emulation.clearDeviceMetricsOverride", {})


def open_figure(browser, server, picture):
    browser.get(server + picture.page())
    return browser.find_element("css selector", f"figure.steps-on[data-scene={picture.name}]")


def step_of(figure):
    return int(figure.get_attribute("data-step"))


def press(figure, name):
    figure.find_element("css selector", f"button[data-do={name}]").click()


def said(figure):
    return figure.find_element("css selector", "[aria-live=polite]").text


def plain(sentence):
    """As it is read: without marks, and of a link only its text."""
    return re.sub(r"\s+", " ", re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", sentence).replace("`", ""))


def texts(browser, figure):
    """What is written in the drawing, part by part."""
    return script(
        browser,
        "Object.fromEntries([...arguments[0].querySelectorAll('[data-part]')].map(p =>"
        " [p.dataset.part, [...p.querySelectorAll('text')].map(t => t.textContent)]))",
        figure,
    )


@EACH
def test_the_buttons_step_through_it(browser, server, picture):
    sentences, figure = picture.sentences, open_figure(browser, server, picture)
    seen = []
    for number, sentence in enumerate(sentences, 1):
        assert step_of(figure) == number
        assert said(figure) == plain(sentence)
        assert picture.words()["count"].format(number, len(sentences)) in figure.text
        seen.append(texts(browser, figure))
        press(figure, "next")
    assert step_of(figure) == len(sentences)  # there is no step after the last
    assert figure.find_element("css selector", "[data-do=next]").get_attribute("aria-disabled") == "true"
    for step, scene in zip(seen, picture.scene()["steps"]):
        for part, text in scene.get("text", {}).items():
            assert text in step[part], (picture.name, part)
    for number in range(len(sentences) - 1, 0, -1):
        press(figure, "back")
        assert step_of(figure) == number
        assert texts(browser, figure) == seen[number - 1]  # the way back shows the same
    press(figure, "back")
    assert step_of(figure) == 1
    press(figure, "next")
    press(figure, "next")
    press(figure, "reset")
    assert step_of(figure) == 1


@EACH
def test_it_speaks_the_language_of_the_page(browser, server, picture):
    figure = open_figure(browser, server, picture)
    buttons = figure.find_elements("css selector", "button")
    assert [button.text for button in buttons] == picture.words()["buttons"]
    press(figure, "play")
    assert figure.find_element("css selector", "[data-do=play]").text == picture.words()["pause"]
    press(figure, "play")
    assert [button.text for button in buttons] == picture.words()["buttons"]
    said = [each.get_attribute("aria-label") for each in figure.find_elements("css selector", "[aria-label]")]
    assert len(said) == 2
    for text in said:
        assert bool(re.search(f"[{translations.HAN}]", text)) == bool(picture.prefix), text


def test_the_keys_do_the_same(browser, server):
    from selenium.webdriver.common.keys import Keys

    figure = open_figure(browser, server, PICTURES["level-and-edge"])
    stage = figure.find_element("css selector", ".steps-stage")
    last = len(steps.read_scene(ROOT, "level-and-edge")["steps"])
    for key, step in ((Keys.ARROW_RIGHT, 2), (Keys.ARROW_RIGHT, 3), (Keys.ARROW_LEFT, 2), (Keys.END, last),
                      (Keys.ARROW_RIGHT, last), (Keys.HOME, 1), (Keys.ARROW_LEFT, 1)):
        stage.send_keys(key)
        assert step_of(figure) == step
    # A button that has done its work keeps the focus, and takes the keys as well.
    following = figure.find_element("css selector", "[data-do=next]")
    following.send_keys(Keys.ENTER)
    assert step_of(figure) == 2
    following.send_keys(Keys.ARROW_LEFT)
    assert step_of(figure) == 1
    following.send_keys(Keys.SPACE)
    assert step_of(figure) == 2
    stage.send_keys(Keys.SPACE)
    assert figure.find_element("css selector", "[data-do=play]").text == "Pause"
    stage.send_keys(Keys.SPACE)
    assert figure.find_element("css selector", "[data-do=play]").text == "Play"


def test_it_plays_to_its_end_and_can_be_stopped(browser, server):
    figure = open_figure(browser, server, PICTURES["level-and-edge"])
    play = figure.find_element("css selector", "[data-do=play]")
    play.click()
    assert play.text == "Pause"
    wait_for(browser, lambda: step_of(figure) >= 2, "it doesn't play")
    play.click()
    assert play.text == "Play"
    press(figure, "back")
    figure.find_element("css selector", ".steps-stage").send_keys("\ue010")  # End
    press(figure, "back")
    play.click()
    wait_for(browser, lambda: play.text == "Play", "it doesn't end")
    assert step_of(figure) == len(steps.read_scene(ROOT, "level-and-edge")["steps"])
    play.click()  # once more, from the start
    assert step_of(figure) == 1
    play.click()


@EACH
def test_nothing_glides_for_who_does_not_want_it(browser, server, media, picture):
    durations = ("[...arguments[0].querySelectorAll('.level, .token')]"
                 ".map(e => parseFloat(getComputedStyle(e).transitionDuration))")
    media(motion="no-preference")
    figure = open_figure(browser, server, picture)
    assert all(seconds > 0 for seconds in script(browser, durations, figure))
    media(motion="reduce")
    assert set(script(browser, durations, figure)) <= {0}  # in some pictures nothing moves


@EACH
def test_it_fits_a_narrow_screen(browser, server, media, picture):
    media(width=360)
    figure = open_figure(browser, server, picture)
    assert script(browser, "document.documentElement.scrollWidth") <= 360
    sizes = script(
        browser,
        "[...arguments[0].querySelectorAll('svg text')].filter(t => t.textContent)"
        ".map(t => parseFloat(getComputedStyle(t).fontSize) * t.getScreenCTM().a)",
        figure,
    )
    assert min(sizes) > 8.5
    # Every label lies within the drawing.
    outside = script(
        browser,
        "(() => { const room = arguments[0].querySelector('svg').getBoundingClientRect();"
        " return [...arguments[0].querySelectorAll('svg text')].filter(t => { const r = t.getBoundingClientRect();"
        " return t.textContent && (r.left < room.left - 1 || r.right > room.right + 1); }).map(t => t.textContent); })()",
        figure,
    )
    assert outside == []


def luminance(colour):
    red, green, blue = (
        c / 12.92 if c <= 0.03928 else ((c + 0.055) / 1.055) ** 2.4
        for c in (int(n) / 255 for n in re.findall(r"\d+", colour)[:3])
    )
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def contrast(one, other):
    lighter, darker = sorted((luminance(one), luminance(other)), reverse=True)
    return (lighter + 0.05) / (darker + 0.05)


@pytest.mark.parametrize("scheme", ["light", "dark"])
@EACH
def test_it_can_be_read_in_both_schemes(browser, server, media, picture, scheme):
    media(scheme=scheme)
    browser.get(server + "assets/turtle.svg")  # the scheme of the page before is kept there
    script(browser, "localStorage.clear()")
    figure = open_figure(browser, server, picture)
    pairs = script(
        browser,
        "[...arguments[0].querySelectorAll('.part')].flatMap(p => { const text = p.querySelector('text');"
        " return text ? [...p.querySelectorAll('rect.shape, path.shape, .level')].map(s =>"
        " [p.dataset.part, getComputedStyle(text).fill, getComputedStyle(s).fill]) : []; })"
        ".filter(([, , fill]) => fill != 'none')",
        figure,
    )
    assert pairs
    for part, text, ground in pairs:
        assert text.startswith("rgb(") and ground.startswith("rgb("), (part, text, ground)
        assert contrast(text, ground) >= 4.5, (part, text, ground)


def shown(browser, figure):
    """Which of the two is to be seen: the list, the drawing."""
    return script(
        browser,
        "['ol', '.steps-live'].map(s => arguments[0].querySelector(s)?.getBoundingClientRect().height > 0)",
        figure,
    )


@EACH
def test_paper_gets_the_list(browser, server, media, picture):
    figure = open_figure(browser, server, picture)
    assert shown(browser, figure) == [False, True]
    media(medium="print")
    assert shown(browser, figure) == [True, False]
    assert base64.b64decode(browser.execute_cdp_cmd("Page.printToPDF", {})["data"]).startswith(b"%PDF")


@EACH
def test_without_a_script_there_is_the_list(browser, server, picture):
    browser.execute_cdp_cmd("Emulation.setScriptExecutionDisabled", {"value": True})
    try:
        browser.get(server + picture.page())
    finally:
        browser.execute_cdp_cmd("Emulation.setScriptExecutionDisabled", {"value": False})
    figure = browser.find_element("css selector", f"figure.steps[data-scene={picture.name}]")
    assert shown(browser, figure) == [True, False]
    assert [item.text for item in figure.find_elements("css selector", "ol > li")] == list(map(plain, picture.sentences))
