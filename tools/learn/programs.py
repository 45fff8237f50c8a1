"""Runs all test programs of a build: each once, as a whole, and not again while it is the same.

A chapter's build has the test programs of all chapters before it, and most of them are, byte for byte,
those of the chapter before. What such a program has shown is kept (proofs.py). A program that knows
where its build is, because it starts the examples or has debugging information, is run each time.
"""

from __future__ import annotations

import concurrent.futures
import os
import pathlib
import re
import subprocess
from collections.abc import Callable, Mapping, Sequence

from learn import gtests, proofs
from learn.chapters import ROOT
from learn.gtests import Outcome, Result
from learn.steps import Count, Failed

SECONDS = 240.0  # for a program; under a sanitizer and with other work on the machine
SECONDS_PER_TEST = 60.0
NEXT = re.compile(r"^(\d\d)_.*_test$")  # tests/next/NN_…_test.cpp


def find(folder: pathlib.Path, only: Sequence[str] = ()) -> list[pathlib.Path]:
    """The test programs of a build, or those with these names."""
    tests = (folder / "tests").glob("*_test")
    found = [path for path in tests if os.access(path, os.X_OK) and (not only or path.name in only)]
    return sorted(found)


def run(
    folder: pathlib.Path,
    say: Callable[[str], None],
    environment: Mapping[str, str],
    *,
    prefix: Sequence[str] = (),
    leave_out: str = "",
    unsolved: str = "",
    only: Sequence[str] = (),
    at_once: int = 2,
    again: bool = False,
) -> None:
    """Runs them and says a line for each; Failed when one does not pass.

    `leave_out` is a --gtest_filter of tests that don't run. The programs of tests/next that begin with
    the number `unsolved` have to fail, by an assertion. With `only`, the programs with these names run.
    """
    kept = proofs.Proofs("programs", again)
    programs = find(folder, only)
    if not programs:
        raise Failed(f"{folder}: no test programs")
    told: list[str] = []

    def one(program: pathlib.Path) -> tuple[pathlib.Path, list[Result], bool]:
        name = ""
        if str(ROOT).encode() not in program.read_bytes():
            name = proofs.key([program.name, *prefix, leave_out], [program], environment, folder)
            known = kept.find(name)
            if known:
                return program, [Result(test, Outcome(outcome)) for test, outcome in known["results"]], True
        results = gtests.run_program(
            program,
            folder,
            SECONDS,
            SECONDS_PER_TEST,
            env={**os.environ, **environment},
            prefix=prefix,
            leave_out=leave_out,
        )
        if name and not any(each.is_bad for each in results):
            kept.keep(name, {"results": [(each.test, each.outcome.value) for each in results]})
        return program, results, False

    total = Count()
    with concurrent.futures.ThreadPoolExecutor(at_once) as pool:
        for number, (program, results, was_kept) in enumerate(pool.map(one, programs), 1):
            has_to_fail = bool(unsolved) and program.name.startswith(f"{unsolved}_")
            if has_to_fail:
                results = [judge_unsolved(program, results)]
            bad = [each for each in results if each.is_bad]
            skipped = sum(each.outcome is Outcome.SKIPPED for each in results)
            total = Count(total.passed + len(results) - len(bad) - skipped, total.failed + len(bad), total.skipped + skipped)
            how = "shown before" if was_kept else f"{len(results)} tests"
            say(f"{number}/{len(programs)} Test {program.name}: {how}{f', {len(bad)} failed' if bad else ''}")
            for each in results:
                if each.outcome is Outcome.SKIPPED:
                    say(f"SKIPPED {each.test}: {each.message}")
            for each in bad:
                said = f"{program.name}: {each.test} {each.outcome.value}"
                told.append(said)
                say(f"{said}\n{each.message}")
    if told:
        say("")
        for said in told:
            say(f"FAILED {said}")
    say(f"{total.passed} tests passed, {total.failed} failed, {total.skipped} skipped")
    if total.failed:
        raise Failed(f"{total.failed} tests failed, the first: {told[0]}")


def judge_unsolved(program: pathlib.Path, results: Sequence[Result]) -> Result:
    """The felt problem of a chapter: its program has to fail, and by an assertion."""
    name = f"{program.name}.fails_by_assertion"
    if any(each.outcome in (Outcome.CRASHED, Outcome.HUNG, Outcome.MISSING) for each in results):
        return Result(name, Outcome.CRASHED, "it did not run its tests to the end")
    if results and all(each.outcome is Outcome.SKIPPED for each in results):
        return Result(name, Outcome.SKIPPED, results[0].message)  # not on this system
    if not any(each.outcome is Outcome.FAILED for each in results):
        return Result(name, Outcome.FAILED, "it passed: the chapter can already do what the next one promises")
    if any("C++ exception" in each.message for each in results):
        return Result(name, Outcome.CRASHED, "it did not fail by an assertion, it threw an exception")
    return Result(name, Outcome.PASSED)


def count(output: str) -> Count:
    """From the last words of each run in the log."""
    found = re.findall(r"^(\d+) tests passed, (\d+) failed, (\d+) skipped$", output, re.MULTILINE)
    return Count(*(sum(int(row[column]) for row in found) for column in range(3)))
