"""./learn coverage: which lines of final/src its tests reach, and which branches where it matters most.

A build of `final` that counts (gcc --coverage) runs the gtests and answers the conformance suite.
The counts of all objects are added up, by file and line. It fails below LEAST_LINES, and for a
branch in BRANCH_FILES that is never taken, unless UNREACHED names its line and says why.

Branches for exceptions and at the end of blocks are the compiler's own and don't count. What else a compiler makes of a line
differs by its version: with another one than UNREACHED names, only lines are judged.
"""

from __future__ import annotations

import collections
import concurrent.futures
import dataclasses
import fnmatch
import json
import pathlib
import re
import subprocess
import sys

from learn import chapters, machine, programs, proofs, setup
from learn.chapters import ROOT
from learn.errors import LearnError
from learn.steps import Failed, Runner

FINAL = ROOT / "final"
SOURCES = FINAL / "src"
FOLDER = setup.BUILD / "coverage"
UNREACHED = pathlib.Path(__file__).with_name("unreached.json")
LEAST_LINES = 95.0  # percent of final/src

# What reads bytes that a stranger sent, or decides which file he gets.
BRANCH_FILES = (
    "base/field_scan.h",
    "http/body_reader.*",
    "http/cgi_header.*",
    "http/chunked.*",
    "http/conditional.*",
    "http/cookies.*",
    "http/form.*",
    "http/head_rules.*",
    "http/headers.*",
    "http/http_date.*",
    "http/http_parser.*",
    "http/known_field.*",
    "http/json.*",
    "http/method.h",
    "http/multipart.*",
    "http/range.*",
    "http/request.*",
    "http/route_pattern.*",
    "http/router.*",
    "http/uri.*",
    "files/open_beneath*",
    "files/sys/open_beneath*",
)
CMAKE_OPTIONS = (
    "-DCMAKE_CXX_COMPILER=g++",
    "-DCMAKE_BUILD_TYPE=None",
    "-DCMAKE_CXX_FLAGS=-O0 --coverage -fprofile-update=atomic",
    *setup.ONLY_RUN,
)


@dataclasses.dataclass
class Line:
    count: int = 0
    # The branches of each function that has code on this line, exceptions left out.
    branches: dict[str, list[int]] = dataclasses.field(default_factory=dict)

    def add(self, found: dict) -> None:
        self.count += found["count"]
        counts = [each["count"] for each in found["branches"] if not each["throw"]]
        if len(counts) > 1:
            # Instances of one template are one function, as long as they have the same branches.
            name = f"{len(counts)} branches"
            known = self.branches.setdefault(name, [0] * len(counts))
            self.branches[name] = [a + b for a, b in zip(known, counts)]

    def untaken(self) -> int:
        return sum(counts.count(0) for counts in self.branches.values())


Lines = dict[str, dict[int, Line]]  # by path below final/src, and number


# --- the numbers ---------------------------------------------------------------------------------


def read(gcov_output: str, sources: pathlib.Path, lines: Lines) -> None:
    """Adds what `gcov --json-format --stdout` said about files in `sources`."""
    for text in gcov_output.splitlines():
        if not text.startswith("{"):
            continue
        unit = json.loads(text)
        for file in unit["files"]:
            path = pathlib.Path(unit["current_working_directory"], file["file"]).resolve()
            if path.is_relative_to(sources):
                known = lines[str(path.relative_to(sources))]
                for found in file["lines"]:
                    known[found["line_number"]].add(found)


def gather(folder: pathlib.Path, sources: pathlib.Path) -> Lines:
    """The counts of all objects in `folder`."""
    lines: Lines = collections.defaultdict(lambda: collections.defaultdict(Line))
    data = sorted(path for path in folder.rglob("*.gcda") if path.stat().st_size)
    with concurrent.futures.ThreadPoolExecutor(setup.jobs()) as pool:
        for output in pool.map(gcov, data):
            read(output, sources, lines)
    return lines


def gcov(data: pathlib.Path) -> str:
    done = subprocess.run(
        ["gcov", "--json-format", "--stdout", "--branch-probabilities", str(data)],
        cwd=FOLDER,
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode:
        raise Failed(f"gcov {data.name}: {done.stderr.strip()}")
    return done.stdout


def begin(folder: pathlib.Path) -> None:
    """Forgets what was counted, and lets every user count: a server that root starts may become another."""
    for data in folder.rglob("*.gcda"):
        data.unlink()
    for notes in folder.rglob("*.gcno"):
        data = notes.with_suffix(".gcda")
        data.touch()
        data.chmod(0o666)


# --- the judgement -------------------------------------------------------------------------------


def percent(part: int, whole: int) -> float:
    return 100.0 * part / whole if whole else 100.0


def reached(file: dict[int, Line]) -> int:
    return sum(line.count > 0 for line in file.values())


def table(lines: Lines) -> list[str]:
    """A row for each file, and the total."""
    rows = [f"  {'file':<34} {'lines':>7} {'reached':>8}  not reached"]
    for name, file in sorted(lines.items()):
        missed = spans([number for number, line in sorted(file.items()) if not line.count], sorted(file))
        rows.append(f"  {name:<34} {len(file):>7} {percent(reached(file), len(file)):7.1f}%  {missed}")
    rows.append(f"  {'all of final/src':<34} {sum(map(len, lines.values())):>7} {total(lines):7.1f}%")
    return rows


def total(lines: Lines) -> float:
    return percent(sum(map(reached, lines.values())), sum(map(len, lines.values())))


def spans(missed: list[int], numbers: list[int]) -> str:
    """12-15, 20: neighbours are joined, when no line with code lies between them."""
    place = {number: index for index, number in enumerate(numbers)}
    found: list[list[int]] = []
    for number in missed:
        if found and place[number] == place[found[-1][-1]] + 1:
            found[-1].append(number)
        else:
            found.append([number])
    return ", ".join(str(each[0]) if len(each) == 1 else f"{each[0]}-{each[-1]}" for each in found)


def untaken_branches(lines: Lines, sources: pathlib.Path, excused: dict[str, dict[str, str]]) -> list[str]:
    """A complaint for each line of BRANCH_FILES with a branch that is not taken, and not excused.

    `excused` has reasons by file and text of the line. A text that no longer is in its file is a
    complaint too.
    """
    complaints = []
    for name, file in sorted(lines.items()):
        if not any(fnmatch.fnmatch(name, pattern) for pattern in BRANCH_FILES):
            continue
        texts = (sources / name).read_text(encoding="utf-8").splitlines()
        for number, line in sorted(file.items()):
            text = texts[number - 1].strip()
            is_end = not re.search(r"\w", text)  # of a block: what is destroyed there, decides nothing
            if line.untaken() and not is_end and text not in excused.get(name, {}):
                complaints.append(f"{name}:{number}: {line.untaken()} branches not taken: {text}")
    for name, reasons in excused.items():
        path = sources / name
        texts = path.read_text(encoding="utf-8").splitlines() if path.is_file() else []
        present = {text.strip() for text in texts}
        complaints += [f"{UNREACHED.name}: {name} has no such line: {text}" for text in reasons if text not in present]
    return complaints


def judge(lines: Lines, sources: pathlib.Path, compiler: int) -> tuple[list[str], list[str]]:
    """What to show, and what is wrong."""
    shown, wrong = table(lines), []
    if total(lines) < LEAST_LINES:
        wrong.append(f"{total(lines):.1f} % of the lines are reached, less than {LEAST_LINES:.0f} %")
    known = json.loads(UNREACHED.read_text(encoding="utf-8"))
    if compiler == known["gcc"]:
        wrong += untaken_branches(lines, sources, known["branches"])
    else:
        shown.append(f"  branches are judged with gcc {known['gcc']} only, and this is gcc {compiler}")
    return shown, wrong


def compiler_version() -> int:
    return int(subprocess.run(["g++", "-dumpversion"], capture_output=True, text=True, check=True).stdout.split(".")[0])


# --- the step ------------------------------------------------------------------------------------


def step(runner: Runner) -> list[str]:
    """Builds, tests and judges; the table."""
    shown: list[str] = []
    inputs = proofs.sources(pathlib.Path(__file__))
    # Without final/bench: what measures final is no part of it.
    targets = sorted(path.stem for path in (FINAL / "tests").rglob("*_test.cpp"))

    def work() -> None:
        runner.run(setup.configure(FINAL, FOLDER, *CMAKE_OPTIONS))
        runner.run(setup.build(FOLDER, "turtle", "all_examples", *targets))
        begin(FOLDER)
        newest = chapters.all_chapters()[-1].number
        programs.run(FOLDER, runner.say, runner.environment, unsolved=newest, at_once=setup.jobs(), again=True)
        suite = ["-m", "pytest", "-q", "-p", "no:cacheprovider", ROOT / "tests" / "conformance"]
        runner.run([setup.python(), *suite], env={"TURTLE_BINARY": str(FOLDER / "turtle")})
        lines = gather(FOLDER, SOURCES)
        found, wrong = judge(lines, SOURCES, compiler_version())
        shown.extend(found)
        for text in [*found, *wrong]:
            runner.say(text)
        if wrong:
            raise Failed(re.sub(r"^\S+: ", "", wrong[0]) if len(wrong) == 1 else f"{len(wrong)} complaints: {wrong[0]}")

    runner.step(
        "coverage",
        work,
        needs=["set up: packages", "set up: Python packages"],
        seconds=2400,
        count=programs.count,
        inputs=[*inputs, FINAL, ROOT / "tests" / "conformance", ROOT / "tests" / "support", UNREACHED],
        advice=f"a test that goes there; or, with the reason, an entry in {UNREACHED.relative_to(ROOT)}",
    )
    return shown


def coverage() -> int:
    """The command."""
    if sys.platform != "linux":
        raise LearnError("Coverage is counted on Linux, by gcc.")
    runner = Runner(again=True)
    setup.environment(runner)
    setup.packages(runner, (*machine.BUILD, *machine.PROGRAM, *machine.TESTS))
    setup.python_environment(runner, setup.test_requirements())
    shown = step(runner)
    print("\n".join(["", *shown]))
    return 0 if runner.ok() else 1
