"""./learn fuzz: builds the fuzz targets of final with clang, then runs them (tools/fuzz.py)."""

from __future__ import annotations

import argparse
import subprocess
import sys

from learn import machine, setup
from learn.chapters import ROOT
from learn.errors import LearnError
from learn.steps import Runner

FINAL = ROOT / "final"
FOLDER = setup.BUILD / "fuzz"
# The rows are not copied: the table prints the bytes of each.
SPLITS = "python3 tests/conformance/cases --bytes | build/fuzz/fuzz/splits -"
TOOL = [sys.executable, ROOT / "tools" / "fuzz.py", FOLDER]
OPTIONS = [
    "-DCMAKE_CXX_COMPILER=clang++",
    "-DCMAKE_BUILD_TYPE=None",
    "-DCMAKE_CXX_FLAGS=-O1 -g1",
    "-DBUILD_TESTING=OFF",
    "-DTURTLE_FUZZ=ON",
]
BUILT = "fuzz: build"


def fuzz(options: argparse.Namespace) -> int:
    if sys.platform != "linux":
        raise LearnError("The fuzz targets are built and run on Linux only.")
    runner = Runner(again=True)
    setup.environment(runner)
    setup.packages(runner, (*machine.BUILD, *machine.PROGRAM, *machine.ANALYSIS))
    build(runner)
    if not runner.ok():
        raise LearnError("There is nothing to run: see the step that failed above.")
    seconds = str(round(options.minutes * 60))
    return subprocess.run([*TOOL, "--seconds", seconds, *options.targets], check=False).returncode


def build(runner: Runner) -> None:
    setup.packages(runner, machine.clang_runtime())
    make = [setup.configure(FINAL, FOLDER, *OPTIONS), setup.build(FOLDER, "fuzz_targets", "splits")]
    runner.step(BUILT, make, needs=["set up: packages"], seconds=1800, inputs=[FINAL], makes=make)


def test(runner: Runner) -> None:
    """What CI does: each target for 15 s, and the rows of tests/conformance in every cut."""
    build(runner)
    runner.step(
        "fuzz: splits",
        [["sh", "-c", SPLITS]],
        needs=[BUILT],
        seconds=900,
        inputs=[FINAL, ROOT / "tests" / "conformance", ROOT / "tests" / "support"],
        advice=SPLITS,
    )
    runner.step(
        "fuzz: targets",
        [[*TOOL, "--seconds", "15", "--at-once", "2"]],
        needs=[BUILT],
        seconds=1800,
        inputs=[FINAL, ROOT / "tools" / "fuzz.py"],
        advice="the log says how to see it once more; CONTRIBUTING.md says what to do with it",
    )
