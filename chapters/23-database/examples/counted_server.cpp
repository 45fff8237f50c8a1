// Says hello, and reports each request to a statistics sink, by TCP.
//
//   counted_server PORT SINK_PORT
#include <exception>
#include <iostream>
#include <stdexcept>

#include "base/argument.h"
#include "core/socket.h"
#include "log/log.h"
#include "web/http_server.h"

using namespace turtle;

namespace {

// Sends a line for each request. It waits for no response, but it does wait for the connection, and
// for room in it.
void Report(int sink_port) noexcept {
  try {
    Socket sink;
    sink.Connect(NetAddress("127.0.0.1", sink_port));
    static_cast<void>(sink.Send("requests:1|c\n"));
  } catch (const std::exception&) {
    LogException("the sink");
  }
}

}  // namespace

auto main(int argc, char** argv) -> int try {
  if (argc != 3) {
    std::cerr << "usage: counted_server PORT SINK_PORT\n";
    return 2;
  }
  ServerOptions one_loop;
  one_loop.threads = 1;
  HttpServer server(NetAddress("127.0.0.1", ReadPort(argv[1])), {}, one_loop);
  server.Get("/hello", [sink = ReadPort(argv[2])](const ServerRequest&, ServerResponse& res) {
    Report(sink);
    res.Text("hello\n");
  });
  server.StopOnSignals();
  std::cout << "listening on " << server.LocalAddress().ToString() << std::endl;
  server.Begin();
  return 0;
} catch (const std::invalid_argument& error) {
  std::cerr << "counted_server: " << error.what() << '\n';
  return 2;
} catch (const std::exception& error) {
  std::cerr << "counted_server: " << error.what() << '\n';
  return 1;
}
