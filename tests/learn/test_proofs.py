"""What has passed and has not changed since is not done again: tools/learn/proofs.py, and steps that use it."""

import pytest

from learn import proofs
from learn.proofs import Proofs
from learn.steps import Runner, count_pytest


@pytest.fixture(autouse=True)
def kept(tmp_path, monkeypatch):
    monkeypatch.setenv("TURTLE_CACHE", str(tmp_path / "cache"))


@pytest.fixture
def tree(tmp_path):
    folder = tmp_path / "tree"
    (folder / "src").mkdir(parents=True)
    (folder / "src" / "a.h").write_text("1")
    return folder


class Work:
    """A step that counts how often it runs, in runs of their own."""

    def __init__(self, logs, tree):
        self.logs, self.tree, self.times = logs, tree, 0
        self.status = 0

    def run(self, again=False, **options):
        self.runner = Runner(logs=self.logs, again=again)
        self.runner.environment = dict(options.pop("environment", {}), PATH="/usr/bin:/bin")

        def work():
            self.times += 1
            self.runner.run(["sh", "-c", f"echo '3 passed, 1 skipped in 1.00s'; echo 'SKIPPED for a reason'; exit {self.status}"])

        self.runner.step("work", work, inputs=[self.tree], count=count_pytest, **options)
        return self.runner.outcomes[0].status


@pytest.fixture
def work(tmp_path, tree):
    return Work(tmp_path / "logs", tree)


def test_what_passed_is_cached_with_what_it_counted(work, capsys):
    assert [work.run(), work.run()] == ["ok", "cached"]
    assert work.times == 1
    assert work.runner.totals().passed == 3 and work.runner.totals().skipped == 1
    work.runner.summary()
    assert "work: for a reason" in capsys.readouterr().out


def test_a_failure_is_never_kept(work):
    work.status = 1
    assert [work.run(), work.run()] == ["FAILED", "FAILED"]
    work.status = 0
    assert work.run() == "ok"


@pytest.mark.parametrize(
    "change",
    [
        lambda tree: (tree / "src" / "a.h").write_text("2"),
        lambda tree: (tree / "src" / "b.h").write_text(""),
        lambda tree: (tree / "src" / "a.h").rename(tree / "src" / "c.h"),
        lambda tree: (tree / "src" / "a.h").chmod(0o755),
    ],
    ids=["content", "new", "name", "program"],
)
def test_a_changed_input_counts(work, tree, change):
    work.run()
    change(tree)
    assert work.run() == "ok"


def test_an_input_that_comes_back_is_known_again(work, tree):
    work.run()
    (tree / "src" / "a.h").write_text("2")
    work.run()
    (tree / "src" / "a.h").write_text("1")
    assert work.run() == "cached"


def test_options_and_the_compilers_environment_count(work):
    work.run()
    assert work.run(options=["-O2"]) == "ok"
    assert work.run(environment={"CXX": "clang++"}) == "ok"
    assert work.run(environment={"EDITOR": "ed"}) == "cached"


def test_an_installed_package_counts(work, monkeypatch):
    work.run()
    monkeypatch.setattr(proofs, "machine", lambda: "another")
    assert work.run() == "ok"


def test_again_runs_and_keeps(work):
    work.run()
    assert work.run(again=True) == "ok"
    assert work.run() == "cached"


def test_what_is_made_does_not_count(work, tree):
    work.run()
    (tree / "build").mkdir()
    (tree / "build" / "a.o").write_text("")
    assert work.run() == "cached"


def test_an_input_that_changes_meanwhile_proves_nothing(tmp_path, tree):
    runner = Runner(logs=tmp_path / "logs")
    change = [["sh", "-c", f"echo 2 > {tree}/src/a.h"]]
    assert runner.step("work", change, inputs=[tree])
    (tree / "src" / "a.h").write_text("1")
    assert runner.step("work", [["true"]], inputs=[tree])
    assert [each.status for each in runner.outcomes] == ["ok", "ok"]


def test_what_passes_only_when_tried_again_is_not_kept(tmp_path, tree):
    runner = Runner(logs=tmp_path / "logs")
    command = [["sh", "-c", f"mkdir {tmp_path}/seen && exit 3 || true"]]
    runner.step("busy", command, inputs=[tree])
    runner.try_again()
    later = Runner(logs=tmp_path / "logs")
    later.step("busy", command, inputs=[tree])
    assert [runner.outcomes[0].status, later.outcomes[0].status] == ["unsteady", "ok"]


def test_what_a_cached_step_makes_is_made_when_it_is_needed(tmp_path, tree):
    made = tmp_path / "made"
    make = [["touch", str(made)]]
    for runner in (Runner(logs=tmp_path / "logs"), Runner(logs=tmp_path / "logs")):
        runner.step("make", [*make, ["true"]], inputs=[tree], makes=make)
    assert runner.outcomes[0].status == "cached"
    made.unlink()
    assert runner.step("use", [["ls", str(made)]], needs=["make"])


def test_the_tree_may_lie_anywhere(tmp_path, tree):
    other = tmp_path / "elsewhere"
    tree_key = proofs.key([f"cmake -S {tree}"], [tree], {}, tree)
    tree.rename(other)
    assert proofs.key([f"cmake -S {other}"], [other], {}, other) == tree_key


def test_a_proof_that_can_not_be_read_is_none(tmp_path):
    kept = Proofs("steps")
    kept.keep("x", {"passed": 1})
    assert kept.find("x") == {"passed": 1}
    (tmp_path / "cache" / "proofs" / "steps" / "x").write_text("{")
    assert kept.find("x") is None


def test_a_folder_that_can_not_be_written_is_no_error(tmp_path, monkeypatch):
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("TURTLE_CACHE", str(tmp_path / "file"))
    kept = Proofs("steps")
    kept.keep("x", {})
    assert kept.find("x") is None


def test_the_sources_of_a_script_are_those_that_it_imports():
    found = {path.name for path in proofs.sources(proofs.TOOLS / "stubs.py")}
    assert {"stubs.py", "cpp_functions.py", "gtests.py", "chapters.py"} <= found
    assert "suite.py" not in found
