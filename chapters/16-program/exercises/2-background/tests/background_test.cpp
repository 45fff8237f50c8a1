#include "app/background.h"

#include <gtest/gtest.h>
#include <poll.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <functional>
#include <string>

namespace TURTLE_SERVER {
namespace {

constexpr int kPatienceMs = 20'000;

class Pipe {
 public:
  Pipe() { EXPECT_EQ(::pipe(ends_.data()), 0); }
  Pipe(const Pipe&) = delete;
  auto operator=(const Pipe&) -> Pipe& = delete;
  ~Pipe() {
    CloseReader();
    CloseWriter();
  }

  void CloseReader() { Close(ends_[0]); }
  void CloseWriter() { Close(ends_[1]); }
  [[nodiscard]] auto Writer() const -> int { return ends_[1]; }

  void Say(const std::string& text) const {
    static_cast<void>(!::write(ends_[1], text.data(), text.size()));
  }

  // Everything up to `end`, or until all writers are closed or nothing came for a while.
  [[nodiscard]] auto Hear(char end = '\0') const -> std::string {
    std::string heard;
    char byte = 0;
    pollfd waiting{ends_[0], POLLIN, 0};
    while (::poll(&waiting, 1, kPatienceMs) > 0 && ::read(ends_[0], &byte, 1) == 1) {
      heard += byte;
      if (byte == end) {
        break;
      }
    }
    return heard;
  }

 private:
  static void Close(int& fd) {
    if (fd >= 0) {
      ::close(fd);
      fd = -1;
    }
  }

  std::array<int, 2> ends_{-1, -1};
};

auto IsNullDevice(int fd) -> bool {
  struct stat here {};
  struct stat null_device {};
  return ::fstat(fd, &here) == 0 && ::stat("/dev/null", &null_device) == 0 &&
         S_ISCHR(here.st_mode) && here.st_rdev == null_device.st_rdev;
}

// Each test calls it in another process, which then ends, as a program does.
class BackgroundTest : public ::testing::Test {
 protected:
  using Work = std::function<int(const ReadyCallback&)>;

  // @return the result of RunInBackground()
  auto Run(const Work& work) -> int {
    const pid_t caller = ::fork();
    if (caller == 0) {
      ::alarm(30);  // a hang ends it
      until_.CloseWriter();
      out_.CloseReader();
      ::dup2(out_.Writer(), STDOUT_FILENO);
      ::dup2(out_.Writer(), STDERR_FILENO);
      out_.CloseWriter();
      ::_exit(RunInBackground(work));
    }
    facts_.CloseWriter();
    out_.CloseWriter();
    int status = 0;
    while (::waitpid(caller, &status, 0) < 0 && errno == EINTR) {
    }
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
  }

  // Waits in the background until the test ends.
  void WaitForTheEnd() const { static_cast<void>(until_.Hear()); }

  Pipe facts_;  // through which the work reports to the test
  Pipe out_;    // standard output and error of the caller
  Pipe until_;  // its writer is closed with the test
};

TEST_F(BackgroundTest, TheCallerGoesOnWhenTheWorkIsReady) {
  EXPECT_EQ(Run([this](const ReadyCallback& ready) {
              ready();
              WaitForTheEnd();
              facts_.Say("over");
              return 0;
            }),
            0);
  until_.CloseWriter();
  EXPECT_EQ(facts_.Hear(), "over") << "it is not there any more";
}

TEST_F(BackgroundTest, ItHasItsOwnSession) {
  ASSERT_EQ(Run([this](const ReadyCallback& ready) {
              facts_.Say(::getsid(0) == ::getpid() ? "own;" : "shared;");
              ready();
              return 0;
            }),
            0);
  EXPECT_EQ(facts_.Hear(';'), "own;");
}

TEST_F(BackgroundTest, WhatEndsBeforeItIsReadyHasAnExitCode) {
  EXPECT_EQ(Run([](const ReadyCallback&) { return 3; }), 3);
}

TEST_F(BackgroundTest, ASignalBeforeItIsReadyIsOneToo) {
  EXPECT_EQ(Run([](const ReadyCallback&) -> int {
              ::raise(SIGKILL);
              return 0;
            }),
            128 + SIGKILL);
}

TEST_F(BackgroundTest, ErrorsAreSeenUntilItIsReady) {
  ASSERT_EQ(Run([this](const ReadyCallback& ready) {
              static_cast<void>(!::write(STDOUT_FILENO, "one ", 4));
              static_cast<void>(!::write(STDERR_FILENO, "two", 3));
              ready();
              ready();
              static_cast<void>(!::write(STDOUT_FILENO, "three", 5));
              static_cast<void>(!::write(STDERR_FILENO, "four", 4));
              facts_.Say(IsNullDevice(0) && IsNullDevice(1) && IsNullDevice(2) ? "null;" : "open;");
              WaitForTheEnd();
              return 0;
            }),
            0);
  // Ends although the background is still there: it has let go of both.
  EXPECT_EQ(out_.Hear(), "one two");
  EXPECT_EQ(facts_.Hear(';'), "null;");
}

TEST_F(BackgroundTest, ItReadsNothingFromTheTerminal) {
  ASSERT_EQ(Run([this](const ReadyCallback& ready) {
              facts_.Say(IsNullDevice(STDIN_FILENO) ? "null;" : "open;");
              ready();
              return 0;
            }),
            0);
  EXPECT_EQ(facts_.Hear(';'), "null;");
}

}  // namespace
}  // namespace TURTLE_SERVER
