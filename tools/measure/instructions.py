"""Instructions of a request: `final` as it is released, and built without inlining across files.

valgrind counts them, by way of tests/cost, where the same figures have ceilings. No clock is read.
"""

from __future__ import annotations

import importlib.util
import pathlib
import shutil
import sys
import types
from collections.abc import Callable

from measure import run
from measure.process import Failed

SCENARIOS = ("keep-alive", "browser", "pipelined", "connection-each")
# Below the folder of the builds. The second has the same optimisation, and no -flto.
BUILDS = {"inlined": "final", "apart": "final-apart"}
APART = ("-DCMAKE_BUILD_TYPE=RelWithDebInfo", "-DCMAKE_CXX_FLAGS_RELWITHDEBINFO=-O3 -DNDEBUG", "-DBUILD_TESTING=OFF")


def refuse(build: pathlib.Path) -> None:
    if not shutil.which("valgrind"):
        raise Failed("valgrind is missing; on Debian: apt install valgrind")
    for folder in BUILDS.values():
        if not (build / folder / "turtle").is_file():
            raise Failed(f"{build / folder / 'turtle'} is not built; `./learn bench --record` builds it")


def measure_all(build: pathlib.Path, note: Callable[[str], None]) -> dict:
    refuse(build)
    cost = load_cost()
    found: dict[str, dict[str, float]] = {}
    for name, folder in BUILDS.items():
        found[name] = {}
        for scenario in SCENARIOS:
            try:
                instructions, _, _ = cost.callgrind(cost.session.SCENARIOS[scenario], build / folder / "turtle")
            except cost.CannotMeasure as error:
                raise Failed(str(error)) from error
            found[name][scenario] = round(instructions)
            note(f"  {name:<8} {scenario:<16} {instructions:,.0f} instructions")
    return {"builds": found}


def load_cost() -> types.ModuleType:
    """tests/cost/measure.py, by its path: this package has its name."""
    folder = run.ROOT / "tests" / "cost"
    sys.path.insert(0, str(folder))
    try:
        spec = importlib.util.spec_from_file_location("turtle_cost", folder / "measure.py")
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
    finally:
        sys.path.remove(str(folder))
    return module
