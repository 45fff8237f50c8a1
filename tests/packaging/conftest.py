"""The packages of final, built once from the Release build that TURTLE_BINARY is part of."""

import contextlib
import os
import pathlib
import shutil
import sys

import pytest

sys.dont_write_bytecode = True
sys.path.insert(0, str(pathlib.Path(__file__).parents[1] / "support"))

from machines import PATH, bare_root, call, running_docker, running_system, system  # noqa: E402
from serving import BINARY, Turtle  # noqa: E402


@pytest.fixture(scope="session")
def packages(tmp_path_factory):
    """The folder with the packages, by their names."""
    for program in ("cpack", "dpkg-shlibdeps", "dpkg-deb"):
        if not shutil.which(program):
            pytest.skip(f"{program} is not installed")
    folder = tmp_path_factory.mktemp("packages")
    call("cpack", "--config", BINARY.parent / "CPackConfig.cmake", "-B", folder)
    return {path.name.partition("_")[0]: path for path in folder.glob("*.deb")}


@pytest.fixture(scope="session")
def dependencies(packages):
    """The names of the packages that `turtle` needs."""
    listed = call("dpkg-deb", "--field", packages["turtle"], "Depends").split(",")
    return [each.split()[0] for each in listed]


@pytest.fixture(scope="session")
def debian(tmp_path_factory, dependencies):
    """A Debian with systemd and with what the packages need, but without them."""
    if os.geteuid() != 0:
        pytest.skip("only root may make a system of its own")
    folder = tmp_path_factory.mktemp("debian")
    try:
        more = "adduser,curl,iproute2,logrotate,procps,systemd,systemd-sysv"
        root = bare_root(folder / "root", system()[1], [f"--include={more}"])
        root.run(
            f"apt-get -q update && apt-get -q install --yes --no-install-recommends {' '.join(dependencies)}",
            network=True, seconds=600,
        )  # fmt: skip
        yield root
    finally:
        shutil.rmtree(folder, ignore_errors=True)


@pytest.fixture(scope="session")
def docker(tmp_path_factory):
    with running_docker(tmp_path_factory.mktemp("docker")) as started:
        yield started


@pytest.fixture(scope="session")
def booted(debian, packages):
    """That Debian, with the packages in /packages, and with its systemd running."""
    if not shutil.which("nsenter", path=PATH):
        pytest.skip("nsenter is not installed")
    (debian.folder / "usr/sbin/policy-rc.d").unlink()
    (debian.folder / "packages").mkdir()
    for package in packages.values():
        shutil.copy(package, debian.folder / "packages")
    with running_system(debian.folder) as started:
        started.folder = debian.folder
        yield started


@pytest.fixture
def start():
    """Starts servers, and ends what is left of them after the test."""
    with contextlib.ExitStack() as stack:

        def start_one(*arguments):
            turtle = Turtle(*arguments)
            stack.callback(turtle.close)
            return turtle

        yield start_one


@pytest.fixture
def site(tmp_path):
    folder = tmp_path / "site"
    folder.mkdir()
    (folder / "index.html").write_text("slow and steady\n")
    return folder
