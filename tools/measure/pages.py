"""What was measured, as text: the generated parts of PAGES, and their pictures.

The data is in docs/measured: table.json, tls.json, compressed.json, websocket.json, syscalls.json,
instructions.json, flame.json, micro.json, growth.json, which `./learn bench --record docs/measured` writes;
other.json, a table of another machine, which `./learn bench --json docs/measured/other.json` writes there; and
trust.json, which tools/trust.py writes.
`tools/site.py texts` makes the pages and the pictures of it. In a page,

    <!-- measured: table -->
    …
    <!-- /measured -->

holds what BLOCKS["table"] makes, and <!-- =flame/kernel -->89 %<!-- / --> the one number that
find() knows under that name. Where data is missing there is a dash.
"""

from __future__ import annotations

import json
import pathlib
import re
from collections.abc import Callable, Sequence

from measure import chart, flame, growth_chart, machine, report, run
from measure.process import Failed
from measure.table import COMPRESSED, OWN, ROUTES, SCALING, SCENARIOS, SERVERS, TLS, WEBSOCKET, Scenario

DATA = run.ROOT / "docs" / "measured"
PAGES = ("docs/microseconds.md", "docs/trust.md", "docs/growth.md", "docs/deployment.md", "chapters/15-lru-cache/README.md")
NONE = "–"
PARTS = ("table", "tls", "compressed", "websocket", "syscalls", "instructions", "flame", "micro", "growth")
# These parts say beside their numbers where they were measured.
DESCRIBED = ("table", "tls", "compressed", "websocket", "growth")


class Unknown(Failed):
    """The page asks for something that there is no rule for."""


class Data:
    """All that was measured; parts that were not are empty."""

    def __init__(self, folder: pathlib.Path = DATA) -> None:
        (
            self.table, self.tls, self.compressed, self.websocket, self.syscalls, self.instructions, self.flame,
            self.micro, self.growth,
        ) = (read(folder / f"{part}.json") for part in PARTS)  # fmt: skip
        self.trust = read(folder / "trust.json")
        self.other = read(folder / "other.json")
        self.medians = on_one_thread(self.table)

    def median(self, scenario: str, server: str) -> dict:
        same = (each for each in self.medians if each["scenario"] == scenario and each["server"] == server)
        return next((each for each in same if each["rounds"]), {})

    def calls(self, name: str, mode: str) -> dict[str, float]:
        rows = self.syscalls.get("rows", [])
        return next((row["modes"].get(mode, {}) for row in rows if row["name"] == name), {})

    def grown(self, chapter: str) -> dict:
        return next((each for each in self.growth.get("medians", []) if each["chapter"] == chapter), {})

    def nanoseconds(self, program: str, name: str) -> float | None:
        return self.micro.get("programs", {}).get(program, {}).get(name, {}).get("ns")


def on_one_thread(table: dict) -> list[dict]:
    return [each for each in table.get("medians", []) if each["threads"] == 1]


def read(path: pathlib.Path) -> dict:
    return json.loads(path.read_text(encoding="utf-8")) if path.is_file() else {}


# --- numbers -------------------------------------------------------------------------------------


def microseconds(value: float | None) -> str:
    return NONE if value is None else report.number(value)


def nanoseconds(value: float | None) -> str:
    if value is None:
        return NONE
    return f"{value:,.0f}" if value >= 100 else f"{value:.1f}" if value >= 10 else f"{value:.2f}"


def percent(value: float | None) -> str:
    if value is None:
        return NONE
    return f"{value:.0%}".replace("%", " %") if value >= 0.0995 else f"{value:.1%}".replace("%", " %")


def count(value: float | None) -> str:
    return NONE if value is None else f"{value:.2f}".rstrip("0").rstrip(".")


def count_of(value: float | None) -> str:
    return NONE if value is None else f"{value:,.0f}"


def total(calls: dict[str, float]) -> float | None:
    return round(sum(calls.values()), 2) if calls else None


def find(data: Data, key: str) -> str:
    """One number of the page's sentences."""
    if key == "together":
        return str(data.syscalls.get("together", NONE))
    kind, _, rest = key.partition("/")
    names = rest.split("/")
    try:
        if kind == "cpu":  # cpu/S1/final
            return microseconds(data.median(names[0], names[1]).get("cpu_us"))
        if kind == "idle":  # idle/final
            value = data.median("S5", names[0]).get("idle_bytes")
            return NONE if value is None else f"{value:,.0f}"
        if kind == "flame":  # flame/kernel, flame/user, flame/calls/send, flame/functions/…
            if names == ["user"]:
                return percent(1 - data.flame["kernel"] if data.flame else None)
            value = data.flame
            for name in names:
                value = value.get(name, {}) if isinstance(value, dict) else {}
            return percent(value if isinstance(value, float) else None)
        if kind == "calls":  # calls/03/keep-alive or calls/03/keep-alive/recvfrom
            calls = data.calls(names[0], names[1])
            return count(total(calls) if len(names) == 2 else calls.get(names[2]))
        if kind == "ns":  # ns/prices_bench/EmptyReceive
            return nanoseconds(data.nanoseconds(names[0], names[1]))
        if kind == "instructions":  # instructions/inlined/keep-alive
            value = data.instructions.get("builds", {}).get(names[0], {}).get(names[1])
            return NONE if value is None else f"{value:,}"
        if kind == "growth":  # growth/02/cpu_us, growth/asked
            if names == ["asked"]:
                return count_of(data.growth.get("settings", {}).get("asked"))
            value = data.grown(names[0]).get(names[1])
            return microseconds(value) if names[1] == "cpu_us" else count_of(value)
        if kind == "trust":  # trust/soak/requests
            value = data.trust.get(names[0], {}).get(names[1])
            return NONE if value is None else value if isinstance(value, str) else f"{value:,}"
    except IndexError:
        pass
    raise Unknown(f"there is no number {key}")


# --- tables --------------------------------------------------------------------------------------


def machine_block(data: Data) -> list[str]:
    if not data.table:
        return [NONE]
    described = data.table["machine"]
    lines = [*(f"- {line}" for line in machine.lines(described)), f"- {day(described)}; {manner(data.table['settings'])}"]
    for part in (each for each in PARTS if each not in DESCRIBED):  # measured at another time or in another place
        other = getattr(data, part).get("machine")
        if other and what_counts(other) != what_counts(described):
            lines.append(f"- {part}.json: {machine.subtitle(other)}")
    return lines


def manner(settings: dict) -> str:
    where = "the server on one core, the load generator on the other" if settings["pinned"] else "unpinned"
    return f"{report.how_measured(settings['rounds'], settings['seconds'])}; {where}"


def what_counts(described: dict) -> tuple[str, str, str]:
    return day(described), described["cpu"], described["kernel"]


def day(described: dict) -> str:
    return described["date"].split()[0]


def titles(scenarios: Sequence[Scenario]) -> list[str]:
    return ["| | load |", "|---|---|", *(f"| {each.name} | {each.title} |" for each in scenarios)]


def loads_block(data: Data) -> list[str]:
    return titles(SCENARIOS)


def compared(medians: Sequence[dict], scenarios: Sequence[Scenario], quoted: bool = False) -> list[str]:
    """What each server needs; the last lines compare our own with the best of the others."""
    entries = [each for each in medians if each["scenario"] in {scenario.name for scenario in scenarios}]
    if not entries:
        return [NONE]
    shown = [each for each in scenarios if each.name in {entry["scenario"] for entry in entries}]
    body = report.by_server(entries, shown, report.cpu_cell) + report.ratio_lines(entries, shown)
    for each in report.QUOTED if quoted else ():
        line = [report.number(each.cpu_us) if each.scenario == scenario.name else "" for scenario in shown]
        if any(line):
            body.append([f"{each.name} (quoted, {each.date})", *line])
    return report.markdown_table([f"CPU µs per {shown[0].unit}", *(each.name for each in shown)], body)


def table_block(data: Data) -> list[str]:
    return compared(data.medians, SCENARIOS, quoted=True)


def other_block(data: Data) -> list[str]:
    if not data.other:
        return [NONE]
    measured_on = f"{machine.subtitle(data.other['machine'])}; {manner(data.other['settings'])}."
    return [measured_on, "", *compared(on_one_thread(data.other), SCENARIOS)]


def routes_block(data: Data) -> list[str]:
    return [*titles(ROUTES), "", *compared(on_one_thread(data.other), ROUTES)]


def aims(scenarios: Sequence[Scenario]) -> list[str]:
    first = scenarios[0]  # the others of its part compare the same servers
    own = next(each.name for each in SERVERS if each.name in OWN and each.takes_part(first))
    return [
        f"| | load | the aim: `{own}` ÷ {first.aim_peer} |", "|---|---|---:|",
        *(f"| {each.name} | {each.title} | at most {each.aim:.2f} |" for each in scenarios),
    ]  # fmt: skip


def tls_block(data: Data) -> list[str]:
    if not data.tls:
        return [NONE]
    agreed = data.tls["tls"]
    also = f" Certificate {agreed['certificate']}; {agreed['agreed']}; {agreed['openssl']}."
    return with_aims(data.tls, TLS, also)


def compressed_block(data: Data) -> list[str]:
    if not data.compressed:
        return [NONE]
    lengths = [
        f"{each['scenario']}, {each['server']}: {each['coded_bytes']:,.0f} bytes encoded"
        for each in on_one_thread(data.compressed) if "coded_bytes" in each
    ]  # fmt: skip
    return [*with_aims(data.compressed, COMPRESSED), *(f"- {line}" for line in lengths)]


def websocket_block(data: Data) -> list[str]:
    return with_aims(data.websocket, WEBSOCKET) if data.websocket else [NONE]


def with_aims(part: dict, scenarios: Sequence[Scenario], also: str = "") -> list[str]:
    """Loads with an aim, measured on their own, so it says where and when."""
    described, entries = part["machine"], on_one_thread(part)
    lines = [
        f"{machine.subtitle(described)}; {manner(part['settings'])}.{also}",
        "", *compared(entries, scenarios), "", *(f"- {line}" for line in machine.lines(described)[2:]),
    ]  # fmt: skip
    for each in part["ratios"]:
        if each["threads"] == 1 and each["least"] != each["most"]:  # more than one round
            lines.append(f"- {each['scenario']}, {each['server']} ÷ {each['to']}: in single rounds"
                         f" {each['least']:.2f} to {each['most']:.2f}")  # fmt: skip
    lines += [f"- {line}" for line in report.remarks(entries, threads_shown=False)]
    return lines + [f"- {name}: not measured: {why}" for name, why in part["left_out"].items()]


def scaling_block(data: Data) -> list[str]:
    names = {each.name for each in SCALING}
    entries = [each for each in data.medians if each["scenario"] in names]
    if not entries:
        return [NONE]
    head = ["connections", *(f"{each.connections:,}" for each in SCALING)]
    return report.markdown_table(head, report.by_server(entries, SCALING, report.cpu_cell))


def idle_block(data: Data) -> list[str]:
    entries = [each for each in data.medians if "idle_bytes" in each]
    body = [[each["server"], f"{each['idle_bytes']:,.0f}"] for each in entries]
    return report.markdown_table(["server", "bytes per idle connection"], body) if body else [NONE]


def remarks_block(data: Data) -> list[str]:
    lines = report.remarks(data.medians, threads_shown=False)
    lines += [f"{name}: not measured: {why}" for name, why in data.table.get("left_out", {}).items()]
    return [f"- {line}" for line in lines] or ["- nothing out of the ordinary"]


def flame_block(data: Data) -> list[str]:
    if not data.flame:
        return [NONE]
    said = {"send": "`send`", "receive": "`recv`", "wait": "`epoll_wait`", "interrupts": "interrupts"}
    rows = [["**the kernel**", percent(data.flame["kernel"])]]
    for name, share in data.flame["calls"].items():
        rows.append([f"in {said.get(name, name)}", percent(share)])
        if name == "send":
            rows.append(["of that: delivering to the client's socket", percent(data.flame["delivery"])])
    rows.append(["**the server's own code**", find(data, "flame/user")])
    rows += [[f"in `{name}`", percent(share)] for name, share in list(data.flame["functions"].items())[:10]]
    return report.markdown_table(["at S1", "share of CPU time"], rows)


# The order in which a request makes them.
CALLS = (
    "epoll_wait", "accept4", "epoll_ctl", "recvfrom", "openat2", "newfstatat", "pread64", "sendto", "sendmsg", "write",
    "read", "shutdown", "close",
)  # fmt: skip


def syscalls_table(data: Data, mode: str) -> list[str]:
    rows = [(row, row["modes"][mode]) for row in data.syscalls.get("rows", []) if row["modes"].get(mode)]
    if not rows:
        return [NONE]
    lines = ["| chapter | calls of one request | all |", "|---|---|---:|"]
    for row, calls in rows:
        names = [name for name in CALLS if name in calls] + sorted(calls.keys() - set(CALLS))
        said = [f"`{name}`" if calls[name] == 1 else f"{count(calls[name])} `{name}`" for name in names]
        lines.append(f"| {row['name']} | {', '.join(said)} | **{count(total(calls))}** |")
    return lines


# What `final` does, and the number of it. Each: what, in which unit, without, with, where from.
def steps_block(data: Data) -> list[str]:
    def cpu(load: str, server: str) -> str:
        return find(data, f"cpu/{load}/{server}")

    def calls(name: str, mode: str) -> str:
        return find(data, f"calls/{name}/{mode}")

    def price(name: str, program: str = "prices_bench") -> str:
        return find(data, f"ns/{program}/{name}")

    counted, timed, tabled = "system calls, strace", "ns, `prices_bench`", "µs, the table"
    rows = [
        ("read until short", f"{counted}, 03 and 04", calls("03", "keep-alive"), calls("04", "keep-alive")),
        ("read until short", timed, price("ReadUntilEmpty"), price("ReadUntilShort")),
        ("one write for 16 requests", f"{counted}, 13", calls("13", "keep-alive"), calls("13", "pipelined")),
        ("one write for 16 requests", f"{timed}, for all 16", price("SixteenWrites"), price("OneWriteForSixteen")),
        ("one write for 16 requests", f"{tabled}, S1 and S2h", cpu("S1", "final"), cpu("S2h", "final")),
        ("late registration", f"{timed}, in and out", price("RegisterAndRemove"), "0"),
        ("read straight after accept", f"{counted}, request late and there", calls("final", "apart"),
         calls("final", "close")),
        ("deferred accept", f"{counted}, request late", calls("final", "apart"), calls("final-deferred", "apart")),
        ("deferred accept", f"{tabled}, floor at S3", cpu("S3", "floor"), cpu("S3", "floor-deferred")),
        ("deferred accept", f"{tabled}, final at S3", cpu("S3", "final-no-defer"), cpu("S3", "final")),
        ("the FIN on the last data", f"{tabled}, floor at S3", cpu("S3", "floor-deferred"), cpu("S3", "floor-fin")),
        ("the FIN on the last data", f"{tabled}, floor at S6", cpu("S6", "floor-deferred"), cpu("S6", "floor-fin")),
        ("inherited `TCP_NODELAY`", timed, price("SetNoDelay"), "0"),
        ("non-blocking by `accept4`", timed, price("SetNonBlocking"), "0"),
        ("`accept4` in batches", f"{timed}, a look at the poller for each", price("AskPoller"), "a share of it"),
        ("`Date` once a second", timed, price("DateEachTime"), price("DateOnceASecond")),
        ("ready replies from the cache", f"{counted}, 12 and 13", calls("12", "keep-alive"),
         calls("13", "keep-alive")),
        ("ready replies from the cache", f"{timed}, of a file", price("OpenStatReadClose"), "0"),
        ("ready replies from the cache", f"{tabled}, S1", cpu("S1", "final-no-cache"), cpu("S1", "final")),
        ("inlining across files", "instructions, keep-alive", find(data, "instructions/apart/keep-alive"),
         find(data, "instructions/inlined/keep-alive")),
        ("inlining across files", "instructions, pipelined", find(data, "instructions/apart/pipelined"),
         find(data, "instructions/inlined/pipelined")),
        ("borrowed read buffers", "bytes per idle connection, nginx and final", find(data, "idle/nginx"),
         find(data, "idle/final")),
    ]  # fmt: skip
    head = ["| what | measured as | without | with |", "|---|---|---:|---:|"]
    return [*head, *(f"| {' | '.join(row)} |" for row in rows)]


def ties_block(data: Data) -> list[str]:
    def price(name: str) -> str:
        return find(data, f"ns/prices_bench/{name}")

    return [
        "| what | measured as | one way | the other |", "|---|---|---:|---:|",
        "| head and body: one copied piece, or two pieces by `sendmsg` | ns, `prices_bench` |"
        f" {price('CopyIntoOnePiece')} | {price('SendTwoPieces')} |",
    ]  # fmt: skip


def pairs(
    data: Data, ways: Sequence[tuple[str, str, str]], cases: Sequence[tuple[str, str]], unit: str
) -> list[str]:
    """`ways`: (title, program, pattern of the name with {}); `cases`: (title, what stands for {})."""
    body = []
    for title, case in cases:
        line = [nanoseconds(data.nanoseconds(program, pattern.format(case))) for _, program, pattern in ways]
        if any(cell != NONE for cell in line):
            body.append([title, *line])
    return report.markdown_table([unit, *(title for title, _, _ in ways)], body) if body else [NONE]


def buffer_block(data: Data) -> list[str]:
    program = "buffer_shape_bench"
    lines = [NONE]
    cases = (
        [(f"used up at once, {size} bytes", f"UsedUpAtOnce<{{}}>/{size}") for size in (64, 1024, 16384)]
        + [(f"a stream of requests of {size} bytes", f"StreamOfRequests<{{}}>/{size}") for size in (45, 700, 5000)]
        + [(f"a queue of {size:,} bytes", f"LongQueue<{{}}>/{size}") for size in (1000, 64000, 1000000)]
    )
    body = []
    for title, pattern in cases:
        line = [nanoseconds(data.nanoseconds(program, pattern.format(shape))) for shape in ("Linear", "CyclicBuffer")]
        if any(cell != NONE for cell in line):
            body.append([title, *line])
    return report.markdown_table(["ns", "linear", "cyclic"], body) if body else lines


def pool_block(data: Data) -> list[str]:
    ways = [
        ("block pool", "block_pool_bench", "{}<Pool>"),
        ("glibc's malloc", "block_pool_bench", "{}<Malloc>"),
        ("jemalloc", "block_pool_bench_jemalloc", "{}<Malloc>"),
    ]
    cases = [("one at a time", "OneAtATime"), ("beside small objects", "BesideSmallObjects")]
    lines = pairs(data, ways, cases, "ns")
    more = [(title, program, pattern.replace("{}<", "Burst<") + "/{}") for title, program, pattern in ways]
    bursts = pairs(data, more, [(f"a burst of {size}, for all", str(size)) for size in (8, 64, 512)], "ns")
    return lines + bursts[2:] if len(lines) > 1 else lines


def string_block(data: Data) -> list[str]:
    ways = [
        ("`string_view`", "string_view_bench", "View{}"),
        ("`const string&`", "string_view_bench", "Reference{}"),
    ]
    cases = [
        ("a string", "OfString/short_text"), ("a long string", "OfString/long_text"),
        ("a short literal", "OfShortLiteral"), ("a long literal", "OfLongLiteral"), ("a part of a text", "OfPart"),
    ]  # fmt: skip
    return pairs(data, ways, cases, "ns")


def parser_block(data: Data) -> list[str]:
    program = "parser_kinds_bench"
    ways = [
        ("table-driven", program, "Cut/table_{}"),
        ("by hand", program, "Cut/by_hand_{}"),
        ("by hand, with vectors", program, "Cut/by_hand_vector_{}"),
        ("the book's, which also knows what it reads", program, "Parse/{}"),
    ]
    cases = [("the head of wrk", "wrk"), ("of Firefox", "firefox"), ("of Chrome", "chrome")]
    return pairs(data, ways, cases, "ns")


def lru_block(data: Data) -> list[str]:
    ways = [
        (f"{what}, {title}", "lru_cache_bench", f"{name}<{cache}>/{{}}")
        for what, name in (("a hit", "FindHit"), ("a miss", "FindMiss"), ("an insert that evicts", "InsertAndEvict"))
        for title, cache in (("ours", "OneNode"), ("standard", "Standard"))
    ]
    return pairs(data, ways, [(f"{size:,} entries", str(size)) for size in (10, 1000, 100_000)], "ns")


def growth_block(data: Data) -> list[str]:
    body = [
        [
            each["chapter"], "echo" if each["kind"] == "echo" else "HTTP", count_of(each["connections"]), count_of(each["threads"]),
            microseconds(each["cpu_us"]), count_of(each["requests_per_second"]), f"{each['p99_us'] / 1000:.2f}",
            count_of(each["held"]), count_of(each["lines"]),
        ]
        for each in data.growth.get("medians", [])
    ]  # fmt: skip
    head = ["chapter", "load", "clients", "threads", "µs of CPU", "requests/s", "99 %, ms", "held", "lines of code"]
    return report.markdown_table(head, body) if body else [NONE]


def growth_machine_block(data: Data) -> list[str]:
    return [f"- {line}" for line in growth_chart.remarks(data.growth)] if data.growth else [NONE]


BLOCKS: dict[str, Callable[[Data], list[str]]] = {
    "growth": growth_block,
    "growth machine": growth_machine_block,
    "machine": machine_block,
    "loads": loads_block,
    "table": table_block,
    "routes": routes_block,
    "other": other_block,
    "tls loads": lambda data: aims(TLS),
    "tls": tls_block,
    "compressed loads": lambda data: aims(COMPRESSED),
    "compressed": compressed_block,
    "websocket loads": lambda data: aims(WEBSOCKET),
    "websocket": websocket_block,
    "scaling": scaling_block,
    "idle": idle_block,
    "remarks": remarks_block,
    "flame": flame_block,
    "syscalls keep-alive": lambda data: syscalls_table(data, "keep-alive"),
    "syscalls close": lambda data: syscalls_table(data, "close"),
    "syscalls pipelined": lambda data: syscalls_table(data, "pipelined"),
    "syscalls apart": lambda data: syscalls_table(data, "apart"),
    "steps": steps_block,
    "ties": ties_block,
    "buffer": buffer_block,
    "pool": pool_block,
    "string": string_block,
    "parser": parser_block,
    "lru": lru_block,
}


# --- files ---------------------------------------------------------------------------------------

BLOCK = re.compile(r"(<!-- measured: ([a-z -]+) -->\n).*?(<!-- /measured -->)", re.DOTALL)
INLINE = re.compile(r"(<!-- =(\S+) -->)(.*?)(<!-- / -->)", re.DOTALL)


def with_measured(text: str, data: Data) -> str:
    """`text` with its generated parts made anew. An Unknown names what there is no rule for."""

    def block(match: re.Match[str]) -> str:
        if match[2] not in BLOCKS:
            raise Unknown(f"there is no table {match[2]}")
        # Empty lines: a table ends where a comment follows it, and begins after one.
        return f"{match[1]}\n" + "\n".join(BLOCKS[match[2]](data)) + f"\n\n{match[3]}"

    for found in INLINE.finditer("\n" + text):
        if ("\n" + text)[found.start() - 1] == "\n":
            raise Unknown(f"a line can't begin with the number {found[2]}: Markdown takes it for a block")
    text = BLOCK.sub(block, text)
    return INLINE.sub(lambda match: match[1] + find(data, match[2]) + match[4], text)


def generated(root: pathlib.Path = run.ROOT) -> dict[str, str]:
    """The files that are made of the data: path below `root` and text."""
    folder = root / "docs" / "measured"
    data = Data(folder)
    files = {}
    for page in PAGES:
        if not (root / page).is_file():
            continue
        try:
            files[page] = with_measured((root / page).read_text(encoding="utf-8"), data)
        except Unknown as error:
            raise Unknown(f"{page}: {error}") from error
    if data.table:
        files["docs/measured/table.svg"] = chart.svg(data.table["medians"], machine.subtitle(data.table["machine"]))
    if data.growth:
        files["docs/measured/growth.svg"] = growth_chart.svg(data.growth)
    if data.flame:
        files["docs/measured/flame.svg"] = flame.picture(data.flame)
    return files
