#include "udp/udp_server.h"

#include <gtest/gtest.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <set>
#include <stdexcept>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include "support/captured_stderr.h"
#include "support/loop_thread.h"
#include "support/manual_clock.h"
#include "support/needs_ipv6.h"
#include "support/udp_client.h"

namespace TURTLE_SERVER {
namespace {

using test::LoopThread;
using test::UdpClient;

const NetAddress kLocal("127.0.0.1", 0);

// A server on its own loop.
class Served {
 public:
  explicit Served(const UdpOptions& options = {}, const NetAddress& local = kLocal,
                  ClockSource clock = Clock::now)
      : loop_(std::move(clock)),
        server_(std::make_unique<UdpServer>(loop_.Get(), local, options)) {}

  explicit Served(UdpSocket socket, const UdpOptions& options = {})
      : server_(std::make_unique<UdpServer>(loop_.Get(), std::move(socket), options)) {}

  ~Served() {
    loop_.Ask([this] { server_.reset(); });
  }

  Served(const Served&) = delete;
  auto operator=(const Served&) -> Served& = delete;

  void Start(DatagramCallback callback) {
    loop_.Ask([this, callback = std::move(callback)]() mutable {
      server_->OnDatagram(std::move(callback)).Start();
    });
  }

  void Echo() {
    Start([this](const Datagram& asked) { server_->Reply(asked, asked.payload); });
  }

  [[nodiscard]] auto Get() -> UdpServer& { return *server_; }
  [[nodiscard]] auto Loop() -> LoopThread& { return loop_; }
  [[nodiscard]] auto Address() -> NetAddress { return server_->LocalAddress(); }
  [[nodiscard]] auto Figures() -> UdpFigures {
    return loop_.Ask([this] { return server_->Figures(); });
  }

 private:
  LoopThread loop_;
  std::unique_ptr<UdpServer> server_;
};

class UdpServerTest : public testing::TestWithParam<const char*> {
 protected:
  void SetUp() override {
    if (std::string(GetParam()) == "::1") {
      TURTLE_NEEDS_IPV6();
    }
  }
};

INSTANTIATE_TEST_SUITE_P(Families, UdpServerTest, testing::Values("127.0.0.1", "::1"),
                         [](const auto& family) {
                           return std::string(family.index == 0 ? "Ipv4" : "Ipv6");
                         });

TEST_P(UdpServerTest, AnswersEachDatagram) {
  Served served({}, NetAddress(GetParam(), 0));
  served.Echo();
  UdpClient client(served.Address());
  for (const std::string text : {"hello", "", "again"}) {
    EXPECT_EQ(client.Ask(text), text);
  }
  const UdpFigures figures = served.Figures();
  EXPECT_EQ(figures.received, 3U);
  EXPECT_EQ(figures.sent, 3U);
  EXPECT_EQ(figures.truncated + figures.dropped + figures.failed + figures.errors, 0U);
}

TEST_P(UdpServerTest, TheLargestThereIs) {
  UdpOptions options;
  options.max_payload = kMaxUdpPayload;
  Served served(options, NetAddress(GetParam(), 0));
  served.Echo();
  UdpClient client(served.Address());
  const std::string text(kMaxUdpPayload, 'x');
  EXPECT_EQ(client.Ask(text), text);
}

TEST_P(UdpServerTest, AReplyLeavesFromTheAddressThatWasAsked) {
  UdpOptions options;
  options.report_destination = true;
  const bool v6 = std::string(GetParam()) == "::1";
  Served served(options, NetAddress(v6 ? "::" : "0.0.0.0", 0));
  served.Echo();
  const int port = served.Address().Port();
  UdpClient client(NetAddress(GetParam(), port));
  EXPECT_EQ(client.Ask("hello"), "hello");
#ifdef __linux__
  if (!v6) {
    UdpClient other(NetAddress("127.0.0.2", port));  // takes a response only from there
    EXPECT_EQ(other.Ask("hello"), "hello");
  }
#endif
}

TEST(UdpServer, ABatchIsARound) {
  UdpOptions options;
  options.batch = 4;
  Served served(options);
  std::vector<std::size_t> queued;
  served.Start([&](const Datagram& asked) {
    queued.push_back(served.Get().Queued());
    served.Get().Reply(asked, asked.payload);
  });
  UdpClient client(served.Address());
  served.Loop().WhileItStandsStill([&] {
    for (int i = 0; i < 10; ++i) {
      ASSERT_TRUE(client.Send(std::to_string(i)));
    }
  });
  for (int i = 0; i < 10; ++i) {
    ASSERT_EQ(client.Receive(), std::to_string(i));
  }
  served.Loop().RunRounds(1);
  // The responses to four datagrams wait for one call; those of the fourth and the fifth never go
  // together.
  EXPECT_EQ(queued, (std::vector<std::size_t>{0, 1, 2, 3, 0, 1, 2, 3, 0, 1}));
}

TEST(UdpServer, ANeighbourHasItsTurnAfterEachBatch) {
  UdpOptions options;
  options.batch = 4;
  constexpr std::uint64_t kFlood = 100;
  std::vector<char> order;
  bool asked = false;
  ConnectionCallbacks neighbour;  // the loop calls it to its end
  Served served(options);
  served.Start([&](const Datagram&) { order.push_back('u'); });
  neighbour.on_handle = [&](Connection* client) {
    const auto [read, exit] = client->Recv();
    if (exit) {
      client->GetLooper()->DeleteConnection(client->GetFd());
      return;
    }
    client->ClearReadBuffer();
    asked = asked || read != 0;
    if (asked && served.Get().Figures().received < kFlood) {  // has always more to do
      order.push_back('t');
      client->GetLooper()->Schedule(client);
    }
  };
  UdpClient flood(served.Address());
  {
    test::Client tcp = served.Loop().Connect(neighbour);
    served.Loop().WhileItStandsStill([&] {
      for (std::uint64_t i = 0; i < kFlood; ++i) {
        ASSERT_TRUE(flood.Send("x"));
      }
      ASSERT_TRUE(tcp.Send("x"));
    });
    ASSERT_TRUE(served.Loop().Await([&] { return served.Get().Figures().received == kFlood; }));
  }
  // Between two of its turns there is never more than a batch, once it has had its first.
  const std::string turns =
      served.Loop().Ask([&] { return std::string(order.begin(), order.end()); });
  const std::size_t first = turns.find('t');
  ASSERT_LE(first, 8U) << turns;
  EXPECT_EQ(turns.find("uuuuu", first), std::string::npos) << turns;
}

TEST(UdpServer, TruncatedDatagramsAreGivenAndCounted) {
  UdpOptions options;
  options.max_payload = 4;
  Served served(options);
  served.Start(
      [&](const Datagram& asked) { served.Get().Reply(asked, asked.truncated ? "cut" : "ok"); });
  UdpClient client(served.Address());
  EXPECT_EQ(client.Ask("1234"), "ok");
  EXPECT_EQ(client.Ask("12345"), "cut");
  EXPECT_EQ(served.Figures().truncated, 1U);
}

TEST(UdpServer, WhatCannotBeSentIsCountedAndTheRestLeaves) {
  UdpOptions options;
  options.max_payload = 70'000;
  Served served(options);
  served.Start([&](const Datagram& asked) {
    UdpServer& server = served.Get();
    EXPECT_TRUE(server.Reply(asked, "one"));
    EXPECT_TRUE(server.Reply(asked, std::string(70'000, 'x')));   // for the kernel to refuse
    EXPECT_FALSE(server.Reply(asked, std::string(70'001, 'x')));  // for us
    EXPECT_TRUE(server.Send("x", NetAddress("::1", 9)));          // wrong family
    EXPECT_TRUE(server.Send("x", NetAddress("127.0.0.1", 0)));    // no port
    EXPECT_TRUE(server.Reply(asked, "two"));
  });
  UdpClient client(served.Address());
  ASSERT_TRUE(client.Send("?"));
  EXPECT_EQ(client.Receive(), "one");
  EXPECT_EQ(client.Receive(), "two");
  const UdpFigures figures = served.Figures();
  EXPECT_EQ(figures.sent, 2U);
  EXPECT_EQ(figures.failed, 4U);
}

TEST(UdpServer, APeerThatHasGoneIsNoOnesTrouble) {
  Served served;
  served.Echo();
  NetAddress gone_address;
  {
    UdpClient gone(served.Address());
    served.Loop().WhileItStandsStill([&] { ASSERT_TRUE(gone.Send("bye")); });
    gone_address = gone.Address();
  }
  for (int i = 0; i < 3; ++i) {
    served.Loop().Ask([&] { EXPECT_TRUE(served.Get().Send("anybody?", gone_address)); });
    UdpClient client(served.Address());
    EXPECT_EQ(client.Ask("still there?"), "still there?");
  }
}

TEST(UdpServer, IcmpIsNotTheEndOfAConnectedOne) {
  UdpSocket peer;
  peer.Bind(kLocal);
  const NetAddress address = peer.LocalAddress();
  UdpSocket socket;
  socket.Connect(address);
  peer = UdpSocket();
  Served served(std::move(socket));
  served.Echo();
  served.Loop().Ask([&] { EXPECT_TRUE(served.Get().Send("anybody?", NetAddress())); });
  ASSERT_TRUE(served.Loop().Await([&] { return served.Get().Figures().errors == 1; }));
  UdpSocket back;
  back.Bind(address);
  ASSERT_EQ(back.Send("here I am", served.Address()).status, IoStatus::kBytes);
  ASSERT_TRUE(test::AwaitDatagram(back));
  DatagramBatch batch(1, 32);
  EXPECT_EQ(back.ReceiveMany(batch).count, 1U);
}

// A connected socket reports what ICMP said about one datagram when it is given the next, which is
// then not sent.
TEST(UdpServer, NewsOfAnEarlierDatagramCostsNoneThatFollows) {
  UdpSocket peer;
  peer.Bind(kLocal);
  const NetAddress address = peer.LocalAddress();
  UdpSocket socket;
  socket.Connect(address);
  peer = UdpSocket();
  UdpOptions options;
  options.queue = 1;
  Served served(std::move(socket), options);
  served.Start([](const Datagram&) {});
  UdpSocket back;
  served.Loop().Ask([&] {
    EXPECT_TRUE(served.Get().Send("nobody hears this", {}));
    EXPECT_TRUE(served.Get().Send("this is heard", {}));  // the first leaves, to make room
    back.Bind(address);
  });
  ASSERT_TRUE(test::AwaitDatagram(back));
  DatagramBatch batch(2, 32);
  ASSERT_EQ(back.ReceiveMany(batch).count, 1U);
  EXPECT_EQ(batch[0].payload, "this is heard");
  EXPECT_EQ(served.Figures().sent, 2U);
  EXPECT_EQ(served.Figures().failed, 0U);
  EXPECT_EQ(served.Figures().errors, 1U);
}

// A socket that was shut down from outside is readable forever, and yields nothing.
TEST(UdpServer, ASocketThatWasShutDownIsRestedOnAndLogged) {
  const test::CapturedStderr captured;
  std::atomic<int> rounds{0};
  test::ManualClock clock;
  LoopThread loop([&rounds, now = clock.Source()] {
    ++rounds;
    return now();
  });
  UdpSocket socket;
  socket.Bind(kLocal);
  const int fd = socket.GetFd();
  UdpServer server(loop.Get(), std::move(socket));
  loop.Ask([&] {
    server.OnDatagram([](const Datagram&) {}).Start();
    ::shutdown(fd, SHUT_RDWR);
  });
  loop.RunRounds(5);
  EXPECT_NE(captured.Text().find("receive at " + server.LocalAddress().ToString() + ": "),
            std::string::npos)
      << captured.Text();
  const int before = rounds;
  LoopThread other;
  other.RunRounds(200);
  EXPECT_LT(rounds - before, 100) << "it spins";
  loop.Ask([&] { server.Stop(); });
}

TEST(UdpServer, WhoIsLateAtASharedSocketFindsNothing) {
  UdpSocket socket;
  socket.Bind(kLocal);
  const NetAddress address = socket.LocalAddress();
  UdpSocket same{UniqueFd(::dup(socket.GetFd()))};
  LoopThread loop;
  UdpServer first(loop.Get(), std::move(socket));
  UdpServer second(loop.Get(), std::move(same));
  loop.Ask([&] {
    first.OnDatagram([](const Datagram&) {}).Start();
    second.OnDatagram([](const Datagram&) {}).Start();
  });
  UdpClient client(address);
  for (std::uint64_t i = 1; i <= 20; ++i) {  // both are woken for each
    ASSERT_TRUE(client.Send("x"));
    ASSERT_TRUE(
        loop.Await([&] { return first.Figures().received + second.Figures().received == i; }));
  }
  loop.Ask([&] {
    EXPECT_EQ(first.Figures().errors + second.Figures().errors, 0U);
    first.Stop();
    second.Stop();
  });
}

// A pair of Unix sockets: unlike the network, the kernel lets the sender know that there is no
// room.
class Refusing {
 public:
  Refusing() {
    int pair[2];
    if (::socketpair(AF_UNIX, SOCK_DGRAM, 0, pair) != 0) {
      throw std::system_error(errno, std::generic_category(), "socketpair");
    }
    ours_ = UdpSocket(UniqueFd(pair[0]));
    theirs_ = UdpSocket(UniqueFd(pair[1]));
    while (ours_.Send("before").status == IoStatus::kBytes) {
      ++before_;
    }
  }

  /// The server's end, which takes nothing more.
  auto Take() -> UdpSocket { return std::move(ours_); }

  /// Reads datagrams that were sent before the server had it.
  void MakeRoom() {
    DatagramBatch batch(before_, 16);
    EXPECT_EQ(theirs_.ReceiveMany(batch).count, before_);
  }

  /// Returns the next datagram, "" if none comes.
  auto Read() -> std::string {
    std::array<char, 64> bytes;
    NetAddress peer;
    if (!test::AwaitDatagram(theirs_)) {
      return "";
    }
    return {bytes.data(), theirs_.Receive(bytes.data(), bytes.size(), peer).bytes};
  }

  /// Sends to the server.
  auto Ask(std::string_view text) -> bool { return theirs_.Send(text).status == IoStatus::kBytes; }

 private:
  UdpSocket ours_;
  UdpSocket theirs_;
  std::size_t before_ = 0;
};

TEST(UdpServer, WhatTheKernelDoesNotTakeWaitsUpToTheBound) {
  constexpr std::size_t kBound = 5;
  Refusing peer;
  UdpOptions options;
  options.queue = kBound;
  Served served(peer.Take(), options);
  served.Start([](const Datagram&) {});
  UdpServer& server = served.Get();
  served.Loop().Ask([&] { EXPECT_TRUE(server.Send("0", {})); });
  served.Loop().RunRounds(2);  // the kernel has refused it by now
  served.Loop().Ask([&] {
    for (std::size_t i = 1; i < kBound; ++i) {
      EXPECT_TRUE(server.Send(std::to_string(i), {}));
    }
    EXPECT_EQ(server.Queued(), kBound);
    EXPECT_EQ(server.Figures().dropped, 0U);
    EXPECT_FALSE(server.Send("one too many", {}));
    EXPECT_EQ(server.Figures().dropped, 1U);
    EXPECT_EQ(server.Queued(), kBound);
  });
  peer.MakeRoom();
  for (std::size_t i = 0; i < kBound; ++i) {
    ASSERT_EQ(peer.Read(), std::to_string(i));
  }
  served.Loop().Ask([&] { EXPECT_TRUE(server.Send("and on", {})); });
  EXPECT_EQ(peer.Read(), "and on");
  EXPECT_EQ(served.Figures().sent, kBound + 1);
}

TEST(UdpServer, ReceivesWhileNothingCanBeSent) {
  Refusing peer;
  UdpOptions options;
  options.queue = 2;
  Served served(peer.Take(), options);
  served.Echo();
  for (std::uint64_t i = 1; i <= 10; ++i) {
    ASSERT_TRUE(peer.Ask(std::to_string(i)));
    ASSERT_TRUE(served.Loop().Await([&] { return served.Get().Figures().received == i; }));
  }
  EXPECT_EQ(served.Figures().dropped, 8U);
  peer.MakeRoom();
  EXPECT_EQ(peer.Read(), "1");
  EXPECT_EQ(peer.Read(), "2");
}

TEST(UdpServer, WhatHadNoRoomBeforeStartLeavesAfterIt) {
  Refusing peer;
  Served served(peer.Take());
  served.Loop().Ask([&] { EXPECT_TRUE(served.Get().Send("early", {})); });
  served.Loop().RunRounds(2);  // the kernel has refused it by now
  served.Start([](const Datagram&) {});
  peer.MakeRoom();
  EXPECT_EQ(peer.Read(), "early");
}

TEST(UdpServer, StopDropsWhatTheKernelDoesNotTake) {
  Refusing peer;
  Served served(peer.Take());
  served.Start([](const Datagram&) {});
  served.Loop().Ask([&] {
    EXPECT_TRUE(served.Get().Send("1", {}));
    EXPECT_TRUE(served.Get().Send("2", {}));
    served.Get().Stop();
    EXPECT_EQ(served.Get().Figures().dropped, 2U);
    EXPECT_EQ(served.Get().Queued(), 0U);
    EXPECT_FALSE(served.Get().Send("3", {}));
  });
}

TEST(UdpServer, MoreRepliesThanTheQueueHoldsLeaveAsLongAsTheKernelTakesThem) {
  UdpOptions options;
  options.queue = 3;
  Served served(options);
  served.Start([&](const Datagram& asked) {
    for (int i = 0; i < 20; ++i) {
      EXPECT_TRUE(served.Get().Reply(asked, std::to_string(i)));
    }
  });
  UdpClient client(served.Address());
  ASSERT_TRUE(client.Send("?"));
  for (int i = 0; i < 20; ++i) {
    ASSERT_EQ(client.Receive(), std::to_string(i));
  }
}

TEST(UdpServer, SendsFromATimerToo) {
  Served served;
  served.Start([](const Datagram&) {});
  UdpClient client(served.Address());
  served.Loop().Ask([&] {
    served.Loop().Get().RunAfter(Clock::duration::zero(), [&] {
      EXPECT_TRUE(served.Get().Send("one", client.Address()));
      EXPECT_TRUE(served.Get().Send("two", client.Address()));
      EXPECT_EQ(served.Get().Queued(), 2U) << "they leave together";
    });
  });
  EXPECT_EQ(client.Receive(), "one");
  EXPECT_EQ(client.Receive(), "two");
}

TEST(UdpServer, StopInACallbackIsTheLastCall) {
  Served served;
  std::size_t calls = 0;
  served.Start([&](const Datagram& asked) {
    ++calls;
    served.Get().Reply(asked, "the last");
    served.Get().Stop();
    served.Get().Stop();
    EXPECT_FALSE(served.Get().Reply(asked, "too late"));
  });
  UdpClient client(served.Address());
  served.Loop().WhileItStandsStill([&] {
    for (int i = 0; i < 3; ++i) {
      ASSERT_TRUE(client.Send("x"));
    }
  });
  EXPECT_EQ(client.Receive(), "the last");
  served.Loop().RunRounds(2);
  const UdpFigures figures = served.Figures();
  EXPECT_EQ(calls, 1U);
  EXPECT_EQ(figures.received, 1U);
  EXPECT_EQ(figures.unread, 2U);
  EXPECT_EQ(figures.sent, 1U);
  EXPECT_EQ(figures.dropped, 1U);
  EXPECT_NE(served.Address().Port(), 0) << "known still";
  const NetAddress address = served.Address();
  UdpSocket again;
  again.Bind(address);  // the port is free
  served.Loop().Ask([&] { EXPECT_THROW(served.Get().Start(), std::logic_error); });
}

TEST(UdpServer, DrainGivesWhatTheKernelHasUpToABound) {
  UdpOptions options;
  options.batch = 10;
  Served served(options);  // not started: nothing else reads
  std::vector<std::string> given;
  served.Get().OnDatagram([&](const Datagram& told) {
    given.emplace_back(told.payload);
    served.Get().Reply(told, "yes");
  });
  UdpClient client(served.Address());
  for (int i = 0; i < 35; ++i) {
    ASSERT_TRUE(client.Send(std::to_string(i)));
  }
  served.Loop().Ask([&] {
    EXPECT_EQ(served.Get().Drain(0), 0U);
    EXPECT_EQ(served.Get().Drain(20), 20U);
    EXPECT_EQ(served.Get().Drain(1000), 15U);
    EXPECT_EQ(served.Get().Drain(1000), 0U);
  });
  ASSERT_EQ(given.size(), 35U);
  EXPECT_EQ(given.back(), "34");
  EXPECT_EQ(served.Figures().sent, 35U);
  EXPECT_EQ(client.Receive(), "yes");
}

TEST(UdpServer, StopEndsDrain) {
  Served served;
  std::size_t inside = 1;
  served.Get().OnDatagram([&](const Datagram&) {
    inside = served.Get().Drain(1000);
    served.Get().Stop();
  });
  UdpClient client(served.Address());
  for (int i = 0; i < 3; ++i) {
    ASSERT_TRUE(client.Send("x"));
  }
  served.Loop().Ask([&] {
    EXPECT_EQ(served.Get().Drain(1000), 1U);
    EXPECT_EQ(served.Get().Drain(1000), 0U);
  });
  EXPECT_EQ(inside, 0U) << "not while a batch is given out";
  EXPECT_EQ(served.Figures().unread, 2U);
}

TEST(UdpServer, ACallbackThatThrowsCostsItsDatagramAlone) {
  const test::CapturedStderr log;
  test::ManualClock clock;  // stands still: all of it happens in one second
  const auto lines = [&log] {
    const std::string text = log.Text();
    std::size_t count = 0;
    for (std::size_t at = text.find("on_datagram threw: no such word"); at != std::string::npos;
         at = text.find("no such word", at + 20)) {
      ++count;
    }
    return count;
  };
  {
    Served served({}, kLocal, clock.Source());
    served.Start([&](const Datagram& asked) {
      if (asked.payload == "bad") {
        throw std::runtime_error("no such word");
      }
      served.Get().Reply(asked, asked.payload);
    });
    UdpClient client(served.Address());
    served.Loop().WhileItStandsStill([&] {
      for (int i = 0; i < 50; ++i) {
        ASSERT_TRUE(client.Send("bad"));
      }
      ASSERT_TRUE(client.Send("good"));
    });
    EXPECT_EQ(client.Receive(), "good");
    const UdpFigures figures = served.Figures();
    EXPECT_EQ(figures.exceptions, 50U);
    EXPECT_EQ(figures.received, 51U);
    EXPECT_EQ(lines(), 1U) << log.Text();
    clock.Advance(std::chrono::seconds(1));
    ASSERT_TRUE(client.Send("bad"));
    EXPECT_EQ(client.Ask("good"), "good");
    EXPECT_EQ(lines(), 2U) << log.Text();
  }
}

TEST(UdpServer, ManySendersAtOnce) {
  constexpr int kSenders = 200;
  Served served;
  std::set<int> ports;
  served.Start([&](const Datagram& asked) {
    ports.insert(asked.peer.Port());
    served.Get().Reply(asked, asked.payload);
  });
  std::vector<std::unique_ptr<UdpClient>> clients;
  for (int i = 0; i < kSenders; ++i) {
    clients.push_back(std::make_unique<UdpClient>(served.Address()));
    ASSERT_TRUE(clients.back()->Send(std::to_string(i)));
  }
  for (int i = 0; i < kSenders; ++i) {
    ASSERT_EQ(clients[static_cast<std::size_t>(i)]->Receive(), std::to_string(i));
  }
  EXPECT_EQ(served.Loop().Ask([&] { return ports.size(); }), std::size_t{kSenders});
}

#ifdef __linux__
TEST(UdpServer, WhatTheKernelDropsIsCounted) {
  UdpOptions options;
  options.receive_buffer = 1;
  Served served(options);
  EXPECT_GE(served.Get().ReceiveBuffer(), 1U);
  served.Start([](const Datagram&) {});
  UdpClient client(served.Address());
  constexpr std::uint64_t kSent = 500;
  served.Loop().WhileItStandsStill([&] {
    for (std::uint64_t i = 0; i < kSent; ++i) {
      ASSERT_TRUE(client.Send("x"));
    }
  });
  ASSERT_TRUE(served.Loop().Await([&] {
    const UdpFigures figures = served.Get().Figures();
    return figures.received + figures.kernel_dropped == kSent;
  }));
  const UdpFigures before = served.Figures();
  EXPECT_GT(before.kernel_dropped, 0U);
  EXPECT_GT(before.received, 0U);
  ASSERT_TRUE(client.Send("one more"));
  ASSERT_TRUE(
      served.Loop().Await([&] { return served.Get().Figures().received > before.received; }));
  EXPECT_EQ(served.Figures().kernel_dropped, before.kernel_dropped) << "none is counted twice";
  served.Loop().Ask([&] {
    served.Get().Stop();
    EXPECT_EQ(served.Get().Figures().kernel_dropped, before.kernel_dropped);
  });
}

TEST(UdpServer, SeveralLoopsShareAPort) {
  UdpOptions options;
  options.sharing = PortSharing::kBalanced;
  Served first(options);
  Served second(options, first.Address());
  first.Echo();
  second.Echo();
  EXPECT_EQ(first.Address(), second.Address());
  constexpr std::uint64_t kSenders = 64;
  for (std::uint64_t i = 0; i < kSenders; ++i) {
    UdpClient client(first.Address());
    EXPECT_EQ(client.Ask("x"), "x");
  }
  EXPECT_EQ(first.Figures().received + second.Figures().received, kSenders);
}
#endif

TEST(UdpServer, IsToldWhatIsMissing) {
  Looper looper;
  UdpServer server(looper, kLocal);
  EXPECT_THROW(server.Start(), std::logic_error);
  UdpOptions options;
  options.batch = 0;
  EXPECT_THROW(UdpServer(looper, kLocal, options), std::invalid_argument);
  try {
    const UdpServer second(looper, server.LocalAddress());
    FAIL() << "two on one port";
  } catch (const std::system_error& error) {
    EXPECT_EQ(std::string(error.what()).rfind("bind " + server.LocalAddress().ToString(), 0), 0U);
  }
}

}  // namespace
}  // namespace TURTLE_SERVER
