"""Entry: `python3 tools/learn COMMAND`, called by ./learn."""

import pathlib
import sys

# The folder above, so that this folder is the package `learn`.
sys.path[0] = str(pathlib.Path(__file__).resolve().parent.parent)

from learn import cli  # noqa: E402

sys.exit(cli.main(sys.argv[1:]))
