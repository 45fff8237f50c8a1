#include "process/pipe_io.h"

#include <fcntl.h>
#include <gtest/gtest.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <string>

namespace TURTLE_SERVER {
namespace {

auto Open(PipeMode mode) -> Pipe {
  Pipe pipe;
  EXPECT_EQ(OpenPipe(mode, pipe), 0);
  return pipe;
}

auto IsNonBlocking(const UniqueFd& fd) -> bool {
  return (fcntl(fd.Get(), F_GETFL) & O_NONBLOCK) != 0;
}

TEST(PipeIoTest, OnlyOurEndIsNonBlocking) {
  const Pipe plain = Open(PipeMode::kBlocking);
  EXPECT_FALSE(IsNonBlocking(plain.read_end));
  EXPECT_FALSE(IsNonBlocking(plain.write_end));
  const Pipe output = Open(PipeMode::kNonBlockingRead);
  EXPECT_TRUE(IsNonBlocking(output.read_end));
  EXPECT_FALSE(IsNonBlocking(output.write_end));
  const Pipe input = Open(PipeMode::kNonBlockingWrite);
  EXPECT_FALSE(IsNonBlocking(input.read_end));
  EXPECT_TRUE(IsNonBlocking(input.write_end));
  for (const UniqueFd* fd : {&input.read_end, &input.write_end, &output.read_end}) {
    EXPECT_EQ(fcntl(fd->Get(), F_GETFD), FD_CLOEXEC);
  }
}

TEST(PipeIoTest, BytesThenWouldBlockThenEnd) {
  Pipe pipe = Open(PipeMode::kNonBlockingRead);
  std::array<char, 8> room{};
  EXPECT_EQ(ReadPipe(pipe.read_end.Get(), room.data(), room.size()).status, IoStatus::kWouldBlock);
  const IoResult written = WritePipe(pipe.write_end.Get(), "hello pipe");
  EXPECT_EQ(written.status, IoStatus::kBytes);
  EXPECT_EQ(written.bytes, 10U);
  const IoResult first = ReadPipe(pipe.read_end.Get(), room.data(), room.size());
  EXPECT_EQ(first.status, IoStatus::kBytes);
  EXPECT_EQ(std::string(room.data(), first.bytes), "hello pi");
  pipe.write_end.Reset();
  EXPECT_EQ(ReadPipe(pipe.read_end.Get(), room.data(), room.size()).bytes, 2U);  // data, then end
  EXPECT_EQ(ReadPipe(pipe.read_end.Get(), room.data(), room.size()).status, IoStatus::kEnd);
}

TEST(PipeIoTest, AFullPipeTakesAPartAndThenNothing) {
  const Pipe pipe = Open(PipeMode::kNonBlockingWrite);
  const std::string much(std::size_t{8} << 20, 'x');
  const IoResult part = WritePipe(pipe.write_end.Get(), much);
  ASSERT_EQ(part.status, IoStatus::kBytes);
  EXPECT_GT(part.bytes, 0U);
  EXPECT_LT(part.bytes, much.size());
  EXPECT_EQ(WritePipe(pipe.write_end.Get(), much).status, IoStatus::kWouldBlock);
  EXPECT_EQ(WritePipe(pipe.write_end.Get(), "").status, IoStatus::kBytes);
}

// Without precautions this test doesn't fail but dies.
TEST(PipeIoTest, AReaderThatHasGoneIsAnErrorAndNoSignal) {
  for (void (*disposition)(int) : {SIG_DFL, SIG_IGN}) {
    ASSERT_NE(signal(SIGPIPE, disposition), SIG_ERR);
    Pipe pipe = Open(PipeMode::kNonBlockingWrite);
    pipe.read_end.Reset();
    const IoResult result = WritePipe(pipe.write_end.Get(), "x");
    EXPECT_EQ(result.status, IoStatus::kError);
    EXPECT_EQ(result.error, EPIPE);
    sigset_t mask;
    ASSERT_EQ(pthread_sigmask(SIG_BLOCK, nullptr, &mask), 0);
    EXPECT_EQ(sigismember(&mask, SIGPIPE), 0) << "the mask was not put back";
  }
  signal(SIGPIPE, SIG_DFL);
}

TEST(PipeIoTest, AClosedDescriptorIsAnError) {
  std::array<char, 8> room{};
  EXPECT_EQ(ReadPipe(-1, room.data(), room.size()).error, EBADF);
  EXPECT_EQ(WritePipe(-1, "x").error, EBADF);
}

}  // namespace
}  // namespace TURTLE_SERVER
