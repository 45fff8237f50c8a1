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
  ./learn serve             read the book at http://127.0.0.1:20080/
  ./learn test              build and test everything
  ./learn test 05           build and test chapter 05
  ./learn list              the chapters
  ./learn start 05 ~/five   a workspace in which you write chapter 05
  ./learn check ~/five      build it, run its tests, say what is next
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
    serve.add_argument("--port", type=port, default=20080)
    serve.add_argument("--address", default="127.0.0.1")
    test = commands.add_parser("test", help="build and test everything, or some chapters")
    test.add_argument("chapters", metavar="NN", nargs="*")
    test.add_argument("--only", metavar="WORD", default="", help="only the steps whose name has this word")
    commands.add_parser("coverage", help="which lines and branches of final its tests reach")
    commands.add_parser("list", help="the chapters")
    start = commands.add_parser("start", help="make a workspace for a chapter")
    start.add_argument("number", metavar="NN")
    start.add_argument("folder", metavar="DIR", type=pathlib.Path)
    check = commands.add_parser("check", help="build a workspace and run its tests")
    check.add_argument("folder", metavar="DIR", type=pathlib.Path)
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

    # Imported late: each command needs only its own part.
    try:
        if options.command == "serve":
            from learn import serve as serving

            return serving.serve(options.address, options.port)
        if options.command == "test":
            from learn import suite

            is_ci = os.environ.get("CI", "").lower() in ("1", "true", "yes")
            return suite.test(options.chapters, options.only, is_ci)
        if options.command == "coverage":
            from learn import coverage

            return coverage.coverage()
        if options.command == "list":
            return subprocess.run([sys.executable, ROOT / "tools" / "chapters.py", "list"], check=False).returncode
        if options.command == "start":
            from learn import workspace

            return workspace.start(options.number, options.folder)
        if options.command == "check":
            from learn import workspace

            return workspace.check(options.folder)
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
