"""The example websocket_room (final/examples/websocket_room.cpp), with a WebSocket on three paths."""

from __future__ import annotations

import json
import os
import re

import channel
import lineage
import serving

BINARY = serving.BINARY.parent / "examples" / "websocket_room"


class Room(serving.Server):
    """Runs it with some arguments, for clients with TLS if the channel is tls."""

    def __init__(self, *arguments, **options) -> None:
        super().__init__(BINARY, *tls_arguments(), *arguments, greeting="ws://", **options)

    def counts(self) -> dict:
        """Returns what has happened to its sockets so far."""
        connection = channel.HttpConnection("127.0.0.1", self.port, timeout=self.patience)
        try:
            connection.request("GET", "/counts")
            return json.loads(connection.getresponse().read())
        finally:
            connection.close()

    def memory(self) -> int:
        """Returns the resident bytes that no file backs: proc_pid_status(5). Under a sanitizer, which keeps what is
        freed, 0."""
        if "TURTLE_SANITIZED" in os.environ:
            return 0
        with open(f"/proc/{self.pid}/status", encoding="utf-8") as status:
            return int(re.search(r"^RssAnon:\s*(\d+) kB$", status.read(), re.MULTILINE)[1]) * 1024

    def await_closed(self, code: int, count: int = 1) -> None:
        """Waits until so many sockets have ended with a code."""
        what = f"{count} sockets closed with {code}"
        lineage.await_condition(lambda: self.counts()["closed"].get(str(code), 0) == count, what, self.patience)


def tls_arguments() -> list[str]:
    if channel.NAME != "tls":
        return []
    chain, key = map(str, channel.server_files())
    return ["--certificate", chain, "--key", key]
