"""The output of a page's commands does not depend on where the tree lies."""

import pathlib
import sys

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tools"))

import transcripts  # noqa: E402


@pytest.mark.parametrize(
    "text, wanted",
    [
        ("/src/chapters/x.cpp:3", "~/turtle/chapters/x.cpp:3"),
        ("in '/src'", "in '~/turtle'"),
        ("./googletest/src/gtest_main.cc", "./googletest/src/gtest_main.cc"),
        ("/usr/src/linux /srcs /src-old", "/usr/src/linux /srcs /src-old"),
    ],
)
def test_only_the_tree_is_renamed(text, wanted):
    assert transcripts.renamed(text, "/src", "~/turtle") == wanted
