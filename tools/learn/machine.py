"""What has to be installed for which purpose, and its installation.

Nothing is installed that is there already, from wherever it came: a program is looked for in PATH,
a library by its header. What is missing is installed in one go, by apt-get (with sudo where one is
not root) or by Homebrew.
"""

from __future__ import annotations

import dataclasses
import importlib.util
import os
import pathlib
import shutil
import subprocess
import sys
from collections.abc import Callable

from learn.errors import LearnError


@dataclasses.dataclass(frozen=True)
class Need:
    """One thing: how to see whether it is there, and the packages that bring it."""

    probe: Callable[[], bool]
    apt: str
    brew: str = ""  # "": macOS has it, or does without


def command(*names: str) -> Callable[[], bool]:
    """Any of these programs is in PATH."""
    return lambda: any(shutil.which(name) for name in names)


def header(name: str) -> Callable[[], bool]:
    places = ("/usr/include", "/usr/local/include", "/opt/homebrew/include", "/opt/homebrew/opt/openssl@3/include")
    return lambda: any((pathlib.Path(place) / name).exists() for place in places)


def file(name: str) -> Callable[[], bool]:
    return lambda: pathlib.Path(name).exists()


def python_module(name: str) -> Callable[[], bool]:
    return lambda: importlib.util.find_spec(name) is not None


def is_ubuntu() -> bool:
    try:
        return "ID=ubuntu" in pathlib.Path("/etc/os-release").read_text(encoding="utf-8").split("\n")
    except OSError:
        return False


BUILD = (
    Need(command("c++", "g++"), "g++"),
    Need(command("cmake"), "cmake", "cmake"),
    Need(command("make"), "make"),  # what `cmake -S … -B …` as the pages have it looks for
    Need(command("ninja"), "ninja-build", "ninja"),
    Need(command("ccache"), "ccache", "ccache"),
)
PROGRAM = (
    Need(header("CLI/CLI.hpp"), "libcli11-dev", "cli11"),
    Need(header("nlohmann/json.hpp"), "nlohmann-json3-dev", "nlohmann-json"),
    Need(header("re2/re2.h"), "libre2-dev", "re2"),
    Need(header("openssl/ssl.h"), "libssl-dev", "openssl@3"),
    Need(lambda: sys.platform == "darwin" or header("zlib.h")(), "zlib1g-dev"),
    Need(header("brotli/encode.h"), "libbrotli-dev", "brotli"),
    Need(header("zstd.h"), "libzstd-dev", "zstd"),
    Need(header("sqlite3.h"), "libsqlite3-dev", "sqlite"),
    Need(header("mariadb/mysql.h"), "libmariadb-dev", "mariadb-connector-c"),
)
TESTS = (
    Need(header("gtest/gtest.h"), "libgtest-dev", "googletest"),
    # A server of their own is started by the tests of chapter 23, on a socket in a temporary folder.
    Need(lambda: command("mariadbd")() or file("/usr/sbin/mariadbd")(), "mariadb-server", "mariadb"),
)
PYTHON = (
    Need(python_module("ensurepip"), "python3-venv"),
    Need(lambda: sys.platform == "darwin" or file("/etc/ssl/certs/ca-certificates.crt")(), "ca-certificates"),
)
SITE = (*PYTHON, Need(command("doxygen"), "doxygen", "doxygen"))
TOOLS = (Need(command("git"), "git", "git"), Need(command("pkg-config"), "pkg-config", "pkg-config"))
# What the commands on the pages use.
PAGES = (
    Need(command("curl"), "curl", "curl"),
    Need(command("nc"), "netcat-openbsd"),
    Need(lambda: sys.platform == "darwin" or command("ss")(), "iproute2"),
    Need(lambda: sys.platform == "darwin" or command("strace")(), "strace"),
    Need(command("ps"), "procps"),
    Need(lambda: sys.platform == "darwin" or command("gdb")(), "gdb"),
    # Debian 11 had it in /usr/sbin.
    Need(lambda: command("tcpdump")() or file("/usr/sbin/tcpdump")(), "tcpdump"),
)
SYSTEM = (
    Need(command("curl"), "curl", "curl"),
    Need(command("openssl"), "openssl", "openssl@3"),
    # promtool, which checks the metrics of chapter 25, is in no package of its own.
    Need(command("promtool"), "prometheus", "prometheus"),
    Need(command("wrk"), "wrk", "wrk"),
    # Debian has it in /usr/sbin, which is not in everybody's PATH.
    Need(lambda: command("haproxy")() or file("/usr/sbin/haproxy")(), "haproxy", "haproxy"),
    Need(lambda: command("logrotate")() or file("/usr/sbin/logrotate")(), "logrotate", "logrotate"),
    Need(lambda: sys.platform == "darwin" or command("systemd-analyze", "systemd-socket-activate")(), "systemd"),
    Need(
        command("chromium", "chromium-browser", "google-chrome"),
        "chromium-browser" if is_ubuntu() else "chromium",
    ),
    Need(command("chromedriver"), "chromium-chromedriver" if is_ubuntu() else "chromium-driver"),
)
# What the packages are made and looked at with.
PACKAGING = (
    Need(lambda: sys.platform == "darwin" or command("dpkg-shlibdeps")(), "dpkg-dev"),
    Need(lambda: sys.platform == "darwin" or command("file")(), "file"),
    Need(lambda: sys.platform == "darwin" or command("groff")(), "groff-base"),
)
# What counts instructions and system calls; macOS has neither.
COST = (
    Need(lambda: sys.platform == "darwin" or command("valgrind")(), "valgrind"),
    Need(lambda: sys.platform == "darwin" or command("strace")(), "strace"),
)
ANALYSIS = (
    Need(command("clang++"), "clang", "llvm"),
    Need(command("clang-format"), "clang-format", "clang-format"),
    Need(command("clang-tidy"), "clang-tidy", "llvm"),
    Need(command("cpplint"), "cpplint", "cpplint"),
    Need(header("benchmark/benchmark.h"), "libbenchmark-dev", "google-benchmark"),
)


# What reading takes: the chapters built and tested, the book served, the commands on its pages.
READING = (*BUILD, *PROGRAM, *TESTS, *SITE, *TOOLS, *PAGES)
# What `./learn test` takes.
EVERYTHING = (*READING, *SYSTEM, *PACKAGING, *COST, *ANALYSIS)
# What a machine takes that is there for the book alone and is entered by ssh, as Vagrant does.
ENTERED = (Need(command("sudo"), "sudo"), Need(file("/usr/sbin/sshd"), "openssh-server"))
# What makes a run of everything shorter: of its time, a quarter went into linking with GNU ld.
WHOLE = (Need(command("mold"), "mold"),)
# What the tests of such machines take.
CI = (
    Need(lambda: command("debootstrap")() or file("/usr/sbin/debootstrap")(), "debootstrap"),
    Need(command("vagrant"), "vagrant"),
    Need(command("docker"), "docker.io"),
    Need(lambda: command("dockerd")() or file("/usr/sbin/dockerd")(), "docker.io"),
    Need(command("ssh"), "openssh-client"),
    # The proxies of docs/deployment.md. A reader is not asked for them: both take port 80 once installed.
    Need(lambda: command("nginx")() or file("/usr/sbin/nginx")(), "nginx"),
    Need(lambda: is_ubuntu() or command("caddy")(), "caddy"),  # Ubuntu 22.04 has none
)


def clang_runtime() -> tuple[Need, ...]:
    """What -fsanitize links with the clang that is installed. Some Debians have it in a package
    of its own, whose name has clang's number in it."""
    if not shutil.which("clang++"):
        return ()
    said = subprocess.run(["clang++", "-dumpversion"], capture_output=True, text=True, check=True).stdout
    place = subprocess.run(["clang++", "-print-resource-dir"], capture_output=True, text=True, check=True).stdout

    def is_there() -> bool:
        return any(pathlib.Path(place.strip()).rglob("libclang_rt.fuzzer*.a"))

    return (Need(is_there, f"libclang-rt-{said.split('.')[0]}-dev"),)


def missing(needs: tuple[Need, ...]) -> list[Need]:
    found: list[Need] = []
    for need in needs:
        if not need.probe() and all(each.apt != need.apt for each in found):
            found.append(need)
    return found


def install_command(needs: list[Need]) -> list[list[str]]:
    """The commands that install them; a LearnError that says what to do by hand where none can."""
    if sys.platform == "darwin":
        formulas = sorted({need.brew for need in needs if need.brew})
        if not shutil.which("brew"):
            raise LearnError(f"Homebrew is missing: see https://brew.sh, then: brew install {' '.join(formulas)}")
        return [["brew", "install", *formulas]] if formulas else []
    packages = [need.apt for need in needs]
    if not shutil.which("apt-get"):
        raise LearnError(
            "this system has no apt-get. Install what these Debian packages hold, then come back:\n  "
            + " ".join(packages)
        )
    sudo: list[str] = []
    if os.geteuid() != 0:
        if not shutil.which("sudo"):
            raise LearnError(f"neither root nor sudo. As root: apt-get install {' '.join(packages)}")
        sudo = ["sudo"]
    apt = [*sudo, "env", "DEBIAN_FRONTEND=noninteractive", "apt-get", "-o", "DPkg::Lock::Timeout=300"]
    return [
        [*apt, "-q", "update"],
        [*apt, "-q", "install", "--yes", "--no-install-recommends", *packages],
    ]


def names(needs: list[Need]) -> str:
    attribute = "brew" if sys.platform == "darwin" else "apt"
    return " ".join(getattr(need, attribute) for need in needs if getattr(need, attribute))


def brew_prefixes() -> dict[str, str]:
    """Environment by which CMake finds Homebrew's libraries."""
    if sys.platform != "darwin" or not shutil.which("brew"):
        return {}
    done = subprocess.run(["brew", "--prefix"], capture_output=True, text=True, check=False)
    return {"CMAKE_PREFIX_PATH": done.stdout.strip()} if done.returncode == 0 else {}
