// Clients that send GET /events get the next text of a client that sends POST /say.
//
//   announcements PORT
//
// It has one loop, and a handler responds before it returns. So the handler of /events waits on the
// loop, and a client with an announcement has to wait as well.
#include <chrono>
#include <exception>
#include <iostream>
#include <optional>
#include <stdexcept>
#include <string>
#include <utility>

#include "base/argument.h"
#include "base/condition.h"
#include "base/mutex.h"
#include "http/http_error.h"
#include "web/http_server.h"

using namespace turtle;

namespace {

// The last text, and the clients that wait for another one. Any thread.
class Board {
 public:
  // Waits for the next text; nullopt if none comes within two seconds.
  auto Next() -> std::optional<std::string> {
    const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(2);
    const MutexLock lock(mutex_);
    const int before = count_;
    while (count_ == before) {
      if (std::chrono::steady_clock::now() >= end) {
        return std::nullopt;
      }
      said_.WaitUntil(mutex_, end);
    }
    return text_;
  }

  void Say(std::string text) {
    const MutexLock lock(mutex_);
    text_ = std::move(text);
    ++count_;
    said_.NotifyAll();
  }

 private:
  Mutex mutex_;
  Condition said_;
  std::string text_ TURTLE_GUARDED_BY(mutex_);
  int count_ TURTLE_GUARDED_BY(mutex_) = 0;
};

}  // namespace

auto main(int argc, char** argv) -> int try {
  if (argc != 2) {
    std::cerr << "usage: announcements PORT\n";
    return 2;
  }
  Board board;
  ServerOptions one_loop;
  one_loop.threads = 1;
  HttpServer server(NetAddress("127.0.0.1", ReadPort(argv[1])), {}, one_loop);
  server.Get("/events", [&board](const ServerRequest&, ServerResponse& res) {
    const auto text = board.Next();
    if (!text) {
      throw HttpError(503, "nobody has said anything");
    }
    res.Text(*text + "\n");
  });
  server.Post("/say", [&board](const ServerRequest& req, ServerResponse& res) {
    board.Say(std::string(req.Body()));
    res.Status(204);
  });
  server.StopOnSignals();
  std::cout << "listening on " << server.LocalAddress().ToString() << std::endl;
  server.Begin();
  return 0;
} catch (const std::invalid_argument& error) {
  std::cerr << "announcements: " << error.what() << '\n';
  return 2;
} catch (const std::exception& error) {
  std::cerr << "announcements: " << error.what() << '\n';
  return 1;
}
