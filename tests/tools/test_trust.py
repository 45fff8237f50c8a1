"""tools/trust.py: what it reads off the proofs' words, and what it keeps."""

import argparse
import json
import pathlib
import sys

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tools"))

import trust  # noqa: E402

FIGURES = """half-open heads held            10000
others, median and p99           0.20 ms     3.95 ms
  without the crowd              0.21 ms     4.06 ms
resident                         26.4 MiB, 9.1 before
each of them                     1814 bytes
CPU while nothing happens        0.00 %
cut after, with the defaults
  a head, byte by byte           10.2 s
  a body that doesn't come       30.1 s
"""
SOAK = """  round 1 of 2: 10 requests, 1 resets; 9 descriptors, 9000 KiB
  round 2 of 2: 30 requests, 2 resets; 9 descriptors, 9000 KiB
          7 keep_alive
          2 reset
30 requests, 2 resets, 0 faults
"""


def test_rows_and_the_ways_to_cut_them():
    text = "limits   9   6   8   23\nall    738    85    56     879\n880 rows, 1008442 ways to cut them: one verdict each\n"
    found = trust.read_rows(text)
    assert found == {"must": 738, "should": 85, "may": 56, "rows": 879, "cut rows": 880, "ways": 1008442}


def test_figures_of_an_attack():
    found = trust.read_figures(FIGURES)
    assert found["crowd"] == 10000 and found["p99 ms"] == 3.95 and found["alone p99 ms"] == 4.06
    assert found["resident MiB"] == 26.4 and found["bytes"] == 1814 and found["idle percent"] == 0
    assert found["cut a head, byte by byte"] == 10.2 and found["cut a body that doesn't come"] == 30.1


def test_fuzz_targets_are_added_up():
    text = "uri: 1,000,000 inputs, 300 edges, nothing found\nhead: 20 inputs, 5 edges, nothing found\n"
    assert trust.read_fuzz(text) == {"targets": 2, "inputs": 1000020, "inputs uri": 1000000, "inputs head": 20}


def test_faults_stops_and_coverage():
    text = "recv short 3: stuck\n7 runs, 6 of them met their fault: 2 refused to start, in 3 a client noticed, 0 went wrong\n"
    assert trust.read_faults(text) == {"runs": 7, "met": 6, "refused": 2, "noticed": 3}
    assert trust.read_stops("26123 whole replies\n") == {"replies": 26123}
    found = trust.read_coverage("  all of final/src                      6012    97.8%\n")
    assert found["lines"] == 6012 and found["percent"] == 97.8 and found["excused"] > 0


def test_a_soak():
    assert trust.read_soak(SOAK) == {"requests": 30, "resets": 2, "acts": 9, "rounds": 2}


@pytest.mark.parametrize("read", [proof.read for proof in trust.PROOFS.values()])
def test_a_proof_that_did_not_come_to_its_end_has_no_numbers(read):
    with pytest.raises(trust.Unreadable):
        read("30 requests, 2 resets, 1 faults\nTraceback\n")


def test_a_command_that_fails_is_no_proof():
    proof = trust.Proof(lambda options: [f"echo {options.rounds} whole replies; false"], trust.read_stops)
    with pytest.raises(trust.Unreadable, match="ended with 1\n5 whole replies"):
        trust.run(proof, argparse.Namespace(rounds=5))


def test_what_is_kept_stays_beside_what_was_there(tmp_path):
    path = tmp_path / "trust.json"
    trust.keep("soak", {"requests": 2}, path)
    trust.keep("figures", {"p99 ms": 1.5, "cut a head, byte by byte": 10.2}, path)
    trust.keep("soak", {"requests": 3}, path)
    kept = json.loads(path.read_text())
    assert list(kept) == ["figures", "soak"] and kept["soak"]["requests"] == 3
    assert kept["figures"]["p99-ms"] == 1.5 and kept["figures"]["cut-a-head-byte-by-byte"] == 10.2
    assert all(len(each["date"]) == 10 for each in kept.values())


def test_every_fuzz_target_is_counted():
    """Those that the page counts are those that there are."""
    targets = {path.name.removesuffix("_fuzz.cpp") for path in (ROOT / "final/fuzz/targets").glob("*_fuzz.cpp")}
    counted = json.loads((ROOT / "docs/measured/trust.json").read_text(encoding="utf-8"))["fuzz"]
    assert counted["targets"] == len(targets)
    assert {name.removeprefix("inputs-") for name in counted if name.startswith("inputs-")} == targets
