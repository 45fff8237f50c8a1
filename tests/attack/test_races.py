"""Somebody swaps files and links while clients ask: never a byte of what lies outside."""

import contextlib
import os
import threading

import channel
import pytest

ASKED = 400  # times, by each of two clients


@pytest.fixture
def outside(tmp_path):
    folder = tmp_path / "outside"
    folder.mkdir()
    (folder / "page.txt").write_text("OUTSIDE\n")
    return folder


def swap_files(site, outside, stop):
    """/page.txt: a file, a link within, a link out, nothing."""
    (site / "inner.txt").write_text("inside\n")
    page, new = site / "page.txt", site / "new"
    while not stop.is_set():
        for make in (
            lambda: new.write_text("inside\n"),
            lambda: new.symlink_to(outside / "page.txt"),
            lambda: new.symlink_to("inner.txt"),
            lambda: new.symlink_to("../outside/page.txt"),
        ):
            make()
            os.replace(new, page)
        page.unlink()


def swap_folders(site, outside, stop):
    """/folder: a folder, a link out."""
    folder, away, link = site / "folder", site / "away", site / "link"
    away.mkdir()
    (away / "page.txt").write_text("inside\n")
    link.symlink_to("../outside")
    os.rename(away, folder)  # not before the page is whole
    while not stop.is_set():
        os.rename(folder, away)
        os.rename(link, folder)
        os.rename(folder, link)
        os.rename(away, folder)


@pytest.mark.parametrize("check", ["watch", "always"])
@pytest.mark.parametrize("swap, path", [(swap_files, "/page.txt"), (swap_folders, "/folder/page.txt")],
                         ids=["files", "folders"])
def test_nothing_outside_is_ever_sent(start, site, outside, check, swap, path):
    server = start(site, "--cache-check", check)
    stop, found = threading.Event(), []

    def ask():
        with contextlib.closing(channel.HttpConnection("127.0.0.1", server.port, timeout=60)) as client:
            for _ in range(ASKED):
                client.request("GET", path)
                reply = client.getresponse()
                found.append((reply.status, reply.read()))

    swapping = threading.Thread(target=swap, args=(site, outside, stop))
    asking = [threading.Thread(target=ask) for _ in range(2)]
    swapping.start()
    try:
        for each in asking:
            each.start()
        for each in asking:
            each.join()
    finally:
        stop.set()
        swapping.join()
    assert len(found) == 2 * ASKED
    assert {status for status, _ in found} <= {200, 403, 404}
    assert not [body for _, body in found if b"OUTSIDE" in body]
    assert {body for status, body in found if status == 200} <= {b"inside\n"}
