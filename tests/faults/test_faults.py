"""Whatever fails once, nobody but one client notices: matrix.py says what that means exactly.

A sample of the matrix: each function with each of its faults, at calls that are spread over the
run, and memory at many places, once and three times in a row. It is the same at each run, as far as
the calls of the server are.
"""

import collections

import matrix
import pytest
from io_uring import needs_io_uring


def make(tmp_path_factory, poller):
    assert matrix.BINARY.is_file(), f"{matrix.BINARY} is not there: build final, or set TURTLE_BINARY"
    return matrix.Matrix(tmp_path_factory.mktemp("faults"), poller)


@pytest.fixture(scope="session")
def machinery(tmp_path_factory):
    return make(tmp_path_factory, "epoll")


@pytest.fixture(scope="session")
def ring_machinery(tmp_path_factory):
    needs_io_uring()
    return make(tmp_path_factory, "io_uring")


def must_be_well(runs):
    """The message says it all; a traceback would only hide it."""
    if runs:
        pytest.fail("\n".join(f"{run.fault}: {run.trouble}\n{run.said[-500:]}" for run in runs), pytrace=False)


def test_every_function_fails_in_every_way(machinery):
    must_be_well(matrix.run_all(machinery, matrix.faults(machinery.calls, 1)))


def test_memory_runs_out(machinery):
    must_be_well(matrix.run_all(machinery, matrix.memory_faults(machinery.calls, 60)))


def test_every_call_and_every_request_of_the_ring_fails_in_every_way(ring_machinery):
    faults = matrix.faults(ring_machinery.calls, 1)
    must_be_well(matrix.run_all(ring_machinery, [fault for fault in faults if "ring" in fault.function]))


def test_memory_runs_out_on_the_ring(ring_machinery):
    must_be_well(matrix.run_all(ring_machinery, matrix.memory_faults(ring_machinery.calls, 30)))


# --- the machinery itself ------------------------------------------------------------------------


def test_all_that_the_server_calls_has_its_faults(machinery, ring_machinery):
    calls = set(machinery.calls) | set(ring_machinery.calls)
    assert calls <= set(matrix.FAULTS)
    never = set(matrix.FAULTS) - calls - matrix.NOT_CALLED
    assert not never, f"the session does not make the server call {never}"


def test_a_sample_is_spread_and_whole():
    calls = collections.Counter(recv=40, malloc=1000)
    sample = matrix.faults(calls, 2)
    assert {fault.function for fault in sample} == {"recv", "malloc"}
    assert {fault.what for fault in sample if fault.function == "recv"} == set(matrix.FAULTS["recv"].split())
    assert all(1 <= fault.first <= calls[fault.function] for fault in sample)
    assert len(set(sample)) == len(sample)
    everything = matrix.faults(calls, None, "recv")
    assert len(everything) == 40 * len(matrix.FAULTS["recv"].split())
    assert {fault.first for fault in everything} == set(range(1, 41))


def test_a_fault_is_met_and_a_wrong_run_is_told(machinery):
    """The whole way, with a judge who allows nothing."""
    run = machinery.run(matrix.Fault("openat2", "EIO", 1))
    assert run.fired == 1 and len(run.cuts) == 1 and not run.trouble, run
    run.cuts *= 2
    assert "2 clients were cut" in machinery.judge(run)
