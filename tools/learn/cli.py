"""The command line of ./learn."""

from __future__ import annotations

import argparse
import os
import pathlib
import subprocess
import sys

from learn.chapters import ROOT
from learn.errors import LearnError
from measure import cli as measure_cli

EXAMPLES = """\
  ./learn serve             read the book at http://127.0.0.1:20100/
  ./learn test              build and test everything
  ./learn test --quick      each chapter's own tests, and final's
  ./learn test 05           build and test chapter 05
  ./learn setup             only install what these take
  ./learn list              the chapters
  ./learn start 05 ~/five   a workspace in which you write chapter 05
  ./learn check ~/five      build it, run its tests, say what is next
  ./learn watch ~/five      the same, at each save
  ./learn skip ~/five       have the stage that you are in written for you
  ./learn start 05.2 ~/ex   a workspace for exercise 2 of chapter 05
  ./learn hint 05.2         a hint for it; ./learn solution 05.2 shows how the book does it
  ./learn progress          how far you are
  ./learn bench --quick     measure final beside other servers
  ./learn fuzz head         try a minute of odd requests on the parser of heads
"""


def main(arguments: list[str]) -> int:
    parser = argparse.ArgumentParser(
        prog="./learn",
        description="Read, test, write and measure the chapters of Turtle.",
        epilog=EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    commands = parser.add_subparsers(dest="command", metavar="COMMAND")
    serve = commands.add_parser("serve", help="set up, build, and serve the book")
    serve.add_argument("--port", type=port, default=20100)  # the pages use 20080 to 20099
    serve.add_argument("--address", default="127.0.0.1")
    test = commands.add_parser("test", help="build and test everything, or some chapters")
    test.add_argument("chapters", metavar="NN", nargs="*")
    test.add_argument("--quick", action="store_true", help="each chapter's own tests, and final's")
    test.add_argument("--again", action="store_true", help="also what has passed and has not changed since")
    test.add_argument("--only", metavar="WORD", default="", help="only the steps whose name has this word")
    setup = commands.add_parser("setup", help="install what reading takes, which `serve` and `test` do by themselves")
    setup.add_argument("--all", action="store_true", help="and what `./learn test` takes")
    setup.add_argument("--ssh", action="store_true", help="and what a machine takes that is entered by ssh")
    commands.add_parser("coverage", help="which lines and branches of final its tests reach")
    commands.add_parser("list", help="the chapters")
    start = commands.add_parser("start", help="make a workspace for a chapter or an exercise")
    start.add_argument("name", metavar="NN[.K]")
    start.add_argument("folder", metavar="DIR", type=pathlib.Path)
    start.add_argument("--all", action="store_true", help="no stages: every new function of the chapter is to be written")
    check = commands.add_parser("check", help="build a workspace, run the tests of its stage and those before, say what is next")
    check.add_argument("folder", metavar="DIR", type=pathlib.Path)
    watch = commands.add_parser("watch", help="check a workspace at each save")
    watch.add_argument("folder", metavar="DIR", type=pathlib.Path)
    skip = commands.add_parser("skip", help="write the solution of the current stage into a workspace")
    skip.add_argument("folder", metavar="DIR", type=pathlib.Path)
    hint = commands.add_parser("hint", help="the next hint of an exercise, or what the current stage asks for")
    hint.add_argument("what", metavar="NN.K|DIR")
    hint.add_argument("--all", action="store_true", help="all of its hints")
    solution = commands.add_parser("solution", help="how the book solves an exercise or the current stage, or fills a workspace")
    solution.add_argument("what", metavar="NN.K|DIR")
    solution.add_argument("word", metavar="WORD", nargs="?", default="", help="only files that have this word")
    commands.add_parser("progress", help="which stages, chapters and exercises are done")
    bench = commands.add_parser(
        "bench",
        help="measure final beside other servers",
        description="Builds final and measures it beside the servers that are installed; none has to be.",
        epilog=measure_cli.EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    measure_cli.add_options(bench)
    fuzz = commands.add_parser("fuzz", help="look for inputs that break final's parsers and sessions")
    fuzz.add_argument("targets", metavar="TARGET", nargs="*", help="files of final/fuzz/targets; all")
    fuzz.add_argument("--minutes", type=float, default=1.0, help="for each target")
    options = parser.parse_args(arguments)

    is_ci = os.environ.get("CI", "").lower() in ("1", "true", "yes")
    # Imported late: each command needs only its own part.
    try:
        if options.command == "serve":
            from learn import serve as serving

            return serving.serve(options.address, options.port)
        if options.command == "test":
            from learn import suite

            return suite.test(options.chapters, options.only, is_ci, options.quick, options.again)
        if options.command == "setup":
            from learn import setup as setting_up

            return setting_up.setup(options.all, options.ssh, is_ci)
        if options.command == "coverage":
            from learn import coverage

            return coverage.coverage()
        if options.command == "list":
            return subprocess.run([sys.executable, ROOT / "tools" / "chapters.py", "list"], check=False).returncode
        if options.command == "start":
            from learn import workspace

            return workspace.start(options.name, options.folder, options.all)
        if options.command == "check":
            from learn import workspace

            return workspace.check(options.folder)
        if options.command == "skip":
            from learn import stages

            return stages.skip(options.folder)
        if options.command == "watch":
            from learn import watch as watching

            return watching.watch(options.folder)
        if options.command == "hint":
            from learn import hints

            return hints.hint(options.what, options.all)
        if options.command == "solution":
            from learn import hints

            return hints.solution(options.what, options.word)
        if options.command == "progress":
            from learn import progress as remembered

            return remembered.progress()
        if options.command == "bench":
            from learn import bench as benchmark

            return benchmark.bench(options)
        if options.command == "fuzz":
            from learn import fuzz as fuzzing

            return fuzzing.fuzz(options)
    except LearnError as error:
        print(f"\nlearn: {error}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        print("\nlearn: interrupted", file=sys.stderr)
        return 130
    parser.print_help()
    return 2


def port(text: str) -> int:
    number = int(text) if text.isdigit() else -1
    if not 0 < number < 65536:
        raise argparse.ArgumentTypeError(f"a port is a number from 1 to 65535, not {text}")
    return number
