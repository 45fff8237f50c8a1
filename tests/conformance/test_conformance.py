"""Every row of the table, against a live server. cases/ has the rows, row.py says how to read one."""

import collections

import pytest

import cases
import runner


def parameters():
    parameters = []
    for row in cases.ROWS:
        marks = [pytest.mark.xfail(reason=row.unmet, strict=True)] if row.unmet else []
        parameters.append(pytest.param(row, id=row.id, marks=marks))
    return parameters


def explain(row, fault):
    if fault:
        sent = row.sent if len(row.sent) < 600 else row.sent[:300] + " … " + row.sent[-100:]
        pytest.fail(f"RFC {row.section}, {row.level}: {row.sentence}\n{fault}\nsent: {sent!r}", pytrace=False)


@pytest.mark.parametrize("row", parameters())
def test_row(row, answers, turtle):
    explain(row, runner.fault_of(row, answers[row.id], turtle.etag))


def test_every_row_is_named_and_sent_once():
    for what in ("id", "sentence"):
        counts = collections.Counter(getattr(row, what) for row in cases.ROWS)
        assert not [each for each, count in counts.items() if count > 1]
    sent = collections.Counter((row.sent, row.later, row.program, row.ends) for row in cases.ROWS)
    assert not [each for each, count in sent.items() if count > 1]
