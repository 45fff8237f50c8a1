#!/usr/bin/env python3
"""A flame graph: where a program's CPU time goes, from what `perf script` prints to an SVG picture.

  python3 tools/measure/flame.py [--build BUILD] [--seconds S] [--json FILE] [--svg FILE]
  perf script | python3 tools/measure/flame.py --from - --svg FILE

The first form puts S1 (tools/measure/table.py) on `turtle` and records it with perf; it says what
is missing where it can't. The second draws any recording that was made with `perf record -g`.
"""

from __future__ import annotations

import argparse
import collections
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import threading
from collections.abc import Iterable
from html import escape

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))

from measure import run, table  # noqa: E402
from measure.process import Failed  # noqa: E402

FREQUENCY = 997  # samples a second; not in step with anything
STACK_BYTES = 8192  # of each sample: `final` is built without frame pointers
LEAST = 0.002  # of all samples; what is less is left out of the data and the picture

Stack = tuple[str, ...]  # from the outermost to the innermost; a kernel's function begins with "k:"


# --- what perf prints ----------------------------------------------------------------------------


def read_script(text: str) -> collections.Counter[Stack]:
    """How often each stack was seen."""
    stacks: collections.Counter[Stack] = collections.Counter()
    for block in re.split(r"\n\s*\n", text):
        frames = []
        for line in block.splitlines():
            match = re.match(r"\s+([0-9a-f]+) (.+?)(?:\+0x[0-9a-f]+)? \((\[?[^()]*\]?)\)\s*$", line)
            if match:
                address, name, where = match.groups()
                is_kernel = where.startswith("[") and where != "[unknown]" or int(address, 16) >> 63 == 1
                frames.append(f"k:{name}" if is_kernel else short_name(name))
        if frames:
            stacks[tuple(reversed(frames))] += 1
    return stacks


def short_name(name: str) -> str:
    """A C++ function without its arguments, templates and the book's namespace."""
    name = re.sub(r"\[clone [^]]*\]|\(anonymous namespace\)::|@plt|@@?[A-Z]+_[\d.]+", "", name).strip()
    if "operator" not in name:
        before = None
        while before != name:
            before, name = name, re.sub(r"<[^<>]*>", "", name)
            name = re.sub(r"\([^()]*\)(?: const)?", "", name)
    name = name.replace("TURTLE_SERVER::", "").strip()
    return name.split(" ")[-1] or "?"


def tidy(stack: Stack) -> Stack:
    """Without what is the same in all stacks or means nothing: the start of the program, unknown frames."""
    frames = [frame for frame in stack if frame not in ("[unknown]", "k:[unknown]", "?")]
    for start in ("main", "Looper::Loop"):
        if start in frames:
            frames = frames[frames.index(start) :]
            break
    # A kernel's way in is the same for all calls.
    drop = ("k:entry_SYSCALL_64", "k:do_syscall_64", "k:el0_", "k:invoke_syscall", "k:el0t_")
    return tuple(frame for frame in frames if not frame.startswith(drop))


# --- what it means -------------------------------------------------------------------------------

# A system call is known by the first of these in its stack.
CALLS = (
    ("send", ("sendto", "sendmsg")),
    ("receive", ("recvfrom", "recvmsg")),
    ("wait", ("epoll_wait", "epoll_pwait")),
    ("register", ("epoll_ctl",)),
    ("accept", ("accept4", "accept")),
    ("close", ("close",)),
    ("files", ("openat", "openat2", "newfstatat", "pread64", "sendfile")),
)
# Within send: from here on the kernel does the receiver's work.
DELIVERY = ("k:__do_softirq", "k:do_softirq", "k:handle_softirqs", "k:__local_bh_enable_ip", "k:net_rx_action")


def call_of(stack: Stack) -> str:
    """Which system call the kernel is at work for; empty for the user's part, "interrupts" for none."""
    kernel = [frame[2:] for frame in stack if frame.startswith("k:")]
    if not kernel:
        return ""
    for frame in kernel:
        plain = re.sub(r"^(__)?(x64_|arm64_)?(__)?(do_)?(sys_)?", "", frame)
        for name, names in CALLS:
            if plain in names:
                return name
    return "other calls" if any("sys_" in frame for frame in kernel) else "interrupts"


def describe(stacks: collections.Counter[Stack]) -> dict:
    """Shares of all samples: of the kernel by call, and of the user's part by function."""
    total = sum(stacks.values())
    calls: collections.Counter[str] = collections.Counter()
    functions: collections.Counter[str] = collections.Counter()
    delivery = 0
    for stack, count in stacks.items():
        call = call_of(stack)
        if call:
            calls[call] += count
            if call == "send" and any(frame in DELIVERY for frame in stack):
                delivery += count
        else:
            functions[stack[-1]] += count

    def shares(counter: collections.Counter[str]) -> dict[str, float]:
        return {name: round(count / total, 4) for name, count in counter.most_common() if count / total >= LEAST}

    return {
        "samples": total,
        "kernel": round(sum(calls.values()) / total, 4),
        "delivery": round(delivery / total, 4),
        "calls": shares(calls),
        "functions": shares(functions),
    }


def tree(stacks: collections.Counter[Stack], least: float = LEAST) -> list:
    """[name, share, [children]] of the whole, without what is seldom."""
    total = sum(stacks.values())

    def grow(name: str, group: list[tuple[Stack, int]]) -> list:
        below: dict[str, list[tuple[Stack, int]]] = {}
        count = 0
        for stack, times in group:
            count += times
            if stack:
                below.setdefault(stack[0], []).append((stack[1:], times))
        children = [grow(each, part) for each, part in sorted(below.items())]
        return [name, round(count / total, 4), [child for child in children if child[1] >= least]]

    return grow("all", list(stacks.items()))


# --- the picture ---------------------------------------------------------------------------------

WIDTH, MARGIN, ROW = 780, 16, 18
LETTER = 6.3  # about the width of one at 11 px

STYLE = """
  svg { --page: #ffffff; --ink: #1f2328; --faint: #656d76; --user: #9fd8b8; --kernel: #f2cf93; --all: #d8dee4; }
  @media (prefers-color-scheme: dark) {
    svg { --page: #12161c; --ink: #e6edf3; --faint: #9aa4af; --user: #245c40; --kernel: #6b4d16; --all: #333b45; } }
  .page { fill: var(--page); }
  text { fill: var(--ink); font: 11px ui-monospace, "DejaVu Sans Mono", monospace; }
  .title { font: 600 18px system-ui, sans-serif; }
  .faint { fill: var(--faint); font: 12px system-ui, sans-serif; }
  rect { stroke: var(--page); stroke-width: 0.8; }
  .user { fill: var(--user); } .kernel { fill: var(--kernel); } .all { fill: var(--all); }
  g:hover > rect { stroke: var(--ink); }
"""


def depth_of(node: list) -> int:
    return 1 + max((depth_of(child) for child in node[2]), default=0)


def svg(root: list, title: str, subtitle: str) -> str:
    """`root` as tree() makes it. The width of a bar is time; what stands on a bar was called by it."""
    top = MARGIN + 70
    depth = depth_of(root)
    height = top + depth * ROW + MARGIN
    room = WIDTH - 2 * MARGIN
    parts: list[str] = []

    def draw(node: list, x: float, level: int) -> None:
        name, share, children = node
        width = share * room
        if width < 0.6:
            return
        kind = "all" if level == 0 else "kernel" if name.startswith("k:") else "user"
        shown = name.removeprefix("k:")
        y = top + (depth - 1 - level) * ROW
        letters = int((width - 6) / LETTER)
        label = shown if len(shown) <= letters else shown[: letters - 1] + "…" if letters >= 4 else ""
        parts.append(f"<g><title>{escape(shown)}: {share:.1%}</title>")
        parts.append(f'<rect x="{x:.1f}" y="{y}" width="{width:.1f}" height="{ROW - 1}" class="{kind}"/>')
        if label:
            parts.append(f'<text x="{x + 3:.1f}" y="{y + 12}">{escape(label)}</text>')
        parts.append("</g>")
        for child in children:
            draw(child, x, level + 1)
            x += child[1] * room

    draw(root, MARGIN, 0)
    key = MARGIN + 44
    return "\n".join(
        [
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" width="{WIDTH}"'
            f' height="{height}" role="img" aria-labelledby="title desc">',
            f'<title id="title">{escape(title)}</title>',
            f'<desc id="desc">{escape(in_words(root))}</desc>',
            f"<style>{STYLE}</style>",
            '<rect class="page" width="100%" height="100%"/>',
            f'<text x="{MARGIN}" y="{MARGIN + 14}" class="title">{escape(title)}</text>',
            f'<text x="{MARGIN}" y="{MARGIN + 34}" class="faint">{escape(subtitle)}</text>',
            f'<rect x="{MARGIN}" y="{key}" width="12" height="12" class="user"/>',
            f'<text x="{MARGIN + 18}" y="{key + 10}" class="faint">the server</text>',
            f'<rect x="{MARGIN + 100}" y="{key}" width="12" height="12" class="kernel"/>',
            f'<text x="{MARGIN + 118}" y="{key + 10}" class="faint">the kernel, on its behalf</text>',
            *parts,
            "</svg>\n",
        ]
    )


def in_words(root: list, least: float = 0.05) -> str:
    """The text alternative: what takes much, outermost first."""
    said: list[str] = []

    def tell(node: list, level: int) -> None:
        for child in sorted(node[2], key=lambda each: -each[1]):
            if child[1] >= least and level < 12:
                said.append(f"{child[0].removeprefix('k:')} {child[1]:.0%}")
                tell(child, level + 1)

    tell(root, 0)
    return "Shares of CPU time, each with what it calls after it: " + ", ".join(said) + "."


# --- the recording -------------------------------------------------------------------------------


def refuse() -> str:
    """Says why perf can't record here; else where it is."""
    if sys.platform != "linux":
        raise Failed("perf is a program of Linux")
    perf = shutil.which("perf")
    if not perf:
        raise Failed("perf is missing; on Debian: apt install linux-perf")
    paranoid = pathlib.Path("/proc/sys/kernel/perf_event_paranoid")
    hidden = pathlib.Path("/proc/sys/kernel/kptr_restrict")
    if os.geteuid() != 0 and paranoid.is_file() and int(paranoid.read_text()) > 1:
        raise Failed("the kernel does not let you look: sysctl kernel.perf_event_paranoid=1, as root")
    if os.geteuid() != 0 and hidden.is_file() and int(hidden.read_text()) > 0:
        raise Failed("the kernel does not tell its names: sysctl kernel.kptr_restrict=0, as root")
    return perf


def record(build: pathlib.Path, seconds: float) -> str:
    """What `perf script` prints of `turtle` at S1."""
    perf = refuse()
    scenario, server = table.SCENARIOS[0], table.SERVERS[0]
    bench = run.find_bench(build)
    if not bench or not run.find_program(server, build):
        raise Failed(f"turtle and turtle-bench are not both in {build}; build them: cmake --build {build}")
    with tempfile.TemporaryDirectory(prefix="turtle-perf-") as folder, run.Site(build, bench, seconds, 1) as site:
        data = pathlib.Path(folder) / "perf.data"
        with site.started(server, scenario) as (running, port):
            failures: list[Failed] = []

            def load() -> None:
                try:
                    site.load(scenario, port, seconds + 1.5)
                except Failed as failure:
                    failures.append(failure)

            worker = threading.Thread(target=load)
            worker.start()
            command = [
                perf, "record", "-q", "-F", str(FREQUENCY), "--call-graph", f"dwarf,{STACK_BYTES}", "-o", str(data),
                "-p", str(running.popen.pid), "--", "sleep", f"{seconds:g}",
            ]  # fmt: skip
            done = subprocess.run(command, capture_output=True, text=True, check=False)
            worker.join()
            if failures:
                raise failures[0]
        if done.returncode or not data.is_file():
            raise Failed(f"perf record: {done.stderr.strip()[-300:] or done.returncode}")
        printed = subprocess.run(
            [perf, "script", "--no-inline", "-F", "comm,pid,time,event,ip,sym,symoff,dso", "-i", str(data)],
            capture_output=True, text=True, errors="replace", check=False,
        )  # fmt: skip
        if printed.returncode:
            raise Failed(f"perf script: {printed.stderr.strip()[-300:]}")
        return printed.stdout


def evaluate(script: str) -> dict:
    """What is kept of a recording."""
    stacks: collections.Counter[Stack] = collections.Counter()
    for stack, count in read_script(script).items():
        if tidy(stack):
            stacks[tidy(stack)] += count
    if not stacks:
        raise Failed("perf has recorded no stack")
    return {**describe(stacks), "tree": tree(stacks)}


def picture(found: dict) -> str:
    subtitle = (
        f"{found['samples']:,} samples; the width of a bar is its share of CPU time,"
        " and what stands on it was called by it"
    )
    return svg(found["tree"], "final at S1: small file, keep-alive, 64 connections", subtitle)


def main(arguments: Iterable[str]) -> int:
    parser = argparse.ArgumentParser(
        prog="tools/measure/flame.py", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--from", dest="source", metavar="FILE", help="what perf script printed; - is stdin")
    parser.add_argument("--build", metavar="BUILD", type=pathlib.Path, default=run.ROOT / "build" / "final")
    parser.add_argument("--seconds", metavar="S", type=float, default=5.0)
    parser.add_argument("--json", metavar="FILE", type=pathlib.Path)
    parser.add_argument("--svg", metavar="FILE", type=pathlib.Path)
    options = parser.parse_args(list(arguments))
    try:
        if options.source == "-":
            script = sys.stdin.read()
        elif options.source:
            script = pathlib.Path(options.source).read_text(encoding="utf-8", errors="replace")
        else:
            script = record(options.build.resolve(), options.seconds)
        found = evaluate(script)
    except (Failed, OSError) as failure:
        print(f"flame: {failure}", file=sys.stderr)
        return 1
    if options.json:
        options.json.write_text(json.dumps(found) + "\n", encoding="utf-8")
    if options.svg:
        options.svg.write_text(picture(found), encoding="utf-8")
    if not options.json and not options.svg:
        print(json.dumps({key: value for key, value in found.items() if key != "tree"}, indent=1))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
