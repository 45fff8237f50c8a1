"""Compressed responses, as clients with different wishes get them."""

import http.client
import json
import os
import signal
import subprocess

import pytest

import codings
from lineage import await_condition

CODINGS = ("gzip", "br", "zstd")
TEXT = b"".join(b"<p>line %d of a text that is well worth compressing</p>\n" % i for i in range(200))
LONG = TEXT * 20  # it is encoded in steps, while its loop serves others
OLD = 1_600_000_000


class Reply:
    """One response, with the body as it was sent."""

    def __init__(self, response: http.client.HTTPResponse) -> None:
        self.status = response.status
        self.fields = {name.lower(): value for name, value in response.getheaders()}
        self.body = response.read()

    @property
    def coding(self) -> str:
        return self.fields.get("content-encoding", "")

    @property
    def plain(self) -> bytes:
        return codings.decode(self.coding, self.body)

    def without_date(self) -> dict:
        return {name: value for name, value in self.fields.items() if name != "date"}


def send(client, target, *lines, method="GET", version="1.1"):
    head = [f"{method} {target} HTTP/{version}", "Host: turtle", *lines]
    client.sendall("\r\n".join([*head, "", ""]).encode())


def ask(server, target, accepts=None, *lines, **how) -> Reply:
    """Sends a request, with this Accept-Encoding unless it is None."""
    if accepts is not None:
        lines = (f"Accept-Encoding: {accepts}", *lines)
    with server.connect() as client:
        send(client, target, *lines, **how)
        response = http.client.HTTPResponse(client, method=how.get("method", "GET"))
        response.begin()
        return Reply(response)


def await_strong_tag(server, target):
    """The tag of a file is weak until it can't change any more without another time."""
    await_condition(lambda: ask(server, target).fields["etag"].startswith('"'), "a strong tag")


def write(path, content, time=OLD):
    """Writes a file as if it had been there for long, all at once."""
    new = path.with_name("." + path.name)
    new.write_bytes(content)
    os.utime(new, (time, time))
    new.rename(path)


@pytest.fixture
def folder(tmp_path):
    folder = tmp_path / "site"
    (folder / "secret").mkdir(parents=True)
    for name in ("page.html", "secret/page.html"):
        write(folder / name, TEXT)
    write(folder / "short.html", TEXT[:999])
    write(folder / "long.html", LONG)
    write(folder / "image.png", TEXT)
    return folder


@pytest.fixture
def script(tmp_path):
    """Writes a shell script into a folder of programs."""
    folder = tmp_path / "programs"
    folder.mkdir()

    def write_script(name, *lines):
        path = folder / name
        path.write_text("\n".join(["#!/bin/sh", *lines, ""]))
        path.chmod(0o755)
        return folder

    return write_script


@pytest.fixture
def programs(script, tmp_path):
    """`page` prints the text."""
    (tmp_path / "text").write_bytes(TEXT)
    return script("page", r"printf 'Content-Type: text/html\n\n'", f"exec cat {tmp_path}/text")


@pytest.fixture
def server(start, folder, programs):
    server = start(folder, "--compression", "on", "--cgi-dir", programs, "--threads", "2")
    yield server
    assert server.stop() == (0, "")


# --- which coding -------------------------------------------------------------------------------

WISHES = {
    None: "",
    "": "",
    "gzip": "gzip",
    "x-gzip": "gzip",
    "GZip": "gzip",
    "br": "br",
    "zstd": "zstd",
    "deflate": "",
    "deflate, gzip": "gzip",
    "gzip, deflate, br, zstd": "br",
    "gzip, zstd": "zstd",
    "gzip;q=1.0, br;q=0.5": "gzip",
    "gzip;q=0.8, zstd;q=0.9, br;q=0.7": "zstd",
    "gzip ; q=0.5 , br ; q=0.4": "gzip",
    "gzip;q=0.001": "gzip",
    "gzip;q=0": "",
    "gzip;q=0.000": "",
    "*": "br",
    "*;q=0": "",
    "br;q=0, *": "zstd",
    "br;q=0, zstd;q=0, *;q=0.1": "gzip",
    "identity": "",
    "identity, gzip;q=0.5": "",
    "identity;q=0.5, gzip": "gzip",
    "identity;q=0": "",
    "identity;q=0, *": "br",
    "identity;q=0, gzip;q=0.1": "gzip",
    # An element that is malformed counts as missing.
    ",, gzip ,,": "gzip",
    "gzip;q=2": "",
    "gzip;q=0.1234": "",
    "gzip;q=": "",
    "gzip;q=x": "",
    "gzip;q=-1": "",
    "gzip;level=9": "",
    "gzip br": "",
    ";q=1": "",
    "gzip;q=2, br;q=0.1": "br",
    'gzip;q="1': "",
    "gzip, " * 500 + "br": "br",
}


# These clients accept gzip, too. A program's output is a stream without a length, and it gets the encoder that takes
# the least memory.
GZIP_AS_WELL = {
    "gzip, deflate, br, zstd", "gzip, zstd", "gzip;q=0.8, zstd;q=0.9, br;q=0.7", "*", "br;q=0, *", "identity;q=0, *",
    "gzip, " * 500 + "br",
}  # fmt: skip


@pytest.mark.parametrize("target", ["/page.html", "/cgi-bin/page"])
@pytest.mark.parametrize("accepts", WISHES, ids=lambda accepts: str(accepts)[:40])
def test_a_client_gets_the_coding_that_it_likes(server, target, accepts):
    reply = ask(server, target, accepts)
    wanted = "gzip" if target == "/cgi-bin/page" and accepts in GZIP_AS_WELL else WISHES[accepts]
    assert (reply.status, reply.coding) == (200, wanted)
    assert reply.plain == TEXT
    assert reply.fields["vary"] == "Accept-Encoding"
    assert (len(reply.body) < len(TEXT) / 2) == bool(reply.coding)


def test_two_lines_of_the_field_are_one_list(server):
    assert ask(server, "/page.html", "gzip;q=0.1", "Accept-Encoding: zstd").coding == "zstd"
    assert ask(server, "/page.html", "zstd;q=0.1", "Accept-Encoding: gzip").coding == "gzip"


def test_without_the_setting_nothing_is_compressed(start, folder, programs):
    server = start(folder, "--cgi-dir", programs)
    for target in ("/page.html", "/cgi-bin/page"):
        reply = ask(server, target, "gzip, br, zstd")
        assert (reply.coding, reply.body) == ("", TEXT)
        assert "vary" not in reply.fields


def test_curl_decodes_what_it_gets(server):
    for target, content in (("/page.html", TEXT), ("/cgi-bin/page", TEXT), ("/short.html", TEXT[:999])):
        arguments = ["curl", "-sS", "--max-time", "20", "--compressed", server.url + target]
        done = subprocess.run(arguments, capture_output=True, check=False)
        assert (done.returncode, done.stderr, done.stdout) == (0, b"", content)


# --- files --------------------------------------------------------------------------------------


def test_each_coding_has_its_own_tag(server):
    await_strong_tag(server, "/page.html")
    tags = {coding: ask(server, "/page.html", coding).fields["etag"] for coding in ("", *CODINGS)}
    assert len({tag.removeprefix("W/") for tag in tags.values()}) == 4
    for coding, tag in tags.items():
        reply = ask(server, "/page.html", coding, f"If-None-Match: {tag}")
        assert (reply.status, reply.body, reply.fields["etag"]) == (304, b"", tag)
        assert reply.fields["vary"] == "Accept-Encoding"
        assert not {"content-encoding", "content-length"} & set(reply.fields)
        for other in tags.keys() - {coding}:
            reply = ask(server, "/page.html", other, f"If-None-Match: {tag}")
            assert (reply.status, reply.coding, reply.plain) == (200, other, TEXT)
        reply = ask(server, "/page.html", coding, f'If-None-Match: "x", {tag}')
        assert reply.status == 304


@pytest.mark.parametrize("target", ["/page.html", "/short.html", "/image.png"])
@pytest.mark.parametrize("coding", ("", *CODINGS))
def test_a_head_has_the_fields_of_a_get(server, target, coding):
    for _ in range(2):  # the second time out of the cache
        get, head = (ask(server, target, coding, method=method) for method in ("GET", "HEAD"))
        assert head.body == b""
        assert head.without_date() == get.without_date()
        assert int(get.fields["content-length"]) == len(get.body)


@pytest.mark.parametrize("coding", CODINGS)
def test_a_part_is_one_of_the_plain_bytes(server, coding):
    await_strong_tag(server, "/page.html")
    compressed = ask(server, "/page.html", coding)
    assert "accept-ranges" not in compressed.fields
    reply = ask(server, "/page.html", coding, "Range: bytes=100-299")
    assert (reply.status, reply.coding, reply.body) == (206, "", TEXT[100:300])
    assert reply.fields["content-range"] == f"bytes 100-299/{len(TEXT)}"
    plain = reply.fields["etag"]
    assert plain == ask(server, "/page.html").fields["etag"]
    reply = ask(server, "/page.html", coding, "Range: bytes=100-299", f"If-Range: {plain}")
    assert (reply.status, reply.body) == (206, TEXT[100:300])
    # The two must not be mixed: who has the beginning of the compressed bytes gets all of them.
    reply = ask(server, "/page.html", coding, "Range: bytes=100-299", f"If-Range: {compressed.fields['etag']}")
    assert (reply.status, reply.plain) == (200, TEXT)


def test_some_files_are_sent_as_they_are(server):
    for _ in range(2):
        short = ask(server, "/short.html", "gzip, br, zstd")
        assert (short.coding, short.body, short.fields["vary"]) == ("", TEXT[:999], "Accept-Encoding")
        image = ask(server, "/image.png", "gzip, br, zstd")
        assert (image.coding, image.body) == ("", TEXT)
        assert "vary" not in image.fields


@pytest.mark.parametrize("coding", CODINGS)
def test_a_long_file_is_sent_plain_until_it_is_encoded(server, coding):
    def is_encoded():
        reply = ask(server, "/long.html", coding)
        assert reply.plain == LONG
        assert reply.coding in ("", coding)
        return reply.coding

    await_condition(is_encoded, "a compressed response")
    assert server.said() == ""


def write_prepared(folder, coding, name="new.html"):
    """Writes a file, and the same file encoded in advance; returns the bytes of the latter."""
    prepared = codings.encode(coding, TEXT)
    write(folder / (name + codings.SUFFIXES[coding]), prepared)
    write(folder / name, TEXT)
    return prepared


def await_prepared(server, coding, prepared, name="new.html"):
    """A file that has just come may be half written, so it takes a second until it is used."""
    return await_condition(
        lambda: (reply := ask(server, f"/{name}", coding)).body == prepared and reply, "the prepared bytes"
    )


@pytest.mark.parametrize("coding", CODINGS)
def test_a_file_encoded_in_advance_is_sent(server, folder, coding):
    prepared = write_prepared(folder, coding)
    reply = await_prepared(server, coding, prepared)
    assert reply.coding == coding
    assert reply.fields["content-type"] == "text/html; charset=utf-8"
    assert not reply.fields["etag"].startswith("W/"), "its bytes are always the same"
    plain = ask(server, "/new.html")
    assert (plain.coding, plain.body) == ("", TEXT)
    own = ask(server, "/new.html" + codings.SUFFIXES[coding], coding)
    assert (own.coding, own.body) == ("", prepared), "by its own name it is a file like others"


@pytest.mark.parametrize("coding", CODINGS)
def test_a_file_encoded_in_advance_may_be_of_no_use(server, folder, coding):
    other = codings.encode(coding, b"another text")
    for name, content, time in (("stale", other, OLD - 1), ("longer", other + bytes(len(TEXT)), OLD)):
        write(folder / (name + ".html" + codings.SUFFIXES[coding]), content, time)
        write(folder / (name + ".html"), TEXT)
    await_prepared(server, coding, write_prepared(folder, coding))  # by then, these would be used, too
    for name in ("stale", "longer"):
        reply = ask(server, f"/{name}.html", coding)
        assert (reply.coding, reply.plain) == (coding, TEXT), name


@pytest.mark.parametrize("coding", CODINGS)
def test_a_file_encoded_in_advance_may_come_and_go(server, folder, coding):
    sidecar = folder / ("page.html" + codings.SUFFIXES[coding])
    made = ask(server, "/page.html", coding).body
    prepared = codings.encode(coding, TEXT + b" ")  # which shows whose bytes they are

    def sends(expected):
        reply = ask(server, "/page.html", coding)
        assert reply.coding == coding
        assert reply.body in (made, prepared)
        return reply.body == expected

    write(sidecar, prepared)
    await_condition(lambda: sends(prepared), "the prepared bytes")
    sidecar.unlink()
    await_condition(lambda: sends(made), "bytes of the server's own")


@pytest.mark.parametrize("check", ["watch", "always"])
def test_a_changed_file_drops_what_was_made_of_it(start, folder, check):
    server = start(folder, "--compression", "on", "--cache-check", check)
    new = TEXT.replace(b"line", b"LINE")
    old = {coding: ask(server, "/page.html", coding).fields["etag"] for coding in CODINGS}
    write(folder / "page.html", new, OLD + 100)

    def is_new():
        replies = [ask(server, "/page.html", coding) for coding in CODINGS]
        assert all(reply.plain in (TEXT, new) for reply in replies)
        return all(reply.plain == new and reply.coding == coding for reply, coding in zip(replies, CODINGS))

    await_condition(is_new, "the new text in all codings")
    for coding, tag in old.items():
        assert ask(server, "/page.html", coding, f"If-None-Match: {tag}").status == 200
    assert server.stop() == (0, "")


# --- programs -----------------------------------------------------------------------------------


@pytest.mark.parametrize("coding", CODINGS)
def test_a_piece_of_a_program_can_be_read_before_the_next(start, folder, script, tmp_path, coding):
    gate = tmp_path / "gate"
    os.mkfifo(gate)
    programs = script(
        "pieces", r"printf 'Content-Type: text/event-stream\n\ndata: one\n\n'", f"read line < {gate}", "echo $line"
    )
    server = start(folder, "--compression", "on", "--cgi-dir", programs)
    decoder = codings.DECODERS[coding]()
    with server.connect() as client:
        send(client, "/cgi-bin/pieces", f"Accept-Encoding: {coding}")
        response = http.client.HTTPResponse(client)
        response.begin()
        assert response.getheader("Content-Encoding") == coding
        assert response.getheader("Transfer-Encoding") == "chunked"
        plain = b""
        while plain != b"data: one\n\n":
            assert b"data: one\n\n".startswith(plain)
            plain += decoder.feed(response.read1(1))  # ends by the patience of the socket
        assert not decoder.is_whole
        gate.write_text("the rest\n")
        rest = decoder.feed(response.read())
        assert (rest, decoder.is_whole) == (b"the rest\n", True)
    assert server.stop() == (0, "")


@pytest.mark.parametrize("coding", CODINGS)
def test_an_old_client_gets_its_bytes_up_to_the_end_of_the_connection(server, coding):
    reply = ask(server, "/cgi-bin/page", coding, version="1.0")
    assert (reply.status, reply.coding, reply.plain) == (200, coding, TEXT)
    assert not {"transfer-encoding", "content-length"} & set(reply.fields)


def test_a_program_may_decide_for_itself(start, folder, script, tmp_path):
    coded = tmp_path / "coded"
    coded.write_bytes(codings.encode("gzip", TEXT))
    script("coded", r"printf 'Content-Type: text/html\nContent-Encoding: gzip\n\n'", f"exec cat {coded}")
    script("whole", r"printf 'Content-Type: text/html\nCache-Control: no-transform\n\n'", f"exec cat {coded}")
    programs = script("image", r"printf 'Content-Type: image/png\n\n'", f"exec cat {coded}")
    server = start(folder, "--compression", "on", "--cgi-dir", programs)
    for name, coding in (("coded", "gzip"), ("whole", ""), ("image", "")):
        reply = ask(server, f"/cgi-bin/{name}", "br, gzip")
        assert (reply.coding, reply.body) == (coding, coded.read_bytes()), name
        assert "vary" not in reply.fields
    assert server.stop() == (0, "")


def test_a_cached_response_is_sent_in_each_coding(start, folder, script, tmp_path):
    (tmp_path / "text").write_bytes(TEXT)
    programs = script(
        "page", f"echo run >> {tmp_path}/runs", r"printf 'Content-Type: text/html\nCache-Control: max-age=60\n\n'",
        f"exec cat {tmp_path}/text",
    )
    server = start(folder, "--compression", "on", "--cgi-dir", programs, "--response-cache", "on")
    for _ in range(2):
        for coding in ("", *CODINGS):
            reply = ask(server, "/cgi-bin/page", coding)
            assert (reply.coding, reply.plain) == (coding, TEXT)
            assert reply.fields["vary"] == "Accept-Encoding"
    assert (tmp_path / "runs").read_text() == "run\n"
    assert server.stop() == (0, "")


# --- the configuration --------------------------------------------------------------------------


@pytest.fixture
def configure(tmp_path, folder, programs):
    """Writes a configuration of one site with some rules; returns its path."""
    path = tmp_path / "turtle.json"

    def write_configuration(rules, compression="on"):
        configuration = {
            "http": {"compression": compression, "cgi_path": str(programs)},
            "worker_processes": 1,
            "sites": [{"default": True, "root_path": str(folder), "rules": rules}],
        }
        path.write_text(json.dumps(configuration))
        return path

    return write_configuration


def reload(server):
    """Has the server read its configuration, and waits for the end of that."""
    before = server.said().count("the settings ")
    server.signal(signal.SIGHUP)
    await_condition(lambda: server.said().count("the settings ") > before, "the end of a reload")


SECRET = [{"path": "/secret", "compress": False}, {"pattern": "/cgi-bin/.*", "compress": "off"}]


def test_a_rule_keeps_its_responses_plain(start, configure):
    server = start("-f", configure(SECRET))
    for target, coding in (("/page.html", "gzip"), ("/secret/page.html", ""), ("/cgi-bin/page", "")):
        for _ in range(2):
            reply = ask(server, target, "gzip")
            assert (reply.status, reply.coding, reply.plain) == (200, coding, TEXT), target
    assert server.stop() == (0, "")


def test_a_reload_changes_the_rules_and_not_the_setting(start, configure):
    server = start("-f", configure(SECRET))
    assert ask(server, "/secret/page.html", "gzip").coding == ""
    configure([{"path": "/page.html", "compress": False}], compression="off")
    reload(server)
    assert ask(server, "/secret/page.html", "gzip").coding == "gzip"
    assert ask(server, "/page.html", "gzip").coding == ""
    assert "http.compression is 'on' until the next start, and 'off' from then on\n" in server.said()
    assert server.stop()[0] == 0


@pytest.mark.parametrize(
    "rules, compression, mistake",
    [
        ([{"compress": "never"}], "on", 'sites[0].rules[0].compress: "never" is not one of on, off'),
        ([{"compres": "off"}], "on", '"sites[0].rules[0].compres" is not a key; did you mean '
         "sites[0].rules[0].compress?"),
        ([], "gzip", 'http.compression: "gzip" is not one of on, off'),
    ],
)
def test_a_mistake_is_named(binary, configure, rules, compression, mistake):
    path = configure(rules, compression)
    done = subprocess.run([binary, "-t", "-f", path], capture_output=True, text=True, check=False)
    assert done.returncode != 0
    assert f"{path}: {mistake}\n" in done.stderr
