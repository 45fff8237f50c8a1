"""cmake/chapter.cmake, and the project that it makes of the chapters, on made-up chapters."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]

CHAPTER = """\
cmake_minimum_required(VERSION 3.22)
project(chapter LANGUAGES CXX)
include(../../cmake/chapter.cmake)
turtle_chapter()
"""

TEST = """\
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <stdexcept>
#include <string>
#include <gtest/gtest.h>
#include "core/number.h"
#include "support/limits.h"
namespace TURTLE_SERVER::test {{ extern const char* const kExamplesDir; }}
TEST({0}, Runs) {{ {1} }}
"""

FILES = {
    "01-one/src/core/number.h": "#pragma once\nauto Number() -> int;\n",
    "01-one/src/core/number.cpp": '#include "core/number.h"\nauto Number() -> int { return 1; }\n',
    "01-one/src/core/old.cpp": "auto Old() -> int { return 1; }\n",
    "01-one/tests/support/limits.h": "#pragma once\nconstexpr int kLeast = 1;\n",
    "01-one/tests/number_test.cpp": TEST.format("One", "EXPECT_GE(Number(), kLeast);"),
    "01-one/tests/next/01_two_test.cpp": TEST.format("Next", "EXPECT_EQ(Number(), 2);"),
    "01-one/examples/print.cpp": "int main() { return 0; }\n",
    "02-two/src/core/number.cpp": '#include "core/number.h"\nauto Number() -> int { return 2; }\n',
    "02-two/withdrawn.txt": "src/core/old.cpp\n",
    "02-two/examples/cgi-bin/hi.sh": "#!/bin/sh\necho hi\n",
    "02-two/tests/print_test.cpp": TEST.format(
        "Print",
        "const std::string examples = TURTLE_SERVER::test::kExamplesDir;\n"
        'EXPECT_TRUE(std::ifstream(examples + "/print").good());\n'
        'EXPECT_EQ(std::system((examples + "/cgi-bin/hi.sh").c_str()), 0);',
    ),
}


def call(*command):
    environment = {k: v for k, v in os.environ.items() if not k.startswith("CTEST_")}
    result = subprocess.run(
        list(map(str, command)), capture_output=True, text=True, check=False, env=environment
    )
    return result.returncode, result.stdout + result.stderr


class Repository:
    """Made-up chapters with the real cmake/ and tools/."""

    def __init__(self, root):
        self.root = root
        shutil.copytree(ROOT / "cmake", root / "cmake")
        for folder in ("01-one", "02-two"):
            self.write({f"{folder}/CMakeLists.txt": CHAPTER})
        self.write(FILES)

    def write(self, files):
        for path, text in files.items():
            file = self.root / "chapters" / path
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(text)

    def remove(self, path):
        (self.root / "chapters" / path).unlink()

    def configure(self, chapter):
        source = next((self.root / "chapters").glob(f"{chapter}-*"))
        code, output = call("cmake", "-S", source, "-B", self.build_folder(chapter))
        assert code == 0, output

    def build(self, chapter):
        code, output = call("cmake", "--build", self.build_folder(chapter), "--parallel", 2)
        assert code == 0, output
        return output

    def build_folder(self, chapter):
        return self.root / "build" / chapter

    def test(self, chapter, *options):
        """The names of the tests that passed and failed."""
        code, output = call("ctest", "--test-dir", self.build_folder(chapter), "-V", *options)
        passed = re.findall(r"Test +#\d+: (\S+) \.+ +Passed", output)
        failed = re.findall(r"Test +#\d+: (\S+) \.+ *\*\*\*(?!Skipped)", output)
        assert (code == 0) == (not failed), output
        return sorted(passed), sorted(failed), output


@pytest.fixture(scope="module")
def built(tmp_path_factory):
    repository = Repository(tmp_path_factory.mktemp("repository"))
    for chapter in ("01", "02"):
        repository.configure(chapter)
        repository.build(chapter)
    return repository


@pytest.fixture
def fresh(tmp_path):
    repository = Repository(tmp_path)
    repository.configure("01")
    repository.build("01")
    return repository


def test_each_chapter_runs_its_tests_and_those_before(built):
    assert built.test("01")[:2] == (["01_two_test/fails_by_assertion", "number_test/One.Runs"], [])
    assert built.test("02")[:2] == (
        ["01_two_test/Next.Runs", "number_test/One.Runs", "print_test/Print.Runs"],
        [],
    )


def test_a_label_is_the_chapter_that_a_test_comes_from(built):
    assert built.test("02", "-L", "ch02")[0] == ["print_test/Print.Runs"]


def test_the_tree_is_made_of_links_to_the_newest_versions(built):
    tree = built.build_folder("02") / "tree"
    assert os.readlink(tree / "src/core/number.cpp").endswith("02-two/src/core/number.cpp")
    assert os.readlink(tree / "src/core/number.h").endswith("01-one/src/core/number.h")
    assert not (tree / "src/core/old.cpp").exists()
    assert (built.build_folder("01") / "tree/src/core/old.cpp").exists()


def test_a_rebuild_with_nothing_new_compiles_nothing(built):
    output = built.build("01")
    assert "Building CXX" not in output and "Linking" not in output


def test_a_plain_rebuild_finds_new_and_removed_files(fresh):
    fresh.write({"01-one/tests/more_test.cpp": TEST.format("More", "EXPECT_EQ(kLeast, 1);")})
    fresh.build("01")
    assert "more_test/More.Runs" in fresh.test("01")[0]
    fresh.remove("01-one/tests/more_test.cpp")
    fresh.build("01")
    assert "more_test/More.Runs" not in fresh.test("01")[0]


def test_a_new_version_is_compiled_even_if_it_is_older_than_the_object(fresh):
    fresh.configure("02")
    fresh.build("02")
    fresh.remove("02-two/src/core/number.cpp")  # chapter 01's is older than what was compiled
    fresh.build("02")
    assert fresh.test("02")[1] == ["01_two_test/Next.Runs"]


@pytest.mark.parametrize(
    "body, reason",
    [
        ("EXPECT_EQ(Number(), 1);", "It passed."),
        ("std::abort();", "did not fail by assertion, it ended with"),
        ('throw std::runtime_error("no");', "it threw an exception"),
        ("EXPECT_EQ(Number(), 2); std::exit(1);", "did not run its tests to the end"),
    ],
)
def test_a_next_test_has_to_fail_by_assertion(tmp_path, body, reason):
    repository = Repository(tmp_path)
    repository.write({"01-one/tests/next/01_two_test.cpp": TEST.format("Next", body)})
    repository.configure("01")
    repository.build("01")
    passed, failed, output = repository.test("01")
    assert (passed, failed) == (["number_test/One.Runs"], ["01_two_test/fails_by_assertion"])
    assert reason in " ".join(output.split())


def test_a_next_test_that_this_system_skips_is_a_skipped_test(tmp_path):
    repository = Repository(tmp_path)
    repository.write({"01-one/tests/next/01_two_test.cpp": TEST.format("Next", "GTEST_SKIP();")})
    repository.configure("01")
    repository.build("01")
    passed, failed, output = repository.test("01")
    assert (passed, failed) == (["number_test/One.Runs"], []), output
    assert "The following tests did not run" in output and "01_two_test/fails_by_assertion" in output


def test_an_assembled_chapter_builds_and_tests_on_its_own(built, tmp_path):
    copy = tmp_path / "copy"
    program = ROOT / "tools" / "chapters.py"
    code, output = call(sys.executable, program, "--root", built.root, "assemble", "01", copy)
    assert code == 0, output
    assert call("cmake", "-S", copy, "-B", copy / "build")[0] == 0
    code, output = call("cmake", "--build", copy / "build", "--parallel", 2)
    assert code == 0, output
    code, output = call("ctest", "--test-dir", copy / "build", "-L", "ch01")
    assert code == 0 and "100% tests passed, 0 tests failed out of 2" in output


def test_the_top_level_build_has_all_chapters_and_selects_one(tmp_path):
    repository = Repository(tmp_path)
    shutil.copy(ROOT / "CMakeLists.txt", tmp_path)
    program = ROOT / "tools" / "chapters.py"
    assert call(sys.executable, program, "--root", tmp_path, "sync")[0] == 0
    build = tmp_path / "build"
    assert call("cmake", "-S", tmp_path, "-B", build)[0] == 0
    assert "No tests were found" in call("ctest", "--test-dir", build)[1]
    code, output = call("cmake", "--build", build)
    assert code == 0, output
    code, output = call("ctest", "--test-dir", build)
    assert code == 0 and "100% tests passed, 0 tests failed out of 8" in output, output
    code, output = call("ctest", "--test-dir", build, "-N", "-L", "ch01")
    assert re.findall(r"Test +#\d+: (\S+)", output) == [
        "ch01/number_test/One.Runs",
        "ch01/01_two_test/fails_by_assertion",
    ]
    # What chapter 02 can't do, final can't either: no later chapter has done it.
    body = TEST.format("Three", "EXPECT_EQ(Number(), 3);")
    repository.write({"02-two/tests/next/02_three_test.cpp": body})
    assert call(sys.executable, program, "--root", tmp_path, "sync")[0] == 0
    assert call("cmake", "--build", build, "--target", "ch02", "final")[0] == 0
    code, output = call("ctest", "--test-dir", build, "-R", "02_three_test")
    assert code == 0 and output.count("02_three_test/fails_by_assertion") >= 2, output

    repository.write({"01-one/examples/print.cpp": "int main() { return 7; }\n"})
    assert call("cmake", "--build", build, "--target", "ch01_print")[0] == 0
    assert call(build / "ch01/examples/print")[0] == 7
    assert call(build / "ch02/examples/print")[0] == 0
