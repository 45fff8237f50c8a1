"""Every example compiles: the code in the comments of headers, as each chapter has them, and on the pages.

On a page a block of C++ is one of these:

  an excerpt    of a chapter's file, which its title names: `tools/chapters.py excerpts` compares them
  a file        after `<!-- file: cookbook/… -->`: `tools/site.py texts` copies it, tests/cookbook builds it
  refused       after `<!-- does not compile: WORD -->`: the compiler refuses it, for the reason WORD
  any other     compiles; what it takes from its reader's program is in PAGES
"""

import pathlib
import re
import shutil
import subprocess
import sys

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tools"))

import chapters  # noqa: E402
import excerpts  # noqa: E402

BOOK = chapters.Book(ROOT)
COMPILER = shutil.which("clang++") or shutil.which("c++")
pytestmark = pytest.mark.skipif(not COMPILER, reason="no compiler is installed")

LINE = re.compile(r" *///?(?: {3}(.*))?$")
IS_CODE = re.compile(r"[;{}]\s*(?://.*)?$", re.MULTILINE)
IS_NO_CODE = re.compile(r"[ *{]")  # a list, or a configuration
REFUSED = "// does not compile"
PAGE_REFUSED = re.compile(r"<!-- does not compile: (\w+) -->")
PAGE_FILE = re.compile(r"<!-- file: cookbook/\S+\.cpp -->")
CPP = {"c", "cc", "cpp", "c++", "cxx", "h", "hpp"}

API = "class Api : public RequestHandler { void Handle(Exchange& exchange) override; };"
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
    "http/json.h": (["<nlohmann/json.hpp>", '"web/server_request.h"'], "", "const ServerRequest& req"),
    "log/logging.h": ([], "", "const LoggingOptions& options"),
    "task/task_pool.h": ([], "auto CalculateOn() -> bool;", "TaskPool& pool"),
    "web/error_formats.h": (['"web/http_server.h"'], "", "HttpServer& server"),
    "web/event_channel.h": (['"web/http_server.h"'], "void Keep(EventChannel channel);", "HttpServer& server"),
    "files/route_files.h": (
        ['"web/http_server.h"'],
        "void RequireLogin(const ServerRequest& req);",
        "HttpServer& server",
    ),
    "web/prefix_map.h": ([], "", ""),
    "web/route_group.h": (
        ['"web/http_server.h"'],
        """auto JsonErrors() -> Middleware;
void ListTodos(const ServerRequest& req, ServerResponse& res);
void AddTodo(const ServerRequest& req, ServerResponse& res);""",
        "HttpServer& server",
    ),
    "web/request_context.h": (['"web/http_server.h"'], "", "HttpServer& server"),
    "web/http_server.h": (['"files/static_files.h"'], API, "const struct StaticFilesOptions& options"),
    "web/offload.h": (
        ['"web/http_server.h"'],
        "auto Calculate(std::string_view value) -> std::string;",
        "HttpServer& server",
    ),
    "ops/operations.h": (["<thread>"], "", ""),
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
        API,
        "const ResponseCacheOptions& options, HttpServer& server",
    ),
    "app/privileges.h": ([], "", ""),
    "sites/site_logs.h": (
        ['"sites/sites.h"', '"web/http_server.h"'],
        "",
        "SiteLogOptions options, const Sites& sites, HttpServer& server",
    ),
    "sites/site_options.h": ([], "", ""),
    "sites/sites.h": (['"web/http_server.h"'], "", ""),
    "tls/tls.h": (['"web/http_server.h"'], "", ""),
    "ops/server_figures.h": (['"files/static_files.h"'], "", "Looper& looper, StaticFiles* files"),
    "web/https_redirect.h": (['"web/http_server.h"'], "", "const HandlerFactory& site"),
    "web/server_response.h": (["<nlohmann/json.hpp>"], "", "ServerResponse& res"),
    "websocket/topics.h": ([], "", "WebSocketHandlers& chat"),
    "websocket/websocket.h": (['"web/http_server.h"'], "", "HttpServer& server"),
    "websocket/websocket_client.h": ([], "", ""),
    "websocket/websocket_ticket.h": (
        ['"task/thread_pool.h"'],
        "auto Answer(const std::string& question) -> std::string;",
        "ThreadPool& pool, WebSocketHandlers& echo",
    ),
}
PAGES = {
    "chapters/03-connection/README.md": (['"core/connection.h"'], "struct Frame {};", ""),
    "chapters/07-acceptor/README.md": (["<cstddef>", '"base/unique_fd.h"'], "struct ReceivedDescriptor {};", ""),
    "chapters/08-turtle-server/README.md": (
        ["<memory>", '"core/turtle_server.h"'],
        """struct Settings {};
template <typename T>
struct Live {
  Live(const std::vector<Looper*>& loops, T value);
  auto Get(const Looper& loop) const -> const T&;
  void Replace(T value);
};""",
        "TurtleServer& server, Connection* client",
    ),
    "chapters/09-http-parser/README.md": (
        ["<optional>", '"core/net_address.h"', '"http/http_parser.h"'],
        "struct ProxyLine {};\nstruct Reply {};\nstruct ReplyResult {};",
        "",
    ),
    "chapters/10-http-server/README.md": (["<memory>", "<string>", '"web/http_server.h"'], "", ""),
    "chapters/11-static-files/README.md": (["<chrono>", "<optional>", "<string_view>", '"http/response.h"'], "", ""),
    "chapters/12-large-files/README.md": (["<string>", "<vector>", '"core/looper.h"', '"http/response.h"'], "", ""),
    "chapters/13-http-body/README.md": (["<functional>", '"web/exchange.h"'], "", ""),
    "chapters/14-cgi/README.md": (["<chrono>", '"process/child_process.h"'], "", ""),
    "chapters/15-lru-cache/README.md": (
        ['"base/lru_cache.h"', '"core/looper.h"'],
        "struct Address {};",
        "Looper& looper, int root, const Address& address, TimePoint now",
    ),
    "chapters/16-program/README.md": (["<iostream>", '"core/looper.h"'], "", ""),
    "chapters/17-logging/README.md": (['"web/access_log.h"'], "", ""),
    "chapters/21-streams/README.md": (['"web/http_server.h"'], "", "HttpServer& server"),
    "chapters/22-task-pool/README.md": (['"task/task_pool.h"'], "", ""),
    "chapters/23-database/README.md": (
        ["<chrono>", "<functional>", "<optional>", "<string>", "<vector>", '"db/db_connection.h"'],
        """using AttemptPause = std::function<void(int)>;
using TimePoint = std::chrono::system_clock::time_point;
void PauseAtRandom(int attempts);
struct Migration {};
struct Job {};""",
        "DbConnection& connection, const std::string& name",
    ),
    "chapters/24-udp/README.md": (
        ["<array>", "<chrono>", "<functional>", "<optional>", '"udp/udp_server.h"'],
        """using TimePoint = std::chrono::system_clock::time_point;
using Bytes = std::array<char, 12>;
using AnswerCallback = std::function<void(std::optional<std::string_view>)>;""",
        "",
    ),
    "chapters/27-accept-at-scale/README.md": (
        ["<functional>", "<optional>", "<vector>", '"core/net_address.h"', '"core/socket.h"'],
        "struct QueueLength {};",
        "",
    ),
    "chapters/28-io-uring/README.md": (["<vector>", '"uring/ring.h"'], "", ""),
    "chapters/29-sites/README.md": (
        ["<chrono>", "<optional>", "<string>", "<vector>", '"base/clock.h"', '"http/request.h"', '"http/response.h"'],
        """class NetAddress;
struct MaintenanceMode {
  MaintenanceMode(const std::string& file, const std::vector<std::string>& networks, std::chrono::seconds again);
};""",
        "",
    ),
    "chapters/30-tls/README.md": (
        [
            "<chrono>",
            "<cstdint>",
            "<memory>",
            "<string>",
            '"core/channel.h"',
            '"core/looper.h"',
            '"tls/tls.h"',
            '"web/http_server.h"',
        ],
        "",
        "",
    ),
    "chapters/31-compression/README.md": (
        ["<cstddef>", "<cstdint>", "<memory>", "<optional>", "<string>", "<string_view>", '"compress/encoder.h"'],
        "struct EncodeAheadOptions {};\nstruct EncodeAheadResult {};",
        "",
    ),
    "chapters/32-websocket/README.md": (["<cstddef>", "<cstdint>", "<string_view>", '"websocket/websocket.h"'], "", ""),
}


def examples(text: str) -> list[tuple[int, str]]:
    """The blocks of code in its comments, which are indented by two spaces more than their text, and the
    line of each."""
    found, lines = [], []
    for number, line in enumerate([*text.splitlines(), ""], 1):
        match = LINE.match(line)
        if match and match[1]:
            lines.append(match[1])
            continue
        block = "\n".join(lines)
        if IS_CODE.search(block) and not IS_NO_CODE.match(block):
            found.append((number - len(lines), block))
        lines = []
    return found


def headers(number: int) -> dict[str, pathlib.Path]:
    """The headers of a chapter's whole program, by the name by which they are included."""
    layout = BOOK.layout(number)
    return {path[4:]: layout[path].folder / path for path in layout if path.startswith("src/") and path.endswith(".h")}


def examples_of(number: int) -> dict[str, list[tuple[int, str]]]:
    found = {name: examples(path.read_text(encoding="utf-8")) for name, path in headers(number).items()}
    return {name: each for name, each in found.items() if each}


def function(name: str, where: str, line: int, context: tuple[list[str], str, str], code: str) -> str:
    """The example as a function; the compiler's messages name the line where it was read."""
    _, declarations, parameters = context
    body = code.replace("…", ";")
    return f'namespace {name} {{\n{declarations}\nvoid Example({parameters}) {{\n#line {line} "{where}"\n{body}\n}}\n}}\n'


def unit(includes: list[str], functions: list[str]) -> str:
    lines = [f"#include {name}" for name in dict.fromkeys(includes)]
    return "\n".join([*lines, "using namespace turtle;", *functions])


def compiles(folder: pathlib.Path, text: str) -> subprocess.CompletedProcess[str]:
    command = [COMPILER, "-std=c++17", "-fsyntax-only", f"-I{folder}", "-x", "c++", "-"]
    return subprocess.run(command, input=text, capture_output=True, text=True, timeout=300, check=False)


@pytest.fixture(scope="module", name="sources")
def laid_out(tmp_path_factory):
    """Makes the include path of a chapter."""
    root = tmp_path_factory.mktemp("sources")

    def sources(number: int) -> pathlib.Path:
        folder = root / f"{number:02}"
        if not folder.exists():
            for name, path in headers(number).items():
                (folder / name).parent.mkdir(parents=True, exist_ok=True)
                (folder / name).symlink_to(path)
        return folder

    return sources


# --- the comments of headers -----------------------------------------------------------------------


def test_every_example_is_known():
    assert sorted(examples_of(chapters.FINAL)) == sorted(READERS)


@pytest.mark.parametrize("number", [chapter.number for chapter in BOOK.chapters if examples_of(chapter.number)])
def test_the_examples_of_a_chapter_compile(sources, number):
    present = headers(number)
    includes, functions = [], []
    for header, found in examples_of(number).items():
        more = [name for name in READERS[header][0] if name.strip('"') in present or name.startswith("<")]
        includes += [f'"{header}"', *more]
        for line, code in found:
            allowed = "\n".join("" if REFUSED in row else row for row in code.splitlines())
            functions.append(function(f"example_{len(functions)}", header, line, READERS[header], allowed))
    done = compiles(sources(number), unit(includes, functions))
    assert done.returncode == 0, done.stderr[:4000]


def test_what_a_header_says_does_not_compile_does_not(sources):
    refused = [
        (header, row)
        for header, found in examples_of(chapters.FINAL).items()
        for _, code in found
        for row in code.splitlines()
        if REFUSED in row
    ]
    assert refused
    for header, row in refused:
        text = unit([f'"{header}"', *READERS[header][0]], [function("example", header, 1, READERS[header], row)])
        assert compiles(sources(chapters.FINAL), text).returncode != 0, row


# --- the pages ---------------------------------------------------------------------------------------


def pages() -> list[pathlib.Path]:
    folders = [path for path in ROOT.iterdir() if path.is_dir() and path.name != "build" and path.name[0] != "."]
    return sorted([*ROOT.glob("*.md"), *(page for folder in folders for page in folder.rglob("*.md"))])


def loose_blocks() -> list[tuple[str, excerpts.Excerpt]]:
    """The blocks of C++ that are neither excerpts nor files, and what stands in the line above each."""
    found = []
    for page in pages():
        lines = page.read_text(encoding="utf-8").splitlines()
        for block in excerpts.read_blocks(page):
            above = lines[block.line - 3] if block.line > 2 else ""
            is_excerpt = bool(block.title) and page.is_relative_to(ROOT / "chapters")
            if block.language in CPP and not is_excerpt and not PAGE_FILE.fullmatch(above):
                found.append((above, block))
    return found


def page_unit(block: excerpts.Excerpt) -> str:
    """A whole program as it is. Statements in a function, after the lines that stand outside of one."""
    page = block.page.relative_to(ROOT).as_posix()
    context = PAGES.get(page.replace(".zh.md", ".md"), ([], "", ""))  # of its source, if it is a translation
    if any(re.match(r"(int|auto) main\(", row) for row in block.code):
        return f'#line {block.line} "{page}"\n' + "\n".join(block.code) + "\n"
    outside = [row if re.match(r"#include|using namespace", row) else "" for row in block.code]
    inside = ["" if row else code for row, code in zip(outside, block.code)]
    text = "\n".join([*(f"#include {name}" for name in context[0]), *outside])
    return text + "\nusing namespace turtle;\n" + function("example", page, block.line, context, "\n".join(inside))


LOOSE = loose_blocks()
NAMES = [f"{block.page.relative_to(ROOT)}:{block.line}" for _, block in LOOSE]


@pytest.fixture(scope="module", name="installed")
def copied_headers(tmp_path_factory):
    """What a program of a user has on its include path."""
    folder = tmp_path_factory.mktemp("include")
    script = ROOT / "final" / "cmake" / "user_headers.cmake"
    subprocess.run(["cmake", f"-DFROM={ROOT}/final/src", f"-DTO={folder}/turtle", "-P", script], check=True, timeout=60)
    return folder


@pytest.mark.parametrize(("above", "block"), LOOSE, ids=NAMES)
def test_a_block_of_a_page_compiles_unless_it_says_that_it_does_not(sources, installed, above, block):
    parts = block.page.relative_to(ROOT).parts
    folder = sources(int(parts[1][:2])) if parts[0] == "chapters" else installed
    done = compiles(folder, page_unit(block))
    refused = PAGE_REFUSED.fullmatch(above)
    if refused:
        errors = [line for line in done.stderr.splitlines() if not line.startswith(" ")]
        assert done.returncode != 0
        elsewhere = [line for line in errors if ": error: " in line and not line.startswith(parts[0])]
        assert all(re.search("static_assert|static assertion", line) for line in elsewhere), done.stderr
        assert refused[1] in done.stderr
    else:
        assert done.returncode == 0, done.stderr[:4000]
