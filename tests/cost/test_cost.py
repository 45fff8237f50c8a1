"""A request may cost what ceilings.json says, and no more. No clock is read: noise changes nothing."""

import json

import cost
import measure
import pytest
import session

CEILINGS = json.loads(cost.CEILINGS.read_text(encoding="utf-8"))
REQUESTS = CEILINGS["requests"]


@pytest.fixture(scope="session", autouse=True)
def release_build():
    assert measure.BINARY.is_file(), f"{measure.BINARY} is not there: build final, or set TURTLE_BINARY"


def fail_with(trouble):
    """The message says it all; a traceback would only hide it."""
    if trouble:
        pytest.fail(trouble, pytrace=False)


@pytest.mark.parametrize("name", session.SCENARIOS)
def test_instructions_and_allocations(name):
    reason = cost.difference(CEILINGS["toolchain"], cost.toolchain())
    if reason:
        pytest.skip(f"{reason}. With this one: python3 tests/cost/cost.py --update")
    fail_with(cost.check_instructions(name, REQUESTS[name]))


@pytest.mark.parametrize("name", session.SCENARIOS)
def test_system_calls(name):
    fail_with(cost.check_calls(name, REQUESTS[name]))


def test_a_small_file_from_the_cache_allocates_nothing():
    for name in ("keep-alive", "browser", "pipelined", "large"):
        assert REQUESTS[name]["allocations"] == 0, name


# --- the guard itself ----------------------------------------------------------------------------


def test_what_costs_more_than_its_ceiling_is_told():
    assert cost.excess("large", "instructions", 4000, 4000) == ""
    trouble = cost.excess("large", "instructions", 4100, 4000, "    details\n")
    for part in ("large: 4100 instructions per request, the ceiling is 4000 (+2.5 %)", "details", "--update"):
        assert part in trouble
    assert cost.excess("large", "allocations", 1, 0).startswith("large: 1 allocations per request, the ceiling is 0\n")
    # One event in a hundred requests is no system call more per request; one in sixteen is.
    assert cost.excess("large", "system calls", 3.02, 3.0) == ""
    assert cost.excess("large", "system calls", 3.06, 3.0)


def test_a_scenario_that_costs_more_fails():
    """The whole way, with a ceiling that is too low."""
    limit = {**REQUESTS["keep-alive"], "syscalls": REQUESTS["keep-alive"]["syscalls"] - 1}
    trouble = cost.check_calls("keep-alive", limit)
    assert "system calls per request" in trouble and "then: " in trouble


def test_another_toolchain_is_named():
    here = {"compiler": "GCC 12", "libc": "glibc 2.36"}
    assert cost.difference(here, here) == ""
    assert "compiler GCC 13, not GCC 12" in cost.difference(here, {**here, "compiler": "GCC 13"})


def test_callgrind_is_read():
    text = """events: Ir
fn=(1) main
16 400
+3 30
cfn=(2) malloc
calls=3 50
+1 900

fn=(2)
50 900
cfn=(3) malloc'2
calls=1 60
* 10

fn=(3)
60 10
"""
    own, allocations = measure.read_callgrind(text)
    assert own == {"main": 430, "malloc": 900, "malloc'2": 10}
    assert allocations == 4


def test_strace_is_read():
    text = """% time     seconds  usecs/call     calls    errors syscall
------ ----------- ----------- --------- --------- ----------------
 60.00    0.000600           1       960       480 accept4
 40.00    0.000400           1       480           epoll_wait
------ ----------- ----------- --------- --------- ----------------
100.00    0.001000           1      1440       480 total
"""
    assert measure.read_strace(text) == {"accept4": 960, "epoll_wait": 480}


def test_a_reply_that_is_not_the_file_is_no_success(tmp_path):
    session.make_site(tmp_path)
    server = measure.Server([], tmp_path)
    try:
        with pytest.raises(AssertionError, match="200 was expected"):
            session.kept_alive(session.request("/nothing"), 200, session.SMALL)(server, 1)
        with pytest.raises(AssertionError, match="the body is not the file"):
            session.kept_alive(session.request("/small.html"), 200, session.LARGE)(server, 1)
    finally:
        server.close()
