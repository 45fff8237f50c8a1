"""A Debian made from nothing, with the source in it, and a Docker of the tests' own (tests/support/machines.py)."""

import pathlib
import shutil
import sys

import pytest

sys.dont_write_bytecode = True
sys.path.insert(0, str(pathlib.Path(__file__).parents[1] / "support"))

from machines import PATH, ROOT, bare_root, call, copy_source, running_docker, system  # noqa: E402, F401


@pytest.fixture(scope="session")
def fresh_root(tmp_path_factory):
    folder = tmp_path_factory.mktemp("fresh") / "root"
    try:
        name, release = system()
        yield bare_root(folder, release, ["--components=main,universe"] if name == "ubuntu" else [])
    finally:
        shutil.rmtree(folder, ignore_errors=True)


@pytest.fixture(scope="session")
def docker(tmp_path_factory):
    with running_docker(tmp_path_factory.mktemp("docker")) as started:
        yield started
