"""A port that is none is a mistake of whoever starts a recipe, and is named."""

import os
import subprocess

import pytest
from serving import PATIENCE

NAMES = [
    "site_and_api", "short_links", "upload_to_disk", "event_feed", "journal", "guarded_scripts", "heavy_work",
    "key_value", "heartbeats", "service",
]  # fmt: skip


@pytest.mark.parametrize("port", ["x", "80x", "-1", "65536", ""])
@pytest.mark.parametrize("name", NAMES)
def test_a_port_that_is_none_is_named(recipes, tmp_path, name, port):
    done = subprocess.run(
        [recipes / name, port, str(tmp_path)], capture_output=True, text=True, check=False, timeout=PATIENCE,
        cwd=tmp_path, env={**os.environ, "AUTHORIZATION": "Basic eDp5"},
    )  # fmt: skip
    assert done.returncode == 2
    assert f'port "{port}": not a number from 0 to 65535' in done.stderr
