"""./learn from the outside, and the parts that its steps are made of."""

import os
import pathlib
import re
import shlex
import shutil
import socket
import subprocess
import sys
import time

import pytest
from learn import machine, serve, setup, steps, workspace
from learn.errors import LearnError
from learn.steps import Count, Failed, Runner, count_ctest, count_pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]


def learn(root, *arguments, env=None, seconds=300):
    return subprocess.run(
        [root / "learn", *map(str, arguments)],
        capture_output=True, text=True, timeout=seconds, cwd=root, env={**os.environ, **(env or {})},
    )


# --- the driver ---


def test_without_a_command_it_shows_how_it_is_used():
    done = learn(ROOT)
    assert done.returncode == 2
    assert "./learn serve" in done.stdout


def test_list_names_the_chapters(book):
    done = learn(book.root, "list")
    assert done.returncode == 0, done.stderr
    assert "01-one" in done.stdout and "02-two" in done.stdout


def test_it_installs_python_where_there_is_none(tmp_path):
    """With a PATH that has no python3 at first, but an apt-get that brings one."""
    tools = tmp_path / "bin"
    tools.mkdir()
    for name in ("sh", "dirname", "env", "id", "ln"):
        (tools / name).symlink_to(shutil.which(name))
    apt = tools / "apt-get"
    apt.write_text(
        f'#!/bin/sh\necho "apt-get $*"\n[ "$1" = -q ] && [ "$2" = install ] && ln -s {sys.executable} {tools}/python3\n'
        "exit 0\n"
    )
    apt.chmod(0o755)
    if os.geteuid() != 0:
        sudo = tools / "sudo"
        sudo.write_text('#!/bin/sh\nexec "$@"\n')
        sudo.chmod(0o755)
    done = learn(ROOT, env={"PATH": str(tools)})
    assert "installing it" in done.stderr
    assert "apt-get -q install --yes --no-install-recommends python3" in done.stderr
    assert "./learn serve" in done.stdout


def test_an_unknown_chapter_is_one_clear_line(book):
    done = learn(book.root, "test", "07")
    assert done.returncode == 1
    assert done.stderr.strip() == "learn: There is no chapter 07; there are: 01, 02."


def test_a_port_in_use_is_said_before_anything_is_built(book):
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        done = learn(book.root, "serve", "--port", port, seconds=30)
    assert done.returncode == 1
    assert f"Port {port} on 127.0.0.1 is in use" in done.stderr
    assert done.stdout == ""
    assert not (book.root / "build").exists()


def test_a_foreign_address_is_one_clear_line():
    with pytest.raises(LearnError, match="192.0.2.1"):
        serve.refuse_used_port("192.0.2.1", 20080)


def test_testing_a_chapter(book):
    """It builds, tests, counts, and fails when a test fails."""
    done = learn(book.root, "test", "01")
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout.splitlines()[-1] == "2 passed, 0 failed"
    book.write({"01-one/src/base/box.cpp": '#include "base/box.h"\nvoid Box::Open() {}\n'
                                           "auto Box::IsOpen() const -> bool { return open_; }\n"})
    done = learn(book.root, "test", "01")
    assert done.returncode == 1
    assert done.stdout.splitlines()[-1] == "1 passed, 1 failed"
    assert "rerun-failed" in done.stdout  # what to do
    assert "box.IsOpen()" in done.stdout  # the tail of its log


# --- the workspace ---


def test_a_workspace_from_beginning_to_end(book, tmp_path):
    folder = tmp_path / "mine"
    done = learn(book.root, "start", "2", folder, "--all")
    assert done.returncode == 0, done.stdout + done.stderr
    assert "src/base/box.cpp" in done.stdout and "5 to write, 1 to change" in done.stdout
    assert "./learn check" in done.stdout

    home = tmp_path / "home"
    home.mkdir()
    done = learn(book.root, "check", folder, env={"HOME": str(home)})
    assert not (home / ".local").exists()  # these tests are no reader's progress
    assert done.returncode == 1, done.stdout + done.stderr
    assert "box_count_test.cpp" in done.stdout and "0 of 2" in done.stdout
    assert "Tests of earlier chapters\n  ok      tests/box_test.cpp" in done.stdout
    assert re.search(r"Still marked TODO\(02\):\n  src/base/box.cpp +6\n", done.stdout)  # those that throw count once
    marked = done.stdout.split("Still marked TODO(02):\n")[1].split("\n\n")[0].splitlines()
    assert sum(int(line.split()[-1]) for line in marked) == 6  # as many as `start` has announced
    alone = done.stdout.split("Alone: ")[1].splitlines()[0]
    assert subprocess.run(["sh", "-c", alone], cwd=book.root, capture_output=True).returncode == 1
    assert "BoxCount.Counts" in done.stdout

    source = folder / "src/base/box.cpp"
    stubbed = source.read_text()
    source.write_text("this does not compile\n")
    done = learn(book.root, "check", folder)
    assert done.returncode == 1
    assert "make it compile again" in done.stdout
    assert stubbed != source.read_text()

    shutil.copy(book.root / "chapters/02-two/src/base/box.cpp", source)
    done = learn(book.root, "check", folder)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "chapter 02 is done" in done.stdout and "last chapter" in done.stdout


def test_who_reads_may_have_seen_enough(book, tmp_path):
    folder = tmp_path / "mine"
    assert learn(book.root, "start", "2", folder).returncode == 0
    done = subprocess.run(
        f"{shlex.quote(str(book.root / 'learn'))} check {shlex.quote(str(folder))} | head -1",
        shell=True, capture_output=True, text=True, timeout=300, cwd=book.root,
    )
    assert done.stdout.startswith("Chapter 02") and "Traceback" not in done.stderr, done.stderr


def test_what_can_be_written_first_stands_first(tmp_path):
    for path, includes in {
        "src/base/z.h": "", "src/base/z.cpp": "base/z.h",
        "src/core/y.h": "base/z.h", "src/core/y_linux.cpp": "core/y.h",
        "src/core/b.h": "base/z.h", "src/core/b.cpp": "core/b.h core/y.h",
        "src/core/a.h": "core/b.h", "src/core/a.cpp": "core/a.h core/c.h",
        "src/core/c.h": "core/a.h",
        "tests/support/of_a.h": "core/a.h",
        "tests/a_test.cpp": "support/of_a.h", "tests/z_test.cpp": "base/z.h",
    }.items():
        (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / path).write_text("".join(f'#include "{name}"\n' for name in includes.split()))
    sources = ["src/core/a.cpp", "src/core/b.cpp", "src/core/y_linux.cpp", "src/base/z.cpp"]
    assert workspace.bottom_up(tmp_path, sources) == list(reversed(sources))
    assert workspace.bottom_up(tmp_path, ["tests/a_test.cpp", "tests/z_test.cpp"]) == ["tests/z_test.cpp", "tests/a_test.cpp"]


def test_a_workspace_never_overwrites(book, tmp_path):
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "work.txt").write_text("precious")
    done = learn(book.root, "start", "01", tmp_path / "mine")
    assert done.returncode == 1
    assert "not empty" in done.stderr
    assert (tmp_path / "mine" / "work.txt").read_text() == "precious"


def test_checking_another_folder_is_one_clear_line(book, tmp_path):
    done = learn(book.root, "check", tmp_path)
    assert done.returncode == 1
    assert "was not made by ./learn start" in done.stderr


def test_checking_a_folder_that_is_not_there_is_one_clear_line(book, tmp_path):
    done = learn(book.root, "check", tmp_path / "nowhere")
    assert done.returncode == 1
    assert "There is no folder" in done.stderr and "./learn start" in done.stderr


# --- steps ---


@pytest.fixture
def runner(tmp_path):
    return Runner(logs=tmp_path / "logs")


def test_steps_that_need_a_failed_one_are_not_run_but_counted(runner, capsys):
    assert not runner.step("one", [["sh", "-c", "echo the reason; exit 3"]], advice="turn it off and on")
    assert not runner.step("two", [["true"]], needs=["one"])
    assert runner.step("three", [["true"]])
    runner.summary()
    out = capsys.readouterr().out
    assert "| the reason" in out and "ended with status 3" in out and "what to do: turn it off and on" in out
    assert "not run: one failed" in out
    assert out.splitlines()[-1] == "1 passed, 2 failed"
    assert not runner.ok()


def test_a_step_has_a_time_limit_and_leaves_no_process(runner, tmp_path, capsys):
    mark = tmp_path / "pid"
    assert not runner.step("slow", [["sh", "-c", f"sleep 600 & echo $! > {mark}; wait"]], seconds=1)
    assert "the time for this step was up" in capsys.readouterr().out
    end = time.monotonic() + 20  # whoever was killed ends when it has its turn
    while is_alive(int(mark.read_text())):
        assert time.monotonic() < end
        time.sleep(0.01)


def is_alive(process):
    """A zombie is not: it only waits for its parent."""
    state = subprocess.run(["ps", "-o", "stat=", "-p", str(process)], capture_output=True, text=True).stdout
    return bool(state.strip()) and not state.startswith("Z")


def test_a_callable_step_fails_with_its_words(runner, capsys):
    def work():
        raise Failed("no luck")

    assert not runner.step("odd", work)
    assert "no luck" in capsys.readouterr().out


def test_a_missing_program_is_a_failure_not_a_traceback(runner, capsys):
    assert not runner.step("odd", [["no-such-program-anywhere"]])
    assert "No such file" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("output", "options", "wanted"),
    [
        ("100% tests passed, 0 tests failed out of 3", {}, (3, 0, True)),
        ("nothing here", {}, (0, 1, False)),
        ("67% tests passed, 1 tests failed out of 3", {}, (2, 1, False)),
        ("100% tests passed, 0 tests failed out of 3\nx.cpp:1: warning: odd", {"no_warnings": True}, (3, 1, False)),
    ],
)
def test_counting_is_honest(runner, output, options, wanted):
    """A run that found no tests is a failure; so is a warning where none is allowed."""
    status = "1" if " 1 tests failed" in output else "0"
    command = ["sh", "-c", 'printf "%s\\n" "$1"; exit $2', "sh", output, status]
    ok = runner.step("tests", [command], count=count_ctest, **options)
    assert (runner.totals().passed, runner.totals().failed, ok) == wanted


def test_what_passes_only_when_tried_again_is_named(runner, tmp_path, capsys):
    runner.step("busy", [["sh", "-c", f"mkdir {tmp_path}/seen && exit 3 || true"]])
    runner.step("depends on it", [["true"]], needs=["busy"])
    runner.step("broken", [["false"]])
    runner.step("fine", [["true"]])
    runner.try_again()
    runner.summary()
    assert {each.name: each.status for each in runner.outcomes} == {
        "fine": "ok", "busy": "unsteady", "depends on it": "ok", "broken": "FAILED",
    }
    assert not runner.ok()
    assert "mkdir" in (runner.logs / "busy.first.log").read_text()
    last = capsys.readouterr().out.splitlines()
    assert "  UNSTEADY, passed only when tried again: busy" in last
    assert last[-1] == "3 passed, 1 failed"


def test_two_may_work_side_by_side(runner, tmp_path, capsys):
    """Each waits until the other has begun; what went wrong in either is tried again after both."""

    def meet(mine, other):
        return f"touch {tmp_path}/{mine}; while [ ! -e {tmp_path}/{other} ]; do sleep 0.01; done"

    def others(beside):
        beside.step("right", [["sh", "-c", meet("right", "left")]], seconds=20)
        beside.step("busy", [["sh", "-c", f"mkdir {tmp_path}/seen && exit 3 || true"]])

    with runner.beside(others):
        runner.step("left", [["sh", "-c", meet("left", "right")]], seconds=20)
        runner.step("broken", [["false"]])
    assert len(runner.outcomes) == 4
    runner.try_again()
    runner.summary()
    assert {each.name: each.status for each in runner.outcomes} == {
        "left": "ok", "right": "ok", "broken": "FAILED", "busy": "unsteady",
    }
    assert capsys.readouterr().out.splitlines()[-1] == "3 passed, 1 failed"


def test_when_one_gives_up_the_other_is_called_off(runner, tmp_path):
    def others(beside):
        beside.step("long", [["sh", "-c", f"touch {tmp_path}/begun; sleep 60"]])
        beside.step("next", [["true"]])

    with pytest.raises(KeyboardInterrupt), runner.beside(others):
        while not (tmp_path / "begun").exists():
            pass
        raise KeyboardInterrupt
    assert [(each.name, each.status) for each in runner.outcomes] == [("long", "FAILED")]


def test_skipped_tests_count_as_failed_where_they_must_not_be(runner):
    command = ["echo", "20 passed, 2 skipped in 4.20s"]
    assert not runner.step("tests", [command], count=count_pytest, no_skips=True)
    assert (runner.totals().passed, runner.totals().failed) == (20, 2)


def test_reading_the_last_words_of_the_test_programs():
    assert count_ctest("98% tests passed, 1 tests failed out of 57\n") == Count(56, 1)
    skipped = " 3/57 Test #3: a ...***Skipped 0.01 sec\n100% tests passed, 0 tests failed out of 57\n"
    assert count_ctest(skipped) == Count(56, 0, 1)
    assert count_pytest("=== 3 failed, 20 passed, 1 skipped, 2 errors in 4.20s ===") == Count(20, 5, 1)
    assert count_pytest("7 passed in 61.00s (0:01:01)") == Count(7, 0)
    assert count_pytest("collapsed") == Count()


# --- the machine ---


def test_only_what_is_missing_is_installed_and_in_one_call(monkeypatch):
    there = machine.Need(lambda: True, "here")
    needs = machine.missing((there, machine.Need(lambda: False, "g++"), machine.Need(lambda: False, "cmake"),
                             machine.Need(lambda: False, "cmake")))
    assert machine.names(needs) == "g++ cmake" or sys.platform == "darwin"
    if sys.platform == "darwin":
        return
    monkeypatch.setattr(shutil, "which", lambda name: f"/usr/bin/{name}")
    monkeypatch.setattr(os, "geteuid", lambda: 1000)
    update, install = machine.install_command(needs)
    assert update[0] == install[0] == "sudo" and update[-1] == "update"
    assert install[-4:] == ["--yes", "--no-install-recommends", "g++", "cmake"]
    assert "DEBIAN_FRONTEND=noninteractive" in install
    monkeypatch.setattr(os, "geteuid", lambda: 0)
    assert machine.install_command(needs)[0][0] == "env"


def test_without_root_and_sudo_it_says_what_to_install(monkeypatch):
    if sys.platform == "darwin":
        return
    monkeypatch.setattr(shutil, "which", lambda name: None if name == "sudo" else f"/usr/bin/{name}")
    monkeypatch.setattr(os, "geteuid", lambda: 1000)
    with pytest.raises(LearnError, match="apt-get install cmake"):
        machine.install_command([machine.Need(lambda: False, "cmake")])


def test_setup_asks_nobody_when_everything_is_there(monkeypatch, capsys):
    monkeypatch.setattr(machine, "missing", lambda needs: [])
    monkeypatch.setattr(machine, "install_command", lambda needs: pytest.fail("it asked"))
    assert setup.setup(everything=True, entered=True, is_ci=True) == 0
    assert capsys.readouterr().out == "Everything is there.\n"


@pytest.mark.parametrize(
    "command, said", [("false", "`false` failed"), ("true", "installed, and yet not found: cmake")]
)
def test_setup_fails_when_it_could_not_install(monkeypatch, command, said):
    monkeypatch.setattr(machine, "install_command", lambda needs: [[command]])
    with pytest.raises(LearnError, match=said):
        setup.install((machine.Need(lambda: False, "cmake", "cmake"),))


def test_a_build_folder_of_other_sources_is_made_anew(tmp_path):
    folder = tmp_path / "build"
    folder.mkdir()
    cache = folder / "CMakeCache.txt"
    cache.write_text(f"CMAKE_HOME_DIRECTORY:INTERNAL={tmp_path / 'src'}\nCMAKE_GENERATOR:INTERNAL=Unix Makefiles\n")
    assert "-G" not in setup.configure(tmp_path / "src", folder)
    assert cache.exists()
    setup.configure(tmp_path / "elsewhere", folder)
    assert not cache.exists()


def test_progress_is_read_off_the_log(runner):
    seen = []

    def work():
        runner.run(["printf", "[1/80] a\n[12/80] b\n"])
        seen.append(runner._place())

    assert runner.step("build", work)
    assert seen == ["12/80"]
    assert steps.TAIL_LINES > 10
