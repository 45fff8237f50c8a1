"""A server and its successors: started once, replaced by SIGUSR2 any number of times. In the end every
process of it is ended by its id, even after a failure."""

from __future__ import annotations

import contextlib
import ctypes
import os
import pathlib
import signal
import time

from serving import PATIENCE, Turtle

PR_SET_CHILD_SUBREAPER = 36  # prctl(2)


def await_condition(condition, what: str, patience: float = PATIENCE):
    """Waits until `condition` returns something true, and returns that."""
    deadline = time.monotonic() + patience
    while not (result := condition()):
        assert time.monotonic() < deadline, f"it never came: {what}"
        time.sleep(0.005)
    return result


def children_of(pid: int) -> list[int]:
    try:
        text = pathlib.Path(f"/proc/{pid}/task/{pid}/children").read_text(encoding="utf-8")
    except OSError:
        return []
    return [int(each) for each in text.split()]


class Lineage:
    """`turtle serve` and its successors, of which `pid` is the newest."""

    def __init__(self, *arguments, **options) -> None:
        # A process whose parent has ended becomes our child, not process 1's: so we can wait for it.
        ctypes.CDLL(None).prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
        self.turtle = Turtle(*arguments, **options)
        self.pid = self.turtle.process.pid
        self.port = self.turtle.port
        self.alive = {self.pid}

    def begin(self) -> int:
        """Requests a successor. @return its process id, as soon as it has one."""
        ours = set(children_of(os.getpid()))
        os.kill(self.pid, signal.SIGUSR2)
        # It may be so quick that its predecessor has ended before we look: then it is our child.
        successor = await_condition(
            lambda: children_of(self.pid) or sorted(set(children_of(os.getpid())) - ours), f"a child of {self.pid}"
        )[0]
        self.alive.add(successor)
        return successor

    def restart(self) -> int:
        """Makes one hand-over, until the predecessor has ended. @return its exit code."""
        old, self.pid = self.pid, self.begin()
        return self.wait(old)

    def wait(self, pid: int) -> int:
        """Returns the exit code of a process that is about to end."""
        if pid == self.turtle.process.pid:
            code = self.turtle.wait()
        else:
            status = await_condition(lambda: self._status(pid), f"the end of {pid}")[0]
            code = os.waitstatus_to_exitcode(status)
        self.alive.discard(pid)
        return code

    @staticmethod
    def _status(pid: int):
        found, status = os.waitpid(pid, os.WNOHANG)
        return (status,) if found else None

    def stop(self) -> int:
        """Ends the newest as an administrator does."""
        os.kill(self.pid, signal.SIGTERM)
        return self.wait(self.pid)

    def said(self) -> str:
        """Returns everything that they have written to stderr."""
        return self.turtle.said()

    def close(self) -> None:
        for pid in self.alive - {self.turtle.process.pid}:
            with contextlib.suppress(ProcessLookupError, ChildProcessError):
                os.kill(pid, signal.SIGKILL)
                os.waitpid(pid, 0)
        self.turtle.close()
        ctypes.CDLL(None).prctl(PR_SET_CHILD_SUBREAPER, 0, 0, 0, 0)
