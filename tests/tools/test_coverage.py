"""./learn coverage: what it makes of gcov's numbers."""

import collections
import json
import pathlib
import sys

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tools"))

from learn import coverage  # noqa: E402

TAKEN = {"count": 3, "throw": False, "fallthrough": True}
NEVER = {"count": 0, "throw": False, "fallthrough": False}
THROWS = {"count": 0, "throw": True, "fallthrough": False}


@pytest.fixture
def sources(tmp_path):
    (tmp_path / "http").mkdir()
    (tmp_path / "http" / "uri.cpp").write_text("one();\n  if (two) {\n    three();\n\nfive();\n")
    (tmp_path / "cgi").mkdir()
    (tmp_path / "cgi" / "cgi.cpp").write_text("if (one) {}\n")
    return tmp_path


def unit(sources, name, *lines):
    """What gcov says of an object: (number, count, branches) for each line."""
    found = [{"line_number": number, "count": count, "branches": list(branches)} for number, count, branches in lines]
    return json.dumps(
        {"current_working_directory": str(sources), "files": [{"file": name, "lines": found}]}
    )


def read(sources, *units):
    lines = collections.defaultdict(lambda: collections.defaultdict(coverage.Line))
    coverage.read("\n".join(units), sources, lines)
    return lines


def test_the_counts_of_all_objects_are_added(sources):
    lines = read(
        sources,
        unit(sources, "http/uri.cpp", (1, 0, []), (2, 1, [TAKEN, NEVER])),
        unit(sources, "http/uri.cpp", (1, 2, []), (2, 1, [NEVER, TAKEN])),
    )
    assert lines["http/uri.cpp"][1].count == 2
    assert lines["http/uri.cpp"][2].untaken() == 0


def test_other_folders_do_not_count(sources):
    assert read(sources, unit(sources, "/usr/include/vector", (1, 1, [])), "no JSON") == {}


def test_the_table_names_what_is_not_reached(sources):
    lines = read(sources, unit(sources, "http/uri.cpp", (1, 1, []), (2, 0, []), (3, 0, []), (5, 1, []), (6, 0, [])))
    assert coverage.spans([2, 3, 6], [1, 2, 3, 5, 6]) == "2-3, 6"
    assert "2-3, 6" in coverage.table(lines)[1]
    assert coverage.total(lines) == 40.0


def test_a_branch_that_is_not_taken_is_told(sources):
    lines = read(sources, unit(sources, "http/uri.cpp", (2, 3, [TAKEN, NEVER])))
    assert coverage.untaken_branches(lines, sources, {}) == ["http/uri.cpp:2: 1 branches not taken: if (two) {"]


def test_exceptions_and_single_ways_are_no_branches(sources):
    lines = read(sources, unit(sources, "http/uri.cpp", (1, 0, [NEVER, THROWS]), (2, 3, [TAKEN, TAKEN, THROWS])))
    assert coverage.untaken_branches(lines, sources, {}) == []


def test_an_excuse_is_for_the_text_of_a_line(sources):
    lines = read(sources, unit(sources, "http/uri.cpp", (2, 3, [TAKEN, NEVER])))
    assert coverage.untaken_branches(lines, sources, {"http/uri.cpp": {"if (two) {": "never more than one"}}) == []
    outdated = coverage.untaken_branches(lines, sources, {"http/uri.cpp": {"if (2) {": "the line of last year"}})
    assert outdated[-1] == "unreached.json: http/uri.cpp has no such line: if (2) {"


def test_elsewhere_only_lines_count(sources):
    lines = read(sources, unit(sources, "cgi/cgi.cpp", (1, 3, [TAKEN, NEVER])))
    assert coverage.untaken_branches(lines, sources, {}) == []


def test_too_few_lines_and_another_compiler_are_told(sources):
    lines = read(sources, unit(sources, "http/uri.cpp", (1, 0, []), (2, 3, [TAKEN, NEVER])))
    shown, wrong = coverage.judge(lines, sources, compiler=1)
    assert wrong == ["50.0 % of the lines are reached, less than 95 %"]
    assert "branches are judged with gcc" in shown[-1]


def test_the_excuses_are_about_code_that_is_there():
    known = json.loads(coverage.UNREACHED.read_text(encoding="utf-8"))
    assert coverage.untaken_branches({}, coverage.SOURCES, known["branches"]) == []
    assert all(reason for reasons in known["branches"].values() for reason in reasons.values())


def test_every_user_may_count_and_what_nobody_counted_is_left_out(tmp_path, monkeypatch):
    (tmp_path / "old.cpp.gcda").write_text("counts of yesterday")
    (tmp_path / "uri.cpp.gcno").touch()
    (tmp_path / "cgi.cpp.gcno").touch()
    coverage.begin(tmp_path)
    files = sorted(path for path in tmp_path.glob("*.gcda"))
    assert [(path.name, path.stat().st_mode & 0o777) for path in files] == [
        ("cgi.cpp.gcda", 0o666),
        ("uri.cpp.gcda", 0o666),
    ]
    (tmp_path / "uri.cpp.gcda").write_text("counts")
    asked = []
    monkeypatch.setattr(coverage, "gcov", lambda data: asked.append(data.name) or "")
    coverage.gather(tmp_path, tmp_path)
    assert asked == ["uri.cpp.gcda"]
