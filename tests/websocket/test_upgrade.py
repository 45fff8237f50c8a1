"""What turns a request into a WebSocket, byte for byte, and how others are refused. Source: RFC 6455, section 4.2."""

import contextlib

import pytest
from websocket_client import KEY, TEXT, Raw, accept_of, frame, upgrade
from websocket_room import Room

RIGHT = upgrade()


def without(field: str) -> bytes:
    lines = RIGHT.split(b"\r\n")
    kept = [line for line in lines if not line.lower().startswith(field.lower().encode() + b":")]
    assert len(kept) == len(lines) - 1
    return b"\r\n".join(kept)


def replaced(field: str, value: str) -> bytes:
    return without(field).replace(b"\r\n\r\n", f"\r\n{field}: {value}\r\n\r\n".encode("latin-1"))


def refusal(server, request: bytes):
    """Returns the head of the response to a request. The connection goes on as an ordinary one."""
    with Raw(server.port) as client:
        client.send(request)
        head = client.head()
        client.take(int(head["Content-Length"]))
        if "close" not in head.values("Connection"):
            client.send(b"GET /counts HTTP/1.1\r\nHost: turtle\r\n\r\n")
            assert client.head().status == 200
        for field in ("Sec-WebSocket-Accept", "Sec-WebSocket-Extensions", "Sec-WebSocket-Protocol"):
            assert field not in head
        return head


@pytest.fixture(scope="module")
def server():
    with contextlib.closing(Room("--protocol", "chat.v2", "--protocol", "chat.v1")) as room:
        yield room
        assert room.stop() == (0, "")


def opened(server, request: bytes):
    """Returns the head of a 101, after which the connection has to be a WebSocket."""
    with Raw(server.port) as client:
        client.send(request)
        head = client.head()
        assert head.status == 101, head
        client.send(frame(TEXT, b"hello"))
        assert client.take(7) == b"\x81\x05hello"
        return head


def test_the_response_to_a_right_request(server):
    head = opened(server, RIGHT)
    assert head["Upgrade"].lower() == "websocket"
    assert head["Connection"].lower() == "upgrade"
    assert head["Sec-WebSocket-Accept"] == accept_of(KEY) == "s3pPLMBiTxaQ9kYGzzhZRbK+xOo="  # of section 1.3
    for field in ("Content-Length", "Transfer-Encoding", "Sec-WebSocket-Extensions", "Sec-WebSocket-Protocol"):
        assert field not in head, field


GOOD = {
    "other case": replaced("Connection", "keep-alive, UPGRADE").replace(b"websocket\r\n", b"WebSocket\r\n"),
    "several lines": replaced("Connection", "keep-alive\r\nConnection: upgrade"),
    "more protocols": replaced("Upgrade", "h2c, websocket"),
    "a key that is any 16 bytes": replaced("Sec-WebSocket-Key", "AAAAAAAAAAAAAAAAAAAAAA=="),
    "spaces around": replaced("Sec-WebSocket-Version", "  13 \t"),
    "a query": RIGHT.replace(b"/echo", b"/echo?a=b"),
    "no Origin": RIGHT,
    "its own Origin": upgrade("/echo", "Origin: http://turtle"),
}


@pytest.mark.parametrize("request_", GOOD.values(), ids=GOOD)
def test_other_right_requests(server, request_):
    opened(server, request_)


KEYS = {
    "none": without("Sec-WebSocket-Key"),
    "two": replaced("Sec-WebSocket-Key", f"{KEY}\r\nSec-WebSocket-Key: {KEY}"),
    "two in a line": replaced("Sec-WebSocket-Key", f"{KEY}, {KEY}"),
    "empty": replaced("Sec-WebSocket-Key", ""),
    "15 bytes": replaced("Sec-WebSocket-Key", "AAAAAAAAAAAAAAAAAAAA"),
    "17 bytes": replaced("Sec-WebSocket-Key", "AAAAAAAAAAAAAAAAAAAAAAA="),
    "no base64": replaced("Sec-WebSocket-Key", "dGhlIHNhbXBsZSBub25j*Q=="),
    "no padding": replaced("Sec-WebSocket-Key", KEY.rstrip("=")),
    "Latin-1": replaced("Sec-WebSocket-Key", "dGhlIHNhbXBsZSBub25j\xe9Q=="),
}


@pytest.mark.parametrize("request_", KEYS.values(), ids=KEYS)
def test_400_for_a_wrong_key(server, request_):
    assert refusal(server, request_).status == 400


@pytest.mark.parametrize("value", [None, "keep-alive", "upgraded", "close", "close, upgrade"])
def test_400_if_connection_does_not_list_upgrade(server, value):
    assert refusal(server, without("Connection") if value is None else replaced("Connection", value)).status == 400


VERSIONS = {
    "none": without("Sec-WebSocket-Version"),
    "a draft": replaced("Sec-WebSocket-Version", "8"),
    "a later one": replaced("Sec-WebSocket-Version", "14"),
    "a list": replaced("Sec-WebSocket-Version", "13, 8"),
    "two": replaced("Sec-WebSocket-Version", "13\r\nSec-WebSocket-Version: 8"),
    "a leading zero": replaced("Sec-WebSocket-Version", "013"),
    "no Upgrade": without("Upgrade"),
    "another Upgrade": replaced("Upgrade", "h2c"),
    "HTTP/1.0": RIGHT.replace(b"HTTP/1.1", b"HTTP/1.0").replace(b": Upgrade", b": Upgrade, keep-alive"),
    "a plain request": b"GET /echo HTTP/1.1\r\nHost: turtle\r\n\r\n",
}


@pytest.mark.parametrize("request_", VERSIONS.values(), ids=VERSIONS)
def test_426_names_what_it_takes(server, request_):
    """Source: RFC 6455, section 4.4; RFC 9110, sections 7.8 and 15.5.22."""
    head = refusal(server, request_)
    assert head.status == 426
    assert head["Upgrade"] == "websocket"
    assert head["Sec-WebSocket-Version"] == "13"
    assert "upgrade" in head.values("Connection")


ORIGINS = ["http://evil.example", "https://turtle.evil.example", "http://turtle:81", "http://turtle/", "turtle", "null",
           "", "file://", "http://turtle\r\nOrigin: http://turtle"]  # fmt: skip


@pytest.mark.parametrize("origin", ORIGINS, ids=repr)
def test_403_for_another_page(server, origin):
    assert refusal(server, upgrade("/echo", f"Origin: {origin}")).status == 403


def test_403_for_a_page_that_is_not_listed(start):
    server = start("--origin", "https://one.example", "--origin", "https://two.example")
    for origin in ("https://one.example", "https://TWO.example"):
        opened(server, upgrade("/echo", f"Origin: {origin}"))
    for origin in ("http://one.example", "https://one.example:444", "https://three.example", "http://turtle"):
        assert refusal(server, upgrade("/echo", f"Origin: {origin}")).status == 403
    opened(start("--origin", "*"), upgrade("/echo", "Origin: https://any.example"))


def test_405_for_another_method(server):
    for method in (b"POST", b"PUT", b"DELETE"):
        head = refusal(server, RIGHT.replace(b"GET", method).replace(b"\r\n\r\n", b"\r\nContent-Length: 0\r\n\r\n"))
        assert (head.status, head["Allow"]) == (405, "GET"), method


def test_404_beside_the_path(server):
    for path in ("/echo/more", "/ech", "/echo/../none"):
        assert refusal(server, upgrade(path)).status == 404, path


def test_the_first_subprotocol_of_the_client_that_is_known(server):
    field = "Sec-WebSocket-Protocol"
    offers = {"chat.v1, chat.v2": "chat.v1", "none, chat.v2": "chat.v2", f"none\r\n{field}: chat.v1": "chat.v1"}
    for offer, choice in offers.items():
        assert opened(server, upgrade("/echo", f"{field}: {offer}"))[field] == choice
    assert field not in opened(server, upgrade("/echo", f"{field}: CHAT.V1"))


OFFERS = {
    "permessage-deflate": True,
    "permessage-deflate; client_max_window_bits": True,
    "permessage-deflate; server_max_window_bits=7, permessage-deflate": True,
    "x-webkit-deflate-frame, permessage-deflate": True,
    "permessage-deflate; server_max_window_bits=16": False,
    "permessage-deflate; unknown": False,
    "permessage-deflate; server_no_context_takeover; server_no_context_takeover": False,
    "permessage-bzip2": False,
}


@pytest.mark.parametrize("offer", OFFERS)
def test_an_offer_of_compression(server, offer):
    head = opened(server, upgrade("/echo", f"Sec-WebSocket-Extensions: {offer}"))
    assert ("Sec-WebSocket-Extensions" in head) is OFFERS[offer]


@pytest.mark.parametrize("size", [1, 2, 5])
def test_a_request_in_pieces(server, size):
    with Raw(server.port) as client:
        for at in range(0, len(RIGHT), size):
            client.send(RIGHT[at : at + size])
        assert client.head().status == 101


def test_a_request_after_others(server):
    """Pipelined: their responses come first."""
    plain = b"GET /counts HTTP/1.1\r\nHost: turtle\r\n\r\n"
    with Raw(server.port) as client:
        client.send(plain + plain + RIGHT + frame(TEXT, b"hello"))
        for _ in range(2):
            head = client.head()
            assert head.status == 200
            client.take(int(head["Content-Length"]))
        assert client.head().status == 101
        assert client.take(7) == b"\x81\x05hello"
