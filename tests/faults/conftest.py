"""`turtle serve` in trouble.

TURTLE_BINARY  the program; without it build/final/turtle, a Release build
"""

import pathlib
import sys

sys.dont_write_bytecode = True
sys.path.insert(0, str(pathlib.Path(__file__).parents[1] / "support"))
