// Sends each text of POST /say to all clients that listen at GET /events.
//
//   announcements PORT
#include <csignal>
#include <exception>
#include <iostream>
#include <stdexcept>
#include <string_view>

#include "base/argument.h"
#include "core/signal_watch.h"
#include "listeners.h"
#include "web/http_server.h"

using namespace turtle;

namespace {

auto Saying(std::string_view text) -> ServerEvent {
  ServerEvent event;
  event.data = text;
  return event;
}

}  // namespace

auto main(int argc, char** argv) -> int try {
  if (argc != 2) {
    std::cerr << "usage: announcements PORT\n";
    return 2;
  }
  Listeners listeners;
  HttpServer server(NetAddress("127.0.0.1", ReadPort(argv[1])));
  server.Get("/events", [&listeners](const ServerRequest&, const Responder& responder) {
    listeners.Add(responder).Send(Saying("welcome"));
  });
  server.Post("/say", [&listeners](const ServerRequest& req, ServerResponse& res) {
    listeners.Tell(Saying(req.Body()));
    res.Status(204);
  });
  const SignalWatch signals(*server.Loopers().front(), {SIGINT, SIGTERM}, [&](int) {
    listeners.End();
    server.Stop();
  });
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
