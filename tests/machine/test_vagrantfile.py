"""What can be said about the reader's machine without making one."""

import json
import os
import re
import shutil

import pytest
from conftest import ROOT, call

VAGRANTFILE = (ROOT / "Vagrantfile").read_text()
DOCKERFILE = ".devcontainer/Dockerfile"


@pytest.fixture
def validate(tmp_path):
    """Has Vagrant check a Vagrantfile for a provider, which the machine seems to have."""
    if not shutil.which("vagrant"):
        pytest.skip("vagrant is not installed")
    programs = {"docker": "exit 0", "VBoxManage": 'case "$*" in *--version*) echo 7.0.20r163906;; esac'}
    (tmp_path / "bin").mkdir()
    for name, text in programs.items():
        (tmp_path / "bin" / name).write_text(f"#!/bin/sh\n{text}\n")
        (tmp_path / "bin" / name).chmod(0o755)

    def check(text, provider):
        folder = tmp_path / "tree"
        folder.mkdir(exist_ok=True)
        (folder / "Vagrantfile").write_text(text)
        environment = {
            **os.environ,
            "PATH": f"{tmp_path / 'bin'}:{os.environ['PATH']}",
            "VAGRANT_HOME": str(tmp_path / "home"),
            "VAGRANT_DEFAULT_PROVIDER": provider,
            "VAGRANT_CHECKPOINT_DISABLE": "1",
        }
        return call("vagrant", "validate", cwd=folder, env=environment)

    return check


@pytest.mark.parametrize("provider", ["docker", "virtualbox"])
def test_vagrant_finds_nothing_wrong(validate, provider):
    assert "validated successfully" in validate(VAGRANTFILE, provider)


@pytest.mark.parametrize(
    "provider, right, wrong",
    [
        ("docker", "docker.has_ssh", "has_shh"),
        ("docker", "docker.create_args", "creat_args"),
        ("docker", "docker.dockerfile", "docker_file"),
        ("docker", "config.vm.hostname", "hostnam"),
        ("virtualbox", "override.vm.box_version", "box_versions"),
        ("virtualbox", "machine.memory", "memroy"),
    ],
)
def test_an_option_that_does_not_exist_is_found(validate, provider, right, wrong):
    """So what passes is not passed unread."""
    text = VAGRANTFILE.replace(f"{right} =", f"{right.rpartition('.')[0]}.{wrong} =")
    assert text != VAGRANTFILE
    with pytest.raises(AssertionError, match=rf"settings shouldn't exist: {wrong}\b"):
        validate(text, provider)


def test_without_any_other_word_it_is_docker(validate):
    """The provider that works on all processors stands first."""
    assert re.findall(r'vm\.provider "(\w+)"', VAGRANTFILE) == ["docker", "virtualbox", "libvirt"]
    text = VAGRANTFILE.replace("docker.has_ssh =", "docker.has_shh =")
    with pytest.raises(AssertionError, match="docker provider:"):
        validate(text, "")


def test_each_box_has_a_version():
    boxes = re.findall(r'vm\.box = "(.+)"\n.*vm\.box_version = "([\d.]+)"\n', VAGRANTFILE)
    assert len(boxes) == VAGRANTFILE.count("vm.box =") == 2


def test_only_this_computer_reaches_its_port():
    forwarded = re.findall(r'"forwarded_port", (.+)', VAGRANTFILE)
    assert forwarded == [f'guest: {port}, host: {port}, host_ip: "127.0.0.1"' for port in (20100, 20080)]


def test_editors_build_the_same_image():
    text = re.sub(r"^\s*//.*$", "", (ROOT / ".devcontainer/devcontainer.json").read_text(), flags=re.M)
    container = json.loads(text)
    dockerfile = ROOT / ".devcontainer" / container["build"]["dockerfile"]
    assert dockerfile == ROOT / DOCKERFILE
    assert (ROOT / ".devcontainer" / container["build"]["context"]).resolve() == ROOT
    assert f'docker.dockerfile = "{DOCKERFILE}"' in VAGRANTFILE
    assert set(container["runArgs"]) <= set(re.findall(r'"(--[^"]+)"', VAGRANTFILE))


@pytest.mark.parametrize("name", ["Vagrantfile", DOCKERFILE, ".devcontainer/devcontainer.json", ".ci/run"])
def test_what_is_installed_is_asked_of_one_script(name):
    text = (ROOT / name).read_text()
    assert "tools/provision.sh" in text
    assert "apt-get" not in text


def test_the_script_needs_nothing_that_the_image_does_not_get(tmp_path):
    let_in = re.findall(r"^!(.+)$", (ROOT / ".dockerignore").read_text(), re.M)
    for name in let_in:
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        copy = shutil.copytree if (ROOT / name).is_dir() else shutil.copy
        copy(ROOT / name, tmp_path / name)
    assert "--ssh" in call("sh", tmp_path / "tools/provision.sh", "--help")


def test_a_clone_on_windows_keeps_the_ends_of_lines(tmp_path):
    """With CR LF no script would start in the machine that the folder is shared with."""
    if not (ROOT / ".git").exists():
        pytest.skip("this is no clone")
    call("git", "-c", "core.autocrlf=true", "-c", "core.eol=crlf", "clone", "-q", "--shared", ROOT, tmp_path / "clone")
    for name in ("learn", "tools/chapters.py", "Vagrantfile", ".ci/run"):
        assert b"\r" not in (tmp_path / "clone" / name).read_bytes(), name
