"""./learn bench: builds final, then measures it beside other servers (tools/measure)."""

from __future__ import annotations

import argparse
import contextlib
import pathlib
import sys

from learn import chapters, machine, serve, setup
from learn.errors import LearnError
from learn.steps import Runner
from measure import cli, growth, instructions, record, syscalls
from measure.process import Failed


def bench(options: argparse.Namespace) -> int:
    try:
        cli.chosen(options)  # a wrong name is told before minutes of building
        parts = record.choose(options.parts) if options.record else []
        if not options.list and not options.build:
            build(parts)
        return cli.bench(options)
    except Failed as failure:
        raise LearnError(str(failure)) from failure


def build(parts: list[str]) -> None:
    """`final`, and for the parts of a recording what else they measure."""
    with contextlib.redirect_stdout(sys.stderr):  # the report alone goes to stdout
        runner = Runner()
        setup.environment(runner)
        needs = (*machine.BUILD, *machine.PROGRAM)
        if parts:
            needs += (*machine.COST, *machine.ANALYSIS)
        setup.packages(runner, needs)
        serve.build_program(runner)
        if "micro" in parts:
            runner.step("micro-benchmarks", [setup.build(serve.PROGRAM.parent, "micro_benchmarks")], seconds=900)
        if "instructions" in parts:
            build_apart(runner)
        if "syscalls" in parts:
            for chapter in chapters.all_chapters():
                build_example(runner, chapter)
        if "growth" in parts:
            for chapter in chapters.all_chapters():
                build_grown(runner, chapter)
    if not runner.ok():
        raise LearnError("There is nothing to measure: see the step that failed above.")


def build_apart(runner: Runner) -> None:
    folder = setup.BUILD / instructions.BUILDS["apart"]
    configure = setup.configure(serve.FINAL, folder, *instructions.APART)
    runner.step("final: files apart", [configure, setup.build(folder, "turtle")], seconds=900)


def build_example(runner: Runner, chapter: chapters.Chapter) -> None:
    """The program of a chapter whose system calls are counted."""
    paths = [each.path for each in syscalls.PROGRAMS if each.chapter == chapter.number]
    if paths:
        folder = setup.BUILD / chapter.number
        commands = [setup.configure(chapter.folder, folder), setup.build(folder, pathlib.Path(paths[0]).name)]
        runner.step(f"chapter {chapter.number} {chapter.name}", commands, seconds=600)


def build_grown(runner: Runner, chapter: chapters.Chapter) -> None:
    """The server of a chapter as it is measured beside final: built like final."""
    paths = [each.path for each in growth.PROGRAMS if each.chapter == chapter.number]
    if paths:
        folder = setup.BUILD / "growth" / chapter.number
        configure = setup.configure(chapter.folder, folder, *serve.RELEASE)
        commands = [configure, setup.build(folder, pathlib.Path(paths[0]).name)]
        runner.step(f"chapter {chapter.number} {chapter.name}: Release", commands, seconds=900)
