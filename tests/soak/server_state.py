"""What /proc says of a server: whether it has kept something of the clients that are gone."""

import dataclasses
import os
import pathlib
import time


@dataclasses.dataclass
class State:
    descriptors: int
    sockets: int
    memory: int  # bytes that are its own, and not those of a file
    children: int  # living or not yet buried


def of(pid: int) -> State:
    sockets = descriptors = 0
    for entry in pathlib.Path(f"/proc/{pid}/fd").iterdir():
        try:
            sockets += os.readlink(entry).startswith("socket:")
            descriptors += 1
        except FileNotFoundError:
            pass  # closed meanwhile
    status = pathlib.Path(f"/proc/{pid}/status").read_text(encoding="utf-8")
    memory = int(status.split("RssAnon:")[1].split()[0]) * 1024
    children = 0
    for thread in pathlib.Path(f"/proc/{pid}/task").iterdir():
        children += len((thread / "children").read_text(encoding="utf-8").split())
    return State(descriptors, sockets, memory, children)


def at_rest(pid: int, sockets: int, patience: float) -> State:
    """The state when all clients have gone and `sockets` are left, and no program runs; or when the
    patience is over."""
    deadline = time.monotonic() + patience
    while True:
        state = of(pid)
        if state.sockets <= sockets and state.children == 0 or time.monotonic() > deadline:
            return state
        time.sleep(0.05)
