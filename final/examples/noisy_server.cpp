// An echo server that logs a lot, and whose log makes no client wait.
//
//   noisy_server PORT             lines go to stderr; those that it does not take are dropped
//   noisy_server PORT LOG_FILE    a separate thread writes them to a file
//
// SIGUSR1 reopens the file. SIGINT and SIGTERM end the program.
#include <csignal>
#include <exception>
#include <iostream>
#include <stdexcept>
#include <string>
#include <vector>

#include "base/argument.h"
#include "core/signal_watch.h"
#include "core/turtle_server.h"
#include "log/log.h"
#include "log/logging.h"

using namespace turtle;

namespace {

void Echo(Connection* client) {
  const auto [read, exit] = client->Recv();
  if (read != 0) {
    Log(LogLevel::kInfo, client->GetPeerAddress().ToString() + ": " + client->ReadAsString());
    client->WriteToWriteBuffer(client->Read());
    client->ClearReadBuffer();
  }
  if (exit) {
    client->GetLooper()->DeleteConnection(client->GetFd());
  }
}

auto LogTo(const char* file) -> LoggingOptions {
  LoggingOptions options;
  if (file != nullptr) {
    options.writer.file = file;
    options.writer.by = WriteBy::kThread;
  }
  return options;
}

}  // namespace

auto main(int argc, char** argv) -> int try {
  if (argc != 2 && argc != 3) {
    std::cerr << "usage: noisy_server PORT [LOG_FILE]\n";
    return 2;
  }
  Logging logging(LogTo(argc == 3 ? argv[2] : nullptr));
  TurtleServer server(NetAddress("127.0.0.1", ReadPort(argv[1])));
  server.OnHandle(Echo);
  const SignalWatch signals(*server.Loopers().front(), {SIGINT, SIGTERM, SIGUSR1}, [&](int number) {
    number == SIGUSR1 ? logging.Reopen() : server.Stop();
  });
  std::cout << "listening on " << server.LocalAddress().ToString() << std::endl;
  server.Begin();
  return 0;
} catch (const std::invalid_argument& error) {
  std::cerr << "noisy_server: " << error.what() << '\n';
  return 2;
} catch (const std::exception& error) {
  std::cerr << "noisy_server: " << error.what() << '\n';
  return 1;
}
