// Short names for long addresses, in a database: short_links [PORT [FILE]]
//
//   POST /links        {"url": "https://example.org/a/long/way"} is number 1
//   GET  /links/{id}   {"url": …, "visits": 3}
//   GET  /{id}         sends you there, and counts
#include <algorithm>
#include <exception>
#include <iostream>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <string>
#include <string_view>

#include <turtle/base/argument.h>
#include <turtle/db/db_pool.h>
#include <turtle/db/sqlite_database.h>
#include <turtle/http/uri.h>
#include <turtle/task/task_pool.h>
#include <turtle/web/http_server.h>
#include <turtle/web/offload.h>

using namespace turtle;

namespace {

auto UrlIn(const RequestJson& body) -> std::string {
  auto url = body.at("url").get<std::string>();  // else 400, which says what is wrong
  Uri uri;
  const std::string page = url.substr(0, url.find('#'));  // clients don't send the fragment
  const bool is_web = url.find('#') == url.rfind('#') && !uri.Parse(page, Method::kGet) &&
                      uri.Form() == TargetForm::kAbsolute;
  // It goes into a field: RFC 3986 permits only these characters, and none above 0x7e.
  const bool is_plain = std::all_of(url.begin(), url.end(), [](char c) {
    return c > ' ' && c <= '~' && std::string_view("\"<>\\^`{|}").find(c) == std::string_view::npos;
  });
  if (!is_web || !is_plain || url.size() > 2000) {
    throw HttpError(400, "url must begin with https:// or http:// and a host, and be a URL");
  }
  return url;
}

// Without this, each of these errors would be a 500.
void RetryLater(const ServerRequest& /*req*/, ServerResponse& res, const std::exception& error) {
  if (const auto* db = dynamic_cast<const DbError*>(&error); db != nullptr && db->IsPassing()) {
    res.Page(503).Set("Retry-After", "1");
  }
}

}  // namespace

auto main(int argc, char** argv) -> int try {
  const int port = argc > 1 ? ReadPort(argv[1]) : 8080;
  SqliteOptions file;
  file.file = argc > 2 ? argv[2] : "links.db";
  const DbPoolOptions limits;
  DbPool pool(SqliteDatabase(file), limits);
  pool.Acquire()->Execute(
      "CREATE TABLE IF NOT EXISTS links (id INTEGER PRIMARY KEY, url TEXT NOT NULL UNIQUE,"
      " visits INTEGER NOT NULL DEFAULT 0) STRICT");

  TaskPool tasks({limits.max_connections});  // a query may wait for the disk, and no loop may
  HttpServer server(NetAddress("127.0.0.1", port));
  server.ErrorFormat("/links", ProblemJson);
  server.Use({nullptr, nullptr, RetryLater});
  const auto add = [&pool](const ServerRequest& req, ServerResponse& res) {
    const std::string url = UrlIn(req.Json());
    const DbOutcome added =
        pool.Acquire()->Execute("INSERT INTO links (url) VALUES (?) ON CONFLICT DO NOTHING", url);
    if (added.affected_rows == 0) {
      throw HttpError(409, "this url has a link already");
    }
    res.Status(201).Json({{"short", "/" + std::to_string(added.last_id)}});
  };
  const auto show = [&pool](const ServerRequest& req, ServerResponse& res) {
    const DbLease db = pool.Acquire();
    Rows rows = db->Query("SELECT url, visits FROM links WHERE id = ?", req.Integer("id"));
    const Row* row = rows.Next();
    if (row == nullptr) {
      throw HttpError(404, "there is no such link");
    }
    res.Json({{"url", row->Get<std::string>(0)}, {"visits", row->Get<int>(1)}});
  };
  const auto follow = [&pool](const ServerRequest& req, ServerResponse& res) {
    res.Page(404, "there is no such link");
    const DbLease db = pool.Acquire();
    Rows rows = db->Query("UPDATE links SET visits = visits + 1 WHERE id = ? RETURNING url",
                          req.Integer("id"));
    while (const Row* row = rows.Next()) {  // to the end: only then does the update count
      res.Redirect(row->Get<std::string>(0), 307);
    }
  };
  server.Post("/links", Offload(tasks, {}, add));
  server.Get("/links/{id:int}", Offload(tasks, {}, show));
  server.Get("/{id:int}", Offload(tasks, {}, follow));

  server.StopOnSignals();
  std::cout << "listening on " << server.LocalAddress().ToString() << std::endl;
  server.Begin();
  return 0;
} catch (const std::invalid_argument& error) {
  std::cerr << "short_links: " << error.what() << '\n';
  return 2;
} catch (const std::exception& error) {
  std::cerr << "short_links: " << error.what() << '\n';
  return 1;
}
