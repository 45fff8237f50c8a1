"""The diagrams speak one language: a kind is a class, a shape and a colour, and all can be read."""

import re

import pytest
from conftest import ROOT
from test_browser import pages_of, script, wait_for
from test_steps import contrast, media, quiet  # noqa: F401

PAGES = ["docs/repository.md", "docs/design.md",
         *(path.relative_to(ROOT).as_posix() for path in sorted(ROOT.glob("chapters/*/README*.md")))]  # fmt: skip
SHAPES = {"loop": "([", "kernel": "[(", "buffer": "[[", "client": "(", "process": "[/", "file": ">", "timer": "{{",
          "thread": "["}  # fmt: skip
NODE = re.compile(r"\b\w+(\(\[|\[\(|\[\[|\[/|\{\{|\(|\[|>)(?:\"[^\"]*\"|[^\"\]]*)[\])}/\\]+:::(\w+)")


def diagrams(page):
    return re.findall(r"^```mermaid\n(.*?)^```$", (ROOT / page).read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL)


def classes(text):
    """All classes of a diagram: of nodes, of frames, of the actors of a sequence."""
    frames = re.findall(r"^\s*class [\w,]+ (\w+)$", text, re.MULTILINE)
    return [*re.findall(r":::(\w+)", text), *frames]


def url_of(page):
    if page.endswith(".zh.md"):
        return "zh/" + url_of(page.replace(".zh.md", ".md"))
    return page.removeprefix("docs/").removesuffix("README.md").removesuffix(".md").rstrip("/") + "/"


@pytest.mark.parametrize("page", PAGES)
def test_a_kind_has_its_shape(page):
    assert diagrams(page)
    for text in diagrams(page):
        assert set(classes(text)) <= set(SHAPES), page
        assert "classDef" not in text and "style " not in text, f"{page}: colours belong to pictures.css"
        if not text.startswith("sequenceDiagram"):
            nodes = NODE.findall(text)
            assert len(nodes) == text.count(":::"), page
            for shape, kind in nodes:
                assert shape == SHAPES[kind], (page, kind)


def test_each_chapter_and_the_legend_use_it():
    for page in PAGES:
        assert any(classes(text) for text in diagrams(page)), page
    (legend,) = diagrams("docs/repository.md")
    assert set(classes(legend)) == set(SHAPES)


def test_the_colours_are_there_in_both_schemes():
    css = (ROOT / "docs/assets/pictures.css").read_text(encoding="utf-8")
    known = re.search(r"KINDS = \[(.*)\]", (ROOT / "docs/assets/diagrams.js").read_text(encoding="utf-8"))[1]
    assert set(re.findall(r"\w+", known)) == set(SHAPES)
    for scheme in ("default", "slate"):
        block = re.search(rf'^\[data-md-color-scheme="{scheme}"\] \{{\n(.*?)^\}}', css, re.MULTILINE | re.DOTALL)[1]
        for kind in (*SHAPES, "plain"):
            assert f"--kind-{kind}:" in block and f"--kind-{kind}-line:" in block, (scheme, kind)


# What is written on what, in all diagrams of a page: [class, colour of the text, of the ground, size of the letters].
WRITTEN = """(() => [...document.querySelectorAll('div.mermaid')].flatMap(d => {
  const svg = d.shadowRoot.querySelector('svg');
  const page = getComputedStyle(document.body).backgroundColor;
  const scale = svg.getScreenCTM().a;
  const seen = (group, text, colour, ground) =>
    [group.getAttribute('class'), getComputedStyle(text)[colour], ground,
     parseFloat(getComputedStyle(text).fontSize) * scale];
  const filled = shape => {
    const fill = getComputedStyle(shape).fill;
    return /^(none|rgba\\(.*, 0\\))$/.test(fill) ? page : fill;
  };
  return [
    ...[...svg.querySelectorAll('.node')].map(n =>
      seen(n, n.querySelector('.nodeLabel'), 'color', filled(n.querySelector('rect:not([width="0"]),path,polygon')))),
    ...[...svg.querySelectorAll('.cluster')].map(n =>
      seen(n, n.querySelector('.nodeLabel'), 'color', filled(n.querySelector('rect')))),
    ...[...svg.querySelectorAll('.edgeLabel .edgeLabel')].filter(n => n.textContent.trim()).map(n =>
      seen(n, n, 'color', page)),
    ...[...svg.querySelectorAll('rect.actor')].map(r =>
      seen(r, r.parentNode.querySelector('text.actor tspan'), 'fill', filled(r))),
    ...[...svg.querySelectorAll('.messageText')].map(t => seen(t, t, 'fill', page)),
  ];
}))()"""
DRAWN = ("[...document.querySelectorAll('div.mermaid')].filter(d => d.shadowRoot?.querySelector('svg')"
         " && d.getBoundingClientRect().height > 40).length")


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_all_are_drawn_and_can_be_read(browser, server, site, media, scheme):  # noqa: F811
    drawn = [url_of(page) for page in PAGES]
    assert sorted(drawn) == [page for page in pages_of(site)
                             if 'class="mermaid"' in (site / page / "index.html").read_text(encoding="utf-8")]
    media(scheme=scheme)
    browser.get(server + "assets/turtle.svg")  # the scheme of the page before is kept there
    script(browser, "localStorage.clear()")
    kinds = set()
    for page in PAGES:
        texts = diagrams(page)
        browser.get(server + url_of(page))
        wait_for(browser, lambda texts=texts: script(browser, DRAWN) == len(texts), f"{page}: not all is drawn")
        assert script(browser, "document.body.dataset.mdColorScheme") == ("default" if scheme == "light" else "slate")
        wanted = [kind for text in texts for kind in classes(text)]
        written = script(browser, WRITTEN)
        assert len(written) >= len(wanted)
        for group, text, ground, size in written:
            assert text.startswith("rgb(") and ground.startswith("rgb("), (page, group, text, ground)
            assert contrast(text, ground) >= 4.5, (page, group, text, ground)
            assert size >= 9.5, (page, group, size)
        plain = script(browser, "getComputedStyle(document.body).getPropertyValue('--kind-plain')")
        assert plain
        grounds = {ground for _, _, ground, _ in written}
        assert len(grounds) > 1, f"{page}: nothing has a colour"
        kinds.update(wanted)
    assert kinds == set(SHAPES)


SHRUNK = """[...document.querySelectorAll('div.mermaid')].map(host => {
  const svg = host.shadowRoot.querySelector('svg'), scroller = host.closest('.turtle-scroll');
  return [16 * svg.getBoundingClientRect().width / svg.viewBox.baseVal.width, scroller.clientWidth, scroller.scrollWidth,
          document.documentElement.scrollWidth];
})"""


def test_on_a_telephone_they_scroll_and_do_not_shrink_away(browser, server, media):  # noqa: F811
    media(width=390)
    scrolling = 0
    for page in PAGES:
        browser.get(server + url_of(page))
        count = len(diagrams(page))
        wait_for(browser, lambda count=count: script(browser, DRAWN) == count, f"{page}: not all is drawn")
        for size, room, width, whole in script(browser, SHRUNK):
            assert size >= 11, (page, size)
            assert whole <= 390, f"{page}: the page itself scrolls sideways"
            scrolling += width > room
    assert scrolling > 10
