#include "core/out_queue.h"

#include <gtest/gtest.h>
#include <netinet/in.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <unistd.h>

#ifdef __linux__
#include <linux/sockios.h>
#include <linux/tcp.h>
#endif

#include <algorithm>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "core/block_pool.h"
#include "support/narrow_pair.h"

namespace TURTLE_SERVER {
namespace {

using test::MakeFile;
using test::NarrowPair;
using test::Pattern;

// Text that reports its own end.
class PinnedText : public Pinned {
 public:
  PinnedText(std::string content, int& deaths) : text(std::move(content)), deaths_(deaths) {}
  ~PinnedText() override {
    std::fill(text.begin(), text.end(), '!');  // so that sending freed memory is noticed
    ++deaths_;
  }
  std::string text;

 private:
  int& deaths_;
};

// Alternates between flushing and reading until the queue is empty; returns all that arrived.
auto Drain(OutQueue& queue, NarrowPair& pair) -> std::string {
  std::string got;
  std::size_t sent = 0;
  while (!queue.Empty()) {
    const IoResult result = queue.FlushTo(pair.sender, false);
    sent += result.bytes;
    if (result.status == IoStatus::kError) {
      ADD_FAILURE() << "error " << result.error;
      return got;
    }
    if (result.status == IoStatus::kWouldBlock) {
      got += pair.Relieve(50'000);
    }
  }
  return got += pair.ReadExactly(sent - got.size());
}

TEST(OutQueueTest, AnEmptyQueueOwnsNothingAndSendsNothing) {
  NarrowPair pair;
  const std::size_t kept = BlockPool::Kept();
  OutQueue queue;
  int deaths = 0;
  queue.Append("");
  queue.AppendPinned("", MakePinned<PinnedText>("", deaths));
  queue.AppendFile({-1, 0, 0, MakePinned<PinnedText>("", deaths)});
  EXPECT_TRUE(queue.Empty());
  EXPECT_EQ(queue.Size(), 0U);
  EXPECT_EQ(deaths, 2);
  EXPECT_EQ(BlockPool::Kept(), kept);
  const IoResult result = queue.FlushTo(pair.sender, true);
  EXPECT_EQ(result.status, IoStatus::kBytes);
  EXPECT_EQ(result.bytes, 0U);
}

TEST(OutQueueTest, CopiesAreJoinedAndLeaveInOrder) {
  NarrowPair pair;
  OutQueue queue;
  std::string expected;
  for (std::size_t size : {1, 2, 3, 5000, 1, 16'384, 7, 40'000, 1, 15'000, 15'000}) {
    const std::string bytes = Pattern(size, static_cast<unsigned>(size));
    queue.Append(bytes);
    expected += bytes;
    EXPECT_EQ(queue.Size(), expected.size());
    EXPECT_FALSE(queue.Empty());
  }
  EXPECT_TRUE(Drain(queue, pair) == expected);
  EXPECT_EQ(queue.Size(), 0U);
}

TEST(OutQueueTest, EveryLengthAroundABlockIsSentWhole) {
  NarrowPair pair;
  const std::string bytes = Pattern(BlockPool::kBlockBytes + 300);
  for (std::size_t size = BlockPool::kBlockBytes - 300; size <= bytes.size(); ++size) {
    OutQueue queue;
    queue.Append(std::string_view(bytes).substr(0, size));
    queue.Append("x");  // at every distance from the end of a block
    queue.AppendPinned("y", Pin());
    queue.Append("z");
    ASSERT_EQ(queue.Size(), size + 3);
    ASSERT_TRUE(Drain(queue, pair) == bytes.substr(0, size) + "xyz") << size;
  }
}

TEST(OutQueueTest, BlocksGoBackWhenTheQueueIsEmpty) {
  NarrowPair pair;
  for (int i = 0; i < 2; ++i) {
    OutQueue queue;
    queue.Append(Pattern(20 * BlockPool::kBlockBytes));
    const std::size_t kept = BlockPool::Kept();
    Drain(queue, pair);
    EXPECT_GE(BlockPool::Kept(), kept + 20);
    EXPECT_LE(BlockPool::Kept(), BlockPool::kMaxKept);
  }
}

TEST(OutQueueTest, BlocksAlreadySentGoBackBeforeTheQueueIsEmpty) {
  NarrowPair pair;
  OutQueue queue;
  queue.Append(Pattern(60 * BlockPool::kBlockBytes));
  const std::size_t kept = BlockPool::Kept();
  std::size_t sent = 0;
  while (sent < 40 * BlockPool::kBlockBytes) {
    const IoResult result = queue.FlushTo(pair.sender, false);
    ASSERT_NE(result.status, IoStatus::kError);
    sent += result.bytes;
    if (result.status == IoStatus::kWouldBlock) {
      pair.Relieve(BlockPool::kBlockBytes);
    }
  }
  EXPECT_FALSE(queue.Empty());
  EXPECT_GE(BlockPool::Kept(), kept + 38);
}

// The real thing: any mixture, a kernel that takes a little at a time, a reader of any speed. Each
// pin must live exactly as long as a byte that it keeps alive is unsent.
TEST(OutQueueTest, AnyMixtureArrivesAndEveryPinLivesAsLongAsItIsNeeded) {
  for (unsigned seed = 1; seed <= 8; ++seed) {
    std::mt19937 random(seed);
    const auto upto = [&](std::size_t most) { return random() % (most + 1); };
    std::vector<UniqueFd> files;
    NarrowPair pair;
    OutQueue queue;
    std::string expected;
    struct Need {
      std::size_t until;
      int deaths = 0;
    };
    std::vector<Need> needs(120);
    std::size_t sent = 0;
    std::string got;
    const auto flush = [&] {
      const IoResult result = queue.FlushTo(pair.sender, upto(1) == 1);
      ASSERT_NE(result.status, IoStatus::kError) << result.error;
      sent += result.bytes;
      if (result.status == IoStatus::kWouldBlock) {
        got += pair.Relieve(1 + upto(60'000));
      }
      ASSERT_EQ(queue.Size(), expected.size() - sent);
      ASSERT_EQ(queue.Empty(), queue.Size() == 0);
      for (const Need& need : needs) {
        ASSERT_EQ(need.deaths, need.until <= sent ? 1 : 0);
      }
    };
    for (Need& need : needs) {
      need.until = std::string::npos;
    }
    for (Need& need : needs) {
      for (std::size_t copies = upto(3); copies > 0; --copies) {
        const std::string bytes = Pattern(upto(upto(9) == 0 ? 30'000 : 300), random());
        queue.Append(bytes);
        expected += bytes;
      }
      const std::string bytes = Pattern(1 + upto(20'000), random());
      if (upto(1) == 0) {
        const auto text = MakePinned<PinnedText>(bytes, need.deaths);
        queue.AppendPinned(text->text, text);
        expected += bytes;
      } else {
        files.push_back(MakeFile(bytes));  // outlives its "owner", of which only the life counts
        const std::size_t offset = upto(bytes.size() - 1);
        const auto owner = MakePinned<PinnedText>("", need.deaths);
        queue.AppendFile({files.back().Get(), offset, bytes.size() - offset, owner});
        expected += bytes.substr(offset);
      }
      need.until = expected.size();
      if (upto(3) == 0) {
        ASSERT_NO_FATAL_FAILURE(flush()) << "seed " << seed;
      }
    }
    while (!queue.Empty()) {
      ASSERT_NO_FATAL_FAILURE(flush()) << "seed " << seed;
    }
    ASSERT_EQ(sent, expected.size());
    // The sender's close releases the bytes that a last flush held back for it.
    pair.sender = Socket();
    got += pair.ReadExactly(sent - got.size());
    ASSERT_TRUE(got == expected) << "seed " << seed;
  }
}

TEST(OutQueueTest, MorePiecesThanOneSendTakes) {
  NarrowPair pair;
  OutQueue queue;
  std::string expected;
  int deaths = 0;
  constexpr int kPieces = 5 * OutQueue::kMaxPiecesPerSend + 3;
  for (int i = 0; i < kPieces; ++i) {
    const auto text = MakePinned<PinnedText>(std::to_string(i) + " ", deaths);
    queue.AppendPinned(text->text, text);
    expected += text->text;
  }
  EXPECT_EQ(deaths, 0);
  EXPECT_EQ(Drain(queue, pair), expected);
  EXPECT_EQ(deaths, kPieces);
}

TEST(OutQueueTest, ClearAndTheDestructorLetGoOfEverything) {
  const auto fill = [](OutQueue& queue, int& deaths) {
    for (int i = 0; i < 1000; ++i) {
      queue.Append(Pattern(100));
      const auto text = MakePinned<PinnedText>("text", deaths);
      queue.AppendPinned(text->text, text);
      queue.AppendFile({-1, 0, 10, text});
    }
  };
  int deaths = 0;
  {
    OutQueue queue;
    fill(queue, deaths);
    EXPECT_EQ(deaths, 0);
    queue.Clear();
    EXPECT_EQ(deaths, 1000);
    EXPECT_TRUE(queue.Empty());
    queue.Clear();
    fill(queue, deaths);
  }
  EXPECT_EQ(deaths, 2000);
}

TEST(OutQueueTest, AFileThatIsShorterThanPromisedIsAnError) {
  NarrowPair pair;
  OutQueue queue;
  queue.Append("head");
  queue.AppendFile(OwnFileSlice(MakeFile("0123456789"), 5, 6));
  queue.Append("tail");
  const IoResult result = queue.FlushTo(pair.sender, true);
  EXPECT_EQ(result.status, IoStatus::kError);
  EXPECT_EQ(result.error, EIO);
  EXPECT_EQ(result.bytes, 9U);
  EXPECT_EQ(queue.Size(), 5U);  // one promised byte, and the tail, which must not follow
  EXPECT_EQ(pair.ReadExactly(9), "head56789");
}

TEST(OutQueueTest, AFileThatShrinksOnItsWayIsAnError) {
  NarrowPair pair;
  OutQueue queue;
  const std::string content = Pattern(4'000'000);
  UniqueFd file = MakeFile(content);
  const int fd = file.Get();
  queue.AppendFile(OwnFileSlice(std::move(file), 0, content.size()));
  std::size_t sent = 0;
  IoResult result{};
  do {
    result = queue.FlushTo(pair.sender, false);
    sent += result.bytes;
  } while (result.status == IoStatus::kBytes);
  ASSERT_EQ(result.status, IoStatus::kWouldBlock);
  ASSERT_LT(sent, content.size());
  ASSERT_EQ(ftruncate(fd, 100), 0);
  do {
    pair.Relieve(sent);
    result = queue.FlushTo(pair.sender, false);
  } while (result.status == IoStatus::kWouldBlock);
  EXPECT_EQ(result.status, IoStatus::kError);
  EXPECT_EQ(result.error, EIO);
}

TEST(OutQueueTest, ABrokenConnectionIsAnErrorForEveryKindOfPiece) {
  ASSERT_NE(signal(SIGPIPE, SIG_DFL), SIG_ERR);
  for (int kind = 0; kind < 3; ++kind) {
    NarrowPair pair;
    ASSERT_EQ(pair.sender.ShutdownWrite(), 0);
    OutQueue queue;
    if (kind == 0) {
      queue.Append("copied");
    } else if (kind == 1) {
      queue.Append("copied");
      queue.AppendPinned("pinned", Pin());
    } else {
      queue.AppendFile(OwnFileSlice(MakeFile("file"), 0, 4));
    }
    const IoResult result = queue.FlushTo(pair.sender, false);
    EXPECT_EQ(result.status, IoStatus::kError) << kind;
    EXPECT_EQ(result.error, EPIPE) << kind;
    EXPECT_FALSE(queue.Empty());
  }
}

#ifdef __linux__

// sendfile(2) also writes to a regular file, which takes everything: so the limit shows.
TEST(OutQueueTest, OneFlushIsBoundedEvenIfTheKernelTakesEverything) {
  Socket bottomless(MakeFile(""));
  OutQueue queue;
  const std::size_t size = 2 * OutQueue::kMaxFlushBytes + 100;
  const std::string content = Pattern(size);
  queue.AppendFile(OwnFileSlice(MakeFile(content), 0, size));
  for (const std::size_t expected :
       {OutQueue::kMaxFlushBytes, OutQueue::kMaxFlushBytes, std::size_t{100}}) {
    const IoResult result = queue.FlushTo(bottomless, false);
    EXPECT_EQ(result.status, IoStatus::kBytes);
    EXPECT_EQ(result.bytes, expected);
  }
  EXPECT_TRUE(queue.Empty());
  std::string written(size, '\0');
  ASSERT_EQ(pread(bottomless.GetFd(), written.data(), size, 0), static_cast<ssize_t>(size));
  EXPECT_TRUE(written == content);
}

auto Segments(const Socket& socket) -> unsigned {
  tcp_info info{};
  socklen_t size = sizeof info;
  EXPECT_EQ(getsockopt(socket.GetFd(), IPPROTO_TCP, TCP_INFO, &info, &size), 0);
  return info.tcpi_segs_out;
}

auto HeldBack(const Socket& socket) -> int {
  int bytes = -1;
  EXPECT_EQ(ioctl(socket.GetFd(), SIOCOUTQNSD, &bytes), 0);
  return bytes;
}

// The kernel stops holding a segment back after 200 ms, which a stalled machine may take between
// two lines; so one of several tries must show it.
template <class Try>
auto ShowsOnce(Try&& attempt) -> bool {
  for (int i = 0; i < 20; ++i) {
    if (attempt()) {
      return true;
    }
  }
  return false;
}

TEST(OutQueueTest, TheLastSegmentWaitsForTheFin) {
  EXPECT_TRUE(ShowsOnce([] {
    NarrowPair pair;
    OutQueue queue;
    queue.Append("goodbye");
    EXPECT_EQ(queue.FlushTo(pair.sender, true).status, IoStatus::kBytes);
    EXPECT_TRUE(queue.Empty());
    const int held = HeldBack(pair.sender);
    EXPECT_EQ(pair.sender.ShutdownWrite(), 0);
    EXPECT_EQ(pair.ReadExactly(7), "goodbye");
    EXPECT_EQ(pair.Read(1), "");
    return held == 7;
  }));
}

TEST(OutQueueTest, NothingIsHeldBackWhenTheConnectionGoesOn) {
  NarrowPair pair;
  OutQueue queue;
  queue.Append("hello");
  queue.AppendPinned(" world", Pin());
  EXPECT_EQ(queue.FlushTo(pair.sender, false).bytes, 11U);
  EXPECT_EQ(HeldBack(pair.sender), 0);
  EXPECT_EQ(pair.ReadExactly(11), "hello world");
}

TEST(OutQueueTest, ARowOfRepliesLeavesInOneSegment) {
  NarrowPair pair;
  OutQueue queue;
  for (int i = 0; i < 10; ++i) {
    queue.Append("head ");
    queue.AppendPinned("body ", Pin());
  }
  const unsigned before = Segments(pair.sender);
  EXPECT_EQ(queue.FlushTo(pair.sender, false).bytes, 100U);
  EXPECT_EQ(Segments(pair.sender), before + 1);
}

TEST(OutQueueTest, AHeadAndItsFileLeaveInOneSegment) {
  EXPECT_TRUE(ShowsOnce([] {
    NarrowPair pair;
    OutQueue queue;
    queue.Append("head ");
    queue.AppendFile(OwnFileSlice(MakeFile("0123456789"), 0, 10));
    const unsigned before = Segments(pair.sender);
    EXPECT_EQ(queue.FlushTo(pair.sender, false).bytes, 15U);
    return Segments(pair.sender) == before + 1 && HeldBack(pair.sender) == 0;
  }));
}

TEST(OutQueueTest, TheHeadOfALongFileLeavesAtOnce) {
  NarrowPair pair;
  OutQueue queue;
  queue.Append("head ");
  queue.AppendFile(OwnFileSlice(MakeFile(""), 0, OutQueue::kLongFile));  // its bytes never arrive
  EXPECT_EQ(queue.FlushTo(pair.sender, false).status, IoStatus::kError);
  EXPECT_EQ(HeldBack(pair.sender), 0);
  EXPECT_EQ(pair.ReadExactly(5), "head ");
}

#endif  // __linux__

// Returns `more_follows` of the front of `queue`.
auto MoreFollows(const OutQueue& queue, bool last, std::size_t room = OutQueue::kMaxFlushBytes)
    -> bool {
  std::vector<iovec> parts(OutQueue::kMaxPiecesPerSend);
  return queue.Gather(parts.data(), room, last).more_follows;
}

TEST(OutQueueTest, MemoryWaitsForWhatFollowsUnlessThatIsALongFile) {
  OutQueue queue;
  EXPECT_FALSE(MoreFollows(queue, false));
  queue.Append("head ");
  EXPECT_FALSE(MoreFollows(queue, false));
  EXPECT_TRUE(MoreFollows(queue, true));
  EXPECT_TRUE(MoreFollows(queue, false, 4));  // the rest of the piece follows
  OutQueue short_file;
  short_file.Append("head ");
  short_file.AppendFile(OwnFileSlice(MakeFile(""), 0, OutQueue::kLongFile - 1));
  EXPECT_TRUE(MoreFollows(short_file, false));
  OutQueue long_file;
  long_file.Append("head ");
  long_file.AppendFile(OwnFileSlice(MakeFile(""), 0, OutQueue::kLongFile));
  EXPECT_FALSE(MoreFollows(long_file, false));
  EXPECT_FALSE(MoreFollows(long_file, true));
  EXPECT_TRUE(MoreFollows(long_file, false, 4));
}

}  // namespace
}  // namespace TURTLE_SERVER
