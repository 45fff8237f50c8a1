#include "core/poller.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <pthread.h>
#include <signal.h>
#include <sys/socket.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <optional>
#include <string>
#include <system_error>
#include <thread>
#include <utility>
#include <vector>

#include "base/unique_fd.h"

namespace TURTLE_SERVER {
namespace {

using std::chrono::milliseconds;

// Wait() reports everything that is ready when it is called, whatever the time limit, so most tests
// don't wait.
constexpr milliseconds kLook{0};
constexpr std::chrono::seconds kPatience{10};

// Two connected ends: bytes written to one can be read from the other.
struct Pair {
  Pair() {
    int ends[2];
    if (::socketpair(AF_UNIX, SOCK_STREAM, 0, ends) != 0) {
      throw std::system_error(errno, std::generic_category(), "socketpair");
    }
    ours.Reset(ends[0]);
    theirs.Reset(ends[1]);
    ::fcntl(ours.Get(), F_SETFL, O_NONBLOCK);
    ::fcntl(theirs.Get(), F_SETFL, O_NONBLOCK);
  }
  UniqueFd ours;
  UniqueFd theirs;
};

void Write(const UniqueFd& fd, const std::string& bytes) {
  ASSERT_EQ(::write(fd.Get(), bytes.data(), bytes.size()), static_cast<ssize_t>(bytes.size()));
}

auto Read(const UniqueFd& fd, std::size_t room) -> std::string {
  std::string bytes(room, '\0');
  const ssize_t count = ::read(fd.Get(), bytes.data(), room);
  bytes.resize(count > 0 ? static_cast<std::size_t>(count) : 0);
  return bytes;
}

// Fills the buffers between both ends.
void Fill(const UniqueFd& fd) {
  const std::string bytes(65536, 'x');
  while (::write(fd.Get(), bytes.data(), bytes.size()) > 0) {
  }
}

// Returns all present events for `token`, joined: kqueue reports reading and writing separately.
auto Look(Poller& poller, std::uint64_t token) -> std::optional<PollEvent> {
  std::optional<PollEvent> all;
  for (const PollEvent& event : poller.Wait(kLook)) {
    if (event.token == token) {
      all = all.value_or(PollEvent());
      all->token = token;
      all->readable |= event.readable;
      all->writable |= event.writable;
      all->peer_closed |= event.peer_closed;
      all->error |= event.error;
    }
  }
  return all;
}

TEST(Interest, IsASetOfBits) {
  constexpr Interest kBoth = Interest::kRead | Interest::kWrite;
  static_assert(Has(kBoth, Interest::kRead) && Has(kBoth, Interest::kWrite));
  static_assert(!Has(kBoth, Interest::kEdge));
  static_assert(!Has(Interest::kRead, kBoth), "all of them, not one of them");
}

class PollerTest : public testing::Test {
 protected:
  void SetUp() override { ASSERT_NE(poller_, nullptr); }
  void Add(Interest interest) { poller_->Add(pair_.ours.Get(), interest, 7); }
  auto Look() -> std::optional<PollEvent> { return TURTLE_SERVER::Look(*poller_, 7); }

  std::unique_ptr<Poller> poller_ = Poller::Create();
  Pair pair_;
};

TEST_F(PollerTest, IsSilentWhileNothingHappens) {
  EXPECT_TRUE(poller_->Wait(kLook).empty());
  Add(Interest::kRead);
  EXPECT_TRUE(poller_->Wait(kLook).empty());
}

TEST_F(PollerTest, GivesTheTokenBackUntouched) {
  constexpr std::uint64_t kToken = 0xfedcba9876543210;
  poller_->Add(pair_.ours.Get(), Interest::kRead, kToken);
  Write(pair_.theirs, "x");
  const std::vector<PollEvent>& events = poller_->Wait(kLook);
  ASSERT_EQ(events.size(), 1U);
  EXPECT_EQ(events[0].token, kToken);
  EXPECT_TRUE(events[0].readable);
  EXPECT_FALSE(events[0].writable);
  EXPECT_FALSE(events[0].peer_closed);
  EXPECT_FALSE(events[0].error);
}

TEST_F(PollerTest, TellsAStateUntilItIsOver) {
  Add(Interest::kRead);
  Write(pair_.theirs, "two");
  EXPECT_TRUE(Look());
  EXPECT_TRUE(Look()) << "nobody has read yet";
  Read(pair_.ours, 1);
  EXPECT_TRUE(Look()) << "not all has been read";
  Read(pair_.ours, 2);
  EXPECT_FALSE(Look());
}

TEST_F(PollerTest, TellsAnEdgeOnce) {
  Add(Interest::kRead | Interest::kEdge);
  Write(pair_.theirs, "x");
  EXPECT_TRUE(Look());
  EXPECT_FALSE(Look()) << "it has been told, read or not";
  Write(pair_.theirs, "y");
  EXPECT_TRUE(Look()) << "more has arrived";
}

TEST_F(PollerTest, AddsWithAnEdgeWhatIsThereAlready) {
  Write(pair_.theirs, "x");
  ::shutdown(pair_.theirs.Get(), SHUT_WR);
  Add(Interest::kRead | Interest::kWrite | Interest::kEdge);
  const auto event = Look();
  ASSERT_TRUE(event) << "whoever serves first and registers later would wait for ever";
  EXPECT_TRUE(event->readable);
  EXPECT_TRUE(event->writable);
  EXPECT_TRUE(event->peer_closed);
}

// The trap of edges: after a short read of "bye", the end that came along is never reported.
TEST_F(PollerTest, TellsDataAndEndInOneEdge) {
  Add(Interest::kRead | Interest::kEdge);
  Write(pair_.theirs, "bye");
  ::shutdown(pair_.theirs.Get(), SHUT_WR);
  const auto event = Look();
  ASSERT_TRUE(event);
  EXPECT_TRUE(event->readable);
  EXPECT_TRUE(event->peer_closed) << "the only hint there is";
  EXPECT_EQ(Read(pair_.ours, 100), "bye");
  EXPECT_FALSE(Look());
}

TEST_F(PollerTest, TellsAnEndThatComesAfterAShortRead) {
  Add(Interest::kRead | Interest::kEdge);
  Write(pair_.theirs, "bye");
  ASSERT_TRUE(Look());
  EXPECT_EQ(Read(pair_.ours, 100), "bye");
  ::shutdown(pair_.theirs.Get(), SHUT_WR);
  const auto event = Look();
  ASSERT_TRUE(event) << "reading until short is enough";
  EXPECT_TRUE(event->readable);
  EXPECT_TRUE(event->peer_closed);
}

TEST_F(PollerTest, TellsRoomToWrite) {
  Add(Interest::kWrite);
  ASSERT_TRUE(Look());
  EXPECT_TRUE(Look()->writable);
  EXPECT_FALSE(Look()->readable);
  Fill(pair_.ours);
  EXPECT_FALSE(Look());
  while (!Read(pair_.theirs, 65536).empty()) {
  }
  EXPECT_TRUE(Look());
}

TEST_F(PollerTest, ChangesWhatItWaitsForAndTheToken) {
  Add(Interest::kRead);
  Write(pair_.theirs, "x");
  poller_->Change(pair_.ours.Get(), Interest::kNone, 7);
  EXPECT_FALSE(Look());
  poller_->Change(pair_.ours.Get(), Interest::kWrite, 8);
  EXPECT_FALSE(Look());
  const auto event = TURTLE_SERVER::Look(*poller_, 8);
  ASSERT_TRUE(event);
  EXPECT_TRUE(event->writable);
  EXPECT_FALSE(event->readable);
}

// The kernel reports a hang-up whether it is wanted or not.
TEST_F(PollerTest, AWatchThatRestsIsNotWokenForEver) {
  Add(Interest::kRead);
  pair_.theirs.Reset();
  poller_->Change(pair_.ours.Get(), Interest::kNone, 7);
  static_cast<void>(TURTLE_SERVER::Look(*poller_, 7));  // once is allowed
  EXPECT_FALSE(TURTLE_SERVER::Look(*poller_, 7));
  poller_->Change(pair_.ours.Get(), Interest::kRead, 7);
  for (int i = 0; i < 3; ++i) {
    EXPECT_TRUE(TURTLE_SERVER::Look(*poller_, 7)) << "a state again";
  }
}

TEST_F(PollerTest, ChangeTellsAnEdgeAgain) {
  Add(Interest::kRead | Interest::kEdge);
  Write(pair_.theirs, "x");
  ASSERT_TRUE(Look());
  ASSERT_FALSE(Look());
  poller_->Change(pair_.ours.Get(), Interest::kRead | Interest::kEdge, 7);
  EXPECT_TRUE(Look());
}

TEST_F(PollerTest, ChangesFromStatesToEdgesAndBack) {
  Add(Interest::kRead);
  Write(pair_.theirs, "x");
  poller_->Change(pair_.ours.Get(), Interest::kRead | Interest::kEdge, 7);
  EXPECT_TRUE(Look());
  EXPECT_FALSE(Look());
  poller_->Change(pair_.ours.Get(), Interest::kRead, 7);
  EXPECT_TRUE(Look());
  EXPECT_TRUE(Look());
}

TEST_F(PollerTest, RemoveIsHarmlessWhenRepeated) {
  Add(Interest::kRead);
  Write(pair_.theirs, "x");
  poller_->Remove(pair_.ours.Get());
  EXPECT_FALSE(Look());
  poller_->Remove(pair_.ours.Get());
  poller_->Remove(-1);
  Add(Interest::kRead);
  EXPECT_TRUE(Look()) << "and it can come back";
}

TEST_F(PollerTest, ForgetsADescriptorThatIsClosed) {
  Add(Interest::kRead);
  Write(pair_.theirs, "x");
  pair_.ours.Reset();
  EXPECT_FALSE(Look());
}

TEST_F(PollerTest, WakesTheWriterWhenNobodyReadsAnyMore) {
  int ends[2];
  ASSERT_EQ(::pipe(ends), 0);
  UniqueFd reader(ends[0]);
  const UniqueFd writer(ends[1]);
  ::fcntl(writer.Get(), F_SETFL, O_NONBLOCK);
  Fill(writer);
  poller_->Add(writer.Get(), Interest::kWrite, 7);
  ASSERT_FALSE(Look());
  reader.Reset();
  const auto event = Look();
  ASSERT_TRUE(event);
  EXPECT_TRUE(event->writable) << "so that it writes, and learns of EPIPE";
}

TEST_F(PollerTest, WakesTheReaderWhenTheWriterOfAPipeHasGone) {
  int ends[2];
  ASSERT_EQ(::pipe(ends), 0);
  const UniqueFd reader(ends[0]);
  UniqueFd writer(ends[1]);
  poller_->Add(reader.Get(), Interest::kRead, 7);
  writer.Reset();
  const auto event = Look();
  ASSERT_TRUE(event);
  EXPECT_TRUE(event->readable) << "so that it reads, and learns of the end";
  EXPECT_TRUE(event->peer_closed);
}

TEST_F(PollerTest, NamesTheDescriptorThatItCanNotTake) {
  const int closed = pair_.theirs.Get();
  pair_.theirs.Reset();
  try {
    poller_->Add(closed, Interest::kRead, 7);
    ADD_FAILURE() << "a closed descriptor was added";
  } catch (const std::system_error& error) {
    EXPECT_EQ(error.code(), std::errc::bad_file_descriptor);
    EXPECT_NE(std::string(error.what()).find("add " + std::to_string(closed) + ": "),
              std::string::npos)
        << error.what();
  }
}

#ifdef __linux__
TEST_F(PollerTest, EpollTakesADescriptorOnceAndChangesWhatItHas) {
  EXPECT_THROW(poller_->Change(pair_.ours.Get(), Interest::kRead, 7), std::system_error);
  Add(Interest::kRead);
  EXPECT_THROW(Add(Interest::kRead), std::system_error);
}
#endif

TEST_F(PollerTest, ADeadlineInThePastIsNotForEver) {
  EXPECT_TRUE(poller_->Wait(milliseconds(-1)).empty());
  EXPECT_TRUE(poller_->Wait(milliseconds(-1000)).empty());
}

TEST_F(PollerTest, ReturnsWhenTheTimeIsOver) {
  EXPECT_TRUE(poller_->Wait(milliseconds(1)).empty());
}

TEST_F(PollerTest, WakesUpForAnotherThread) {
  Add(Interest::kRead);
  // Two time limits that don't fit into an int: truncated, they would mean "only look".
  for (const auto limit :
       {milliseconds(std::int64_t{1} << 32), milliseconds(std::int64_t{1} << 40)}) {
    std::thread other([this] { Write(pair_.theirs, "x"); });
    EXPECT_EQ(poller_->Wait(limit).size(), 1U);
    other.join();
    Read(pair_.ours, 1);
  }
  std::thread other([this] { Write(pair_.theirs, "x"); });
  EXPECT_EQ(poller_->Wait(std::nullopt).size(), 1U);
  other.join();
}

TEST_F(PollerTest, ASignalEndsTheWaitWithNothing) {
  struct sigaction nothing {};
  struct sigaction before {};
  nothing.sa_handler = [](int) {};
  ASSERT_EQ(::sigaction(SIGUSR1, &nothing, &before), 0);
  std::atomic<bool> over{false};
  std::size_t count = 1;
  std::thread waiting([&] {
    count = poller_->Wait(kPatience * 2).size();
    over = true;
  });
  const auto deadline = std::chrono::steady_clock::now() + kPatience;
  while (!over && std::chrono::steady_clock::now() < deadline) {
    ::pthread_kill(waiting.native_handle(), SIGUSR1);
    std::this_thread::yield();
  }
  EXPECT_TRUE(over) << "only the time limit ended it";
  waiting.join();
  ::sigaction(SIGUSR1, &before, nullptr);
  EXPECT_EQ(count, 0U);
}

TEST(Poller, TellsOfMoreDescriptorsThanFitItsFirstBatch) {
  const auto poller = Poller::Create();
  ASSERT_NE(poller, nullptr);
  std::vector<Pair> pairs(150);
  for (std::size_t i = 0; i < pairs.size(); ++i) {
    poller->Add(pairs[i].ours.Get(), Interest::kRead | Interest::kEdge, i);
    Write(pairs[i].theirs, "x");
  }
  std::vector<int> seen(pairs.size());
  for (int round = 0; round < 3; ++round) {
    for (const PollEvent& event : poller->Wait(kLook)) {
      ++seen[event.token];
    }
  }
  EXPECT_EQ(seen, std::vector<int>(pairs.size(), 1)) << "every edge, and each once";
}

TEST(Poller, ReusesItsMemory) {
  const auto poller = Poller::Create();
  ASSERT_NE(poller, nullptr);
  std::vector<Pair> pairs(150);
  for (Pair& pair : pairs) {
    poller->Add(pair.ours.Get(), Interest::kRead, 1);
    Write(pair.theirs, "x");
  }
  for (int round = 0; round < 10 && poller->Wait(kLook).size() < pairs.size(); ++round) {
  }
  const PollEvent* const place = poller->Wait(kLook).data();
  for (int round = 0; round < 10; ++round) {
    const std::vector<PollEvent>& events = poller->Wait(kLook);
    ASSERT_EQ(events.size(), pairs.size()) << "all in one round, once it has grown";
    ASSERT_EQ(events.data(), place);
  }
}

}  // namespace
}  // namespace TURTLE_SERVER
