"""The reader's machine made from nothing: a bare Debian, provisioned, and then as Vagrant's image."""

import os
import re
import shutil

import pytest
from conftest import ROOT, call, copy_source

OWNER = 1234  # of the source, as on the computer of somebody who is not the first user
QUICK = re.compile(r"^(\d+) passed, (\d+) failed$", re.M)


@pytest.fixture(scope="module")
def provisioned(fresh_root):
    # dpkg's and apt's own logs may grow while it is made, and not afterwards.
    said = fresh_root.run("sh tools/provision.sh --user vagrant", network=True, seconds=1500)
    assert "Python 3.9 or newer is missing, installing it" in said
    assert re.search(r"^installing g\+\+ cmake .* sudo openssh-server$", said, re.M), said
    # From here on who asks for packages is found out.
    apt = fresh_root.folder / "usr/local/bin/apt-get"
    apt.write_text('#!/bin/sh\necho "apt-get $*" >>/asked\nexit 1\n')
    apt.chmod(0o755)
    return fresh_root


def test_a_second_run_changes_nothing(provisioned):
    before = provisioned.state()
    assert len(before) > 10000
    said = provisioned.run("sh tools/provision.sh --user vagrant", network=False, seconds=120)
    assert said == "Everything is there.\n"
    after = provisioned.state()
    assert {path for path in before.keys() | after.keys() if before.get(path) != after.get(path)} == set()


def test_a_chapter_is_built_and_tested_without_another_package(provisioned):
    said = provisioned.run("./learn test 01", network=False, seconds=900)
    passed, failed = QUICK.findall(said)[-1]
    assert int(passed) > 20 and failed == "0", said
    assert not (provisioned.folder / "asked").exists()


def test_the_first_commands_of_the_readme_work(provisioned):
    """Those that build and run the server; the last one stays."""
    readme = (ROOT / "README.md").read_text(encoding="utf-8").partition("\n## ")[0]
    (block,) = [each for each in re.findall(r"^```console\n(.*?)^```", readme, re.M | re.S) if "turtle serve" in each]
    *commands, serve = [re.sub(r"\s+#.*", "", line[2:]) for line in block.splitlines()]
    port = re.search(r"--port (\d+)", serve)[1]
    ask = f"for i in $(seq 200); do curl -sf http://127.0.0.1:{port}/preface.md && break; sleep 0.1; done"
    said = provisioned.run(" && ".join([*commands, f"({serve} & echo $! >/pid; {ask}; kill $(cat /pid))"]),
                           network=False, seconds=1500)
    assert "Serving docs at" in said and "# Preface" in said
    assert not (provisioned.folder / "asked").exists()


@pytest.fixture(scope="module")
def vagrant(provisioned, docker, tmp_path_factory):
    """Calls Vagrant in a clone that has another owner. The image it builds begins with the bare system."""
    if not shutil.which("vagrant"):
        pytest.skip("vagrant is not installed")
    root = provisioned.folder
    # Docker Hub's image of this name has no account of ours; the rest is installed to save the time, and has no network
    # to be fetched from.
    provisioned.run("userdel --remove vagrant && rm -rf /src/build", network=False, seconds=60)
    leave_out = ("proc/*", "dev/*", "src", "usr/share/doc", "var/cache/apt", "var/lib/apt/lists")
    excluded = " ".join(f"--exclude='./{each}'" for each in leave_out)
    docker.run("sh", "-c", f"tar -C '{root}' {excluded} -c . | docker import - debian:12", seconds=300)
    tree = tmp_path_factory.mktemp("vagrant") / "turtle"
    copy_source(tree)
    call("git", "init", "-q", cwd=tree)
    call("chown", "-R", f"{OWNER}:{OWNER}", tree)
    environment = {"VAGRANT_HOME": str(tree.parent / "home"), "VAGRANT_CHECKPOINT_DISABLE": "1", "DOCKER_BUILDKIT": "0"}

    def run(*arguments, seconds=300):
        return docker.run("vagrant", *arguments, seconds=seconds, cwd=tree, env=environment)

    run.tree = tree
    run.said = run("up", "--provider=docker")
    yield run
    run("destroy", "--force")
    assert docker.run("docker", "ps", "--all", "--quiet") == docker.run("docker", "volume", "ls", "--quiet") == ""
    shutil.rmtree(tree.parent)


def test_vagrant_up_leads_into_the_source(vagrant):
    assert "Everything is there." in vagrant.said  # the provisioner, after the image was built
    assert vagrant("ssh", "developer", "-c", "pwd; id -un; id -u").split() == [
        *("/home/vagrant/turtle", "vagrant", str(OWNER)),
    ]
    assert vagrant("ssh", "-c", "sudo id -u").strip() == "0"


def test_either_side_may_write_and_builds_are_not_shared(vagrant):
    vagrant("ssh", "-c", "echo inside > from-inside && ln -s nowhere build/link && git status --short")
    assert (vagrant.tree / "from-inside").stat().st_uid == OWNER
    assert os.listdir(vagrant.tree / "build") == []


def test_the_key_that_everybody_knows_opens_no_more(vagrant, docker):
    keys = vagrant("ssh", "-c", "cat ~/.ssh/authorized_keys").strip().splitlines()
    assert len(keys) == 1 and "insecure" not in keys[0]
    assert "insecure key" in vagrant.said and "Key inserted" in vagrant.said
    known = vagrant.tree.parent / "home/insecure_private_key"
    refused = docker.run(
        "sh", "-c",
        f"ssh -p $(docker port $(docker ps -q) 22/tcp | cut -d: -f2) -i '{known}'"
        " -o IdentitiesOnly=yes -o BatchMode=yes -o StrictHostKeyChecking=no -o UserKnownHostsFile=/dev/null"
        " vagrant@127.0.0.1 true 2>&1 || true",
    )  # fmt: skip
    assert "Permission denied (publickey)" in refused


def test_ports_are_open_on_the_loopback_only(vagrant, docker):
    assert "127.0.0.1:20080" in vagrant.said and "127.0.0.1:20100" in vagrant.said
    listening = [line.split()[3] for line in docker.run("ss", "-Hltn").splitlines()]
    assert {"127.0.0.1:20080", "127.0.0.1:20100"} <= {*listening} and all(each.startswith("127.0.0.1:") for each in listening)


def test_the_container_may_what_the_computer_may(vagrant):
    ask = "import sys; sys.path.insert(0, 'tools'); from learn import io_uring; print(io_uring.why_not())"
    assert vagrant("ssh", "-c", f'python3 -c "{ask}"').strip() == call("python3", "-c", ask, cwd=vagrant.tree).strip()


def test_a_server_inside_is_reached_from_outside(vagrant, docker):
    # In one login: a server in the background goes with its terminal.
    vagrant(
        "ssh", "developer", "-c",
        "cmake -G Ninja -S chapters/01-socket -B build/01 && cmake --build build/01 --target echo_server &&"
        " (nohup build/01/examples/echo_server 20080 0.0.0.0 >~/log 2>&1 &) && timeout 60 sh -c"
        " 'until grep -q listening ~/log; do sleep 0.1; done'",
    )  # fmt: skip
    assert docker.run("sh", "-c", "echo hello | timeout 20 nc -N 127.0.0.1 20080") == "hello\n"
    assert vagrant("ssh", "-c", "cat /proc/net/if_inet6 | wc -l").strip() != "0"
