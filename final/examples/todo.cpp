// A to-do list as a service, which remembers.
//
//   todo PORT                              forgets when it ends
//   todo PORT FILE                         remembers in a file (SQLite)
//   todo PORT --mariadb SOCKET DATABASE    on a server, as who runs this
//
//   GET    /api/todos         all: [{"id": 1, "title": "buy milk", "done": false}]
//   POST   /api/todos         {"title": "buy milk"}
//   GET    /api/todos/{id}    one of them
//   PATCH  /api/todos/{id}    {"done": true}, or a title, or both
//   DELETE /api/todos/{id}
#include <csignal>
#include <cstdlib>
#include <exception>
#include <functional>
#include <iostream>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>

#include "core/signal_watch.h"
#include "db/mariadb_database.h"
#include "db/sqlite_database.h"
#include "http/http_error.h"
#include "log/log.h"
#include "task/thread_pool.h"
#include "todo_store.h"
#include "web/http_server.h"

using namespace turtle;

namespace {

using example::Todo;
using example::TodoStore;
using nlohmann::json;

constexpr std::size_t kThreads = 8;

auto JsonOf(const Todo& todo) -> json {
  return {{"id", todo.id}, {"title", todo.title}, {"done", todo.done}};
}

auto Found(const std::optional<Todo>& todo) -> ServerResponse {
  if (!todo) {
    throw HttpError(404, "no such to-do");
  }
  return std::move(ServerResponse().Json(JsonOf(*todo)));
}

auto TitleIn(const json& body) -> std::string {
  constexpr std::size_t kMaxTitle = 1000;
  const auto title = body.find("title");
  if (title == body.end() || !title->is_string() || title->get_ref<const std::string&>().empty() ||
      title->get_ref<const std::string&>().size() > kMaxTitle) {
    throw HttpError(400, "title must be a text of 1 to 1000 bytes");
  }
  return *title;
}

auto ObjectOf(const ServerRequest& req) -> json {
  json body = req.Json();
  if (!body.is_object()) {
    throw HttpError(400, "an object is wanted");
  }
  return body;
}

// What a client is told when the work has failed.
auto Failure() -> ServerResponse {
  try {
    throw;
  } catch (const HttpError& error) {
    return std::move(ServerResponse().Page(error.Status(), error.what()));
  } catch (const DbError& error) {
    Log(LogLevel::kError, error.what());
    if (error.IsPassing()) {
      return std::move(ServerResponse().Page(503).Set("Retry-After", "1"));
    }
  } catch (const std::exception& error) {
    Log(LogLevel::kError, error.what());
  }
  return std::move(ServerResponse().Page(500));
}

// The only place where work leaves the loops: the database may take its time.
void OffTheLoop(ThreadPool& threads, const Responder& responder,
                std::function<ServerResponse()> work) {
  const bool left = threads.Submit([responder, work = std::move(work)] {
    ServerResponse response;
    try {
      response = work();
    } catch (...) {
      response = Failure();
    }
    responder.Reply(std::move(response));
  });
  static_cast<void>(left);  // if the threads have ended, the last Responder goes: 500
}

// What a handler needs of the request it takes out of it here, on the loop. What it returns then
// runs elsewhere.
using Task = std::function<ServerResponse()>;
using Handler = std::function<Task(const ServerRequest&)>;

void AddRoutes(HttpServer& server, TodoStore& store, ThreadPool& threads) {
  const auto off = [&threads](Handler handler) {
    return [&threads, handler = std::move(handler)](const ServerRequest& req,
                                                    const Responder& responder) {
      OffTheLoop(threads, responder, handler(req));
    };
  };
  server.Get("/api/todos", off([&store](const ServerRequest&) -> Task {
               return [&store] {
                 json all = json::array();
                 for (const Todo& todo : store.All()) {
                   all.push_back(JsonOf(todo));
                 }
                 return std::move(ServerResponse().Json(all));
               };
             }));
  server.Post("/api/todos", off([&store](const ServerRequest& req) -> Task {
                return [&store, title = TitleIn(ObjectOf(req))] {
                  const Todo todo = store.Add(title);
                  return std::move(ServerResponse(201)
                                       .Set("Location", "/api/todos/" + std::to_string(todo.id))
                                       .Json(JsonOf(todo)));
                };
              }));
  server.Get("/api/todos/{id:int}", off([&store](const ServerRequest& req) -> Task {
               return [&store, id = req.Integer("id")] { return Found(store.Find(id)); };
             }));
  server.Patch("/api/todos/{id:int}", off([&store](const ServerRequest& req) -> Task {
                 const json body = ObjectOf(req);
                 std::optional<std::string> title;
                 std::optional<bool> done;
                 if (body.contains("title")) {
                   title = TitleIn(body);
                 }
                 if (body.contains("done")) {
                   if (!body["done"].is_boolean()) {
                     throw HttpError(400, "done must be true or false");
                   }
                   done = body["done"].get<bool>();
                 }
                 return [&store, id = req.Integer("id"), title, done] {
                   return Found(store.Change(id, title, done));
                 };
               }));
  server.Delete("/api/todos/{id:int}", off([&store](const ServerRequest& req) -> Task {
                  return [&store, id = req.Integer("id")] {
                    if (!store.Remove(id)) {
                      throw HttpError(404, "no such to-do");
                    }
                    return ServerResponse(204);
                  };
                }));
}

auto DatabaseOf(int argc, char** argv) -> std::unique_ptr<Database> {
  if (argc == 5 && std::string(argv[2]) == "--mariadb") {
    MariaDbOptions options;
    options.unix_socket = argv[3];
    options.database_name = argv[4];
    return MariaDbDatabase(options);
  }
  SqliteOptions options;
  options.file = argc == 3 ? argv[2] : ":memory:";
  return SqliteDatabase(options);
}

}  // namespace

auto main(int argc, char** argv) -> int try {
  if (argc != 2 && argc != 3 && argc != 5) {
    std::cerr << "usage: todo PORT [FILE | --mariadb SOCKET DATABASE]\n";
    return 2;
  }
  DbPoolOptions limits;
  // What is in memory belongs to one connection. And only one may write to a file: with more
  // connections than one, readers needn't wait for it.
  limits.max_connections = argc == 2 ? 1 : kThreads;
  DbPool pool(DatabaseOf(argc, argv), limits);
  TodoStore store(pool);
  HttpServer server(NetAddress("127.0.0.1", std::atoi(argv[1])));
  ThreadPool threads(kThreads);  // goes before what it uses
  threads.Start();
  AddRoutes(server, store, threads);
  const SignalWatch signals(*server.Loopers().front(), {SIGINT, SIGTERM},
                            [&server](int) { server.Stop(); });
  std::cout << "listening on " << server.LocalAddress().ToString() << std::endl;
  server.Begin();
  return 0;
} catch (const std::exception& error) {
  std::cerr << "todo: " << error.what() << '\n';
  return 1;
}
