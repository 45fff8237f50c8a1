"""How many rows there are, by group and level."""

import collections
import importlib
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))

import cases  # noqa: E402

LEVELS = ("MUST", "SHOULD", "MAY")

print(f"{'':16}" + "".join(f"{level:>8}" for level in (*LEVELS, "all")))
for group in (*cases.GROUPS, "all"):
    rows = cases.ROWS if group == "all" else importlib.import_module(f"cases.{group}").ROWS
    counts = collections.Counter(row.level for row in rows)
    print(f"{group:16}" + "".join(f"{counts[level]:8}" for level in LEVELS) + f"{len(rows):8}")
