"""Doxygen over the headers of final, as XML. A complaint of it is an error."""

from __future__ import annotations

import pathlib
import re
import shutil
import subprocess

# What Doxygen may find undocumented: copying, moving and destroying, which the head of the class
# speaks of once.
SPECIAL_MEMBER = re.compile(
    r"Member (?:(?P<class>\w+)\((?:const )?(?P=class)(?:<[^>]*>)? ?&&?[^)]*\)|~\w+\(|operator=\()"
    r".* is not documented"
)


class DoxygenError(Exception):
    """It isn't there, or it complains; the text says of what."""


def run(root: pathlib.Path, target: pathlib.Path) -> pathlib.Path:
    """The folder, in `target`, with the XML."""
    if not (root / "final/src").is_dir():
        raise DoxygenError("final/src is not there: python3 tools/chapters.py sync")
    doxygen = shutil.which("doxygen")
    if not doxygen:
        raise DoxygenError("doxygen is not there; on Debian: apt-get install doxygen")
    settings = (root / "docs/Doxyfile").read_text(encoding="utf-8")
    done = subprocess.run(
        [doxygen, "-"],
        input=f'{settings}\nOUTPUT_DIRECTORY = "{target}"\n',
        text=True,
        cwd=root,
        capture_output=True,
        check=False,
    )
    complaints = sorted({line for line in done.stderr.splitlines() if not SPECIAL_MEMBER.search(line)})
    if done.returncode or complaints:
        said = "\n".join(line.replace(f"{root}/", "") for line in complaints)
        raise DoxygenError(f"{said}\nDoxygen complains; its messages are above")
    return target / "xml"
