#!/usr/bin/env python3
"""Stubs of a chapter, derived from its solution, so that they can't go stale.

    tools/stubs.py write NN DIR    chapter NN's program with its work emptied;
                                   --done K: the first K stages are solved; --all: every new function
    tools/stubs.py prove NN [...]  each stage has a test that fails on the stubs, and turns its own tests green;
                                   with --new only the former
    tools/stubs.py show NN         which function is treated how, by stage, and how much work it is
    tools/stubs.py check [NN ...]  is the work what the book allows, and is it on the page?

The functions that a chapter's reader writes are listed in `chapters/NN-name/work.txt`, by stages, which the head
of tools/work.py explains. Everything else is given, complete. With --all the reader writes every new function,
except constexpr functions, functions whose return type is deduced from their body, one-line functions of
headers, and those that work.txt lists as given.

A new function gets a body that compiles and a comment that says what it has to do. A changed one keeps the
body of the chapter before. A constructor's initialiser list is always complete.

The compiler decides whether a body compiles. An earlier body that does not fit the new header is emptied,
and where a type can't be made from `{}`, the stub throws.

The proof: on the stubs each stage has a test that fails by an assertion, and tests that no stage names pass,
those of earlier chapters among them. With the solution of the stages up to K, the tests of these are green,
and stage K+1 still has one that fails by an assertion.
"""

from __future__ import annotations

import argparse
import concurrent.futures
import dataclasses
import enum
import os
import pathlib
import re
import shutil
import subprocess
import sys
import textwrap
from collections.abc import Sequence

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))

import cpp_functions  # noqa: E402
import work  # noqa: E402
from learn import chapters, gtests, setup  # noqa: E402
from work import StubError  # noqa: E402

ROOT = chapters.ROOT
WIDTH = 100
SOURCE = (".cpp", ".cc")
HEADER = (".h", ".hpp")


class Treatment(enum.Enum):
    EARLIER = "keeps the body of the chapter before"
    EMPTIED = "emptied"
    THROWS = "emptied, throws"  # its return type can't be made from {}, or is no use when empty


# Each turn of the screw that makes a body compile after all.
NEXT_TREATMENT = {Treatment.EARLIER: Treatment.EMPTIED, Treatment.EMPTIED: Treatment.THROWS}


@dataclasses.dataclass(frozen=True)
class Stub:
    path: str
    function: cpp_functions.Function  # as it stands in the solution
    treatment: Treatment
    stage: int = 0  # in which it is to be written; 0: all functions are, without stages


class Deriver:
    """Makes the stubs of one chapter from its sources and those of the chapter before.

    What the first `done` stages ask for is complete. With `everything`, all new functions are stubs, without stages.
    """

    def __init__(self, chapter: chapters.Chapter, root: pathlib.Path = ROOT, everything: bool = False) -> None:
        self.chapter = chapter
        self.work = work.read(chapter, root)
        self.everything = everything
        self.done = 0
        self.files = chapters.layered(chapter.number, root)
        previous = chapters.before(chapter, root)
        self.earlier_files = chapters.layered(previous.number, root) if previous else {}
        self.forced: dict[tuple[str, str], Treatment] = {}  # (path, key), set by the compiler
        self.changed = {
            path: file.read_text(encoding="utf-8")
            for path, file in chapter.files().items()
            if path.startswith("src/") and path.endswith(SOURCE + HEADER)
        }
        self._read_headers()
        self._read_earlier()

    def _read_headers(self) -> None:
        """The comments of all declarations, and the classes that {} can't make."""
        self.comments: dict[str, list[tuple[str, cpp_functions.Function, str]]] = {}
        declared: list[cpp_functions.Function] = []
        for path, file in self.files.items():
            if path.startswith("src/") and path.endswith(HEADER):
                text = file.read_text(encoding="utf-8")
                for function in cpp_functions.functions(text):
                    declared.append(function)
                    comment = cpp_functions.comment_above(text, function.start)
                    comment = comment or cpp_functions.comment_behind(text, function.end)
                    if comment:
                        header = path.removeprefix("src/")
                        self.comments.setdefault(function.name, []).append((header, function, comment))
        self.needy = cpp_functions.without_default_constructor(declared)

    def _read_earlier(self) -> None:
        """The bodies of the chapter before: by file and, for members, wherever they were."""
        self.earlier: dict[tuple[str, str], str] = {}
        self.earlier_names: dict[str, dict[str, str]] = {}  # name -> key -> body
        for path, file in self.earlier_files.items():
            if not (path.startswith("src/") and path.endswith(SOURCE + HEADER)):
                continue
            text = file.read_text(encoding="utf-8")
            for function in cpp_functions.definitions(text):
                body = text[slice(*function.body)]
                self.earlier[path, function.key] = body
                self.earlier_names.setdefault(function.name, {})[function.key] = body
                if function.class_name:
                    self.earlier.setdefault(("", function.key), body)

    def earlier_body(self, path: str, function: cpp_functions.Function) -> str | None:
        for place in (path, ""):
            if (place, function.key) in self.earlier:
                return self.earlier[place, function.key]
        # One that has only got other parameters since: there was one of that name, and there is one.
        before = self.earlier_names.get(function.name, {})
        now = {each.key for each in cpp_functions.definitions(self.changed[path]) if each.name == function.name}
        if function.class_name and len(before) == 1 and len(now) == 1:
            return next(iter(before.values()))
        return None

    def stage_of(self, path: str, function: cpp_functions.Function) -> int:
        return 0 if self.everything else self.work.stage_of(path, function.name)

    def treatment(self, path: str, function: cpp_functions.Function, body: str) -> Treatment | None:
        """None: it stays as it is in the solution."""
        if is_for_another_system(self.changed[path]):
            return None
        how = self.work.how(path, function.name)
        asked = how in ("throw", "empty")
        if self.everything:
            is_given = bool(self.work.given & {(path, ""), (path, function.name)})
            if is_given or not (asked or self._can_be_emptied(path, function, body)):
                return None
        elif self.stage_of(path, function) <= self.done:
            return None
        elif self._is_fixed(function):
            raise StubError(f"{work.FILE} of chapter {self.chapter.number}: {path} {function.name} can't be a stub")
        earlier = self.earlier_body(path, function)
        if earlier is not None and cpp_functions.normalised(earlier) == cpp_functions.normalised(body):
            return None
        if (path, function.key) in self.forced:
            return self.forced[path, function.key]
        if earlier is not None and not asked:
            return Treatment.EARLIER
        return Treatment.THROWS if how == "throw" or self._needs_throw(function) else Treatment.EMPTIED

    def _can_be_emptied(self, path: str, function: cpp_functions.Function, body: str) -> bool:
        if self._is_fixed(function):
            return False
        if not re.search(r"\w", cpp_functions.mask(body)):
            return False  # an empty body has nothing to be written
        return "\n" in body or not path.endswith(HEADER)

    @staticmethod
    def _is_fixed(function: cpp_functions.Function) -> bool:
        """Whether it can't do without its body. "try": around an initialiser list, which has to stay."""
        deduced = function.returns in ("auto", "decltype(auto)", "auto&", "const auto&", "auto&&")
        return deduced or bool(function.specifiers & {"constexpr", "consteval", "try"})

    def _needs_throw(self, function: cpp_functions.Function) -> bool:
        returns = function.returns
        if "noreturn" in function.specifiers:
            return True
        if returns.endswith("&"):
            return not self._returns_itself(function)
        if returns.endswith("*") or re.match(r"std::(unique|shared)_ptr<", returns):
            return "noexcept" not in function.specifiers  # whoever asked for an object would crash
        return returns.split("::")[-1].removeprefix("const ") in self.needy

    @staticmethod
    def _returns_itself(function: cpp_functions.Function) -> bool:
        returns = function.returns.removesuffix("&").strip()
        if "static" in function.specifiers:
            return False  # it has no object of its own to return
        return bool(function.class_name) and returns == function.class_name and function.returns != "&&"

    def body(self, path: str, text: str, function: cpp_functions.Function, treatment: Treatment) -> str:
        """The new text from "{" to "}"."""
        line_start = text.rfind("\n", 0, function.start) + 1
        indent = re.match(r"[ \t]*", text[line_start:])[0] + "  "
        what = cpp_functions.first_sentence(self.comment(path, text, function))
        mark = self.mark(self.stage_of(path, function))
        if treatment is Treatment.EARLIER:
            note = f"{mark}: as it was in the chapter before; change it. {what}"
        else:
            if what[:1].islower():  # a few words behind the declaration
                what = f"write {function.name}(): {what}"
            note = f"{mark}: {what or f'write {function.name}().'}"
        lines = textwrap.wrap(
            note.strip(), WIDTH - len(indent) - 3, break_long_words=False, break_on_hyphens=False
        )
        comment = "".join(f"{indent}// {line}\n" for line in lines)
        if treatment is Treatment.EARLIER:
            earlier = self.earlier_body(path, function)
            if earlier.startswith("try"):
                return earlier.replace("{", "{\n" + comment.rstrip("\n"), 1)
            inside = earlier[1:-1].strip("\n")
            if "\n" not in inside.strip():
                inside = indent + inside.strip()
            return "{\n" + comment + inside.rstrip() + "\n" + indent[:-2] + "}"
        statement = self._statement(function, treatment, mark)
        return "{\n" + comment + (f"{indent}{statement}\n" if statement else "") + indent[:-2] + "}"

    def mark(self, stage: int) -> str:
        return f"TODO({self.chapter.number}, stage {stage})" if stage else f"TODO({self.chapter.number})"

    def _statement(self, function: cpp_functions.Function, treatment: Treatment, mark: str) -> str:
        if treatment is Treatment.THROWS:
            return f'throw std::logic_error("{mark}: {function.name}");'
        returns = function.returns
        if function.kind in (cpp_functions.Kind.CONSTRUCTOR, cpp_functions.Kind.DESTRUCTOR):
            return ""
        if returns == "void" or not returns:
            return ""
        if self._returns_itself(function):
            return "return *this;"
        if returns == "bool":
            return "return false;"
        if re.fullmatch(r"(unsigned |signed )?(int|long|short|char)|(std::)?u?(size|int\d+)_t", returns):
            return "return 0;"
        return "return nullptr;" if returns.endswith("*") else "return {};"

    def comment(self, path: str, text: str, function: cpp_functions.Function) -> str:
        """What the header says of the function; "" when its definition carries its own comment."""
        declared = [
            (other, comment)
            for header, other, comment in self.comments.get(function.name, [])
            # One of a file's own may have the name of a function that the file doesn't know.
            if function.class_name or path == f"src/{header}" or f'#include "{header}"' in text
        ]
        for other, comment in declared:
            if other.key == function.key:
                return comment
        if cpp_functions.comment_above(text, function.start) or len(declared) != 1:
            return ""  # the comment above the definition is still there
        return declared[0][1]

    def derive(self, path: str) -> tuple[str, list[Stub]]:
        """The stubbed text of a file that the chapter adds or changes."""
        text = self.changed[path]
        stubs = []
        pieces: list[tuple[int, int, str]] = []
        for function in cpp_functions.definitions(text):
            begin, end = function.body
            treatment = self.treatment(path, function, text[begin:end])
            if treatment:
                stubs.append(Stub(path, function, treatment, self.stage_of(path, function)))
                pieces.append((begin, end, self.body(path, text, function, treatment)))
        for begin, end, body in reversed(pieces):
            text = text[:begin] + body + text[end:]
        if any(stub.treatment is Treatment.THROWS for stub in stubs):
            text = with_include(text, "<stdexcept>")
        return text, stubs


def is_for_another_system(text: str) -> bool:
    """True for a source whose one guard around everything keeps it away from this machine."""
    directives = re.findall(r"^#\s*(if|ifdef|ifndef|else|elif|endif)\b(.*)$", text, re.MULTILINE)
    depth = 0
    for index, (word, _) in enumerate(directives):
        depth += (word in ("if", "ifdef", "ifndef")) - (word == "endif")
        is_last = index == len(directives) - 1
        if (depth == 0 and not is_last) or (depth == 1 and word in ("else", "elif")):
            return False  # the guard is only around a part
    if not directives:
        return False
    word, condition = directives[0]
    negated = word == "ifndef" or "!" in condition
    systems = set(re.findall(r"__(linux|APPLE|FreeBSD)__", condition))
    here = {"linux": "linux", "darwin": "APPLE"}.get(sys.platform, "FreeBSD")
    return bool(systems) and (here in systems) == negated


def with_include(text: str, header: str) -> str:
    """The text with one more #include <...>, sorted in among those of the standard library."""
    line = f"#include {header}"
    if re.search(rf"^{re.escape(line)}$", text, re.MULTILINE):
        return text
    there = list(re.finditer(r"^#include <[a-z_]+>$", text, re.MULTILINE))
    for match in there:
        if match[0] > line:
            return text[: match.start()] + line + "\n" + text[match.start() :]
    if there:
        at = there[-1].end()
        return text[:at] + "\n" + line + text[at:]
    first = re.search(r"^#(include|pragma once).*$", text, re.MULTILINE)  # a later one may be conditional
    at = first.end() if first else 0
    return text[:at] + ("\n\n" if at else "") + line + ("" if at else "\n") + text[at:]


# --- writing -------------------------------------------------------------------------------------


def assemble(number: str, target: pathlib.Path) -> None:
    tool = ROOT / "tools" / "chapters.py"
    done = subprocess.run(
        [sys.executable, str(tool), "assemble", number, str(target)], capture_output=True, text=True
    )
    if done.returncode != 0:
        raise StubError(done.stderr.strip() or done.stdout.strip() or f"{tool} assemble failed")


def compiler() -> str | None:
    for name in filter(None, (os.environ.get("CXX"), "c++", "g++", "clang++")):
        if shutil.which(name.split()[0]):
            return name
    return None


def compile_errors(file: pathlib.Path, include: pathlib.Path, cxx: str) -> list[int]:
    """The lines of `file` that the compiler finds fault with."""
    # An earlier body may have had nothing to return: to run off its end is no crash worth seeing.
    flags = ["-std=c++17", "-fsyntax-only", "-Werror=return-type", f"-I{include}"]
    command = [*cxx.split(), *flags, "-x", "c++", str(file)]
    done = subprocess.run(command, capture_output=True, text=True, env={**os.environ, "LC_ALL": "C"})
    if done.returncode == 0:
        return []
    found = re.findall(rf"^{re.escape(str(file))}:(\d+):\d+: (?:fatal )?error", done.stderr, re.MULTILINE)
    return [int(line) for line in found] or [0]


def mend(deriver: Deriver, target: pathlib.Path, path: str) -> list[Stub]:
    """Writes the stubs of one file, and empties further what does not compile."""
    cxx = compiler()
    while True:
        text, stubs = deriver.derive(path)
        file = target / path
        file.write_text(text, encoding="utf-8")
        if not stubs or cxx is None or path.endswith(HEADER):
            return stubs
        lines = compile_errors(file, target / "src", cxx)
        culprits = set()
        for function in cpp_functions.definitions(text):
            last = text.count("\n", 0, function.end) + 1
            if any(function.line <= line <= last for line in lines):
                culprits.add(function.key)
        worse = False
        for stub in stubs:
            harder = NEXT_TREATMENT.get(stub.treatment)
            if stub.function.key in culprits and harder:
                deriver.forced[path, stub.function.key] = harder
                worse = True
        if not worse:
            return stubs  # it compiles, or the build will say what is wrong


def write(
    number: str, target: pathlib.Path, root: pathlib.Path = ROOT, done: int = 0, everything: bool = False
) -> list[Stub]:
    """Chapter `number`'s program in the new folder `target`, emptied of its work but for the first `done` stages.

    With `everything`, of all its new functions, whatever its stages."""
    return lay(Deriver(chapters.find(number, root), root, everything), target, done)


def lay(deriver: Deriver, target: pathlib.Path, done: int = 0) -> list[Stub]:
    deriver.done = done
    assemble(deriver.chapter.number, target)
    headers = sorted(path for path in deriver.changed if path.endswith(HEADER))
    sources = sorted(set(deriver.changed).difference(headers))
    # Headers first, and never again: the sources are tried against them, several at a time.
    stubs = [stub for path in headers for stub in mend(deriver, target, path)]
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        found = pool.map(lambda path: mend(deriver, target, path), sources)
        return sorted([*stubs, *(stub for each in found for stub in each)], key=lambda stub: (stub.stage, stub.path))


# --- proving -------------------------------------------------------------------------------------

# Empty functions don't use their parameters, and nobody calls the helpers of an empty function.
QUIET = (
    "-Wno-unused-parameter -Wno-unused-function -Wno-unused-variable -Wno-unused-const-variable"
    " -Wno-unused-but-set-variable"
)


def build(
    source: pathlib.Path,
    folder: pathlib.Path,
    log: pathlib.Path | None = None,
    quiet: bool = False,
    targets: Sequence[str] = (),
    options: Sequence[str] = (),
    is_shown: bool = False,
) -> None:
    """Configures and builds, everything or some targets; a StubError with the compiler's words. How far it is
    can be shown on the terminal, in one line."""
    configure = ["cmake", "-S", str(source), "-B", str(folder), *options]
    if quiet:
        configure.append(f"-DCMAKE_CXX_FLAGS={QUIET}")
    if not (folder / "CMakeCache.txt").is_file() and shutil.which("ninja"):
        configure += ["-G", "Ninja"]
    make = ["cmake", "--build", str(folder), "--parallel", str(os.cpu_count())]
    if targets:
        make += ["--target", *targets]
    output = ""
    for command in (configure, make):
        status, said = follow(command, is_shown)
        output += said
        if log:
            log.write_text(output, encoding="utf-8")
        if status != 0:
            words = re.compile(r"error: |^CMake Error|undefined reference")
            errors = [line for line in said.splitlines() if words.search(line)]
            shown = "\n".join(errors[:10] or said.splitlines()[-20:])
            raise StubError(f"it does not build:\n{shown}")


def follow(command: Sequence[str], is_shown: bool) -> tuple[int, str]:
    """Exit status and output of a build; meanwhile "12/34" of its steps, if it is to be shown."""
    said = []
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace") as process:
        for line in process.stdout or ():
            said.append(line)
            step = re.match(r"\[ *(\d+/\d+|\d+%)\]", line)
            if step and is_shown:
                print(f"\r  {step[1]}  ", end="", flush=True)
    if is_shown:
        print("\r" + " " * 20 + "\r", end="", flush=True)
    return process.returncode, "".join(said)


def test_programs(files: dict[str, pathlib.Path]) -> dict[str, str]:
    """Test file -> name of its program."""
    return {
        path: pathlib.PurePosixPath(path).stem
        for path in sorted(files)
        if path.startswith("tests/") and path.endswith("_test.cpp")
    }


class Proof:
    """Shows that each stage of a chapter has tests that fail without it and pass with it and those before."""

    def __init__(self, chapter: chapters.Chapter, folder: pathlib.Path, root: pathlib.Path = ROOT) -> None:
        self.chapter, self.folder = chapter, folder
        self.deriver = Deriver(chapter, root)
        self.work = self.deriver.work
        self.files = self.deriver.files
        self.programs = test_programs(self.files)
        previous = chapters.before(chapter, root)
        self.felt = f"tests/next/{previous.number}_" if previous else "no file"
        self.emptied = self.earlier_bodies = 0
        self.lines: list[str] = []
        self.faults: list[str] = []

    def prove(self, new_only: bool) -> None:
        """Builds the stubs, and the program after each stage, and runs their tests. With `new_only`, only the
        stubs and the tests of this chapter."""
        try:
            self.prove_stubs(new_only)
            for done in () if new_only else range(1, len(self.work.stages) + 1):
                self.prove_stage(done)
        except StubError as error:
            self.faults.append(str(error))

    def build(self, done: int, wanted: Sequence[str] | None) -> list[Stub]:
        """The program with the first stages solved, and these tests; None: everything."""
        fresh = self.folder / "fresh"
        shutil.rmtree(fresh, ignore_errors=True)
        self.folder.mkdir(parents=True, exist_ok=True)
        stubs = lay(self.deriver, fresh, done)
        update_tree(fresh, self.folder / "tree")
        programs = sorted({self.programs[path] for path in wanted or ()})
        targets = [] if wanted is None else [*["all_examples"] * (done == 0), *programs]
        build(self.folder / "tree", self.folder, targets=targets, options=[setup.PRECOMPILE])
        return stubs

    def run(self, asked: Sequence[tuple[work.Tests, bool]]) -> list[list[gtests.Result]]:
        """The results of several tests; of those that are to fail, the first failure is enough."""

        def one(each: tuple[work.Tests, bool]) -> list[gtests.Result]:
            tests, fails = each
            return gtests.run_program(
                self.folder / "tests" / self.programs[tests.path],
                self.folder,
                seconds=15.0 if fails else 60.0,  # a test that waits in vain gives up after 10 s
                seconds_per_test=20.0,
                stop_at_first_failure=fails,
                chosen=tests.filter,
            )

        with concurrent.futures.ThreadPoolExecutor(4 * (os.cpu_count() or 1)) as pool:  # most of them wait
            return list(pool.map(one, asked))

    def prove_stubs(self, new_only: bool) -> None:
        """Without any solution: each stage has a test that fails, and what no stage names passes."""
        new = {path for path in self.chapter.files() if path in self.programs and not self.is_of_the_next(path)}
        given = [self.work.unnamed(path, work.tests_in(self.files[path])) for path in sorted(new)]
        passing = [tests for tests in given if tests]
        named = {tests.path for stage in self.work.stages for tests in stage.tests}
        if new_only:
            stubs = self.build(0, [*named, *(tests.path for tests in passing)])
        else:
            passing += [work.Tests(path) for path in self.programs if self.is_earlier(path, new | named)]
            stubs = self.build(0, None)
        self.earlier_bodies = sum(stub.treatment is Treatment.EARLIER for stub in stubs)
        self.emptied = len(stubs) - self.earlier_bodies

        asked = [(tests, stage) for stage in self.work.stages for tests in stage.tests]
        results = self.run([*((tests, True) for tests, _ in asked), *((tests, False) for tests in passing)])
        failing = dict(zip((tests for tests, _ in asked), results))
        for stage in self.work.stages:
            self.expect_failure(stage, {tests: failing[tests] for tests in stage.tests}, "on the stubs")
        count = 0
        for tests, there in zip(passing, results[len(asked) :]):
            bad = [each for each in there if each.is_bad]
            count += len(there) - len(bad)
            new_support = {path for path in self.chapter.files() if path.startswith("tests/")}
            if bad and tests.path not in new and includes_one_of(new_support, self.files[tests.path]):
                self.lines.append(f"{tests.path}: {len(bad)} of {len(there)} fail (a new helper drives it)")
                continue
            for each in bad:
                what = "no stage names it, and it" if tests.path in new else "an earlier test,"
                self.fault(f"{tests.path}: {each.test}, {what} {each.outcome.value} on the stubs", each)
        self.lines.append(f"stubs: {count} tests of {work.count(len(passing), 'file')} that no stage names pass")

    def is_of_the_next(self, path: str) -> bool:
        """The felt problem of this chapter, which the next one solves."""
        return path.startswith(f"tests/next/{self.chapter.number}_")

    def is_earlier(self, path: str, others: set[str]) -> bool:
        """Whether a test of earlier chapters has to pass on the stubs."""
        if path in others or path in self.work.again or path.startswith(self.felt) or self.is_of_the_next(path):
            return False
        examples = {pathlib.PurePosixPath(each).stem for each in self.chapter.files() if each.startswith("examples/")}
        return not starts_one_of(examples, self.files[path], self.files)

    def prove_stage(self, done: int) -> None:
        """With the first `done` stages solved."""
        solved, following = self.work.stages[:done], self.work.stages[done : done + 1]
        wanted = [tests for stage in solved for tests in stage.tests]
        if not following:
            wanted += [work.Tests(path) for path in sorted(self.work.again)]
        failing = [tests for stage in following for tests in stage.tests]
        self.build(done, [tests.path for tests in (*wanted, *failing)])
        results = self.run([*((tests, False) for tests in wanted), *((tests, True) for tests in failing)])
        where = "with all stages" if not following else f"with the stages up to {done}" if done > 1 else "with stage 1"
        passed = 0
        for tests, there in zip(wanted, results):
            bad = [each for each in there if each.is_bad]
            passed += len(there) - len(bad)
            for each in bad:
                self.fault(f"{tests.path}: {each.test} {each.outcome.value} {where}", each)
            if not there:
                self.faults.append(f"{tests.path}: has no test to run {where}")
        self.lines.append(f"{where}: {passed} tests pass")
        for stage in following:
            self.expect_failure(stage, dict(zip(failing, results[len(wanted) :])), where)

    def expect_failure(self, stage: work.Stage, failing: dict[work.Tests, list[gtests.Result]], where: str) -> None:
        asserted = False
        for tests, there in failing.items():
            bad = [each for each in there if each.is_bad]
            asserted |= any(each.outcome is gtests.Outcome.FAILED for each in bad) or tests.path in self.work.crash
            if not bad:
                self.faults.append(f"{tests.path}: passes {where}, so it does not need stage {stage.number}")
        if failing and not asserted:
            worst = ", ".join(
                f"{each.test} {each.outcome.value}" for there in failing.values() for each in there if each.is_bad
            )
            self.faults.append(f"stage {stage.number}: no test fails by an assertion {where} ({worst or 'all pass'})")

    def fault(self, words: str, result: gtests.Result) -> None:
        message = result.message.strip().splitlines()
        self.faults.append(words + (f": {message[0]}" if message else ""))


def starts_one_of(examples: set[str], test: pathlib.Path, files: dict[str, pathlib.Path]) -> bool:
    """Whether a test names one of the programs, itself or by a header of tests/support."""
    text = test.read_text(encoding="utf-8")
    for header in re.findall(r'#include "(support/[^"]+)"', text):
        if f"tests/{header}" in files:
            text += files[f"tests/{header}"].read_text(encoding="utf-8")
    return any(f'"{name}"' in text for name in examples)


def includes_one_of(new: set[str], test: pathlib.Path) -> bool:
    """Whether a test includes a header of tests/support that the chapter brings or changes."""
    included = re.findall(r'#include "(support/[^"]+)"', test.read_text(encoding="utf-8"))
    return any(f"tests/{header}" in new for header in included)


def update_tree(fresh: pathlib.Path, tree: pathlib.Path) -> None:
    """Makes `tree` equal to `fresh`; files that are the same keep their time, for a short rebuild."""
    tree.mkdir(exist_ok=True)
    wanted = {path.relative_to(fresh) for path in fresh.rglob("*") if path.is_file()}
    for path in [path for path in tree.rglob("*") if path.is_file() or path.is_symlink()]:
        if path.relative_to(tree) not in wanted:
            path.unlink()
    for name in wanted:
        source, target = fresh / name, tree / name
        if not target.is_file() or target.read_bytes() != source.read_bytes():
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(source, target)
    shutil.rmtree(fresh)


# --- command line --------------------------------------------------------------------------------


def show(chapter: chapters.Chapter) -> None:
    """Each function by stage, the tests, and how much work that is."""
    deriver = Deriver(chapter)
    stubs = [stub for path in sorted(deriver.changed) for stub in deriver.derive(path)[1]]
    told = deriver.work
    pieces, printed = work.pieces(chapter, told), work.printed(chapter)
    for stage in told.stages:
        print(f"{stage.heading} ({work.amount((each for each in pieces if each.stage == stage.number), printed)})")
        for stub in stubs:
            if stub.stage == stage.number:
                function = stub.function
                print(f"    {stub.path}:{function.line}: {function.key}: {stub.treatment.value}")
        for tests in stage.tests:
            only = f" {' '.join(tests.only)}" if tests.only else ", but not those of other stages" * bool(tests.but)
            print(f"    {tests.path}{only}")
    whole = work.amount(pieces, printed)
    print(f"In all {work.count(len(told.stages), 'stage')}: {whole} on the page, {whole.share} %")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    commands = parser.add_subparsers(dest="command", required=True)
    writing = commands.add_parser("write", help="write chapter NN's stubs into a new folder")
    writing.add_argument("number", metavar="NN")
    writing.add_argument("folder", metavar="DIR", type=pathlib.Path)
    writing.add_argument("--done", metavar="K", type=int, default=0, help="with the first K stages solved")
    writing.add_argument("--all", action="store_true", help="every new function is a stub")
    showing = commands.add_parser("show", help="list which function is treated how")
    showing.add_argument("number", metavar="NN")
    checking = commands.add_parser("check", help="is the work what the book allows, and is it on the page?")
    checking.add_argument("numbers", metavar="NN", nargs="*", help="default: every chapter")
    proving = commands.add_parser("prove", help="build the stubs and run all tests on them")
    proving.add_argument("--new", action="store_true", help="only the tests that have to fail")
    proving.add_argument("numbers", metavar="NN", nargs="*", help="default: every chapter")
    proving.add_argument("--build", type=pathlib.Path, default=ROOT / "build" / "stubs")
    arguments = parser.parse_args()
    try:
        if arguments.command == "write":
            stubs = write(arguments.number, arguments.folder, done=arguments.done, everything=arguments.all)
            print(f"{arguments.folder}: {len(stubs)} functions to write")
            return 0
        if arguments.command == "show":
            show(chapters.find(arguments.number))
            return 0
        chosen = [chapters.find(number) for number in arguments.numbers] or chapters.all_chapters()
        if arguments.command == "check":
            found = [fault for chapter in chosen for fault in work.faults(chapter)]
            print("\n".join(found) or f"{work.count(len(chosen), 'chapter')}: all is well")
            return 1 if found else 0
        failed = False
        for chapter in chosen:
            proof = Proof(chapter, arguments.build.resolve() / chapter.number)
            proof.prove(arguments.new)
            failed = failed or bool(proof.faults)
            print(
                f"{chapter.number}: {'FAILED' if proof.faults else 'ok'}: {proof.emptied} functions emptied, "
                f"{proof.earlier_bodies} keep their earlier body"
            )
            for line in proof.lines:
                print(f"    {line}")
            for fault in proof.faults:
                print(textwrap.indent(f"fault: {fault}", "    "))
            sys.stdout.flush()
        return 1 if failed else 0
    except (StubError, LookupError) as error:
        print(f"stubs.py: {error}", file=sys.stderr)
        return 1


if __name__ == "__main__":
    sys.exit(main())
