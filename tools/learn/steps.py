"""Runs long things one after the other: one line each, a log each, and a summary at the end.

A step that fails does not stop the ones that don't need it. Each step has a time limit; when it
is up, the step's process group is ended. A step that names its inputs is not run again as long as
they are what they were when it last passed on this machine (proofs.py): it is `cached`.
"""

from __future__ import annotations

import concurrent.futures
import contextlib
import dataclasses
import functools
import os
import pathlib
import re
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence

from learn import proofs
from learn.chapters import ROOT

TAIL_LINES = 40
Command = Sequence[str | pathlib.Path]
Work = Sequence[Command] | Callable[[], None]


@dataclasses.dataclass(frozen=True)
class Count:
    """What a step's output says about the tests in it."""

    passed: int = 0
    failed: int = 0
    skipped: int = 0


@dataclasses.dataclass
class Outcome:
    name: str
    # "ok", "cached": nothing has changed since it was, "FAILED", "not run",
    # "unsteady": failed at first, ok when tried again
    status: str
    seconds: float
    count: Count
    log: pathlib.Path | None = None
    reasons: Sequence[str] = ()  # why tests were skipped

    def is_ok(self) -> bool:
        return self.status in ("ok", "cached", "unsteady")


def count_ctest(output: str) -> Count:
    """From CTest's last words: "98% tests passed, 1 tests failed out of 57"."""
    passed = failed = 0
    for match in re.finditer(r"^(\d+)% tests passed, (\d+) tests failed out of (\d+)", output, re.MULTILINE):
        failed += int(match[2])
        passed += int(match[3]) - int(match[2])
    skipped = len(re.findall(r"^\s*\d+/\d+ Test .*\*\*\*Skipped", output, re.MULTILINE))
    return Count(passed - skipped, failed, skipped)


def count_pytest(output: str) -> Count:
    """From pytest's last line: "3 failed, 20 passed, 1 skipped in 4.20s"."""
    last = next(
        (line for line in reversed(output.splitlines()) if re.search(r"\bin \d+(\.\d+)?s\b", line)), ""
    )

    def number(word: str) -> int:
        match = re.search(rf"(\d+) {word}", last)
        return int(match[1]) if match else 0

    return Count(number("passed"), number("failed") + number("error"), number("skipped"))


class Failed(Exception):
    """A callable step raises this to fail with a message."""


class Runner:
    """Runs steps, prints their progress to stdout, remembers how they ended."""

    def __init__(self, logs: pathlib.Path = ROOT / "build" / "logs", only: str = "", again: bool = False) -> None:
        self.logs = logs
        self.only = only
        self.again = again  # run also what would be cached
        self.proofs = proofs.Proofs("steps", again)
        self._makes: dict[str, Work] = {}  # by the name of a cached step: what makes what it leaves behind
        self.outcomes: list[Outcome] = []
        self._not_ok: list[functools.partial[bool]] = []  # does a step that did not end well once more
        self.environment = dict(os.environ)
        self._log: pathlib.Path | None = None
        self._deadline = 0.0
        self._shown = 0.0
        self._called_off = False
        self._tries_again = False
        logs.mkdir(parents=True, exist_ok=True)

    # -- steps --

    def step(
        self,
        name: str,
        work: Work,
        *,
        needs: Sequence[str] = (),
        inputs: Sequence[pathlib.Path] = (),
        options: Sequence[str] = (),
        makes: Work = (),
        seconds: float = 600.0,
        count: Callable[[str], Count] | None = None,
        advice: str = "",
        no_skips: bool = False,
        no_warnings: bool = False,
    ) -> bool:
        """Runs commands, each in the repository's root, or a callable that may call run().

        `needs` names steps that have to be ok before this one. `advice` says what to do when it
        fails. With `no_skips` a skipped test is a failure, with `no_warnings` a compiler's warning.

        `inputs` are all files and folders that its result depends on, `options` what else decides, as far
        as it is not in the words of the commands; without inputs a step runs each time. `makes` is the
        part of it that makes what other steps need, and is done when one of those runs and this one is
        cached.
        """
        if self.only and self.only not in name and not name.startswith("set up"):
            return True
        if self._called_off:
            return False
        failed = {each.name for each in self.outcomes if not each.is_ok()}
        unmet = [need for need in needs if need in failed]
        again = functools.partial(
            self.step, name, work, needs=needs, seconds=seconds, count=count, advice=advice,
            no_skips=no_skips, no_warnings=no_warnings, inputs=inputs, options=options, makes=makes,
        )
        if unmet:
            self._not_ok.append(again)
            self.outcomes.append(Outcome(name, "not run", 0.0, Count(failed=1)))
            print(f"  {name:<44} not run: {unmet[0]} failed", flush=True)
            return False
        words = [name, *options, *(() if callable(work) else (str(word) for command in work for word in command))]
        proof = proofs.key(words, inputs, self.environment) if inputs else ""
        if known := self.proofs.find(proof) if proof else None:
            counted = Count(known["passed"], 0, known["skipped"])
            self.outcomes.append(Outcome(name, "cached", 0.0, counted, reasons=known["reasons"]))
            self._makes[name] = makes
            self._line(f"  {name:<44} cached            {counted.passed} passed")
            return True
        self._log = self.logs / (re.sub(r"[^\w.+-]+", "-", name) + ".log")
        self._log.write_bytes(b"")
        begin = time.monotonic()
        self._deadline = begin + seconds
        self._name = name
        self._begin = self._shown = begin
        trouble = ""
        self._progress(first=True)
        try:
            for need in needs:
                self._do(self._makes.pop(need, ()))
            self._do(work)
        except Failed as failure:
            trouble = str(failure)
        output = self._log.read_text(encoding="utf-8", errors="replace")
        counted = count(output) if count else Count()
        if not trouble and count and not (counted.passed or counted.failed):
            trouble = "it ran no tests"
        if no_skips and counted.skipped:
            counted = Count(counted.passed, counted.failed + counted.skipped, 0)
            trouble = trouble or "tests were skipped: what they need must be there"
        if no_warnings and not trouble and (warned := re.findall(r"^(?!\$ ).*\bwarning: .*$", output, re.MULTILINE)):
            trouble = f"{len(warned)} compiler warnings, the first: {warned[0]}"
        if trouble and not counted.failed:
            counted = Count(counted.passed, 1, counted.skipped)
        if not trouble and not count:
            counted = Count(passed=1)
        elapsed = time.monotonic() - begin
        status = "FAILED" if trouble else "ok"
        reasons = sorted(set(re.findall(r"^SKIPPED (.*)$", output, re.MULTILINE))) if counted.skipped else []
        self.outcomes.append(Outcome(name, status, elapsed, counted, self._log, reasons))
        # A result that a second try has brought says less, and files that changed meanwhile say nothing.
        if proof and not trouble and not self._tries_again and proof == proofs.key(words, inputs, self.environment):
            self.proofs.keep(proof, {"step": name, "passed": counted.passed, "skipped": counted.skipped, "reasons": reasons})
        tests = f"  {counted.passed} passed" if count and not trouble else ""
        self._line(f"  {name:<44} {status:<6} {elapsed:7.1f} s{tests}")
        if trouble:
            self._not_ok.append(again)
            self._explain(trouble, output, advice)
        return not trouble

    def _do(self, work: Work) -> None:
        if callable(work):
            work()
        else:
            for command in work:
                self.run(command)

    def try_again(self) -> None:
        """Each step that did not end well, once more and with nothing beside it.

        For a run of an hour that nobody attends. A test that minds other work on the machine is a
        defect still, so the summary names such a step, and the log of its failure is kept.
        """
        todo = self._not_ok[:]
        self._not_ok.clear()  # the list itself stays: who works beside has the same one
        if todo:
            print("\n  what did not pass, once more:", flush=True)
        self._tries_again = True
        for step in todo:
            name = step.args[0]
            first = next(each for each in self.outcomes if each.name == name)
            if first.log:
                first.log.replace(first.log.with_suffix(".first.log"))
            self.outcomes.remove(first)
            if step() and first.status == "FAILED":
                self.outcomes[-1].status = "unsteady"

    @contextlib.contextmanager
    def beside(self, work: Callable[[Runner], None]) -> Iterator[None]:
        """While the block of the `with` statement does its steps, `work` does others with the Runner it is given.

        Neither may need a step of the other. All of them are one run: one summary, one second try.
        """
        other = Runner(self.logs, self.only, self.again)
        other.environment = dict(self.environment)
        other.outcomes = self.outcomes
        other._not_ok = self._not_ok
        with concurrent.futures.ThreadPoolExecutor(1) as thread:
            done = thread.submit(work, other)
            try:
                yield
            except BaseException:
                other._called_off = True
                raise
            done.result()

    def run(self, command: Command, cwd: pathlib.Path = ROOT, env: dict[str, str] | None = None) -> None:
        """Runs one command of the current step, output to its log; Failed when it fails."""
        assert self._log
        words = [str(word) for word in command]
        with self._log.open("ab") as log:
            log.write(f"$ {' '.join(words)}\n".encode())
            log.flush()
            try:
                process = subprocess.Popen(
                    words,
                    cwd=cwd,
                    env={**self.environment, **(env or {})},
                    stdin=subprocess.DEVNULL,
                    stdout=log,
                    stderr=subprocess.STDOUT,
                    # sudo asks for its password on the terminal, so it has to stay in our session
                    start_new_session=words[0] != "sudo",
                )
            except OSError as error:
                raise Failed(f"{words[0]}: {error.strerror}") from error
        try:
            while True:
                try:
                    status = process.wait(timeout=0.5)
                    break
                except subprocess.TimeoutExpired:
                    self._progress()
                if self._called_off:
                    raise Failed("it was called off")
                if time.monotonic() > self._deadline:
                    raise Failed("the time for this step was up")
        finally:
            if process.poll() is None:
                self._end(process)
        if status:
            how = f"ended with status {status}" if status > 0 else f"was ended by signal {-status}"
            raise Failed(f"`{pathlib.Path(words[0]).name}` {how}")

    @staticmethod
    def _end(process: subprocess.Popen[bytes]) -> None:
        try:
            if os.getpgid(process.pid) == process.pid:
                os.killpg(process.pid, signal.SIGKILL)
            else:
                process.kill()
        except (ProcessLookupError, PermissionError):
            pass
        process.wait()

    def say(self, text: str) -> None:
        """One line into the log of the current step."""
        assert self._log
        with self._log.open("a", encoding="utf-8") as log:
            log.write(text + "\n")

    # -- what is seen --

    def _progress(self, first: bool = False) -> None:
        now = time.monotonic()
        if sys.stdout.isatty():
            place = "" if first else self._place()
            print(f"\r\033[K  {self._name:<44} ...    {now - self._begin:7.0f} s  {place}", end="", flush=True)
        elif now - self._shown >= 60:
            self._shown = now
            print(f"  {self._name:<44} still running, {now - self._begin:.0f} s  {self._place()}", flush=True)

    def _place(self) -> str:
        """How far a build or a test run has come: the last "[12/80]" or "12/80 Test" in the log."""
        assert self._log
        with self._log.open("rb") as log:
            log.seek(max(0, log.seek(0, os.SEEK_END) - 4000))
            found = re.findall(rb"^\[(\d+/\d+)\]|^\s*(\d+/\d+) Test\b|\[\s*(\d+%)\]", log.read(), re.MULTILINE)
        return next((word.decode() for word in found[-1] if word), "") if found else ""

    def _line(self, text: str) -> None:
        print(("\r\033[K" if sys.stdout.isatty() else "") + text, flush=True)

    def _explain(self, trouble: str, output: str, advice: str) -> None:
        lines = output.rstrip().splitlines()
        print(f"      {trouble}")
        for line in lines[-TAIL_LINES:]:
            print(f"      | {line}")
        assert self._log
        log = self._log.relative_to(ROOT) if self._log.is_relative_to(ROOT) else self._log
        print(f"      whole log: {log}")
        if advice:
            print(f"      what to do: {advice}")
        sys.stdout.flush()

    # -- the end --

    def ok(self) -> bool:
        return all(outcome.is_ok() for outcome in self.outcomes)

    def totals(self) -> Count:
        return Count(
            sum(outcome.count.passed for outcome in self.outcomes),
            sum(outcome.count.failed for outcome in self.outcomes),
            sum(outcome.count.skipped for outcome in self.outcomes),
        )

    def summary(self) -> None:
        """A table of the steps; the very last line is "N passed, N failed"."""
        totals = self.totals()
        print(f"\n  {'step':<44} {'result':<8} {'seconds':>8} {'passed':>7} {'failed':>7}")
        for outcome in self.outcomes:
            print(
                f"  {outcome.name:<44} {outcome.status:<8} {outcome.seconds:8.1f}"
                f" {outcome.count.passed:7} {outcome.count.failed:7}"
            )
        seconds = sum(outcome.seconds for outcome in self.outcomes)
        print(f"\n  {int(seconds // 60)} min {int(seconds % 60)} s")
        for outcome in self.outcomes:
            if outcome.status == "unsteady":
                print(f"  UNSTEADY, passed only when tried again: {outcome.name}")
        if totals.skipped:
            print(f"  skipped, so neither passed nor failed: {totals.skipped}")
            for outcome in self.outcomes:
                for reason in outcome.reasons:
                    print(f"    {outcome.name}: {reason}")
        print(f"{totals.passed} passed, {totals.failed} failed", flush=True)
