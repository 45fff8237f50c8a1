"""tools/tidy.py on two files and a header: clang-tidy looks again only at what has changed."""

import json
import os
import pathlib
import subprocess
import sys

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]


@pytest.fixture
def build(tmp_path):
    (tmp_path / "number.h").write_text("inline int Number() { return 1; }\n")
    (tmp_path / "good.cpp").write_text('#include "number.h"\nint Good() { return Number(); }\n')
    (tmp_path / "other.cpp").write_text("int Other() { return 2; }\n")
    listed = [
        {"directory": str(tmp_path), "file": str(tmp_path / name), "command": f"ccache c++ -c {tmp_path / name} -o x.o"}
        for name in ("good.cpp", "other.cpp")
    ]
    (tmp_path / "compile_commands.json").write_text(json.dumps(listed))
    return tmp_path


def tidy(build, *options):
    return subprocess.run(
        [sys.executable, ROOT / "tools/tidy.py", build, *options],
        env={**os.environ, "TURTLE_CACHE": str(build / "cache")}, capture_output=True, text=True, check=False,
    )  # fmt: skip


def last_line(done):
    return done.stdout.splitlines()[-1]


def test_what_has_passed_is_looked_at_again_when_a_header_of_it_changes(build):
    assert last_line(tidy(build)) == "2 passed, 0 cached, 0 failed"
    assert last_line(tidy(build)) == "0 passed, 2 cached, 0 failed"
    (build / "number.h").write_text("inline int Number() { return 2; }\n")
    assert last_line(tidy(build)) == "1 passed, 1 cached, 0 failed"
    assert last_line(tidy(build, "--again")) == "2 passed, 0 cached, 0 failed"


def test_a_finding_is_shown_each_time(build):
    (build / "other.cpp").write_text("int Other() { int* none = nullptr; return *none; }\n")
    for _ in range(2):
        done = tidy(build)
        assert done.returncode == 1
        assert "other.cpp:1:" in done.stdout and "null" in done.stdout
        assert done.stdout.splitlines()[-1].endswith("1 failed")


def test_some_files_and_none(build):
    assert last_line(tidy(build, "good[.]cpp$")) == "1 passed, 0 cached, 0 failed"
    assert tidy(build, "no such file").returncode == 1
