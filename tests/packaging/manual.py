#!/usr/bin/env python3
"""The manual pages: what they list of options, signals and exit codes is what --help prints.

python3 tests/packaging/manual.py             what differs
python3 tests/packaging/manual.py --update    rewrites that part of the pages

TURTLE_BINARY is the program, by default build/final/turtle; turtle-bench is beside it.
"""

from __future__ import annotations

import difflib
import os
import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
BINARY = pathlib.Path(os.environ.get("TURTLE_BINARY", ROOT / "build/final/turtle")).resolve()
PAGES = ROOT / "cmake" / "tree" / "packaging"
COMMANDS = {"turtle.1": [[BINARY], [BINARY, "serve"]], "turtle-bench.1": [[BINARY.with_name("turtle-bench")]]}
BEGIN, END = '.\\" from --help\n', '.\\" end of --help\n'
COLUMN = 30  # of the descriptions in a help text
HEADINGS = {"Options": "OPTIONS", "Signals": "SIGNALS", "Exit codes": "EXIT STATUS"}


def escaped(text: str) -> str:
    """As roff prints it literally: a hyphen that can be copied, and no request."""
    text = text.replace("\\", "\\e").replace("-", "\\-").replace("'", "\\(aq")
    return "\\&" + text if text.startswith(".") else text


def sections(help_text: str) -> dict[str, list[tuple[str, str]]]:
    """The lists of a help text, by heading: each entry and its description."""
    found: dict[str, list[tuple[str, str]]] = {}
    heading = ""
    for line in help_text.splitlines():
        if match := re.fullmatch(r"(\w[\w ]*):", line):
            heading = match[1]
            found[heading] = []
        elif line.startswith(" " * COLUMN):
            name, text = found[heading][-1]
            found[heading][-1] = (name, f"{text} {line.strip()}".strip())
        elif line.startswith("  "):
            at = COLUMN if heading not in ("Signals", "Exit codes") else line.index("  ", 3)
            name, text = (line[:at], line[at:]) if line[at - 1] == " " or at < COLUMN else (line, "")
            found[heading].append((name.strip(), text.strip()))
    return found


def one_thread_for_each_cpu(name: str, text: str) -> tuple[str, str]:
    """The help text has the number of CPUs of this machine as the default."""
    return ("--threads N", f"{text}; by default as many as there are CPUs") if name.startswith("--threads ") else (name, text)


def entry(name: str, text: str) -> str:
    option, _, value = name.partition(" ")
    value = f" \\fI{escaped(value)}\\fR" if value else ""
    return f".TP\n\\fB{escaped(option)}\\fR{value}\n{escaped(text)}\n"


def generated(commands: list[list[object]]) -> str:
    listed: dict[str, dict[str, str]] = {}
    for command in commands:
        done = subprocess.run([*map(str, command), "--help"], capture_output=True, text=True, check=True)
        for heading, entries in sections(done.stdout).items():
            if heading == "Options" and "serve" in command:
                entries = [one_thread_for_each_cpu(*each) for each in entries]
            if heading in HEADINGS:
                listed.setdefault(heading, {}).update(entries)
    text = ""
    for heading, title in HEADINGS.items():
        if heading in listed:
            text += f".SH {title}\n" + "".join(entry(*each) for each in listed[heading].items())
    return text


def expected(name: str) -> str:
    """The page, with its generated part as it has to be."""
    before, begin, rest = (PAGES / name).read_text(encoding="utf-8").partition(BEGIN)
    _, end, after = rest.partition(END)
    assert begin and end, f"{name} lacks its marks"
    return before + begin + generated(COMMANDS[name]) + end + after


def difference(name: str) -> str:
    page = (PAGES / name).read_text(encoding="utf-8")
    lines = difflib.unified_diff(page.splitlines(), expected(name).splitlines(), name, "--help", n=1, lineterm="")
    return "\n".join(lines)


def main() -> int:
    if sys.argv[1:] == ["--update"]:
        for name in COMMANDS:
            (PAGES / name).write_text(expected(name), encoding="utf-8")
        return 0
    differences = list(filter(None, map(difference, COMMANDS)))
    print("\n".join(differences))
    return 1 if differences else 0


if __name__ == "__main__":
    sys.exit(main())
