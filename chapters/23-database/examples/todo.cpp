// A list of to-dos: a REST service, and a page that uses it. Pages that are open at the same time
// see each other's changes at once. A database remembers them.
//
//   todo PORT [FOLDER [FILE]]
//   todo PORT FOLDER --mariadb SOCKET DATABASE
//
//    FOLDER has the page's files; by default todo_page beside the program
//    FILE is an SQLite database; by default todo.db in the current directory
//    SOCKET leads to a MariaDB server, which knows the user by the system's name
//
//    GET    /api/todos         the list; with ?done=true or ?done=false a part of it
//    POST   /api/todos         adds {"title": "buy milk"}
//    GET    /api/todos/{id}    one of them
//    PATCH  /api/todos/{id}    {"title": "buy oat milk", "done": true}, or one of the two
//    DELETE /api/todos/{id}
//    GET    /api/events        reports that something has changed (server-sent events)
#include <algorithm>
#include <csignal>
#include <exception>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <iterator>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>

#include "base/argument.h"
#include "base/ascii.h"
#include "core/signal_watch.h"
#include "db/mariadb_database.h"
#include "db/sqlite_database.h"
#include "http/http_error.h"
#include "http/mime.h"
#include "http/status.h"
#include "listeners.h"
#include "task/task_pool.h"
#include "todo_list.h"
#include "web/exchange.h"
#include "web/http_server.h"
#include "web/offload.h"

using namespace turtle;
using nlohmann::json;

namespace {

constexpr std::size_t kMaxTodos = 1000;
constexpr std::ptrdiff_t kMaxTitle = 200;  // characters

// It does not say what has changed: a page then requests the list. So it does no harm if two events
// swap their order, or one is missed.
constexpr ServerEvent kChanged{"changed"};

auto ToJson(const Todo& todo) -> json {
  return {{"id", todo.id}, {"title", todo.title}, {"done", todo.done}};
}

// --- requests ------------------------------------------------------------------------------------

// A page of another site may send us forms and plain text without permission. To send JSON, a
// browser first asks by OPTIONS, and our response doesn't allow it.
void RequireJson(const ServerRequest& req) {
  const std::string_view type = req.Header("Content-Type").value_or("none");
  if (!ascii::EqualIgnoreCase(ascii::TrimOws(type.substr(0, type.find(';'))), "application/json")) {
    throw HttpError(415, "Content-Type must be application/json, not " + std::string(type));
  }
}

auto IsBlank(const std::string& text) -> bool {
  return text.find_first_not_of(" \t\r\n") == std::string::npos;
}

auto CountCharacters(const std::string& utf8) -> std::ptrdiff_t {
  return std::count_if(utf8.begin(), utf8.end(), [](char byte) {
    return (static_cast<unsigned char>(byte) & 0xC0U) != 0x80U;  // first byte of one
  });
}

auto TitleFrom(const json& value) -> std::string {
  if (!value.is_string() || IsBlank(value)) {
    throw HttpError(400, "title must be some text, not " + value.dump());
  }
  if (const auto count = CountCharacters(value); count > kMaxTitle) {
    throw HttpError(400, "title must have at most " + std::to_string(kMaxTitle) +
                             " characters, not " + std::to_string(count));
  }
  return value;
}

auto DoneFrom(const json& value) -> bool {
  if (!value.is_boolean()) {
    throw HttpError(400, "done must be true or false, not " + value.dump());
  }
  return value.get<bool>();
}

auto ChangeFrom(const ServerRequest& req) -> TodoChange {
  RequireJson(req);
  const json body = req.Json();
  if (!body.is_object()) {
    throw HttpError(400, "the body must be an object, not " + body.dump());
  }
  TodoChange change;
  for (const auto& [key, value] : body.items()) {
    if (key == "title") {
      change.title = TitleFrom(value);
    } else if (key == "done") {
      change.done = DoneFrom(value);
    } else {
      throw HttpError(400, "there is no field \"" + key + "\", only title and done");
    }
  }
  return change;
}

auto DoneFromQuery(const ServerRequest& req) -> std::optional<bool> {
  const auto value = req.Query("done");
  if (value && *value != "true" && *value != "false") {
    throw HttpError(400, "done must be true or false, not \"" + std::string(*value) + '"');
  }
  return value ? std::optional(*value == "true") : std::nullopt;
}

auto NotThere(const ServerRequest& req) -> HttpError {
  return HttpError(404, "there is no to-do " + std::string(req.Parameter("id")));
}

// --- responses -----------------------------------------------------------------------------------

// Handlers that use the list wait for the database: on the pool, never on a loop.
void ServeTodos(RouteGroup api, TaskPool& pool, TodoList& todos, Listeners& listeners) {
  const auto route = [&](Method method, const char* pattern, SyncHandler handler) {
    api.Route(method, pattern, Offload(pool, Priority::kNormal, std::move(handler)));
  };
  route(Method::kGet, "/todos", [&](const ServerRequest& req, ServerResponse& res) {
    json list = json::array();
    for (const Todo& todo : todos.All(DoneFromQuery(req))) {
      list.push_back(ToJson(todo));
    }
    res.Json(list);
  });
  route(Method::kPost, "/todos", [&](const ServerRequest& req, ServerResponse& res) {
    const TodoChange wanted = ChangeFrom(req);
    if (!wanted.title) {
      throw HttpError(400, "title is missing");
    }
    const auto todo = todos.Add(*wanted.title, wanted.done.value_or(false));
    if (!todo) {  // not 507: the server is fine, and the client can do something about it
      throw HttpError(409, "there are " + std::to_string(kMaxTodos) + " to-dos: delete one first");
    }
    listeners.Tell(kChanged);
    res.Status(201).Set("Location", "/api/todos/" + std::to_string(todo->id)).Json(ToJson(*todo));
  });
  route(Method::kGet, "/todos/{id:int}", [&](const ServerRequest& req, ServerResponse& res) {
    const auto todo = todos.Find(req.Integer("id"));
    if (!todo) {
      throw NotThere(req);
    }
    res.Json(ToJson(*todo));
  });
  route(Method::kPatch, "/todos/{id:int}", [&](const ServerRequest& req, ServerResponse& res) {
    const auto todo = todos.Change(req.Integer("id"), ChangeFrom(req));
    if (!todo) {
      throw NotThere(req);
    }
    listeners.Tell(kChanged);
    res.Json(ToJson(*todo));
  });
  route(Method::kDelete, "/todos/{id:int}", [&](const ServerRequest& req, ServerResponse& res) {
    if (!todos.Remove(req.Integer("id"))) {
      throw NotThere(req);
    }
    listeners.Tell(kChanged);
    res.Status(204);
  });
  api.Get("/events",
          [&](const ServerRequest&, const Responder& responder) { listeners.Add(responder); });
}

// Serves four small files from memory, as routes, because the server's middleware runs around its
// routes, but not around its mounts.
void ServePage(HttpServer& server, const std::filesystem::path& folder) {
  for (const std::string name : {"index.html", "todo.js", "todo.css", "todo.svg"}) {
    std::ifstream file(folder / name, std::ios::binary);
    if (!file) {
      throw std::runtime_error("can't read " + (folder / name).string());
    }
    server.Get(name == "index.html" ? "/" : "/" + name,
               [text = std::string(std::istreambuf_iterator(file), {}), type = MimeType(name)](
                   const ServerRequest&, ServerResponse& res) { res.Body(text, type); });
  }
}

// Writes an error for programs.
void ErrorInJson(int status, std::string_view detail, ServerResponse& res) {
  res.Json({{"error", detail.empty() ? ReasonPhrase(status) : detail}});
}

// Forbids caching: a list that is a minute old may be wrong.
auto NeverKept() -> Middleware {
  Middleware fields;
  fields.after = [](const ServerRequest&, ServerResponse& res) {
    res.Set("Cache-Control", "no-store");
  };
  return fields;
}

// Asks the client to retry: the database may work again soon.
auto RetryLater() -> Middleware {
  Middleware retry;
  retry.error = [](const ServerRequest&, ServerResponse& res, const std::exception& error) {
    const auto* database = dynamic_cast<const DbError*>(&error);
    if (database != nullptr && database->IsPassing()) {
      res.Page(503).Set("Retry-After", "1");
    }
  };
  return retry;
}

// If a title ever became a part of the page, no script in it would run.
auto SecurityFields() -> Middleware {
  Middleware fields;
  fields.after = [](const ServerRequest&, ServerResponse& res) {
    res.Set("Content-Security-Policy",
            "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; "
            "connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'");
    res.Set("X-Content-Type-Options", "nosniff");
  };
  return fields;
}

auto DatabaseOf(int argc, char** argv) -> std::unique_ptr<Database> {
  if (argc == 6) {
    MariaDbOptions options;
    options.unix_socket = argv[4];
    options.database_name = argv[5];
    return MariaDbDatabase(options);
  }
  SqliteOptions options;
  options.file = argc == 4 ? argv[3] : "todo.db";
  return SqliteDatabase(options);
}

}  // namespace

auto main(int argc, char** argv) -> int try {
  const bool on_server = argc == 6 && argv[3] == std::string_view("--mariadb");
  if (!on_server && (argc < 2 || argc > 4)) {
    std::cerr << "usage: todo PORT [FOLDER [FILE | --mariadb SOCKET DATABASE]]\n";
    return 2;
  }
  const DbPoolOptions limits;
  DbPool connections(DatabaseOf(argc, argv), limits);
  TodoList todos(connections, kMaxTodos);
  Listeners listeners;
  TaskPool pool({limits.max_connections});  // more threads would wait for a connection
  HttpServer server(NetAddress("127.0.0.1", ReadPort(argv[1])));
  server.ErrorFormat("/api", ErrorInJson);
  server.Use(SecurityFields());
  ServeTodos(server.Group("/api").Use(NeverKept()).Use(RetryLater()), pool, todos, listeners);
  ServePage(server,
            argc > 2 ? argv[2] : std::filesystem::path(argv[0]).parent_path() / "todo_page");
  const SignalWatch signals(*server.Loopers().front(), {SIGINT, SIGTERM}, [&](int) {
    listeners.End();
    server.Stop();
  });
  pool.Start();
  std::cout << "listening on " << server.LocalAddress().ToString() << std::endl;
  server.Begin();
  return 0;
} catch (const std::invalid_argument& error) {
  std::cerr << "todo: " << error.what() << '\n';
  return 2;
} catch (const std::exception& error) {
  std::cerr << "todo: " << error.what() << '\n';
  return 1;
}
