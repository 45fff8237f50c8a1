"""The load on the server of every chapter: with made-up servers and a made-up load generator."""

import json
import os
import pathlib
import sys
import xml.etree.ElementTree as tree

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tools"))

import chapters  # noqa: E402
from measure import growth, growth_chart, pages, syscalls, table  # noqa: E402
from measure.process import Failed  # noqa: E402

# An echo, or with a folder a server of pages; `alone`: one client at a time.
SERVER = """\
#!{python}
import pathlib, selectors, socket, sys
root = pathlib.Path(sys.argv[2]) if len(sys.argv) > 2 else None
listener = socket.create_server(("127.0.0.1", int(sys.argv[1])), backlog=1024)
print("listening on 127.0.0.1:%d" % listener.getsockname()[1], flush=True)
def answer(client):
    data = client.recv(4096)
    if data and root:
        body = (root / data.split()[1].decode()[1:]).read_bytes()
        data = b"HTTP/1.1 200 OK\\r\\nContent-Length: %d\\r\\n\\r\\n" % len(body) + body
    if data:
        client.sendall(data)
    return bool(data)
if {alone}:
    while True:
        client = listener.accept()[0]
        while answer(client):
            pass
selector = selectors.DefaultSelector()
selector.register(listener, selectors.EVENT_READ)
while True:
    for key, _ in selector.select():
        if key.fileobj is listener:
            selector.register(listener.accept()[0], selectors.EVENT_READ)
        elif not answer(key.fileobj):
            selector.unregister(key.fileobj)
            key.fileobj.close()
"""

# Like turtle-bench: asks some times, and writes down what it was told to do.
LOAD = """\
#!{python}
import json, pathlib, socket, sys, urllib.parse
arguments = sys.argv[1:]
with open({calls!r}, "a") as calls:
    print(*arguments, file=calls)
url = urllib.parse.urlsplit(arguments[-1])
client = socket.create_connection((url.hostname, url.port), 20)
said = b"echo" if "--echo" in arguments else b"GET %s HTTP/1.1\\r\\n\\r\\n" % url.path.encode()
for _ in range(10):
    client.sendall(said)
    heard = client.recv(65536)
    assert heard == said if said == b"echo" else heard.startswith(b"HTTP/1.1 200 ")
pathlib.Path(arguments[arguments.index("--json") + 1]).write_text(json.dumps(dict(
    requests=10, requests_per_second=5.0, errors=dict(connect=0),
    latency_us=dict(p50=100.0, p99=900.0, max=1000.0))))
"""


def script(path, text, **values):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text.format(python=sys.executable, **values))
    path.chmod(0o755)
    return path


@pytest.fixture
def made_up(tmp_path, monkeypatch):
    """A build with three servers, and a load generator; few clients want to be held."""
    monkeypatch.setattr(growth.held, "__defaults__", (20, 0.5))
    programs = (
        growth.Program("01", "alone", "echo", growth.ECHO, connections=1),
        growth.Program("02", "echo", "echo", growth.ECHO),
        growth.Program("final", "web", "web", growth.WEB),
    )
    build = tmp_path / "final"
    for program in programs:
        script(growth.path_of(program, build), SERVER, alone=program.path == "alone")
    load = script(tmp_path / "turtle-bench", LOAD, calls=str(tmp_path / "calls"))
    return build, str(load), programs, tmp_path / "calls"


def test_every_chapter_is_measured():
    book = chapters.Book(ROOT)
    named = [program.chapter for program in growth.PROGRAMS]
    assert named == [*(f"{chapter.number:02}" for chapter in book.chapters), "final"]


def test_an_echo_is_asked_for_where_no_reply_is_written():
    """Those that tests of the system calls know as web servers are asked for a page."""
    for program in syscalls.PROGRAMS:
        (mine,) = [each for each in growth.PROGRAMS if each.chapter == program.chapter]
        assert mine.kind == ("web" if program.kind == "web" else "echo")


def test_each_has_the_load_that_it_can_bear(made_up):
    build, load, programs, calls = made_up
    said = []
    found = growth.measure_all(build, load, True, said.append, programs, sizes=(2, 0.1))
    assert [(row["chapter"], row["round"]) for row in found["rows"]] == [
        (program.chapter, number) for number in (1, 2) for program in programs
    ]
    alone, echo, web = found["medians"]
    assert (alone["held"], echo["held"], web["held"]) == (1, 20, 20)
    assert (alone["connections"], echo["connections"]) == (1, growth.CONNECTIONS)
    for each in found["medians"]:
        assert each["requests_per_second"] == 5.0 and each["p99_us"] == 900.0 and each["errors"] == 0
        assert each["threads"] == 1 and each["cpu_us"] >= 0
    commands = calls.read_text().splitlines()
    assert len(commands) == 6 and len(said) == 6
    assert "-c 1 " in commands[0] and "--echo http://127.0.0.1:" in commands[0]
    assert f"-c {growth.CONNECTIONS} " in commands[1] and "--echo" in commands[1]
    assert "--echo" not in commands[2] and commands[2].endswith(table.SMALL)
    assert found["settings"]["rounds"] == 2 and found["settings"]["asked"] == growth.HELD


def test_the_lines_are_those_of_the_chapter():
    book = chapters.Book(ROOT)
    lines = [growth.lines_of(program, book) for program in growth.PROGRAMS]
    assert all(lines) and lines[0] < lines[1] < lines[10] < lines[-1]
    newest = max(program.chapter for program in growth.PROGRAMS[:-1])
    (last,) = [program for program in growth.PROGRAMS if program.chapter == newest]
    assert growth.lines_of(last, book) == lines[-1], "final is the newest chapter"


def test_what_is_not_built_is_told(made_up):
    build, load, programs, _ = made_up
    growth.refuse(build, load, programs)
    with pytest.raises(Failed, match="turtle-bench is not in"):
        growth.refuse(build, "", programs)
    os.unlink(growth.path_of(programs[1], build))
    with pytest.raises(Failed, match="02/echo is not built"):
        growth.refuse(build, load, programs)


def test_a_server_that_does_not_start_is_told(made_up):
    build, load, programs, _ = made_up
    growth.path_of(programs[1], build).write_text("#!/bin/sh\nexit 1\n")
    with pytest.raises(Failed, match="does not say where it listens"):
        growth.measure_all(build, load, True, lambda text: None, programs)


def test_a_load_that_fails_is_told(made_up):
    build, load, programs, _ = made_up
    pathlib.Path(load).write_text("#!/bin/sh\necho no luck >&2\nexit 1\n")
    with pytest.raises(Failed, match="no luck"):
        growth.measure_all(build, load, True, lambda text: None, programs)


# --- what is made of it ---

MACHINE = {
    "date": "2030-01-02 03:04 +0000", "cpu": "Abacus", "cores": 2, "virtual": True, "governor": "not readable",
    "memory_mb": 1000, "kernel": "Linux 9", "system": "Debian", "compiler": "gcc", "build_type": "Release",
    "load_generator": "turtle-bench", "versions": {}, "load_average": 0.0,
}  # fmt: skip


def row(chapter, cpu, **more):
    return {
        "chapter": chapter, "kind": "echo", "connections": 64, "lines": 1234, "cpu_us": cpu, "threads": 1,
        "requests_per_second": 123456.0, "p99_us": 1500.0, "held": 1000, "errors": 0, "other_cpus": 0.5, **more,
    }  # fmt: skip


def recorded(rows):
    settings = {"rounds": 3, "seconds": 2.0, "pinned": True, "asked": 1000}
    return {"machine": MACHINE, "settings": settings, "other_cpus": 0.5, "rows": rows, "medians": growth.medians(rows)}


ROWS = [row("01", 9.0, connections=1, held=1), row("02", 5.0), row("01", 7.0, connections=1, held=1),
        row("02", 6.0, held=999), row("01", 8.0, connections=1, held=1), row("02", 5.5),
        row("final", 6.5, kind="web")]  # fmt: skip


def test_medians_are_of_a_program_and_the_worst_counts_for_what_is_held():
    assert [(each["chapter"], each["cpu_us"], each["held"]) for each in growth.medians(ROWS)] == [
        ("01", 8.0, 1), ("02", 5.5, 999), ("final", 6.5, 1000),
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("value", "said"),
    [(1, "1"), (6.54, "6.5"), (99.7, "100"), (1000, "1,000"), (9994, "9,994"), (12345, "12.3k"), (123456, "123k")],
)
def test_a_number_fits_above_its_bar(value, said):
    assert growth_chart.short(value) == said


def test_the_picture_says_what_was_measured_and_where():
    picture = growth_chart.svg(recorded(ROWS))
    root = tree.fromstring(picture)
    space = "{http://www.w3.org/2000/svg}"
    words = [element.text for element in root.iter(f"{space}text")]
    said = " ".join(words)
    for part in ("2030-01-02", "Abacus", "2 cores", "a virtual machine", "other work took 0.5 of 2 cores",
                 "medians of 3", "one client: it serves no second", "of 1,000 that come"):  # fmt: skip
        assert part in said
    for title, _, _ in growth_chart.PANELS:
        assert title in words
    assert words.count("final") == words.count("02") == len(growth_chart.PANELS)
    bars = [element.get("class") for element in root.iter(f"{space}rect")]
    assert bars.count("echo alone") == len(growth_chart.PANELS) + 1  # and the key
    width = float(root.get("width"))
    for element in root.iter(f"{space}rect"):
        if element.get("x"):
            assert 0 <= float(element.get("x")) <= width and float(element.get("height")) > 0
    assert "prefers-color-scheme: dark" in picture


def test_the_page_gets_its_table_and_its_numbers(tmp_path):
    (tmp_path / "growth.json").write_text(json.dumps(recorded(ROWS)))
    data = pages.Data(tmp_path)
    assert pages.find(data, "growth/01/held") == "1"
    assert pages.find(data, "growth/02/cpu_us") == "5.50"
    assert pages.find(data, "growth/final/lines") == "1,234"
    assert pages.find(data, "growth/asked") == "1,000"
    assert pages.find(data, "growth/03/held") == pages.NONE
    lines = pages.BLOCKS["growth"](data)
    assert [line.split("|")[1].strip() for line in lines[2:]] == ["01", "02", "final"]
    assert "| echo |" in lines[2] and "| HTTP |" in lines[4]
    assert any("other work took 0.5" in line for line in pages.BLOCKS["growth machine"](data))


def test_what_is_recorded_is_of_this_book():
    recorded_of = [each["chapter"] for each in pages.Data().growth["medians"]]
    assert recorded_of == [each.chapter for each in growth.PROGRAMS if each.chapter in recorded_of]
    assert {"01", "02", "12", "13", "final"} <= set(recorded_of)
