"""./learn bench: builds final, then measures it beside other servers (tools/measure)."""

from __future__ import annotations

import argparse
import contextlib
import sys

from learn import machine, serve, setup
from learn.errors import LearnError
from learn.steps import Runner
from measure import cli
from measure.process import Failed


def bench(options: argparse.Namespace) -> int:
    try:
        cli.chosen(options)  # a wrong name is told before minutes of building
        if not options.list and not options.build:
            build()
        return cli.bench(options)
    except Failed as failure:
        raise LearnError(str(failure)) from failure


def build() -> None:
    with contextlib.redirect_stdout(sys.stderr):  # the report alone goes to stdout
        runner = Runner()
        setup.environment(runner)
        setup.packages(runner, (*machine.BUILD, *machine.PROGRAM))
        serve.build_program(runner)
    if not runner.ok():
        raise LearnError("There is nothing to measure: see the step that failed above.")
