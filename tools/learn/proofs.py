"""What was proven on this machine stays proven as long as nothing changes that it rests on.

A proof is a file below ~/.cache/turtle/proofs (TURTLE_CACHE is another place for ~/.cache/turtle). Its
name is a digest of everything that the result depends on: the words of the commands, the environment
that compilers and tests read, the content of the input files, and the machine with its packages. Only
success is kept.
"""

from __future__ import annotations

import ast
import functools
import hashlib
import json
import os
import pathlib
import platform
import subprocess
import sys
import time
from collections.abc import Iterable, Mapping, Sequence

from learn.chapters import ROOT

MOST_DAYS = 30  # a proof that nothing has asked for in so long is removed
TOOLS = ROOT / "tools"
# Below the root, what is made from the rest.
MADE = {"build", ".git", "__pycache__", ".pytest_cache"}
# Of the environment, what compilers, CMake and our programs look at.
READ = ("ASAN_", "CC", "CFLAGS", "CI", "CMAKE_", "CPPFLAGS", "CXX", "LC_", "LDFLAGS", "TSAN_", "TURTLE_", "UBSAN_")


def place() -> pathlib.Path:
    return pathlib.Path(os.environ.get("TURTLE_CACHE") or pathlib.Path.home() / ".cache" / "turtle")


def files(inputs: Iterable[pathlib.Path]) -> list[pathlib.Path]:
    """All files in these files and folders, in order, without what is made from the rest."""
    found: set[pathlib.Path] = set()
    for each in inputs:
        if each.is_file():
            found.add(each)
        for folder, below, names in os.walk(each):
            below[:] = [name for name in below if name not in MADE]
            found.update(pathlib.Path(folder, name) for name in names)
    return sorted(found)


@functools.lru_cache(maxsize=None)
def _digest(path: pathlib.Path, modified: int, size: int, mode: int) -> bytes:
    return hashlib.sha256(path.read_bytes()).digest()


def digest(path: pathlib.Path) -> bytes:
    """Of a file's content; a link is where it points to."""
    if path.is_symlink():
        return hashlib.sha256(os.readlink(path).encode()).digest()
    status = path.stat()
    return _digest(path, status.st_mtime_ns, status.st_size, status.st_mode)


@functools.lru_cache(maxsize=None)
def machine() -> str:
    """The processor, the kernel, the user, and each installed package with its version."""
    words = [platform.platform(), platform.machine(), sys.version, str(os.geteuid())]
    try:
        cpu = pathlib.Path("/proc/cpuinfo").read_text(encoding="utf-8")
        words.append(next((line for line in cpu.splitlines() if line.startswith("model name")), ""))
    except OSError:
        pass
    for command in (["dpkg-query", "-W"], ["brew", "list", "--versions"]):
        try:
            words.append(subprocess.run(command, capture_output=True, text=True, check=False).stdout)
        except OSError:
            pass
    return hashlib.sha256("\n".join(words).encode()).hexdigest()


def forget_machine() -> None:
    """Packages were installed."""
    machine.cache_clear()


def key(words: Sequence[str], inputs: Iterable[pathlib.Path], environment: Mapping[str, str], root: pathlib.Path = ROOT) -> str:
    """The name of a proof. Where the tree lies makes no difference."""
    found = hashlib.sha256(machine().encode())
    read = [f"{name}={value}" for name, value in sorted(environment.items()) if name.startswith(READ)]
    for word in [*words, *read]:
        found.update(word.replace(str(root), "").encode() + b"\0")
    for path in files(inputs):
        name = path.relative_to(root) if path.is_relative_to(root) else path
        is_program = not path.is_symlink() and os.access(path, os.X_OK)
        found.update(f"{name}\0{is_program}\0".encode() + digest(path))
    return found.hexdigest()


class Proofs:
    """The proofs that are kept. With `again` none is found, and new ones are kept all the same."""

    def __init__(self, kind: str, again: bool = False) -> None:
        self.again = again
        self._folder = place() / "proofs" / kind

    def find(self, name: str) -> dict | None:
        path = self._folder / name
        if self.again:
            return None
        try:
            found = json.loads(path.read_text(encoding="utf-8"))
            os.utime(path)
        except (OSError, ValueError):
            return None
        return found if isinstance(found, dict) else None

    def keep(self, name: str, facts: dict) -> None:
        try:
            self._folder.mkdir(parents=True, exist_ok=True)
            new = self._folder / f"{name}.{os.getpid()}.new"
            new.write_text(json.dumps(facts), encoding="utf-8")
            new.replace(self._folder / name)
        except OSError:
            pass  # it is shown again next time

    def remove_old(self) -> None:
        try:
            for path in self._folder.iterdir():
                if time.time() - path.stat().st_mtime > MOST_DAYS * 86400:
                    path.unlink()
        except OSError:
            pass


def sources(*scripts: pathlib.Path) -> list[pathlib.Path]:
    """The scripts, and all of tools/ that they import."""
    found: set[pathlib.Path] = set()
    todo = list(scripts)
    while todo:
        path = todo.pop()
        if path in found:
            continue
        found.add(path)
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            names: list[str] = []
            if isinstance(node, ast.Import):
                names = [each.name for each in node.names]
            elif isinstance(node, ast.ImportFrom):
                names = [node.module or "", *(f"{node.module}.{each.name}" for each in node.names)]
            for name in names:
                module = TOOLS.joinpath(*name.split(".")).with_suffix(".py") if name else TOOLS / "none"
                todo += [each for each in (module, module.with_suffix("") / "__init__.py") if each.is_file()]
    return sorted(found)
