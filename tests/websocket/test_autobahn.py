"""The runner of the Autobahn suite, with a `wstest` that only writes reports."""

import json
import os
import pathlib
import subprocess
import sys

import pytest

RUNNER = pathlib.Path(__file__).with_name("autobahn.py")
WSTEST = f"""#!{sys.executable}
import json, os, pathlib, sys
spec = json.loads(pathlib.Path(sys.argv[4]).read_text())
reports = json.loads(os.environ["REPORTS"])[spec["cases"][0]]
print("Ok, will run", len(reports) + int(os.environ.get("MORE", "0")), "test cases against 1 servers", flush=True)
out = pathlib.Path(spec["outdir"])
out.mkdir()
both = {{case: {{"behavior": result[0], "behaviorClose": result[1]}} for case, result in reports.items()}}
(out / "index.json").write_text(json.dumps({{spec["servers"][0]["agent"]: both}}))
"""


@pytest.fixture
def run(tmp_path):
    """Runs it with these results of each group. Returns exit code and output."""
    program = tmp_path / "wstest"
    program.write_text(WSTEST, encoding="utf-8")
    program.chmod(0o755)

    def run_one(reports: dict, **environment):
        environment |= {"PATH": f"{tmp_path}:{os.environ['PATH']}", "REPORTS": json.dumps(reports)}
        done = subprocess.run(
            [sys.executable, "-B", RUNNER, "--cases", *reports], capture_output=True, text=True, check=False,
            timeout=60, env={**os.environ, **environment},
        )  # fmt: skip
        return done.returncode, done.stdout + done.stderr

    return run_one


def test_all_have_passed(run):
    also = {"7.1.1": ("INFORMATIONAL", "INFORMATIONAL"), "7.1.2": ("OK", "OK")}
    code, said = run({"1.*": {"1.1.1": ("OK", "OK")}, "7.*": also})
    assert code == 0 and "3 cases passed, 0 faults" in said


WORSE = [("FAILED", "OK"), ("OK", "FAILED"), ("NON-STRICT", "OK"), ("UNIMPLEMENTED", "OK"), ("OK", "UNCLEAN")]


@pytest.mark.parametrize("result", WORSE)
def test_one_has_not(run, result):
    code, said = run({"1.*": {"1.1.2": ("OK", "OK"), "1.1.10": result}})
    assert code == 1 and f"\n1.1.10: {result[0]}, closing {result[1]}\n" in said and "1.1.2:" not in said


def test_a_report_is_missing(run):
    code, said = run({"1.*": {"1.1.1": ("OK", "OK")}}, MORE="1")
    assert code == 1 and "2 cases were announced, and 1 reported" in said


def test_there_are_no_such_cases(run):
    code, said = run({"99.*": {}})
    assert code == 1 and "there are no such cases" in said
