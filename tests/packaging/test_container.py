"""The file of the image, against the tree and the program. test_container_runs.py has the image itself."""

import json
import re
import subprocess
import sys

from machines import ROOT, call
from serving import BINARY, PATIENCE

sys.path.insert(0, str(ROOT / "tools"))

from learn import machine  # noqa: E402

PACKAGING = ROOT / "final/packaging"
DOCKERFILE = (PACKAGING / "Dockerfile").read_text(encoding="utf-8")
BUILD_STAGE, RUN_STAGE = re.split(r"(?m)^(?=FROM )", DOCKERFILE)[1:]
TURTLE_JSON = (PACKAGING / "container.json").read_text(encoding="utf-8")


def lines(stage):
    """The instructions of a stage, each on a line."""
    text = re.sub(r"(?m)^#.*\n", "", stage).replace("\\\n", " ")
    return [re.sub(r" +", " ", line).strip() for line in text.splitlines() if line.strip()]


def instruction(name, stage=RUN_STAGE):
    (found,) = [line.removeprefix(name).strip() for line in lines(stage) if line.startswith(f"{name} ")]
    return found


def values(text):
    return json.loads(re.sub(r"\s//.*|^//.*", "", text, flags=re.M))


CONFIGURATION = values(TURTLE_JSON)


def test_what_is_copied_is_there():
    copied = [line.split()[1:-1] for line in lines(DOCKERFILE) if line.startswith("COPY ") and "--from" not in line]
    assert len(copied) >= 6
    assert [name for names in copied for name in names if not (ROOT / "final" / name).exists()] == []


def test_the_build_has_the_packages_that_a_build_needs():
    """And so has the page, for a build by hand."""
    needed = {need.apt for need in (*machine.BUILD, *machine.PROGRAM)} - {"ninja-build", "ccache"} | {"dpkg-dev", "file"}
    (command,) = [line for line in lines(BUILD_STAGE) if "apt-get install" in line]
    assert set(command.partition("--no-install-recommends ")[2].split()) == needed
    page = (ROOT / "docs/deployment.md").read_text(encoding="utf-8").replace("\\\n", "")
    command = re.search(r"^\$ sudo apt-get install --no-install-recommends (.+)$", page, re.M)[1]
    assert set(command.split()) == needed | {"pkg-config"}


def test_the_program_is_the_first_process_and_no_shell_is_between():
    command = [*json.loads(instruction("ENTRYPOINT")), *json.loads(instruction("CMD"))]
    assert command == ["turtle", "-f", "/etc/turtle/turtle.json"]
    assert instruction("STOPSIGNAL") == "SIGTERM"
    assert re.fullmatch(r"[1-9]\d*:[1-9]\d*", instruction("USER"))


def test_the_configuration_can_be_served_and_fits_the_file(tmp_path):
    assert f"{CONFIGURATION['port']}" == instruction("EXPOSE")
    assert CONFIGURATION["http"]["root_path"] in RUN_STAGE
    assert CONFIGURATION["timeouts"].get("drain", 0) + CONFIGURATION["timeouts"]["stop"] < 10  # docker stop
    file = tmp_path / "turtle.json"
    file.write_text(TURTLE_JSON.replace("/srv/www", str(tmp_path)), encoding="utf-8")
    call(BINARY, "-t", "-f", file)


def test_the_health_check_asks_the_operations_port(start, site):
    place = CONFIGURATION["operations"]["address"].replace(":", "/")
    check = json.loads(instruction("HEALTHCHECK").partition("CMD ")[2])
    assert f"/dev/tcp/{place}" in check[-1]
    host, port = start(site, "--operations", "127.0.0.1:0").operations.removeprefix("http://").split(":")
    check[-1] = check[-1].replace(place, f"{host}/{port}")
    assert subprocess.run(check, check=False, timeout=PATIENCE).returncode == 0
    for wrong in (check[-1].replace("/livez", "/none"), check[-1].replace(port, "1")):
        done = subprocess.run([*check[:-1], wrong], capture_output=True, check=False, timeout=PATIENCE)
        assert done.returncode != 0
