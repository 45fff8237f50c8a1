"""A site for each directory, with rules, and another one without a restart."""

import signal

import pytest
from lineage import await_condition


@pytest.fixture
def hosts(tmp_path):
    folder = tmp_path / "hosts"
    for name in ("one.example", "two.example", "*.three.example", "lost+found"):
        (folder / name / "files").mkdir(parents=True)
        (folder / name / "index.html").write_text(f"{name}\n")
        (folder / name / "about.html").write_text(f"about {name}\n")
        (folder / name / "files/data.csv").write_text("1\n")
    return folder


@pytest.fixture
def sites(start, hosts):
    return start("sites", hosts)


@pytest.mark.parametrize(
    "host, page",
    [
        ("one.example", b"one.example\n"),
        ("Two.Example.:8080", b"two.example\n"),
        ("www.three.example", b"*.three.example\n"),
    ],
)
def test_each_host_has_its_own_files(sites, host, page):
    reply = sites.ask("GET", "/", Host=host)
    assert (reply.status, reply.body) == (200, page)
    assert reply.headers["X-Content-Type-Options"] == "nosniff"


@pytest.mark.parametrize("host", ["lost+found", "127.0.0.1", "three.example", "example", ".one.example"])
def test_other_hosts_get_no_file(sites, host):
    reply = sites.ask("GET", "/index.html", Host=host)
    assert reply.status in (400, 421)
    assert b"example\n" not in reply.body


def test_a_page_needs_no_ending(sites):
    reply = sites.ask("GET", "/about", Host="one.example")
    assert (reply.status, reply.body) == (200, b"about one.example\n")
    assert sites.ask("GET", "/about", Host="one.example", If_None_Match=reply.headers["ETag"]).status == 304


def test_a_site_has_its_own_error_page(sites):
    reply = sites.ask("GET", "/nothing", Host="two.example")
    assert (reply.status, reply.body) == (404, b"two.example has no such page.\n")
    assert reply.headers["X-Content-Type-Options"] == "nosniff"


@pytest.mark.parametrize(
    "path, location",
    [
        ("/2025/turtles?a=b", "/archive/2025/turtles?a=b"),
        ("/2025/a%20b/%3f", "/archive/2025/a%20b/%3F"),
        ("/2025//other.example", "/archive/2025/other.example"),
    ],
)
def test_an_old_address_leads_to_the_archive(sites, path, location):
    reply = sites.ask("GET", path, Host="one.example")
    assert (reply.status, reply.headers["Location"]) == (308, location)


def test_files_are_listed(sites):
    assert b'href="data.csv"' in sites.ask("GET", "/files/", Host="one.example").body
    listed = sites.ask("GET", "/files/", Host="one.example", Accept="application/json").json()
    assert [entry["name"] for entry in listed["entries"]] == ["data.csv"]


def test_a_client_that_asks_too_often_is_told_when_to_come_back(sites):
    for _ in range(1000):
        reply = sites.ask("GET", "/files/data.csv", Host="one.example")
        if reply.status == 429:
            break
    assert (reply.status, reply.headers["Retry-After"]) == (429, "1")
    assert sites.ask("GET", "/", Host="one.example").status == 200, "other paths have no limit"
    assert sites.ask("GET", "/files/data.csv", Host="two.example").status == 200, "nor do other sites share it"


def test_a_new_directory_is_a_new_site(sites, hosts):
    assert sites.ask("GET", "/", Host="four.example").status == 421
    (hosts / "four.example").mkdir()
    (hosts / "four.example/index.html").write_text("four\n")
    sites.signal(signal.SIGHUP)
    await_condition(lambda: "sites: 4\n" in sites.said(), "the new table")
    assert sites.ask("GET", "/", Host="four.example").body == b"four\n"
    assert sites.ask("GET", "/", Host="one.example").status == 200
    code, said = sites.stop()
    assert code == 0 and said.endswith("INFO sites: 4\n")


def test_a_directory_that_is_gone_leaves_the_old_sites(sites, hosts):
    assert sites.ask("GET", "/", Host="one.example").status == 200  # it has begun
    hosts.rename(hosts.with_name("elsewhere"))
    sites.signal(signal.SIGHUP)
    await_condition(lambda: " ERROR " in sites.said(), "the reason")
    assert sites.ask("GET", "/", Host="one.example").status != 421
    assert sites.stop()[0] == 0
