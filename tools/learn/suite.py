"""./learn test: builds and tests everything, or some chapters.

What there is to do is read off the tree (which chapters, which test folders, whether the program
exists yet), never off what happened to be built. With CI=true slow proofs are added: sanitizers,
coverage and fuzzers on `final`, clang-tidy, assembled copies, stubs, exercises.
"""

from __future__ import annotations

import pathlib
import shutil
import subprocess
import sys
import types
from collections.abc import Mapping

import stubs
from learn import chapters, coverage, fuzz, io_uring, machine, serve, setup
from learn.chapters import ROOT, Chapter
from learn.errors import LearnError
from learn.steps import Command, Failed, Runner, count_ctest, count_pytest

BUILD = setup.BUILD
FINAL = ROOT / "final"
CHAPTERS_TOOL = [sys.executable, ROOT / "tools" / "chapters.py"]
PACKAGES = "set up: packages"
PYTHON = "set up: Python packages"

# Suites under tests/, in the order in which they run, with their time limits.
SUITES = {
    "tools": 900.0,
    "learn": 900.0,
    "install": 900.0,
    "cookbook": 900.0,
    "site": 900.0,
    "system": 1200.0,
    "conformance": 300.0,
    "attack": 600.0,
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
    "system": MAIN,
    "conformance": MAIN,
    "attack": MAIN,
    "cost": MAIN,
    "soak": MAIN,
    "faults": MAIN,
}


def test(numbers: list[str], only: str, is_ci: bool) -> int:
    try:
        chosen = [chapters.find(number) for number in numbers]
    except LookupError as error:
        raise LearnError(f"{str(error)[0].upper()}{str(error)[1:]}.") from error
    runner = Runner(only=only)
    setup.environment(runner)
    if is_ci:
        build_fast(runner)
    if chosen:
        setup.packages(runner, (*machine.BUILD, *machine.PROGRAM, *machine.TESTS))
        for chapter in chosen:
            test_chapter(runner, chapter, is_ci)
    else:
        test_everything(runner, is_ci)
    if is_ci:
        runner.try_again()
    runner.summary()
    return 0 if runner.ok() and runner.outcomes else 1


def test_everything(runner: Runner, is_ci: bool) -> None:
    setup.packages(runner, (*machine.EVERYTHING, *(machine.CI if is_ci else ())))
    setup.python_environment(runner, [setup.SITE_REQUIREMENTS, *setup.test_requirements()])

    check_sources(runner)
    if is_ci:
        setup.packages(runner, machine.clang_runtime())
        with runner.beside(test_beside):  # either side waits now and then
            test_chapters(runner, is_ci)
            prove_more(runner)
        return
    test_chapters(runner, is_ci)
    if FINAL.is_dir():
        test_final(runner, "gcc")
        test_on_a_ring(runner, "gcc")
    test_finished(runner)


def test_chapters(runner: Runner, is_ci: bool) -> None:
    for chapter in chapters.all_chapters():
        test_chapter(runner, chapter, is_ci)
    check_pages(runner)


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
        for name in ("system", "conformance", "attack", "soak"):
            test_suite(runner, name, SUITES[name], has_program, RING)


def test_beside(runner: Runner) -> None:
    """What needs no chapter's build: the other half of CI's work."""
    test_finished(runner, is_ci=True)
    if FINAL.is_dir():
        fuzz.test(runner)
        analyse(runner)
        test_sanitized(runner, "clang ASan+UBSan")
        coverage.step(runner)


def build_fast(runner: Runner) -> None:
    """A run of all builds takes more than an hour; nobody steps through its programs with a debugger."""
    runner.environment["CMAKE_BUILD_TYPE"] = "None"
    # In pages of its own, because mold 1.10 lays out wrongly what follows code that ends just before a page does: the
    # program does not start ("cannot apply additional memory protection"), or the linker does not end.
    runner.environment["LDFLAGS"] = "-fuse-ld=mold -Wl,-z,separate-code"


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


# What of the chapters hardly ever changes and takes long to show, the newest shows in every run of CI;
# the others take turns, from commit to commit. It is that gcc compiles it, which is the slower compiler,
# that a test includes what it uses, that the earlier tests pass on its stubs, and that its exercises can
# be solved.
TURNS = 8
QUICK = ["-DCMAKE_CXX_COMPILER=clang++", "-DTURTLE_PRECOMPILE=ON"]


def is_turn(number: int, turns: int) -> bool:
    """Of so many that take turns, is it this one's? All of them where the commits can't be counted."""
    count = subprocess.run(["git", "rev-list", "--count", "HEAD"], cwd=ROOT, capture_output=True, text=True, check=False)
    return count.returncode != 0 or int(count.stdout) % turns == number % turns


def has_its_turn(chapter: Chapter) -> bool:
    return chapter == chapters.all_chapters()[-1] or is_turn(int(chapter.number), TURNS)


def test_chapter(runner: Runner, chapter: Chapter, is_ci: bool) -> None:
    folder = BUILD / chapter.number
    options = QUICK if is_ci and not has_its_turn(chapter) else []
    runner.step(
        f"chapter {chapter.number} {chapter.name}",
        [setup.configure(chapter.folder, folder, *options), setup.build(folder), ctest(folder)],
        needs=[PACKAGES],
        seconds=1200,
        count=count_ctest,
        no_warnings=is_ci,
        advice=f"cmake --build build/{chapter.number} && ctest --test-dir build/{chapter.number} --rerun-failed"
        " --output-on-failure",
    )


def ctest(folder: pathlib.Path, *options: str) -> Command:
    return ["ctest", "--test-dir", str(folder), "--parallel", str(setup.jobs()), "--output-on-failure", *options]


# Name -> CMake options of a build of `final`. Each compiler has its share: in CI gcc has the chapters
# and coverage besides.
FINAL_BUILDS = {
    "gcc": ["-DCMAKE_CXX_COMPILER=g++", "-DCMAKE_BUILD_TYPE=Debug"],
    "clang ASan+UBSan": [
        "-DCMAKE_CXX_COMPILER=clang++",
        "-DCMAKE_BUILD_TYPE=None",
        "-DCMAKE_CXX_FLAGS=-g1",
        "-DTURTLE_SANITIZE=address;undefined",
        "-DTURTLE_PRECOMPILE=ON",
        "-DTURTLE_WARNINGS_AS_ERRORS=ON",
    ],
    "gcc TSan": [
        "-DCMAKE_CXX_COMPILER=g++",
        "-DCMAKE_BUILD_TYPE=None",
        "-DCMAKE_CXX_FLAGS=-O1 -g1",
        "-DTURTLE_SANITIZE=thread",
        "-DTURTLE_PRECOMPILE=ON",
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
    # A thread sanitizer of this age can't work with addresses as random as new kernels make them.
    fixed = fixed_addresses() if "TSan" in name else []
    # The newest chapter's felt problem is solved by a chapter that is not written yet.
    newest = chapters.all_chapters()[-1].number
    unsolved = ["--exclude-regex", f"^{newest}_"] if any((FINAL / "tests/next").glob(f"{newest}_*")) else []

    def work() -> None:
        runner.run(setup.configure(FINAL, folder, *options))
        # The build runs the tests once too, to list them.
        runner.run([*fixed, *setup.build(folder)], env=SANITIZER_OPTIONS)
        runner.run([*fixed, *ctest(folder, *unsolved)], env=SANITIZER_OPTIONS)

    runner.step(
        f"final {name}",
        work,
        needs=[PACKAGES],
        seconds=1500,
        count=count_ctest,
        advice=f"ctest --test-dir {folder.relative_to(ROOT)} --rerun-failed --output-on-failure",
    )


# What these tests are about is another thing on a ring, as the reasons say; chapter 22 has its own.
NOT_ON_A_RING = {
    # An accept that is under way keeps the limit of descriptors that it has begun with.
    "Acceptor.OutOfDescriptorsItRestsAndTriesAgain",
    "Acceptor.MayGoWhileItRests",
    # Between event and accept nobody can take a client away: the kernel has accepted him already.
    "Acceptor.DoesNotWaitForAClientWhoHasGone",
    # So have those who came just before the hand-over, and they are served here.
    "Drain.AQueueThatIsHandedOverIsLeftToWhoHasIt",
    "PerLoop.QueuesThatAreHandedOverAreLeftToWhoHasThem",
    # The memory that it leaves holds hundreds of loops, but not their rings.
    "BenchCommandTest.WithoutRoomForItsThreadsItEndsAtOnce",
}
RING = {"TURTLE_POLLER": "io_uring", "TURTLE_REQUIRE_IO_URING": "1"}


def test_on_a_ring(runner: Runner, build: str) -> None:
    """The tests of a build of `final` once more, with io_uring for epoll. Where there is one, they run."""
    if io_uring.why_not():
        return
    folder = final_folder(build)
    prefix = fixed_addresses() if "TSan" in build else []
    others = "|".join(sorted(NOT_ON_A_RING)).replace(".", "[.]")
    tests = ctest(folder, "--exclude-regex", f"/({others})$|fails_by_assertion")
    runner.step(
        f"final {build} on io_uring",
        lambda: runner.run([*prefix, *tests], env={**SANITIZER_OPTIONS, **RING}),
        needs=[f"final {build}"],
        seconds=1500,
        count=count_ctest,
        advice=f"TURTLE_POLLER=io_uring ctest --test-dir {folder.relative_to(ROOT)} --rerun-failed",
    )


def final_folder(name: str) -> pathlib.Path:
    kind = name.split()[-1].lower().replace("+", "-")
    return BUILD / ("final-test" if kind == "gcc" else f"final-{kind}")


def test_sanitized_program(runner: Runner, name: str, environment: Mapping[str, str] = types.MappingProxyType({})) -> None:
    """The program that test_final() has built, under all kinds of clients: a report ends it."""
    prefix = fixed_addresses() if "TSan" in name else []
    suites = [ROOT / "tests" / "conformance", ROOT / "tests" / "soak"]
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
            [[sys.executable, ROOT / "tools" / "transcripts.py", "check", chapter.number]],
            needs=[f"chapter {each.number} {each.name}" for each in (before, chapter) if each],
            seconds=300,
            advice=f"look at the difference; if it is right: python3 tools/transcripts.py update {chapter.number}",
        )


def test_suite(
    runner: Runner,
    name: str,
    seconds: float,
    has_program: bool,
    more: Mapping[str, str] = types.MappingProxyType({}),
    is_ci: bool = False,
) -> None:
    folder = ROOT / "tests" / name
    if not any(folder.rglob("test_*.py")):
        return
    if name in ("attack", "cookbook", "cost", "faults", "machine", "soak") and sys.platform != "linux":
        return  # neither strace, valgrind nor /proc, nor namespaces, nor a library that can be preloaded like this
    needs = [PACKAGES, PYTHON]
    if name == "site" and (ROOT / "mkdocs.yml").is_file():
        needs.append("site")
    environment = {"TURTLE_SITE": str(serve.SITE), **more}
    needs_program = name == "site" or NEEDED_SOURCES.get(name) == MAIN
    if needs_program and has_program:
        needs.append("final: Release")
        environment["TURTLE_BINARY"] = str(serve.PROGRAM)

    def work() -> None:
        command = [setup.python(), "-m", "pytest", "-q", "-ra", "-p", "no:cacheprovider", folder]
        if name == "machine" and is_ci and not is_turn(0, TURNS):
            command += ["--ignore", folder / "test_fresh_root.py"]
        runner.run(command, env=environment)

    runner.step(
        f"tests/{name}" + (" on io_uring" if more else ""),
        work,
        needs=needs,
        seconds=seconds,
        count=count_pytest,
        # Before there is the program, what needs it can only be skipped. And with another compiler or
        # C library than the ceilings were made with, a request's instructions can't be compared. A reader may
        # not be root, and need not have Vagrant.
        no_skips=has_program and name != "cost" and (name != "machine" or is_ci),
        advice=f"build/venv/bin/python -m pytest tests/{name}",
    )


# --- what only CI does ---------------------------------------------------------------------------


def prove_more(runner: Runner) -> None:
    every = chapters.all_chapters()
    for chapter in every:
        prove_assembled(runner, chapter, is_built=chapter in (every[0], every[len(every) // 2]))
    for chapter in every:
        prove_stubs(runner, chapter)
    for chapter in every:
        if has_its_turn(chapter) and (chapter.folder / "exercises").is_dir():
            prove_exercises(runner, chapter)
    if FINAL.is_dir():
        test_sanitized(runner, "gcc TSan")


def test_sanitized(runner: Runner, name: str) -> None:
    """All of `final` under a sanitizer; with one of them in each run of CI, on a ring as well."""
    test_final(runner, name)
    test_sanitized_program(runner, name)
    sanitizers = [each for each in FINAL_BUILDS if "San" in each]
    if not io_uring.why_not() and is_turn(sanitizers.index(name), len(sanitizers)):
        test_on_a_ring(runner, name)
        test_sanitized_program(runner, name, RING)


def prove_assembled(runner: Runner, chapter: Chapter, is_built: bool) -> None:
    """The chapter's program, copied out of the repository, is an ordinary project that passes.

    It has the very files that the chapter's own build has compiled and tested, and no links. That it
    needs nothing else, the builds of the smallest and a middle one show; the largest is `final`.
    """
    folder = BUILD / "assembled" / chapter.number
    linked = BUILD / chapter.number / "tree"

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
        needs=[PACKAGES, f"chapter {chapter.number} {chapter.name}"],
        seconds=1200,
        count=count_ctest if is_built else None,
        advice=f"python3 tools/chapters.py assemble {chapter.number} DIR, then build it there",
    )


def prove_stubs(runner: Runner, chapter: Chapter) -> None:
    options, environment = ([], {}) if has_its_turn(chapter) else (["--new"], {"CXX": "clang++"})
    command = [sys.executable, ROOT / "tools" / "stubs.py", "prove", *options, chapter.number]
    runner.step(
        f"stubs {chapter.number}",
        lambda: runner.run(command, env=environment),
        needs=[PACKAGES, f"chapter {chapter.number} {chapter.name}"],
        seconds=1200,
        advice=f"chapters/{chapter.folder.name}/stubs.txt holds the exceptions; tools/stubs.py says which there are",
    )


def prove_exercises(runner: Runner, chapter: Chapter) -> None:
    runner.step(
        f"exercises {chapter.number}",
        [[sys.executable, ROOT / "tools" / "exercises.py", "prove", chapter.number]],
        needs=[PACKAGES, f"chapter {chapter.number} {chapter.name}"],
        seconds=1200,
        advice="tools/exercises.py says what an exercise is made of",
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
            advice=advice,
        )
