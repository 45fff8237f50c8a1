// Notes that everybody may read and write, for as long as the program runs.
//
//   notes PORT [FOLDER]
//
//   POST /notes     keeps the body as a note
//   GET /notes      all of them, as a JSON array
//
// FOLDER is where they could be kept. So far nothing is: they are in memory, and nowhere else.
#include <csignal>
#include <cstddef>
#include <cstdlib>
#include <exception>
#include <iostream>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "base/mutex.h"
#include "core/signal_watch.h"
#include "http/http_error.h"
#include "web/http_server.h"

using namespace turtle;

namespace {

// Any thread: a server has several loops.
class Notes {
 public:
  void Add(std::string_view text) {
    const MutexLock lock(mutex_);
    if (notes_.size() == kMaxNotes) {
      throw HttpError(507, "no room for more notes");
    }
    notes_.emplace_back(text);
  }

  auto All() -> nlohmann::json {
    const MutexLock lock(mutex_);
    return notes_;
  }

 private:
  static constexpr std::size_t kMaxNotes = 1000;

  Mutex mutex_;
  std::vector<std::string> notes_ TURTLE_GUARDED_BY(mutex_);
};

}  // namespace

auto main(int argc, char** argv) -> int try {
  if (argc != 2 && argc != 3) {
    std::cerr << "usage: notes PORT [FOLDER]\n";
    return 2;
  }
  Notes notes;
  HttpOptions options;
  options.body.max_body_bytes = 1000;
  HttpServer server(NetAddress("127.0.0.1", std::atoi(argv[1])), options);
  server.Get("/notes",
             [&notes](const ServerRequest&, ServerResponse& res) { res.Json(notes.All()); });
  server.Post("/notes", [&notes](const ServerRequest& req, ServerResponse& res) {
    notes.Add(req.Body());
    res.Status(201);
  });
  const SignalWatch signals(*server.Loopers().front(), {SIGINT, SIGTERM},
                            [&server](int) { server.Stop(); });
  std::cout << "listening on " << server.LocalAddress().ToString() << std::endl;
  server.Begin();
  return 0;
} catch (const std::exception& error) {
  std::cerr << "notes: " << error.what() << '\n';
  return 1;
}
