"""A newcomer's machine, a bare Debian 12 or 13: `./learn test --quick` sets it up, builds and passes."""

import os
import pathlib
import re
import shlex
import shutil

import pytest
from conftest import bare_root

# What a run of it says of the releases takes turns: TURTLE_NEWCOMER is one of them, or several.
RELEASES = os.environ.get("TURTLE_NEWCOMER", "bookworm trixie").split()
HOST = "/etc/host-ca.pem"


def how_this_machine_is_connected(root):
    """Python packages come from where this machine has them, by the certificates that it trusts."""
    certificates = pathlib.Path("/etc/ssl/certs/ca-certificates.crt")
    if certificates.is_file():
        shutil.copy(certificates, root.folder / HOST[1:])
    if os.path.isfile("/etc/pip.conf"):
        shutil.copy("/etc/pip.conf", root.folder / "etc")
    names = [name for name in os.environ if re.match(r"PIP_|https?_proxy|no_proxy", name, re.IGNORECASE)]
    return " ".join([f"PIP_CERT={HOST}", *(f"{name}={shlex.quote(os.environ[name])}" for name in names)])


@pytest.mark.parametrize("release", RELEASES)
def test_the_quick_run_is_green_on_a_bare_debian(release, tmp_path):
    try:
        root = bare_root(tmp_path / "root", release)
        environment = how_this_machine_is_connected(root)
        said = root.run("./learn test --quick", network=True, seconds=3000, environment=environment)
        passed, failed = re.findall(r"^(\d+) passed, (\d+) failed$", said, re.M)[-1]
        assert int(passed) > 3000 and failed == "0", said
    finally:
        shutil.rmtree(tmp_path, ignore_errors=True)
