"""Tests of what only a kernel with io_uring has."""

from __future__ import annotations

import sys

import pytest
from serving import ROOT

sys.path.append(str(ROOT / "tools"))

from learn.io_uring import why_not  # noqa: E402


def needs_io_uring() -> None:
    """Skips the test where there is none."""
    if reason := why_not():
        pytest.skip(reason)
