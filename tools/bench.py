#!/usr/bin/env python3
"""Measures `final` beside other servers: python3 tools/bench.py --help.

Loads, servers and command lines are in tools/measure/table.py. `./learn bench` builds first.
"""

import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))

from measure import cli  # noqa: E402

if __name__ == "__main__":
    sys.exit(cli.main(sys.argv[1:]))
