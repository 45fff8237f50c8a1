"""A Debian made from nothing, a Docker of the tests' own, and a systemd in a Debian.

All live in namespaces: when the process that made one is gone, so are its mounts, its network and all it started.
"""

from __future__ import annotations

import contextlib
import os
import pathlib
import re
import shlex
import shutil
import signal
import subprocess
import time

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"


def call(*command, seconds=120, **more):
    """Its output, both streams; an AssertionError with all of it where the command failed."""
    done = subprocess.run(
        [str(word) for word in command],
        stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=seconds,
        check=False, **more,
    )
    assert done.returncode == 0, f"{command} ended with {done.returncode}:\n{done.stdout}"
    return done.stdout


def copy_source(folder):
    """What git knows or would take, as it stands: what a clone has."""
    folder.mkdir(parents=True)
    names = call("git", "ls-files", "-z", "--cached", "--others", "--exclude-standard", cwd=ROOT).split("\0")
    for name in filter(None, names):
        if (ROOT / name).is_file():
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(ROOT / name, folder / name)


def package_server():
    """Where this machine has its packages from, so that a mirror is used here, too."""
    files = [pathlib.Path("/etc/apt/sources.list"), *pathlib.Path("/etc/apt/sources.list.d").glob("*")]
    for file in files:
        if file.is_file():
            found = re.search(r"^(?:URIs:|deb\b).*?(https?://\S+/(?:debian|ubuntu)/?)(?:\s|$)", file.read_text(), re.M)
            if found:
                return [found[1]]
    return []


def system():
    """The release that runs here: ("debian", "bookworm")."""
    text = pathlib.Path("/etc/os-release").read_text()
    return tuple(re.search(rf'^{key}="?([\w.-]+)', text, re.M)[1] for key in ("ID", "VERSION_CODENAME"))


class FreshRoot:
    """A Debian as debootstrap makes it, with the source in /src."""

    def __init__(self, folder):
        self.folder = folder

    def run(self, command, *, network, seconds, environment=""):
        """In a shell inside, with only the loopback interface where there is to be no network."""
        words = f"env -i PATH={PATH} HOME=/root TERM=dumb LC_ALL=C.UTF-8 {environment} sh -c {shlex.quote(command)}"
        inside = f"cd /src && exec {words}"
        prepare = "" if network else "ip link set lo up\n"
        prepare += f"mount -t proc proc '{self.folder}/proc'\nmount --rbind /dev '{self.folder}/dev'\n"
        return call(
            "unshare", "--mount", "--pid", "--fork", "--kill-child", *([] if network else ["--net"]),
            "sh", "-ec", f"{prepare}exec chroot '{self.folder}' sh -c \"$1\"", "sh", inside,
            seconds=seconds,
        )  # fmt: skip

    def state(self):
        """Of each file what would tell that it was written to."""
        found = {}
        for place, folders, files in os.walk(self.folder):
            for name in (*folders, *files):
                path = os.path.join(place, name)
                at = os.lstat(path)
                found[path] = (at.st_mode, at.st_uid, at.st_gid, at.st_size, at.st_mtime_ns, at.st_ctime_ns)
        return found


def bare_root(folder, release, options=()):
    """Makes a FreshRoot; a test is skipped where that can't be done."""
    if os.geteuid() != 0:
        pytest.skip("only root may make a system of its own")
    for program in ("debootstrap", "unshare", "ip"):
        if not shutil.which(program, path=PATH):
            pytest.skip(f"{program} is not installed")
    # dpkg then waits for no disk, neither for debootstrap nor for us.
    (folder / "etc/dpkg/dpkg.cfg.d").mkdir(parents=True)
    (folder / "etc/dpkg/dpkg.cfg.d/quick").write_text("force-unsafe-io\n")
    call("debootstrap", "--variant=minbase", *options, release, folder, *package_server(), seconds=900)
    for file in ("/etc/resolv.conf", "/etc/hosts"):
        shutil.copy(file, folder / "etc")
    (folder / "etc/apt/apt.conf.d/00host").write_text(call("apt-config", "dump", "Acquire"))
    # As in the images of Debian: nothing is started only because it was installed.
    policy = folder / "usr/sbin/policy-rc.d"
    policy.write_text("#!/bin/sh\nexit 101\n")
    policy.chmod(0o755)
    copy_source(folder / "src")
    return FreshRoot(folder)


class Docker:
    """dockerd and what is called within its namespaces."""

    def __init__(self, folder):
        self.folder = folder
        self.log = folder / "log"
        self.host = f"unix://{folder}/socket"
        self.group = f"/turtle-test-{os.getpid()}"  # of the containers' cgroups
        # All that it keeps is in memory, in a /run of its own: to remove it from a disk takes longer than the tests.
        dockerd = [
            "dockerd", "--host", self.host, "--data-root", "/run/images", "--exec-root", "/run/docker",
            "--pidfile", "/run/docker.pid", "--oom-score-adjust=0", "--cgroup-parent", self.group,
        ]  # fmt: skip
        with self.log.open("wb") as log:
            self._unshare = subprocess.Popen(
                ["unshare", "--net", "--mount", "--pid", "--fork", "--kill-child", "--mount-proc", "sh", "-ec",
                 'ip link set lo up\nmount -t tmpfs tmpfs /run\nexec "$@"', "sh", *map(str, dockerd)],
                stdin=subprocess.DEVNULL, stdout=log, stderr=log, env={**os.environ, "PATH": PATH},
            )  # fmt: skip

    def why_not(self, seconds=60):
        """Waits until it answers. "" or the reason why it never will."""
        deadline = time.monotonic() + seconds
        while self._unshare.poll() is None and time.monotonic() < deadline:
            try:
                self.run("docker", "version")
                return ""
            except (AssertionError, OSError, ValueError):
                time.sleep(0.2)
        return self.log.read_text(errors="replace").strip().splitlines()[-1]

    def run(self, *command, seconds=120, cwd=None, env=None):
        child = int(pathlib.Path(f"/proc/{self._unshare.pid}/task/{self._unshare.pid}/children").read_text())
        inside = {**os.environ, "PATH": f"/usr/bin:{PATH}", "DOCKER_HOST": self.host, **(env or {})}
        return call(
            "nsenter", "--target", child, "--net", "--mount", "--pid", f"--wd={cwd or self.folder}", *command,
            seconds=seconds, env=inside,
        )

    def stop(self):
        try:
            child = int(pathlib.Path(f"/proc/{self._unshare.pid}/task/{self._unshare.pid}/children").read_text())
            os.kill(child, signal.SIGTERM)
            self._unshare.wait(30)
        except (OSError, ValueError, subprocess.TimeoutExpired):
            self._unshare.kill()  # and with it, all that is in the namespaces
            self._unshare.wait()
        remove_groups(self.group)


def remove_groups(name):
    """Removes the cgroups of processes that have ended."""
    for group in pathlib.Path("/sys/fs/cgroup").glob(f"**{name}"):
        for folder in sorted(group.glob("**/"), reverse=True):
            folder.rmdir()


@contextlib.contextmanager
def running_docker(folder):
    """A Docker that keeps its files there; a test is skipped where there can't be one."""
    for program in ("dockerd", "docker", "containerd", "nsenter"):
        if not shutil.which(program, path=PATH):
            pytest.skip(f"{program} is not installed")
    started = Docker(folder)
    try:
        if why := started.why_not():
            pytest.skip(f"dockerd does not run here: {why}")
        yield started
    finally:
        started.stop()
        shutil.rmtree(folder, ignore_errors=True)


# Makes $1 the root of a system: kernel file systems of its own, few devices, the cgroups below its own, no network.
BOOT = """
mount --bind "$1" "$1"
cd "$1"
ip link set lo up
mount -t proc proc proc
mount -t sysfs -o ro sysfs sys
if [ -d /sys/fs/cgroup/systemd ]; then
  mount -t tmpfs -o mode=755 tmpfs sys/fs/cgroup
  mkdir sys/fs/cgroup/systemd
  mount -t cgroup -o none,name=systemd,xattr cgroup sys/fs/cgroup/systemd
else
  mount -t cgroup2 cgroup2 sys/fs/cgroup
fi
for folder in run dev; do mount -t tmpfs -o mode=755 tmpfs "$folder"; done
for device in null zero full random urandom tty; do
  touch "dev/$device"
  mount --bind "/dev/$device" "dev/$device"
done
mknod -m 600 dev/console c 1 3  # not /dev/null itself: systemd gives the console another owner and mode
mkdir dev/shm dev/mqueue dev/pts
mount -t tmpfs tmpfs dev/shm
mount -t mqueue mqueue dev/mqueue
mount -t devpts -o newinstance,ptmxmode=666 devpts dev/pts
ln -s pts/ptmx dev/ptmx
ln -s /proc/self/fd dev/fd
mkdir -p old
pivot_root . old
exec chroot . sh -c 'umount -l /old && exec env -i container=docker /lib/systemd/systemd'
"""


class Booted:
    """A system whose first process is systemd, with its root in a folder."""

    def __init__(self, folder):
        self.log = folder.with_name(f"{folder.name}.log")
        self.group = f"/turtle-system-{os.getpid()}"
        groups = pathlib.Path("/sys/fs/cgroup/systemd")
        group = pathlib.Path(f"{groups if groups.is_dir() else groups.parent}{self.group}")
        group.mkdir()
        with self.log.open("wb") as log:
            self._unshare = subprocess.Popen(
                ["sh", "-ec", f'echo $$ >{group}/cgroup.procs\nexec "$@"', "sh",
                 "unshare", "--net", "--mount", "--pid", "--cgroup", "--ipc", "--uts", "--fork", "--kill-child",
                 "sh", "-ec", BOOT, "sh", str(folder)],
                stdin=subprocess.DEVNULL, stdout=log, stderr=log, env={"PATH": PATH},
            )  # fmt: skip

    def why_not(self, seconds=60):
        """Waits until it has started all that it starts by itself. "" or the reason why it never will."""
        deadline = time.monotonic() + seconds
        while self._unshare.poll() is None and time.monotonic() < deadline:
            try:
                if self.run("systemctl is-system-running || true").strip() in ("running", "degraded"):
                    return ""
            except (AssertionError, OSError, ValueError, IndexError):
                pass
            time.sleep(0.2)
        return (self.log.read_text(errors="replace").strip().splitlines() or ["it does not start"])[-1]

    def run(self, command, seconds=120):
        """In a shell inside; its output, both streams."""
        child = pathlib.Path(f"/proc/{self._unshare.pid}/task/{self._unshare.pid}/children").read_text().split()[0]
        return call(
            "nsenter", "--target", child, "--mount", "--pid", "--net", "--ipc", "--uts", "--cgroup", "--root",
            "env", "-i", f"PATH={PATH}", "HOME=/root", "LC_ALL=C.UTF-8", "DEBIAN_FRONTEND=noninteractive",
            "sh", "-c", command, seconds=seconds,
        )  # fmt: skip

    def stop(self):
        self._unshare.kill()
        self._unshare.wait()
        deadline = time.monotonic() + 10
        while True:  # the last process inside may be on its way out
            try:
                return remove_groups(self.group)
            except OSError:
                if time.monotonic() > deadline:
                    raise
                time.sleep(0.1)


@contextlib.contextmanager
def running_system(folder):
    """The system in that folder; a test is skipped where it does not start."""
    started = Booted(folder)
    try:
        if why := started.why_not():
            pytest.skip(f"systemd does not run here: {why}")
        yield started
    finally:
        started.stop()
