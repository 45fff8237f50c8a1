// Texts by name, over TCP, one command per line: key_value [PORT [IDLE_SECONDS]]
//
//   PING            +PONG
//   SET key text    +OK
//   GET key         $5, and the text in the next line; $-1 if there is none
//   DEL key         :1; :0 if there is none
#include <algorithm>
#include <chrono>
#include <csignal>
#include <exception>
#include <iostream>
#include <stdexcept>
#include <string>
#include <string_view>
#include <unordered_map>

#include <turtle/base/argument.h>
#include <turtle/base/mutex.h>
#include <turtle/core/signal_watch.h>
#include <turtle/core/turtle_server.h>

using namespace turtle;

namespace {

constexpr std::size_t kMaxLine = 4096;
constexpr std::size_t kMaxKeys = 100'000;

// Any thread: clients of all loops share it.
class Store {
 public:
  auto Answer(std::string_view line) -> std::string {
    const std::string_view command = TakeWord(line);
    const std::string key(TakeWord(line));
    if (command == "PING") {
      return "+PONG\r\n";
    }
    const MutexLock lock(mutex_);
    if (command == "GET" && !key.empty()) {
      const auto found = texts_.find(key);
      return found == texts_.end()
                 ? "$-1\r\n"
                 : "$" + std::to_string(found->second.size()) + "\r\n" + found->second + "\r\n";
    }
    if (command == "SET" && !key.empty()) {
      if (texts_.size() >= kMaxKeys && texts_.count(key) == 0) {
        return "-ERR full\r\n";
      }
      texts_[key] = line;
      return "+OK\r\n";
    }
    if (command == "DEL" && !key.empty()) {
      return ":" + std::to_string(texts_.erase(key)) + "\r\n";
    }
    return "-ERR PING, SET key text, GET key or DEL key\r\n";
  }

 private:
  static auto TakeWord(std::string_view& line) -> std::string_view {
    const std::string_view word = line.substr(0, line.find(' '));
    line.remove_prefix(std::min(word.size() + 1, line.size()));
    return word;
  }

  Mutex mutex_;
  std::unordered_map<std::string, std::string> texts_ TURTLE_GUARDED_BY(mutex_);
};

void Serve(Connection* client, Store& store, std::chrono::seconds idle) {
  const bool exit = client->Recv().exit;
  while (!client->Paused()) {  // else it has responses to read first; then we are called again
    const std::size_t end = client->Read().find('\n');
    if (std::min(end, client->Read().size()) > kMaxLine) {
      client->Write("-ERR that line is too long\r\n");
      client->Close();
      return;
    }
    if (end == std::string_view::npos) {
      break;
    }
    const std::string_view line = client->Read().substr(0, end);
    client->Write(store.Answer(line.substr(0, line.find_last_not_of('\r') + 1)));
    client->Consume(end + 1);
  }
  if (exit && !client->Paused()) {
    client->Close();  // once its responses are sent
  } else {
    client->GetLooper()->SetDeadline(client, client->GetLooper()->Now() + idle);
  }
}

}  // namespace

auto main(int argc, char** argv) -> int try {
  const int port = argc > 1 ? ReadPort(argv[1]) : 8080;
  Store store;
  const std::chrono::seconds idle(argc > 2 ? ReadNumber("idle time", argv[2], 1, 86'400) : 300);
  TurtleServer server(NetAddress("127.0.0.1", port));
  server
      .OnAccept([&](Connection* client) {
        client->GetLooper()->SetDeadline(client, client->GetLooper()->Now() + idle);
      })
      .OnHandle([&](Connection* client) { Serve(client, store, idle); });
  const SignalWatch stop(*server.Loopers().front(), {SIGINT, SIGTERM}, [&](int) { server.Stop(); });
  std::cout << "listening on " << server.LocalAddress().ToString() << std::endl;
  server.Begin();
  return 0;
} catch (const std::invalid_argument& error) {
  std::cerr << "key_value: " << error.what() << '\n';
  return 2;
} catch (const std::exception& error) {
  std::cerr << "key_value: " << error.what() << '\n';
  return 1;
}
