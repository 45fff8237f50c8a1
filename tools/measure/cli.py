"""The command line of the benchmark: `./learn bench` and `python3 tools/bench.py`."""

from __future__ import annotations

import argparse
import dataclasses
import pathlib
import shutil
import signal
import sys
from collections.abc import Sequence

from measure import chart, machine, pages, process, record, report, run, table
from measure.process import Failed
from measure.run import ROOT
from measure.table import Scenario, Server

BUILD = ROOT / "build" / "final"
ROUNDS = 3
QUICK_ROUNDS, QUICK_SECONDS = 1, 1.0
OVERHEAD_SECONDS = 1.5  # of starting and ending a server
MAX_THREADS = 64

EXAMPLES = """\
  ./learn bench --quick                          one short round of everything, some minutes
  ./learn bench --rounds 5 --json a.json --svg a.svg
  ./learn bench --only S1,S3 --servers final,floor-fin,nginx
  ./learn bench --scaling                        the cost at 1, 10, … 10,000 connections too
  ./learn bench --record docs/measured --parts tls    the loads over TLS alone; other numbers stay
  ./learn bench --record docs/measured           all numbers of "Where the microseconds go" and "How it grew"
"""


def add_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--quick", action="store_true", help="one round of one second each")
    parser.add_argument("--rounds", metavar="N", type=positive, help="interleaved rounds; the medians count (3)")
    parser.add_argument("--seconds", metavar="S", type=seconds, help="of load for each measurement (4)")
    parser.add_argument("--only", metavar="S1,S3", default="", help="only these loads")
    parser.add_argument("--servers", metavar="A,B", default="", help="only these servers")
    parser.add_argument("--threads", metavar="1,2", type=threads, default=[1], help="of the servers (1)")
    parser.add_argument("--scaling", action="store_true", help="the cost at 1, 10, … 10,000 connections too")
    parser.add_argument("--json", metavar="FILE", type=pathlib.Path, help="every measurement")
    parser.add_argument("--svg", metavar="FILE", type=pathlib.Path, help="the medians as a picture")
    parser.add_argument(
        "--record", metavar="DIR", type=pathlib.Path, help="write all that docs/microseconds.md and docs/growth.md are made of"
    )
    parser.add_argument("--parts", metavar="A,B", default="", help="with --record: only these (table, tls, …)")
    parser.add_argument("--list", action="store_true", help="only say which loads and servers there are")
    parser.add_argument("--build", metavar="DIR", type=pathlib.Path, help="a build of final (build/final)")
    parser.add_argument("--load", metavar="PROGRAM", default="", help="another turtle-bench")


@dataclasses.dataclass(frozen=True)
class Files:
    """What the results are written into."""

    json: pathlib.Path | None = None
    svg: pathlib.Path | None = None


def positive(words: str) -> int:
    if not words.isdigit() or int(words) < 1:
        raise argparse.ArgumentTypeError(f"a number from 1 on is needed, not {words}")
    return int(words)


def seconds(words: str) -> float:
    try:
        value = float(words)
    except ValueError:
        value = 0.0
    if not 0.1 <= value <= 3600:
        raise argparse.ArgumentTypeError(f"0.1 to 3600 seconds, not {words}")
    return value


def threads(words: str) -> list[int]:
    counts = [int(word) if word.isdigit() else 0 for word in words.split(",")]
    if not all(1 <= count <= MAX_THREADS for count in counts):
        raise argparse.ArgumentTypeError(f"numbers from 1 to {MAX_THREADS} with commas between them, not {words}")
    return sorted(set(counts))


def main(arguments: list[str]) -> int:
    parser = argparse.ArgumentParser(
        prog="tools/bench.py",
        description="Measures final beside other servers and the floors. Builds nothing: `./learn bench` does.",
        epilog=EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    add_options(parser)
    try:
        return bench(parser.parse_args(arguments))
    except Failed as failure:
        print(f"bench: {failure}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        print("\nbench: interrupted", file=sys.stderr)
        return 130


def chosen(
    options: argparse.Namespace, part: str = "", *, scaling: bool = False
) -> tuple[Sequence[Scenario], Sequence[Server]]:
    """The loads and servers that were asked for, of one part, or of all for "". A Failed names one that isn't there."""
    try:
        scenarios = table.choose(options.only, table.COMPARED[part] if part else table.EVERY_LOAD, "load")
        servers = table.choose(options.servers, table.SERVERS, "server")
    except ValueError as error:
        raise Failed(f"part {part}: {error}" if part else str(error)) from error
    scenarios = (*scenarios, *(table.SCALING if scaling else ()))
    return scenarios, [server for server in servers if any(map(server.takes_part, scenarios))]


def bench(options: argparse.Namespace) -> int:
    """Measures and reports; the exit code. A Failed says why nothing could be measured."""
    if options.record and not options.list:
        return record_all(options)
    rounds = options.rounds or (QUICK_ROUNDS if options.quick else ROUNDS)
    return compare(options, rounds, Files(options.json, options.svg), scaling=options.scaling)


def record_all(options: argparse.Namespace) -> int:
    """The data of the page. A whole table is written over, so it is measured with all that belongs to it.

    The loads over TLS, the compressed ones and those over WebSocket have files of their own, each with its own
    machine and date: they leave the table as it is.
    """
    folder, parts = options.record.resolve(), record.choose(options.parts)
    build = (options.build or BUILD).resolve()
    compared = [part for part in parts if part in table.COMPARED]
    for part in compared:
        chosen(options, part)  # refuses an unknown load before anything is measured
    record.missing(build, parts, options.load or run.find_bench(build))
    folder.mkdir(parents=True, exist_ok=True)
    status = 0
    rounds = options.rounds or (QUICK_ROUNDS if options.quick else record.ROUNDS)
    for part in compared:
        is_table = part == "table"
        files = Files(folder / f"{part}.json", folder / "table.svg" if is_table else None)
        status = max(status, compare(options, rounds, files, part, scaling=is_table))
    record.record(folder, parts, build, options.load or run.find_bench(build), options.quick, note)
    if folder == pages.DATA:
        for name, text in pages.generated().items():
            (ROOT / name).write_text(text, encoding="utf-8")
        note(f"bench: {', '.join(pages.PAGES)}: new numbers; see whether the sentences still hold")
    return status


def compare(options: argparse.Namespace, rounds: int, files: Files, part: str = "", *, scaling: bool) -> int:
    """Measures the loads of one part or, for "", of all; the exit code."""
    scenarios, servers = chosen(options, part, scaling=scaling)
    build = (options.build or BUILD).resolve()
    left_out = {server.name: server.missing for server in servers if not run.find_program(server, build)}
    servers = [server for server in servers if server.name not in left_out]
    if options.list:
        print_list(scenarios, servers, left_out)
        return 0
    program = options.load or run.find_bench(build)
    refuse(scenarios, servers, left_out, program, build)
    if not shutil.which(program):
        raise Failed(f"{program}: no such program")
    for file in filter(None, (files.json, files.svg)):
        check_writable(file)

    duration = options.seconds or (QUICK_SECONDS if options.quick else 4.0)
    result: dict = {
        "machine": machine.describe(build, program, servers),
        "settings": {"rounds": rounds, "seconds": duration, "threads": options.threads, "pinned": False},
        "rows": [],
        "quoted": [vars(each) for each in table.QUOTED if each.scenario in {load.name for load in scenarios}],
        "left_out": left_out,
    }
    if any(scenario.handshakes for scenario in scenarios):
        result["tls"] = machine.describe_tls()
    for warning in machine.warnings(result["machine"]):
        note(f"bench: {warning}")
    signal.signal(signal.SIGTERM, stop)
    interrupted = False
    try:
        for count in options.threads:
            with run.Site(build, program, duration, count) as site:
                if count == 1:
                    result["settings"]["pinned"] = site.pinned
                measure_all(site, scenarios, servers, rounds, result["rows"])
    except KeyboardInterrupt:
        interrupted = True
        note("\nbench: interrupted; this is what was measured until then")
        if options.record:
            files = Files()  # the data that was there is whole
    result["medians"] = report.medians(result["rows"])
    if any(scenario.aim for scenario in scenarios):
        result["ratios"] = report.ratios(result["rows"])
    publish(result, files)
    if interrupted:
        raise KeyboardInterrupt
    # What is measured here is our own: a peer that fails is only told of.
    return 0 if all("failed" not in row for row in result["rows"] if row["server"] in table.OWN) else 1


def measure_all(
    site: run.Site, scenarios: Sequence[Scenario], servers: Sequence[Server], rounds: int, rows: list[dict]
) -> None:
    total = rounds * sum(server.takes_part(scenario) for scenario in scenarios for server in servers)
    minutes = max(1, round(total * (site.seconds + OVERHEAD_SECONDS) / 60))
    note(f"{total} measurements, about {minutes} minute{'s' if minutes > 1 else ''}")
    for scenario in scenarios:
        for number in range(1, rounds + 1):
            for server in servers:
                if not server.takes_part(scenario):
                    continue
                row = {"threads": site.threads, "scenario": scenario.name, "server": server.name, "round": number}
                try:
                    row.update(site.measure(server, scenario))
                    said = f"{row['cpu_us']:7.2f} us of CPU, {row['requests_per_second']:9,.0f} {scenario.unit}s/s"
                    if "idle_bytes" in row:
                        said += f", {row['idle_bytes']:,.0f} bytes per idle connection"
                    if "full" in row:
                        said += f", {row['full']:,} full and {row['resumed']:,} resumed handshakes"
                    if "coded_bytes" in row:
                        said += f", {row['coded_bytes']:,} bytes encoded"
                    if row["errors"]:
                        said += f", {row['errors']} errors"
                except Failed as failure:
                    row["failed"] = str(failure)
                    said = f"failed: {failure}"
                rows.append(row)
                note(f"  {scenario.name:<7} {number}/{rounds} {server.name:<15} {said}")


def refuse(
    scenarios: Sequence[Scenario], servers: Sequence[Server], left_out: dict[str, str], program: str,
    build: pathlib.Path,
) -> None:  # fmt: skip
    """Says at once what would only show after minutes."""
    if not process.PROC.joinpath("self", "stat").exists():
        raise Failed("CPU time is read from /proc, as Linux has it; this system has none")
    if not servers:
        why = "; ".join(f"{name}: {why}" for name, why in left_out.items())
        raise Failed(f"no server to measure: {why or 'none takes part in these loads'}")
    if not program:
        raise Failed(f"turtle-bench is not in {build}; build it: cmake --build {build}")
    most = max(scenario.connections + scenario.idle for scenario in scenarios)
    limit = process.raise_descriptors()
    if limit < most + 100:
        raise Failed(
            f"{most:,} connections need {most + 100:,} descriptors, and `ulimit -Hn` allows {limit:,};"
            " raise it, or choose loads with --only"
        )


def check_writable(file: pathlib.Path) -> None:
    """What an earlier run has written into it stays until there is something new."""
    existed = file.exists()
    try:
        with open(file, "ab"):
            pass
    except OSError as error:
        raise Failed(f"{file}: {error.strerror}") from error
    if not existed:
        file.unlink()


def publish(result: dict, files: Files) -> None:
    described = machine.lines(result["machine"])
    if not result["rows"]:
        return
    print(report.markdown(result, described), flush=True)
    if files.json:
        files.json.write_text(report.data(result), encoding="utf-8")
        note(f"bench: {files.json} has every measurement")
    if files.svg and any(each["rounds"] for each in result["medians"]):
        picture = chart.svg(result["medians"], machine.subtitle(result["machine"]))
        files.svg.write_text(picture, encoding="utf-8")
        note(f"bench: {files.svg} is the picture")


def print_list(scenarios: Sequence[Scenario], servers: Sequence[Server], left_out: dict[str, str]) -> None:
    print("loads")
    for scenario in scenarios:
        print(f"  {scenario.name:<15} {scenario.title}")
    print("servers")
    for server in servers:
        only = f" (only {', '.join(server.only)})" if server.only else ""
        print(f"  {server.name:<15} {' '.join(server.command)}{only}")
    for name, reason in left_out.items():
        print(f"  {name:<15} not there: {reason}")


def stop(number: int, _: object) -> None:
    raise KeyboardInterrupt


def note(words: str) -> None:
    print(words, file=sys.stderr, flush=True)
