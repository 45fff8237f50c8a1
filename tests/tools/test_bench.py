"""The benchmark's pure parts: what it reads, computes, says and draws."""

import argparse
import gzip
import pathlib
import sys
import xml.etree.ElementTree as tree

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tools"))

from measure import chart, cli, machine, process, report, run, table  # noqa: E402
from measure.process import Failed  # noqa: E402


def row(server, cpu, scenario="S1", threads=1, **more):
    return {
        "threads": threads, "scenario": scenario, "server": server, "cpu_us": cpu, "requests_per_second": 1e6 / cpu,
        "p50_us": 100.0, "p99_us": 200.0, "max_us": 3000.0, "errors": 0, "error_kinds": {}, "other_cpus": 0.0,
        "server_cpus": 0.9, "load_cpus": 0.9, **more,
    }  # fmt: skip


def failed(server, why, scenario="S1"):
    return {"threads": 1, "scenario": scenario, "server": server, "failed": why}


def result(rows, **settings):
    return {
        "settings": {"rounds": 3, "seconds": 4.0, "threads": [1], "pinned": True, **settings},
        "medians": report.medians(rows),
        "left_out": {},
    }


# --- the table of loads and servers ---


@pytest.mark.parametrize("server", [each for each in table.SERVERS if each.config], ids=lambda each: each.name)
@pytest.mark.parametrize("threads", [1, 2])
def test_every_template_is_there_and_is_filled(server, threads):
    values = {"port": "20100", "root": "/pages", "threads": str(threads), "work": "/work", "modules": "/modules"}
    values["user"] = table.user_line(server, "www-data")
    template = (run.PEERS / server.config).read_text(encoding="utf-8")
    for scenario in table.SCENARIOS:
        more = {**table.template_values(server, scenario, threads), **table.tls_lines(server)}
        text = run.fill(template, {**values, **more, **table.coding_lines(server, scenario)})
        assert "20100" in text and "/pages" in text and "ssl" not in text
        assert "gzip_static" not in text and "compress:" not in text


@pytest.mark.parametrize(
    "server", [each for each in table.SERVERS if each.config and each.secure], ids=lambda each: each.name
)
def test_every_template_is_filled_with_a_certificate(server):
    values = {"port": "20100", "root": "/pages", "threads": "1", "work": "/work", "user": ""}
    values.update(table.template_values(server, table.TLS[0], 1))
    values.update(table.tls_lines(server, "/files/chain.pem", "/files/chain.key"))
    values.update(table.coding_lines(server, table.TLS[0]))
    text = run.fill((run.PEERS / server.config).read_text(encoding="utf-8"), values)
    assert "/files/chain.pem" in text and "/files/chain.key" in text and table.TLS_VERSION in text


@pytest.mark.parametrize(
    "name, there",
    [("nginx", "    gzip_static on; gzip on; "), ("h2o", "\nfile.send-compressed: ON\ncompress: {gzip: 4}\n")],
)  # fmt: skip
def test_a_template_has_the_settings_of_a_coding(name, there):
    (server,) = table.choose(name, table.SERVERS, "server")
    values = {"port": "20100", "root": "/pages", "threads": "1", "work": "/work", "user": "", **table.tls_lines(server)}
    values.update(table.template_values(server, table.COMPRESSED[0], 1))
    values.update(table.coding_lines(server, table.COMPRESSED[0]))
    assert there in run.fill((run.PEERS / server.config).read_text(encoding="utf-8"), values)


def test_a_template_with_an_unknown_name_is_refused():
    assert run.fill("listen @port@; # me@host", {"port": "1"}) == "listen 1; # me@host"
    with pytest.raises(Failed, match="asks for @prot@"):
        run.fill("listen @prot@;", {"port": "1"})


def test_names_are_chosen_in_the_order_of_the_table():
    chosen = table.choose("s3, S1", table.SCENARIOS, "load")
    assert [each.name for each in chosen] == ["S1", "S3"]
    assert table.choose("", table.SCENARIOS, "load") == table.SCENARIOS


def test_a_wrong_name_is_told_with_the_right_ones():
    with pytest.raises(ValueError, match="no load S7; there are: S1, S2h, S3, S4, S4h, S5, S6"):
        table.choose("S1,S7", table.SCENARIOS, "load")


def test_only_names_scenarios_that_exist():
    names = {scenario.name for scenario in table.EVERY_LOAD}
    assert all({*server.only, *server.unable} <= names for server in table.SERVERS)
    assert all(quoted.scenario in names for quoted in table.QUOTED)


# --- the pages ---


def test_the_page_of_text_is_the_same_each_time_and_a_third_as_gzip(tmp_path):
    run.make_pages(tmp_path)
    text, gzipped = (tmp_path / "text.html").read_bytes(), (tmp_path / "text.html.gz").read_bytes()
    assert len(text) == table.TEXT_BYTES and text == (tmp_path / "plain.html").read_bytes()
    assert gzip.decompress(gzipped) == text and 0.30 < len(gzipped) / len(text) < 0.37
    assert not (tmp_path / "plain.html.gz").exists()
    run.page_of_text.cache_clear()
    assert run.page_of_text() == text


def test_the_file_that_is_encoded_in_advance_is_not_older_and_has_settled(tmp_path):
    run.make_pages(tmp_path)
    plain, gzipped = (tmp_path / name for name in ("text.html", "text.html.gz"))
    assert gzipped.stat().st_mtime_ns == plain.stat().st_mtime_ns
    assert plain.stat().st_mtime < (tmp_path / "small.html").stat().st_mtime - 60


# --- what is read ---


def test_a_process_name_may_hold_anything():
    fields = process.stat_fields("42 (a) b (c) S 1 42 43 0 -1 0 0 0 0 0 7 8 1 2 20 0")
    assert fields[0] == "S" and fields[3] == "43"
    assert [int(field) for field in fields[11:15]] == [7, 8, 1, 2]


LOAD = (
    '{"requests": 10, "requests_per_second": 5.0, "errors": {"reset": 2, "status": 0},'
    ' "latency_us": {"p50": 1, "p99": 2, "max": 3}}'
)


def test_the_load_generators_result_is_read():
    read = run.read_load(LOAD)
    assert (read["requests"], read["errors"], read["error_kinds"]) == (10, 2, {"reset": 2})


def test_what_was_agreed_on_over_tls_is_read():
    tls = '"tls": {"version": "TLSv1.3", "cipher": "SOME", "full": 3, "resumed": 4, "handshake_us": {"mean": 1}}, '
    read = run.read_load(LOAD.replace('"requests": 10', tls + '"requests": 10'))
    assert (read["agreed"], read["full"], read["resumed"]) == ("TLSv1.3 SOME", 3, 4)
    assert "agreed" not in run.read_load(LOAD)


AGREED = f"{table.TLS_VERSION} {table.TLS_CIPHER}"


def test_all_servers_have_to_do_the_same_work_over_tls():
    few, _, full, resumed = table.TLS
    for load, counts in ((few, (64, 0)), (few, (0, 64)), (full, (1000, 0)), (resumed, (64, 400)), (resumed, (0, 9))):
        run.check_handshakes({"agreed": AGREED, "full": counts[0], "resumed": counts[1]}, load)


@pytest.mark.parametrize(
    "number, row, complaint",
    [
        (0, {"agreed": "TLSv1.2 ECDHE", "full": 64, "resumed": 0}, "agreed on TLSv1.2 ECDHE instead of TLSv1.3"),
        (0, {}, "agreed on nothing instead of"),
        (2, {"agreed": AGREED, "full": 900, "resumed": 100}, "only 900 of 1,000 handshakes were full"),
        (3, {"agreed": AGREED, "full": 400, "resumed": 600}, "only 600 of 1,000 handshakes were resumed"),
    ],
)
def test_other_work_over_tls_is_not_measured(number, row, complaint):
    with pytest.raises(Failed, match=complaint):
        run.check_handshakes(row, table.TLS[number])


@pytest.mark.parametrize("text", ["", "{", "[]", '{"requests": 3}', LOAD.replace("10", '"x"')])
def test_another_result_is_refused(text):
    with pytest.raises(Failed, match="JSON is not as expected"):
        run.read_load(text)


def test_no_request_at_all_is_a_failure_that_tells_the_errors():
    with pytest.raises(Failed, match="no request was answered; errors: 2 reset"):
        run.read_load(LOAD.replace('"requests": 10', '"requests": 0'))


def test_the_machine_is_read():
    assert machine.cpu_model("processor\t: 0\nmodel name\t: Some CPU 3000\n") == "Some CPU 3000"
    assert machine.memory_megabytes("MemTotal:       2048000 kB\n") == 2000
    assert machine.system_name('NAME="x"\nPRETTY_NAME="Debian 12"\n') == "Debian 12"
    cache = "CMAKE_BUILD_TYPE:STRING=Release\nCMAKE_CXX_COMPILER:FILEPATH=/usr/bin/c++\n"
    assert machine.cache_entry(cache, "CMAKE_BUILD_TYPE") == "Release"
    assert machine.cache_entry(cache, "CMAKE_BUILD") == ""


def test_a_machine_that_is_not_quiet_is_warned_of():
    quiet = {"governor": "performance", "load_average": 0.1, "build_type": "Release"}
    assert machine.warnings(quiet) == []
    assert "powersave" in machine.warnings({**quiet, "governor": "powersave"})[0]
    assert "load average at the start was 2.0" in machine.warnings({**quiet, "load_average": 2.0})[0]
    assert "Debug" in machine.warnings({**quiet, "build_type": "Debug"})[0]


# --- what is computed ---


def test_one_round_has_no_medians():
    assert report.how_measured(1, 1.0) == "1 second each, one round: no medians"
    assert report.how_measured(3, 4.0) == "4 seconds each, medians of 3 interleaved rounds"


def test_the_median_of_the_rounds_counts():
    (entry,) = report.medians([row("final", 7.0), row("final", 5.0, errors=1, error_kinds={"reset": 1}),
                               row("final", 6.0, max_us=9000.0)])  # fmt: skip
    assert (entry["cpu_us"], entry["cpu_us_least"], entry["cpu_us_most"]) == (6.0, 5.0, 7.0)
    assert (entry["rounds"], entry["errors"], entry["max_us"]) == (3, 1, 9000.0)
    assert entry["error_kinds"] == {"reset": 1}


def test_a_round_that_failed_is_told_and_the_others_count():
    (entry,) = report.medians([row("nginx", 7.0), failed("nginx", "GET /big.html: 3 bytes of 5")])
    assert entry["rounds"] == 1 and entry["cpu_us"] == 7.0
    assert entry["failed"] == "GET /big.html: 3 bytes of 5"


def test_rows_come_in_the_order_of_the_table():
    rows = [row("nginx", 1.0, "S3"), row("final", 1.0, "S3"), row("nginx", 1.0), row("floor", 1.0, threads=2)]
    entries = report.medians(rows)
    assert [(each["threads"], each["scenario"], each["server"]) for each in entries] == [
        (1, "S1", "nginx"), (1, "S3", "final"), (1, "S3", "nginx"), (2, "S1", "floor"),
    ]  # fmt: skip


def test_who_makes_errors_is_not_the_best():
    broken = row("h2o", 2.0, errors=5, error_kinds={"reset": 5})
    entries = report.medians([row("nginx", 8.0), broken, failed("apache", "no")])
    assert report.best(entries, "S1", "peer")["server"] == "nginx"
    assert report.best(entries, "S1", "floor") is None


@pytest.mark.parametrize("value, text", [(0.4321, "0.43"), (9.994, "9.99"), (12.34, "12.3"), (1234.5, "1,234")])
def test_numbers_have_three_digits(value, text):
    assert report.number(value) == text


# --- what is said ---


def test_the_report_has_the_table_the_ratios_and_the_quoted_rows():
    rows = [row("final", 6.0), row("floor", 5.0), row("nginx", 8.0), row("nginx-shipped", 12.0)]
    text = report.markdown(result(rows), ["Some CPU"])
    assert "- Some CPU\n" in text
    assert "| server | S1 |\n|---|---:|\n| final | 6.00 |\n| floor | 5.00 |\n" in text
    assert "| *final ÷ best floor* | 1.20 |" in text
    assert "| *final ÷ best peer* | 0.75 |" in text
    assert "| muduo (quoted, 2026-11) | 6.80 |" in text
    assert "server on CPU 0, load on CPU 1" in text
    assert "To be known" not in text


def test_the_report_tells_what_makes_a_number_doubtful():
    rows = [
        row("final", 6.0, other_cpus=0.5), row("final", 9.0, max_us=2.5e6),
        row("h2o", 5.0, errors=3, error_kinds={"reset": 3}), failed("apache", "did not start"),
    ]  # fmt: skip
    shown = {**result(rows), "left_out": {"lighttpd": "apt install lighttpd"}}
    text = report.markdown(shown, [])
    assert "| h2o | 5.00 (!) |" in text and "| apache | failed |" in text
    for note in (
        "S1, final: the slowest reply took 2.5 s",
        "S1, final: the rounds differ by 50% (6.00 to 9.00)",
        "S1, h2o: (!) errors: 3 reset",
        "S1, apache: failed: did not start",
        "other programs were at work during 1 of 2 measurements, with up to 25% of a CPU",
        "lighttpd: not measured: apt install lighttpd",
    ):
        assert f"- {note}" in text


def test_a_server_is_asked_for_what_it_has():
    servers = {server.name: server for server in table.SERVERS}
    page, route = table.SCENARIOS[0], table.ROUTES[0]
    for name, of_page, of_route in (("final", True, False), ("routes", False, True), ("floor-deferred", False, False)):
        assert (servers[name].takes_part(page), servers[name].takes_part(route)) == (of_page, of_route), name


def test_what_is_posted_is_an_option_of_the_load_generator():
    words = table.load_command("turtle-bench", table.ROUTES[2], 20100, 1.0, "out.json")
    assert words[words.index("--post") + 1].startswith('{"items"') and words[-1] == "http://127.0.0.1:20100/sum"
    assert "--post" not in table.load_command("turtle-bench", table.ROUTES[0], 20100, 1.0, "out.json")


def test_the_loads_over_tls_are_for_those_that_have_it():
    servers = {server.name: server for server in table.SERVERS}
    took = {name: [each.name for each in table.TLS if server.takes_part(each)] for name, server in servers.items()}
    every = ["T1", "T2", "T3", "T4"]
    assert {name: names for name, names in took.items() if names} == {"final": every, "nginx": every, "h2o": every[:3]}


def test_a_load_over_tls_has_another_scheme_and_its_kind_of_handshake():
    commands = [table.load_command("turtle-bench", each, 20100, 1.0, "out.json") for each in table.TLS]
    assert [words[-1] for words in commands] == [
        f"https://127.0.0.1:20100/{page}.html" for page in ("small", "big", "small", "small")
    ]
    assert ["--no-resume" in words for words in commands] == [False, False, True, False]
    assert ["--close" in words for words in commands] == [False, False, True, True]


def test_the_loads_with_a_coding_are_for_those_that_compress():
    for load in table.COMPRESSED:
        took = [server.name for server in table.SERVERS if server.takes_part(load)]
        assert took == ["final", "nginx", "h2o"], load.name


def test_a_load_with_a_coding_asks_for_it():
    for load, page in zip(table.COMPRESSED, ("text", "plain")):
        words = table.load_command("turtle-bench", load, 20100, 1.0, "out.json")
        assert words[words.index("-H") + 1] == "Accept-Encoding: gzip"
        assert words[-1] == f"http://127.0.0.1:20100/{page}.html"


def test_loads_with_a_coding_have_a_table_of_their_own_with_an_aim():
    rows = [row("final", 8.0, "Z1"), row("nginx", 10.0, "Z1"), row("final", 6.0)]
    text = report.markdown(result(rows), [])
    assert "1 thread, server on CPU 0, load on CPU 1, compressed: CPU microseconds per request" in text
    assert "| *final ÷ nginx* | 0.80 |\n| *the aim: at most* | 1.00 |" in text and text.count("the aim") == 1
    assert "- **Z1**: 100 KB of text as gzip" in text


def test_the_echoes_are_for_the_servers_of_websockets():
    for load in table.WEBSOCKET:
        took = [server.name for server in table.SERVERS if server.takes_part(load)]
        assert took == ["websocket", "floor-websocket", "Beast-websocket"], load.name
    servers = [server for server in table.SERVERS if server.takes_part(table.WEBSOCKET[0])]
    assert not any(server.takes_part(each) for server in servers for each in table.EVERY_LOAD if not each.message)


def test_an_echo_is_an_option_of_the_load_generator():
    commands = [table.load_command("turtle-bench", each, 20100, 1.0, "out.json") for each in table.WEBSOCKET]
    for words, connections, size in zip(commands, ("64", "16"), ("64", "64K")):
        assert words[words.index("-c") + 1] == connections and words[words.index("--websocket") + 1] == size
        assert words[-1] == "http://127.0.0.1:20100/" and not any("Sec-WebSocket-Extensions" in word for word in words)


def test_echoes_have_a_table_of_their_own_with_an_aim():
    rows = [row("websocket", 8.0, "W1"), row("floor-websocket", 4.0, "W1"), row("Beast-websocket", 10.0, "W1"),
            row("final", 6.0)]  # fmt: skip
    text = report.markdown(result(rows), [])
    assert "1 thread, server on CPU 0, load on CPU 1, over WebSocket: CPU microseconds per message" in text
    assert "over WebSocket: messages per second" in text and "CPU 1: CPU microseconds per request" in text
    assert (
        "| *websocket ÷ best floor* | 2.00 |\n| *websocket ÷ best peer* | 0.80 |\n"
        "| *websocket ÷ Beast-websocket* | 0.80 |\n| *the aim: at most* | 1.00 |" in text
    )
    assert text.count("the aim") == 1 and "- **W1**: a message of 64 bytes and its echo" in text


def test_loads_over_tls_have_a_table_of_their_own_with_an_aim():
    rows = [row("final", 8.0, "T1"), row("nginx", 10.0, "T1"), row("h2o", 5.0, "T1"), row("final", 6.0)]
    text = report.markdown(result(rows), [])
    assert "1 thread, server on CPU 0, load on CPU 1, over TLS: CPU microseconds per request" in text
    assert "| *final ÷ best peer* | 1.60 |\n| *final ÷ nginx* | 0.80 |\n| *the aim: at most* | 1.00 |" in text
    assert text.count("the aim") == 1
    assert "the aim" not in report.markdown(result([row("final", 8.0, "T1"), row("h2o", 5.0, "T1")]), [])


@pytest.mark.parametrize("load", ["T1", "Z2"])
def test_the_ratio_to_the_peer_of_the_aim_is_that_of_the_medians_and_each_rounds_is_told(load):
    costs = {"final": (8.0, 9.0, 12.0), "nginx": (10.0, 10.0, 10.0), "h2o": (1.0, 1.0, 1.0)}
    rows = [row(server, cost, load, round=number)
            for server, each in costs.items() for number, cost in enumerate(each, 1)]  # fmt: skip
    (found,) = report.ratios([*rows, row("final", 1.0, "S1", round=1), row("nginx", 1.0, "S1", round=1)])
    assert (found["scenario"], found["server"], found["to"], found["aim"]) == (load, "final", "nginx", 1.0)
    assert (found["ratio"], found["least"], found["most"]) == (0.9, 0.8, 1.2)


def test_the_aim_of_an_echo_names_its_own_peer():
    rows = [row("websocket", 8.0, "W2", round=1), row("Beast-websocket", 10.0, "W2", round=1)]
    (found,) = report.ratios(rows)
    assert (found["server"], found["to"], found["aim"], found["ratio"]) == ("websocket", "Beast-websocket", 1.0, 0.8)
    assert (found["least"], found["most"]) == (0.8, 0.8)


def test_who_makes_errors_has_no_ratio():
    broken = {"errors": 5, "error_kinds": {"reset": 5}, "round": 1}
    for own, peer in (({"round": 1}, broken), (broken, {"round": 1})):
        assert report.ratios([row("final", 8.0, "T1", **own), row("nginx", 9.0, "T1", **peer)]) == []


def test_routes_have_a_table_of_their_own():
    rows = [row("routes", 5.0, "R1"), row("Beast", 10.0, "R1"), row("final", 6.0)]
    text = report.markdown(result(rows), [])
    assert "1 thread, server on CPU 0, load on CPU 1, routes: CPU microseconds per request" in text
    assert "| *routes ÷ best peer* | 0.50 |" in text


def test_the_cost_over_connections_has_a_table_of_its_own():
    rows = [row("final", 5.0, scenario.name) for scenario in table.SCALING] + [row("final", 6.0)]
    text = report.markdown(result(rows), [])
    assert "| server | 1 | 10 | 100 | 1,000 | 10,000 |" in text
    assert "| server | S1 |" in text


@pytest.mark.parametrize(
    "parse, words, complaint",
    [
        (cli.positive, "0", "a number from 1 on is needed, not 0"),
        (cli.seconds, "nan", "0.1 to 3600 seconds, not nan"),
        (cli.threads, "1,", "numbers from 1 to 64 with commas between them, not 1,"),
        (cli.threads, "0", "numbers from 1 to 64 with commas between them, not 0"),
    ],
)
def test_a_wrong_option_is_one_clear_line(parse, words, complaint):
    with pytest.raises(argparse.ArgumentTypeError) as error:
        parse(words)
    assert str(error.value) == complaint


def test_too_few_descriptors_are_told_before_anything_is_started(monkeypatch, tmp_path):
    (tmp_path / "self").mkdir()
    (tmp_path / "self" / "stat").touch()
    monkeypatch.setattr(process, "PROC", tmp_path)
    monkeypatch.setattr(process, "raise_descriptors", lambda: 4096)
    chosen = table.choose("S6", table.SCENARIOS, "load")
    with pytest.raises(Failed, match="10,500 connections need 10,600 descriptors, and `ulimit -Hn` allows 4,096"):
        cli.refuse(chosen, table.SERVERS, {}, "turtle-bench", pathlib.Path("build"))
    cli.refuse(table.choose("S1", table.SCENARIOS, "load"), table.SERVERS, {}, "turtle-bench", pathlib.Path("build"))


# --- what is drawn ---


def test_the_picture_is_sound_and_has_every_bar_within_its_panel():
    rows = [row("final", 6.0), row("floor", 5.0), row("apache", 5000.0), row("final", 6.0, "S5", idle_bytes=200.0),
            row("final", 6.0, "S3", threads=2), failed("nginx", "no")]  # fmt: skip
    picture = tree.fromstring(chart.svg(report.medians(rows), "a <CPU> & more"))
    space = "{http://www.w3.org/2000/svg}"
    words = [each.text for each in picture.iter(f"{space}text")]
    assert "a <CPU> & more" in words and "muduo" in words and "5,000" in words
    assert "nginx" not in words
    assert "1 thread" in words and "2 threads" in words
    height = float(picture.get("height"))
    bars = [each for each in picture.iter(f"{space}rect") if each.get("class") != "page"]
    assert len(bars) > 7
    for bar in bars:
        assert float(bar.get("x")) + float(bar.get("width")) <= chart.WIDTH - chart.MARGIN
        assert float(bar.get("y")) + float(bar.get("height")) <= height
    assert len(list(picture.iter(f"{space}path"))) == 1  # Apache's bar is broken off
    assert "prefers-color-scheme: dark" in picture.find(f"{space}style").text


def test_the_picture_has_a_line_for_each_server_over_connections():
    rows = [row(server, cost * 5, scenario.name)
            for server in ("final", "nginx") for cost, scenario in enumerate(table.SCALING, 1)]  # fmt: skip
    picture = tree.fromstring(chart.svg(report.medians(rows), ""))
    lines = list(picture.iter("{http://www.w3.org/2000/svg}polyline"))
    assert len(lines) == 2
    for line in lines:
        points = [tuple(map(float, point.split(","))) for point in line.get("points").split()]
        assert [x for x, _ in points] == sorted(x for x, _ in points) and len(points) == 5
        assert points[0][1] > points[-1][1]  # what costs more is higher up
