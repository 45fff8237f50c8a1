#include "uring/ring_read.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdint>
#include <cstring>
#include <fstream>
#include <iterator>
#include <memory>
#include <string>
#include <system_error>

#include "base/unique_fd.h"
#include "support/needs_io_uring.h"
#include "support/ring_faults.h"

namespace TURTLE_SERVER {
namespace {

using test::ring_enter;

class RingReadTest : public testing::Test {
 protected:
  void SetUp() override {
    TURTLE_NEEDS_IO_URING();
    ring_ = std::make_unique<Ring>();
  }

  // A file for this test alone, with bytes of which no two pieces are alike.
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

  auto Read(int fd, std::uint64_t offset, std::size_t size) -> std::string {
    std::string room(size, '?');
    const std::size_t count = ReadFile(*ring_, fd, offset, room.data(), size);
    EXPECT_LE(count, size);
    room.resize(std::min(count, size));
    return room;
  }

  void ExpectNothingIsUnderWay() {
    ring_->Enter(std::chrono::milliseconds(0));
    int completions = 0;
    ring_->Reap([&](const io_uring_cqe&) { ++completions; });
    EXPECT_EQ(completions, 0);
  }

  std::unique_ptr<Ring> ring_;
  UniqueFd file_;
};

TEST_F(RingReadTest, AFileOfManyPieces) {
  const std::string bytes = Write(5 * 1024 * 1024 + 321);
  EXPECT_TRUE(Read(file_.Get(), 0, bytes.size()) == bytes);
  ExpectNothingIsUnderWay();
}

TEST_F(RingReadTest, APartOfIt) {
  const std::string bytes = Write(1'000'000);
  EXPECT_TRUE(Read(file_.Get(), 1234, 500'000) == bytes.substr(1234, 500'000));
  EXPECT_EQ(Read(file_.Get(), 7, 0), "");
}

TEST_F(RingReadTest, WhatIsShorterThanSaidEndsWhereItEnds) {
  for (const std::size_t size : {3 * kReadPiece + 10, 3 * kReadPiece}) {
    const std::string bytes = Write(size);
    EXPECT_TRUE(Read(file_.Get(), 0, 5'000'000) == bytes);
    EXPECT_EQ(Read(file_.Get(), bytes.size(), 100), "");
  }
  ExpectNothingIsUnderWay();
}

TEST_F(RingReadTest, ManyAreUnderWayAtATime) {
  const std::string bytes = Write(std::size_t{64} * kReadPiece);
  ASSERT_EQ(Read(file_.Get(), 0, 1), bytes.substr(0, 1));  // the first call enables the ring
  const int before = ring_enter.Count();
  ASSERT_TRUE(Read(file_.Get(), 0, bytes.size()) == bytes);
  EXPECT_LT(ring_enter.Count() - before, 48);
}

// The kernel makes the text of such a file in pages, and a read ends with one of them.
TEST_F(RingReadTest, AShortPieceIsGoneOnWith) {
  const pid_t child = ::fork();
  if (child == 0) {
    ::pause();
    ::_exit(0);
  }
  const std::string path = "/proc/" + std::to_string(child) + "/maps";
  std::ifstream stream(path, std::ios::binary);
  const std::string maps{std::istreambuf_iterator<char>(stream), {}};
  const UniqueFd fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  std::string read;
  std::string refusal;
  try {
    read = Read(fd.Get(), 0, kReadPiece);
  } catch (const std::exception& error) {
    refusal = error.what();
  }
  ::kill(child, SIGKILL);
  ASSERT_EQ(::waitpid(child, nullptr, 0), child);
  ASSERT_GT(maps.size(), 4096U) << "too short to be read in parts";
  EXPECT_EQ(refusal, "");
  EXPECT_EQ(read, maps);
}

// Our own memory as a file, with a hole in it.
TEST_F(RingReadTest, AnErrorLeavesNothingUnderWay) {
  constexpr std::size_t kSize = 40 * kReadPiece;
  void* const memory =
      ::mmap(nullptr, kSize, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  ASSERT_NE(memory, MAP_FAILED);
  std::memset(memory, 'x', kSize);
  ASSERT_EQ(::munmap(static_cast<char*>(memory) + 2 * kReadPiece, kReadPiece), 0);
  const UniqueFd own(::open("/proc/self/mem", O_RDONLY | O_CLOEXEC));
  const auto start = reinterpret_cast<std::uintptr_t>(memory);
  EXPECT_EQ(Read(own.Get(), start, 2 * kReadPiece), std::string(2 * kReadPiece, 'x'));
  try {
    static_cast<void>(Read(own.Get(), start, kSize));
    ADD_FAILURE() << "the hole was read";
  } catch (const std::system_error& error) {
    EXPECT_STREQ(error.what(), "read: Input/output error");
  }
  ExpectNothingIsUnderWay();
  const std::string bytes = Write(100);  // and the ring can be used again
  EXPECT_EQ(Read(file_.Get(), 0, 100), bytes);
  ::munmap(memory, kSize);
}

TEST_F(RingReadTest, AFolderIsNoFile) {
  const UniqueFd folder(::open("/tmp", O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  try {
    static_cast<void>(Read(folder.Get(), 0, 10 * kReadPiece));
    ADD_FAILURE() << "a folder was read";
  } catch (const std::system_error& error) {
    EXPECT_EQ(error.code().value(), EISDIR);
  }
  ExpectNothingIsUnderWay();
}

}  // namespace
}  // namespace TURTLE_SERVER
