"""./learn test: builds and tests everything, or some chapters.

What there is to do is read off the tree (which chapters, which test folders, whether the program
exists yet), never off what happened to be built. With CI=true slow proofs are added: sanitizers,
coverage and fuzzers on `final`, clang-tidy, assembled copies, stubs, exercises. What has passed on this
machine and has not changed since is not done again (proofs.py).
"""

from __future__ import annotations

import pathlib
import shutil
import subprocess
import sys
import types
from collections.abc import Mapping, Sequence

import stubs
from learn import chapters, coverage, fuzz, io_uring, machine, programs, proofs, serve, setup
from learn.chapters import ROOT, Chapter
from learn.errors import LearnError
from learn.steps import Command, Failed, Runner, count_ctest, count_pytest

BUILD = setup.BUILD
TESTED = BUILD / "test"  # the chapters as a run of everything builds them; build/NN is the reader's
FINAL = ROOT / "final"
TOOLS = ROOT / "tools"
CHAPTERS_TOOL = [sys.executable, ROOT / "tools" / "chapters.py"]
PORTABLE_REQUIREMENTS = TOOLS / "portable-requirements.txt"
PACKAGES = "set up: packages"
PYTHON = "set up: Python packages"

# Suites under tests/, in the order in which they run, with their time limits.
SUITES = {
    "tools": 900.0,
    "learn": 900.0,
    "install": 900.0,
    "packaging": 900.0,
    "cookbook": 900.0,
    "site": 1200.0,
    "system": 1200.0,
    "conformance": 300.0,
    "attack": 600.0,
    "websocket": 600.0,
    "cost": 600.0,
    "soak": 600.0,
    "faults": 900.0,
    "machine": 1500.0,
}

MAIN = "src/app/main.cpp"
# What a suite is about; before final has it there is nothing to test.
NEEDED_SOURCES = {
    "install": "src/core/turtle_server.h",
    "cookbook": "src/core/reuse_port.h",
    "packaging": MAIN,
    "system": MAIN,
    "conformance": MAIN,
    "attack": MAIN,
    "websocket": MAIN,
    "cost": MAIN,
    "soak": MAIN,
    "faults": MAIN,
}
# The suites that know every byte of a connection.
OVER_A_CHANNEL = ("conformance", "attack")
OVER_TLS = (*OVER_A_CHANNEL, "websocket", "soak", "faults")
TLS = "src/app/https.h"  # without it the program has none


# On two quiet cores, without what is cached.
TIME = "an hour or more"
QUICK_TIME = "about a quarter of an hour"


def test(numbers: list[str], only: str, is_ci: bool, is_quick: bool = False, again: bool = False) -> int:
    try:
        chosen = [chapters.find(number) for number in numbers]
    except LookupError as error:
        raise LearnError(f"{str(error)[0].upper()}{str(error)[1:]}.") from error
    runner = Runner(only=only, again=again)
    runner.proofs.remove_old()
    setup.environment(runner)
    if chosen:
        setup.packages(runner, (*machine.BUILD, *machine.PROGRAM, *machine.TESTS))
        for chapter in chosen:
            test_chapter(runner, chapter)
    elif is_quick:
        print(f"This takes {QUICK_TIME} on two cores; what has not changed since it passed is not done again.", flush=True)
        test_quickly(runner)
    else:
        print(
            f"This takes {TIME} on two cores; what has not changed since it passed is not done again."
            f" `./learn test --quick` takes {QUICK_TIME}, `./learn test 05` a minute.",
            flush=True,
        )
        test_everything(runner, is_ci)
    if is_ci:
        runner.try_again()
    runner.summary()
    return 0 if runner.ok() and runner.outcomes else 1


def test_everything(runner: Runner, is_ci: bool) -> None:
    setup.packages(runner, (*machine.EVERYTHING, *machine.WHOLE, *(machine.CI if is_ci else ())))
    requirements = [setup.SITE_REQUIREMENTS, *setup.test_requirements()]
    setup.python_environment(runner, [*requirements, PORTABLE_REQUIREMENTS] if is_ci else requirements)
    build_fast(runner)
    if is_ci:
        setup.packages(runner, machine.clang_runtime())

    check_sources(runner)
    with runner.beside(test_more if is_ci else test_finished):  # either side waits now and then
        for chapter in chapters.all_chapters():
            test_in_turn(runner, chapter, is_ci)
        check_pages(runner)
        if is_ci:
            prove_more(runner)
        elif FINAL.is_dir():
            test_final(runner, "gcc")
            test_on_a_ring(runner, "gcc")


def test_quickly(runner: Runner) -> None:
    """The tests of what each chapter brings; all of them on the newest; the program's system and conformance
    tests."""
    setup.packages(runner, (*machine.EVERYTHING, *machine.WHOLE))
    setup.python_environment(runner, [setup.SITE_REQUIREMENTS, *setup.test_requirements()])
    build_fast(runner)
    check_sources(runner)
    *earlier, newest = chapters.all_chapters()
    test_programs(runner, newest)
    has_program = (FINAL / MAIN).is_file()
    program = TESTED / newest.number / "turtle"

    def with_the_program(beside: Runner) -> None:
        for name in ("conformance", "system"):
            test_suite(beside, name, SUITES[name], has_program, program=program, made_by=step_name(newest))

    with runner.beside(with_the_program):
        for chapter in earlier:
            test_programs(runner, chapter, tests_of_what_is_new(chapter))


def test_finished(runner: Runner, is_ci: bool = False) -> None:
    """What a user gets: the program and the site."""
    has_program = (FINAL / MAIN).is_file()
    if has_program:
        serve.build_program(runner)
    if (ROOT / "mkdocs.yml").is_file():
        serve.build_site(runner)
    for name, seconds in SUITES.items():
        if name not in NEEDED_SOURCES or (FINAL / NEEDED_SOURCES[name]).is_file():
            test_suite(runner, name, seconds, has_program, is_ci=is_ci)
    if has_program and not io_uring.why_not():
        for name in ("system", "conformance", "attack", "websocket", "soak"):
            test_suite(runner, name, SUITES[name], has_program, RING, " on io_uring", is_ci=is_ci)
    if has_program and (FINAL / serve.ROT13_SOURCE).is_file():
        test_over_a_channel(runner, is_ci)
    if has_program and (FINAL / TLS).is_file():
        for name in OVER_TLS:
            test_suite(runner, name, SUITES[name], has_program, {"TURTLE_CHANNEL": "tls"}, " over TLS", is_ci=is_ci)


def test_over_a_channel(runner: Runner, is_ci: bool) -> None:
    """With a channel between the program and its sockets."""
    serve.build_rot13(runner)
    for name in OVER_A_CHANNEL:
        test_suite(
            runner,
            name,
            SUITES[name],
            has_program=True,
            more={"TURTLE_CHANNEL": "rot13"},
            how=" over a channel",
            is_ci=is_ci,
            program=serve.ROT13,
            made_by=serve.ROT13_BUILT,
        )


def test_newcomer(runner: Runner) -> None:
    """In one run of CI of sixteen, on a bare Debian 12 or 13."""
    if not is_turn(4, TURNS):
        return
    release = "bookworm" if is_turn(4, 2 * TURNS) else "trixie"
    test = ROOT / "tests" / "machine" / "test_newcomer.py"
    runner.step(
        f"newcomer on {release}",
        lambda: runner.run(
            [setup.python(), "-m", "pytest", "-q", "-ra", "-p", "no:cacheprovider", test],
            env={"TURTLE_NEWCOMER": release},
        ),
        needs=[PACKAGES, PYTHON],
        seconds=3300,
        count=count_pytest,
        no_skips=True,
        inputs=whole(),
        advice=f"TURTLE_NEWCOMER={release} build/venv/bin/python -m pytest {test.relative_to(ROOT)}",
    )


def test_more(runner: Runner) -> None:
    """What needs no chapter's build: the other half of CI's work."""
    test_finished(runner, is_ci=True)
    if FINAL.is_dir():
        compile_for_others(runner)
        fuzz.test(runner)
        analyse(runner)
        test_all_of_final(runner)
    test_newcomer(runner)


def build_fast(runner: Runner) -> None:
    """Nobody steps through these programs with a debugger, and linking them by GNU ld takes a quarter of the time."""
    runner.environment["CMAKE_BUILD_TYPE"] = "None"
    if shutil.which("mold"):
        # In pages of its own, because mold 1.10 lays out wrongly what follows code that ends just before a page does:
        # the program does not start ("cannot apply additional memory protection"), or the linker does not end.
        runner.environment["LDFLAGS"] = "-fuse-ld=mold -Wl,-z,separate-code"


# What a result rests on, for proofs.py.


def parts(chapter: Chapter, *names: str) -> list[pathlib.Path]:
    """These parts of all chapters up to this one, and how they are built (packages are made of `final` alone)."""
    upto = [each for each in chapters.all_chapters() if each.number <= chapter.number]
    tree = ROOT / "cmake" / "tree"
    not_packaged = [path for path in (*tree.parent.iterdir(), *tree.iterdir()) if path not in (tree, tree / "packaging")]
    return [*not_packaged, *(each.folder / name for each in upto for name in names)]


def program_parts(chapter: Chapter) -> list[pathlib.Path]:
    return parts(chapter, "CMakeLists.txt", "withdrawn.txt", "src", "tests", "examples")


def runner_parts() -> list[pathlib.Path]:
    """What runs the test programs."""
    return proofs.sources(TOOLS / "learn" / "programs.py")


def whole(*names: str) -> list[pathlib.Path]:
    """All of the tree without these folders of the root."""
    return [path for path in ROOT.iterdir() if path.name not in (*proofs.MADE, *names)]


# --- steps ---------------------------------------------------------------------------------------


def check_sources(runner: Runner) -> None:
    runner.step(
        "chapters.py check",
        [[*CHAPTERS_TOOL, "check"]],
        advice="`python3 tools/chapters.py carry NN PATH` takes a fix forward, `sync` makes final/ anew",
    )
    runner.step(
        "chapters.py excerpts",
        [[*CHAPTERS_TOOL, "excerpts"]],
        advice="the code on the page has to be the code of the chapter, character by character",
    )
    runner.step(
        "english.py check",
        [[sys.executable, TOOLS / "english.py", "check"]],
        advice="reword what is new; if there is less than listed: python3 tools/english.py shrink",
    )


# What of the chapters hardly ever changes and takes long to show takes turns, from commit to commit. It is that
# all tests of the chapters before pass, that gcc compiles them, which is the slower compiler, that a test includes
# what it uses, that CTest runs each test by itself, that the earlier tests pass on a chapter's stubs, and that its
# exercises can be solved.
TURNS = 16
QUICK = ["-DCMAKE_CXX_COMPILER=clang++", *setup.ONLY_RUN]


def commits() -> int | None:
    """How many commits the tree has behind it; None where they can't be counted."""
    count = subprocess.run(["git", "rev-list", "--count", "HEAD"], cwd=ROOT, capture_output=True, text=True, check=False)
    return int(count.stdout) if count.returncode == 0 else None


def is_turn(number: int, turns: int) -> bool:
    """Of so many that take turns, is it this one's? All of them where the commits can't be counted."""
    count = commits()
    return count is None or count % turns == number % turns


def has_its_turn(chapter: Chapter) -> bool:
    return is_turn(int(chapter.number), TURNS)


def step_name(chapter: Chapter) -> str:
    return f"chapter {chapter.number} {chapter.name}"


def test_chapter(runner: Runner, chapter: Chapter) -> None:
    """As its page builds it."""
    test_plain(runner, chapter, BUILD / chapter.number, [])


def test_plain(
    runner: Runner, chapter: Chapter, folder: pathlib.Path, options: Sequence[str], no_warnings: bool = False
) -> None:
    make = [setup.configure(chapter.folder, folder, *options), setup.build(folder)]
    runner.step(
        step_name(chapter),
        [*make, ctest(folder)],
        needs=[PACKAGES],
        seconds=1200,
        count=count_ctest,
        no_warnings=no_warnings,
        inputs=program_parts(chapter),
        makes=make,
        advice=f"cmake --build {folder.relative_to(ROOT)} && ctest --test-dir {folder.relative_to(ROOT)} --rerun-failed"
        " --output-on-failure",
    )


def test_in_turn(runner: Runner, chapter: Chapter, is_ci: bool) -> None:
    """A chapter, with the tests of the chapters before it; in CI, if it is not its turn, with those of what is new."""
    if has_its_turn(chapter):
        compiler = ["-DCMAKE_CXX_COMPILER=g++"] if shutil.which("g++") else []
        test_plain(runner, chapter, TESTED / chapter.number, compiler, no_warnings=is_ci)
    elif is_ci and chapter is not chapters.all_chapters()[-1]:
        test_programs(runner, chapter, tests_of_what_is_new(chapter), no_warnings=True)
    else:
        test_programs(runner, chapter, no_warnings=is_ci)


def tests_of_what_is_new(chapter: Chapter) -> list[str]:
    """The tests that a chapter brings, those named like a source file that it brings anew, and the one that the
    chapter before could not pass."""
    new = {path.stem for path in (chapter.folder / "src").rglob("*") if path.suffix in (".h", ".cpp")}
    before = chapters.before(chapter)
    names = (*new, before.number) if before else new
    return sorted(
        test.stem
        for path, test in chapters.layered(chapter.number).items()
        if path.startswith("tests/")
        and path.endswith("_test.cpp")
        and (test.is_relative_to(chapter.folder) or any(test.stem.startswith(f"{name}_") for name in names))
    )


def test_programs(runner: Runner, chapter: Chapter, targets: Sequence[str] = (), no_warnings: bool = False) -> None:
    """The test programs of a chapter's build, all or those with these names."""
    folder = TESTED / chapter.number
    options = QUICK if shutil.which("clang++") else QUICK[1:]
    # All examples, too: a page shows what they print, and those that no test of these starts have to compile.
    built = [*targets, "all_examples"] if targets else []
    make = [setup.configure(chapter.folder, folder, *options), setup.build(folder, *built)]

    def work() -> None:
        for command in make:
            runner.run(command)
        programs.run(
            folder,
            runner.say,
            runner.environment,
            unsolved=chapter.number,
            only=targets,
            at_once=setup.jobs(),
            again=runner.again,
        )

    runner.step(
        step_name(chapter),
        work,
        needs=[PACKAGES],
        seconds=1200,
        count=programs.count,
        no_warnings=no_warnings,
        inputs=[*program_parts(chapter), *runner_parts()],
        options=[*options, *targets],
        makes=make,
        advice=f"./learn test {chapter.number}; its build for debugging is build/{chapter.number}",
    )


def ctest(folder: pathlib.Path, *options: str) -> Command:
    return ["ctest", "--test-dir", str(folder), "--parallel", str(setup.jobs()), "--output-on-failure", *options]


# Name -> CMake options of a build of `final`. Each compiler has its share: in CI gcc has chapters and coverage besides.
FINAL_BUILDS = {
    "gcc": ["-DCMAKE_CXX_COMPILER=g++", "-DCMAKE_BUILD_TYPE=None", *setup.ONLY_RUN],
    "clang ASan+UBSan": [
        "-DCMAKE_CXX_COMPILER=clang++",
        "-DCMAKE_BUILD_TYPE=None",
        "-DCMAKE_CXX_FLAGS=-g1",
        "-DTURTLE_SANITIZE=address;undefined",
        *setup.ONLY_RUN,
        "-DTURTLE_WARNINGS_AS_ERRORS=ON",
    ],
    "gcc TSan": [
        "-DCMAKE_CXX_COMPILER=g++",
        "-DCMAKE_BUILD_TYPE=None",
        "-DCMAKE_CXX_FLAGS=-O1 -g1",
        "-DTURTLE_SANITIZE=thread",
        *setup.ONLY_RUN,
        "-DTURTLE_WARNINGS_AS_ERRORS=ON",
    ],
}
SANITIZER_OPTIONS = {
    "ASAN_OPTIONS": "detect_stack_use_after_return=1:strict_string_checks=1:allocator_may_return_null=1",
    "UBSAN_OPTIONS": "print_stacktrace=1",
    "TSAN_OPTIONS": "second_deadlock_stack=1:halt_on_error=1",
}


def test_final(runner: Runner, name: str) -> None:
    folder = final_folder(name)
    options = list(FINAL_BUILDS[name])
    if sys.platform == "darwin":
        options = [option for option in options if "COMPILER" not in option]
    make = [setup.configure(FINAL, folder, *options), setup.build(folder)]

    def work() -> None:
        for command in make:
            runner.run(command)
        run_final(runner, folder, name)

    runner.step(
        f"final {name}",
        work,
        needs=[PACKAGES],
        seconds=1800,
        count=programs.count,
        inputs=[FINAL, *runner_parts()],
        options=[*options, *map(str, SANITIZER_OPTIONS.items())],
        makes=make,
        advice=f"the log names the program, which is in {folder.relative_to(ROOT)}/tests",
    )


def run_final(
    runner: Runner,
    folder: pathlib.Path,
    name: str,
    environment: Mapping[str, str] = types.MappingProxyType({}),
    leave_out: str = "",
) -> None:
    programs.run(
        folder,
        runner.say,
        {**runner.environment, **SANITIZER_OPTIONS, **environment},
        # A thread sanitizer of this age can't work with addresses as random as new kernels make them.
        prefix=fixed_addresses() if "TSan" in name else [],
        leave_out=leave_out,
        # The newest chapter's felt problem is solved by a chapter that is not written yet.
        unsolved=chapters.all_chapters()[-1].number,
        at_once=setup.jobs(),
        again=runner.again,
    )


# What these tests are about is another thing on a ring, as the reasons say; chapter 28 has its own.
NOT_ON_A_RING = {
    # An accept that is under way keeps the limit of descriptors that it has begun with.
    "Acceptor.OutOfDescriptorsItRestsAndTriesAgain",
    "Acceptor.MayGoWhileItRests",
    # Between event and accept nobody can take a client away: the kernel has accepted him already.
    "Acceptor.DoesNotWaitForAClientWhoHasGone",
    # So have those who came just before the hand-over, and they are served here.
    "Drain.AQueueThatIsHandedOverIsLeftToWhoHasIt",
    "PerLoop.QueuesThatAreHandedOverAreLeftToWhoHasThem",
    # What a client sends that is not read waits in buffers of the ring, and not in the client's socket.
    "All/DecodedRequestsTest.AClientIsNotReadWhileItsBytesWait/*",
    # The memory that it leaves holds hundreds of loops, but not their rings.
    "BenchCommandTest.WithoutRoomForItsThreadsItEndsAtOnce",
}
RING = {"TURTLE_POLLER": "io_uring", "TURTLE_REQUIRE_IO_URING": "1"}


def test_on_a_ring(runner: Runner, build: str) -> None:
    """The tests of a build of `final` once more, with io_uring for epoll. Where there is one, they run."""
    if io_uring.why_not():
        return
    folder = final_folder(build)
    runner.step(
        f"final {build} on io_uring",
        lambda: run_final(runner, folder, build, RING, ":".join(sorted(NOT_ON_A_RING))),
        needs=[f"final {build}"],
        seconds=1800,
        count=programs.count,
        inputs=[FINAL, *runner_parts()],
        options=[*FINAL_BUILDS[build], *map(str, SANITIZER_OPTIONS.items()), *sorted(NOT_ON_A_RING)],
        advice=f"the log names the program, which is in {folder.relative_to(ROOT)}/tests; TURTLE_POLLER=io_uring",
    )


def final_folder(name: str) -> pathlib.Path:
    kind = name.split()[-1].lower().replace("+", "-")
    return BUILD / ("final-test" if kind == "gcc" else f"final-{kind}")


def test_sanitized_program(runner: Runner, name: str, environment: Mapping[str, str] = types.MappingProxyType({})) -> None:
    """The program that test_final() has built, under all kinds of clients: a report ends it."""
    prefix = fixed_addresses() if "TSan" in name else []
    suites = [ROOT / "tests" / suite for suite in ("conformance", "soak", "websocket")]
    program = {"TURTLE_BINARY": str(final_folder(name) / "turtle"), "TURTLE_SANITIZED": "1"}
    runner.step(
        f"turtle {name}" + (" on io_uring" if environment else ""),
        lambda: runner.run(
            [*prefix, setup.python(), "-m", "pytest", "-q", "-ra", "-p", "no:cacheprovider", *suites],
            env={**SANITIZER_OPTIONS, **program, **environment},
        ),
        needs=[PACKAGES, PYTHON, f"final {name}"],
        seconds=900,
        count=count_pytest,
        no_skips=True,
        inputs=[FINAL, *suite_parts("conformance"), *suite_parts("soak"), *suite_parts("websocket")],
        options=[*FINAL_BUILDS[name], *map(str, SANITIZER_OPTIONS.items())],
    )


def fixed_addresses() -> list[str]:
    """A prefix that runs a command without randomised addresses, where that is allowed."""
    prefix = ["setarch", "-R"]
    if shutil.which("setarch") and subprocess.run([*prefix, "true"], capture_output=True, check=False).returncode == 0:
        return prefix
    return []


def check_pages(runner: Runner) -> None:
    pages = [each for each in chapters.all_chapters() if (each.folder / "README.md").is_file()]
    if (ROOT / "README.md").is_file():
        runner.step(
            "site.py texts",
            [[setup.python(), ROOT / "tools" / "site.py", "texts", "--check"]],
            needs=[PYTHON],
            advice="python3 tools/site.py texts",
        )
    for chapter in pages:
        before = chapters.before(chapter)
        runner.step(
            f"transcripts {chapter.number}",
            [[sys.executable, TOOLS / "transcripts.py", "check", chapter.number, "--build", TESTED]],
            needs=[step_name(each) for each in (before, chapter) if each],
            seconds=600,
            inputs=[
            *program_parts(chapter),
            chapter.folder / "README.md",
            ROOT / "docs",  # a page has its server serve it
            *proofs.sources(TOOLS / "transcripts.py"),
        ],
            advice=f"look at the difference; if it is right: python3 tools/transcripts.py update {chapter.number}",
        )


def test_suite(
    runner: Runner,
    name: str,
    seconds: float,
    has_program: bool,
    more: Mapping[str, str] = types.MappingProxyType({}),
    how: str = "",
    is_ci: bool = False,
    program: pathlib.Path = serve.PROGRAM,
    made_by: str = serve.BUILT,
) -> None:
    """One of the suites below tests/, with a program that the step `made_by` has made.

    `more` is added to the environment, and `how` tells in the step's name what that changes.
    """
    folder = ROOT / "tests" / name
    if not any(folder.rglob("test_*.py")):
        return
    if name in ("attack", "cookbook", "cost", "faults", "machine", "packaging", "soak", "websocket") and sys.platform != "linux":
        return  # neither strace, valgrind nor /proc, nor namespaces, nor a library that can be preloaded like this
    needs = [PACKAGES, PYTHON]
    if name == "site" and (ROOT / "mkdocs.yml").is_file():
        needs.append("site")
    environment = {"TURTLE_SITE": str(serve.SITE), **more}
    needs_program = name == "site" or NEEDED_SOURCES.get(name) == MAIN
    if needs_program and has_program:
        needs.append(made_by)
        environment["TURTLE_BINARY"] = str(program)
    command = [setup.python(), "-m", "pytest", "-q", "-ra", "-p", "no:cacheprovider", folder]
    if name == "machine":
        command += ["--ignore", folder / "test_newcomer.py"]
        if is_ci and not is_turn(0, TURNS):
            command += ["--ignore", folder / "test_fresh_root.py"]
    if name == "packaging" and is_ci and not is_turn(2, TURNS):  # these make a Debian
        command += ["--ignore", folder / "test_installed.py", "--ignore", folder / "test_container_runs.py"]

    runner.step(
        f"tests/{name}{how}",
        lambda: runner.run(command, env=environment),
        needs=needs,
        seconds=seconds,
        count=count_pytest,
        # What a reader's machine does not allow is said and not failed: he may not be root, or be root in a
        # container. And with another compiler or C library than the ceilings were made with, a request's
        # instructions can't be compared.
        no_skips=is_ci and has_program and name != "cost",
        inputs=suite_parts(name) if NEEDED_SOURCES.get(name) == MAIN else whole(),
        options=[*map(str, command), *map(str, environment.items())],
        advice=" ".join([*map("=".join, more.items()), f"build/venv/bin/python -m pytest tests/{name}"]),
    )


def suite_parts(name: str) -> list[pathlib.Path]:
    """What a suite that tests the program rests on."""
    tests = ROOT / "tests"
    of_suites = [path for path in tests.iterdir() if path.is_dir() and path.name not in (*SUITES, *proofs.MADE)]
    own = [tests / name, *of_suites, *setup.test_requirements()]
    used = proofs.sources(TOOLS / "learn" / "serve.py", TOOLS / "learn" / "io_uring.py")
    return [*whole("chapters", "tests", "tools"), *own, *used]


# --- what only CI does ---------------------------------------------------------------------------


def prove_more(runner: Runner) -> None:
    every = chapters.all_chapters()
    middle = every[len(every) // 2]
    for chapter in every:
        prove_assembled(runner, chapter, is_built=chapter is every[0] or has_its_turn(chapter) and chapter is middle)
    for chapter in every:
        if is_turn(int(chapter.number), TURNS // 2):
            prove_stubs(runner, chapter)
    for chapter in every:
        if has_its_turn(chapter) and (chapter.folder / "exercises").is_dir():
            prove_exercises(runner, chapter)


def test_all_of_final(runner: Runner) -> None:
    """Under one sanitizer, under the other, or with its coverage measured: they take turns."""
    turns = [lambda: test_sanitized(runner, "clang ASan+UBSan"), lambda: test_sanitized(runner, "gcc TSan"),
             lambda: coverage.step(runner)]  # fmt: skip
    for number, test_it in enumerate(turns):
        if is_turn(number, len(turns)):
            test_it()


def test_sanitized(runner: Runner, name: str) -> None:
    test_final(runner, name)
    test_sanitized_program(runner, name)
    if not io_uring.why_not():
        test_on_a_ring(runner, name)
        test_sanitized_program(runner, name, RING)


def prove_assembled(runner: Runner, chapter: Chapter, is_built: bool) -> None:
    """The chapter's program, copied out of the repository, is an ordinary project that passes.

    It has the very files that the chapter's own build has compiled and tested, and no links. That it
    needs nothing else, the builds of the smallest and, in its turn, a middle one show; the largest is `final`.
    """
    folder = BUILD / "assembled" / chapter.number
    linked = TESTED / chapter.number / "tree"

    def work() -> None:
        fresh = folder / "fresh"
        shutil.rmtree(fresh, ignore_errors=True)
        folder.mkdir(parents=True, exist_ok=True)
        runner.run([*CHAPTERS_TOOL, "assemble", chapter.number, fresh])
        if any(path.is_symlink() for path in fresh.rglob("*")):
            raise Failed("the assembled copy holds links, so it does not stand alone")
        runner.run(["diff", "--recursive", "--brief", "--exclude=chapter.cmake", linked, fresh])
        if is_built:
            stubs.update_tree(fresh, folder / "tree")
            runner.run(setup.configure(folder / "tree", folder))
            runner.run(setup.build(folder))
            runner.run(ctest(folder))

    runner.step(
        f"assembled {chapter.number}",
        work,
        needs=[PACKAGES, step_name(chapter)],
        seconds=1200,
        inputs=[*program_parts(chapter), *proofs.sources(TOOLS / "chapters.py")],
        options=["built"] if is_built else [],
        count=count_ctest if is_built else None,
        advice=f"python3 tools/chapters.py assemble {chapter.number} DIR, then build it there",
    )


def prove_stubs(runner: Runner, chapter: Chapter) -> None:
    options, environment = ([], {}) if has_its_turn(chapter) else (["--new"], {"CXX": "clang++"})
    command = [sys.executable, TOOLS / "stubs.py", "prove", *options, chapter.number]
    runner.step(
        f"stubs {chapter.number}",
        lambda: runner.run(command, env=environment),
        needs=[PACKAGES],
        seconds=2400,  # all stages of a late chapter, beside another suite
        inputs=[*program_parts(chapter), *parts(chapter, "work.txt"), *proofs.sources(TOOLS / "stubs.py")],
        options=[*options, *map(str, environment.items())],
        advice=f"chapters/{chapter.folder.name}/work.txt says what the reader writes; tools/stubs.py says how it is proven",
    )


def prove_exercises(runner: Runner, chapter: Chapter) -> None:
    runner.step(
        f"exercises {chapter.number}",
        [[sys.executable, TOOLS / "exercises.py", "prove", chapter.number]],
        needs=[PACKAGES],
        seconds=1200,
        inputs=[
            *program_parts(chapter),
            *parts(chapter, "work.txt", "exercises"),
            *proofs.sources(TOOLS / "exercises.py"),
        ],
        advice="tools/exercises.py says what an exercise is made of",
    )


def compile_for_others(runner: Runner) -> None:
    """`final`, for macOS or FreeBSD, which take turns."""
    targets = ("aarch64-macos", "x86_64-freebsd", "x86_64-macos")
    target = targets[(commits() or 0) % len(targets)]
    tool = TOOLS / "portable.py"
    runner.step(
        f"final for {target}",
        [[setup.python(), tool, "--target", target, "final"]],
        needs=[PACKAGES, PYTHON],
        seconds=2400,
        inputs=[FINAL, *proofs.sources(tool), PORTABLE_REQUIREMENTS, ROOT / "cmake"],
        advice=f"{setup.python().relative_to(ROOT)} tools/portable.py --target {target} final",
    )


def analyse(runner: Runner) -> None:
    """The tasks of the top-level build; it compiles nothing."""
    folder = BUILD / "all"
    tasks = {
        "check-format": "cmake --build build/all --target format",
        "cpplint": "",
        "check-clang-tidy": "",
    }
    for task, advice in tasks.items():
        runner.step(
            task,
            [setup.configure(ROOT, folder), setup.build(folder, task)],
            needs=[PACKAGES],
            seconds=1800,
            inputs=whole("docs", "tests"),
            advice=advice,
        )
