"""The pure parts of tools/fuzz.py: which targets there are, and what is said of a run."""

import pathlib
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tools"))

import fuzz  # noqa: E402


def test_every_target_has_seeds_and_words():
    assert "head" in fuzz.targets() and "session" in fuzz.targets()
    for target in fuzz.targets():
        assert any((fuzz.SOURCES / "seeds" / target).iterdir()), target
        assert fuzz.dictionary(target).is_file()
    folders = {path.name for path in (fuzz.SOURCES / "seeds").iterdir()}
    assert folders == set(fuzz.targets())  # a seed in another folder is never tried


def test_a_run_that_found_nothing():
    log = "#2\tINITED cov: 9\n#20512\tDONE   cov: 1198 ft: 2843 corp: 354/16Kb\n"
    assert fuzz.summary(log) == "20,512 inputs, 1198 edges"


def test_a_finding_is_said_with_the_way_to_see_it_again():
    log = "INFO: Seed\nfuzz: path: the library says\nartifact_prefix; Test unit written to /b/fuzz/findings/uri-crash-1\n"
    said = fuzz.explain(pathlib.Path("/b"), "uri", log)
    assert "  | fuzz: path: the library says" in said
    assert "/b/fuzz/uri_fuzz /b/fuzz/findings/uri-crash-1" in said
    assert "cp /b/fuzz/findings/uri-crash-1 final/fuzz/seeds/uri/NAME" in said


def test_a_program_that_is_not_there_is_told(tmp_path):
    is_well, said = fuzz.run(tmp_path, "uri", 1)
    assert not is_well and "uri_fuzz" in said


def test_targets_may_stand_behind_the_options(tmp_path, capsys):
    assert fuzz.main([str(tmp_path), "--seconds", "1", "uri", "head"]) == 1  # neither is built
    assert {line.split(":")[0] for line in capsys.readouterr().out.splitlines()} == {"uri", "head"}
