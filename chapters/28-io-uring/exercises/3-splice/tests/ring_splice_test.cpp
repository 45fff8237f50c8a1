#include "uring/ring_splice.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdint>
#include <filesystem>
#include <iterator>
#include <memory>
#include <string>
#include <string_view>
#include <system_error>
#include <thread>

#include "base/unique_fd.h"
#include "support/narrow_pair.h"
#include "support/needs_io_uring.h"
#include "support/no_descriptors.h"
#include "support/ring_faults.h"

namespace TURTLE_SERVER {
namespace {

using test::NarrowPair;
using test::NoDescriptors;
using test::ring_enter;

auto OpenDescriptors() -> std::ptrdiff_t {
  namespace fs = std::filesystem;
  return std::distance(fs::directory_iterator("/proc/self/fd"), fs::directory_iterator());
}

// Reads on its own thread, from Begin() on, until the other side has said all.
class Reader {
 public:
  explicit Reader(NarrowPair& pair)
      : pair_(pair), thread_([this] {
          while (!begun_) {
            std::this_thread::yield();
          }
          std::array<char, 3000> room;
          for (;;) {
            const ssize_t count = ::recv(pair_.reader.GetFd(), room.data(), room.size(), 0);
            if (count <= 0) {
              EXPECT_EQ(count, 0) << "nothing in ten seconds";
              return;
            }
            all_.append(room.data(), static_cast<std::size_t>(count));
          }
        }) {}

  Reader(const Reader&) = delete;
  auto operator=(const Reader&) -> Reader& = delete;

  ~Reader() { static_cast<void>(All()); }

  void Begin() { begun_ = true; }

  /// All that came; the sender has nothing more to say.
  auto All() -> std::string {
    Begin();
    if (thread_.joinable()) {
      ::shutdown(pair_.sender.GetFd(), SHUT_WR);
      thread_.join();
    }
    return all_;
  }

 private:
  NarrowPair& pair_;
  std::atomic<bool> begun_{false};
  std::string all_;
  std::thread thread_;
};

class RingSpliceTest : public testing::Test {
 protected:
  void SetUp() override {
    TURTLE_NEEDS_IO_URING();
    ring_ = std::make_unique<Ring>();
    pair_ = std::make_unique<NarrowPair>();
  }

  auto Write(std::size_t size) -> std::string {
    file_.Reset(::open("/tmp", O_TMPFILE | O_RDWR | O_CLOEXEC, 0600));
    std::string bytes(size, '\0');
    std::uint32_t number = 1;
    for (char& each : bytes) {
      number = number * 1664525 + 1013904223;
      each = static_cast<char>(number >> 24);
    }
    EXPECT_EQ(::write(file_.Get(), bytes.data(), size), static_cast<ssize_t>(size));
    return bytes;
  }

  auto Splice(std::uint64_t offset, std::uint64_t size) -> std::uint64_t {
    return SpliceFile(*ring_, file_.Get(), offset, size, pair_->sender.GetFd());
  }

  // Returns the errno of the exception; 0 if there is none.
  auto Refusal(std::uint64_t size) -> int {
    try {
      static_cast<void>(Splice(0, size));
    } catch (const std::system_error& error) {
      what_ = error.what();
      return error.code().value();
    }
    return 0;
  }

  void ExpectNothingIsUnderWay() {
    ring_->Enter(std::chrono::milliseconds(0));
    int completions = 0;
    ring_->Reap([&](const io_uring_cqe&) { ++completions; });
    EXPECT_EQ(completions, 0);
  }

  void SetBlocking() {
    const int fd = pair_->sender.GetFd();
    ASSERT_EQ(::fcntl(fd, F_SETFL, ::fcntl(fd, F_GETFL) & ~O_NONBLOCK), 0);
  }

  std::unique_ptr<Ring> ring_;
  std::unique_ptr<NarrowPair> pair_;
  UniqueFd file_;
  std::string what_;
};

TEST_F(RingSpliceTest, AllOfAFile) {
  const std::string bytes = Write(1'000'003);
  Reader reader(*pair_);
  reader.Begin();
  EXPECT_EQ(Splice(0, bytes.size()), bytes.size());
  EXPECT_TRUE(reader.All() == bytes);
  ExpectNothingIsUnderWay();
}

TEST_F(RingSpliceTest, ToASocketThatBlocks) {
  const std::string bytes = Write(1'000'003);
  SetBlocking();
  Reader reader(*pair_);
  reader.Begin();
  EXPECT_EQ(Splice(0, bytes.size()), bytes.size());
  EXPECT_TRUE(reader.All() == bytes);
}

// 64 KB that don't begin where a page does span 17 pages, and a pipe holds 16.
TEST_F(RingSpliceTest, APartThatBeginsAnywhere) {
  const std::string bytes = Write(500'000);
  Reader reader(*pair_);
  reader.Begin();
  EXPECT_EQ(Splice(4095, 300'000), 300'000U);
  EXPECT_TRUE(reader.All() == bytes.substr(4095, 300'000));
}

TEST_F(RingSpliceTest, AFileThatIsShorterThanSaid) {
  const std::string bytes = Write(100'000);
  Reader reader(*pair_);
  reader.Begin();
  EXPECT_EQ(Splice(10, 5'000'000'000), bytes.size() - 10);
  EXPECT_EQ(Splice(bytes.size(), 10), 0U);
  EXPECT_EQ(Splice(0, 0), 0U);
  EXPECT_TRUE(reader.All() == bytes.substr(10));
  ExpectNothingIsUnderWay();
}

TEST_F(RingSpliceTest, WhoDoesNotReadCostsNothing) {
  const std::string bytes = Write(1'000'000);
  Reader reader(*pair_);
  std::thread watching([&] {
    // Until the socket is full, and some calls after that are granted.
    int calls = -1;
    for (int round = 0; round < 100 && calls != ring_enter.Count(); ++round) {
      calls = ring_enter.Count();
      ::poll(nullptr, 0, 100);
    }
    EXPECT_EQ(calls, ring_enter.Count()) << "it asks again and again";
    reader.Begin();
  });
  EXPECT_EQ(Splice(0, bytes.size()), bytes.size());
  watching.join();
  EXPECT_TRUE(reader.All() == bytes);
}

TEST_F(RingSpliceTest, WhoHasGoneIsTold) {
  Write(1'000'000);
  pair_->reader = Socket();
  const std::ptrdiff_t before = OpenDescriptors();
  const int error = Refusal(1'000'000);
  EXPECT_TRUE(error == EPIPE || error == ECONNRESET) << what_;
  EXPECT_EQ(what_.substr(0, 8), "splice: ");
  EXPECT_EQ(OpenDescriptors(), before);
  ExpectNothingIsUnderWay();
}

TEST_F(RingSpliceTest, WithoutDescriptorsItIsThePipeThatFails) {
  Write(10);
  const NoDescriptors none;
  EXPECT_EQ(Refusal(10), EMFILE);
  EXPECT_EQ(what_, "pipe2: Too many open files");
}

TEST_F(RingSpliceTest, NoDescriptorIsLeft) {
  const std::string bytes = Write(1000);
  const std::ptrdiff_t before = OpenDescriptors();
  EXPECT_EQ(Splice(0, 1000), 1000U);
  EXPECT_EQ(OpenDescriptors(), before);
  Reader reader(*pair_);
  EXPECT_EQ(reader.All(), bytes);
}

}  // namespace
}  // namespace TURTLE_SERVER
