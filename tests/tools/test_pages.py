"""The generated parts of a page: tables, numbers in sentences, and what a recording becomes."""

import json
import pathlib
import re
import sys
import types

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tools"))

from measure import cli, instructions, pages, record, report  # noqa: E402
from measure.process import Failed  # noqa: E402


def row(server, cpu, scenario, **more):
    return {
        "threads": 1, "scenario": scenario, "server": server, "cpu_us": cpu, "requests_per_second": 1e6 / cpu,
        "p50_us": 100.0, "p99_us": 200.0, "max_us": 3000.0, "errors": 0, "error_kinds": {}, "other_cpus": 0.0,
        "server_cpus": 0.9, "load_cpus": 0.9, **more,
    }  # fmt: skip


MACHINE = {
    "date": "2030-01-02 03:04 +0000", "cpu": "Abacus", "cores": 2, "virtual": True, "governor": "not readable",
    "memory_mb": 1000, "kernel": "Linux 9", "system": "Debian", "compiler": "gcc", "build_type": "Release",
    "load_generator": "turtle-bench", "versions": {"nginx": "nginx/1.2"}, "load_average": 0.0,
}  # fmt: skip


@pytest.fixture
def folder(tmp_path):
    rows = [row("final", 6.5, "S1"), row("floor", 6.0, "S1"), row("final", 7.0, "S5", idle_bytes=200.0),
            row("final", 9.0, "C10"), row("floor-deferred", 12.0, "S3"), row("floor-fin", 8.0, "S3")]  # fmt: skip
    table = {
        "machine": MACHINE, "settings": {"rounds": 3, "seconds": 4.0, "threads": [1], "pinned": True},
        "medians": report.medians(rows), "left_out": {"h2o": "apt install h2o"},
    }  # fmt: skip
    secure = [row(server, cost, "T1", round=number)
              for number in (1, 2) for server, cost in (("final", 7.0 + number), ("nginx", 10.0))]  # fmt: skip
    tls = {
        "machine": {**MACHINE, "date": "2032-03-04 05:06 +0000"}, "settings": table["settings"],
        "tls": {"certificate": "a key", "agreed": "TLSv1.3 SOME", "openssl": "OpenSSL 9"},
        "medians": report.medians(secure), "ratios": report.ratios(secure), "left_out": {"h2o": "apt install h2o"},
    }  # fmt: skip
    coded = [row(server, cost, "Z1", round=1, coded_bytes=34_000) for server, cost in (("final", 9.0), ("nginx", 10.0))]
    compressed = {
        "machine": {**MACHINE, "date": "2033-04-05 06:07 +0000"}, "settings": {**table["settings"], "rounds": 1},
        "medians": report.medians(coded), "ratios": report.ratios(coded), "left_out": {"h2o": "apt install h2o"},
    }  # fmt: skip
    echoed = [row(server, cost, "W1", round=1)
              for server, cost in (("websocket", 8.0), ("floor-websocket", 5.0), ("Beast-websocket", 10.0))]  # fmt: skip
    websocket = {
        "machine": {**MACHINE, "date": "2034-05-06 07:08 +0000"}, "settings": {**table["settings"], "rounds": 1},
        "medians": report.medians(echoed), "ratios": report.ratios(echoed), "left_out": {},
    }  # fmt: skip
    calls = [
        {"name": "03", "chapter": "03", "program": "examples/echo_server",
         "modes": {"keep-alive": {"epoll_wait": 2, "recvfrom": 2, "sendto": 1}}},
        {"name": "04", "chapter": "04", "program": "examples/echo_server",
         "modes": {"keep-alive": {"epoll_wait": 1.0, "recvfrom": 1.0, "sendto": 1.0, "close": 0.06}}},
    ]  # fmt: skip
    benches = {"prices_bench": {"EmptyReceive": {"ns": 123.4}}, "string_view_bench": {"ViewOfPart": {"ns": 1.234}}}
    leaf = ["all", 1.0, [["main", 1.0, [["k:tcp_ack", 0.75, []]]]]]
    shares = {"samples": 4, "kernel": 0.75, "delivery": 0.333, "calls": {"send": 0.75}, "functions": {"main": 0.25}}
    for name, data in (
        ("table", table), ("tls", tls), ("compressed", compressed), ("websocket", websocket),
        ("syscalls", {"together": 16, "rows": calls}),
        ("micro", {"programs": benches}), ("flame", {**shares, "tree": leaf}),
        ("trust", {"soak": {"date": "2031-02-03", "requests": 12345678}}),
        ("instructions", {"builds": {"inlined": {"keep-alive": 4000}, "apart": {"keep-alive": 5000}}}),
        ("growth", {"machine": MACHINE, "other_cpus": 0.5,
                    "settings": {"rounds": 3, "seconds": 2.0, "pinned": True, "asked": 1000},
                    "medians": [{"chapter": "01", "kind": "echo", "connections": 1, "threads": 1, "cpu_us": 8.0,
                                 "requests_per_second": 1e5, "p99_us": 90.0, "held": 1, "lines": 400}]}),
    ):  # fmt: skip
        (tmp_path / f"{name}.json").write_text(json.dumps(data))
    return tmp_path


@pytest.mark.parametrize(
    "key, number",
    [
        ("cpu/S1/final", "6.50"), ("cpu/S1/nginx", "–"), ("cpu/S9/final", "–"), ("idle/final", "200"),
        ("flame/kernel", "75 %"), ("flame/user", "25 %"), ("flame/calls/send", "75 %"), ("flame/calls/wait", "–"),
        ("calls/03/keep-alive", "5"), ("calls/04/keep-alive", "3.06"), ("calls/04/keep-alive/close", "0.06"),
        ("calls/99/keep-alive", "–"), ("ns/prices_bench/EmptyReceive", "123"), ("ns/string_view_bench/ViewOfPart", "1.23"),
        ("instructions/apart/keep-alive", "5,000"), ("together", "16"),
        ("trust/soak/requests", "12,345,678"), ("trust/soak/date", "2031-02-03"), ("trust/fuzz/inputs", "–"),
    ],
)  # fmt: skip
def test_a_number_is_found(folder, key, number):
    assert pages.find(pages.Data(folder), key) == number


@pytest.mark.parametrize("key", ["speed/final", "cpu/S1", "", "calls/03"])
def test_a_number_without_a_rule_is_refused(folder, key):
    with pytest.raises(pages.Unknown):
        pages.find(pages.Data(folder), key)


def test_numbers_and_tables_are_written_between_their_marks(folder):
    data = pages.Data(folder)
    text = "It costs <!-- =cpu/S1/final -->99<!-- / --> µs.\n\n<!-- measured: idle -->\nold\n<!-- /measured -->\nend\n"
    fresh = pages.with_measured(text, data)
    assert "It costs <!-- =cpu/S1/final -->6.50<!-- / --> µs." in fresh
    assert "| final | 200 |" in fresh and "old" not in fresh and fresh.endswith("<!-- /measured -->\nend\n")
    assert pages.with_measured(fresh, data) == fresh


def test_a_number_that_begins_a_line_is_refused(folder):
    with pytest.raises(pages.Unknown, match="begin with the number"):
        pages.with_measured("a\n<!-- =cpu/S1/final --><!-- / --> µs", pages.Data(folder))


def test_a_table_without_a_rule_is_refused(folder):
    with pytest.raises(pages.Unknown, match="no table nothing"):
        pages.with_measured("<!-- measured: nothing -->\n<!-- /measured -->", pages.Data(folder))


def test_a_part_that_was_measured_at_another_time_says_so(folder):
    assert not any("flame.json" in line for line in pages.BLOCKS["machine"](pages.Data(folder)))
    found = json.loads((folder / "flame.json").read_text())
    found["machine"] = {**MACHINE, "date": "2031-05-06 07:08 +0000"}
    (folder / "flame.json").write_text(json.dumps(found))
    lines = pages.BLOCKS["machine"](pages.Data(folder))
    assert lines[-1].startswith("- flame.json: 2031-05-06; Abacus")


def test_the_loads_over_tls_have_their_own_machine_and_day(folder):
    data = pages.Data(folder)
    lines = pages.BLOCKS["tls"](data)
    assert lines[0].startswith("2032-03-04; Abacus") and lines[0].endswith("a key; TLSv1.3 SOME; OpenSSL 9.")
    assert [line for line in lines if line.startswith("|")][2:] == [
        "| final | 8.50 |", "| nginx | 10.0 |", "| *final ÷ best peer* | 0.85 |", "| *final ÷ nginx* | 0.85 |",
        "| *the aim: at most* | 1.00 |",
    ]  # fmt: skip
    assert "- T1, final ÷ nginx: in single rounds 0.80 to 0.90" in lines
    assert "- h2o: not measured: apt install h2o" in lines
    assert not any("2032" in line or "tls.json" in line for line in pages.BLOCKS["machine"](data))
    assert not any("T1" in line for line in pages.BLOCKS["remarks"](data))


def test_the_loads_with_a_coding_have_their_own_machine_and_day(folder):
    data = pages.Data(folder)
    lines = pages.BLOCKS["compressed"](data)
    assert lines[0].startswith("2033-04-05; Abacus") and lines[0].endswith("on the other.")
    assert [line for line in lines if line.startswith("|")][2:] == [
        "| final | 9.00 |", "| nginx | 10.0 |", "| *final ÷ best peer* | 0.90 |", "| *final ÷ nginx* | 0.90 |",
        "| *the aim: at most* | 1.00 |",
    ]  # fmt: skip
    assert "- Z1, nginx: 34,000 bytes encoded" in lines and "- h2o: not measured: apt install h2o" in lines
    assert not any("single rounds" in line for line in lines)
    assert not any("2033" in line or "compressed.json" in line for line in pages.BLOCKS["machine"](data))


def test_the_echoes_have_their_own_machine_and_day(folder):
    data = pages.Data(folder)
    lines = pages.BLOCKS["websocket"](data)
    assert lines[0].startswith("2034-05-06; Abacus") and lines[0].endswith("on the other.")
    assert [line for line in lines if line.startswith("|")] == [
        "| CPU µs per message | W1 |", "|---|---:|", "| websocket | 8.00 |", "| floor-websocket | 5.00 |",
        "| Beast-websocket | 10.0 |", "| *websocket ÷ best floor* | 1.60 |", "| *websocket ÷ best peer* | 0.80 |",
        "| *websocket ÷ Beast-websocket* | 0.80 |", "| *the aim: at most* | 1.00 |",
    ]  # fmt: skip
    assert not any("2034" in line or "websocket.json" in line for line in pages.BLOCKS["machine"](data))


@pytest.mark.parametrize(
    "block, names, compared",
    [
        ("tls loads", ["T1", "T2", "T3", "T4"], "`final` ÷ nginx"), ("compressed loads", ["Z1", "Z2"], "`final` ÷ nginx"),
        ("websocket loads", ["W1", "W2"], "`websocket` ÷ Beast-websocket"),
    ],
)  # fmt: skip
def test_each_load_with_an_aim_states_it(folder, block, names, compared):
    lines = pages.BLOCKS[block](pages.Data(folder))
    assert lines[0] == f"| | load | the aim: {compared} |"
    assert [line.split("|")[1].strip() for line in lines[2:]] == names
    assert all(line.endswith("| at most 1.00 |") for line in lines[2:])


@pytest.mark.parametrize("name", pages.BLOCKS)
def test_every_table_is_one_with_data_and_without(folder, tmp_path_factory, name):
    for data in (pages.Data(folder), pages.Data(tmp_path_factory.mktemp("empty"))):
        lines = pages.BLOCKS[name](data)
        assert lines
        cells = {len(re.findall(r"(?<!\\)\|", line)) for line in lines if line.startswith("|")}
        assert len(cells) <= 1, lines


def test_the_rows_of_the_system_calls_are_in_the_order_of_a_request(folder):
    lines = pages.BLOCKS["syscalls keep-alive"](pages.Data(folder))
    assert lines[2:] == [
        "| 03 | 2 `epoll_wait`, 2 `recvfrom`, `sendto` | **5** |",
        "| 04 | `epoll_wait`, `recvfrom`, `sendto`, 0.06 `close` | **3.06** |",
    ]


@pytest.mark.parametrize("page", pages.PAGES)
def test_a_page_asks_only_for_what_there_is(page):
    text = (ROOT / page).read_text(encoding="utf-8")
    fresh = pages.with_measured(text, pages.Data())
    assert fresh == text, "python3 tools/site.py texts"


# Other pages have other numbers as well: sections of RFCs, Linux 6.18, 127.0.0.1.
@pytest.mark.parametrize("page", ["docs/microseconds.md", "docs/trust.md", "docs/growth.md"])
def test_no_number_of_a_measurement_is_typed_on_a_page(page):
    """A decimal fraction, a time or a percentage that stands outside of the marks."""
    text = (ROOT / page).read_text(encoding="utf-8")
    text = pages.INLINE.sub("", pages.BLOCK.sub("", text))
    text = re.sub(r"```.*?```", "", text, flags=re.DOTALL)
    assert not re.findall(r"\d+\.\d+|\d+ ?(?:µs|ns|ms|%)", text)


def test_pictures_and_page_are_made_of_the_data(folder, tmp_path):
    measured = tmp_path / "docs/measured"
    measured.mkdir(parents=True)
    for name in pages.PARTS:
        (measured / f"{name}.json").write_text((folder / f"{name}.json").read_text())
    page = pages.PAGES[0]
    (tmp_path / page).write_text("a <!-- =together --><!-- / -->\n")
    files = pages.generated(tmp_path)
    assert set(files) == {page, *(f"docs/measured/{name}.svg" for name in ("table", "flame", "growth"))}
    assert files[page] == "a <!-- =together -->16<!-- / -->\n"
    assert "Abacus" in files["docs/measured/table.svg"] and "tcp_ack" in files["docs/measured/flame.svg"]


# --- instructions ---


def test_each_build_is_measured_by_its_own_program(tmp_path, monkeypatch):
    for folder in instructions.BUILDS.values():
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "turtle").touch()
    sizes = {tmp_path / "final" / "turtle": 10.0, tmp_path / "final-apart" / "turtle": 20.0}
    made_up = types.SimpleNamespace(
        callgrind=lambda scenario, program: (sizes[program], 0.0, {}),
        session=types.SimpleNamespace(SCENARIOS=dict.fromkeys(instructions.SCENARIOS)),
        CannotMeasure=RuntimeError,
    )
    monkeypatch.setattr(instructions, "load_cost", lambda: made_up)
    monkeypatch.setattr(instructions.shutil, "which", lambda name: name)
    builds = instructions.measure_all(tmp_path, lambda text: None)["builds"]
    assert {name: set(found.values()) for name, found in builds.items()} == {"inlined": {10}, "apart": {20}}


# --- a recording ---


def test_parts_are_chosen_by_name():
    assert record.choose("") == list(pages.PARTS)
    assert record.choose("flame, table") == ["table", "flame"]
    with pytest.raises(Failed, match="no part speed; there are: table"):
        record.choose("speed")


def test_medians_of_benchmarks_are_read():
    def bench(name, aggregate, time, unit="ns", **more):
        kind = {"run_type": "aggregate", "aggregate_name": aggregate} if aggregate else {"run_type": "iteration"}
        return {"name": f"{name}_{aggregate}", "run_name": name, **kind, "cpu_time": time, "time_unit": unit, **more}

    text = json.dumps({"benchmarks": [
        bench("A/64", "mean", 9.0), bench("A/64", "median", 5.0, bytes_per_second=10.4), bench("B", None, 2.0, "us"),
    ]})  # fmt: skip
    assert record.read_benchmarks(text) == {"A/64": {"ns": 5.0, "bytes_per_second": 10}, "B": {"ns": 2000.0}}


def test_a_benchmark_that_fails_is_told():
    text = json.dumps({"benchmarks": [{"name": "A", "error_occurred": True, "error_message": "they do not agree"}]})
    with pytest.raises(Failed, match="A: they do not agree"):
        record.read_benchmarks(text)


def test_no_load_over_tls_is_recorded_without_openssl(monkeypatch, tmp_path):
    monkeypatch.setattr(record.shutil, "which", lambda name: None)
    with pytest.raises(Failed, match="openssl is missing"):
        record.missing(tmp_path, ["tls"])
    record.missing(tmp_path, ["table"])


def test_nothing_is_recorded_where_something_is_missing(tmp_path, capsys):
    arguments = ["--record", str(tmp_path / "out"), "--build", str(tmp_path / "final"), "--parts"]
    assert cli.main([*arguments, "micro"]) == 1
    assert "prices_bench is not built" in capsys.readouterr().err
    assert cli.main([*arguments, "speed"]) == 1
    assert "no part speed" in capsys.readouterr().err
    assert not (tmp_path / "out").exists()
