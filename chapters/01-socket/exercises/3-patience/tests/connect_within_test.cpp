#include "core/connect_within.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <pthread.h>
#include <signal.h>

#include <atomic>
#include <cerrno>
#include <chrono>
#include <future>
#include <optional>
#include <string>
#include <system_error>
#include <thread>
#include <utility>
#include <vector>

#include "core/socket_calls.h"

namespace TURTLE_SERVER {
namespace {

using std::chrono::milliseconds;

// A listener without accept, whose queue is full: further handshakes get no
// response.
class FullServer {
 public:
  FullServer() {
    listener_.Bind(NetAddress("127.0.0.1", 0));
    listener_.Listen(0);
    for (int i = 0; i < 8; ++i) {
      const NetAddress address = Address();
      waiting_.emplace_back(OpenSocket(AF_INET, FdMode::kNonBlocking));
      static_cast<void>(::connect(waiting_.back().Get(), address.Data(), address.Size()));
    }
  }

  [[nodiscard]] auto Address() const -> NetAddress { return listener_.LocalAddress(); }

 private:
  Socket listener_;
  std::vector<UniqueFd> waiting_;
};

// Returns the message that it throws, or "connected".
auto Try(const NetAddress& server, milliseconds limit) -> std::string {
  try {
    const Socket socket = ConnectWithin(server, limit);
    return "connected";
  } catch (const std::system_error& error) {
    return error.what();
  }
}

TEST(ConnectWithin, GivesUpWhenTheTimeIsOver) {
  std::optional<FullServer> server(std::in_place);
  const NetAddress address = server->Address();
  auto attempt =
      std::async(std::launch::async, [address] { return Try(address, milliseconds(50)); });
  if (attempt.wait_for(std::chrono::seconds(5)) != std::future_status::ready) {
    ADD_FAILURE() << "it does not give up";
    server.reset();  // now it is refused
  }
  EXPECT_EQ(attempt.get(), "connect " + address.ToString() + ": Connection timed out");
}

TEST(ConnectWithin, IsConnectedAndBlocks) {
  Socket listener;
  listener.Bind(NetAddress("127.0.0.1", 0));
  listener.Listen();
  const Socket socket = ConnectWithin(listener.LocalAddress(), std::chrono::seconds(10));
  EXPECT_EQ(::fcntl(socket.GetFd(), F_GETFL) & O_NONBLOCK, 0);
  EXPECT_NE(::fcntl(socket.GetFd(), F_GETFD) & FD_CLOEXEC, 0);
}

TEST(ConnectWithin, ARefusalIsToldAtOnce) {
  NetAddress nobody;
  {
    Socket listener;
    listener.Bind(NetAddress("127.0.0.1", 0));
    nobody = listener.LocalAddress();
  }
  EXPECT_EQ(Try(nobody, std::chrono::seconds(10)),
            "connect " + nobody.ToString() + ": Connection refused");
}

// Each signal interrupts the wait. A wait that begins again each time never ends.
TEST(ConnectWithin, SignalsDoNotProlongTheWait) {
  struct sigaction action {};
  action.sa_handler = [](int) {};
  struct sigaction before {};
  ::sigaction(SIGUSR1, &action, &before);
  std::optional<FullServer> server(std::in_place);
  const NetAddress address = server->Address();
  std::atomic<bool> done{false};
  int sent = 0;
  std::thread shooter([&, target = ::pthread_self()] {
    for (; sent < 1000 && !done; ++sent) {
      ::pthread_kill(target, SIGUSR1);
      std::this_thread::sleep_for(milliseconds(5));
    }
    if (!done) {
      server.reset();  // now it is refused
    }
  });
  EXPECT_THROW(static_cast<void>(ConnectWithin(address, milliseconds(50))), std::system_error);
  done = true;
  shooter.join();
  EXPECT_LT(sent, 1000) << "it gave up only when the signals ended";
  ::sigaction(SIGUSR1, &before, nullptr);
}

}  // namespace
}  // namespace TURTLE_SERVER
