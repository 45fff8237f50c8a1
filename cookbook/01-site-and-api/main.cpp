// A directory of files, and an API beside it: site_and_api [PORT [FOLDER]]
//
//   GET, POST /api/visits   how many visits there were; one more
//   GET /app/…              index.html: a page that draws itself has many addresses and one file
//   GET /…                  the files of FOLDER
#include <atomic>
#include <exception>
#include <iostream>
#include <memory>
#include <nlohmann/json.hpp>
#include <stdexcept>

#include <turtle/base/argument.h>
#include <turtle/web/exchange.h>
#include <turtle/web/http_server.h>

using namespace turtle;

namespace {

// Serves one page for each path under /app; the page decides what to show.
class OnePage : public RequestHandler {
 public:
  void Handle(Exchange& exchange) override {
    const Request& request = exchange.GetRequest();
    if (request.method == Method::kGet || request.method == Method::kHead) {
      exchange.ReplyFrom("/index.html");
    } else {
      exchange.Reply(ErrorResponse(405).Set("Allow", "GET, HEAD"));
    }
  }
};

}  // namespace

auto main(int argc, char** argv) -> int try {
  HttpServer server(NetAddress("127.0.0.1", argc > 1 ? ReadPort(argv[1]) : 8080));

  std::atomic<int> visits{0};  // not an int: each loop calls the handlers on its own thread
  server.Get("/api/visits", [&visits](const ServerRequest&, ServerResponse& res) {
    res.Json({{"visits", visits.load()}});
  });
  server.Post("/api/visits", [&visits](const ServerRequest&, ServerResponse& res) {
    res.Status(201).Json({{"visits", ++visits}});
  });

  server.Files("/", argc > 2 ? argv[2] : ".");
  server.Mount("/app", [](Looper&) { return std::make_unique<OnePage>(); });
  server.ErrorFormat("/api", ProblemJson);  // for programs, not for people

  server.StopOnSignals();
  std::cout << "listening on " << server.LocalAddress().ToString() << std::endl;
  server.Begin();
  return 0;
} catch (const std::invalid_argument& error) {
  std::cerr << "site_and_api: " << error.what() << '\n';
  return 2;
} catch (const std::exception& error) {
  std::cerr << "site_and_api: " << error.what() << '\n';
  return 1;
}
