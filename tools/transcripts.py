#!/usr/bin/env python3
"""Runs the console blocks of the chapter pages and writes down what they print.

    tools/transcripts.py check  [NN ...]   run the pages, fail with a diff where one differs
    tools/transcripts.py update [NN ...]   run the pages, rewrite the output lines
    tools/transcripts.py list   [NN ...]   how many blocks are run, how many are only shown

In the place of a number, `cookbook` is the page docs/your-own-server.md, and `deployment` is
docs/deployment.md.

A ```console block is run when a comment `<!-- run: ... -->` stands just above it. In the block,
lines that start with `$ ` are commands; all other lines are output and belong to this program.
The syntax of the comment is described in CONTRIBUTING.md, "Console blocks".

The chapters have to be built: chapter NN's programs are taken from BUILD/NN or BUILD/chNN
(--build, default `build` in the repository), the recipes from BUILD/cookbook. The page about deployment is
run in a fresh directory that holds the files of docs/deployment, and finds `turtle` in BUILD/final by PATH.
Only Python's standard library is needed.
"""

import argparse
import difflib
import os
import pathlib
import pty
import re
import select
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import termios
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent

COOKBOOK = "docs/your-own-server.md"
DEPLOYMENT = "docs/deployment.md"
COMMAND_SECONDS = 10.0  # a command that takes longer is an error, unless timeout= says otherwise
HANG_SECONDS = 1.0  # how long a program that `hangs` is watched doing nothing
QUIET_SECONDS = 0.3  # after typing: the reply is complete when nothing has come for so long

BLOCK = re.compile(
    r"^<!-- run:?[ \t]*(?P<options>[^\n]*?)(?P<script>\n.*?)?[ \t]*-->[ \t]*\n"
    r"(?P<fence>```console[^\n]*\n)(?P<body>.*?)^```[ \t]*$",
    re.MULTILINE | re.DOTALL,
)
CONSOLE = re.compile(r"^```console\b", re.MULTILINE)
OPTIONS = {"terminal", "chapter", "dir", "status", "timeout", "stays", "hangs"}

# A port that a page writes (20080 to 20099) stands for one that is free on this machine.
PAGE_PORT = re.compile(r"\b200[89][0-9]\b")

# What differs from run to run on every page. A page states the rest itself, by `s/…/…/`.
EVERYWHERE = [
    (re.compile(r"\(\d+ ms( total)?\)"), r"(0 ms\1)"),  # GoogleTest
    (re.compile(r"\d+\.\d\d sec\b"), "0.00 sec"),  # CTest
    (re.compile(r"= +0\.00 sec\b"), "= 0.00 sec"),
    # A file's name in an assertion is as the compiler was given it: ccache makes it relative.
    (re.compile(r"(?<![\w./-])build/(?:\d\d|ch\d\d)/tree/"), "tree/"),
    (re.compile(r"\w{3}, \d\d \w{3} 20[2-9]\d \d\d:\d\d:\d\d GMT"), "Sat, 01 Mar 2025 12:00:00 GMT"),
]


class TranscriptError(Exception):
    """A block that can't be run as it is written."""


class Ports:
    """Real ports for the page's ports, and the other way round."""

    def __init__(self):
        self.real = {}
        self.clients = {}

    def to_real(self, text):
        return PAGE_PORT.sub(lambda match: self._real_for(match.group()), text)

    def _real_for(self, shown):
        if shown not in self.real:
            self.real[shown] = str(free_port(taken=self.real.values()))
        return self.real[shown]

    def to_shown(self, text):
        for shown, real in self.real.items():
            text = re.sub(rf"\b{real}\b", shown, text)
        # The port that the kernel gave to a client: 54321 is the first one seen, 54322 the next.
        return re.sub(r"(127\.0\.0\.1:|\[::1\]:)(\d{5})\b", self._shown_client, text)

    def _shown_client(self, match):
        if int(match.group(2)) < 32768:
            return match.group()
        shown = self.clients.setdefault(match.group(2), str(54321 + len(self.clients)))
        return match.group(1) + shown


def free_port(taken):
    """A free port of five digits below those that kernels give to clients."""
    for port in range(21000 + os.getpid() % 5000, 32000):
        if str(port) in taken:
            continue
        try:
            for family, host in ((socket.AF_INET, "127.0.0.1"), (socket.AF_INET6, "::1")):
                with socket.socket(family, socket.SOCK_STREAM) as probe:
                    probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
                    try:
                        probe.bind((host, port))
                    except OSError:
                        if family == socket.AF_INET:
                            raise  # in use; a machine without IPv6 is no reason to go on
            return port
        except OSError:
            continue
    raise TranscriptError("no free port between 21000 and 32000")


class Program:
    """One command in a terminal (a pty) of its own, in a process group of its own."""

    def __init__(self, command, directory, path=None):
        self.command = command
        self.output = ""
        self.status = None
        self.taken = 0  # how much of the output the page has shown already
        self._partial = b""
        environment = {
            key: value
            for key, value in os.environ.items()
            if not key.startswith(("CTEST_", "GTEST_", "LC_", "CURL_")) and "proxy" not in key.lower()
        }
        environment.update(TERM="dumb", LC_ALL="C.UTF-8", TZ="UTC", COLUMNS="100", PAGER="cat")
        if path:
            environment["PATH"] = f"{path}:{environment['PATH']}"
        self.pid, self.fd = pty.fork()  # setsid: the child leads its session and process group
        if self.pid == 0:
            try:
                settings = termios.tcgetattr(0)
                settings[3] &= ~termios.ECHO  # typed lines are written into the block by us
                settings[1] &= ~termios.OPOST  # no \r\n
                termios.tcsetattr(0, termios.TCSANOW, settings)
                os.chdir(directory)
                # Python ignores two of them, a shell SIGINT for what it starts with `&`, and exec would leave it
                # so; in the reader's shell they end a program.
                for number in (signal.SIGINT, signal.SIGPIPE, signal.SIGXFSZ):
                    signal.signal(number, signal.SIG_DFL)
                os.execvpe("bash", ["bash", "-c", command], environment)
            finally:
                os._exit(127)

    def wait(self, seconds, until):
        """Collects output until `until()` holds or the program ends; False when time is up."""
        deadline = time.monotonic() + seconds
        while True:
            if until():
                return True
            left = deadline - time.monotonic()
            if left <= 0:
                return False
            if self.fd is None:
                return self.status is not None
            if select.select([self.fd], [], [], min(left, 0.05))[0]:
                self._read()
            elif self._ended():
                self._drain()

    def read_until_quiet(self, seconds):
        size, since = len(self.output), time.monotonic()

        def quiet():
            nonlocal size, since
            if len(self.output) != size:
                size, since = len(self.output), time.monotonic()
            return time.monotonic() - since >= seconds

        self.wait(COMMAND_SECONDS, quiet)

    def _read(self):
        try:
            data = os.read(self.fd, 65536)
        except OSError:  # EIO: the last process that had the terminal open is gone
            data = b""
        if not data:
            # A program may close its terminal and end only then, as rm does. If we closed our side
            # meanwhile, that would be a hang-up, and SIGHUP its end.
            deadline = time.monotonic() + COMMAND_SECONDS
            while not self._ended() and time.monotonic() < deadline:
                time.sleep(0.01)
            os.close(self.fd)
            self.fd = None
            if self.status is None:
                self._reap(0)
            return
        data = self._partial + data
        try:
            text, self._partial = data.decode(), b""
        except UnicodeDecodeError as error:
            cut = error.start if len(data) - error.start < 4 else len(data)
            text, self._partial = data[:cut].decode(errors="replace"), data[cut:]
        self.output += text.replace("\r\n", "\n").replace("\r", "\n")

    def _drain(self):
        while self.fd is not None and select.select([self.fd], [], [], 0)[0]:
            self._read()

    def _ended(self):
        if self.status is None:
            self._reap(os.WNOHANG)
        return self.status is not None

    def _reap(self, flags):
        pid, status = os.waitpid(self.pid, flags)
        if pid:
            self.status = os.waitstatus_to_exitcode(status)
            self.status = 128 - self.status if self.status < 0 else self.status

    def ended(self):
        if self._ended():
            self._drain()
            return True
        return False

    def type(self, text):
        self.output += text + "\n"
        os.write(self.fd, text.encode() + b"\n")

    def press(self, key):
        """^C or ^D, as a terminal would do it."""
        if key == "^C":
            self.output += "^C\n"
        os.write(self.fd, {"^C": b"\x03", "^D": b"\x04"}[key])

    def take(self):
        text, self.taken = self.output[self.taken :], len(self.output)
        return text

    def end(self):
        """Ends the program with everything that it started in its group."""
        for number, patience in ((signal.SIGTERM, 2.0), (signal.SIGKILL, 2.0)):
            if self._ended():
                break
            try:
                os.killpg(self.pid, number)
            except ProcessLookupError:
                pass
            self.wait(patience, self._ended)
        try:
            os.killpg(self.pid, signal.SIGKILL)  # children that outlived their leader
        except (ProcessLookupError, PermissionError):
            pass
        if self.fd is not None:
            os.close(self.fd)
            self.fd = None


class Terminal:
    def __init__(self):
        self.program = None  # in the foreground
        self.jobs = []  # started with ` &`


class Page:
    """Runs the blocks of one page in order; terminals live as long as the page."""

    def __init__(self, path, number, build):
        self.path, self.number, self.build = path, number, build
        self.ports = Ports()
        self.terminals = {}
        self.programs = []
        self.fresh = None  # the directory of a page that has its own

    def run(self):
        """The text of the page with the output lines as they are now."""
        text = self.path.read_text(encoding="utf-8")
        if self.number == "deployment":
            self.fresh = pathlib.Path(tempfile.mkdtemp(prefix="turtle-page-"))
            shutil.copytree(self.path.parent / "deployment", self.fresh, dirs_exist_ok=True)
        try:
            return BLOCK.sub(lambda match: self._run_block(match, text), text)
        finally:
            for program in reversed(self.programs):
                program.end()
            if self.fresh:
                shutil.rmtree(self.fresh, ignore_errors=True)

    def _run_block(self, match, text):
        line = text.count("\n", 0, match.start()) + 1
        try:
            body = self._run_body(
                parse_options(match["options"]), parse_script(match["script"] or ""), match["body"]
            )
        except TranscriptError as error:
            raise TranscriptError(f"{shown_path(self.path)}:{line}: {error}") from None
        head = match.group()[: match.start("body") - match.start()]
        return head + body + "```"

    def _run_body(self, options, script, body):
        steps, rules = script
        terminal = self.terminals.setdefault(options.get("terminal", "1"), Terminal())
        directory = self._directory(options)
        commands = commands_of(body)
        shown = []
        for index, command in enumerate(commands):
            last = index == len(commands) - 1
            shown.append("".join(f"{part}\n" for part in command.splitlines()))
            output = self._run_command(
                terminal, command[2:], directory, options if last else {**options, "stays": None, "hangs": None},
                steps if last else [],
            )
            shown.append(self._normalise(output, rules))
        if not commands:
            if terminal.program is None:
                raise TranscriptError("a block without a command needs a program that stays")
            output = self._go_on(terminal.program, options, steps, stays=True)
            shown.append(self._normalise(output, rules))
        return "".join(shown)

    def _directory(self, options):
        if options.get("dir") == "root":
            return ROOT
        if "dir" in options:
            raise TranscriptError(f"dir={options['dir']}: only dir=root is known")
        if self.fresh:
            return self.fresh
        number = options.get("chapter", self.number)
        for directory in (self.build / number, self.build / f"ch{number}"):
            if directory.is_dir():
                return directory
        raise TranscriptError(f"{self.build / number} is not there; build the chapter first")

    def _run_command(self, terminal, command, directory, options, steps):
        if command.strip() == "kill $!":
            return self._kill_last_job(terminal)
        if terminal.program is not None and not terminal.program.ended():
            raise TranscriptError(
                f"`{command}`: `{terminal.program.command}` still runs in this terminal"
            )
        background = command.rstrip().endswith(" &")
        real = self.ports.to_real(command.rstrip().removesuffix(" &") if background else command)
        if directory == ROOT:
            real = re.sub(r"(?<![\w./-])build/(?=\d\d\b|final\b)", f"{self.build}/", real)
        program = Program(real, directory, self.build / "final" if self.fresh else None)
        self.programs.append(program)
        if background:
            terminal.jobs.append(program)
        else:
            terminal.program = program
        return self._go_on(program, options, steps, stays=background or bool(options.get("stays")))

    def _go_on(self, program, options, steps, stays):
        limit = float(options.get("timeout") or COMMAND_SECONDS)
        seen = program.taken
        if options.get("hangs"):
            # The steps come first: what is typed is typed into a program that doesn't answer.
            for step in steps:
                self._step(program, step, limit, seen)
            program.wait(HANG_SECONDS, program.ended)
            if program.ended():
                raise TranscriptError(f"`{program.command}` should hang, but has ended:\n{program.output}")
            return program.take()
        for step in steps:
            seen = self._step(program, step, limit, seen)
        if stays:
            if not steps and not program.wait(limit, lambda: "\n" in program.output[program.taken :]):
                raise TranscriptError(f"`{program.command}` prints nothing within {limit:g} s")
            if steps and steps[-1][0] == ">":
                program.read_until_quiet(QUIET_SECONDS)
        elif not program.wait(limit, program.ended):
            raise TranscriptError(
                f"`{program.command}` has not ended within {limit:g} s (stays or hangs?); it printed:\n"
                f"{program.output}"
            )
        if program.ended():
            interrupted = ("^", "C") in steps and program.status == 128 + signal.SIGINT
            if not interrupted:
                self._check_status(program, options)
        return program.take()

    def _check_status(self, program, options):
        expected = options.get("status", "0")
        if expected != "any" and str(program.status) != expected:
            raise TranscriptError(
                f"`{program.command}` ended with status {program.status}, not {expected}; it printed:\n"
                f"{program.output}"
            )

    def _step(self, program, step, limit, seen):
        """One line of the script. Returns from where the next `<` looks at the output."""
        kind, text = step
        if kind == ">":
            program.read_until_quiet(0.1)
            if program.fd is None:
                raise TranscriptError(f"`{program.command}` has ended; nobody reads `{text}`")
            program.type(self.ports.to_real(text))
            return len(program.output)
        if kind == "^":
            program.press("^" + text)
            return len(program.output)
        pattern = re.compile(self.ports.to_real(text))
        if not program.wait(limit, lambda: pattern.search(program.output, seen)) or not pattern.search(
            program.output, seen
        ):
            raise TranscriptError(
                f"`{program.command}`: no `{text}` within {limit:g} s; it printed:\n{program.output}"
            )
        program.wait(1.0, lambda: program.output.endswith("\n"))  # the rest of that line
        return pattern.search(program.output, seen).end()

    def _kill_last_job(self, terminal):
        if not terminal.jobs:
            raise TranscriptError("kill $!: nothing was started in the background of this terminal")
        program = terminal.jobs[-1]
        if not program.ended():
            os.kill(program.pid, signal.SIGTERM)
        if not program.wait(COMMAND_SECONDS, program.ended):
            raise TranscriptError(f"`{program.command}` does not end on SIGTERM")
        return program.take()

    def _normalise(self, text, rules):
        if text and not text.endswith("\n"):
            text += "\n"
        if self.fresh:
            text = renamed(text, self.fresh, "~")
        text = renamed(renamed(text, self.build, "build"), ROOT, "~/turtle")
        text = self.ports.to_shown(text)
        for pattern, replacement in EVERYWHERE + rules:
            text = pattern.sub(replacement, text)
        if "```" in text:
            raise TranscriptError("the output contains ```, which would end the block")
        return "".join(line.rstrip() + "\n" for line in text.splitlines())


def renamed(text, folder, name):
    """The text with `name` in place of the folder's path; a path that only holds the same words stays as it is."""
    return re.sub(rf"(?<![\w.~/-]){re.escape(str(folder))}(?![\w-])", name, text)


def parse_options(text):
    options = {}
    for word in text.split():
        key, _, value = word.partition("=")
        if key not in OPTIONS:
            raise TranscriptError(f"unknown option `{word}` (known: {', '.join(sorted(OPTIONS))})")
        options[key] = value or "yes"
    return options


def parse_script(text):
    steps, rules = [], []
    for line in filter(None, (line.strip() for line in text.splitlines())):
        if line.startswith(("> ", "< ")):
            steps.append((line[0], line[2:]))
        elif line in (">", "^C", "^D"):
            steps.append((line[0], line[1:]))
        elif re.fullmatch(r"s(.).+\1.*\1", line):
            pattern, replacement = line[2:-1].split(line[1], 1)
            try:
                rules.append((re.compile(pattern, re.MULTILINE), replacement))
            except re.error as error:
                raise TranscriptError(f"`{line}`: {error}") from None
        else:
            raise TranscriptError(f"`{line}` is no `> type`, `< wait for`, `^C`, `^D` or `s/…/…/`")
    return steps, rules


def commands_of(body):
    """The `$ ` lines, each with the lines that its backslashes continue it on."""
    commands, lines = [], iter(body.splitlines())
    for line in lines:
        if line.startswith("$ "):
            while line.endswith("\\"):
                line += "\n" + next(lines, "")
            commands.append(line)
    return commands


def shown_path(path):
    try:
        return path.relative_to(ROOT)
    except ValueError:
        return path


def find_pages(root, numbers):
    pages = {path.parent.name[:2]: path for path in sorted(root.glob("chapters/[0-9][0-9]-*/README.md"))}
    for name, page in (("cookbook", COOKBOOK), ("deployment", DEPLOYMENT)):
        if (root / page).is_file():
            pages[name] = root / page
    unknown = [number for number in numbers if number not in pages]
    if unknown:
        raise TranscriptError(f"no page for chapter {', '.join(unknown)}")
    return {number: path for number, path in pages.items() if not numbers or number in numbers}


def list_pages(pages):
    total_run = total_shown = 0
    for number, path in pages.items():
        text = path.read_text(encoding="utf-8")
        run = len(BLOCK.findall(text))
        shown = len(CONSOLE.findall(text)) - run
        total_run, total_shown = total_run + run, total_shown + shown
        print(f"{number}  {run:3} run  {shown:3} only shown  {shown_path(path)}")
    print(f"    {total_run:3} run  {total_shown:3} only shown")


def main(arguments=None):
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("action", choices=["check", "update", "list"])
    parser.add_argument("chapter", nargs="*", help="two digits, cookbook or deployment; none: all")
    parser.add_argument("--build", type=pathlib.Path, default=ROOT / "build", help="holds NN/ (default: build)")
    parser.add_argument("--root", type=pathlib.Path, default=ROOT, help=argparse.SUPPRESS)
    options = parser.parse_args(arguments)
    try:
        pages = find_pages(options.root, options.chapter)
    except TranscriptError as error:
        print(error, file=sys.stderr)
        return 1
    if options.action == "list":
        list_pages(pages)
        return 0
    failed = False
    for number, path in pages.items():
        before = path.read_text(encoding="utf-8")
        try:
            after = Page(path, number, options.build.resolve()).run()
        except TranscriptError as error:
            print(error, file=sys.stderr)
            failed = True
            continue
        if options.action == "update":
            if after != before:
                path.write_text(after, encoding="utf-8")
            print(f"{number}  {'updated' if after != before else 'unchanged'}")
        elif after != before:
            name = str(shown_path(path))
            sys.stdout.writelines(
                difflib.unified_diff(
                    before.splitlines(True), after.splitlines(True), name, f"{name} (as it runs now)"
                )
            )
            failed = True
        else:
            print(f"{number}  as it runs: {len(BLOCK.findall(before))} blocks")
    if failed:
        print("tools/transcripts.py: failed", file=sys.stderr)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
