"""`cmake --install` of final, as a program outside the repository meets it."""

import os
import shutil
import subprocess
from concurrent.futures import ThreadPoolExecutor

import pytest
from installed import BUILD, ROOT, call, configure, install

# The documented echo server, but for the port and the thread that ends it.
PROGRAM = """\
#include "core/turtle_server.h"

#include <iostream>
#include <thread>

#include "core/socket.h"

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

PROJECT = """\
cmake_minimum_required(VERSION 3.22)
project(outside LANGUAGES CXX)
find_package(turtle {version} REQUIRED)
add_executable(outside main.cpp)
target_link_libraries(outside PRIVATE turtle::turtle)
"""


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


def test_headers_stand_below_a_folder_of_their_own(prefix):
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
    folder = prefix / "include" / "turtle"
    headers = sorted(header.relative_to(folder).as_posix() for header in folder.rglob("*.h"))
    assert headers

    def compile_alone(header):
        call(
            *("c++", "-std=c++17", "-Wall", "-Wextra", "-Werror", "-fsyntax-only", "-x", "c++"),
            *("-I", folder, "-include", header, "/dev/null"),
        )

    with ThreadPoolExecutor(os.cpu_count()) as pool:
        list(pool.map(compile_alone, headers))


def test_a_project_finds_the_package(prefix, version, tmp_path):
    (tmp_path / "main.cpp").write_text(PROGRAM)
    (tmp_path / "CMakeLists.txt").write_text(PROJECT.format(version=version))
    build = tmp_path / "build"
    call("cmake", "-S", tmp_path, "-B", build, f"-DCMAKE_PREFIX_PATH={prefix}")
    call("cmake", "--build", build)
    assert call(build / "outside") == "hello\n"


@pytest.mark.parametrize("wanted", ["99.0", "0.0"])
def test_another_version_than_the_installed_one_is_refused(prefix, tmp_path, wanted):
    """A newer one, and one whose second number is smaller: until 1.0 that may have changed anything."""
    (tmp_path / "main.cpp").write_text(PROGRAM)
    (tmp_path / "CMakeLists.txt").write_text(PROJECT.format(version=wanted))
    result = subprocess.run(
        ["cmake", "-S", tmp_path, "-B", tmp_path / "build", f"-DCMAKE_PREFIX_PATH={prefix}"],
        capture_output=True,
        text=True,
        check=False,
    )
    assert result.returncode != 0
    assert f'compatible with requested version "{wanted}"' in " ".join(result.stderr.split())


@pytest.mark.skipif(not shutil.which("pkg-config"), reason="pkg-config is not installed")
def test_pkg_config_knows_it(prefix, version, tmp_path):
    (tmp_path / "main.cpp").write_text(PROGRAM)
    folder = next(prefix.glob("lib*/**/turtle.pc")).parent
    environment = {**os.environ, "PKG_CONFIG_PATH": str(folder)}
    assert call("pkg-config", "--modversion", "turtle", env=environment).strip() == version
    flags = call("pkg-config", "--cflags", "--libs", "turtle", env=environment).split()
    call("c++", "-std=c++17", tmp_path / "main.cpp", *flags, "-o", tmp_path / "outside")
    assert call(tmp_path / "outside") == "hello\n"


@pytest.mark.parametrize("program", ["turtle", "turtle-bench"])
def test_the_programs_run_and_know_their_version(prefix, version, program):
    assert version in call(prefix / "bin" / program, "--version")


@pytest.mark.usefixtures("prefix")
def test_a_program_that_was_not_built_is_left_out(tmp_path):
    """`cmake --build build/final --target turtle` has no turtle-bench to install."""
    build = tmp_path / "build"
    configure(ROOT / "final", build, "-DCMAKE_BUILD_TYPE=Release", "-DBUILD_TESTING=OFF")
    for built in ("libturtle.a", "turtle"):
        shutil.copy(BUILD / built, build)
    call("cmake", "--install", build, "--prefix", tmp_path / "prefix")
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
