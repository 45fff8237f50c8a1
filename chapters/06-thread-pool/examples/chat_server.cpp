// A chat room on several threads: every line that a guest sends goes to all the others.
//
//   chat_server [PORT [ADDRESS]]      20080 and 127.0.0.1 unless given; port 0: any free one
//
// Two limits keep one guest from using up everybody's memory: a line has at most kMaxLine bytes,
// and a guest that doesn't read the others' lines is shown the door.
#include <algorithm>
#include <charconv>
#include <csignal>
#include <exception>
#include <iostream>
#include <map>
#include <memory>
#include <stdexcept>
#include <string>
#include <string_view>
#include <system_error>
#include <thread>
#include <utility>
#include <vector>

#include "base/mutex.h"
#include "core/connection.h"
#include "core/connection_ticket.h"
#include "core/looper.h"
#include "core/socket.h"
#include "task/thread_pool.h"

namespace {

using turtle::Connection;
using turtle::ConnectionCallbacks;
using turtle::ConnectionState;
using turtle::ConnectionTicket;
using turtle::Interest;
using turtle::Looper;
using turtle::Mutex;
using turtle::MutexLock;
using turtle::NetAddress;
using turtle::PollEvent;
using turtle::Socket;
using turtle::ThreadPool;
using turtle::UniqueFd;

constexpr std::size_t kMaxLine = 1024;

Looper* to_stop = nullptr;  // the only thing that the signal handler needs

auto ParsePort(std::string_view text) -> int {
  int port = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), port);
  if (error != std::errc() || end != text.data() + text.size()) {
    throw std::invalid_argument("port \"" + std::string(text) + "\": not a number");
  }
  return port;
}

// Each thread has one loop. All watch the one listener, and the first to wake takes the client.
class Server {
 public:
  Server(const NetAddress& address, ConnectionCallbacks callbacks, std::size_t threads)
      : callbacks_(std::move(callbacks)) {
    listener_.SetNonBlocking();  // all of them see a client, and all but one come too late
    listener_.Bind(address);
    listener_.Listen();
    while (loopers_.size() < threads) {
      loopers_.push_back(std::make_unique<Looper>());
      Looper& looper = *loopers_.back();
      const auto watch = looper.Watch(listener_.GetFd(), Interest::kRead,
                                      [&](const PollEvent&) { AcceptAll(looper); });
      looper.AtStop([&looper, watch] { looper.Unwatch(watch); });
    }
    loopers_.front()->AtStop([this] { StopOthers(); });
  }

  auto LocalAddress() const -> NetAddress { return listener_.LocalAddress(); }

  auto FirstLoop() -> Looper& { return *loopers_.front(); }

  void Run() {
    ThreadPool threads(loopers_.size() - 1);
    threads.Start();
    try {
      for (std::size_t i = 1; i < loopers_.size(); ++i) {
        static_cast<void>(threads.Submit([looper = loopers_[i].get()] { looper->Loop(); }));
      }
      FirstLoop().Loop();
    } catch (...) {
      StopOthers();
      throw;
    }
  }

 private:
  void AcceptAll(Looper& looper) {
    NetAddress from;
    while (UniqueFd fd{listener_.Accept(from)}) {
      looper.AddConnection(std::move(fd), callbacks_);
    }
  }

  void StopOthers() {
    for (std::size_t i = 1; i < loopers_.size(); ++i) {
      loopers_[i]->Stop();
    }
  }

  const ConnectionCallbacks callbacks_;
  Socket listener_;
  std::vector<std::unique_ptr<Looper>> loopers_;
};

// The guests in the room, on whichever loop. Any thread.
class ChatRoom {
 public:
  // Makes a new client a guest. On its loop's thread, like the next function.
  void Welcome(Connection* client) {
    const ConnectionTicket ticket(*client);
    int number = 0;
    {
      const MutexLock lock(mutex_);
      number = ++last_number_;
      guests_.emplace(number, ticket);
    }
    client->SetState(std::make_unique<Guest>(*this, number));
    client->WriteToWriteBuffer("you are guest " + std::to_string(number) + "\n");
  }

  void Listen(Connection* client) {
    const bool exit = client->Recv().exit;
    const int number = static_cast<const Guest*>(client->State())->number;
    // A segment may hold half a line or seven. A line without an end stays in Read().
    for (std::size_t end = client->Read().find('\n'); end != std::string_view::npos;
         end = client->Read().find('\n')) {
      Tell(number, "guest " + std::to_string(number) + ": " +
                       std::string(client->Read().substr(0, end + 1)));
      client->Consume(end + 1);
    }
    if (client->Read().size() > kMaxLine) {
      client->WriteToWriteBuffer("that line is too long\n");
      client->GetLooper()->DeleteConnection(client->GetFd());
    } else if (exit) {
      client->GetLooper()->DeleteConnection(client->GetFd());
    }
  }

 private:
  // A guest's place at a connection: leaves the room when the connection is destroyed.
  struct Guest : ConnectionState {
    Guest(ChatRoom& chat_room, int guest_number) : room(chat_room), number(guest_number) {}

    ~Guest() override {
      const MutexLock lock(room.mutex_);
      room.guests_.erase(number);
    }

    ChatRoom& room;
    const int number;
  };

  // The lock is held until all mailboxes have the line, so that all guests hear the lines of
  // several speakers in one order. It is not held while anything is written.
  void Tell(int speaker, const std::string& line) {
    const MutexLock lock(mutex_);
    for (const auto& [number, ticket] : guests_) {
      if (number != speaker) {
        static_cast<void>(ticket.Post([line](Connection* client) {
          if (client->Paused()) {  // it doesn't read, and our memory is not its own
            client->GetLooper()->DeleteConnection(client->GetFd());
          } else {
            client->WriteToWriteBuffer(line);
          }
        }));
      }
    }
  }

  Mutex mutex_;
  std::map<int, ConnectionTicket> guests_ TURTLE_GUARDED_BY(mutex_);
  int last_number_ TURTLE_GUARDED_BY(mutex_) = 0;
};

void Serve(const NetAddress& address) {
  ChatRoom room;  // before the loops, whose last guests leave it
  const std::size_t threads = std::max(2U, std::thread::hardware_concurrency());
  Server server(address,
                {[&](Connection* client) { room.Welcome(client); },
                 [&](Connection* client) { room.Listen(client); }},
                threads);
  to_stop = &server.FirstLoop();
  for (const int signal : {SIGINT, SIGTERM}) {
    std::signal(signal, [](int) { to_stop->Stop(); });
  }
  std::cout << "listening on " << server.LocalAddress().ToString() << std::endl;
  server.Run();
}

}  // namespace

int main(int argc, char** argv) {
  try {
    if (argc > 3) {
      throw std::invalid_argument("usage: chat_server [PORT [ADDRESS]]");
    }
    Serve(NetAddress(argc > 2 ? argv[2] : "127.0.0.1", argc > 1 ? ParsePort(argv[1]) : 20080));
  } catch (const std::exception& error) {
    std::cerr << "chat_server: " << error.what() << '\n';
    return 1;
  }
}
