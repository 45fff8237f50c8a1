"""Answers that wait for the disk, all at once."""

import os
import select
from concurrent.futures import ThreadPoolExecutor

import pytest
from lineage import await_condition
from serving import PATIENCE, DidNotServe

FULL = "/dev/full"  # full(4): each write fails as on a disk without room


@pytest.fixture
def journal(start, tmp_path):
    return start("journal", tmp_path / "journal.txt")


def test_what_is_answered_is_in_the_file(journal, tmp_path):
    for text in ("one", "two"):
        assert journal.ask("POST", "/entries", text).status == 201
        assert (tmp_path / "journal.txt").read_text().splitlines()[-1] == text
    assert journal.ask("GET", "/figures").json() == {"entries": 2, "syncs": 2, "waiting": 0}


def test_a_torn_line_of_an_earlier_run_is_cut_off(start, tmp_path):
    (tmp_path / "journal.txt").write_text("kept\nto")
    assert start("journal", tmp_path / "journal.txt").ask("POST", "/entries", "first").status == 201
    assert (tmp_path / "journal.txt").read_text() == "kept\nfirst\n"


def test_of_many_at_once_none_is_lost(journal, tmp_path):
    entries = [f"entry {number}" for number in range(400)]
    with ThreadPoolExecutor(16) as clients:
        statuses = list(clients.map(lambda entry: journal.ask("POST", "/entries", entry).status, entries))
    assert statuses == [201] * 400
    assert sorted((tmp_path / "journal.txt").read_text().splitlines()) == sorted(entries)
    assert journal.ask("GET", "/figures").json()["entries"] == 400


def test_what_comes_while_the_disk_is_slow_shares_the_next_sync(start, tmp_path):
    """A pipe takes no more until it is read, so this disk is as slow as we like; and it can't sync."""
    os.mkfifo(tmp_path / "pipe")
    disk = os.open(tmp_path / "pipe", os.O_RDONLY | os.O_NONBLOCK)
    try:
        journal = start("journal", tmp_path / "pipe")
        with ThreadPoolExecutor(11) as clients:
            first = clients.submit(journal.ask, "POST", "/entries", "x" * 100_000)  # more than a pipe holds
            await_condition(lambda: select.select([disk], [], [], 0)[0], "the first entry")
            others = [clients.submit(journal.ask, "POST", "/entries", "y") for _ in range(10)]
            await_condition(lambda: journal.ask("GET", "/figures").json()["waiting"] == 10, "the others")
            read = b""
            while read.count(b"\n") < 11:
                assert select.select([disk], [], [], PATIENCE)[0]
                read += os.read(disk, 65536)
            assert {each.result().status for each in [first, *others]} == {507}
        assert read == b"x" * 100_000 + b"\n" + b"y\n" * 10
        assert journal.ask("GET", "/figures").json() == {"entries": 0, "syncs": 2, "waiting": 0}
    finally:
        os.close(disk)


@pytest.mark.parametrize("body", ["", "one\ntwo"])
def test_an_entry_is_a_line(journal, tmp_path, body):
    assert journal.ask("POST", "/entries", body).status == 400
    assert (tmp_path / "journal.txt").read_text() == ""


def test_who_goes_before_the_answer_has_his_entry_all_the_same(journal, tmp_path):
    with journal.connect() as client:
        client.sendall(b"POST /entries HTTP/1.1\r\nHost: t\r\nContent-Length: 4\r\n\r\ngone")
    assert journal.stop() == (0, "")
    assert (tmp_path / "journal.txt").read_text() in ("gone\n", ""), "all of it, or nothing"


def test_without_room_nobody_is_told_that_it_is_kept(start):
    journal = start("journal", FULL)
    assert journal.ask("POST", "/entries", "one").status == 507
    assert journal.ask("GET", "/figures").json() == {"entries": 0, "syncs": 1, "waiting": 0}


def test_a_file_that_can_not_be_opened_is_named(start, tmp_path):
    with pytest.raises(DidNotServe) as thrown:
        start("journal", tmp_path)
    assert thrown.value.code == 1
    assert thrown.value.said == f"journal: {tmp_path}: Is a directory\n"
