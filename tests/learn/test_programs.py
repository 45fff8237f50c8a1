"""Test programs run once, as a whole, and not again while they are the same: tools/learn/programs.py."""

import pytest

from learn import programs
from learn.programs import count
from learn.steps import Count, Failed

# A stand-in for a GoogleTest program: it says how each of its tests ends, and counts its runs.
PROGRAM = """#!/bin/sh
# {text}
echo run >> {runs}
for word; do case $word in --gtest_output=json:*) report=${{word#--gtest_output=json:}} ;; esac; done
cat > "$report" <<'END'
{{"testsuites": [{{"name": "S", "testsuite": [{tests}]}}]}}
END
exit {status}
"""
FAILURE = '{"name": "%s", "status": "RUN", "failures": [{"failure": "Expected: 1"}]}'
PASS = '{"name": "%s", "status": "RUN"}'
SKIP = '{"name": "%s", "result": "SKIPPED", "skipped": [{"message": "no ring"}]}'


class Build:
    def __init__(self, folder):
        self.folder, self.said = folder, []
        (folder / "tests").mkdir(parents=True)

    def add(self, name, *tests, status=0, text=""):
        path = self.folder / "tests" / name
        listed = ", ".join(kind % f"T{number}" for number, kind in enumerate(tests))
        runs = self.folder.parent / f"{name}.runs"
        path.write_text(PROGRAM.format(tests=listed, status=status, runs=runs, text=text))
        path.chmod(0o755)

    def run(self, **options):
        self.said.clear()
        programs.run(self.folder, self.said.append, {}, **options)
        return count("\n".join(self.said))

    def runs(self, name):
        return len((self.folder.parent / f"{name}.runs").read_text().split())


@pytest.fixture
def build(tmp_path, monkeypatch):
    monkeypatch.setenv("TURTLE_CACHE", str(tmp_path / "cache"))
    return Build(tmp_path / "12")


def test_each_runs_once_and_is_counted(build):
    build.add("a_test", PASS, PASS, SKIP)
    build.add("b_test", PASS)
    assert build.run() == Count(3, 0, 1)
    assert "SKIPPED S.T2: no ring" in build.said
    assert build.runs("a_test") == 1


def test_the_same_program_is_not_run_again_whatever_build_it_is_of(build, tmp_path):
    build.add("a_test", PASS, PASS)
    build.run()
    other = Build(tmp_path / "13")
    other.add("a_test", PASS, PASS)
    assert other.run() == Count(2, 0, 0)
    assert build.runs("a_test") == 1
    assert other.run(again=True) == Count(2, 0, 0)
    assert build.runs("a_test") == 2


def test_another_filter_or_prefix_is_another_run(build):
    build.add("a_test", PASS)
    build.run()
    build.run(leave_out="S.T7")
    build.run(prefix=["env"])
    assert build.runs("a_test") == 3


def test_a_program_that_knows_its_build_runs_each_time(build):
    build.add("a_test", PASS, text=f"{programs.ROOT}/build/12/examples")
    build.run()
    build.run()
    assert build.runs("a_test") == 2


def test_a_failure_is_named_and_not_kept(build):
    build.add("a_test", PASS, FAILURE, status=1)
    for _ in range(2):
        with pytest.raises(Failed, match="1 tests failed, the first: a_test: S.T1 failed"):
            build.run()
    assert build.runs("a_test") == 2
    assert any("Expected: 1" in said for said in build.said)


def test_the_felt_problem_has_to_fail_by_an_assertion(build):
    build.add("12_wish_test", PASS, FAILURE, status=1)
    assert build.run(unsolved="12") == Count(1, 0, 0)
    with pytest.raises(Failed):
        build.run(unsolved="13")
    build.add("12_wish_test", PASS, PASS)
    with pytest.raises(Failed, match="12_wish_test.fails_by_assertion"):
        build.run(unsolved="12")
    assert any("already do what the next one promises" in said for said in build.said)


def test_some_of_them(build):
    build.add("a_test", PASS)
    build.add("b_test", PASS, PASS)
    assert build.run(only=["b_test"]) == Count(2, 0, 0)


def test_a_build_without_test_programs_is_no_success(build):
    with pytest.raises(Failed, match="no test programs"):
        build.run()
