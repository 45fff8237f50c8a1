// Understands every request and answers none: it prints what the parser finds in them.
//
//   web_server [PORT [ROOT]]      20080 unless given; port 0: any free one. ROOT is for chapter 11,
//                                 where this program serves files.
#include <algorithm>
#include <charconv>
#include <chrono>
#include <cstdint>
#include <exception>
#include <iostream>
#include <memory>
#include <stdexcept>
#include <string>
#include <string_view>
#include <system_error>

#include "core/turtle_server.h"
#include "describe_request.h"
#include "http/http_parser.h"

namespace {

using turtle::BodyKind;
using turtle::Connection;
using turtle::HttpParser;
using turtle::ParseResult;
using turtle::ParserLimits;
using turtle::ParseState;
using turtle::Request;

constexpr std::chrono::seconds kPatience{60};

auto ParsePort(std::string_view text) -> int {
  int port = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), port);
  if (error != std::errc() || end != text.data() + text.size()) {
    throw std::invalid_argument("port \"" + std::string(text) + "\": not a number");
  }
  return port;
}

// The state of a connection between two pieces: how far the parser has read.
struct Session : turtle::ConnectionState {
  explicit Session(const ParserLimits& limits) : parser(limits) {}

  HttpParser parser;
  std::uint64_t body_left = 0;
};

class PrintingServer {
 public:
  explicit PrintingServer(const turtle::NetAddress& address) : server_(address, OneThread()) {
    server_
        .OnAccept([this](Connection* client) {
          client->SetState(std::make_unique<Session>(limits_));
          Await(client);
        })
        .OnHandle([this](Connection* client) { Handle(client); });
  }

  auto LocalAddress() const -> turtle::NetAddress { return server_.LocalAddress(); }

  void Run() { server_.Begin(); }

 private:
  // With one thread, one Request serves all connections, and no thread prints into another's lines.
  static auto OneThread() -> turtle::ServerOptions {
    turtle::ServerOptions options;
    options.threads = 1;
    return options;
  }

  // Deletes a client that sends nothing for this long.
  static void Await(Connection* client) {
    turtle::Looper* looper = client->GetLooper();
    looper->SetDeadline(client, looper->Now() + kPatience);
  }

  void Handle(Connection* client) {
    const auto [read, exit] = client->Recv();
    if (exit || (read != 0 && !PrintRequests(client))) {
      client->GetLooper()->DeleteConnection(client->GetFd());
    } else if (read != 0) {
      Await(client);
    }
  }

  // Takes every complete request. False: the bytes after it can't be understood.
  auto PrintRequests(Connection* client) -> bool {
    auto& session = static_cast<Session&>(*client->State());
    for (;;) {
      const std::string_view input = client->Read();
      if (session.body_left > 0) {
        const auto count = std::min<std::uint64_t>(session.body_left, input.size());
        client->Consume(static_cast<std::size_t>(count));
        session.body_left -= count;
        if (session.body_left > 0) {
          return true;
        }
        continue;
      }
      if (input.empty()) {
        return true;
      }
      const ParseResult result = session.parser.Parse(input, request_);
      if (result.state == ParseState::kNeedMore) {
        return true;
      }
      if (result.state == ParseState::kBad) {
        std::cout << "refused: " << result.status << ' ' << result.reason << std::endl;
        return false;
      }
      std::cout << DescribeRequest(request_) << std::flush;
      if (request_.framing.kind == BodyKind::kChunked) {
        return false;  // chapter 13 finds where it ends
      }
      session.body_left = request_.framing.length;
      client->Consume(result.head_bytes);
    }
  }

  const ParserLimits limits_{};
  Request request_;
  turtle::TurtleServer server_;
};

}  // namespace

int main(int argc, char** argv) {
  try {
    if (argc > 3) {
      throw std::invalid_argument("usage: web_server [PORT [ROOT]]");
    }
    PrintingServer server(turtle::NetAddress("127.0.0.1", argc > 1 ? ParsePort(argv[1]) : 20080));
    std::cout << "listening on " << server.LocalAddress().ToString() << std::endl;
    server.Run();
  } catch (const std::exception& error) {
    std::cerr << "web_server: " << error.what() << '\n';
    return 1;
  }
}
