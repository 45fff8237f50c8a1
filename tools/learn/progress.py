"""./learn progress: how far the reader is, remembered from check to check.

What is known stands in one small file of the reader's, not in the repository: a new clone or a
workspace that was removed forgets nothing.
"""

from __future__ import annotations

import json
import os
import pathlib
import tempfile

import exercises
from learn import chapters
from learn.errors import LearnError

WIDTH = 20


def file() -> pathlib.Path:
    state = os.environ.get("XDG_STATE_HOME") or pathlib.Path.home() / ".local" / "state"
    return pathlib.Path(state) / "turtle" / "progress.json"


def load() -> dict[str, dict[str, int]]:
    """By chapter ("05") or exercise ("05.2"): tests passed and all, stages done and all, hints shown."""
    try:
        known = json.loads(file().read_text(encoding="utf-8"))
    except FileNotFoundError:
        return {}
    except (OSError, ValueError) as error:
        raise LearnError(f"{file()} can't be read ({error}). Remove it to begin anew.") from error
    if not isinstance(known, dict) or not all(isinstance(each, dict) for each in known.values()):
        raise LearnError(f"{file()} is not what ./learn writes. Remove it to begin anew.")
    return known


def note(name: str, **figures: int) -> None:
    """Remembers `figures` of a chapter or an exercise."""
    known = load()
    known.setdefault(name, {}).update(figures)
    place = file()
    try:
        place.parent.mkdir(parents=True, exist_ok=True)
        # Whole or not at all, whatever happens meanwhile.
        with tempfile.NamedTemporaryFile("w", dir=place.parent, delete=False, encoding="utf-8") as fresh:
            json.dump(known, fresh, indent=1, sort_keys=True)
            fresh.write("\n")
        os.replace(fresh.name, place)
    except OSError as error:
        print(f"(progress is not remembered: {error})")


def is_solved(known: dict[str, dict[str, int]], name: str) -> bool:
    figures = known.get(name, {})
    return any(0 < figures.get(whole, 0) == figures.get(part, 0) for part, whole in (("passed", "all"), ("stage", "stages")))


def bar(passed: int, of: int, width: int = WIDTH) -> str:
    """Full only when all pass."""
    full = width * passed // of if of else 0
    return "█" * full + "░" * (width - full)


def progress() -> int:
    known = load()
    every = chapters.all_chapters()
    done = 0
    solved = 0
    there = 0
    print(f"{'':<{26 + WIDTH}} {'':<18} exercises")
    for chapter in every:
        figures = known.get(chapter.number, {})
        passed, of, noun = figures.get("passed", 0), figures.get("all", 0), "tests"
        if "stages" in figures and not 0 < passed == of:
            passed, of, noun = figures.get("stage", 0), figures["stages"], "stages"
        own = exercises.of(chapter)
        marks = "".join("●" if is_solved(known, each.name) else "○" for each in own)
        done += is_solved(known, chapter.number)
        solved += marks.count("●")
        there += len(own)
        count = f"{passed} of {of} {noun}" if of else "-"
        print(f"{chapter.number} {chapter.title:<22.22} {bar(passed, of)} {count:<18} {marks}".rstrip())
    print(f"\n{bar(done, len(every))} {done} of {len(every)} chapters, {solved} of {there} exercises")
    if not known:
        print("\nNothing yet. ./learn start 01 DIR makes a workspace, ./learn check DIR runs its tests.")
    else:
        print(f"\nRemembered in {file()}")
    return 0
