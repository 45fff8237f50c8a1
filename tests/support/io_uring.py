"""For tests of features that need a kernel with io_uring."""

from __future__ import annotations

import sys

import pytest
from serving import ROOT

sys.path.append(str(ROOT / "tools"))

from learn.io_uring import why_not  # noqa: E402


def needs_io_uring() -> None:
    """Skips the test if there is none."""
    if reason := why_not():
        pytest.skip(reason)
