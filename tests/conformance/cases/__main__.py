"""How many rows there are, by group and level; with --bytes, the bytes of each row in hexadecimal,
a row a line, for final/fuzz/splits."""

import collections
import importlib
import pathlib
import sys

sys.path[:0] = [str(pathlib.Path(__file__).resolve().parents[up] / name) for up, name in ((1, ""), (2, "support"))]

import cases  # noqa: E402

if sys.argv[1:] == ["--bytes"]:
    for row in cases.ROWS:
        print(row.sent.encode("latin-1").hex())
    sys.exit()

LEVELS = ("MUST", "SHOULD", "MAY")

print(f"{'':16}" + "".join(f"{level:>8}" for level in (*LEVELS, "all")))
for group in (*cases.GROUPS, "all"):
    rows = cases.ROWS if group == "all" else importlib.import_module(f"cases.{group}").ROWS
    counts = collections.Counter(row.level for row in rows)
    print(f"{group:16}" + "".join(f"{counts[level]:8}" for level in LEVELS) + f"{len(rows):8}")
