"""./learn watch: checks a workspace again at each save."""

from __future__ import annotations

import pathlib
import time
from collections.abc import Callable

from learn import workspace
from learn.errors import LearnError

INTERVAL = 0.3  # s between two looks
SUFFIXES = (".cpp", ".h", ".txt", ".cmake", ".py")


def watch(
    folder: pathlib.Path,
    check: Callable[[pathlib.Path], int] = workspace.check,
    wait: Callable[[float], None] = time.sleep,
) -> int:
    """Until the reader presses Ctrl-C, which is how it ends well."""
    folder = folder.resolve()
    workspace.mark_of(folder)
    try:
        while True:
            seen = snapshot(folder)
            print("\033[2J\033[H", end="")
            try:
                check(folder)
            except LearnError as error:  # a file may be away for a moment while an editor saves it
                print(f"\nlearn: {error}")
            print("\nwatching: save a file, and this runs again; Ctrl-C ends it", flush=True)
            while snapshot(folder) == seen:
                wait(INTERVAL)
    except KeyboardInterrupt:
        print()
        return 0


def snapshot(folder: pathlib.Path) -> dict[str, tuple[int, int]]:
    """What would be built: when each file was changed, and its size."""
    found = {}
    for path in folder.rglob("*"):
        kept = path.relative_to(folder).parts[0]
        if path.suffix in SUFFIXES and kept != "build" and not kept.startswith("before-stage-"):
            try:
                status = path.stat()
            except OSError:
                continue  # an editor's, gone again
            found[str(path)] = (status.st_mtime_ns, status.st_size)
    return found
