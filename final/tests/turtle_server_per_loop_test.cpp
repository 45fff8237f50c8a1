// Each loop has a listener: which clients come in by which, which do not, and what happens if the
// number of listeners differs from the number of loops.
#ifdef __linux__

#include <gtest/gtest.h>
#include <sched.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <future>
#include <iterator>
#include <memory>
#include <numeric>
#include <stdexcept>
#include <string>
#include <system_error>
#include <thread>
#include <utility>
#include <vector>

#include "core/reuse_port.h"
#include "core/turtle_server.h"
#include "support/busy.h"
#include "support/client.h"
#include "support/handlers.h"
#include "support/needs_ipv6.h"
#include "support/no_descriptors.h"
#include "support/server_thread.h"

namespace TURTLE_SERVER {
namespace {

using test::Busy;
using test::Client;
using test::ServerThread;

const NetAddress kAnyPort("127.0.0.1", 0);
constexpr int kMany = 64;  // with this many clients, each of three loops gets some

auto PerLoop(std::size_t threads, Accepting accept = Accepting::kPerLoop) -> ServerOptions {
  ServerOptions options;
  options.threads = threads;
  options.accept = accept;
  options.stop_timeout = std::chrono::hours(1);
  options.last_chance = std::chrono::hours(1);
  return options;
}

auto PortOf(const TurtleServer& server) -> int { return server.LocalAddress().Port(); }

using Clients = std::vector<std::unique_ptr<Client>>;

auto Connect(int port, int count) -> Clients {
  Clients clients;
  for (int i = 0; i < count; ++i) {
    clients.push_back(std::make_unique<Client>(port));
    static_cast<void>(clients.back()->Send("hello"));  // a refused client may be closed already
  }
  return clients;
}

auto Served(const Clients& clients) -> int {
  return static_cast<int>(std::count_if(
      clients.begin(), clients.end(),
      [](const std::unique_ptr<Client>& client) { return client->Receive(5) == "hello"; }));
}

// Returns how many clients each loop was given.
auto Added(const TurtleServer& server) -> std::vector<std::uint64_t> {
  std::vector<std::uint64_t> added;
  for (const Looper* looper : server.Loopers()) {
    added.push_back(looper->AddedCount());
  }
  return added;
}

// Runs `question` on a loop. @return its result
template <typename Question>
auto Ask(Looper& looper, Question question) -> decltype(question()) {
  auto task = std::make_shared<std::packaged_task<decltype(question())()>>(std::move(question));
  auto answer = task->get_future();
  if (!looper.Post([task] { (*task)(); }) ||
      answer.wait_for(test::kPatience) != std::future_status::ready) {
    throw std::runtime_error("the loop does not answer");
  }
  return answer.get();
}

auto CopiesOf(const std::vector<int>& fds) -> std::vector<Socket> {
  std::vector<Socket> copies;
  for (const int fd : fds) {
    copies.emplace_back(UniqueFd(::dup(fd)));
  }
  return copies;
}

// Lets in all clients that wait for these listeners. @return how many
auto AcceptAll(std::vector<Socket>& listeners) -> int {
  int count = 0;
  for (Socket& listener : listeners) {
    listener.SetNonBlocking();
    NetAddress client;
    while (UniqueFd(listener.Accept(client))) {
      ++count;
    }
  }
  return count;
}

TEST(PerLoop, EachLoopAcceptsItsOwnClients) {
  TurtleServer server(kAnyPort, PerLoop(3));
  EXPECT_EQ(server.ListenerFds().size(), 3U);
  server.OnHandle(test::Echo);
  const ServerThread running(server);
  const Clients clients = Connect(PortOf(server), kMany);
  EXPECT_EQ(Served(clients), kMany);
  const auto added = Added(server);
  EXPECT_EQ(std::accumulate(added.begin(), added.end(), std::uint64_t{0}), kMany);
  for (const std::uint64_t each : added) {
    EXPECT_GT(each, 0U);
  }
}

TEST(PerLoop, ALoopThatStandsStillKeepsItsOwnClientsWaitingAndIsHandedNoOthers) {
  TurtleServer server(kAnyPort, PerLoop(3));
  server.OnHandle(test::Echo);
  std::vector<Socket> first = CopiesOf({server.ListenerFds().front()});
  const ServerThread running(server);
  const Busy busy(*server.Loopers()[0]);
  const Clients clients = Connect(PortOf(server), kMany);
  const auto others = static_cast<std::uint64_t>(kMany - AcceptAll(first));
  EXPECT_LT(others, std::uint64_t{kMany});
  const auto deadline = std::chrono::steady_clock::now() + test::kPatience / 2;
  while (Added(server)[1] + Added(server)[2] < others) {
    ASSERT_LT(std::chrono::steady_clock::now(), deadline) << "some wait for the first loop";
    std::this_thread::yield();
  }
}

TEST(PerLoop, OneLoopHasOneListenerThatNobodyMayJoin) {
  const TurtleServer server(kAnyPort, PerLoop(1));
  EXPECT_EQ(server.ListenerFds().size(), 1U);
  EXPECT_THROW(static_cast<void>(OpenListeners(server.LocalAddress(), 2)), std::system_error);
}

TEST(PerLoop, ASecondServerIsRefused) {
  const TurtleServer server(kAnyPort, PerLoop(2));
  for (const Accepting accept : {Accepting::kShared, Accepting::kPerLoop}) {
    try {
      const TurtleServer second(server.LocalAddress(), PerLoop(2, accept));
      ADD_FAILURE() << "it would take half of the clients";
    } catch (const std::system_error& error) {
      EXPECT_EQ(std::string(error.what()),
                "bind " + server.LocalAddress().ToString() + ": Address already in use");
    }
  }
}

TEST(PerLoop, OfMoreListenersThanLoopsEachIsServed) {
  TurtleServer server(PerLoop(2));
  server.AlsoListen(OpenListeners(kAnyPort, 5)).OnHandle(test::Echo);
  const ServerThread running(server);
  const Clients clients = Connect(PortOf(server), 2 * kMany);
  EXPECT_EQ(Served(clients), 2 * kMany);
  const std::uint64_t second = Added(server)[1];
  EXPECT_GT(second, 0U);
  EXPECT_GT(Added(server)[0], 0U);

  const Busy busy(*server.Loopers()[0]);
  const Clients later = Connect(PortOf(server), kMany);
  const auto deadline = std::chrono::steady_clock::now() + test::kPatience / 2;
  while (Added(server)[1] == second) {
    ASSERT_LT(std::chrono::steady_clock::now(), deadline) << "the first loop accepts for all";
    std::this_thread::yield();
  }
}

TEST(PerLoop, OfFewerTheFirstLoopHandsOut) {
  TurtleServer server(PerLoop(3));
  server.AlsoListen(OpenListeners(kAnyPort, 2)).OnHandle(test::Echo);
  const ServerThread running(server);
  Clients clients;
  for (int i = 0; i < 30; ++i) {  // one by one, so that each is counted before the next comes
    Clients next = Connect(PortOf(server), 1);
    EXPECT_EQ(Served(next), 1);
    clients.push_back(std::move(next.front()));
  }
  EXPECT_EQ(Added(server), (std::vector<std::uint64_t>{10, 10, 10}));
}

TEST(PerLoop, SharedTheFirstLoopHandsOutHoweverManyThereAre) {
  TurtleServer server(PerLoop(2, Accepting::kShared));
  server.AlsoListen(OpenListeners(kAnyPort, 3)).OnHandle(test::Echo);
  const ServerThread running(server);
  Clients clients;
  for (int i = 0; i < 30; ++i) {
    Clients next = Connect(PortOf(server), 1);
    EXPECT_EQ(Served(next), 1);
    clients.push_back(std::move(next.front()));
  }
  EXPECT_EQ(Added(server), (std::vector<std::uint64_t>{15, 15}));
}

TEST(PerLoop, AnAddressOfOneListenerIsServedBesideByAllLoops) {
  TURTLE_NEEDS_IPV6();
  TurtleServer server(kAnyPort, PerLoop(2));
  auto alone = OpenListeners(NetAddress("::1", 0), 1);
  const int port = alone.front().LocalAddress().Port();
  server.AlsoListen(std::move(alone.front())).OnHandle(test::Echo);
  EXPECT_EQ(server.ListenerFds().size(), 3U);
  const ServerThread running(server);
  Clients by_ipv6;
  for (int i = 0; i < 4; ++i) {  // clients that stay are counted
    by_ipv6.push_back(std::make_unique<Client>(port, "::1"));
    ASSERT_TRUE(by_ipv6.back()->Send("hello"));
    EXPECT_EQ(by_ipv6.back()->Receive(5), "hello");
  }
  EXPECT_EQ(Added(server), (std::vector<std::uint64_t>{2, 2}));
  const Clients by_ipv4 = Connect(PortOf(server), kMany);
  EXPECT_EQ(Served(by_ipv4), kMany);
}

TEST(PerLoop, TheLimitIsOfEachLoop) {
  ServerOptions options = PerLoop(2);
  options.max_connections = 3;
  TurtleServer server(kAnyPort, options);
  server.OnHandle(test::Echo).OnFull([](Connection* client) {
    client->WriteToWriteBuffer("full!");
  });
  const ServerThread running(server);
  Clients clients;
  const auto refused = [&] { return server.GetRefusals().no_room; };
  for (int i = 0; i < 1000 && (refused()[0] == 0 || refused()[1] == 0); ++i) {
    Clients next = Connect(PortOf(server), 1);
    next.front()->Receive(5);  // whatever the response, by now it has been let in or refused
    clients.push_back(std::move(next.front()));
  }
  EXPECT_GT(refused()[0], 0U);
  EXPECT_GT(refused()[1], 0U);
  EXPECT_EQ(clients.size() - refused()[0] - refused()[1], 6U) << "three of each loop";
}

TEST(PerLoop, WhoIsBlockedIsBlockedOnEachLoop) {
  TurtleServer server(kAnyPort, PerLoop(3));
  server.OnHandle(test::Echo).Block(CidrSet({"127.0.0.0/8"}));
  const ServerThread running(server);
  const auto block = [&server](CidrSet addresses) {
    Ask(*server.Loopers().front(), [&] { server.Block(std::move(addresses)); });
    for (Looper* looper : server.Loopers()) {
      Ask(*looper, [] {});  // after the posted block
    }
  };
  const auto let_in = [&server] { return Served(Connect(PortOf(server), kMany)); };
  EXPECT_EQ(let_in(), 0);
  EXPECT_EQ(server.GetRefusals().blocked, std::uint64_t{kMany});
  block(CidrSet());
  EXPECT_EQ(let_in(), kMany);
  block(CidrSet({"127.0.0.1"}));
  EXPECT_EQ(let_in(), 0);
  EXPECT_EQ(server.GetRefusals().blocked, std::uint64_t{2 * kMany});
}

TEST(PerLoop, WithoutDescriptorsEachLoopTriesAgain) {
  TurtleServer server(kAnyPort, PerLoop(3));
  server.OnHandle(test::Echo);
  const ServerThread running(server);
  Clients clients = Connect(PortOf(server), 1);
  EXPECT_EQ(Served(clients), 1);
  std::vector<UniqueFd> unconnected;
  for (int i = 0; i < kMany; ++i) {
    unconnected.emplace_back(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  }
  const NetAddress address = server.LocalAddress();
  {
    const test::NoDescriptors none;
    for (const UniqueFd& fd : unconnected) {
      ASSERT_EQ(::connect(fd.Get(), address.Data(), address.Size()), 0);
    }
    ASSERT_TRUE(clients.front()->Send("still"));
    EXPECT_EQ(clients.front()->Receive(5), "still");
  }
  const auto deadline = std::chrono::steady_clock::now() + test::kPatience;
  const auto added = [&server] {
    const auto each = Added(server);
    return std::accumulate(each.begin(), each.end(), std::uint64_t{0});
  };
  while (added() < kMany + 1) {
    ASSERT_LT(std::chrono::steady_clock::now(), deadline);
    std::this_thread::yield();
  }
}

TEST(PerLoop, StopClosesAllListeners) {
  TurtleServer server(kAnyPort, PerLoop(3));
  server.OnHandle(test::Echo);
  ServerThread running(server);
  EXPECT_EQ(Served(Connect(PortOf(server), 8)), 8);
  server.Stop();
  running.Join();
  EXPECT_EQ(OpenListeners(server.LocalAddress(), 1).size(), 1U) << "the port is free";
}

// All loops of a server stand still, until the first has begun to drain and the others are about to
// follow.
template <typename Connecting>
void DrainWithQueues(TurtleServer& server, ListenQueue queue, const Connecting& connect) {
  std::vector<std::unique_ptr<Busy>> busy;
  for (Looper* looper : server.Loopers()) {
    busy.push_back(std::make_unique<Busy>(*looper));
  }
  connect();
  server.Drain(queue);
  busy.front().reset();
  Ask(*server.Loopers().front(), [] {});  // after the drain
}

constexpr int kTwoBatches = 450;  // of each of three loops, and more

TEST(PerLoop, ADrainEmptiesEachQueue) {
  TurtleServer server(kAnyPort, PerLoop(3));
  server.OnHandle(test::Echo);
  const ServerThread running(server);
  Clients clients;
  DrainWithQueues(server, ListenQueue::kOurs,
                  [&] { clients = Connect(PortOf(server), kTwoBatches); });
  EXPECT_EQ(Served(clients), kTwoBatches);
  clients.clear();
  EXPECT_TRUE(running.EndsWithin(test::kPatience)) << "nobody is left";
}

TEST(PerLoop, ADrainHandsOutWhoCameByTheFirstLoop) {
  TURTLE_NEEDS_IPV6();
  TurtleServer server(kAnyPort, PerLoop(3));
  auto alone = OpenListeners(NetAddress("::1", 0), 1);
  const int port = alone.front().LocalAddress().Port();
  server.AlsoListen(std::move(alone.front())).OnHandle(test::Echo);
  const ServerThread running(server);
  Clients clients;
  DrainWithQueues(server, ListenQueue::kOurs, [&] {
    for (int i = 0; i < kMany; ++i) {
      clients.push_back(std::make_unique<Client>(port, "::1"));
      EXPECT_TRUE(clients.back()->Send("hello"));
    }
  });
  EXPECT_EQ(Served(clients), kMany);
  for (const std::uint64_t each : Added(server)) {
    EXPECT_GT(each, 0U) << "none ends before it has got its part";
  }
  clients.clear();
  EXPECT_TRUE(running.EndsWithin(test::kPatience));
}

TEST(PerLoop, QueuesThatAreHandedOverAreLeftToWhoHasThem) {
  TurtleServer server(kAnyPort, PerLoop(3));
  server.OnHandle(test::Echo);
  std::vector<Socket> successors = CopiesOf(server.ListenerFds());
  const ServerThread running(server);
  DrainWithQueues(server, ListenQueue::kHandedOver,
                  [&] { static_cast<void>(Connect(PortOf(server), kTwoBatches)); });
  EXPECT_TRUE(running.EndsWithin(test::kPatience));
  const auto added = Added(server);  // a loop may let a batch in before it learns of the drain
  const int let_in =
      static_cast<int>(std::accumulate(added.begin(), added.end(), std::uint64_t{0}));
  const int left = AcceptAll(successors);
  EXPECT_EQ(left + let_in, kTwoBatches);
  EXPECT_GT(left, kTwoBatches / 3);
}

auto PreferredBy(const Socket& listener) -> int {
  int cpu = -2;
  socklen_t size = sizeof cpu;
  ::getsockopt(listener.GetFd(), SOL_SOCKET, SO_INCOMING_CPU, &cpu, &size);
  return cpu;
}

TEST(PerCpu, EachLoopKeepsToTheCpuThatItsListenerPrefers) {
  TurtleServer server(kAnyPort, PerLoop(2, Accepting::kPerCpu));
  server.OnHandle(test::Echo);
  const std::vector<Socket> listeners = CopiesOf(server.ListenerFds());
  const ServerThread running(server);
  for (std::size_t i = 0; i < 2; ++i) {
    const int cpu = Ask(*server.Loopers()[i], [] {
      cpu_set_t set;
      EXPECT_EQ(::sched_getaffinity(0, sizeof set, &set), 0);
      EXPECT_EQ(CPU_COUNT(&set), 1);
      return ::sched_getcpu();
    });
    EXPECT_EQ(PreferredBy(listeners[i]), cpu);
  }
  EXPECT_EQ(Served(Connect(PortOf(server), kMany)), kMany);
}

TEST(PerCpu, AListenerThatWasLeftForgetsItsCpuUnlessItIsWanted) {
  for (const Accepting accept : {Accepting::kShared, Accepting::kPerLoop}) {
    auto listeners = OpenListeners(kAnyPort, 2);
    static_cast<void>(PreferThisCpu(listeners[0].GetFd()));
    const std::vector<Socket> copies = CopiesOf({listeners[0].GetFd()});
    ASSERT_GE(PreferredBy(copies[0]), 0);
    TurtleServer server(PerLoop(2, accept));
    server.AlsoListen(std::move(listeners)).OnHandle(test::Echo);
    EXPECT_GE(PreferredBy(copies[0]), 0) << "it does not run yet";
    const ServerThread running(server);
    EXPECT_EQ(Served(Connect(PortOf(server), 1)), 1);
    Ask(*server.Loopers()[0], [] {});
    EXPECT_EQ(PreferredBy(copies[0]), -1);
  }
}

}  // namespace
}  // namespace TURTLE_SERVER

#endif  // __linux__
