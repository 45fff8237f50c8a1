"""docs/your-own-server.md says what is so."""

import re
import subprocess
import sys

import pytest
from conftest import COOKBOOK
from serving import ROOT

sys.path.insert(0, str(ROOT / "tools"))

from learn import machine  # noqa: E402

PAGE = (ROOT / "docs/your-own-server.md").read_text(encoding="utf-8")


def run_tool(name, *arguments):
    done = subprocess.run(
        [sys.executable, ROOT / "tools" / name, *arguments], capture_output=True, text=True, check=False, timeout=300
    )
    assert done.returncode == 0, done.stdout + done.stderr


def test_each_file_of_a_recipe_is_shown():
    names = ["*/main.cpp", "*/CMakeLists.txt", "*/*.service", "*/*.socket", "*/scripts/*"]
    files = {path.relative_to(ROOT).as_posix() for name in names for path in COOKBOOK.glob(name)}
    assert len([file for file in files if re.match(r"cookbook/\d\d-", file) and file.endswith(".cpp")]) == 14
    assert files == set(re.findall(r"^<!-- file: (\S+) -->$", PAGE, re.MULTILINE))


def test_what_is_shown_is_what_is_there():
    run_tool("site.py", "texts", "--check")


def test_the_outputs_are_what_the_commands_print(recipes):
    run_tool("transcripts.py", "check", "cookbook", "--build", recipes.parent)


def test_each_recipe_has_a_row_and_a_test():
    numbers = [path.name[:2] for path in sorted(COOKBOOK.glob("[0-9][0-9]-*"))]
    assert numbers == [f"{number:02}" for number in range(1, 15)]
    for number in numbers:
        row = re.search(rf"^\| \[{int(number)}\]\(#({int(number)}-[a-z-]+)\) \|", PAGE, re.MULTILINE)
        heading = re.search(rf"^### {int(number)}\. (.+)$", PAGE, re.MULTILINE)[1]
        assert row[1] == f"{int(number)}-{heading.lower().replace(' ', '-')}"
    tests = sorted(path.name[5:7] for path in (ROOT / "tests/cookbook").glob("test_[0-9][0-9]_*.py"))
    assert tests == numbers


def test_the_packages_are_those_that_are_needed():
    command = re.search(r"^\$ sudo apt-get install (.+?[^\\])$", PAGE, re.MULTILINE | re.DOTALL)[1]
    named = set(command.replace("\\\n", " ").split())
    wanted = {need.apt for need in (*machine.BUILD, *machine.PROGRAM)}
    assert named == wanted - {"ninja-build", "ccache"}, "these two are faster, and not needed"


@pytest.mark.parametrize("path", re.findall(r"`(examples/\w+)`", PAGE))
def test_the_examples_that_go_further_are_there(path):
    assert (ROOT / "final" / f"{path}.cpp").is_file()
