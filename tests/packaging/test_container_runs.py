"""Containers of the image, which may write nothing."""

import os
import re
import shutil
import time

import pytest
import yaml
from machines import ROOT
from serving import PATIENCE
from test_container import BUILD_STAGE, DOCKERFILE, PACKAGING


@pytest.fixture(scope="module")
def image(docker, debian, packages, tmp_path_factory):
    """The image's second stage. What the first one makes is there already, and so are the libraries: no network is
    needed, and no compiler."""
    folder = tmp_path_factory.mktemp("image")
    release = re.search(r"^ARG DEBIAN=(\w+)", DOCKERFILE, re.M)[1]
    leave_out = ("proc/*", "dev/*", "src", "usr/share/doc", "var/cache/apt", "usr/sbin/policy-rc.d")
    excluded = " ".join(f"--exclude='./{each}'" for each in leave_out)
    docker.run("sh", "-c", f"tar -C '{debian.folder}' {excluded} -c . | docker import - debian:{release}-slim", seconds=300)
    (folder / "packages").mkdir()
    shutil.copy(packages["turtle"], folder / "packages")
    docker.run("sh", "-c", f"tar -C '{folder}' -c packages | docker import - packages")
    shutil.copytree(PACKAGING, folder / "final/packaging")
    stages = DOCKERFILE.replace(BUILD_STAGE, "FROM packages AS build\n")
    (folder / "Dockerfile").write_text(stages, encoding="utf-8")
    environment = {"DOCKER_BUILDKIT": "0"}
    docker.run("docker", "build", "-t", "turtle", "-f", folder / "Dockerfile", folder / "final", seconds=300, env=environment)
    return "turtle"


RESTRICTED = ("--read-only", "--cap-drop", "ALL", "--security-opt", "no-new-privileges")
SITE = ("--publish", "127.0.0.1:8080:8080")
OPERATIONS = ("--publish", "127.0.0.1:9507:9507")


@pytest.fixture
def container(docker, image, tmp_path):
    """Starts a container that may do next to nothing, with a site of these tests."""
    names = []
    site = tmp_path / "www"
    site.mkdir()
    (site / "index.html").write_text("slow and steady\n")
    for folder in (site, *site.parents):
        if os.stat(folder).st_uid == os.geteuid():
            folder.chmod(folder.stat().st_mode | 0o055)

    def start(*options):
        names.append(f"turtle-{len(names)}")
        docker.run(
            "docker", "run", "--detach", "--name", names[-1], *RESTRICTED, *SITE,
            "--volume", f"{site}:/srv/www:ro", *options, image,
        )  # fmt: skip
        await_text(docker, f"docker logs {names[-1]}", "Operations at ")
        return names[-1]

    yield start
    for name in names:
        docker.run("docker", "rm", "--force", name)


def await_text(docker, command, text):
    deadline = time.monotonic() + PATIENCE
    while text not in (said := docker.run("sh", "-c", f"{command} 2>&1 || true")):
        assert time.monotonic() < deadline, f"{command} never printed {text}:\n{said}"
        time.sleep(0.1)


def get(docker, url):
    return docker.run("curl", "--silent", "--show-error", url)


def test_it_serves_as_any_user_and_writes_nothing(docker, container):
    name = container("--user", "12345:12345")
    assert get(docker, "http://127.0.0.1:8080/") == "slow and steady\n"
    assert docker.run("docker", "exec", name, "id", "-u") == "12345\n"
    assert docker.run("docker", "diff", name) == ""
    await_text(docker, f"docker logs {name}", '"GET / HTTP/1.1" 200')


def test_it_is_healthy(docker, container):
    name = container("--health-interval", "1s")
    await_text(docker, f"docker inspect --format 'it is {{{{.State.Health.Status}}}}' {name}", "it is healthy")


def test_it_stops_by_itself_when_docker_stops_it(docker, container):
    name = container()
    docker.run("docker", "stop", name)
    assert docker.run("docker", "inspect", "--format", "{{.State.ExitCode}}", name) == "0\n"


def test_it_reloads(docker, container):
    name = container()
    docker.run("docker", "kill", "--signal", "HUP", name)
    await_text(docker, f"docker logs {name}", "the settings were reloaded")


def test_the_settings_of_kubernetes_serve_while_they_drain(docker, container, tmp_path):
    """With the configuration of kubernetes.yaml, where Kubernetes puts it."""
    documents = yaml.safe_load_all((ROOT / "docs/deployment/kubernetes.yaml").read_text(encoding="utf-8"))
    (data,) = [each["data"] for each in documents if each["kind"] == "ConfigMap"]
    (tmp_path / "configuration").mkdir()
    for file, text in data.items():
        (tmp_path / "configuration" / file).write_text(text, encoding="utf-8")
    name = container(*OPERATIONS, "--volume", f"{tmp_path}/configuration:/etc/turtle:ro")
    assert get(docker, "http://127.0.0.1:9507/readyz") == "ready\n"
    docker.run("docker", "kill", "--signal", "TERM", name)
    await_text(docker, "curl --silent --output /dev/null --write-out '%{http_code}' http://127.0.0.1:9507/readyz", "503")
    assert get(docker, "http://127.0.0.1:8080/") == "slow and steady\n"
    assert get(docker, "http://127.0.0.1:9507/livez") == "live\n"
    assert docker.run("docker", "wait", name, seconds=60) == "0\n"
