// A chat room: every line that a guest sends goes to all the others.
//
//   chat_server [PORT [ADDRESS]]      20080 and 127.0.0.1 unless given; port 0: any free one
//
// Two limits keep one guest from using up everybody's memory: a line has at most kMaxLine bytes,
// and a guest that doesn't read the others' lines is shown the door.
#include <charconv>
#include <csignal>
#include <exception>
#include <iostream>
#include <memory>
#include <stdexcept>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>

#include "core/connection.h"
#include "core/looper.h"
#include "core/socket.h"

namespace {

using turtle::Connection;
using turtle::ConnectionCallbacks;
using turtle::ConnectionState;
using turtle::Interest;
using turtle::Looper;
using turtle::NetAddress;
using turtle::PollEvent;
using turtle::Socket;
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

// The guest at a connection.
struct Guest : ConnectionState {
  explicit Guest(int number) : name("guest " + std::to_string(number)) {}

  const std::string name;
};

class ChatRoom {
 public:
  explicit ChatRoom(const NetAddress& address)
      : callbacks_{[this](Connection* guest) { Welcome(guest); },
                   [this](Connection* guest) { Listen(guest); }} {
    listener_.SetNonBlocking();
    listener_.Bind(address);
    listener_.Listen();
    looper_.Watch(listener_.GetFd(), Interest::kRead, [this](const PollEvent&) { AcceptAll(); });
  }

  auto LocalAddress() const -> NetAddress { return listener_.LocalAddress(); }
  auto GetLooper() -> Looper& { return looper_; }

 private:
  static auto Name(const Connection* guest) -> const std::string& {
    return static_cast<const Guest*>(guest->State())->name;  // set by Welcome(), for all guests
  }

  // Accepts until no guest waits. Without descriptors, guests stay in the kernel's queue.
  void AcceptAll() {
    NetAddress from;
    while (UniqueFd fd{listener_.Accept(from)}) {
      looper_.AddConnection(std::move(fd), callbacks_);
    }
  }

  void Welcome(Connection* guest) {
    guest->SetState(std::make_unique<Guest>(++guests_));
    guest->WriteToWriteBuffer("you are " + Name(guest) + "\n");
  }

  void Listen(Connection* guest) {
    const bool exit = guest->Recv().exit;
    // A segment may hold half a line or seven. A line without an end stays in Read().
    for (std::size_t end = guest->Read().find('\n'); end != std::string_view::npos;
         end = guest->Read().find('\n')) {
      Tell(*guest, Name(guest) + ": " + std::string(guest->Read().substr(0, end + 1)));
      guest->Consume(end + 1);
    }
    if (guest->Read().size() > kMaxLine) {
      guest->WriteToWriteBuffer("that line is too long\n");
      looper_.DeleteConnection(guest->GetFd());
    } else if (exit) {
      looper_.DeleteConnection(guest->GetFd());
    }
  }

  void Tell(const Connection& speaker, const std::string& line) {
    looper_.ForEachConnection([&](Connection* guest) {
      if (guest->Paused()) {
        looper_.DeleteConnection(guest->GetFd());  // it doesn't read, and our memory is not its own
      } else if (guest != &speaker) {
        guest->WriteToWriteBuffer(line);
        guest->Send();
      }
    });
  }

  const ConnectionCallbacks callbacks_;
  Socket listener_;
  Looper looper_;
  int guests_ = 0;
};

}  // namespace

int main(int argc, char** argv) {
  try {
    if (argc > 3) {
      throw std::invalid_argument("usage: chat_server [PORT [ADDRESS]]");
    }
    ChatRoom room(
        NetAddress(argc > 2 ? argv[2] : "127.0.0.1", argc > 1 ? ParsePort(argv[1]) : 20080));
    to_stop = &room.GetLooper();
    for (const int signal : {SIGINT, SIGTERM}) {
      std::signal(signal, [](int) { to_stop->Stop(); });
    }
    std::cout << "listening on " << room.LocalAddress().ToString() << std::endl;
    room.GetLooper().Loop();
  } catch (const std::exception& error) {
    std::cerr << "chat_server: " << error.what() << '\n';
    return 1;
  }
}
