"""Sends rows to a server, many at once, and checks the responses."""

import asyncio
import socket
import ssl

import channel
from reader import Cut, Fault, Reader, demand
from row import Row

PATIENCE = 20.0  # seconds that a row may take at most
CONNECTIONS = 24  # at once
ANSWER = None  # instead of a piece
CANARY = b"GET /canary.txt HTTP/1.1\r\nHost: turtle\r\nConnection: close\r\n\r\n"


def encode(text: str, etag: str) -> bytes:
    return text.replace("<etag>", etag).replace("<tag>", etag.strip('"')).encode("latin-1")


def pieces_of(row: Row, etag: str) -> list:
    """Returns the bytes to send for the row, in pieces for exchange()."""
    canary = b"" if row.ends else CANARY
    if row.later is None:
        return [encode(row.sent, etag) + canary]
    return [encode(row.sent, etag), ANSWER, encode(row.later, etag) + canary]


async def exchange(port: int, pieces: list, half_close: bool) -> bytes:
    """Returns everything that the server sends until it closes the connection. ANSWER among the
    pieces is not sent: the pieces after it wait for the server's first byte."""
    reader, writer = await channel.open_stream(port)
    writer.get_extra_info("socket").setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    answered = asyncio.Event()

    async def send():
        try:
            for piece in pieces:
                if piece is ANSWER:
                    await answered.wait()
                    continue
                writer.write(piece)
                await writer.drain()
                await asyncio.sleep(0)  # no pause: other connections have their turn
            if half_close:
                writer.write_eof()
        except ConnectionError:
            pass  # only what the reading side saw counts

    sending = asyncio.ensure_future(send())
    try:
        answer = b""
        while data := await reader.read(1 << 20):
            answer += data
            answered.set()
        return answer
    finally:
        sending.cancel()
        writer.close()


def run(port: int, jobs: dict) -> dict:
    """Runs jobs, key -> (pieces, half_close). Returns key -> all bytes that came, or the error."""

    async def one(gate, pieces, half_close):
        async with gate:
            try:
                return await asyncio.wait_for(exchange(port, pieces, half_close), PATIENCE)
            except asyncio.TimeoutError:
                return Fault(f"not closed after {PATIENCE} seconds")
            except (ConnectionError, ssl.SSLError) as error:
                return Fault(f"the connection broke: {error}")

    async def everything():
        gate = asyncio.Semaphore(CONNECTIONS)
        return await asyncio.gather(*(one(gate, *job) for job in jobs.values()))

    return dict(zip(jobs, asyncio.run(everything())))


def fault_of(row: Row, answer, etag: str):
    """Returns the fault of `answer`, or None."""
    try:
        judge(row, answer, etag)
    except Fault as fault:
        return fault
    return None


def judge(row: Row, answer, etag: str) -> None:
    """Raises Fault if the row does not accept `answer`."""
    if isinstance(answer, Fault):
        raise answer
    demand(b"HIDDEN" not in answer, "bytes that are no request were answered: {!r}", answer[-300:])
    reader = Reader(answer)
    replies = []
    if row.cut:
        try:
            reader.reply("GET", 1)
        except Cut:
            demand(reader.status in row.replies()[0].statuses, "{}", reader.status)
            return
        raise Fault("the reply seems to be complete")
    for expected in row.replies():
        demand(reader.rest, "no reply {}", sorted(expected.statuses))
        reply = reader.reply(expected.method, expected.minor)
        demand(reply.status in expected.statuses, "{} instead of {}", reply.status, sorted(expected.statuses))
        replies.append(reply)
    if row.closes:
        demand(not reader.rest, "an answer too many: {!r}", reader.rest[:300])
        demand(not row.announces or replies[-1].says_close, "closed without saying so")
    else:
        demand(not any(reply.says_close for reply in replies), "said close")
        demand(reader.rest, "closed instead of waiting for the next request")
        canary = reader.reply("GET", 1)
        demand(canary.body == b"canary\n", "the request behind was answered by {}", canary)
        demand(not reader.rest, "an answer too many: {!r}", reader.rest[:300])
    if any(each.says_close for each in replies[:-1]):
        raise Fault("a reply after one that said close")
    check_details(row, next((each for each in replies if each.status >= 200), None), etag)


def check_details(row: Row, reply, etag: str) -> None:
    for name, value in row.has.items():
        values = reply.all(name)
        demand(values, "no {}", name)
        wanted = [value.replace("<etag>", etag)] if isinstance(value, str) else value
        demand(wanted is None or values == wanted, "{}: {} instead of {}", name, values, wanted)
    for name in row.lacks:
        demand(not reply.all(name), "{}: {}", name, reply.all(name))
    if row.body is not None:
        demand(reply.body == row.body.encode("latin-1"), "body {!r}", reply.body[:500])
    for piece in row.contains:
        demand(piece.encode("latin-1") in reply.body, "{!r} is not in {!r}", piece, reply.body[:3000])
    for piece in row.without:
        demand(piece.encode("latin-1") not in reply.body, "{!r} is in {!r}", piece, reply.body[:3000])
