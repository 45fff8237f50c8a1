"""`final` as a user has it: built, installed into some prefix, and used by other CMake projects."""

from __future__ import annotations

import os
import pathlib
import shutil
import subprocess

ROOT = pathlib.Path(__file__).resolve().parents[2]
BUILD = ROOT / "build" / "final-install"  # as deep as build/final, so that ccache finds its objects


def call(*command: object, **options) -> str:
    """Returns the output of the command; if it fails, the test fails."""
    result = subprocess.run(
        list(map(str, command)), capture_output=True, text=True, check=False, timeout=900, **options
    )
    output = result.stdout + result.stderr
    assert result.returncode == 0, f"{command}\n{output}"
    return output


def configure(source: pathlib.Path, build: pathlib.Path, *options: str) -> str:
    """Uses Ninja, unless there is none, or the directory already has another generator."""
    generator = ["-G", "Ninja"] if shutil.which("ninja") and not (build / "CMakeCache.txt").exists() else []
    return call("cmake", "-S", source, "-B", build, *generator, *options)


def build(folder: pathlib.Path, *targets: str) -> str:
    chosen = ["--target", *targets] if targets else []
    return call("cmake", "--build", folder, "--parallel", os.cpu_count() or 1, *chosen)


def install(prefix: pathlib.Path) -> None:
    """Installs a Release build of `final` there."""
    configure(ROOT / "final", BUILD, "-DCMAKE_BUILD_TYPE=Release", "-DBUILD_TESTING=OFF")
    build(BUILD, "turtle_library", "turtle", "turtle_bench")  # nobody needs the examples here
    call("cmake", "--install", BUILD, "--prefix", prefix)
