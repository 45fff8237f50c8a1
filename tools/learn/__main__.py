"""Entry: `python3 tools/learn COMMAND`, called by ./learn."""

import os
import pathlib
import signal
import sys

# The folder above, so that this folder is the package `learn`.
sys.path[0] = str(pathlib.Path(__file__).resolve().parent.parent)

from learn import cli  # noqa: E402

try:
    status = cli.main(sys.argv[1:])
    sys.stdout.flush()
except BrokenPipeError:  # ./learn solution DIR | head: who reads has seen enough
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    status = 128 + signal.SIGPIPE
sys.exit(status)
