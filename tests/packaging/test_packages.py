"""What is in the packages, and that it is what an installation without them has."""

import re
import shutil
import subprocess

import manual
import pytest
from machines import ROOT, call
from serving import BINARY

FINAL = ROOT / "final"
SERVER = {
    "etc/logrotate.d/turtle",
    "etc/turtle/turtle.json",
    "usr/bin/turtle",
    "usr/bin/turtle-bench",
    "usr/lib/systemd/system/turtle.service",
    "usr/lib/systemd/system/turtle.socket",
    "usr/share/doc/turtle/copyright",
    "usr/share/man/man1/turtle-bench.1.gz",
    "usr/share/man/man1/turtle.1.gz",
    "usr/share/turtle/index.html",
    "usr/share/turtle/turtle.json.example",
    "usr/share/turtle/turtle.schema.json",
}
SCRIPTS = ("postinst", "prerm", "postrm", "conffiles")


@pytest.fixture(scope="session")
def unpacked(packages, tmp_path_factory):
    """The files of each package, and its control files in DEBIAN."""
    folder = tmp_path_factory.mktemp("unpacked")
    for name, package in packages.items():
        call("dpkg-deb", "--raw-extract", package, folder / name)
    return folder


def files(folder):
    return {path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file()}


def field(packages, name, key):
    return call("dpkg-deb", "--field", packages[name], key).strip()


def test_there_is_one_for_the_server_and_one_for_the_library(packages):
    version = call(BINARY, "--version").split()[1]
    assert {path.name.rpartition("_")[0] for path in packages.values()} == {
        *(f"turtle_{version}-1", f"libturtle-dev_{version}-1"),
    }


def test_the_server_has_these_files(unpacked):
    assert {path for path in files(unpacked / "turtle") if not path.startswith("DEBIAN/")} == SERVER


def test_its_files_are_those_of_an_installation_without_it(unpacked):
    conf, package = FINAL / "conf", unpacked / "turtle"
    assert (package / "etc/turtle/turtle.json").read_text() == (conf / "turtle.json").read_text()
    assert (package / "etc/logrotate.d/turtle").read_text() == (conf / "turtle.logrotate").read_text()
    units = package / "usr/lib/systemd/system"
    assert (units / "turtle.socket").read_text() == (conf / "turtle.socket").read_text()
    unit = (conf / "turtle.service").read_text().replace("/usr/local/bin", "/usr/bin")
    assert (units / "turtle.service").read_text() == unit
    for name in SCRIPTS:
        assert (package / "DEBIAN" / name).read_text() == (FINAL / "packaging" / name).read_text()


def test_what_an_administrator_edits_is_kept_by_an_upgrade(unpacked):
    listed = (unpacked / "turtle/DEBIAN/conffiles").read_text().split()
    assert {f"/{path}" for path in SERVER if path.startswith("etc/")} == set(listed)


def test_everything_belongs_to_root_and_only_root_may_write(packages):
    for package in packages.values():
        for line in call("dpkg-deb", "--contents", package).splitlines():
            assert re.match(r"(drwxr-xr-x|-rwxr-xr-x|-rw-r--r--) root/root ", line), line


def test_the_libraries_that_it_needs_are_named(packages, dependencies):
    assert {"adduser", "libc6", "libstdc++6"} < set(dependencies)
    linked = call("ldd", BINARY)
    assert ("libre2.so" in linked) == any(name.startswith("libre2-") for name in dependencies)
    assert {"zlib1g", "libbrotli1", "libzstd1"} < set(dependencies)
    needed = set(field(packages, "libturtle-dev", "Depends").split(", "))
    assert {"libre2-dev", "nlohmann-json3-dev", "libssl-dev", "zlib1g-dev", "libbrotli-dev", "libzstd-dev"} < needed


def test_the_library_has_its_headers_and_can_be_found(unpacked, tmp_path):
    package = unpacked / "libturtle-dev"
    headers = {path.removeprefix("usr/include/turtle/") for path in files(package) if path.endswith(".h")}
    sources = {path.relative_to(FINAL / "src").as_posix() for path in (FINAL / "src").rglob("*.h")}
    assert headers == {path for path in sources if not path.startswith("app/")}
    assert files(package).isdisjoint(SERVER)
    assert len(list(package.rglob("libturtle.a"))) == len(list(package.rglob("turtle.pc"))) == 1
    (tmp_path / "CMakeLists.txt").write_text(
        "cmake_minimum_required(VERSION 3.22)\nproject(outside LANGUAGES CXX)\nfind_package(turtle REQUIRED)\n"
    )
    call("cmake", "-S", tmp_path, "-B", tmp_path / "build", f"-DCMAKE_PREFIX_PATH={package}/usr")


@pytest.mark.parametrize("name", ["postinst", "prerm", "postrm"])
def test_a_script_can_be_read_by_any_shell(name):
    call("sh", "-n", FINAL / "packaging" / name)


def test_the_licence_is_the_one_of_the_project():
    text = (FINAL / "packaging/copyright").read_text()
    licence = [line for line in (ROOT / "LICENSE").read_text().splitlines()[3:] if line]
    assert [line for line in licence if f"\n {line}\n" not in text] == []


@pytest.mark.parametrize("name", manual.COMMANDS)
def test_a_manual_page_lists_what_help_prints(name):
    assert manual.difference(name) == "", "python3 tests/packaging/manual.py --update"


@pytest.mark.skipif(not shutil.which("groff"), reason="groff is not installed")
@pytest.mark.parametrize("name", manual.COMMANDS)
def test_a_manual_page_is_printed_without_a_warning(name):
    command = ["groff", "-man", "-Tutf8", "-ww", str(FINAL / "packaging" / name)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.count("\n") > 40
