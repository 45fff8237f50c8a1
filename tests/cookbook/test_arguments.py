"""A port that is none is a mistake of whoever starts a recipe, and is named."""

import os
import subprocess

import pytest
from serving import PATIENCE

NAMES = [
    "site_and_api", "short_links", "upload_to_disk", "event_feed", "journal", "guarded_scripts", "heavy_work",
    "key_value", "heartbeats", "service", "sites", "https", "push", "live_notes", "websocket_client",
]  # fmt: skip
MORE = {"https": ["chain.pem", "key.pem"]}  # without them, it only prints its usage


@pytest.mark.parametrize("port", ["x", "80x", "-1", "65536", ""])
@pytest.mark.parametrize("name", NAMES)
def test_a_port_that_is_none_is_named(recipes, tmp_path, name, port):
    done = subprocess.run(
        [recipes / name, port, str(tmp_path), *MORE.get(name, [])], capture_output=True, text=True, check=False, timeout=PATIENCE,
        cwd=tmp_path, env={**os.environ, "AUTHORIZATION": "Basic eDp5"},
    )  # fmt: skip
    assert done.returncode == 2
    assert f'port "{port}": not a number from 0 to 65535' in done.stderr


@pytest.mark.parametrize("words", [["0", "2x"], ["0", "0"], ["0", " 3"], ["0", "1", "4x"], ["0", "1", "-1"]])
def test_a_number_of_threads_or_places_that_is_none_is_named(recipes, words):
    done = subprocess.run(
        [recipes / "heavy_work", *words], capture_output=True, text=True, check=False, timeout=PATIENCE
    )
    assert done.returncode == 2
    assert f'{"threads" if len(words) == 2 else "queue"} "{words[-1]}": not a number from 1 to' in done.stderr
