#include "core/connecting.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/socket.h>

#include <array>
#include <cerrno>
#include <memory>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "core/socket_calls.h"
#include "support/captured_stderr.h"
#include "support/handlers.h"
#include "support/loop_thread.h"
#include "support/tcp_pair.h"

namespace TURTLE_SERVER {
namespace {

using test::LoopThread;

// The callback's arguments.
struct Outcome {
  int calls = 0;
  UniqueFd client;
  int error = -1;

  auto Callback() -> ConnectedCallback {
    return [this](UniqueFd brought, int error_number) {
      ++calls;
      client = std::move(brought);
      error = error_number;
    };
  }
};

auto ListenOn(NetAddress address, int backlog = 16) -> Socket {
  Socket listener;
  listener.SetNonBlocking();
  listener.Bind(address);
  if (::listen(listener.GetFd(), backlog) != 0) {
    throw std::runtime_error("listen");
  }
  return listener;
}

auto Anywhere() -> NetAddress { return {"127.0.0.1", 0}; }

// An address without a server.
auto NobodysAddress() -> NetAddress { return ListenOn(Anywhere()).LocalAddress(); }

// The number that the next descriptor will have.
auto NextDescriptor() -> int {
  const UniqueFd probe(::open("/dev/null", O_RDONLY | O_CLOEXEC));
  return probe.Get();
}

TEST(Connecting, BringsASocketThatIsConnectedAndNeverBlocks) {
  Outcome outcome;
  const Socket listener = ListenOn(Anywhere());
  LoopThread loop;
  auto connecting = loop.Ask([&] {
    return std::make_unique<Connecting>(loop.Get(), listener.LocalAddress(), outcome.Callback());
  });
  ASSERT_TRUE(loop.Await([&] { return outcome.calls != 0; }));
  loop.Ask([&] {
    EXPECT_EQ(outcome.error, 0);
    ASSERT_TRUE(outcome.client);
    EXPECT_NE(::fcntl(outcome.client.Get(), F_GETFL) & O_NONBLOCK, 0);
    NetAddress server;
    ASSERT_EQ(::getpeername(outcome.client.Get(), server.Data(), server.Length()), 0);
    EXPECT_EQ(server, listener.LocalAddress());
    connecting.reset();
  });
}

TEST(Connecting, TheLoopMayTakeTheSocketAtOnce) {
  const ConnectionCallbacks callbacks{{}, test::Echo};
  Socket listener = ListenOn(Anywhere());
  LoopThread loop;
  auto connecting = loop.Ask([&] {
    return std::make_unique<Connecting>(
        loop.Get(), listener.LocalAddress(),
        [&](UniqueFd client, int) { loop.Get().AddConnection(std::move(client), callbacks); });
  });
  ASSERT_TRUE(loop.Await([&] { return loop.Get().ConnectionCount() == 1; }));
  NetAddress from;
  Socket other(UniqueFd(listener.Accept(from)));
  ASSERT_EQ(other.Send("hello").bytes, 5U);
  ASSERT_TRUE(test::AwaitBytes(other.GetFd(), 5));
  std::array<char, 5> echo{};
  EXPECT_EQ(other.Recv(echo.data(), echo.size()).bytes, 5U);
  EXPECT_EQ(std::string(echo.data(), echo.size()), "hello");
  loop.Ask([&] { connecting.reset(); });
}

TEST(Connecting, ARefusalIsAnError) {
  Outcome outcome;
  LoopThread loop;
  auto connecting = loop.Ask([&] {
    return std::make_unique<Connecting>(loop.Get(), NobodysAddress(), outcome.Callback());
  });
  ASSERT_TRUE(loop.Await([&] { return outcome.calls != 0; }));
  loop.Ask([&] {
    EXPECT_EQ(outcome.error, ECONNREFUSED);
    EXPECT_FALSE(outcome.client);
    connecting.reset();
  });
}

// Some errors, and some successes, are known before connect(2) returns.
TEST(Connecting, CallsBackInALaterRoundWhateverComesOfIt) {
  const Socket listener = ListenOn(Anywhere());
  LoopThread loop;
  for (const NetAddress& server :
       {listener.LocalAddress(), NobodysAddress(), NetAddress("255.255.255.255", 9)}) {
    Outcome outcome;
    auto connecting = loop.Ask([&] {
      auto begun = std::make_unique<Connecting>(loop.Get(), server, outcome.Callback());
      EXPECT_EQ(outcome.calls, 0) << server.ToString();
      return begun;
    });
    EXPECT_TRUE(loop.Await([&] { return outcome.calls != 0; })) << server.ToString();
    loop.RunRounds(3);
    loop.Ask([&] {
      EXPECT_EQ(outcome.calls, 1) << server.ToString();
      EXPECT_EQ(static_cast<bool>(outcome.client), outcome.error == 0) << server.ToString();
      connecting.reset();
    });
  }
}

TEST(Connecting, OnceItIsDestroyedNobodyIsCalledAndNothingStaysOpen) {
  Outcome outcome;
  const Socket listener = ListenOn(Anywhere());
  LoopThread loop;
  loop.Ask([&] {
    const int next = NextDescriptor();
    const Connecting connecting(loop.Get(), listener.LocalAddress(), outcome.Callback());
    EXPECT_NE(NextDescriptor(), next);
  });
  loop.Ask([&] {
    const int before = NextDescriptor();
    Connecting(loop.Get(), NobodysAddress(), outcome.Callback());
    EXPECT_EQ(NextDescriptor(), before);
  });
  loop.RunRounds(3);
  loop.Ask([&] { EXPECT_EQ(outcome.calls, 0); });
}

TEST(Connecting, TheCallbackMayDestroyItAndTryAgain) {
  std::vector<int> errors;
  const Socket listener = ListenOn(Anywhere());
  std::unique_ptr<Connecting> connecting;
  LoopThread loop;
  const auto witness = std::make_shared<int>(0);
  loop.Ask([&] {
    connecting = std::make_unique<Connecting>(
        loop.Get(), NobodysAddress(), [&, witness](UniqueFd, int first) {
          connecting = std::make_unique<Connecting>(
              loop.Get(), listener.LocalAddress(),
              [&errors](UniqueFd, int second) { errors.push_back(second); });
          errors.push_back(first + *witness);
        });
  });
  ASSERT_TRUE(loop.Await([&] { return errors.size() == 2; }));
  loop.Ask([&] {
    EXPECT_EQ(errors, (std::vector<int>{ECONNREFUSED, 0}));
    connecting.reset();
  });
}

TEST(Connecting, ACallbackThatThrowsIsLoggedAndLeavesNothingBehind) {
  const test::CapturedStderr captured;
  const Socket listener = ListenOn(Anywhere());
  LoopThread loop;
  int before = 0;
  bool called = false;
  auto connecting = loop.Ask([&] {
    before = NextDescriptor();
    return std::make_unique<Connecting>(loop.Get(), listener.LocalAddress(), [&](UniqueFd, int) {
      called = true;
      throw std::runtime_error("no use for it");
    });
  });
  ASSERT_TRUE(loop.Await([&] { return called; }));
  loop.Ask([&] {
    EXPECT_EQ(NextDescriptor(), before);
    connecting.reset();
  });
  EXPECT_NE(captured.Text().find("no use for it"), std::string::npos) << captured.Text();
}

// A queue that is full makes the kernel of the client wait.
TEST(Connecting, TheLoopServesOthersMeanwhile) {
  Socket listener = ListenOn(Anywhere(), 0);
  const NetAddress server = listener.LocalAddress();
  std::vector<UniqueFd> before;
  for (int i = 0; i < 3; ++i) {
    before.emplace_back(OpenSocket(server.Family(), FdMode::kNonBlocking));
    static_cast<void>(::connect(before.back().Get(), server.Data(), server.Size()));
  }
  Outcome outcome;
  LoopThread loop;
  auto connecting = loop.Ask(
      [&] { return std::make_unique<Connecting>(loop.Get(), server, outcome.Callback()); });
  loop.RunRounds(10);
  loop.Ask([&] { EXPECT_EQ(outcome.calls, 0); });
  NetAddress from;
  std::vector<UniqueFd> taken;
  EXPECT_TRUE(loop.Await([&] {  // the client's kernel tries again after a second
    UniqueFd next(listener.Accept(from));
    if (next) {
      taken.push_back(std::move(next));
    }
    return outcome.calls != 0;
  }));
  loop.Ask([&] {
    EXPECT_EQ(outcome.error, 0);
    connecting.reset();
  });
}

}  // namespace
}  // namespace TURTLE_SERVER
