"""The chapters that are there, and which file each one bears."""

from __future__ import annotations

import dataclasses
import functools
import pathlib
import re

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent


@dataclasses.dataclass(frozen=True)
class Chapter:
    number: str  # "05"
    name: str  # "timer"
    folder: pathlib.Path

    def files(self) -> dict[str, pathlib.Path]:
        """What this chapter adds or changes: path inside a program -> file."""
        found = {}
        for top in ("src", "tests", "examples"):
            for path in sorted((self.folder / top).rglob("*")):
                ignored = path.name.startswith(".") or path.name.endswith("~") or "__pycache__" in path.parts
                if path.is_file() and not ignored:
                    found[path.relative_to(self.folder).as_posix()] = path
        return found

    def withdrawn(self) -> set[str]:
        """The files of earlier chapters that are gone from this one on."""
        listed = self.folder / "withdrawn.txt"
        lines = listed.read_text(encoding="utf-8").splitlines() if listed.is_file() else []
        return {line.strip() for line in lines if line.strip() and not line.startswith("#")}

    @property
    def title(self) -> str:
        """The heading of its page, or its folder's name while there is no page."""
        page = self.folder / "README.md"
        if page.is_file():
            match = re.search(r"^# (?:\d\d\s+)?(.+)$", page.read_text(encoding="utf-8"), re.MULTILINE)
            if match:
                return match[1].strip()
        return self.name


@functools.cache
def all_chapters(root: pathlib.Path = ROOT) -> tuple[Chapter, ...]:
    """Those that bear at least one file, in order."""
    found = []
    for folder in sorted((root / "chapters").glob("[0-9][0-9]-*")):
        chapter = Chapter(folder.name[:2], folder.name[3:], folder)
        if (folder / "CMakeLists.txt").is_file() and chapter.files():
            found.append(chapter)
    return tuple(found)


def find(number: str, root: pathlib.Path = ROOT) -> Chapter:
    """Chapter "5", "05" or "05-timer"; a LookupError that lists what there is."""
    wanted = number.split("-")[0].zfill(2)
    for chapter in all_chapters(root):
        if chapter.number == wanted:
            return chapter
    there = ", ".join(chapter.number for chapter in all_chapters(root)) or "none"
    raise LookupError(f"there is no chapter {number}; there are: {there}")


def layered(number: str, root: pathlib.Path = ROOT) -> dict[str, pathlib.Path]:
    """The program as it stands in chapter `number`: the newest version of each file up to there."""
    files: dict[str, pathlib.Path] = {}
    for chapter in all_chapters(root):
        if chapter.number <= number:
            files.update(chapter.files())
            for path in chapter.withdrawn():
                files.pop(path, None)
    return files


def before(chapter: Chapter, root: pathlib.Path = ROOT) -> Chapter | None:
    """The chapter before this one."""
    earlier = [each for each in all_chapters(root) if each.number < chapter.number]
    return earlier[-1] if earlier else None


def after(chapter: Chapter, root: pathlib.Path = ROOT) -> Chapter | None:
    """The chapter after this one."""
    later = [each for each in all_chapters(root) if each.number > chapter.number]
    return later[0] if later else None
