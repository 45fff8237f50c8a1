"""Runs GoogleTest programs and tells how each of their tests ended.

A program runs as a whole first. When it crashes, its tests run again one at a time, so that one bad
test says nothing about the others. When it hangs, those run that have not come to their end.
"""

from __future__ import annotations

import dataclasses
import enum
import json
import os
import pathlib
import re
import signal
import subprocess
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence


class Outcome(enum.Enum):
    PASSED = "passed"
    FAILED = "failed"  # by an assertion or an exception: the program went on
    CRASHED = "crashed"
    HUNG = "hung"
    SKIPPED = "skipped"
    MISSING = "not built"


@dataclasses.dataclass(frozen=True)
class Result:
    test: str  # "Suite.Name"; the program's name when it did not get that far
    outcome: Outcome
    message: str = ""

    @property
    def is_bad(self) -> bool:
        return self.outcome not in (Outcome.PASSED, Outcome.SKIPPED)


def run_bounded(
    command: list[str], seconds: float, cwd: pathlib.Path, env: dict[str, str] | None = None, silence: float | None = None
) -> tuple[int | None, str]:
    """Exit status (None: the time was up and its process group was ended) and output. With `silence`, the time
    is also up when there was no output for so many seconds."""
    with tempfile.TemporaryFile() as output:
        process = subprocess.Popen(
            command,
            cwd=cwd,
            env=env,
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
        try:
            status = _wait(process, seconds, silence, lambda: os.fstat(output.fileno()).st_size)
        finally:
            try:  # also what the program started and left behind
                os.killpg(process.pid, signal.SIGKILL)
            except (ProcessLookupError, PermissionError):
                pass
            process.wait()
        output.seek(0)
        return status, output.read().decode("utf-8", "replace")


def _wait(
    process: subprocess.Popen[bytes], seconds: float, silence: float | None, said: Callable[[], int]
) -> int | None:
    """The exit status; None if it did not end in time. `said` tells how much it has written."""
    end = time.monotonic() + seconds
    size = said()
    while True:
        limit = end - time.monotonic()
        try:
            return process.wait(timeout=max(0.0, limit if silence is None else min(limit, silence)))
        except subprocess.TimeoutExpired:
            before, size = size, said()
            if size == before or time.monotonic() >= end:
                return None


def run_program(
    program: pathlib.Path,
    cwd: pathlib.Path,
    seconds: float = 60.0,
    seconds_per_test: float = 10.0,
    stop_at_first_failure: bool = False,
    *,
    silence: float | None = None,
    env: Mapping[str, str] | None = None,
    prefix: Sequence[str] = (),
    leave_out: str = "",
    chosen: str = "",
) -> list[Result]:
    """The results of all tests of `program`, or those that the filter `chosen` names, run by the
    command `prefix`, without those that the filter `leave_out` names.

    The program hangs after `seconds`, or after `silence` seconds without output, and one test alone after
    `seconds_per_test`. After three tests that hang, the others do not run, which the third result says. When
    all tests pass one by one and the whole did not, that is a result of its own. With `stop_at_first_failure`,
    one test that failed by assertion is enough: the program skips those after it, and one that did not come to
    its end is not run again.
    """
    if not program.is_file():
        return [Result(program.name, Outcome.MISSING)]
    command = [*prefix, str(program)]
    options = ["--gtest_fail_fast"] if stop_at_first_failure else []
    if leave_out or chosen:
        without = f"{':' if '-' in chosen else '-'}{leave_out}" if leave_out else ""
        options.append(f"--gtest_filter={chosen}{without}")
    environment = dict(env) if env is not None else None
    status, output, results = _run(command, cwd, seconds, options, environment, silence)
    if results is not None:
        return results
    so_far = _results_so_far(output)
    if stop_at_first_failure and any(each.outcome is Outcome.FAILED for each in so_far):
        return so_far
    listed_status, listing = run_bounded([*command, *options, "--gtest_list_tests"], 10.0, cwd, environment)
    names = _listed(listing) if listed_status == 0 else []
    whole = _unfinished(program.name, status, output, "it had not ended after its time")
    if not names:
        return [whole]
    results = so_far if status is None else []
    done = {each.test for each in results}
    left = [name for name in names if name not in done]
    if left and status is None and silence is not None:  # no doubt which one it was
        results.append(Result(left.pop(0), Outcome.HUNG, f"not done after {silence:g} s"))
    while left and sum(each.outcome is Outcome.HUNG for each in results) < 3:
        name = left.pop(0)
        status, output, single = _run(command, cwd, seconds_per_test, [f"--gtest_filter={name}"], environment)
        results += [_unfinished(name, status, output, f"not done after {seconds_per_test:g} s")] if single is None else single
        if stop_at_first_failure and results[-1:] and results[-1].outcome is Outcome.FAILED:
            return results
    if left:
        last = results[-1]
        results[-1] = dataclasses.replace(last, message=f"{last.message}; not run after it: {', '.join(left)}")
    if not any(each.is_bad for each in results):
        results.append(whole)
    return results


def _unfinished(name: str, status: int | None, output: str, too_long: str) -> Result:
    """Of a test or a program that crashed, or hung."""
    if status is None:
        return Result(name, Outcome.HUNG, too_long)
    return Result(name, Outcome.CRASHED, f"{_how_it_ended(status)}\n{_own_words(output)}")


def _own_words(output: str) -> str:
    """What a program wrote, without what GoogleTest writes around its tests."""
    around = re.compile(r"Running main\(\) from |Note: Google Test filter = |\[[-=]{10}\]|\[ RUN      \]")
    return "\n".join(line for line in output.splitlines() if line.strip() and not around.match(line))


def _run(
    program: Sequence[str],
    cwd: pathlib.Path,
    seconds: float,
    options: list[str],
    env: dict[str, str] | None,
    silence: float | None = None,
) -> tuple[int | None, str, list[Result] | None]:
    """Status, output, results; no results: the program did not come to its end."""
    with tempfile.TemporaryDirectory() as folder:
        report = pathlib.Path(folder) / "report.json"
        command = [*program, f"--gtest_output=json:{report}", *options]
        status, output = run_bounded(command, seconds, cwd, env, silence)
        if status not in (0, 1) or not report.is_file():
            return status, output, None
        try:
            return status, output, _read_report(report.read_text(encoding="utf-8", errors="replace"))
        except ValueError:
            return status, output, None


def _results_so_far(output: str) -> list[Result]:
    """Of a program that did not come to its end: the tests that did, or that failed on the way."""
    words = {"OK": Outcome.PASSED, "FAILED": Outcome.FAILED, "SKIPPED": Outcome.SKIPPED}
    results = []
    for part in re.split(r"^\[ RUN +\] ", output, flags=re.MULTILINE)[1:]:
        name = part.split("\n", 1)[0].strip()
        ended = re.search(r"^\[ +(OK|FAILED|SKIPPED) +\] ", part, re.MULTILINE)
        if ended:
            outcome = words[ended[1]]
            results.append(Result(name, outcome, part[: ended.start()] if outcome is Outcome.FAILED else ""))
        elif re.search(r": Failure$", part, re.MULTILINE):
            results.append(Result(name, Outcome.FAILED, part))
    return results


def _read_report(text: str) -> list[Result]:
    results = []
    for suite in json.loads(text).get("testsuites", []):
        for test in suite.get("testsuite", []):
            if test.get("status") == "NOTRUN":
                continue
            name = f"{suite['name']}.{test['name']}"
            failures = [each.get("failure", "") for each in test.get("failures", [])]
            if failures:
                results.append(Result(name, Outcome.FAILED, _once_each(failures)))
            elif test.get("result") == "SKIPPED":
                reason = " ".join(each.get("message", "") for each in test.get("skipped", []))
                results.append(Result(name, Outcome.SKIPPED, reason))
            else:
                results.append(Result(name, Outcome.PASSED))
    return results


def _once_each(failures: Sequence[str]) -> str:
    """The failures; of an assertion that failed several times, the first failure and a count."""
    places: dict[str, list[str]] = {}
    for failure in failures:
        places.setdefault(failure.split("\n", 1)[0], []).append(failure.strip())
    found = []
    for first, *more in places.values():
        found.append(first)
        if more:
            found.append(f"(and {len(more)} more of this assertion)")
    return "\n".join(found)


def _listed(listing: str) -> list[str]:
    names, suite = [], ""
    for line in listing.splitlines():
        word = line.split("#")[0].strip()
        if not word or line.startswith("Running main()"):
            continue
        if line.startswith(" "):
            names.append(suite + word)
        elif word.endswith("."):
            suite = word
    return [name for name in names if "DISABLED_" not in name]


def _how_it_ended(status: int | None) -> str:
    if status is None:
        return "the time was up"
    if status < 0:
        try:
            return f"ended by {signal.Signals(-status).name}"
        except ValueError:
            return f"ended by signal {-status}"
    return f"ended with status {status}"
