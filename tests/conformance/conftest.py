"""One `turtle serve` for all rows; which program that is, TURTLE_BINARY says."""

import pathlib
import sys

import pytest

sys.dont_write_bytecode = True
sys.path[:0] = [str(pathlib.Path(__file__).parent), str(pathlib.Path(__file__).parents[1] / "support")]

import cases  # noqa: E402
import row_server  # noqa: E402
import serving  # noqa: E402


@pytest.fixture(scope="session")
def turtle(tmp_path_factory):
    assert serving.BINARY.is_file(), f"{serving.BINARY} is not there: build final, or set TURTLE_BINARY"
    server = row_server.RowServer(tmp_path_factory.mktemp("conformance"), cases.ROWS)
    try:
        yield server
        code, said = server.stop()
        assert code == 0, said
    finally:
        server.close()


@pytest.fixture(scope="session")
def answers(turtle, request):
    """What the server said to the rows that are tested: all are sent before the first is judged."""
    of_tests = [item.callspec.params for item in request.session.items if hasattr(item, "callspec")]
    rows = [parameters["row"] for parameters in of_tests if "row" in parameters]
    return row_server.answers_to(turtle, rows)
