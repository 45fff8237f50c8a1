"""tools/portable.py, on a made-up tree and with a made-up compiler."""

import pathlib
import sys

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tools"))

import portable  # noqa: E402

# Follows #include "…" below the -I folders, dislikes `wrong` and `odd`, and notes what it is given.
COMPILER = """\
import os, pathlib, re, sys
words = sys.argv[1:]
if words == ["--version"]:
    print("made-up 1." + os.environ.get("MADE_UP_VERSION", "0"))
    sys.exit(0)
with open(os.environ["MADE_UP_CALLS"], "a") as calls:
    calls.write(words[-1] + "\\n" if "c++-header" not in words else "precompiled\\n")
if "c++-header" in words:
    sys.exit(0)
folders = [pathlib.Path(word[2:]) for word in words if word.startswith("-I")]
seen = [pathlib.Path(words[-1])]
for file in seen:
    for name in re.findall('#include "(.+)"', file.read_text()):
        seen += [folder / name for folder in folders if (folder / name).exists()][:1]
    if "wrong" in file.read_text():
        sys.exit(f"{file}:1: error: wrong")
    if "odd" in file.read_text():
        print(f"{file}:1: warning: odd", file=sys.stderr)
rule = pathlib.Path(words[words.index("-MF") + 1])
rule.write_text("x.o: " + " \\\\\\n ".join(str(file).replace(" ", "\\\\ ") for file in seen) + "\\n")
"""

FILES = {
    "include/gtest/gtest.h": "",
    "final/src/core/good.h": "int Good();\n",
    "final/src/core/good.cpp": '#include "core/good.h"\nint Good() { return 1; }\n',
    "final/src/core/bad.cpp": "wrong\n",
    "final/tests/good_test.cpp": '#include <gtest/gtest.h>\n#include "core/good.h"\n',
    "final/tests/support/unused.cpp": "no program: is left out, wrong or not\n",
    "chapters/01-one/src/core/good.h": "int Good();\n",
    "chapters/01-one/src/core/good.cpp": '#include "core/good.h"\nint Good() { return 1; }\n',
    "chapters/02-two/src/core/good.h": "int Good(); // 2\n",
}


@pytest.fixture
def repository(tmp_path, monkeypatch, capsys):
    """Calls the tool on the made-up files, of which a test may change some."""
    compiler = tmp_path / "compiler.py"
    compiler.write_text(COMPILER)
    calls = tmp_path / "calls"
    monkeypatch.setenv("MADE_UP_CALLS", str(calls))
    monkeypatch.setenv("TURTLE_CACHE", str(tmp_path / "cache"))

    class Repository:
        def write(self, files):
            for name, text in files.items():
                file = tmp_path / name
                file.parent.mkdir(parents=True, exist_ok=True)
                file.write_text(text)

        def compile(self, *arguments, target="x86_64-macos"):
            """The exit status, the output, and the files that were compiled."""
            calls.write_text("")
            options = ["--root", str(tmp_path), "--headers", str(tmp_path / "include")]
            options += ["--compiler", f"{sys.executable} {compiler}", "--target", target]
            code = portable.main([*options, *arguments])
            output = capsys.readouterr()
            names = [pathlib.Path(line).name for line in calls.read_text().splitlines()]
            return code, output.out + output.err, sorted(names)

    result = Repository()
    result.write(FILES)
    return result


def test_what_compiles_and_what_does_not_is_counted(repository):
    code, output, compiled = repository.compile()
    assert code == 1
    assert output.splitlines()[-1] == "2 compiled, 1 failed"
    assert "FAILED x86_64-macos, final: src/core/bad.cpp\n  src/core/bad.cpp:1: error: wrong\n" in output
    assert compiled == ["bad.cpp", "good.cpp", "good_test.cpp", "precompiled"]


def test_a_warning_is_a_failure(repository):
    repository.write({"final/src/core/bad.cpp": "odd\n"})
    code, output, _ = repository.compile()
    assert code == 1 and "bad.cpp:1: warning: odd" in output


def test_when_nothing_has_changed_only_what_failed_is_compiled(repository):
    repository.compile()
    assert repository.compile()[2] == ["bad.cpp"]
    repository.write({"final/src/core/bad.cpp": "good\n"})
    code, output, _ = repository.compile()
    assert code == 0 and output == "x86_64-macos, final: 3 files, 1 to compile\n1 compiled, 0 failed\n"
    assert repository.compile()[2] == []
    assert len(repository.compile("--again")[2]) == 4


def test_a_changed_header_compiles_what_includes_it(repository):
    repository.compile()
    repository.write({"final/src/core/good.h": "int Good(); // changed\n"})
    assert repository.compile()[2] == ["bad.cpp", "good.cpp", "good_test.cpp", "precompiled"]
    repository.write({"final/src/core/good.h": FILES["final/src/core/good.h"]})
    assert repository.compile()[2] == ["bad.cpp"]  # it is known how that ended


def test_another_target_or_compiler_compiles_all(repository, monkeypatch):
    repository.compile()
    assert len(repository.compile(target="x86_64-freebsd")[2]) == 4
    monkeypatch.setenv("MADE_UP_VERSION", "1")
    assert len(repository.compile()[2]) == 4


def test_a_header_that_a_file_asks_for_compiles_it_when_it_comes(repository):
    asks = '#if __has_include("core/new.h")\n#endif\n'
    repository.write({"final/src/core/bad.cpp": asks})
    repository.compile()
    assert repository.compile()[2] == []
    repository.write({"final/src/core/new.h": ""})
    assert repository.compile()[2] == ["bad.cpp"]


def test_chapters_share_what_is_the_same(repository):
    repository.compile()
    assert repository.compile("01")[2] == []  # as in final
    code, output, compiled = repository.compile("01", "02")
    assert code == 0 and compiled == ["good.cpp"]
    assert "x86_64-macos, 02: 1 files, 1 to compile" in output


def test_a_file_of_the_databases_and_of_the_program_gets_its_definition(tmp_path):
    tree = portable.Tree("final", tmp_path, tmp_path / "headers")
    compiler = portable.Compiler([], "", {})
    build = portable.Build("x86_64-macos", compiler, tmp_path, portable.Records(tmp_path))
    assert "-DTURTLE_WITH_SQLITE" in build.options(tree, "src/db/sqlite_database.cpp")
    assert '-DTURTLE_VERSION="0"' in build.options(tree, "src/app/main.cpp")
    assert not any(word.startswith("-D") for word in build.options(tree, "src/core/looper.cpp"))


def linked_headers(folder, names):
    """What is linked to where these are: the names in the new folder, and in its folder openssl."""
    for name in ("gtest/gtest.h", "stdio.h", *names):
        header = folder / "include" / name
        header.parent.mkdir(parents=True, exist_ok=True)
        header.write_text(name)
    portable.link_libraries(folder / "include", folder / "headers")
    return tuple({path.name for path in place.glob("*")} for place in (folder / "headers", folder / "headers/openssl"))


def test_the_headers_of_openssl_are_in_one_folder(tmp_path):
    found, openssl = linked_headers(tmp_path, ("openssl/ssl.h", "x86_64-linux-gnu/openssl/configuration.h"))
    assert openssl == {"ssl.h", "configuration.h"}
    assert found == {"gtest", "openssl"}


@pytest.mark.parametrize("place", ["zconf.h", "x86_64-linux-gnu/zconf.h"])
def test_the_headers_of_zlib_are_side_by_side_wherever_this_system_has_them(tmp_path, place):
    found, _ = linked_headers(tmp_path, ("zlib.h", place, "x86_64-linux-gnu/sys/types.h"))
    assert found == {"gtest", "zlib.h", "zconf.h"}
    assert (tmp_path / "headers/zconf.h").read_text() == place


def test_the_headers_of_brotli_and_zstandard_are_there(tmp_path):
    found, _ = linked_headers(tmp_path, ("brotli/encode.h", "zstd.h", "zstd_errors.h"))
    assert found == {"gtest", "brotli", "zstd.h", "zstd_errors.h"}
    assert (tmp_path / "headers/brotli/encode.h").exists()


def test_warnings_are_those_of_the_build():
    assert {"-Wall", "-Wextra", "-Wshadow", "-Wthread-safety", "-Werror"} <= set(portable.warnings())


def test_a_rule_has_spaces_and_lines():
    assert portable.included("a.o: b.cpp \\\n  /c\\ d/e.h\\\n f.h\n") == ["b.cpp", "/c d/e.h", "f.h"]


@pytest.mark.parametrize(
    "arguments, reason",
    [
        (["7x"], "7x: neither a chapter's number nor final"),
        (["09"], "there is no chapter 09"),
        (["--headers", "/nowhere"], "/nowhere/gtest: missing"),
        (["--compiler", "/nowhere/c++"], "/nowhere/c++ --version:"),
    ],
)
def test_what_can_be_put_right_is_said(repository, arguments, reason):
    code, output, compiled = repository.compile(*arguments)
    assert code == 2 and reason in output and compiled == []
