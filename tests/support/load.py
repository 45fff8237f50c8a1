"""Clients that send requests without a pause, and forgive nothing.

Half of them keep their connection for as long as the server lets them, half open one for each request.
Each request has its own name, so that the access log shows which were answered, and how often.
"""

from __future__ import annotations

import socket
import threading
import time

import channel
from serving import PATIENCE


class Client(threading.Thread):
    def __init__(self, load: Load, number: int, keeps: bool) -> None:
        super().__init__(daemon=True)
        self.load, self.number, self.keeps = load, number, keeps
        self.answered: list[str] = []
        self.failures: list[str] = []
        self.last = 0.0  # when the last response came

    def run(self) -> None:
        stream = None
        count = 0
        while not self.load.over.is_set():
            name = f"{self.number}-{count}"
            count += 1
            try:
                stream = stream or self.load.connect()
                status, closes = self._ask(stream, name)
                if status != 200:
                    self.failures.append(f"{name}: status {status}")
                self.answered.append(name)
                if closes:
                    self._expect_end(stream, name)
                    stream = None
            except (OSError, ValueError, IndexError) as error:
                self.failures.append(f"{name}: {error!r}")
                stream = None
        if stream:
            stream.close()

    def _ask(self, stream, name: str) -> tuple[int, bool]:
        fields = "" if self.keeps else "Connection: close\r\n"
        stream.write(f"GET {self.load.path}?{name} HTTP/1.1\r\nHost: t\r\n{fields}\r\n".encode())
        stream.flush()
        status = int(stream.readline().split()[1])
        length, closes = None, False
        while (line := stream.readline()) != b"\r\n":
            field, value = line.decode().split(":", 1)
            length = int(value) if field.lower() == "content-length" else length
            closes = closes or (field.lower() == "connection" and value.strip() == "close")
        if length is None or len(stream.read(length)) != length:
            raise ValueError("the reply is not whole")
        return status, closes

    def _expect_end(self, stream, name: str) -> None:
        if stream.read(1) != b"":
            self.failures.append(f"{name}: more than one reply")
        stream.close()


class Load:
    """Runs as long as the `with` block does."""

    def __init__(self, port: int, path: str = "/style.css", keeping: int = 3, fresh: int = 3) -> None:
        self.port, self.path = port, path
        self.over = threading.Event()
        self.clients = [Client(self, i, i < keeping) for i in range(keeping + fresh)]

    def connect(self):
        connection = channel.connect(self.port, timeout=PATIENCE)
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        stream = connection.makefile("rwb")
        connection.close()  # the stream owns it
        return stream

    def __enter__(self) -> Load:
        for client in self.clients:
            client.start()
        self.await_answers()
        return self

    def __exit__(self, *_) -> None:
        self.over.set()
        for client in self.clients:
            client.join(PATIENCE)
            assert not client.is_alive(), f"client {client.number} hangs"

    def await_answers(self, each: int = 5) -> None:
        """Waits until every client has had that many more."""
        wanted = [len(client.answered) + each for client in self.clients]
        deadline = time.monotonic() + PATIENCE
        while any(len(client.answered) < count for client, count in zip(self.clients, wanted)):
            assert time.monotonic() < deadline and not self.failures(), f"no answers any more: {self.failures()[:5]}"
            time.sleep(0.005)

    def failures(self) -> list[str]:
        return [failure for client in self.clients for failure in client.failures]

    def answered(self) -> list[str]:
        return [name for client in self.clients for name in client.answered]
