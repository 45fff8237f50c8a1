"""Is there an io_uring here? Where there is, what is meant for it has to run."""

from __future__ import annotations

import ctypes
import os
import platform

import pytest

SYS_IO_URING_SETUP = 425  # on every architecture but alpha


def why_no_io_uring() -> str:
    """What io_uring_setup(2) says; "" if it works."""
    if platform.system() != "Linux":
        return "only Linux has io_uring"
    library = ctypes.CDLL(None, use_errno=True)
    parameters = ctypes.create_string_buffer(120)  # struct io_uring_params
    ring = library.syscall(SYS_IO_URING_SETUP, 1, parameters)
    if ring < 0:
        return f"io_uring_setup: {os.strerror(ctypes.get_errno())}"
    os.close(ring)
    return ""


def needs_io_uring() -> None:
    if why := why_no_io_uring():
        pytest.skip(why)
