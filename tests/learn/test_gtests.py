"""tools/learn/gtests.py, with scripts in the place of test programs."""

import textwrap

import pytest
from learn import gtests
from learn.gtests import Outcome

# Speaks GoogleTest's language: --gtest_list_tests, --gtest_filter, --gtest_output, --gtest_fail_fast.
PROGRAM = '''\
#!{python}
import json, os, sys, time
tests = {tests!r}
options = dict(word.lstrip("-").partition("=")[::2] for word in sys.argv[1:])
if "gtest_list_tests" in options:
    print("Running main() from somewhere")
    print("S.")
    for name in tests:
        print("  " + name + "  # a comment")
    sys.exit()
report, failed = [], False
for name, what in tests.items():
    if options.get("gtest_filter", "S." + name) != "S." + name:
        continue
    print("[ RUN      ] S." + name, flush=True)
    if failed and "gtest_fail_fast" in options:
        what = "skip"
    failures = []
    if what == "crash" or what == "crash together" and "gtest_filter" not in options:
        os.abort()
    if what == "fail and hang":
        print("a_test.cpp:3: Failure", flush=True)
    if "hang" in what:
        time.sleep(60)
    if what == "fail":
        failures.append({{"failure": "a_test.cpp:3\\nExpected: 1"}})
    print("[  FAILED  ] S." + name + " (0 ms)" if failures else "[       OK ] S." + name + " (0 ms)", flush=True)
    failed = failed or bool(failures)
    entry = {{"name": name, "status": "RUN", "result": "SKIPPED" if what == "skip" else "COMPLETED"}}
    report.append({{**entry, "failures": failures}} if failures else entry)
with open(options["gtest_output"].partition(":")[2], "w") as file:
    json.dump({{"testsuites": [{{"name": "S", "testsuite": report}}]}}, file)
sys.exit(failed)
'''


@pytest.fixture
def program(tmp_path):
    import sys

    def make(**tests):
        path = tmp_path / "some_test"
        path.write_text(textwrap.dedent(PROGRAM).format(python=sys.executable, tests=tests))
        path.chmod(0o755)
        return path

    return make


def outcomes(results):
    return {result.test: result.outcome for result in results}


def test_a_program_that_comes_to_its_end(program, tmp_path):
    results = gtests.run_program(program(A="pass", B="fail", C="skip"), tmp_path)
    assert outcomes(results) == {"S.A": Outcome.PASSED, "S.B": Outcome.FAILED, "S.C": Outcome.SKIPPED}
    assert "Expected: 1" in results[1].message
    assert [result.is_bad for result in results] == [False, True, False]


def test_a_crash_says_nothing_about_the_others(program, tmp_path):
    results = gtests.run_program(program(A="pass", B="crash", C="fail"), tmp_path)
    assert outcomes(results) == {"S.A": Outcome.PASSED, "S.B": Outcome.CRASHED, "S.C": Outcome.FAILED}
    assert "SIGABRT" in results[1].message


def test_a_test_that_hangs_is_ended(program, tmp_path):
    results = gtests.run_program(program(A="hang", B="pass"), tmp_path, seconds=1, seconds_per_test=1)
    assert outcomes(results) == {"S.A": Outcome.HUNG, "S.B": Outcome.PASSED}


def test_a_test_hangs_that_says_nothing_for_long(program, tmp_path):
    """What came to its end before it has its result, and what comes after it runs."""
    made = program(A="fail", B="hang", C="pass")
    results = gtests.run_program(made, tmp_path, silence=1)
    assert outcomes(results) == {"S.A": Outcome.FAILED, "S.B": Outcome.HUNG, "S.C": Outcome.PASSED}
    assert results[1].message == "not done after 1 s"


def test_a_crash_has_the_words_of_the_program_only(program, tmp_path):
    results = gtests.run_program(program(A="crash"), tmp_path)
    assert results[0].message == "ended by SIGABRT\n"


def test_what_crashes_only_together_is_no_success(program, tmp_path):
    results = gtests.run_program(program(A="pass", B="crash together"), tmp_path)
    assert outcomes(results) == {"S.A": Outcome.PASSED, "S.B": Outcome.PASSED, "some_test": Outcome.CRASHED}


def test_three_hanging_tests_are_enough(program, tmp_path):
    made = program(A="hang", B="hang", C="hang", D="hang")
    results = gtests.run_program(made, tmp_path, seconds=0.5, seconds_per_test=0.5)
    assert list(outcomes(results)) == ["S.A", "S.B", "S.C"]
    assert results[2].message == "not done after 0.5 s; not run after it: S.D"


def test_an_assertion_that_fails_several_times_is_told_once():
    other = "a_test.cpp:9\nExpected: 2"
    told = gtests._once_each(["a_test.cpp:3\nExpected: 1, with 1", other, "a_test.cpp:3\nExpected: 1, with 2"])
    assert told == f"a_test.cpp:3\nExpected: 1, with 1\n(and 1 more of this assertion)\n{other}"


def test_one_failure_may_be_enough(program, tmp_path):
    """Seen in the output of the program that did not come to its end: it is not run again."""
    made = program(A="fail and hang", B="hang")
    results = gtests.run_program(made, tmp_path, seconds=2, seconds_per_test=0.1, stop_at_first_failure=True)
    assert outcomes(results) == {"S.A": Outcome.FAILED}


def test_after_a_failure_that_is_enough_the_rest_is_skipped(program, tmp_path):
    made = program(A="pass", B="fail", C="pass", D="fail")
    results = gtests.run_program(made, tmp_path, stop_at_first_failure=True)
    assert list(outcomes(results).values()) == [Outcome.PASSED, Outcome.FAILED, Outcome.SKIPPED, Outcome.SKIPPED]


def test_a_program_that_was_not_built(tmp_path):
    assert outcomes(gtests.run_program(tmp_path / "no_test", tmp_path)) == {"no_test": Outcome.MISSING}
