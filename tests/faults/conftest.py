"""`turtle serve` in trouble.

TURTLE_BINARY   the program; without it build/final/turtle, a Release build
TURTLE_CHANNEL  tls: with clients that have TLS. What makes no difference then is left out
"""

import pathlib
import sys

sys.dont_write_bytecode = True
sys.path.insert(0, str(pathlib.Path(__file__).parents[1] / "support"))

import channel  # noqa: E402

collect_ignore = ["test_faults.py" if channel.NAME == "tls" else "test_handshakes.py"]
