// Says hello, and reports each request to a statistics sink, by UDP.
//
//   counted_server PORT SINK_PORT
#include <cstdint>
#include <exception>
#include <iostream>
#include <stdexcept>
#include <string>

#include "base/argument.h"
#include "udp/udp_socket.h"
#include "web/http_server.h"

using namespace turtle;

namespace {

// Reports to a sink how many requests there were. No client waits for it, even if it fails.
class RequestCount {
 public:
  explicit RequestCount(int sink_port) { sink_.Connect(NetAddress("127.0.0.1", sink_port)); }

  // Requests that the kernel can't send now are counted by the next datagram.
  void Add() {
    ++untold_;
    if (sink_.Send("requests:" + std::to_string(untold_) + "|c").status == IoStatus::kBytes) {
      untold_ = 0;
    }
  }

 private:
  UdpSocket sink_;
  std::uint64_t untold_ = 0;
};

}  // namespace

auto main(int argc, char** argv) -> int try {
  if (argc != 3) {
    std::cerr << "usage: counted_server PORT SINK_PORT\n";
    return 2;
  }
  ServerOptions one_loop;
  one_loop.threads = 1;
  HttpServer server(NetAddress("127.0.0.1", ReadPort(argv[1])), {}, one_loop);
  RequestCount count(ReadPort(argv[2]));
  server.Get("/hello", [&count](const ServerRequest&, ServerResponse& res) {
    count.Add();
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
