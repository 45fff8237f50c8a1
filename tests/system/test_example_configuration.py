"""What is installed beside the program: an example of a configuration with every key, and its schema."""

import json
import re
import subprocess

import pytest
from serving import ROOT

CONF = ROOT / "final" / "conf"
EXAMPLE = CONF / "turtle.json.example"
SCHEMA = json.loads((CONF / "turtle.schema.json").read_text(encoding="utf-8"))


def run(binary, *arguments):
    return subprocess.run([binary, *map(str, arguments)], capture_output=True, text=True, check=False, cwd=CONF)


def keys(schema, prefix=""):
    """Each key with its schema, as in "http.root_path"."""
    for name, value in schema["properties"].items():
        if value.get("type") == "object":
            yield from keys(value, f"{prefix}{name}.")
        elif name != "$schema":
            yield prefix + name, value


def uncommented(text):
    return re.sub(r"^\s*//.*$", "", text, flags=re.MULTILINE)


def with_what_is_in_comments(text):
    """Each key that stands in a comment is taken out of it."""
    return re.sub(r'^(\s*)// ("\w+": .*),$', r"\1\2,", text, flags=re.MULTILINE)


def value_of(configuration, key):
    for name in key.split("."):
        configuration = configuration[name]
    return configuration


def test_the_schema_is_what_the_program_prints(binary):
    assert (CONF / "turtle.schema.json").read_text(encoding="utf-8") == run(binary, "--schema").stdout


def test_the_program_accepts_the_example(binary):
    result = run(binary, "-t", "-f", EXAMPLE)
    assert (result.returncode, result.stderr) == (0, "")


def comments(text):
    """All comments as one line."""
    return " ".join(re.findall(r"^\s*// (.*)$", text, flags=re.MULTILINE))


@pytest.mark.parametrize("key, schema", list(keys(SCHEMA)), ids=lambda value: value if isinstance(value, str) else "")
def test_the_example_describes_each_key_as_the_schema_does(key, schema):
    assert schema["description"] in comments(EXAMPLE.read_text(encoding="utf-8"))


@pytest.mark.parametrize("key, schema", list(keys(SCHEMA)), ids=lambda value: value if isinstance(value, str) else "")
def test_the_example_has_each_key_with_its_default(key, schema):
    text = EXAMPLE.read_text(encoding="utf-8")
    named = json.loads(re.sub(r",(\s*[}\]])", r"\1", uncommented(with_what_is_in_comments(text))))
    value_of(named, key)
    with_default = json.loads(uncommented(text))
    if "default" in schema and key != "log.async_started":  # another spelling of the one before
        assert value_of(with_default, key) == schema["default"]


def test_the_unit_of_the_listener_is_for_that_configuration():
    configuration = json.loads(uncommented(EXAMPLE.read_text(encoding="utf-8")))
    unit = (CONF / "turtle.socket").read_text(encoding="utf-8")
    places = re.findall(r"^ListenStream=(.*)$", unit, re.MULTILINE)
    assert places == [f"{configuration['address']}:{configuration['port']}"]
