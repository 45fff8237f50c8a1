// Connects many clients that say nothing, and reports how many of them the server keeps.
//
//   silent_clients HOST PORT [COUNT [SECONDS]]      1000 clients, for 10 seconds unless given
//
// A client needs the same kind of loop as a server: here the Looper watches all of them.
#include <charconv>
#include <chrono>
#include <exception>
#include <iostream>
#include <stdexcept>
#include <string>
#include <string_view>
#include <system_error>

#include "core/connection.h"
#include "core/looper.h"
#include "core/socket.h"

namespace {

using turtle::Connection;
using turtle::ConnectionCallbacks;
using turtle::Looper;
using turtle::NetAddress;
using turtle::Socket;

auto ParseNumber(const std::string& what, std::string_view text) -> int {
  int number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size() || number < 0) {
    throw std::invalid_argument(what + " \"" + std::string(text) + "\": not a number");
  }
  return number;
}

void StaySilent(const NetAddress& server, int count, std::chrono::seconds patience) {
  int connected = 0;
  Looper looper;
  const ConnectionCallbacks callbacks{{}, [&](Connection* client) {
                                        const bool exit = client->Recv().exit;
                                        client->ClearReadBuffer();
                                        if (exit) {
                                          looper.DeleteConnection(client->GetFd());
                                          if (--connected == 0) {
                                            looper.Stop();
                                          }
                                        }
                                      }};
  for (; connected < count; ++connected) {
    Socket client;
    client.Connect(server);
    client.SetNonBlocking();
    looper.AddConnection(client.Release(), callbacks);
  }
  std::cout << connected << " silent clients are connected" << std::endl;
  looper.RunAfter(patience, [&] { looper.Stop(); });
  looper.AtStop([&] { std::cout << connected << " of them are still connected" << std::endl; });
  looper.Loop();
}

}  // namespace

int main(int argc, char** argv) {
  try {
    if (argc < 3 || argc > 5) {
      throw std::invalid_argument("usage: silent_clients HOST PORT [COUNT [SECONDS]]");
    }
    StaySilent(NetAddress(argv[1], ParseNumber("port", argv[2])),
               argc > 3 ? ParseNumber("count", argv[3]) : 1000,
               std::chrono::seconds(argc > 4 ? ParseNumber("seconds", argv[4]) : 10));
  } catch (const std::exception& error) {
    std::cerr << "silent_clients: " << error.what() << '\n';
    return 1;
  }
}
