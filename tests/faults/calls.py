"""The memory that a server and its shim share with us: what it calls, and which call fails next."""

from __future__ import annotations

import mmap
import pathlib
import struct

SIZE = 4096
FUNCTIONS = 64
COUNTER = struct.Struct("24sQ")
FIRST_COUNTER = 16
FAULT = struct.Struct("24sqQ")
TIMES = struct.Struct("Q")
FAULT_AT = FIRST_COUNTER + FUNCTIONS * COUNTER.size


class Calls:
    """Makes the file at `path`, which TURTLE_FAULT_CALLS names to the server."""

    def __init__(self, path: pathlib.Path) -> None:
        path.write_bytes(bytes(SIZE))
        with open(path, "r+b") as file:
            self._memory = mmap.mmap(file.fileno(), SIZE)

    @property
    def fired(self) -> int:
        """How many calls have failed."""
        return TIMES.unpack_from(self._memory, 0)[0]

    def count(self) -> dict[str, int]:
        """How often each function was called."""
        rows = [COUNTER.unpack_from(self._memory, FIRST_COUNTER + COUNTER.size * i) for i in range(FUNCTIONS)]
        return {name.rstrip(b"\0").decode(): calls for name, calls in rows if calls}

    def fail(self, function: str, outcome: int, first: int, times: int = 1) -> None:
        """From now on these calls fail, as numbered since the start, and no others."""
        self.fail_nothing()
        FAULT.pack_into(self._memory, FAULT_AT, function.encode(), outcome, first)
        TIMES.pack_into(self._memory, FAULT_AT + FAULT.size, times)  # last: the shim reads it first

    def fail_nothing(self) -> None:
        TIMES.pack_into(self._memory, FAULT_AT + FAULT.size, 0)
