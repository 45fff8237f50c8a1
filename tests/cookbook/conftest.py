"""The recipes of cookbook/, built on an installed `final`; each test talks to one of them."""

from __future__ import annotations

import contextlib
import http.client
import json
import pathlib
import shutil
import sys
from dataclasses import dataclass

import pytest

sys.dont_write_bytecode = True
sys.path.insert(0, str(pathlib.Path(__file__).parents[1] / "support"))

import installed  # noqa: E402
from serving import PATIENCE, ROOT, Server  # noqa: E402

COOKBOOK = ROOT / "cookbook"
PREFIX = ROOT / "build" / "installed"
RECIPES = ROOT / "build" / "cookbook"  # where tools/transcripts.py looks for them


@dataclass
class Reply:
    status: int
    headers: http.client.HTTPMessage
    body: bytes

    def json(self):
        assert self.headers["Content-Type"] in ("application/json", "application/problem+json")
        return json.loads(self.body)


class Recipe(Server):
    """A recipe that runs."""

    def ask(self, method: str, path: str, body=None, **fields: str) -> Reply:
        """One request on a connection of its own. `fields`: names with '_' for '-'."""
        headers = {name.replace("_", "-"): value for name, value in fields.items()}
        with contextlib.closing(http.client.HTTPConnection("127.0.0.1", self.port, timeout=PATIENCE)) as connection:
            connection.request(method, path, body, headers)
            reply = connection.getresponse()
            return Reply(reply.status, reply.headers, reply.read())

    def next_line(self) -> str:
        """The next one that it prints."""
        return self._line().rstrip("\n")


@pytest.fixture(scope="session")
def prefix():
    """`final`, installed: nothing of an installation before it is left."""
    shutil.rmtree(PREFIX, ignore_errors=True)
    installed.install(PREFIX)
    return PREFIX


@pytest.fixture(scope="session")
def recipes(prefix):
    """The folder of their programs, built as the page says."""
    options = [f"-DCMAKE_PREFIX_PATH={prefix}", "-DCMAKE_BUILD_TYPE=Release"]
    if shutil.which("ccache"):
        options.append("-DCMAKE_CXX_COMPILER_LAUNCHER=ccache")
    installed.configure(COOKBOOK, RECIPES, *options)
    said = installed.build(RECIPES)
    assert "warning" not in said
    return RECIPES


@pytest.fixture
def start(recipes):
    """Starts recipes on a port of the system's choice; those that still run after the test must end well."""
    with contextlib.ExitStack() as stack:
        started = []

        def start_one(name, *arguments, port=0, **options):
            recipe = Recipe(recipes / name, port, *arguments, **options)
            stack.callback(recipe.close)
            started.append(recipe)
            return recipe

        yield start_one
        for recipe in started:
            if recipe.process.poll() is None:
                assert recipe.stop() == (0, "")
