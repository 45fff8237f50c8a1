#!/usr/bin/env python3
"""The rooms of the house, which are the folders of src/, and who includes whom.

    tools/rooms.py arrows [NN]    which room includes which, and by how many includes; 99: final
    tools/rooms.py circles [NN]   files of a room that include each other in a circle
    tools/rooms.py draw           draws final's rooms in docs/design.md
    tools/rooms.py check          does every include lead down, and is the picture the one that `draw` makes?

LAYERS has the rooms from top to bottom; a room includes only rooms of lower layers. The picture has
the arrows that no other way replaces: `web --> http --> base` includes `web --> base`. A circle of
files within a room is a fault unless CIRCLES knows it. Python's standard library only.
"""

from __future__ import annotations

import argparse
import collections
import pathlib
import re
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))

from learn import chapters  # noqa: E402

ROOT = chapters.ROOT
PAGE = "docs/design.md"
FINAL = "99"
INCLUDE = re.compile(r'^#include "([^"]+)"', re.MULTILINE)
PICTURE = re.compile(r"(^## Modules$.*?^```mermaid\nflowchart LR\n)(.*?)(^```)", re.MULTILINE | re.DOTALL)

Graph = dict[str, set[str]]


# From top to bottom.
LAYERS = (
    ("app",),
    ("cgi", "ops", "response_cache", "sites", "websocket"),
    ("files",),
    ("web",),
    ("compress", "db", "process", "tls", "udp", "uring"),
    ("core",),
    ("http", "task"),
    ("log",),
    ("base",),
)

# Units (a header and its .cpp) that may include each other. A loop owns its connections and closes them, and a
# connection asks its loop to be served.
CIRCLES = (frozenset(("core/connection", "core/connection_closer", "core/looper")),)


def sources(number: str, root: pathlib.Path = ROOT) -> dict[str, pathlib.Path]:
    """The files below src/ of a chapter's program, or of final."""
    if number == FINAL:
        folder = root / "final"
        layered = {path.relative_to(folder).as_posix(): path for path in sorted((folder / "src").rglob("*"))}
    else:
        layered = chapters.layered(number, root)
    return {path[4:]: file for path, file in layered.items() if path.startswith("src/") and path.endswith((".h", ".cpp"))}


def room(path: str) -> str:
    return path.split("/")[0]


def unit(path: str) -> str:
    """A header and its source together: core/socket."""
    return path.rsplit(".", 1)[0]


def includes(files: dict[str, pathlib.Path]) -> list[tuple[str, str]]:
    """Pairs of files: the first includes the second."""
    found = []
    for path, file in files.items():
        found += [(path, name) for name in INCLUDE.findall(file.read_text(encoding="utf-8")) if name in files]
    return found


def arrows(files: dict[str, pathlib.Path]) -> collections.Counter[tuple[str, str]]:
    counted = ((room(one), room(other)) for one, other in includes(files))
    return collections.Counter(pair for pair in counted if pair[0] != pair[1])


def reachable(graph: Graph, start: str) -> set[str]:
    """Where the arrows lead from `start`, which itself belongs to it only if a circle leads back."""
    found: set[str] = set()
    waiting = [start]
    while waiting:
        for each in graph.get(waiting.pop(), set()) - found:
            found.add(each)
            waiting.append(each)
    return found


def circles(files: dict[str, pathlib.Path]) -> list[frozenset[str]]:
    """Units that can each be reached from each other."""
    graph: Graph = collections.defaultdict(set)
    for one, other in includes(files):
        if unit(one) != unit(other):
            graph[unit(one)].add(unit(other))
    reached = {each: reachable(graph, each) for each in list(graph)}
    found = {
        frozenset(other for other in reached[each] if each in reached.get(other, set()))
        for each in reached
        if each in reached[each]
    }
    return sorted(found, key=sorted)


def layer(name: str) -> int:
    """0: at the top. A room that LAYERS lacks is above all, so that any include of it is a fault."""
    return next((at for at, names in enumerate(LAYERS) if name in names), -1)


def drawing(files: dict[str, pathlib.Path]) -> str:
    """The arrows between rooms as lines of mermaid, without those that another way replaces."""
    graph: Graph = collections.defaultdict(set)
    for one, other in arrows(files):
        graph[one].add(other)
    lines = []
    for one in sorted(graph, key=lambda name: (layer(name), name)):
        by_way = {far for near in graph[one] for far in reachable(graph, near)}
        lines += [f"  {one} --> {other}\n" for other in sorted(graph[one] - by_way)]
    return "".join(lines)


def draw(root: pathlib.Path = ROOT) -> None:
    page = root / PAGE
    picture = drawing(sources(FINAL, root))
    text = page.read_text(encoding="utf-8")
    page.write_text(PICTURE.sub(lambda match: match[1] + picture + match[3], text), encoding="utf-8")


def faults(root: pathlib.Path = ROOT) -> list[str]:
    found = []
    for number in (*(chapter.number for chapter in chapters.all_chapters(root)), FINAL):
        where = "final" if number == FINAL else f"chapter {number}"
        files = sources(number, root)
        for one, other in includes(files):
            if room(one) != room(other) and layer(room(one)) >= layer(room(other)):
                found.append(f"{where}: {one} includes {other}, and {room(other)} is not below {room(one)} in LAYERS")
        found += [f"{where}: these include each other in a circle: {', '.join(sorted(circle))}"
                  for circle in circles(files) if not any(circle <= known for known in CIRCLES)]  # fmt: skip
    there = circles(sources(FINAL, root))
    found += [f"rooms.py: CIRCLES knows one that is gone: {', '.join(sorted(known))}"
              for known in CIRCLES if known not in there]  # fmt: skip
    picture = PICTURE.search((root / PAGE).read_text(encoding="utf-8"))
    if picture is None:
        found.append(f"{PAGE}: there is no picture under Modules")
    elif picture[2] != drawing(sources(FINAL, root)):
        found.append(f"{PAGE}: the picture is not of this code; tools/rooms.py draw mends it")
    return found


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("command", choices=("arrows", "circles", "draw", "check"))
    parser.add_argument("number", nargs="?", default=FINAL, metavar="NN")
    options = parser.parse_args()
    if options.command == "arrows":
        for (one, other), count in sorted(arrows(sources(options.number)).items()):
            print(f"{one} --> {other}  {count}")
    elif options.command == "circles":
        for circle in circles(sources(options.number)):
            print(", ".join(sorted(circle)))
    elif options.command == "draw":
        draw()
    else:
        found = faults()
        print("\n".join(found) or "the picture is true")
        return 1 if found else 0
    return 0


if __name__ == "__main__":
    sys.exit(main())
