"""`./learn bench --record DIR`: all that docs/microseconds.md and docs/growth.md are made of, in one go."""

from __future__ import annotations

import json
import pathlib
import re
import shutil
import subprocess
from collections.abc import Callable

from measure import flame, growth, instructions, machine, pages, report, syscalls, table
from measure.process import Failed

# Their results are on the pages.
PROGRAMS = (
    "prices_bench", "buffer_shape_bench", "block_pool_bench", "block_pool_bench_jemalloc", "string_view_bench",
    "parser_kinds_bench", "lru_cache_bench",
)  # fmt: skip
OPTIONAL = {"block_pool_bench_jemalloc"}  # where jemalloc is installed
ROUNDS, REPETITIONS = 5, 5
FLAME_SECONDS, QUICK_FLAME_SECONDS = 10.0, 3.0


def choose(words: str) -> list[str]:
    """The parts that are asked for; none named: all. A wrong name is a Failed."""
    wanted = [name.strip() for name in words.split(",") if name.strip()] or list(pages.PARTS)
    unknown = [name for name in wanted if name not in pages.PARTS]
    if unknown:
        raise Failed(f"no part {', '.join(unknown)}; there are: {', '.join(pages.PARTS)}")
    return [name for name in pages.PARTS if name in wanted]


def missing(build: pathlib.Path, parts: list[str], load: str = "") -> None:
    """A Failed says what the parts need, before minutes of measuring."""
    if "tls" in parts and not shutil.which("openssl"):
        raise Failed("openssl is missing, which makes the certificate; on Debian: apt install openssl")
    if "syscalls" in parts:
        syscalls.refuse(build.parent, list(syscalls.PROGRAMS))
    if "flame" in parts:
        flame.refuse()
    if "instructions" in parts:
        instructions.refuse(build.parent)
    if "growth" in parts:
        growth.refuse(build, load)
    if "micro" in parts:
        for name in PROGRAMS:
            if name not in OPTIONAL and not (build / "bench" / name).is_file():
                raise Failed(f"{name} is not built: cmake --build {build} --target micro_benchmarks")


def read_benchmarks(text: str) -> dict[str, dict[str, float]]:
    """Google Benchmark's JSON: of each benchmark the median, CPU time in nanoseconds."""
    result = json.loads(text)
    units = {"ns": 1.0, "us": 1e3, "ms": 1e6, "s": 1e9}
    found: dict[str, dict[str, float]] = {}
    for each in result["benchmarks"]:
        if each.get("error_occurred"):
            raise Failed(f"{each['name']}: {each.get('error_message', 'failed')}")
        if each.get("run_type") == "aggregate" and each["aggregate_name"] != "median":
            continue
        name = re.sub(r"/(repeats|min_time):[\d.]+", "", each.get("run_name", each["name"]))
        entry = {"ns": round(each["cpu_time"] * units[each["time_unit"]], 3)}
        if "bytes_per_second" in each:
            entry["bytes_per_second"] = round(each["bytes_per_second"])
        found[name] = entry
    return found


def micro(build: pathlib.Path, quick: bool, note: Callable[[str], None]) -> dict:
    programs = {}
    for name in PROGRAMS:
        program = build / "bench" / name
        if not program.is_file():
            continue
        note(f"  {name}")
        command = [str(program), "--benchmark_format=json", f"--benchmark_min_time={0.02 if quick else 0.2}"]
        if not quick:
            command += [f"--benchmark_repetitions={REPETITIONS}", "--benchmark_report_aggregates_only=true"]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        if done.returncode:
            raise Failed(f"{name}: {done.stderr.strip()[-300:] or done.returncode}")
        programs[name] = read_benchmarks(done.stdout)
    return {"programs": programs}


def record(
    folder: pathlib.Path, parts: list[str], build: pathlib.Path, load: str, quick: bool, note: Callable[[str], None]
) -> None:
    """Writes the parts that cli.compare() does not, each when it is complete."""
    measures = {
        "syscalls": lambda: syscalls.measure_all(build.parent, list(syscalls.PROGRAMS)),
        "flame": lambda: flame.evaluate(flame.record(build, QUICK_FLAME_SECONDS if quick else FLAME_SECONDS)),
        "instructions": lambda: instructions.measure_all(build.parent, note),
        "micro": lambda: micro(build, quick, note),
        "growth": lambda: growth.measure_all(build, load, quick, note),
    }
    for part in parts:
        if part in measures:
            note(f"bench: {part}")
            described = machine.describe(build, load, table.SERVERS[:1])
            found = {"machine": described, **measures[part]()}
            path = folder / f"{part}.json"
            path.write_text(report.data(found), encoding="utf-8")
            note(f"bench: {path} is written")
