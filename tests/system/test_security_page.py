"""SECURITY.md names each limit with its default, its flag and its test; what it names is so."""

import pathlib
import re
import subprocess

import pytest
from serving import ROOT

COLUMNS = ("what", "default", "flag", "code", "beyond", "test")
# What is no limit.
OTHERS = {"--help", "--port", "--address", "--threads", "--cgi-dir", "--cache-check"}
OTHERS |= {"--block", "--cpu-affinity", "--poller", "--response-cache", "--task-threads", "--compression"}
OTHERS |= {"--log-level", "--log-file", "--log-async", "--log-when-full", "--log-flush"}
OTHERS |= {"--log-path", "--log-base-name", "--drain-time"}
OTHERS |= {"--access-log", "--access-log-format"}
OTHERS |= {"--operations", "--accept", "--dot-files", "--proxy-protocol", "--trusted-proxies", "--user", "--group", "--pid-file"}
OTHERS |= {f"--mysql{what}" for what in ("", "-address", "-port", "-socket", "-user", "-password", "-database", "-flags")}
OTHERS |= {f"--tls-{what}" for what in ("certificate", "key", "ocsp", "version", "clients", "client-ca", "tickets")}
OTHERS |= {"--https-port", "--https-public-port", "--http"}
UNITS = {"": 1, "s": 1, "K": 1 << 10, "M": 1 << 20, "G": 1 << 30}


def rows():
    lines = (ROOT / "SECURITY.md").read_text(encoding="utf-8").splitlines()
    table = [line for line in lines if line.startswith("|")][2:]
    return [dict(zip(COLUMNS, (cell.strip().strip("`") for cell in line.strip("|").split("|")))) for line in table]


ROWS = rows()


def number(text: str) -> int:
    """Of "10 s", "64K" or "500"; 0 of "any", which an option has as -1."""
    if text in ("any", "-1"):
        return 0
    match = re.fullmatch(r"(\d+) ?([sKMG]?)", text)
    assert match, text
    return int(match[1]) * UNITS[match[2]]


def value_in(name: str) -> int:
    """What `Class::member`, or `kConstant`, is set to in a header of the library."""
    holder, _, member = name.rpartition("::")
    for header in sorted((ROOT / "final/src").rglob("*.h")):
        if not holder:
            constant = re.search(rf"^(?:inline )?constexpr .*\b{name} = (.*?);", header.read_text(encoding="utf-8"), re.MULTILINE)
            if constant:
                return evaluate(constant[1], milliseconds=False)
            continue
        body = re.search(rf"(?:struct|class) {holder}(?: final)?(?: : [^{{]*)? {{(.*?)\n}};", header.read_text(encoding="utf-8"), re.DOTALL)
        found = body and re.search(rf"^ .*\b(\S+) {member}(?: = (.*?)|{{(.*?)}});", body[1], re.MULTILINE)
        if found:
            return evaluate(found[2] or found[3], milliseconds=found[1].endswith("milliseconds"))
    raise AssertionError(f"{name} is not in final/src")


def evaluate(text: str, milliseconds: bool) -> int:
    if text == "kMinRate":
        source = (ROOT / "final/src/core/min_rate.h").read_text(encoding="utf-8")
        text = re.search(r"kMinRate = (\d+);", source)[1]
    text = re.sub(r"\b(\d+)L\b", r"\1", re.sub(r"std::\w+{(\d+)}", r"\1", text).replace("'", ""))
    assert re.fullmatch(r"[\d *<]+", text), text
    result = eval(text)  # pylint: disable=eval-used
    return result // 1000 if milliseconds else result


@pytest.fixture(scope="module")
def help_text(binary):
    return subprocess.run([binary, "serve", "--help"], capture_output=True, text=True, check=True).stdout


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row["what"])
def test_a_default_is_what_the_page_says(row, help_text):
    assert row["flag"] or row["code"]
    if row["flag"]:
        # CLI11 writes "N=100", from 2.4 on "N [100]".
        flag = re.search(rf"^ +{row['flag']} \w+(?:=| \[)([^\s\]]+)", help_text, re.MULTILINE)
        assert flag, f"{row['flag']} is no flag, or has no default"
        assert number(flag[1]) == number(row["default"])
    if row["code"]:
        assert value_in(row["code"]) == number(row["default"])


def test_each_flag_is_on_the_page(help_text):
    program = set(re.findall(r"^ +(?:-\w,)?(--[\w-]+)", help_text, re.MULTILINE))
    assert program - OTHERS == {row["flag"] for row in ROWS if row["flag"]}


@pytest.mark.parametrize("test", sorted({row["test"] for row in ROWS}))
def test_a_test_that_is_named_is_there(test):
    assert (ROOT / pathlib.Path(test)).is_file()
