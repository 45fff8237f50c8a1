"""What a lock guards can't be touched without it: clang refuses to compile it.

Each lock of final/src is taken away, one at a time, and the file must not compile any more.
"""

import functools
import pathlib
import re
import shutil
import subprocess
import tempfile

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
SOURCES = ROOT / "final" / "src"
LOCK = re.compile(r"^ *const MutexLock \w+\(.*\);\n", re.MULTILINE)
GUARDED = re.compile(r"(\w+) TURTLE_GUARDED_BY\(\w+\)")
PROMISE = re.compile(r" TURTLE_REQUIRES\(\w+\)")  # of a function's callers: to have the lock
CLANG = shutil.which("clang++")

FILES = [path for path in sorted(SOURCES.rglob("*")) if path.suffix in (".h", ".cpp") and path.name != "mutex.h"]
TEXTS = {path: path.read_text(encoding="utf-8") for path in FILES}
LOCKS = [(path, match) for path, text in TEXTS.items() for match in LOCK.finditer(text)]
MEMBERS = [(path, match[1]) for path, text in TEXTS.items() for match in GUARDED.finditer(text)]

pytestmark = pytest.mark.skipif(not CLANG, reason="clang++ is not installed")


def compile_text(text: str, *first: pathlib.Path) -> subprocess.CompletedProcess[str]:
    folders = [f"-I{folder}" for folder in (*first, SOURCES)]
    options = ["-std=c++17", "-fsyntax-only", "-Werror", "-Wthread-safety", *folders, "-x", "c++", "-"]
    return subprocess.run([CLANG, *options], input=text, capture_output=True, text=True, timeout=300, check=False)


@functools.lru_cache(maxsize=None)
def said_without(path: pathlib.Path, start: int, end: int) -> str:
    """What clang says of the file without these characters."""
    done = compile_text(TEXTS[path][:start] + TEXTS[path][end:])
    return done.stderr if done.returncode else ""


@functools.lru_cache(maxsize=None)
def said_without_promises(stem: str) -> str:
    """What clang says of the files of a class whose functions don't say what lock they need."""
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        texts = {path: PROMISE.sub("", text) for path, text in TEXTS.items() if path.stem == stem}
        for path, text in texts.items():
            copy = folder / path.relative_to(SOURCES)
            copy.parent.mkdir(exist_ok=True)
            copy.write_text(text, encoding="utf-8")
        return "".join(compile_text(text, folder).stderr for text in texts.values())


def place(path: pathlib.Path, text: str, offset: int) -> str:
    return f"{path.relative_to(SOURCES)}:{text.count(chr(10), 0, offset) + 1}"


def test_there_are_locks():
    assert {path.stem for path, _ in LOCKS} >= {"mailbox", "thread_pool", "child_process"}


@pytest.mark.parametrize("path", sorted({path for path, _ in LOCKS}), ids=lambda path: path.name)
def test_with_its_locks_a_file_compiles(path):
    done = compile_text(TEXTS[path])
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("path, lock", LOCKS, ids=[place(path, TEXTS[path], lock.start()) for path, lock in LOCKS])
def test_without_a_lock_it_does_not_compile(path, lock):
    said = said_without(path, lock.start(), lock.end())
    assert "[-Werror,-Wthread-safety-" in said, said or "it compiles"


@pytest.mark.parametrize("path, member", MEMBERS, ids=[f"{path.stem}-{member}" for path, member in MEMBERS])
def test_each_guarded_member_is_missed(path, member):
    """By what one of the locks is there for, or by a function that relies on its callers' lock."""
    said = [said_without(file, lock.start(), lock.end()) for file, lock in LOCKS if file.stem == path.stem]
    said.append(said_without_promises(path.stem))
    assert any(f"'{member}' requires holding mutex '" in each for each in said), "\n".join(said)


def test_no_mutex_is_left_unchecked():
    plain = re.compile(r"std::(recursive_|shared_|timed_)?mutex\b|std::condition_variable|std::\w+_lock\b|lock_guard")
    allowed = {"condition.h"}  # beside mutex.h, what wraps the standard's
    found = [place(path, text, m.start()) for path, text in TEXTS.items() for m in plain.finditer(text)]
    assert [each for each in found if each.split(":")[0].split("/")[-1] not in allowed] == []


def test_each_mutex_guards_something():
    mutexes = [(path, match[1]) for path, text in TEXTS.items() for match in re.finditer(r"^ *Mutex (\w+);", text, re.M)]
    assert mutexes
    for path, name in mutexes:
        assert f"TURTLE_GUARDED_BY({name})" in TEXTS[path], f"{path.name}: {name}"
