"""Is there an io_uring here? Where there is, what is meant for it has to run."""

from __future__ import annotations

import ctypes
import os
import platform

SYS_IO_URING_SETUP = 425  # on every architecture but alpha
SIZE_OF_PARAMETERS = 120  # struct io_uring_params


def why_not() -> str:
    """What io_uring_setup(2) says; "" if it works."""
    if platform.system() != "Linux":
        return "only Linux has io_uring"
    library = ctypes.CDLL(None, use_errno=True)
    ring = library.syscall(SYS_IO_URING_SETUP, 1, ctypes.create_string_buffer(SIZE_OF_PARAMETERS))
    if ring < 0:
        return f"io_uring_setup: {os.strerror(ctypes.get_errno())}"
    os.close(ring)
    return ""
