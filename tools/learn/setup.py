"""The steps that make a machine ready: packages, and a Python environment of the project's own."""

from __future__ import annotations

import hashlib
import os
import pathlib
import re
import shutil
import subprocess
import sys

from learn import machine, proofs
from learn.chapters import ROOT
from learn.errors import LearnError
from learn.steps import Failed, Runner

BUILD = ROOT / "build"
VENV = BUILD / "venv"
# For builds whose tests are only run: they find GoogleTest and the standard library parsed
# (cmake/precompile.cmake), and no test program runs in order to be listed.
PRECOMPILE = f"-DTURTLE_PRECOMPILE={proofs.place() / 'precompiled'}"
ONLY_RUN = (PRECOMPILE, "-DCMAKE_GTEST_DISCOVER_TESTS_DISCOVERY_MODE=PRE_TEST")
SITE_REQUIREMENTS = ROOT / "tools" / "site-requirements.txt"


def setup(everything: bool, entered: bool, is_ci: bool) -> int:
    """./learn setup: installs, and leaves nothing in the tree, which may be somebody else's."""
    needs = (*machine.EVERYTHING, *machine.WHOLE) if everything else machine.READING
    if entered:
        needs = (*needs, *machine.ENTERED)
    if everything and is_ci:
        needs = (*needs, *machine.CI)
    installed = install(needs)
    if everything and is_ci:  # what clang's runtime is called, only clang knows
        installed = install(machine.clang_runtime()) or installed
    if not installed:
        print("Everything is there.")
    return 0


def install(needs: tuple[machine.Need, ...]) -> bool:
    """Whether there was anything to install."""
    wanted = machine.missing(needs)
    if not wanted or not machine.names(wanted):
        return False
    print(f"installing {machine.names(wanted)}", flush=True)
    for command in machine.install_command(wanted):
        if subprocess.run(command, check=False).returncode != 0:
            raise LearnError(f"`{' '.join(command)}` failed: is the network there?")
    if still := machine.missing(tuple(wanted)):
        raise LearnError(f"installed, and yet not found: {machine.names(still)}")
    return True


def packages(runner: Runner, needs: tuple[machine.Need, ...]) -> bool:
    """Installs what is missing; no step at all when everything is there."""
    wanted = machine.missing(needs)
    if not wanted or not machine.names(wanted):
        return True

    def install() -> None:
        try:
            commands = machine.install_command(wanted)
        except LearnError as error:
            raise Failed(str(error)) from error
        for command in commands:
            runner.run(command)
        still = machine.missing(tuple(wanted))
        if still:
            raise Failed(f"installed, and yet not found: {machine.names(still)}")
        proofs.forget_machine()

    print(f"  installing {machine.names(wanted)}", flush=True)
    return runner.step(
        "set up: packages",
        install,
        seconds=1800,
        advice="check the network and the package sources (apt-get update), then run this again",
    )


def python_environment(runner: Runner, requirements: list[pathlib.Path]) -> bool:
    """Makes build/venv hold exactly what the files pin; a file's digest tells whether it does."""
    present = [path for path in requirements if path.is_file()]
    stamps = {path: VENV / f"{path.parent.name}-{path.stem}.sha256" for path in present}
    wanted = {path: hashlib.sha256(sys.version.encode() + path.read_bytes()).hexdigest() for path in present}
    todo = [
        path
        for path in present
        if not stamps[path].is_file() or stamps[path].read_text(encoding="utf-8") != wanted[path]
    ]
    if not todo and python().is_file():
        return True

    def make() -> None:
        if not python().is_file() or not any(stamp.is_file() for stamp in stamps.values()):
            shutil.rmtree(VENV, ignore_errors=True)
            runner.run([sys.executable, "-m", "venv", VENV])
        for path in todo:
            runner.run([python(), "-m", "pip", "install", "--disable-pip-version-check", "-q", "-r", path])
            stamps[path].write_text(wanted[path], encoding="utf-8")

    return runner.step(
        "set up: Python packages",
        make,
        needs=["set up: packages"],
        seconds=900,
        advice="check the network (pip downloads from pypi.org), then run this again",
    )


def test_requirements() -> list[pathlib.Path]:
    """Of all suites, and of each suite that has some of its own."""
    return [ROOT / "tests" / "requirements.txt", *sorted((ROOT / "tests").glob("*/requirements.txt"))]


def python() -> pathlib.Path:
    return VENV / "bin" / "python"


def jobs() -> int:
    return os.cpu_count() or 2


def configure(source: pathlib.Path, folder: pathlib.Path, *options: str) -> list[str]:
    """The CMake command for a build folder. One that was made for other sources, or with another compiler
    than the options name, is removed."""
    cache = folder / "CMakeCache.txt"
    command = ["cmake", "-S", str(source), "-B", str(folder), *options]
    if cache.is_file():
        known = cache.read_text(encoding="utf-8", errors="replace")
        wanted = [option.split("=")[1] for option in options if option.startswith("-DCMAKE_CXX_COMPILER=")]
        compiler = re.search(r"^CMAKE_CXX_COMPILER:\w+=(?:.*/)?(.*)$", known, re.MULTILINE)
        is_other = bool(wanted) and compiler is not None and compiler[1] != pathlib.Path(wanted[0]).name
        if is_other or f"CMAKE_HOME_DIRECTORY:INTERNAL={source}\n" not in known:
            shutil.rmtree(folder)
    if not cache.is_file() and shutil.which("ninja"):
        command += ["-G", "Ninja"]  # else the generator that the reader chose
    return command


def build(folder: pathlib.Path, *targets: str) -> list[str]:
    command = ["cmake", "--build", str(folder), "--parallel", str(jobs())]
    return [*command, "--target", *targets] if targets else command


def environment(runner: Runner) -> None:
    """What all steps see."""
    runner.environment.update(machine.brew_prefixes())
    runner.environment.setdefault("CCACHE_DIR", str(pathlib.Path.home() / ".cache" / "ccache"))
    runner.environment.setdefault("CCACHE_MAXSIZE", "3G")
    # Compiler messages in the language of the checks that read them.
    runner.environment["LC_ALL"] = "C.UTF-8"
    runner.environment.setdefault("PYTHONDONTWRITEBYTECODE", "1")
