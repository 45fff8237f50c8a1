"""`cmake --install` of final, as a program outside the repository meets it."""

import os
import shutil
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

import pytest
from installed import BUILD, ROOT, build, call, configure, install

# The documented echo server, but for the port and the thread that ends it.
ECHO = """\
int main() {
  TURTLE_SERVER::NetAddress local_address("127.0.0.1", 0);
  TURTLE_SERVER::TurtleServer echo_server(local_address);
  std::thread client([&] {
    TURTLE_SERVER::Socket socket;
    socket.Connect(echo_server.LocalAddress());
    (void)socket.Send("hello");
    char reply[5];
    std::size_t got = 0;
    while (got < sizeof reply) {
      auto result = socket.Recv(reply + got, sizeof reply - got);
      if (result.status != TURTLE_SERVER::IoStatus::kBytes) break;
      got += result.bytes;
    }
    std::cout << std::string_view(reply, got) << std::endl;
    echo_server.Stop();
  });
  echo_server
      .OnHandle([&](TURTLE_SERVER::Connection* client_conn) {
        int from_fd = client_conn->GetFd();
        auto [read, exit] = client_conn->Recv();
        if (exit) {
          client_conn->GetLooper()->DeleteConnection(from_fd);
          return;
        }
        if (read) {
          client_conn->WriteToWriteBuffer(client_conn->ReadAsString());
          client_conn->Send();
          client_conn->ClearReadBuffer();
        }
      })
      .Begin();
  client.join();
  return 0;
}
"""

NOT_BY_ACCIDENT = """\
#if __has_include("base/mutex.h") || __has_include("log/log.h") || __has_include("core/socket.h")
#error "The library's folders are on the include path."
#endif
"""
PROGRAM = f"""\
#include <iostream>
#include <thread>
#include <turtle/core/socket.h>
#include <turtle/core/turtle_server.h>

{NOT_BY_ACCIDENT}
{ECHO}"""

# It may be that one file of a program includes a header by either name.
COMPATIBLE = f"""\
#include "core/turtle_server.h"

#include <iostream>
#include <thread>
#include <turtle/core/socket.h>
#include <turtle/core/turtle_server.h>

#include "core/socket.h"

{ECHO}"""
SPELLINGS = {"turtle": PROGRAM, "compat": COMPATIBLE}

PROJECT = """\
cmake_minimum_required(VERSION 3.22)
project(outside LANGUAGES CXX)
{found}
add_executable(outside main.cpp)
target_link_libraries(outside PRIVATE turtle::{target})
"""
FOUND = "find_package(turtle {version} REQUIRED)"
# A linker leaves out the files of a library that nothing calls, and then misses no library that only they call.
# Without -fno-lto GCC looks into the files, and leaves out their functions as well.
ALL_FILES = ("-fno-lto", "-Wl,--whole-archive,{library},--no-whole-archive")
EMBEDDED = """\
set(BUILD_TESTING OFF)
add_subdirectory("{folder}" turtle EXCLUDE_FROM_ALL)
"""


def lay_out(folder, found, target="turtle"):
    """A project of a user."""
    (folder / "main.cpp").write_text(SPELLINGS[target])
    (folder / "CMakeLists.txt").write_text(PROJECT.format(found=found, target=target))


@pytest.fixture(scope="module")
def prefix(tmp_path_factory):
    """A prefix into which final was installed, and which was moved afterwards."""
    folder = tmp_path_factory.mktemp("install")
    install(folder / "installed")
    (folder / "installed").rename(folder / "moved")
    return folder / "moved"


@pytest.fixture(scope="module")
def version(prefix):
    package = next(prefix.glob("lib*/**/turtle-config-version.cmake")).read_text()
    return package.split('set(PACKAGE_VERSION "', 1)[1].split('"', 1)[0]


def test_headers_are_in_a_folder_of_their_own(prefix):
    assert (prefix / "include/turtle/core/socket.h").is_file()
    assert (prefix / "include/turtle/core/turtle_server.h").is_file()
    assert [file.name for file in (prefix / "include").iterdir()] == ["turtle"]
    assert not (prefix / "include/turtle/app").exists()


def test_nothing_points_back_to_where_it_was_built(prefix):
    for file in prefix.rglob("*"):
        if file.suffix in (".cmake", ".pc"):
            assert str(ROOT) not in file.read_text(), file
            assert str(prefix.parent / "installed") not in file.read_text(), file


def test_each_installed_header_compiles_alone(prefix):
    include = prefix / "include"
    headers = sorted(header.relative_to(include).as_posix() for header in include.rglob("*.h"))
    sources = (path.relative_to(ROOT / "final/src") for path in (ROOT / "final/src").rglob("*.h"))
    assert headers == sorted(f"turtle/{path.as_posix()}" for path in sources if path.parts[0] != "app")

    def compile_alone(header):
        call(
            *("c++", "-std=c++17", "-Wall", "-Wextra", "-Werror", "-fsyntax-only", "-x", "c++"),
            *("-I", include, "-include", header, "/dev/null"),
        )

    with ThreadPoolExecutor(os.cpu_count()) as pool:
        list(pool.map(compile_alone, headers))


@pytest.mark.parametrize("target", SPELLINGS)
def test_a_project_finds_the_package(prefix, version, tmp_path, target):
    lay_out(tmp_path, FOUND.format(version=version), target)
    folder = tmp_path / "build"
    call("cmake", "-S", tmp_path, "-B", folder, f"-DCMAKE_PREFIX_PATH={prefix}")
    call("cmake", "--build", folder)
    assert call(folder / "outside") == "hello\n"


@pytest.mark.skipif(not shutil.which("ninja"), reason="ninja is not installed")
@pytest.mark.parametrize("target", SPELLINGS)
def test_a_project_that_builds_the_sources_includes_the_same_headers(tmp_path, target):
    """Only its own file is compiled here; tests/cookbook builds a whole program like this."""
    lay_out(tmp_path, EMBEDDED.format(folder=ROOT / "final"), target)
    configure(tmp_path, tmp_path / "build")
    build(tmp_path / "build", "CMakeFiles/outside.dir/main.cpp.o")


@pytest.mark.skipif(not shutil.which("ninja"), reason="ninja is not installed")
def test_the_copies_follow_the_headers(tmp_path):
    """One that changes is copied again, one that goes is gone; what is installed is never older."""
    source = tmp_path / "final"
    shutil.copytree(ROOT / "final", source, ignore=shutil.ignore_patterns("bench", "fuzz", "tests", "examples"))
    folder = tmp_path / "build"
    configure(source, folder, "-DBUILD_TESTING=OFF")
    build(folder, "turtle_headers")
    copies = folder / "include" / "turtle"
    untouched = (copies / "core/socket.h").stat().st_mtime_ns
    (source / "src/base/clock.h").write_text('#include "base/mutex.h"\n')
    (source / "src/log/log.h").unlink()
    build(folder, "turtle_headers")
    assert (copies / "base/clock.h").read_text() == "#include <turtle/base/mutex.h>\n"
    assert not (copies / "log/log.h").exists()
    assert (copies / "core/socket.h").stat().st_mtime_ns == untouched

    (source / "src/base/clock.h").write_text("// again\n")
    (folder / "libturtle.a").touch()
    call("cmake", "--install", folder, "--prefix", tmp_path / "prefix")
    assert (tmp_path / "prefix/include/turtle/base/clock.h").read_text() == "// again\n"


@pytest.mark.parametrize("wanted", ["99.0", "0.0"])
def test_another_version_than_the_installed_one_is_refused(prefix, tmp_path, wanted):
    """A newer one, and one whose second number is smaller: until 1.0 that may have changed anything."""
    lay_out(tmp_path, FOUND.format(version=wanted))
    result = subprocess.run(
        ["cmake", "-S", tmp_path, "-B", tmp_path / "build", f"-DCMAKE_PREFIX_PATH={prefix}"],
        capture_output=True,
        text=True,
        check=False,
    )
    assert result.returncode != 0
    assert f'compatible with requested version "{wanted}"' in " ".join(result.stderr.split())


@pytest.mark.skipif(not shutil.which("pkg-config"), reason="pkg-config is not installed")
@pytest.mark.parametrize(("package", "target"), [("turtle", "turtle"), ("turtle-compat", "compat")])
def test_pkg_config_knows_it(prefix, version, tmp_path, package, target):
    (tmp_path / "main.cpp").write_text(SPELLINGS[target])
    folder = next(prefix.glob("lib*/**/turtle.pc")).parent
    environment = {**os.environ, "PKG_CONFIG_PATH": str(folder)}
    assert call("pkg-config", "--modversion", package, env=environment).strip() == version
    flags = call("pkg-config", "--cflags", "--libs", package, env=environment).split()
    call("c++", "-std=c++17", tmp_path / "main.cpp", *flags, "-o", tmp_path / "outside")
    assert call(tmp_path / "outside") == "hello\n"


@pytest.mark.skipif(sys.platform == "darwin", reason="the linker of macOS has another option for it")
def test_the_package_names_the_libraries_of_every_file(prefix, version, tmp_path):
    lay_out(tmp_path, FOUND.format(version=version))
    options = " ".join(ALL_FILES).format(library="$<TARGET_FILE:turtle::turtle>")
    with (tmp_path / "CMakeLists.txt").open("a") as project:
        project.write(f"target_link_options(outside PRIVATE {options})\n")
    call("cmake", "-S", tmp_path, "-B", tmp_path / "build", f"-DCMAKE_PREFIX_PATH={prefix}")
    call("cmake", "--build", tmp_path / "build")


@pytest.mark.skipif(sys.platform == "darwin", reason="the linker of macOS has another option for it")
@pytest.mark.skipif(not shutil.which("pkg-config"), reason="pkg-config is not installed")
def test_pkg_config_names_the_libraries_of_every_file(prefix, tmp_path):
    (tmp_path / "main.cpp").write_text(SPELLINGS["turtle"])
    folder = next(prefix.glob("lib*/**/turtle.pc")).parent
    environment = {**os.environ, "PKG_CONFIG_PATH": str(folder)}
    flags = call("pkg-config", "--cflags", "--libs", "turtle", env=environment).split()
    library = next(prefix.glob("lib*/**/libturtle.a"))
    options = [option.format(library=library) for option in ALL_FILES]
    call("c++", "-std=c++17", tmp_path / "main.cpp", *options, *flags, "-o", tmp_path / "outside")


@pytest.mark.parametrize("program", ["turtle", "turtle-bench"])
def test_the_programs_run_and_know_their_version(prefix, version, program):
    assert version in call(prefix / "bin" / program, "--version")


@pytest.mark.usefixtures("prefix")
def test_a_program_that_was_not_built_is_left_out(tmp_path):
    """`cmake --build build/final --target turtle` has no turtle-bench to install."""
    folder = tmp_path / "build"
    configure(ROOT / "final", folder, "-DCMAKE_BUILD_TYPE=Release", "-DBUILD_TESTING=OFF")
    for built in ("libturtle.a", "turtle"):
        shutil.copy(BUILD / built, folder)
    call("cmake", "--install", folder, "--prefix", tmp_path / "prefix")
    assert [file.name for file in (tmp_path / "prefix/bin").iterdir()] == ["turtle"]


def test_what_runs_it_as_a_service_names_the_installed_program(prefix):
    """It was moved afterwards, so the unit names where it was installed."""
    unit = (prefix / "lib/systemd/system/turtle.service").read_text()
    program = prefix.parent / "installed/bin/turtle"
    assert f"ExecStart={program} -f /etc/turtle/turtle.json\n" in unit
    assert "/usr/local" not in unit
    assert (prefix / "lib/systemd/system/turtle.socket").is_file()
    assert "postrotate" in (prefix / "share/turtle/turtle.logrotate").read_text()


def test_the_example_of_a_configuration_is_installed_and_right(prefix):
    folder = prefix / "share/turtle"
    call(prefix / "bin/turtle", "-t", "-f", folder / "turtle.json.example", cwd=folder)
    assert (folder / "turtle.schema.json").read_text() == call(prefix / "bin/turtle", "--schema")
