#!/usr/bin/env python3
"""Compiles Turtle for systems other than this one: macOS and FreeBSD.

  tools/portable.py                                       # final, for all three targets
  tools/portable.py --target x86_64-freebsd 05 final      # chapter 05's whole program, and final

Compiles the library, the program, the examples, the tests and the load generator; links and runs
nothing. A warning is an error. The compiler and the headers of those systems come from the package
`ziglang` (tools/portable-requirements.txt), the headers of GoogleTest and the other libraries from
this system.

What has compiled is not compiled again while the file, all that it includes, the options and the
compiler stay the same, in whichever chapter. The records are in ~/.cache/turtle/portable, or in
`portable` below TURTLE_CACHE; --again ignores them.
"""

from __future__ import annotations

import argparse
import concurrent.futures
import hashlib
import importlib.util
import json
import os
import pathlib
import re
import shlex
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass, field

import chapters

ROOT = pathlib.Path(__file__).resolve().parents[1]
TARGETS = ("aarch64-macos", "x86_64-macos", "x86_64-freebsd")
REQUIREMENTS = "tools/portable-requirements.txt"
# Links to these alone: with all of /usr/include, this system's C library would hide the other's.
LIBRARIES = ("CLI", "brotli", "gtest", "mariadb", "nlohmann", "re2", "sqlite3.h", "zlib.h", "zstd.h", "zstd_errors.h")
# Debian has headers that depend on the machine in a folder with its name: openssl/configuration.h, and zconf.h in
# some releases.
SPLIT_LIBRARIES = ("openssl/*.h", "zconf.h")
# What CMake compiles on those systems: cmake/tree/cmake/targets.cmake, final/bench/turtle_bench.
SOURCES = (
    "src/**/*.cpp",
    "examples/*.cpp",
    "examples/cgi-bin/*.cpp",
    "tests/**/*_test.cpp",
    "tests/support/turtle_rot13.cpp",
    "bench/turtle_bench/src/bench/*.cpp",
    "bench/turtle_bench/tests/*_test.cpp",
)
INCLUDES = ("src", "tests")
BENCH_INCLUDES = ("bench/turtle_bench/src", "bench/turtle_bench/tests")
DEFINITIONS = (
    (r"src/app/.*|bench/.*/options\.cpp", '-DTURTLE_VERSION="0"'),
    (r"src/db/sqlite_\w+\.cpp", "-DTURTLE_WITH_SQLITE"),
    (r"src/db/mariadb_\w+\.cpp|examples/nonblocking_query\.cpp", "-DTURTLE_WITH_MARIADB"),
)
GTEST = "#include <gtest/gtest.h>"
SHOWN_LINES = 12
KEPT_DAYS = 60


class PortableError(Exception):
    """Something the reader of the message can put right."""


def digest(*parts: object) -> str:
    return hashlib.sha256(json.dumps(parts).encode()).hexdigest()


def warnings() -> list[str]:
    """The warnings that the project's CMake asks clang for."""
    settings = (ROOT / "cmake/tree/cmake/settings.cmake").read_text()
    found = re.findall(r"add_compile_options\((-W(?:all|thread)[^)]*)\)", settings)
    return [*" ".join(found).split(), "-Werror"]


def cache_folder() -> pathlib.Path:
    base = os.environ.get("TURTLE_CACHE") or pathlib.Path.home() / ".cache" / "turtle"
    return pathlib.Path(base) / "portable"


@dataclass
class Compiler:
    """A clang for other systems; `identity` changes with its version and its headers."""

    command: list[str]
    identity: str
    environment: dict[str, str]


def find_compiler(command: str | None, scratch: pathlib.Path) -> Compiler:
    """The compiler of `ziglang`, or another command that takes the same options."""
    if command:
        words, package = shlex.split(command), ""
    else:
        spec = importlib.util.find_spec("ziglang")
        if spec is None or spec.origin is None:
            raise PortableError(f"ziglang is missing: {sys.executable} -m pip install -r {REQUIREMENTS}")
        words = [str(pathlib.Path(spec.origin).parent / "zig"), "c++"]
        package = subprocess.run([words[0], "version"], capture_output=True, text=True, check=True).stdout
    environment = {
        **os.environ,
        "ZIG_GLOBAL_CACHE_DIR": str(cache_folder() / "zig"),
        "ZIG_LOCAL_CACHE_DIR": str(scratch / "zig"),
    }
    try:
        asked = subprocess.run(
            [*words, "--version"], env=environment, capture_output=True, text=True, check=True
        )
    except (OSError, subprocess.CalledProcessError) as error:
        raise PortableError(f"{shlex.join(words)} --version: {error}") from error
    version = re.sub(r"(?m)^InstalledDir:.*\n?", "", asked.stdout)  # two folders may have the same
    return Compiler(words, package + version, environment)


def link_libraries(found_in: pathlib.Path, folder: pathlib.Path) -> None:
    """Makes a folder that has the headers of these libraries and no others."""
    folder.mkdir()
    for name in LIBRARIES:
        if (found_in / name).exists():
            (folder / name).symlink_to(found_in / name)
    for pattern in SPLIT_LIBRARIES:
        for place in (found_in, *sorted(found_in.glob("*-linux-gnu*"))):
            for header in sorted(place.glob(pattern)):
                link = folder / header.relative_to(place)
                link.parent.mkdir(exist_ok=True)
                if not link.exists():
                    link.symlink_to(header)
    if not (folder / "gtest").exists():
        raise PortableError(f"{found_in}/gtest: missing; --headers DIR says where the libraries are")


# --- what has compiled before ---------------------------------------------------------------------


@dataclass
class Tree:
    """A complete program to compile, and what it includes from elsewhere."""

    name: str
    root: pathlib.Path
    headers: pathlib.Path
    contents: dict[str, str] = field(default_factory=dict)

    def sources(self) -> list[str]:
        found = {path for pattern in SOURCES for path in self.root.glob(pattern)}
        return sorted(path.relative_to(self.root).as_posix() for path in found)

    def label(self, path: str) -> str | None:
        """A file's name in a record, the same in each tree. None: the compiler's identity covers it."""
        for mark, folder in (("tree", self.root), ("headers", self.headers)):
            if path == str(folder) or path.startswith(f"{folder}/"):
                return mark + path[len(str(folder)) :]
        return None

    def content(self, label: str) -> str:
        """A digest of the file; "" if there is none."""
        if label not in self.contents:
            mark, _, path = label.partition("/")
            file = (self.root if mark == "tree" else self.headers) / path
            try:
                self.contents[label] = hashlib.sha256(file.read_bytes()).hexdigest()
            except OSError:
                self.contents[label] = ""
        return self.contents[label]

    def optional_headers(self, source: str) -> list[bool]:
        """The answers to each __has_include("...") of a file: no list of includes tells them."""
        asked = re.findall(r'__has_include\("([^"]+)"\)', (self.root / source).read_text())
        return [any((self.root / folder / name).exists() for folder in INCLUDES) for name in asked]


@dataclass
class Records:
    """What has compiled for one target: for each source and options, a file with one line for each
    set of includes that it compiled with."""

    folder: pathlib.Path

    def knows(self, key: str, tree: Tree) -> bool:
        file = self.folder / key
        try:
            lines = file.read_text().splitlines()
        except OSError:
            return False
        for line in lines:
            try:
                includes, seen = json.loads(line)
            except ValueError:  # the machine stopped while it was written
                continue
            if seen == digest([tree.content(label) for label in includes]):
                os.utime(file)
                return True
        return False

    def add(self, key: str, tree: Tree, includes: list[str]) -> None:
        self.folder.mkdir(parents=True, exist_ok=True)
        line = json.dumps([includes, digest([tree.content(label) for label in includes])])
        with (self.folder / key).open("a") as file:
            file.write(line + "\n")

    def forget_old(self) -> None:
        oldest = time.time() - KEPT_DAYS * 24 * 3600
        for file in self.folder.glob("*"):
            if file.stat().st_mtime < oldest:
                file.unlink(missing_ok=True)


def included(rule: str) -> list[str]:
    """The files in a Makefile's rule, as a compiler writes it for -MD."""
    _, _, files = rule.replace("\\\n", " ").partition(": ")
    return [re.sub(r"\\(.)", r"\1", file) for file in re.findall(r"(?:\\.|\S)+", files)]


# --- compiling ------------------------------------------------------------------------------------


@dataclass
class Build:
    """The compilation of trees for one target."""

    target: str
    compiler: Compiler
    scratch: pathlib.Path
    records: Records
    precompiled: pathlib.Path | None = None

    def options(self, tree: Tree, source: str) -> list[str]:
        folders = INCLUDES + (BENCH_INCLUDES if source.startswith("bench/") else ())
        includes = [f"-I{tree.root / folder}" for folder in folders]
        libraries = ["-isystem", str(tree.headers), "-isystem", str(tree.headers / "mariadb")]
        defined = [value for pattern, value in DEFINITIONS if re.fullmatch(pattern, source)]
        return [*self.language(), *defined, *includes, *libraries]

    def language(self) -> list[str]:
        # Code that is looked at and thrown away needs no debug information and no checks.
        plain = ["-O0", "-g0", "-fno-sanitize=all", "-ferror-limit=3"]
        return ["-target", self.target, "-std=c++17", *warnings(), *plain]

    def key(self, tree: Tree, source: str) -> str:
        options = [tree.label(word.removeprefix("-I")) or word for word in self.options(tree, source)]
        own = tree.content(f"tree/{source}")
        return digest(self.compiler.identity, options, source, own, tree.optional_headers(source))

    def precompile(self, headers: pathlib.Path) -> None:
        """Parses GoogleTest once for all tests, which is half of the work that a test makes."""
        header = self.scratch / f"{self.target}.h"
        header.write_text(GTEST + "\n")
        made = header.with_suffix(".pch")
        command = [*self.compiler.command, *self.language(), "-Wno-unused-command-line-argument"]
        command += ["-isystem", str(headers), "-x", "c++-header", str(header), "-o", str(made)]
        done = subprocess.run(command, env=self.compiler.environment, capture_output=True, text=True)
        if done.returncode != 0:
            raise PortableError(f"{self.target}: GoogleTest doesn't compile:\n{done.stderr}")
        self.precompiled = made

    def compile(self, tree: Tree, source: str) -> str:
        """Compiles one file and records it. Returns what is wrong, "" if nothing is."""
        file = tree.root / source
        listing = self.scratch / f"{digest(self.target, source)}.d"
        # -c, or zig would link as well; the compiler itself stops when it has understood the file.
        command = [*self.compiler.command, *self.options(tree, source), "-c", "-Xclang", "-fsyntax-only"]
        if self.precompiled and GTEST in file.read_text():
            command += ["-include-pch", str(self.precompiled)]
        command += ["-MD", "-MF", str(listing), "-o", str(listing.with_suffix(".o")), str(file)]
        done = subprocess.run(command, env=self.compiler.environment, capture_output=True, text=True)
        if done.returncode != 0 or done.stderr:
            return done.stderr.strip() or f"the compiler ended with {done.returncode}"
        labels = {tree.label(os.path.normpath(path)) for path in included(listing.read_text())}
        self.records.add(self.key(tree, source), tree, sorted(label for label in labels if label))
        return ""

    def run(self, tree: Tree, again: bool) -> tuple[int, int]:
        """Compiles what is new in a tree. Returns how many files compiled and how many failed."""
        sources = tree.sources()
        new = [s for s in sources if again or not self.records.knows(self.key(tree, s), tree)]
        print(f"{self.target}, {tree.name}: {len(sources)} files, {len(new)} to compile", flush=True)
        if not self.precompiled and any(GTEST in (tree.root / source).read_text() for source in new):
            self.precompile(tree.headers)
        failed = 0
        with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
            for source, wrong in zip(new, pool.map(lambda source: self.compile(tree, source), new)):
                if wrong:
                    failed += 1
                    lines = wrong.replace(f"{tree.root}/", "").splitlines()[:SHOWN_LINES]
                    print(f"FAILED {self.target}, {tree.name}: {source}", *lines, sep="\n  ", flush=True)
        return len(new) - failed, failed


def parse(arguments: list[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("trees", nargs="*", default=["final"], metavar="NN|final", help="default: final")
    parser.add_argument("--target", action="append", choices=TARGETS, help="default: each of them")
    parser.add_argument("--again", action="store_true", help="compile what has compiled before, too")
    parser.add_argument("--compiler", metavar="COMMAND", help="default: the one of the package ziglang")
    parser.add_argument("--headers", default="/usr/include", type=pathlib.Path, metavar="DIR",
                        help="where the libraries' headers are (default: /usr/include)")  # fmt: skip
    parser.add_argument("--root", default=ROOT, type=pathlib.Path, help=argparse.SUPPRESS)
    return parser.parse_intermixed_args(arguments)


def run(options: argparse.Namespace, scratch: pathlib.Path) -> int:
    compiler = find_compiler(options.compiler, scratch)
    headers = scratch / "headers"
    link_libraries(options.headers, headers)
    book = chapters.Book(options.root)
    trees = []
    for name in options.trees:
        root = book.final
        if name != "final":
            if not name.isdigit():
                raise PortableError(f"{name}: neither a chapter's number nor final")
            root = scratch / name
            chapters.assemble(book, int(name), root)
        trees.append(Tree(name, root.resolve(), headers))
    compiled = failed = 0
    for target in options.target or TARGETS:
        build = Build(target, compiler, scratch, Records(cache_folder() / target))
        for tree in trees:
            passed, wrong = build.run(tree, options.again)
            compiled, failed = compiled + passed, failed + wrong
        build.records.forget_old()
    print(f"{compiled} compiled, {failed} failed")
    return 1 if failed else 0


def main(arguments: list[str]) -> int:
    with tempfile.TemporaryDirectory() as scratch:
        try:
            return run(parse(arguments), pathlib.Path(scratch).resolve())
        except (PortableError, chapters.ChapterError) as error:
            print(f"portable.py: {error}", file=sys.stderr)
            return 2


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
