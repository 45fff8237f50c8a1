// A chat room on every core: every line that a guest sends goes to all the others.
//
//   chat_server [PORT [ADDRESS]]      20080 and 127.0.0.1 unless given; port 0: any free one
//
// Two limits keep one guest from using up everybody's memory: a line has at most kMaxLine bytes,
// and a guest that doesn't read the others' lines is shown the door.
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

#include "base/mutex.h"
#include "core/connection_ticket.h"
#include "core/turtle_server.h"

namespace {

using turtle::Connection;
using turtle::ConnectionState;
using turtle::ConnectionTicket;
using turtle::Mutex;
using turtle::MutexLock;
using turtle::NetAddress;
using turtle::TurtleServer;

constexpr std::size_t kMaxLine = 1024;

TurtleServer* to_stop = nullptr;  // the only thing that the signal handler needs

auto ParsePort(std::string_view text) -> int {
  int port = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), port);
  if (error != std::errc() || end != text.data() + text.size()) {
    throw std::invalid_argument("port \"" + std::string(text) + "\": not a number");
  }
  return port;
}

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

}  // namespace

int main(int argc, char** argv) {
  try {
    if (argc > 3) {
      throw std::invalid_argument("usage: chat_server [PORT [ADDRESS]]");
    }
    ChatRoom room;  // before the server, whose last guests leave it
    TurtleServer server(
        NetAddress(argc > 2 ? argv[2] : "127.0.0.1", argc > 1 ? ParsePort(argv[1]) : 20080));
    to_stop = &server;
    for (const int signal : {SIGINT, SIGTERM}) {
      std::signal(signal, [](int) { to_stop->Stop(); });
    }
    std::cout << "listening on " << server.LocalAddress().ToString() << std::endl;
    server.OnAccept([&](Connection* client) { room.Welcome(client); })
        .OnHandle([&](Connection* client) { room.Listen(client); })
        .Begin();
  } catch (const std::exception& error) {
    std::cerr << "chat_server: " << error.what() << '\n';
    return 1;
  }
}
