// The routes by Turtle: one loop, a pool of threads, a pool of connections.
#include <cstdint>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>

#include "db/db_pool.h"
#include "db/sqlite_database.h"
#include "http/http_error.h"
#include "routes.h"
#include "task/task_pool.h"
#include "web/http_server.h"
#include "web/offload.h"

namespace {

using turtle::ServerRequest;
using turtle::ServerResponse;

void AnswerRow(turtle::DbPool& pool, const ServerRequest& req, ServerResponse& res) {
  const std::int64_t id = routes::Number(req.Parameter("id"));
  const turtle::DbLease connection = pool.Acquire();
  turtle::Rows rows = connection->Query("SELECT name FROM rows WHERE id = ?", id);
  const auto row = rows.Next();
  if (!row) {
    throw turtle::HttpError(404, "no such row");
  }
  res.Json(routes::RowJson(id, row->Get<std::string>(0)));
}

void Serve(std::uint16_t port, const std::string& file) {
  turtle::SqliteOptions sqlite;
  sqlite.file = file;
  turtle::DbPool rows(turtle::SqliteDatabase(sqlite));
  turtle::TaskPool workers({routes::kWorkers});
  turtle::ServerOptions one_loop;
  one_loop.threads = 1;
  turtle::HttpServer server(turtle::NetAddress("127.0.0.1", port), {}, one_loop);
  const auto text = [](const ServerRequest&, ServerResponse& res) { res.Text(routes::kText); };
  server.Get("/text", text);
  server.Get("/users/{user}/posts/{post}", [](const ServerRequest& req, ServerResponse& res) {
    res.Json(routes::PostJson(routes::Number(req.Parameter("user")),
                              routes::Number(req.Parameter("post"))));
  });
  server.Post("/sum", [](const ServerRequest& req, ServerResponse& res) {
    const auto order = req.Json();
    res.Json(routes::SumJson(order.Value()));
  });
  server.Get("/rows/{id}", turtle::Offload(workers, turtle::Priority::kNormal,
                                           [&rows](const ServerRequest& req, ServerResponse& res) {
                                             AnswerRow(rows, req, res);
                                           }));
  server.Get("/worker", turtle::Offload(workers, turtle::Priority::kNormal, text));
  server.StopOnSignals();
  workers.Start();
  server.Begin();
}

}  // namespace

auto main(int argc, char** argv) -> int { return routes::Main(argc, argv, Serve); }
