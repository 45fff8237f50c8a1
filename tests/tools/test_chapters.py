"""tools/chapters.py, on made-up chapters in a temporary folder."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
PROGRAM = ROOT / "tools" / "chapters.py"

sys.path.insert(0, str(PROGRAM.parent))

import chapters  # noqa: E402


def write(root, files):
    for path, text in files.items():
        file = root / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, encoding="utf-8")


def run(root, *arguments):
    command = [sys.executable, str(PROGRAM), "--root", str(root), *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, check=False)


@pytest.fixture
def book(tmp_path):
    """Three chapters: 02 changes a file of 01 and adds one, 03 withdraws one and changes one."""
    write(
        tmp_path,
        {
            "chapters/01-one/src/core/a.h": "int A();\n",
            "chapters/01-one/src/core/old.h": "int Old();\n",
            "chapters/01-one/tests/a_test.cpp": "test a\n",
            "chapters/01-one/tests/next/01_b_test.cpp": "test b\n",
            "chapters/02-two/src/core/a.h": "int A();\nint B();\n",
            "chapters/02-two/src/core/b.h": "int B();\n",
            "chapters/03-three/src/core/b.h": "long B();\n",
            "chapters/03-three/withdrawn.txt": "# no longer needed\nsrc/core/old.h\n",
            "cmake/tree/CMakeLists.txt": "project\n",
            "cmake/tree/cmake/targets.cmake": "targets\n",
        },
    )
    assert run(tmp_path, "sync").returncode == 0
    return tmp_path


def commit(root):
    environment = {
        **os.environ,
        "GIT_CONFIG_GLOBAL": os.devnull,
        "GIT_AUTHOR_NAME": "Test",
        "GIT_AUTHOR_EMAIL": "test@localhost",
        "GIT_COMMITTER_NAME": "Test",
        "GIT_COMMITTER_EMAIL": "test@localhost",
    }
    for command in (["init", "-q"], ["add", "-A"], ["commit", "-q", "-m", "before the fix"]):
        subprocess.run(["git", "-C", str(root), *command], env=environment, check=True)


# --- list, diff, layout ---------------------------------------------------------------------------


def test_list_counts_new_changed_and_withdrawn(book):
    lines = run(book, "list").stdout.splitlines()
    assert [line.split()[:7:2] for line in lines] == [
        ["01-one", "new", "changed", "withdrawn"],
        ["02-two", "new", "changed", "withdrawn"],
        ["03-three", "new", "changed", "withdrawn"],
    ]
    assert [line.split()[1:6:2] for line in lines] == [
        ["4", "0", "0"],
        ["1", "1", "0"],
        ["0", "1", "1"],
    ]


def test_list_of_a_chapter_names_the_files(book):
    assert run(book, "list", "03").stdout.splitlines() == ["M src/core/b.h", "D src/core/old.h"]


def test_the_newest_version_up_to_the_chapter_wins(book):
    layout = chapters.Book(book).layout(2)
    assert {path: chapter.number for path, chapter in layout.items()} == {
        "src/core/a.h": 2,
        "src/core/b.h": 2,
        "src/core/old.h": 1,
        "tests/a_test.cpp": 1,
        "tests/next/01_b_test.cpp": 1,
    }
    assert "src/core/old.h" not in chapters.Book(book).layout(3)


def test_a_withdrawn_file_may_come_back(book):
    write(book, {"chapters/04-four/src/core/old.h": "int Old();\n"})
    assert chapters.Book(book).layout(4)["src/core/old.h"].number == 4


def test_editors_litter_is_no_source(book):
    write(book, {"chapters/01-one/src/.a.h.swp": "", "chapters/01-one/src/core/a.h~": ""})
    assert run(book, "check").returncode == 0


def test_diff_is_against_the_version_that_the_chapter_replaces(book):
    assert run(book, "diff", "02").stdout.splitlines() == [
        "--- chapters/01-one/src/core/a.h",
        "+++ chapters/02-two/src/core/a.h",
        "@@ -1 +1,2 @@",
        " int A();",
        "+int B();",
        "new file src/core/b.h (1 lines)",
    ]
    assert "+int B();" in run(book, "diff", "02", "--new").stdout.splitlines()[-1]
    assert "withdrawn src/core/old.h" in run(book, "diff", "03").stdout


def test_an_unknown_chapter_is_one_line(book):
    result = run(book, "diff", "07")
    assert result.returncode == 2
    assert result.stderr == "chapters.py: there is no chapter 07 (there are 01, 02, 03)\n"


# --- sync, check ----------------------------------------------------------------------------------


def test_final_has_the_newest_versions(book):
    assert (book / "final/src/core/a.h").read_text() == "int A();\nint B();\n"
    assert (book / "final/src/core/b.h").read_text() == "long B();\n"
    assert not (book / "final/src/core/old.h").exists()
    assert (book / "final/CMakeLists.txt").read_text() == "project\n"
    assert (book / "final/cmake/targets.cmake").read_text() == "targets\n"
    assert run(book, "check").returncode == 0


def test_sync_touches_only_what_differs(book):
    before = (book / "final/src/core/a.h").stat().st_mtime_ns
    write(book, {"final/src/gone/x.h": "", "chapters/03-three/src/core/c.h": "int C();\n"})
    write(book, {"chapters/03-three/tests/c_test.cpp": "test c\n"})
    assert run(book, "sync").stdout.splitlines() == [
        "removed final/src/gone/x.h",
        "updated final/src/core/c.h",
        "updated final/tests/c_test.cpp",
        "updated final/chapter.cmake",
    ]
    assert (book / "final/src/core/a.h").stat().st_mtime_ns == before
    assert not (book / "final/src/gone").exists()
    assert run(book, "sync").stdout == ""


def test_sync_keeps_what_is_final_s_own(book):
    write(book, {"final/README.md": "read me\n"})
    assert run(book, "sync").returncode == 0
    assert (book / "final/README.md").exists()


@pytest.mark.parametrize(
    "files, complaint",
    [
        ({"final/src/core/a.h": "edited\n"}, "final/src/core/a.h: differs from chapters/02-two/"),
        ({"final/src/core/x.h": ""}, "final/src/core/x.h: no chapter has it"),
        ({"final/cmake/targets.cmake": "edited\n"}, "final/cmake/targets.cmake: differs from"),
        ({"final/chapter.cmake": "edited\n"}, "final/chapter.cmake: out of date"),
        (
            {"chapters/03-three/src/core/a.h": "int A();\nint B();\n"},
            "chapters/03-three/src/core/a.h: identical to chapter 02's",
        ),
        (
            {"chapters/03-three/withdrawn.txt": "src/core/old.h\nsrc/core/never.h\n"},
            "withdrawn.txt: src/core/never.h is in no chapter before",
        ),
        (
            {"chapters/03-three/src/core/old.h": "int Old();\n"},
            "withdrawn.txt: src/core/old.h is withdrawn by the chapter that has it",
        ),
        (
            {"chapters/03-three/tests/next/02_c_test.cpp": ""},
            "tests/next/02_c_test.cpp: has to be called 03_<topic>_test.cpp",
        ),
        ({"chapters/03-again/src/x.h": ""}, "chapters/03-*: more than one chapter"),
    ],
)
def test_check_says_what_is_wrong(book, files, complaint):
    write(book, files)
    result = run(book, "check")
    assert result.returncode == 1
    assert complaint in result.stderr


def test_check_misses_a_file(book):
    (book / "final/src/core/b.h").unlink()
    result = run(book, "check")
    assert result.returncode == 1
    assert "final/src/core/b.h: missing, it should be chapters/03-three/" in result.stderr


# --- the words of a page --------------------------------------------------------------------------

WORDS = "word " * 4990 + "\n"  # ten more are allowed
TEXT = "word " * 110 + "\n"  # of an exercise; ten more are allowed
EXERCISES = "## Exercises\n\nEach begins here.\n\n### 1. Short (quick)\n\nDo it.\n\n### 2. Long (real)\n\n"


@pytest.mark.parametrize(
    "more, words",
    [
        ("ten words are as many as there may still be\n", 5000),
        ("eleven words are one more than there may be after those\n", 5001),
        ("## A heading\n\n- a list: [of](one) `two` or three,\n- 4\n", 4999),
        ("| a | table |\n|---|---|\n| with | four more \\| dashes | – |\n", 4996),
        ("```cpp\n" + "int x; " * 20 + "\n```\n", 4990),
        ("- in a list\n\n    ```console\n    $ " + "echo " * 20 + "\n    ```\n", 4993),
        ("<!-- run: terminal=1\n" + "> word\n" * 20 + "-->\n", 4990),
        ("<!-- classes now -->\n" + "word " * 20 + "\n<!-- /classes now -->\n", 4990),
        ("<!-- measured: table -->\n" + "word " * 20 + "\n<!-- /measured -->\n", 4990),
        ("<!-- file: x.cpp -->\n```cpp\n" + "int x; " * 20 + "\n```\n<!-- /file -->\n", 4990),
        ("it took <!-- =ns/a/B -->5<!-- / --> ns\n", 4994),
        (EXERCISES + TEXT, 4990),
        (EXERCISES + "```\n## No heading\n```\n" + TEXT + "## After them\n\nfive words\n", 4994),
    ],
)
def test_a_page_s_words_are_limited(book, monkeypatch, more, words):
    write(book, {"chapters/02-two/README.md": WORDS + more})
    assert not list(chapters.check_words(chapters.Book(book))) or words > 5000
    monkeypatch.setattr(chapters, "MOST_WORDS", 0)
    (problem,) = chapters.check_words(chapters.Book(book))
    assert problem == f"chapters/02-two/README.md: {words} words without the exercises, at most 0"


@pytest.mark.parametrize(
    "more, words",
    [
        ("- ten words are as many as there may still be\n", 120),
        ("- eleven words are one more than there may be after those\n", 121),
        ("```\n" + "word " * 20 + "\n```\n", 110),
        ("<details><summary>Hint 1</summary>\n\n" + "word " * 20 + "\n\n</details>\n", 110),
        ("<details><summary>Solution</summary>\n\n```cpp\nint x;\n```\n\n</details>\n\nNot yet.\n", 112),
        ("### 3. Another (hard)\n\n" + "word " * 20 + "\n", 110),
        ("## The classes now\n\n" + "word " * 20 + "\n", 110),
    ],
)
def test_an_exercise_s_words_are_limited(book, monkeypatch, more, words):
    write(book, {"chapters/02-two/README.md": "# Two\n\n" + EXERCISES + TEXT + more})
    problems = list(chapters.check_words(chapters.Book(book)))
    assert bool(problems) == (words > 120)
    monkeypatch.setattr(chapters, "MOST_WORDS_OF_AN_EXERCISE", 100)
    (problem,) = chapters.check_words(chapters.Book(book))
    assert problem == (
        f'chapters/02-two/README.md: exercise "2. Long (real)" has {words} words without its hints '
        "and solution, at most 100"
    )


def test_check_counts_the_words(book):
    write(book, {"chapters/02-two/README.md": WORDS + "word " * 11})
    result = run(book, "check")
    assert result.returncode == 1
    assert "chapters/02-two/README.md: 5001 words without the exercises, at most 5000" in result.stderr


# --- assemble -------------------------------------------------------------------------------------


def test_assemble_copies_the_whole_program(book, tmp_path_factory):
    target = tmp_path_factory.mktemp("copy") / "two"
    assert run(book, "assemble", "02", target).returncode == 0
    assert (target / "src/core/a.h").read_text() == "int A();\nint B();\n"
    assert (target / "src/core/old.h").exists()
    assert (target / "CMakeLists.txt").exists() and (target / "cmake/targets.cmake").exists()
    assert not any(file.is_symlink() for file in target.rglob("*"))
    assert (target / "chapter.cmake").read_text() == (
        "set(TURTLE_CHAPTER 02)\n"
        'set("TURTLE_ORIGIN_tests/a_test.cpp" 01)\n'
        'set("TURTLE_ORIGIN_tests/next/01_b_test.cpp" 01)\n'
    )


def test_assemble_spares_a_folder_in_use(book, tmp_path_factory):
    target = tmp_path_factory.mktemp("copy")
    (target / "mine").write_text("mine")
    result = run(book, "assemble", "02", target)
    assert result.returncode == 2
    assert "is not empty" in result.stderr
    assert [file.name for file in target.iterdir()] == ["mine"]


# --- carry ----------------------------------------------------------------------------------------

FIRST = "".join(f"line {n}\n" for n in range(1, 21))


@pytest.fixture
def versions(book):
    """A file of twenty lines with a version in each of 01, 02 and 03."""
    second = FIRST.replace("line 10\n", "line 10, of 02\n")
    third = second.replace("line 19\n", "line 19, of 03\n")
    write(
        book,
        {
            "chapters/01-one/src/x.cpp": FIRST,
            "chapters/02-two/src/x.cpp": second,
            "chapters/03-three/src/x.cpp": third,
        },
    )
    assert run(book, "sync").returncode == 0
    commit(book)
    return book


def edit(root, path, old, new):
    file = root / path
    text = file.read_text()
    assert old in text
    file.write_text(text.replace(old, new))


def test_carry_takes_a_fix_into_each_later_version_and_final(versions):
    edit(versions, "chapters/01-one/src/x.cpp", "line 2\n", "line two\n")
    result = run(versions, "carry", "01", "src/x.cpp")
    assert result.returncode == 0, result.stderr
    assert result.stdout.splitlines() == [
        "chapters/02-two/src/x.cpp: merged",
        "chapters/03-three/src/x.cpp: merged",
        "final/src/x.cpp: copied from chapter 03",
    ]
    newest = (versions / "chapters/03-three/src/x.cpp").read_text()
    for line in ("line two\n", "line 10, of 02\n", "line 19, of 03\n"):
        assert line in newest
    assert "line 19\n" in (versions / "chapters/02-two/src/x.cpp").read_text()
    assert run(versions, "check").returncode == 0


def test_carry_twice_is_harmless(versions):
    edit(versions, "chapters/01-one/src/x.cpp", "line 2\n", "line two\n")
    assert run(versions, "carry", "01", "x.cpp").returncode == 0
    before = (versions / "final/src/x.cpp").read_text()
    result = run(versions, "carry", "01", "x.cpp")
    assert result.returncode == 0
    assert "has it already" in result.stdout
    assert (versions / "final/src/x.cpp").read_text() == before


def test_carry_stops_at_a_conflict_and_leaves_that_file_alone(versions):
    edit(versions, "chapters/01-one/src/x.cpp", "line 10\n", "line ten\n")
    before = {
        path: (versions / path).read_text()
        for path in ("chapters/02-two/src/x.cpp", "chapters/03-three/src/x.cpp", "final/src/x.cpp")
    }
    result = run(versions, "carry", "01", "src/x.cpp")
    assert result.returncode == 2
    assert "conflict in chapter 02 at line 10;" in result.stderr
    assert "line 10, of 02" in result.stderr and "line ten" in result.stderr
    for path, text in before.items():
        assert (versions / path).read_text() == text


def test_after_a_conflict_the_rest_is_carried_from_there(versions):
    edit(versions, "chapters/01-one/src/x.cpp", "line 19\n", "line nineteen\n")
    result = run(versions, "carry", "01", "src/x.cpp")
    assert result.returncode == 2
    assert "conflict in chapter 03 at line 19;" in result.stderr
    assert "line nineteen\n" in (versions / "chapters/02-two/src/x.cpp").read_text()
    edit(versions, "chapters/03-three/src/x.cpp", "line 19, of 03", "line nineteen, of 03")
    result = run(versions, "carry", "03", "src/x.cpp")
    assert result.returncode == 0, result.stderr
    assert "line nineteen, of 03\n" in (versions / "final/src/x.cpp").read_text()


def test_carry_again_after_a_conflict_reaches_the_later_versions(versions):
    edit(versions, "chapters/01-one/src/x.cpp", "line 19\n", "line nineteen\n")
    assert run(versions, "carry", "01", "src/x.cpp").returncode == 2  # 02 has it, 03 conflicts
    edit(versions, "chapters/03-three/src/x.cpp", "line 19, of 03\n", "line 19\n")
    result = run(versions, "carry", "01", "src/x.cpp")
    assert result.returncode == 0, result.stderr
    assert "line nineteen\n" in (versions / "chapters/03-three/src/x.cpp").read_text()


def test_carry_since_an_earlier_commit(versions):
    edit(versions, "chapters/01-one/src/x.cpp", "line 2\n", "line two\n")
    commit(versions)
    result = run(versions, "carry", "01", "src/x.cpp")
    assert result.returncode == 2 and "nothing to carry" in result.stderr
    assert run(versions, "carry", "01", "src/x.cpp", "--since", "HEAD~1").returncode == 0
    assert "line two\n" in (versions / "final/src/x.cpp").read_text()


def test_carry_ends_where_the_file_is_withdrawn(versions):
    write(versions, {"chapters/02-two/withdrawn.txt": "src/core/old.h\n"})
    (versions / "chapters/03-three/withdrawn.txt").unlink()
    edit(versions, "chapters/01-one/src/core/old.h", "Old", "Older")
    result = run(versions, "carry", "01", "src/core/old.h")
    assert result.stdout == "chapter 02 withdraws src/core/old.h: done\n"


def test_carry_reports_a_version_that_became_superfluous(versions):
    edit(versions, "chapters/01-one/src/x.cpp", "line 10\n", "line 10, of 02\n")
    result = run(versions, "carry", "01", "src/x.cpp")
    assert "chapters/02-two/src/x.cpp: now identical to chapter 01's version" in result.stdout


def test_carry_of_a_file_that_the_chapter_does_not_have(versions):
    result = run(versions, "carry", "03", "src/core/a.h")
    assert result.returncode == 2
    assert "chapter 03 has no version of src/core/a.h (chapters that have: 01, 02)" in result.stderr


# --- excerpts -------------------------------------------------------------------------------------

SOURCE = """\
class Socket {
 public:
  void Open() {
    if (open_) {
      return;
    }
    open_ = true;
  }

  void Close();
};
"""


@pytest.fixture
def page(book):
    """A function that puts a code block on chapter 01's page and checks it."""
    write(book, {"chapters/01-one/src/core/socket.h": SOURCE})

    def try_block(code, title="core/socket.h › Socket", language="cpp"):
        text = f'# One\n\n```{language} title="{title}"\n{code}```\n'
        write(book, {"chapters/01-one/README.md": text})
        return run(book, "excerpts")

    return try_block


@pytest.mark.parametrize(
    "code",
    [
        "  void Close();\n",
        "void Close();\n",  # moved to the left
        "void Open() {\n  if (open_) {\n    return;\n",  # all of it
        "class Socket {\n  // …\n  void Close();\n};\n",
        "class Socket {\n …\n    open_ = true;\n  }\n\n  void Close();\n",
        "// …\n  void Close();\n// …\n",
        SOURCE,
    ],
)
def test_a_verbatim_excerpt(page, code):
    result = page(code)
    assert result.returncode == 0, result.stderr


@pytest.mark.parametrize("title", ["src/core/socket.h", "core/socket.h", "core/socket.h › Socket"])
def test_titles(page, title):
    assert page("  void Close();\n", title).returncode == 0
    assert page("  void Shut();\n", title).returncode == 1


def test_the_first_line_that_differs_is_named(page):
    result = page("class Socket {\n public:\n  void Open() {\n    if (closed_) {\n")
    assert result.returncode == 1
    assert result.stderr.splitlines() == [
        "chapters/01-one/README.md:7: not in chapters/01-one/src/core/socket.h",
        "  page:     if (closed_) {",
        "  file:     if (open_) {   (line 4)",
    ]


@pytest.mark.parametrize(
    "code",
    [
        "void Open() {\nif (open_) {\n",  # its own indentation
        "  void Close();\n// …\n  void Open() {\n",  # the order turned round
        "class Socket {\n};\n",  # left out without an ellipsis
        "  void Close()\n",
        "// …\n  void Never();\n",
    ],
)
def test_an_excerpt_that_is_not_verbatim(page, code):
    assert page(code).returncode == 1


def test_a_block_in_a_list_is_moved_as_markdown_moves_it(book, page):
    page("")
    text = '* item\n\n    ```cpp title="core/socket.h"\n    class Socket {\n     public:\n    ```\n'
    write(book, {"chapters/01-one/README.md": text})
    assert run(book, "excerpts").returncode == 0


def test_an_unknown_file_is_an_error_in_code_only(page):
    result = page("x\n", "core/sockets.h")
    assert result.returncode == 1
    assert "README.md:4: chapter 01 has no file core/sockets.h" in result.stderr
    assert page("$ ls\n", "Terminal 1", "console").returncode == 0


def test_the_file_is_the_one_of_the_page_s_chapter(book, page):
    assert page("  void Close();\n").returncode == 0
    write(book, {"chapters/02-two/src/core/socket.h": SOURCE.replace("Close", "Shut")})
    assert run(book, "excerpts").returncode == 0
    text = '```cpp title="core/socket.h"\n  void Close();\n```\n'
    write(book, {"chapters/02-two/README.md": text})
    assert run(book, "excerpts").returncode == 1


# --- the real chapters ----------------------------------------------------------------------------


def test_final_is_what_the_chapters_make():
    result = subprocess.run(
        [sys.executable, str(PROGRAM), "check"], capture_output=True, text=True, check=False
    )
    assert result.returncode == 0, result.stderr


def test_the_pages_show_the_chapters_code():
    result = subprocess.run(
        [sys.executable, str(PROGRAM), "excerpts"], capture_output=True, text=True, check=False
    )
    assert result.returncode == 0, result.stderr
