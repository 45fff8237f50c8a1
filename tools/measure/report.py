"""From single measurements to medians, and from medians to Markdown."""

from __future__ import annotations

import json
import statistics
from collections.abc import Callable, Iterable, Sequence

from measure.table import (
    COMPRESSED, EVERY_LOAD, OWN, QUOTED, ROUTES, SCALING, SCENARIOS, SERVERS, TLS, WEBSOCKET, Scenario,
)  # fmt: skip

KINDS = {server.name: server.kind for server in SERVERS}
ORDER = {server.name: index for index, server in enumerate(SERVERS)}
MEDIAN_OF = (
    "cpu_us", "requests_per_second", "p50_us", "p99_us", "idle_bytes", "other_cpus", "server_cpus", "load_cpus",
    "coded_bytes",
)  # fmt: skip
NOISE = 0.1  # of a CPU, used by others during a measurement, makes it doubtful


def medians(rows: Iterable[dict]) -> list[dict]:
    """One entry for each (threads, scenario, server), in the order of the table."""
    groups: dict[tuple[int, str, str], list[dict]] = {}
    for row in rows:
        groups.setdefault((row["threads"], row["scenario"], row["server"]), []).append(row)
    found = []
    for (threads, scenario, server), group in groups.items():
        good = [row for row in group if "failed" not in row]
        entry: dict = {"threads": threads, "scenario": scenario, "server": server, "rounds": len(good)}
        if good:
            for name in MEDIAN_OF:
                values = [row[name] for row in good if name in row]
                if values:
                    entry[name] = statistics.median(values)
            entry["cpu_us_least"] = min(row["cpu_us"] for row in good)
            entry["cpu_us_most"] = max(row["cpu_us"] for row in good)
            entry["max_us"] = max(row["max_us"] for row in good)
            entry["errors"] = sum(row["errors"] for row in good)
            kinds: dict[str, int] = {}
            for row in good:
                for kind, count in row["error_kinds"].items():
                    kinds[kind] = kinds.get(kind, 0) + count
            entry["error_kinds"] = kinds
        broken = [row["failed"] for row in group if "failed" in row]
        if broken:
            entry["failed"] = broken[0]
        found.append(entry)
    scenarios = {each.name: index for index, each in enumerate((*EVERY_LOAD, *SCALING))}
    found.sort(key=lambda each: (each["threads"], scenarios[each["scenario"]], ORDER[each["server"]]))
    return found


def best(entries: Iterable[dict], scenario: str, kind: str) -> dict | None:
    """The entry of that kind with the least CPU time. Errors disqualify: who drops work is cheap."""
    able = [
        each
        for each in entries
        if each["scenario"] == scenario and KINDS[each["server"]] == kind and each["rounds"] and not each["errors"]
    ]
    return min(able, key=lambda each: each["cpu_us"], default=None)


def ratios(rows: Sequence[dict]) -> list[dict]:
    """For each load with an aim: our own in relation to the peer of the aim, and the same within single rounds."""
    entries, found = medians(rows), []
    for scenario in (each for each in EVERY_LOAD if each.aim):
        for own in entries:
            peer = entry_of(entries, own, scenario.aim_peer)
            if own["scenario"] != scenario.name or own["server"] not in OWN or not own["rounds"] or not peer:
                continue
            costs = {
                (row["server"], row["round"]): row["cpu_us"]
                for row in rows
                if (row["threads"], row["scenario"]) == (own["threads"], scenario.name) and "failed" not in row
            }
            within = [
                cost / costs[scenario.aim_peer, round_number]
                for (server, round_number), cost in costs.items()
                if server == own["server"] and costs.get((scenario.aim_peer, round_number))
            ]
            found.append({
                "threads": own["threads"], "scenario": scenario.name, "server": own["server"],
                "to": scenario.aim_peer, "ratio": own["cpu_us"] / peer["cpu_us"], "aim": scenario.aim,
                "least": min(within, default=None), "most": max(within, default=None),
            })  # fmt: skip
    return found


def entry_of(entries: Iterable[dict], own: dict, peer_name: str) -> dict | None:
    """The peer's entry that `own` is to be compared with. Errors disqualify both."""
    same = (
        each for each in entries
        if (each["threads"], each["scenario"], each["server"]) == (own["threads"], own["scenario"], peer_name)
    )  # fmt: skip
    peer = next((each for each in same if each["rounds"] and each["cpu_us"] and not each["errors"]), None)
    return None if own.get("errors") else peer


def number(value: float) -> str:
    """Three digits that count."""
    if value >= 100:
        return f"{value:,.0f}"
    return f"{value:.1f}" if value >= 10 else f"{value:.2f}"


def markdown_table(head: Sequence[str], body: Iterable[Sequence[str]]) -> list[str]:
    return [
        f"| {' | '.join(head)} |",
        f"|---|{'---:|' * (len(head) - 1)}",
        *(f"| {' | '.join(line)} |" for line in body),
    ]


def by_server(
    entries: Sequence[dict], scenarios: Sequence[Scenario], cell: Callable[[dict], str]
) -> list[list[str]]:
    cells = {(each["server"], each["scenario"]): each for each in entries}
    servers = sorted({each["server"] for each in entries}, key=ORDER.__getitem__)
    body = []
    for server in servers:
        line = []
        for scenario in scenarios:
            entry = cells.get((server, scenario.name))
            line.append("" if entry is None else cell(entry) if entry["rounds"] else "failed")
        if any(line):
            body.append([server, *line])
    return body


def ratio_lines(entries: Sequence[dict], scenarios: Sequence[Scenario]) -> list[list[str]]:
    """Our own in relation to the best floor and to the best peer."""
    own = {each["scenario"]: each for each in entries if each["server"] in OWN and each["rounds"]}
    body = []
    for kind in ("floor", "peer"):
        line = []
        for scenario in scenarios:
            other = best(entries, scenario.name, kind)
            entry = own.get(scenario.name)
            line.append(f"{entry['cpu_us'] / other['cpu_us']:.2f}" if entry and other else "")
        if any(line):
            name = " or ".join(sorted({each["server"] for each in own.values()}))
            body.append([f"*{name} ÷ best {kind}*", *line])
    return body + aim_lines(own, entries, scenarios)


def aim_lines(own: dict[str, dict], entries: Sequence[dict], scenarios: Sequence[Scenario]) -> list[list[str]]:
    """Loads with an aim: how our own compares with the peer that the aim names, and the aim."""
    line = []
    for scenario in scenarios:
        entry = own.get(scenario.name) if scenario.aim else None
        peer = entry_of(entries, entry, scenario.aim_peer) if entry else None
        line.append(f"{entry['cpu_us'] / peer['cpu_us']:.2f}" if entry and peer else "")
    if not any(line):
        return []
    aims = [f"{scenario.aim:.2f}" if scenario.aim else "" for scenario in scenarios]
    return [[f"*{compared_names(own, scenarios)}*", *line], ["*the aim: at most*", *aims]]


def compared_names(own: dict[str, dict], scenarios: Sequence[Scenario]) -> str:
    """Who is compared in the loads that have an aim."""
    aimed = [each for each in scenarios if each.aim]
    ours = sorted({own[each.name]["server"] for each in aimed if each.name in own})
    return f"{' or '.join(ours)} ÷ {' or '.join(sorted({each.aim_peer for each in aimed}))}"


def cpu_cell(entry: dict) -> str:
    text = number(entry["cpu_us"])
    return f"{text} (!)" if entry["errors"] else text


def section(title: str, entries: Sequence[dict], scenarios: Sequence[Scenario], quoted: bool) -> list[str]:
    present = {each["scenario"] for each in entries}
    shown = [scenario for scenario in scenarios if scenario.name in present]
    if not shown:
        return []
    head = ["server", *(f"{each.connections:,}" if each in SCALING else each.name for each in shown)]
    body = by_server(entries, shown, cpu_cell) + ratio_lines(entries, shown)
    if quoted:
        for each in QUOTED:
            if each.scenario in present:
                line = [number(each.cpu_us) if each.scenario == scenario.name else "" for scenario in shown]
                body.append([f"{each.name} (quoted, {each.date})", *line])
    unit = shown[0].unit
    lines = [f"### {title}: CPU microseconds per {unit}", "", *markdown_table(head, body)]
    lines += ["", f"### {title}: {unit}s per second", ""]
    lines += markdown_table(head, by_server(entries, shown, lambda each: f"{each['requests_per_second']:,.0f}"))
    idle = [each for each in entries if "idle_bytes" in each]
    if idle:
        lines += ["", f"### {title}: bytes of the server's memory per idle connection", ""]
        lines += markdown_table(
            ["server", "bytes"], ([each["server"], f"{each['idle_bytes']:,.0f}"] for each in idle)
        )
    return [*lines, ""]


def remarks(entries: Sequence[dict], threads_shown: bool) -> list[str]:
    """What a reader has to know beside the medians."""
    lines = []
    for each in entries:
        where = f"{each['scenario']}, {each['server']}" + (f", {each['threads']} threads" if threads_shown else "")
        if each.get("failed"):
            lines.append(f"{where}: failed: {each['failed']}")
        if not each["rounds"]:
            continue
        if each["errors"]:
            kinds = ", ".join(f"{count} {kind}" for kind, count in each["error_kinds"].items())
            lines.append(f"{where}: (!) errors: {kinds}")
        if each["max_us"] > 1e6:
            lines.append(f"{where}: the slowest reply took {each['max_us'] / 1e6:.1f} s")
        spread = each["cpu_us_most"] / each["cpu_us_least"] - 1 if each["cpu_us_least"] else 0
        if spread > 0.1:
            lines.append(
                f"{where}: the rounds differ by {spread:.0%}"
                f" ({number(each['cpu_us_least'])} to {number(each['cpu_us_most'])})"
            )
    return [*lines, *noise(entries)]


def noise(entries: Sequence[dict]) -> list[str]:
    measured = [each for each in entries if each["rounds"]]
    noisy = [each for each in measured if each["other_cpus"] > NOISE]
    if not noisy:
        return []
    most = max(each["other_cpus"] for each in noisy)
    return [
        f"other programs were at work during {len(noisy)} of {len(measured)} measurements, with up to"
        f" {most:.0%} of a CPU: compare nothing that differs by little"
    ]


def how_measured(rounds: int, seconds: float) -> str:
    each = f"{seconds:g} second{'' if seconds == 1 else 's'} each"
    return f"{each}, medians of {rounds} interleaved rounds" if rounds > 1 else f"{each}, one round: no medians"


def data(result: dict) -> str:
    """As JSON, with one line for each entry of a list: it is kept, and so are its differences."""

    def value(of: object) -> str:
        if isinstance(of, list) and of and isinstance(of[0], dict):
            return "[\n  " + ",\n  ".join(json.dumps(each) for each in of) + "\n ]"
        return json.dumps(of)

    return "{\n" + ",\n".join(f' "{name}": {value(of)}' for name, of in result.items()) + "\n}\n"


def markdown(result: dict, machine_lines: Sequence[str]) -> str:
    """The whole report of a result as `cli.bench` collects it."""
    settings, entries = result["settings"], result["medians"]
    lines = ["## The benchmark", "", *(f"- {line}" for line in machine_lines)]
    lines += [f"- {how_measured(settings['rounds'], settings['seconds'])}", ""]
    lines += [f"- **{scenario.name}**: {scenario.title}" for scenario in EVERY_LOAD if scenario.name in
              {each["scenario"] for each in entries}]  # fmt: skip
    lines.append("")
    every = sorted({each["threads"] for each in entries})
    for threads in every:
        of_threads = [each for each in entries if each["threads"] == threads]
        pinned = settings["pinned"] and threads == 1
        where = "server on CPU 0, load on CPU 1" if pinned else "unpinned"
        title = f"{threads} thread{'s' if threads > 1 else ''}, {where}"
        tables = (
            (SCENARIOS, ""), (ROUTES, ", routes"), (TLS, ", over TLS"), (COMPRESSED, ", compressed"),
            (WEBSOCKET, ", over WebSocket"), (SCALING, ", over connections"),
        )  # fmt: skip
        for scenarios, what in tables:
            chosen = [each for each in of_threads if each["scenario"] in {scenario.name for scenario in scenarios}]
            lines += section(title + what, chosen, scenarios, quoted=scenarios is SCENARIOS and threads == 1)
    notes = remarks(entries, len(every) > 1) + [
        f"{name}: not measured: {reason}" for name, reason in result["left_out"].items()
    ]
    if notes:
        lines += ["### To be known", "", *(f"- {note}" for note in notes), ""]
    return "\n".join(lines)
