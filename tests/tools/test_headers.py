"""Headers: each brings the alias of the namespace, and the examples in their comments compile."""

import pathlib
import re
import shutil
import subprocess

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
CHAPTERS = sorted((ROOT / "chapters").glob("[0-9]*"))
SOURCES = ROOT / "final" / "src"
COMPILER = shutil.which("clang++") or shutil.which("c++")

LINE = re.compile(r" *///?(?: {3}(.*))?$")
IS_CODE = re.compile(r"[;{}]\s*(?://.*)?$", re.MULTILINE)
IS_NO_CODE = re.compile(r"[ *{]")  # a list, or a configuration
REFUSED = "// does not compile"

# What an example takes from its reader's program: further headers, declarations, and what it has at hand.
READERS = {
    "core/turtle_server.h": ([], "", ""),
    "udp/udp_server.h": ([], "", "Looper& looper"),
    "db/db_connection.h": (
        [],
        "void Use(std::int64_t id, const std::string& text);",
        """DbConnection& connection, const std::string& text, Statement& take, Statement& give,
        std::int64_t sum, std::int64_t from, std::int64_t to""",
    ),
    "db/db_pool.h": ([], "", "DbPool& pool, std::int64_t id"),
    "db/sql.h": (['"db/db_connection.h"'], "", "DbConnection& connection, const std::string& id"),
    "http/metrics_text.h": ([], "", ""),
    "http/request_json.h": (["<nlohmann/json.hpp>", '"web/server_request.h"'], "", "const ServerRequest& req"),
    "log/logging.h": ([], "", "const LoggingOptions& options"),
    "task/task_pool.h": ([], "auto CalculateOn() -> bool;", "TaskPool& pool"),
    "web/event_channel.h": (['"web/http_server.h"'], "void Keep(EventChannel channel);", "HttpServer& server"),
    "web/http_server.h": (['"files/static_files.h"'], "", "const StaticFilesOptions& options"),
    "web/offload.h": (
        ['"web/http_server.h"'],
        "auto Calculate(std::string_view value) -> std::string;",
        "HttpServer& server",
    ),
    "ops/operations.h": (["<thread>"], "auto OneThread() -> ServerOptions;", ""),
    "web/reply_stream.h": (
        ['"web/responder.h"'],
        "auto Next() -> std::string;",
        "bool more, const Responder& responder, const std::string& type",
    ),
    "web/request_body.h": (
        ['"task/thread_pool.h"', '"web/http_server.h"'],
        "void Store(const std::string& bytes);",
        "ThreadPool& pool, HttpServer& server",
    ),
    "web/responder.h": (
        ['"task/thread_pool.h"', '"web/http_server.h"'],
        "auto Ask(const std::string& name) -> std::string;",
        "ThreadPool& pool, HttpServer& server",
    ),
    "response_cache/response_cache.h": (
        ['"web/http_server.h"'],
        "class Api : public RequestHandler { void Handle(Exchange& exchange) override; };",
        "const ResponseCacheOptions& options, HttpServer& server",
    ),
    "ops/server_figures.h": (['"files/static_files.h"'], "", "Looper& looper, StaticFiles* files"),
    "web/server_response.h": (["<nlohmann/json.hpp>"], "", "ServerResponse& res"),
}


def examples(text: str) -> list[str]:
    """The blocks of code in its comments: what is indented by two spaces more than their text."""
    found, lines = [], []
    for line in [*text.splitlines(), ""]:
        match = LINE.match(line)
        if match and match[1]:
            lines.append(match[1])
            continue
        block = "\n".join(lines)
        if IS_CODE.search(block) and not IS_NO_CODE.match(block):
            found.append(block)
        lines = []
    return found


EXAMPLES = {
    header: found
    for path in sorted(SOURCES.rglob("*.h"))
    if (found := examples(path.read_text(encoding="utf-8"))) and (header := str(path.relative_to(SOURCES)))
}


def compiles(header: str, code: str) -> subprocess.CompletedProcess[str]:
    more, declarations, parameters = READERS[header]
    lines = [
        *(f"#include {name}" for name in (f'"{header}"', *more)),
        "using namespace turtle;",
        declarations,
        f"void Example({parameters}) {{",
        code.replace("…", ";"),
        "}\n",
    ]
    text = "\n".join(lines)
    command = [COMPILER, "-std=c++17", "-fsyntax-only", f"-I{SOURCES}", "-x", "c++", "-"]
    return subprocess.run(command, input=text, capture_output=True, text=True, timeout=300, check=False)


def headers_of(number: int) -> dict[str, str]:
    """The headers of the first `number` chapters: the newest version of each, by its name."""
    found = {}
    for chapter in CHAPTERS[:number]:
        for path in (chapter / "src").rglob("*.h"):
            found[str(path.relative_to(chapter / "src"))] = path.read_text(encoding="utf-8")
    return found


@pytest.mark.parametrize("number", range(1, len(CHAPTERS) + 1))
def test_each_header_brings_the_alias(number):
    texts = headers_of(number)
    includes = {name: re.findall(r'^#include "(.+)"', text, re.MULTILINE) for name, text in texts.items()}
    bring = {"base/namespace.h"}
    while more := {name for name, found in includes.items() if name not in bring and bring.intersection(found)}:
        bring |= more
    assert [name for name, text in texts.items() if "TURTLE_SERVER" in text and name not in bring] == []


def test_every_example_is_known():
    assert sorted(EXAMPLES) == sorted(READERS)


@pytest.mark.skipif(not COMPILER, reason="no compiler is installed")
@pytest.mark.parametrize("header", sorted(READERS))
def test_it_compiles(header):
    for example in EXAMPLES[header]:
        code = "\n".join(line for line in example.splitlines() if REFUSED not in line)
        done = compiles(header, code)
        assert done.returncode == 0, f"{example}\n{done.stderr[:2000]}"


@pytest.mark.skipif(not COMPILER, reason="no compiler is installed")
def test_what_is_said_not_to_compile_does_not():
    refused = [
        (header, line) for header, found in EXAMPLES.items() for line in "\n".join(found).splitlines() if REFUSED in line
    ]
    assert refused
    for header, line in refused:
        assert compiles(header, line).returncode != 0, line
