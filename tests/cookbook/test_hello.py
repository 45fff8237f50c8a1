"""The smallest program, by each way to get at the library that the page shows."""

import contextlib
import shutil
import subprocess

import installed
import pytest
from conftest import COOKBOOK, Recipe
from serving import ROOT


def greets(program):
    with contextlib.closing(Recipe(program, 0)) as hello:
        assert hello.ask("GET", "/hello/ada").body == b"hello, ada\n"
        assert hello.ask("GET", "/hello").status == 404
        assert hello.stop() == (0, "")


def test_it_finds_what_is_installed(prefix, tmp_path):
    installed.configure(COOKBOOK / "hello", tmp_path, f"-DCMAKE_PREFIX_PATH={prefix}")
    installed.build(tmp_path)
    greets(tmp_path / "hello")


def test_without_an_installation_it_says_what_is_missing(tmp_path):
    nowhere = [f"-DCMAKE_FIND_ROOT_PATH={tmp_path}", "-DCMAKE_FIND_ROOT_PATH_MODE_PACKAGE=ONLY"]
    command = ["cmake", "-S", COOKBOOK / "hello", "-B", tmp_path / "build", *nowhere]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode != 0
    assert "turtle-config.cmake" in done.stderr


def as_final():
    """The objects are those of a Release build of `final`, once ccache sees the same paths."""
    if not shutil.which("ccache"):
        return []
    parts = ("env", f"CCACHE_BASEDIR={ROOT}", "CCACHE_NOHASHDIR=1", "CCACHE_ABSSTDERR=1", "ccache")
    return ["-DCMAKE_CXX_COMPILER_LAUNCHER=" + ";".join(parts)]


@pytest.mark.parametrize("way", ["embedded", "fetched"])
def test_it_builds_the_sources_with_its_own(way):
    build = ROOT / "build" / f"cookbook-{way}"
    options = [f"-DTURTLE={ROOT}", "-DCMAKE_BUILD_TYPE=Release"]
    if way == "fetched":  # what is here, in place of what was committed
        options += ["-DTURTLE_TAG=HEAD", f"-DFETCHCONTENT_SOURCE_DIR_TURTLE={ROOT}"]
    installed.configure(COOKBOOK / way, build, *options, *as_final())
    installed.build(build, "hello")
    greets(build / "hello")
    if (build / "build.ninja").exists():  # a header that has changed is copied before anything is compiled
        library = {"embedded": "turtle", "fetched": "_deps/turtle-build"}[way]
        query = ["ninja", "-C", build, "-t", "query", f"{library}/include/turtle/web/http_server.h"]
        assert "CUSTOM_COMMAND" in subprocess.run(query, capture_output=True, text=True, check=True).stdout
