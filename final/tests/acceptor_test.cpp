// Accepting on one loop for several.
#include "core/acceptor.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/socket.h>

#include <array>
#include <atomic>
#include <chrono>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <stdexcept>
#include <string>
#include <system_error>
#include <thread>
#include <utility>
#include <vector>

#include "support/captured_stderr.h"
#include "support/client.h"
#include "support/handlers.h"
#include "support/loop_thread.h"
#include "support/manual_clock.h"
#include "support/no_descriptors.h"
#include "support/tcp_pair.h"

namespace TURTLE_SERVER {
namespace {

using std::chrono::milliseconds;
using test::Client;
using test::Echo;
using test::LoopThread;
using test::ManualClock;
using test::TcpPair;

void Welcome(Connection* connection) { connection->WriteToWriteBuffer("welcome"); }

auto Listening(const std::string& ip = "127.0.0.1") -> Socket {
  Socket listener;
  listener.Bind(NetAddress(ip, 0));
  listener.Listen();
  return listener;
}

auto HasIpv6() -> bool {
  try {
    Listening("::1");
    return true;
  } catch (const std::system_error&) {
    return false;
  }
}

// An acceptor on the first of `loops`, for all of them.
class Accepting {
 public:
  Accepting(const std::vector<LoopThread*>& loops, const ConnectionCallbacks& callbacks,
            ListenOptions options = {}, const std::string& ip = "127.0.0.1")
      : home_(*loops.front()) {
    std::vector<Looper*> targets;
    for (LoopThread* loop : loops) {
      targets.push_back(&loop->Get());
    }
    Socket listener = Listening(ip);
    port_ = listener.LocalAddress().Port();
    listener_fd_ = listener.GetFd();
    acceptor_.emplace(home_.Get(), std::move(listener), targets, callbacks, options);
    home_.Ask([this] { acceptor_->Start(); });
  }

  Accepting(const Accepting&) = delete;
  auto operator=(const Accepting&) -> Accepting& = delete;

  ~Accepting() { Stop(); }

  void Stop() {
    home_.Ask([this] { acceptor_->Stop(); });
  }

  auto Port() const -> int { return port_; }
  auto ListenerFd() const -> int { return listener_fd_; }

 private:
  LoopThread& home_;
  int port_ = 0;
  int listener_fd_ = -1;
  std::optional<Acceptor> acceptor_;
};

TEST(Acceptor, GivesEachLoopAsMany) {
  std::mutex mutex;
  std::set<std::thread::id> threads;
  const ConnectionCallbacks callbacks{[&](Connection* connection) {
                                        Welcome(connection);
                                        const std::lock_guard lock(mutex);
                                        threads.insert(std::this_thread::get_id());
                                      },
                                      Echo};
  std::array<LoopThread, 3> loops;
  const Accepting accepting({&loops[0], &loops[1], &loops[2]}, callbacks);
  std::vector<Client> clients;
  for (int i = 0; i < 15; ++i) {
    clients.emplace_back(accepting.Port());
    ASSERT_EQ(clients.back().Receive(7), "welcome");
  }
  for (LoopThread& loop : loops) {
    EXPECT_EQ(loop.Get().ConnectionCount(), 5U);
    EXPECT_EQ(threads.count(loop.ThreadId()), 1U) << "welcomed on the loop's own thread";
  }
  for (Client& client : clients) {
    ASSERT_TRUE(client.Send("hello"));
    EXPECT_EQ(client.Receive(5), "hello");
  }
}

TEST(Acceptor, DealsOutACrowdOfOneBatch) {
  const ConnectionCallbacks callbacks{Welcome, Echo};
  std::array<LoopThread, 3> loops;
  const Accepting accepting({&loops[0], &loops[1], &loops[2]}, callbacks);
  std::vector<Client> crowd;
  loops[0].WhileItStandsStill([&] {
    for (int i = 0; i < 12; ++i) {
      crowd.emplace_back(accepting.Port());
    }
  });
  for (Client& client : crowd) {
    ASSERT_EQ(client.Receive(7), "welcome");
  }
  for (LoopThread& loop : loops) {
    EXPECT_EQ(loop.Get().ConnectionCount(), 4U);
  }
}

// While clients are on their way to a busy loop, they already count as part of its load.
TEST(Acceptor, CountsTheClientsThatALoopHasNotSeenYet) {
  const ConnectionCallbacks callbacks{Welcome, Echo};
  std::array<LoopThread, 2> loops;
  const Accepting accepting({&loops[0], &loops[1]}, callbacks);
  std::vector<Client> clients;
  loops[1].WhileItStandsStill([&] {
    for (int i = 0; i < 10; ++i) {  // one batch each, or several together, as it happens
      clients.emplace_back(accepting.Port());
      loops[0].RunRounds(1);
    }
    EXPECT_EQ(clients.front().Receive(7), "welcome");
  });
  for (std::size_t i = 1; i < clients.size(); ++i) {
    ASSERT_EQ(clients[i].Receive(7), "welcome");
  }
  EXPECT_EQ(loops[0].Get().ConnectionCount(), 5U);
  EXPECT_EQ(loops[1].Get().ConnectionCount(), 5U);
}

TEST(Acceptor, FillsTheLoopThatHasBeenLeft) {
  const ConnectionCallbacks callbacks{Welcome, Echo};
  std::array<LoopThread, 2> loops;
  const Accepting accepting({&loops[0], &loops[1]}, callbacks);
  std::vector<Client> clients;
  const auto connect = [&](int count) {
    for (int i = 0; i < count; ++i) {
      clients.emplace_back(accepting.Port());
      ASSERT_EQ(clients.back().Receive(7), "welcome");
    }
  };
  connect(6);
  loops[1].Ask([&] {
    loops[1].Get().ForEachConnection(
        [&](Connection* connection) { loops[1].Get().DeleteConnection(connection->GetFd()); });
  });
  ASSERT_TRUE(loops[1].Await([&] { return loops[1].Get().ConnectionCount() == 0; }));
  connect(3);
  EXPECT_EQ(loops[0].Get().ConnectionCount(), 3U);
  EXPECT_EQ(loops[1].Get().ConnectionCount(), 3U);
}

// A crowd arrives: connected clients are served between two batches.
TEST(Acceptor, ABatchLetsTheOthersHaveTheirTurn) {
  std::string order;
  const ConnectionCallbacks callbacks{[&](Connection*) { order += 'a'; },
                                      [&](Connection* connection) {
                                        if (connection->Recv().read != 0) {
                                          order += 'x';
                                          connection->ClearReadBuffer();
                                        }
                                      }};
  LoopThread loop;
  ListenOptions options;
  options.batch = 4;
  const Accepting accepting({&loop}, callbacks, options);
  ConnectionId id{};
  Client inside = loop.Connect(callbacks, &id);
  loop.RunRounds(2);
  loop.Ask([&] { order.clear(); });
  std::vector<Client> crowd;
  loop.WhileItStandsStill([&] {
    for (int i = 0; i < 10; ++i) {
      crowd.emplace_back(accepting.Port());
    }
    ASSERT_TRUE(inside.Send("hello"));
    ASSERT_TRUE(test::AwaitBytes(id.fd, 5));
  });
  ASSERT_TRUE(loop.Await([&] { return order.size() == 11; }));
  loop.Ask([&] { EXPECT_EQ(order, "aaaaxaaaaaa"); });
}

auto Count(const std::string& text, const std::string& what) -> int {
  int count = 0;
  for (std::size_t at = text.find(what); at != std::string::npos; at = text.find(what, at + 1)) {
    ++count;
  }
  return count;
}

// The listener stays readable, so a loop that tried again at once would do nothing else.
TEST(Acceptor, OutOfDescriptorsItRestsAndTriesAgain) {
  ManualClock clock;
  const test::CapturedStderr captured;
  const ConnectionCallbacks callbacks{Welcome, Echo};
  LoopThread loop(clock.Source());
  const Accepting accepting({&loop}, callbacks);
  Client inside(accepting.Port());
  ASSERT_EQ(inside.Receive(7), "welcome");
  std::optional<test::NoDescriptors> none;
  std::vector<Client> outside;
  loop.WhileItStandsStill([&] {
    outside.emplace_back(accepting.Port());
    outside.emplace_back(accepting.Port());
    none.emplace();
  });
  for (int i = 0; i < 50; ++i) {
    loop.RunRounds(1);
    ASSERT_TRUE(inside.Send("hello"));
    ASSERT_EQ(inside.Receive(5), "hello") << "those connected notice nothing";
  }
  const std::string failure = "accept at 127.0.0.1:" + std::to_string(accepting.Port()) +
                              ": Too many open files; again in 100 ms";
  EXPECT_EQ(Count(captured.Text(), failure), 1) << captured.Text();
  clock.Advance(milliseconds(99), loop);
  for (int i = 0; i < 9; ++i) {
    clock.Advance(milliseconds(100), loop);
    loop.RunRounds(10);
  }
  EXPECT_EQ(Count(captured.Text(), failure), 1) << "a line a second";
  clock.Advance(milliseconds(100), loop);
  loop.RunRounds(10);
  EXPECT_EQ(Count(captured.Text(), failure), 2);

  none.reset();
  loop.RunRounds(10);
  EXPECT_EQ(loop.Get().ConnectionCount(), 1U);
  clock.Advance(milliseconds(100), loop);
  for (Client& client : outside) {
    EXPECT_EQ(client.Receive(7), "welcome") << "it has waited in the backlog";
  }
}

// Any process that has inherited a listener can shut it down: from then on accept(2) returns
// EINVAL.
TEST(Acceptor, AListenerThatWasShutDownIsRestedOnAndLogged) {
  ManualClock clock;
  const test::CapturedStderr captured;
  const ConnectionCallbacks callbacks{Welcome, Echo};
  std::atomic<int> rounds{0};
  LoopThread loop([&rounds, now = clock.Source()] {
    ++rounds;
    return now();
  });
  const Accepting accepting({&loop}, callbacks);
  Client inside(accepting.Port());
  ASSERT_EQ(inside.Receive(7), "welcome");
  loop.WhileItStandsStill([&] { ::shutdown(accepting.ListenerFd(), SHUT_RDWR); });
  const std::string failure =
      "accept at 127.0.0.1:" + std::to_string(accepting.Port()) + ": Invalid argument";
  loop.RunRounds(5);
  EXPECT_EQ(Count(captured.Text(), failure), 1) << captured.Text();
  const int before = rounds;
  LoopThread other;
  other.RunRounds(200);
  EXPECT_LT(rounds - before, 100) << "it spins";
  for (int i = 0; i < 20; ++i) {
    clock.Advance(milliseconds(100), loop);
  }
  loop.RunRounds(5);
  EXPECT_EQ(Count(captured.Text(), failure), 3) << captured.Text();
  ASSERT_TRUE(inside.Send("hello"));
  EXPECT_EQ(inside.Receive(5), "hello");
}

TEST(Acceptor, MayGoWhileItRests) {
  ManualClock clock;
  const test::CapturedStderr captured;
  const ConnectionCallbacks callbacks{Welcome, Echo};
  LoopThread loop(clock.Source());
  auto accepting = std::make_unique<Accepting>(std::vector<LoopThread*>{&loop}, callbacks);
  Client inside(accepting->Port());
  ASSERT_EQ(inside.Receive(7), "welcome");
  std::optional<Client> outside;
  {
    std::optional<test::NoDescriptors> none;
    loop.WhileItStandsStill([&] {
      outside.emplace(accepting->Port());
      none.emplace();
    });
    loop.RunRounds(2);
    ASSERT_EQ(Count(captured.Text(), "Too many open files"), 1);
    accepting.reset();
  }
  clock.Advance(milliseconds(100), loop);  // no client is left that could try again
  outside->ReceiveAll();
  EXPECT_TRUE(outside->Ended() || outside->WasReset());
  ASSERT_TRUE(inside.Send("hello"));
  EXPECT_EQ(inside.Receive(5), "hello");
}

TEST(Acceptor, StopClosesTheDoorAndNothingElse) {
  const ConnectionCallbacks callbacks{Welcome, Echo};
  LoopThread loop;
  Accepting accepting({&loop}, callbacks);
  Client inside(accepting.Port());
  ASSERT_EQ(inside.Receive(7), "welcome");
  accepting.Stop();
  EXPECT_THROW(Client late(accepting.Port()), std::system_error);
  accepting.Stop();
  ASSERT_TRUE(inside.Send("hello"));
  EXPECT_EQ(inside.Receive(5), "hello");
}

TEST(Acceptor, AClientOnItsWayIsHandedOverThoughTheAcceptorGoes) {
  const ConnectionCallbacks callbacks{Welcome, Echo};
  std::array<LoopThread, 2> loops;
  std::optional<Accepting> accepting;
  accepting.emplace(std::vector<LoopThread*>{&loops[0], &loops[1]}, callbacks);
  std::vector<Client> clients;
  loops[1].WhileItStandsStill([&] {
    loops[0].WhileItStandsStill([&] {
      clients.emplace_back(accepting->Port());
      clients.emplace_back(accepting->Port());
    });
    EXPECT_EQ(clients.front().Receive(7), "welcome");
    accepting.reset();
  });
  EXPECT_EQ(clients.back().Receive(7), "welcome");
}

// Another party, here a watch of the same round, has taken the client that the event announced. On
// a blocking listener, accept(2) would then wait for the next client, and stop the whole loop.
TEST(Acceptor, DoesNotWaitForAClientWhoHasGone) {
  const ConnectionCallbacks callbacks{Welcome, Echo};
  TcpPair bell = test::MakeTcpPair();
  UniqueFd taken;
  LoopThread loop;
  const Accepting accepting({&loop}, callbacks);
  EXPECT_NE(::fcntl(accepting.ListenerFd(), F_GETFL) & O_NONBLOCK, 0);
  loop.Ask([&] {
    loop.Get().Watch(bell.server.GetFd(), Interest::kRead | Interest::kEdge, [&](const PollEvent&) {
      taken.Reset(::accept(accepting.ListenerFd(), nullptr, nullptr));
    });
  });
  loop.RunRounds(2);  // an edge for the state that the watch found when it began
  std::optional<Client> client;
  loop.WhileItStandsStill([&] {
    ASSERT_TRUE(bell.client.Send("x"));
    ASSERT_TRUE(test::AwaitBytes(bell.server.GetFd(), 1));
    client.emplace(accepting.Port());
  });
  loop.RunRounds(2);
  loop.Ask([&] { EXPECT_TRUE(taken) << "the watch came too late, and this test tested nothing"; });
  Client next(accepting.Port());
  EXPECT_EQ(next.Receive(7), "welcome");
}

TEST(Acceptor, AClientThatResetsInTheBacklogHurtsNobody) {
  const ConnectionCallbacks callbacks{Welcome, Echo};
  LoopThread loop;
  const Accepting accepting({&loop}, callbacks);
  loop.WhileItStandsStill([&] {
    Client leaves(accepting.Port());
    leaves.Reset();
  });
  Client next(accepting.Port());
  EXPECT_EQ(next.Receive(7), "welcome");
  EXPECT_TRUE(loop.Await([&] { return loop.Get().ConnectionCount() == 1; }));
}

TEST(Acceptor, AClientForALoopThatHasEndedIsClosed) {
  const ConnectionCallbacks callbacks{Welcome, Echo};
  std::array<LoopThread, 2> loops;
  const Accepting accepting({&loops[0], &loops[1]}, callbacks);
  loops[1].Get().Stop();
  loops[1].Join();
  Client first(accepting.Port());
  EXPECT_EQ(first.Receive(7), "welcome");
  Client second(accepting.Port());
  EXPECT_EQ(second.ReceiveAll(), "");
  EXPECT_TRUE(second.Ended() || second.WasReset());
  Client third(accepting.Port());
  EXPECT_EQ(third.Receive(7), "welcome");
}

TEST(Acceptor, AcceptsOverIpv6) {
  if (!HasIpv6()) {
    GTEST_SKIP() << "this machine has no IPv6";
  }
  int family = 0;
  const ConnectionCallbacks callbacks{[&](Connection* connection) {
                                        family = connection->GetPeerAddress().Family();
                                        Welcome(connection);
                                      },
                                      Echo};
  LoopThread loop;
  const Accepting accepting({&loop}, callbacks, {}, "::1");
  Client client(accepting.Port(), "::1");
  EXPECT_EQ(client.Receive(7), "welcome");
  loop.Ask([&] { EXPECT_EQ(family, AF_INET6); });
}

TEST(Acceptor, NeedsALoopToHandClientsTo) {
  const ConnectionCallbacks callbacks{Welcome, Echo};
  Looper home;
  EXPECT_THROW(Acceptor(home, Listening(), {}, callbacks), std::logic_error);
}

}  // namespace
}  // namespace TURTLE_SERVER
