"""What the numbers were measured on, and with."""

from __future__ import annotations

import os
import pathlib
import platform
import re
import subprocess
import time
from collections.abc import Iterable

from measure import run, table
from measure.table import Server

CPUS = pathlib.Path("/sys/devices/system/cpu")


def describe(build: pathlib.Path, bench: str, servers: Iterable[Server]) -> dict:
    return {
        "date": time.strftime("%Y-%m-%d %H:%M %z"),
        "cpu": cpu_model(read("/proc/cpuinfo")),
        "cores": os.cpu_count(),
        "virtual": "hypervisor" in read("/proc/cpuinfo"),
        "governor": read(CPUS / "cpu0/cpufreq/scaling_governor").strip() or "not readable",
        "memory_mb": memory_megabytes(read("/proc/meminfo")),
        "kernel": f"{platform.system()} {re.split('[-+_]', platform.release())[0]}",
        "system": system_name(read("/etc/os-release")),
        "compiler": compiler(build),
        "build_type": cache_entry(read(build / "CMakeCache.txt"), "CMAKE_BUILD_TYPE") or "unknown",
        "load_generator": pathlib.Path(bench).name,
        "versions": {server.name: version(server, build) for server in servers},
        "load_average": os.getloadavg()[0],
    }


def describe_tls() -> dict:
    """What the servers agree on with their clients, and the library of all of them."""
    return {
        "certificate": table.TLS_CERTIFICATE,
        "agreed": f"{table.TLS_VERSION} {table.TLS_CIPHER}",
        "openssl": re.sub(r" \(Library: .*", "", first_line(["openssl", "version"])),
    }


def lines(machine: dict) -> list[str]:
    """The description for people."""
    virtual = ", a virtual machine" if machine["virtual"] else ""
    said: dict[str, list[str]] = {}
    for name, text in machine["versions"].items():
        if text:
            said.setdefault(text, []).append(name)
    return [
        f"{machine['cpu']}, {machine['cores']} cores{virtual}; governor {machine['governor']};"
        f" {machine['memory_mb']} MB",
        f"{machine['system']}, {machine['kernel']}; {machine['compiler']}, {machine['build_type']}",
        *(f"{', '.join(names)}: {text}" for text, names in said.items()),
    ]


def subtitle(machine: dict) -> str:
    """The description in one line, for pictures."""
    return f"{machine['date'].split()[0]}; {lines(machine)[0]}; {machine['kernel']}"


def warnings(machine: dict) -> list[str]:
    """What makes the numbers worth less."""
    found = []
    if machine["governor"] not in ("performance", "not readable"):
        found.append(f"the CPU's governor is {machine['governor']}; with `performance` the numbers vary less")
    if machine["load_average"] > 0.5:
        found.append(f"something else is running: the load average at the start was {machine['load_average']:.1f}")
    if machine["build_type"] not in ("Release", "unknown"):
        found.append(f"final was built as {machine['build_type']}, not as Release")
    return found


# --- parts ---------------------------------------------------------------------------------------


def read(path: pathlib.Path | str) -> str:
    try:
        return pathlib.Path(path).read_text(encoding="utf-8", errors="replace")
    except OSError:
        return ""


def cpu_model(cpuinfo: str) -> str:
    match = re.search(r"^(?:model name|Model|Hardware)\s*:\s*(.+)$", cpuinfo, re.MULTILINE)
    return match[1].strip() if match else platform.machine()


def memory_megabytes(meminfo: str) -> int:
    match = re.search(r"^MemTotal:\s+(\d+) kB", meminfo, re.MULTILINE)
    return int(match[1]) // 1024 if match else 0


def system_name(release: str) -> str:
    match = re.search(r'^PRETTY_NAME="?([^"\n]+)', release, re.MULTILINE)
    return match[1] if match else platform.system()


def cache_entry(cache: str, name: str) -> str:
    match = re.search(rf"^{name}:[^=\n]*=(.*)$", cache, re.MULTILINE)
    return match[1].strip() if match else ""


def first_line(command: list[str]) -> str:
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=10, check=False)
    except (OSError, subprocess.TimeoutExpired):
        return ""
    words = (done.stdout or done.stderr).strip()
    return words.splitlines()[0].strip() if words else ""


def compiler(build: pathlib.Path) -> str:
    program = cache_entry(read(build / "CMakeCache.txt"), "CMAKE_CXX_COMPILER")
    return (first_line([program, "--version"]) if program else "") or "unknown compiler"


def version(server: Server, build: pathlib.Path) -> str:
    """What the program says of itself; without the copyright and the like that some add."""
    program = run.find_program(server, build)
    if not program or not server.version:
        return ""
    return re.sub(r"^(nginx version|Server version): ", "", first_line([program, *server.version]))
