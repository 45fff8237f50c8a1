"""Pictures that are stepped through: a list of sentences on a page, and a scene that is drawn beside it.

On the page stands

    <!-- steps: NAME -->

    **Its title**

    1. What is seen first.
    2. What happens then.

    <!-- /steps -->

and docs/assets/steps/NAME.json says what there is to see. docs/assets/steps.js makes one of the two, in
the browser; where no script runs, and on paper, the list stays.
"""

from __future__ import annotations

import copy
import json
import pathlib
import re
from collections.abc import Callable

SCENES = "docs/assets/steps"
SCRIPT = "assets/steps.js"

MARK = re.compile(r"^<!-- steps: ([a-z-]+) -->$", re.MULTILINE)
BLOCK = re.compile(r"^<!-- steps: ([a-z-]+) -->\n\n\*\*(.+)\*\*\n\n(.*?)\n*^<!-- /steps -->$", re.MULTILINE | re.DOTALL)
FENCED = re.compile(r"^(`{3,}|~{3,}).*?^\1[ \t]*$", re.MULTILINE | re.DOTALL)
FIGURE = re.compile(r'<figure class="steps" data-scene="([a-z-]+)">')
CHANGES = {"text", "title", "level", "at"}  # what a step may change of a part


class StepsError(Exception):
    """A list and its scene don't fit."""


def blocks(markdown: str) -> list[tuple[str, list[str]]]:
    """The names of a page's pictures, with their sentences."""
    return [(match[1], sentences(match[3])) for match in BLOCK.finditer(markdown)]


def sentences(text: str) -> list[str]:
    return [item.strip() for item in re.split(r"^\d+\. ", text, flags=re.MULTILINE)[1:]]


def read_scene(root: pathlib.Path, name: str) -> dict:
    path = root / SCENES / f"{name}.json"
    if not path.is_file():
        raise StepsError(f"there is no {path.relative_to(root)}")
    return json.loads(path.read_text(encoding="utf-8"))


def check(root: pathlib.Path, name: str, count: int) -> None:
    """The scene has a step for each of `count` sentences, and a step names parts that are there."""
    scene = read_scene(root, name)
    if len(scene["steps"]) != count:
        raise StepsError(f"{name}: {count} sentences on the page, {len(scene['steps'])} steps in the scene")
    parts = [part["id"] for part in scene["parts"]]
    if len(parts) != len(set(parts)):
        raise StepsError(f"{name}: two parts have one name")
    for number, step in enumerate(scene["steps"], 1):
        if unknown := set(step) - CHANGES - {"on"}:
            raise StepsError(f"{name}, step {number}: what is {', '.join(sorted(unknown))}?")
        named = {*step.get("on", ()), *(part for key in CHANGES for part in step.get(key, ()))}
        if missing := named - set(parts):
            raise StepsError(f"{name}, step {number}: no such part: {', '.join(sorted(missing))}")


def in_words(scene: dict, say: Callable[[str], str]) -> dict:
    """The scene with each text that is a sentence's as `say` has it; a token is data, and stays."""
    scene = copy.deepcopy(scene)
    for part in scene["parts"]:
        part.update({key: say(part[key]) for key in ("title", "text") if part.get(key)})
        if "marks" in part:
            part["marks"] = [[share, say(text)] for share, text in part["marks"]]
    for step in scene["steps"]:
        for key in ("title", "text"):
            if key in step:
                step[key] = {part: say(text) if text else text for part, text in step[key].items()}
    return scene


def with_figures(markdown: str, root: pathlib.Path) -> str:
    """The Markdown of a page with a figure around each such list."""

    def figure(match: re.Match[str]) -> str:
        check(root, match[1], len(sentences(match[3])))
        return (
            f'<figure class="steps" data-scene="{match[1]}" markdown="1">\n'
            f'<figcaption markdown="span">{match[2]}</figcaption>\n\n{match[3]}\n\n</figure>'
        )

    def prose(text: str) -> str:
        made = BLOCK.sub(figure, text)
        if "<!-- steps:" in made:
            raise StepsError(
                "<!-- steps: … --> wants a title in bold, a list and <!-- /steps -->, with empty lines between"
            )
        return made

    made, end = "", 0
    for match in FENCED.finditer(markdown):  # a block of code may show one, as an example
        made += prose(markdown[end : match.start()]) + match[0]
        end = match.end()
    return made + prose(markdown[end:])


def with_scenes(output: str, root: pathlib.Path, script: str, say: Callable[[str], str] = str) -> str:
    """The HTML of a page with the scenes in its figures, in the page's words, and the script if there are any."""

    def scene(match: re.Match[str]) -> str:
        words = in_words(read_scene(root, match[1]), say)
        text = json.dumps(words, ensure_ascii=False, separators=(",", ":")).replace("</", "<\\/")
        return f'{match[0]}<script type="application/json">{text}</script>'

    made, count = FIGURE.subn(scene, output)
    return made.replace("</body>", f'<script src="{script}"></script></body>', 1) if count else output
