"""The rows of smuggling.py, against a live server."""

import collections

import pytest
import row_server
import runner
import smuggling


@pytest.fixture(scope="module")
def turtle(tmp_path_factory):
    server = row_server.RowServer(tmp_path_factory.mktemp("smuggling"), smuggling.ROWS)
    try:
        yield server
        code, said = server.stop()
        assert code == 0, said
    finally:
        server.close()


@pytest.fixture(scope="module")
def answers(turtle):
    return row_server.answers_to(turtle, smuggling.ROWS)


@pytest.mark.parametrize("row", smuggling.ROWS, ids=lambda row: row.id)
def test_row(row, answers, turtle):
    fault = runner.fault_of(row, answers[row.id], turtle.etag)
    if fault:
        pytest.fail(row_server.explain(row, fault), pytrace=False)


def test_each_row_is_another_attack():
    assert len(smuggling.ROWS) >= 100
    for what in ("id", "sent"):
        counts = collections.Counter(getattr(row, what) for row in smuggling.ROWS)
        assert not [each for each, count in counts.items() if count > 1]
