// Successors that serve, that fail in every possible way, and that say nothing: all of them reaped.
#include "app/hand_over.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <filesystem>
#include <functional>
#include <stdexcept>
#include <string>
#include <vector>

#include "core/socket.h"
#include "process/pipe_io.h"
#include "support/captured_stderr.h"
#include "support/client.h"
#include "support/gate.h"
#include "support/log_folder.h"

namespace TURTLE_SERVER {
namespace {

using std::chrono::milliseconds;

class HandOverTest : public testing::Test {
 protected:
  HandOverTest() {
    listener_.Bind(NetAddress("127.0.0.1", 0));
    listener_.Listen();
  }

  // Writes a program for /bin/sh, and returns its path.
  auto Script(const std::string& text) -> std::string {
    folder_.Write("program", "#!/bin/sh\n" + text + "\n");
    ::chmod(folder_.Path("program").c_str(), 0755);
    return folder_.Path("program");
  }

  [[nodiscard]] auto With(const std::string& program) const -> HandOverOptions {
    HandOverOptions options;
    options.command = {program, "serve", folder_.Path()};
    options.listeners = {listener_.GetFd()};
    options.names = {"web"};
    options.time_limit = test::kPatience;
    return options;
  }

  // Runs the loop until `condition` holds, or for kPatience.
  void RunUntil(const std::function<bool()>& condition) {
    const auto deadline = std::chrono::steady_clock::now() + test::kPatience;
    std::function<void()> look = [&] {
      if (condition() || std::chrono::steady_clock::now() > deadline) {
        looper_.Stop();
      } else {
        looper_.RunAfter(milliseconds(5), look);
      }
    };
    looper_.RunAfter(milliseconds(0), look);
    looper_.Loop();
    EXPECT_TRUE(condition());
  }

  auto HasSaid(const std::string& text) -> std::function<bool()> {
    return [this, text] { return errors_.Text().find(text) != std::string::npos; };
  }

  auto IsThere(const std::string& name) -> bool {
    return std::filesystem::exists(folder_.Path(name));
  }

  static auto HasNoChildren() -> bool {
    return ::waitpid(-1, nullptr, WNOHANG) < 0 && errno == ECHILD;
  }

  test::LogFolder folder_;
  test::CapturedStderr errors_;
  Socket listener_;
  Looper looper_;
  std::vector<pid_t> ready_;
};

TEST_F(HandOverTest, TheSuccessorIsLeftWhatItNeeds) {
  const std::string program = Script(
      "exec 5<&3 || exit 9\n"
      "echo \"$LISTEN_FDS $LISTEN_FDNAMES $LISTEN_PID $$ $TURTLE_READY_FD $@\" > \"$2/said\"\n"
      "printf 'READY=1\\n' >&4\n"
      "exec sleep 60");
  HandOver hand_over(looper_, With(program), [this](pid_t pid) { ready_.push_back(pid); });
  hand_over.Begin();
  EXPECT_TRUE(hand_over.UnderWay());
  RunUntil([this] { return !ready_.empty(); });
  ASSERT_EQ(ready_.size(), 1U);
  EXPECT_FALSE(hand_over.UnderWay());
  const std::string pid = std::to_string(ready_[0]);
  EXPECT_NE(errors_.Text().find("INFO hand-over: process " + pid + " was started\n"),
            std::string::npos)
      << errors_.Text();
  EXPECT_EQ(folder_.Read("said"), "1 web " + pid + " " + pid + " 4 serve " + folder_.Path() + "\n");
  ::kill(ready_[0], SIGKILL);
  ::waitpid(ready_[0], nullptr, 0);
}

TEST_F(HandOverTest, EachListenerHasItsNameThoughOneIsEmpty) {
  HandOverOptions options =
      With(Script("echo \"$LISTEN_FDS $LISTEN_FDNAMES\" > \"$2/said\"\n"
                  "printf 'READY=1\\n' >&5\nexec sleep 60"));
  options.listeners = {listener_.GetFd(), listener_.GetFd()};
  options.names = {"", "web"};
  HandOver hand_over(looper_, options, [this](pid_t pid) { ready_.push_back(pid); });
  hand_over.Begin();
  RunUntil([this] { return !ready_.empty(); });
  ASSERT_EQ(ready_.size(), 1U);
  EXPECT_EQ(folder_.Read("said"), "2 :web\n");
  ::kill(ready_[0], SIGKILL);
  ::waitpid(ready_[0], nullptr, 0);
}

TEST_F(HandOverTest, OneThatDiesAfterItsWordIsReapedAndTold) {
  const std::string program = Script("printf 'READY=1\\n' >&4\nexit 7");
  HandOver hand_over(looper_, With(program), [this](pid_t pid) { ready_.push_back(pid); });
  hand_over.Begin();
  RunUntil(HasSaid("ended with code 7, having taken over"));
  EXPECT_EQ(ready_.size(), 1U);
  EXPECT_TRUE(HasNoChildren());
}

TEST_F(HandOverTest, AProgramThatIsNotThereIsTold) {
  HandOver hand_over(looper_, With(folder_.Path("none")), [](pid_t) { FAIL(); });
  hand_over.Begin();
  RunUntil(HasSaid("hand-over: '" + folder_.Path("none") +
                   "': No such file or directory; this process continues to serve"));
  EXPECT_TRUE(HasNoChildren());
}

TEST_F(HandOverTest, ANameThatIsNotInPathIsTold) {
  HandOver hand_over(looper_, With("no-such-program-as-this"), [](pid_t) { FAIL(); });
  hand_over.Begin();
  EXPECT_TRUE(HasSaid("'no-such-program-as-this': No such file")()) << errors_.Text();
}

TEST_F(HandOverTest, AFileThatIsNoProgramIsTold) {
  folder_.Write("text", "not to be executed");
  HandOver hand_over(looper_, With(folder_.Path("text")), [](pid_t) { FAIL(); });
  hand_over.Begin();
  RunUntil(HasSaid("Permission denied; this process continues to serve"));
  EXPECT_TRUE(HasNoChildren());
}

TEST_F(HandOverTest, OneThatEndsIsToldAndAnotherMayTry) {
  HandOver hand_over(looper_, With(Script("exit 3")), [this](pid_t pid) { ready_.push_back(pid); });
  hand_over.Begin();
  bool again = false;
  RunUntil([&] {
    if (!again && HasSaid("ended with code 3; this process continues to serve")()) {
      again = true;
      Script("printf 'READY=1\\n' >&4\nexec sleep 60");
      hand_over.Begin();
    }
    return !ready_.empty();
  });
  ASSERT_EQ(ready_.size(), 1U);
  ::kill(ready_[0], SIGKILL);
  ::waitpid(ready_[0], nullptr, 0);
}

TEST_F(HandOverTest, WhyOneHasFailedIsTold) {
  HandOver hand_over(looper_, With(Script("printf 'FAILED=a: bad\\nb: worse\\n' >&4\nexit 2")),
                     [](pid_t) { FAIL(); });
  hand_over.Begin();
  RunUntil(
      HasSaid("ended with code 2; this process continues to serve. It said: a: bad; b: worse\n"));
  EXPECT_TRUE(HasNoChildren());
}

TEST_F(HandOverTest, AReasonOfAnyLengthIsALine) {
  HandOver hand_over(looper_, With(Script("printf 'FAILED=%05000d' 7 >&4\nexit 2")),
                     [](pid_t) { FAIL(); });
  hand_over.Begin();
  RunUntil(HasSaid("ended with code 2; this process continues to serve. It said: 0000"));
  EXPECT_TRUE(HasNoChildren());
}

TEST_F(HandOverTest, OneThatIsKilledIsTold) {
  HandOver hand_over(looper_, With(Script("kill -TERM $$")), [](pid_t) { FAIL(); });
  hand_over.Begin();
  RunUntil(HasSaid("was ended by signal 15; this process continues to serve"));
  EXPECT_TRUE(HasNoChildren());
}

TEST_F(HandOverTest, OneThatSaysNothingIsKilledWhenTheTimeIsUp) {
  HandOverOptions options = With(Script("exec sleep 60"));
  options.time_limit = milliseconds(50);
  HandOver hand_over(looper_, options, [](pid_t) { FAIL(); });
  hand_over.Begin();
  RunUntil(HasSaid("did not say within 50 ms that it serves; this process continues to serve"));
  EXPECT_TRUE(HasNoChildren());
}

TEST_F(HandOverTest, SomethingElseIsNotTheWord) {
  HandOver hand_over(looper_, With(Script("printf 'READY=0\\nREADY=1\\n' >&4\nexit 4")),
                     [](pid_t) { FAIL(); });
  hand_over.Begin();
  RunUntil(HasSaid("ended with code 4; this process continues to serve"));
}

TEST_F(HandOverTest, ASecondBeginningMeanwhileIsNothingAndAbandonEndsTheFirst) {
  HandOver hand_over(looper_, With(Script("exec sleep 60")), [](pid_t) { FAIL(); });
  hand_over.Begin();
  hand_over.Begin();
  EXPECT_TRUE(hand_over.UnderWay());
  hand_over.Abandon();
  EXPECT_FALSE(hand_over.UnderWay());
  RunUntil(HasSaid("was ended by signal 15, as it was asked to"));
  EXPECT_TRUE(HasNoChildren()) << "there was one, and it has been reaped";
}

TEST_F(HandOverTest, OneWhoseWordHasNotBeenReadYetIsNotAbandoned) {
  HandOver hand_over(looper_,
                     With(Script("printf 'READY=1\n' >&4\n: > \"$2/said\"\nexec sleep 60")),
                     [this](pid_t pid) { ready_.push_back(pid); });
  hand_over.Begin();
  ASSERT_TRUE(test::Await([this] { return IsThere("said"); }));
  hand_over.Abandon();
  ASSERT_EQ(ready_.size(), 1U);
  EXPECT_EQ(::waitpid(ready_[0], nullptr, WNOHANG), 0) << "it serves";
  ::kill(ready_[0], SIGKILL);
  ::waitpid(ready_[0], nullptr, 0);
}

TEST_F(HandOverTest, AnAbandonedOneFinishesWhatItHasBegun) {
  {
    HandOver hand_over(looper_,
                       With(Script("trap ': > \"$2/finished\"; exit' TERM\n: > \"$2/serves\"\n"
                                   "while :; do sleep 0.01; done")),
                       [](pid_t) { FAIL(); });
    hand_over.Begin();
    ASSERT_TRUE(test::Await([this] { return IsThere("serves"); }));
    hand_over.Abandon();
  }
  EXPECT_TRUE(IsThere("finished"));
  EXPECT_TRUE(HasNoChildren());
}

TEST_F(HandOverTest, AnAbandonedOneThatDoesNotEndIsKilled) {
  {
    HandOverOptions options = With(Script("trap '' TERM\n: > \"$2/serves\"\nexec sleep 60"));
    options.time_limit = milliseconds(50);
    HandOver hand_over(looper_, options, [](pid_t) { FAIL(); });
    hand_over.Begin();
    ASSERT_TRUE(test::Await([this] { return IsThere("serves"); }));
    hand_over.Abandon();
  }
  EXPECT_TRUE(HasNoChildren());
}

TEST_F(HandOverTest, ASignalThatComesTooEarlyDoesNotEndIt) {
  HandOverOptions options =
      With(Script("kill -USR1 $$\nkill -HUP $$\nprintf 'READY=1\\n' >&4\nexec sleep 60"));
  options.early_signals = {SIGUSR1, SIGHUP};
  HandOver hand_over(looper_, options, [this](pid_t pid) { ready_.push_back(pid); });
  hand_over.Begin();
  RunUntil([this] { return !ready_.empty(); });
  ASSERT_EQ(ready_.size(), 1U);
  ::kill(ready_[0], SIGKILL);
  ::waitpid(ready_[0], nullptr, 0);
}

#ifdef __linux__
TEST_F(HandOverTest, NoOtherSignalIsBlockedOrIgnored) {
  const std::string program = Script(
      "grep -E 'Sig(Blk|Ign)' /proc/self/status > \"$2/signals\"\n"
      "printf 'READY=1\\n' >&4\nexec sleep 60");
  const auto before = std::signal(SIGUSR1, SIG_IGN);
  const auto hang_up = std::signal(SIGHUP, SIG_DFL);  // these tests may run under nohup(1)
  HandOver hand_over(looper_, With(program), [this](pid_t pid) { ready_.push_back(pid); });
  hand_over.Begin();
  std::signal(SIGUSR1, before);
  std::signal(SIGHUP, hang_up);
  RunUntil([this] { return !ready_.empty(); });
  ASSERT_EQ(ready_.size(), 1U);
  EXPECT_EQ(folder_.Read("signals"), "SigBlk:\t0000000000000000\nSigIgn:\t0000000000000000\n");
  ::kill(ready_[0], SIGKILL);
  ::waitpid(ready_[0], nullptr, 0);
}
#endif

// --- a secret -----------------------------------------------------------------------------------

TEST_F(HandOverTest, ASecretComesThroughAPipeOfItsOwn) {
  HandOverOptions options =
      With(Script("echo \"$LISTEN_FDS $TURTLE_READY_FD $TURTLE_SECRET_FD\" > \"$2/said\"\n"
                  "env > \"$2/environment\"\n"
                  "cat <&6 > \"$2/secret\"\n"
                  "printf 'READY=1\\n' >&5\nexec sleep 60"));
  options.listeners = {listener_.GetFd(), listener_.GetFd()};
  options.names = {"web", "web"};
  const std::string secret = std::string("1c\0\n", 4) + "sesame" + std::string(180, '\xff');
  options.secret = [&secret] { return secret; };
  HandOver hand_over(looper_, options, [this](pid_t pid) { ready_.push_back(pid); });
  hand_over.Begin();
  RunUntil([this] { return !ready_.empty(); });
  ASSERT_EQ(ready_.size(), 1U);
  EXPECT_EQ(folder_.Read("said"), "2 5 6\n");
  EXPECT_EQ(folder_.Read("secret"), secret) << "and its end: nobody else can write";
  EXPECT_EQ(folder_.Read("environment").find("sesame"), std::string::npos);
  EXPECT_EQ(errors_.Text().find("sesame"), std::string::npos);
  ::kill(ready_[0], SIGKILL);
  ::waitpid(ready_[0], nullptr, 0);
}

TEST_F(HandOverTest, EachSuccessorGetsTheSecretOfItsBeginning) {
  HandOverOptions options = With(Script("cat <&5 >> \"$2/secrets\"\nexit 3"));
  int count = 0;
  options.secret = [&count] { return "secret " + std::to_string(++count) + "\n"; };
  HandOver hand_over(looper_, options, [](pid_t) { FAIL(); });
  EXPECT_EQ(count, 0);
  hand_over.Begin();
  RunUntil([&] {
    if (count == 1 && !hand_over.UnderWay()) {
      hand_over.Begin();
    }
    return count == 2 && !hand_over.UnderWay();
  });
  EXPECT_EQ(folder_.Read("secrets"), "secret 1\nsecret 2\n");
}

class HandOverWithoutSecretTest : public HandOverTest, public testing::WithParamInterface<bool> {};

TEST_P(HandOverWithoutSecretTest, ThereIsNoPipeForIt) {
  HandOverOptions options =
      With(Script("echo \"${TURTLE_SECRET_FD-none}\" > \"$2/said\"\n"
                  "if true 2> /dev/null <&5; then echo open >> \"$2/said\"; fi\nexit 3"));
  if (GetParam()) {
    options.secret = [] { return std::string(); };
  }
  ::setenv("TURTLE_SECRET_FD", "77", 1);  // not ours, so it is not passed on
  HandOver hand_over(looper_, options, [](pid_t) { FAIL(); });
  hand_over.Begin();
  ::unsetenv("TURTLE_SECRET_FD");
  RunUntil([&hand_over] { return !hand_over.UnderWay(); });
  EXPECT_EQ(folder_.Read("said"), "none\n");
}

INSTANTIATE_TEST_SUITE_P(Each, HandOverWithoutSecretTest, testing::Bool(),
                         [](const auto& each) { return each.param ? "AnEmptyOne" : "NoFunction"; });

TEST_F(HandOverTest, TheLongestSecretFits) {
  HandOverOptions options = With(Script("cat <&5 > \"$2/secret\"\nexit 3"));
  options.secret = [] { return std::string(HandOverOptions::kMostSecret, 's'); };
  HandOver hand_over(looper_, options, [](pid_t) { FAIL(); });
  hand_over.Begin();
  RunUntil([&hand_over] { return !hand_over.UnderWay(); });
  EXPECT_EQ(folder_.Read("secret"), std::string(HandOverOptions::kMostSecret, 's'));
}

TEST_F(HandOverTest, ASecretThatIsTooLongStartsNobody) {
  HandOverOptions options = With(Script(": > \"$2/started\"\nexec sleep 60"));
  const std::size_t size = HandOverOptions::kMostSecret + 1;
  options.secret = [] { return std::string(size, 's'); };
  HandOver hand_over(looper_, options, [](pid_t) { FAIL(); });
  hand_over.Begin();
  EXPECT_FALSE(hand_over.UnderWay());
  EXPECT_TRUE(HasSaid("ERROR hand-over: a secret of " + std::to_string(size) +
                      " bytes; this process continues to serve\n")())
      << errors_.Text();
  EXPECT_TRUE(HasNoChildren());
  EXPECT_FALSE(IsThere("started"));
}

TEST_F(HandOverTest, ASecretThatCannotBeHadStartsNobody) {
  HandOverOptions options = With(Script("exec sleep 60"));
  options.secret = []() -> std::string { throw std::runtime_error("no secret"); };
  HandOver hand_over(looper_, options, [](pid_t) { FAIL(); });
  hand_over.Begin();
  EXPECT_TRUE(HasSaid("hand-over: no secret; this process continues to serve")());
  EXPECT_TRUE(HasNoChildren());
}

// Makes the environment of a successor with this secret. Returns its descriptor.
auto LeaveSecret(const std::string& secret) -> int {
  int ends[2];
  EXPECT_EQ(::pipe(ends), 0);
  const UniqueFd writes(ends[1]);
  EXPECT_EQ(WritePipe(writes.Get(), secret).bytes, secret.size());
  ::setenv("TURTLE_SECRET_FD", std::to_string(ends[0]).c_str(), 1);
  return ends[0];
}

TEST(TakeSecret, TakesWhatThePredecessorHasLeft) {
  for (const std::string& secret : {std::string("sesame"), std::string("1c\0\xff\n", 5),
                                    std::string(HandOverOptions::kMostSecret, 's')}) {
    const int fd = LeaveSecret(secret);
    EXPECT_EQ(TakeSecret(), secret);
    EXPECT_EQ(::getenv("TURTLE_SECRET_FD"), nullptr) << "not for our children";
    EXPECT_EQ(::fcntl(fd, F_GETFD), -1) << "and closed";
    EXPECT_EQ(TakeSecret(), "") << "it is gone";
  }
}

TEST(TakeSecret, WithoutAPredecessorThereIsNone) {
  ::unsetenv("TURTLE_SECRET_FD");
  EXPECT_EQ(TakeSecret(), "");
}

TEST(TakeSecret, APipeThatSomebodyElseHoldsOpenStopsNobody) {
  int ends[2];
  ASSERT_EQ(::pipe(ends), 0);
  const UniqueFd writes(ends[1]);
  ::setenv("TURTLE_SECRET_FD", std::to_string(ends[0]).c_str(), 1);
  EXPECT_EQ(TakeSecret(), "");
}

TEST(TakeSecret, WhatIsNoPipeIsNobodysSecret) {
  const UniqueFd file(::open("/dev/null", O_RDONLY | O_CLOEXEC));
  for (const std::string& wrong :
       {std::string(""), std::string("x"), std::string("5x"), std::string("-1"), std::string("0"),
        std::string("99999999999"), std::string("888888"), std::to_string(file.Get())}) {
    ::setenv("TURTLE_SECRET_FD", wrong.c_str(), 1);
    EXPECT_EQ(TakeSecret(), "") << wrong;
    EXPECT_EQ(::getenv("TURTLE_SECRET_FD"), nullptr);
  }
  EXPECT_NE(::fcntl(file.Get(), F_GETFD), -1) << "it belongs to somebody else";
}

TEST(FindProgram, LooksWhereTheShellWould) {
  const test::LogFolder folder;
  folder.Write("bin/turtle", "#!/bin/sh\n");
  folder.Write("first/turtle", "not executable");
  ::chmod(folder.Path("bin/turtle").c_str(), 0755);
  const std::string path = folder.Path("none") + ":" + folder.Path("first") + ":" +
                           folder.Path("bin") + ":" + folder.Path();
  EXPECT_EQ(FindProgram("turtle", path), folder.Path("bin/turtle"));
  EXPECT_EQ(FindProgram("bin", path), std::nullopt) << "a folder is no program";
  EXPECT_EQ(FindProgram("tortoise", path), std::nullopt);
  EXPECT_EQ(FindProgram("turtle", ""), std::nullopt);
  EXPECT_EQ(FindProgram("", path), std::nullopt);
  EXPECT_EQ(FindProgram("./turtle", path), "./turtle") << "a path is one, there or not";
}

TEST(ReadyPipe, WithoutAPredecessorNobodyIsTold) {
  ::unsetenv("TURTLE_READY_FD");
  const ReadyPipe pipe;
  EXPECT_FALSE(pipe.IsAwaited());
  pipe.Tell();
}

TEST(ReadyPipe, ThePredecessorIsTold) {
  int ends[2];
  ASSERT_EQ(::pipe(ends), 0);
  const UniqueFd reads(ends[0]);
  ASSERT_EQ(::fcntl(reads.Get(), F_SETFL, O_NONBLOCK), 0);
  ::setenv("TURTLE_READY_FD", std::to_string(ends[1]).c_str(), 1);
  {
    const ReadyPipe pipe;
    EXPECT_EQ(::getenv("TURTLE_READY_FD"), nullptr) << "not for our children";
    EXPECT_EQ(::fcntl(ends[1], F_GETFD), FD_CLOEXEC);
    EXPECT_TRUE(pipe.IsAwaited());
    pipe.Tell();
    char text[32];
    const ssize_t count = ::read(reads.Get(), text, sizeof text);
    EXPECT_EQ(std::string(text, count > 0 ? static_cast<std::size_t>(count) : 0), "READY=1\n");
  }
  EXPECT_EQ(::fcntl(ends[1], F_GETFD), -1) << "with the process it is closed, too";
}

TEST(ReadyPipe, ThePredecessorReadsTheReason) {
  int ends[2];
  ASSERT_EQ(::pipe(ends), 0);
  const UniqueFd reads(ends[0]);
  ASSERT_EQ(::fcntl(reads.Get(), F_SETFL, O_NONBLOCK), 0);
  ::setenv("TURTLE_READY_FD", std::to_string(ends[1]).c_str(), 1);
  const ReadyPipe pipe;
  const auto heard = [&reads] {
    std::string text(4096, '\0');
    const ssize_t count = ::read(reads.Get(), text.data(), text.size());
    text.resize(count > 0 ? static_cast<std::size_t>(count) : 0);
    return text;
  };
  pipe.Fail("no such file");
  EXPECT_EQ(heard(), "FAILED=no such file");
  pipe.Fail(std::string(3000, 'x'));
  EXPECT_EQ(heard(), "FAILED=" + std::string(1000 - 7, 'x')) << "a log line has no room for more";
}

TEST(ReadyPipe, WhatIsNoPipeIsRefused) {
  const UniqueFd file(::open("/dev/null", O_WRONLY | O_CLOEXEC));
  for (const std::string& wrong :
       {std::string(""), std::string("x"), std::string("-1"), std::string("2"),
        std::string("99999999999"), std::string("888888"), std::to_string(file.Get())}) {
    ::setenv("TURTLE_READY_FD", wrong.c_str(), 1);
    EXPECT_THROW(ReadyPipe(), std::runtime_error) << wrong;
    EXPECT_EQ(::getenv("TURTLE_READY_FD"), nullptr);
  }
}

}  // namespace
}  // namespace TURTLE_SERVER
