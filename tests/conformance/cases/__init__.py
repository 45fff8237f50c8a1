"""The table. Each module is one group of rows, GROUPS in the order of a request's life."""

import importlib

GROUPS = """
    request_line fields host targets framing chunked connection methods conditionals ranges limits
    paths cgi_request cgi_reply responses robustness
""".split()


def load() -> list:
    return [row for group in GROUPS for row in importlib.import_module(f"cases.{group}").ROWS]


ROWS = load()
