#include "process/child_process.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <string>
#include <thread>
#include <vector>

#include "process/pipe_io.h"

namespace TURTLE_SERVER {
namespace {

using Clock = std::chrono::steady_clock;
// Programs that exist to be killed are `sleep 100`: idle, and gone some day even if a test
// fails.
constexpr auto kPatience = std::chrono::seconds(10);  // a bound for failures, never waited out

auto OpenDirectory(const char* path) -> UniqueFd {
  UniqueFd fd(open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  EXPECT_TRUE(fd) << path;
  return fd;
}

// A shell command with its output on a pipe of ours; the shell is the program, not our helper.
class ShellCommand {
 public:
  explicit ShellCommand(const std::string& script, std::vector<std::string> arguments = {})
      : directory_(OpenDirectory("/bin")) {
    EXPECT_EQ(OpenPipe(PipeMode::kNonBlockingRead, output_), 0);
    options_.directory_fd = directory_.Get();
    options_.program = "sh";
    options_.arguments = {"-c", script, "sh"};
    options_.arguments.insert(options_.arguments.end(), arguments.begin(), arguments.end());
    options_.stdout_fd = output_.write_end.Get();
  }

  auto Options() -> ChildOptions& { return options_; }

  auto Start() -> bool {
    const SpawnResult result = child_.Start(options_);
    EXPECT_TRUE(result) << result.ToString();
    output_.write_end.Reset();
    return static_cast<bool>(result);
  }

  // Returns everything until the last holder of the pipe is gone, or until `enough` has been read.
  auto ReadOutput(std::size_t enough = std::string::npos) const -> std::string {
    std::string text;
    const auto deadline = Clock::now() + kPatience;
    while (text.size() < enough) {
      std::array<char, 4096> piece;
      const IoResult result = ReadPipe(output_.read_end.Get(), piece.data(), piece.size());
      if (result.status == IoStatus::kBytes) {
        text.append(piece.data(), result.bytes);
      } else if (result.status != IoStatus::kWouldBlock) {
        break;
      } else if (Clock::now() > deadline) {
        ADD_FAILURE() << "no end of the output";
        break;
      } else {
        pollfd waiting{output_.read_end.Get(), POLLIN, 0};
        poll(&waiting, 1, 1000);
      }
    }
    return text;
  }

  auto AwaitEnd() -> ExitStatus {
    const auto deadline = Clock::now() + kPatience;
    while (Clock::now() < deadline) {
      if (const auto status = child_.TryReap()) {
        return *status;
      }
      pollfd waiting{child_.ExitFd(), POLLIN, 0};
      poll(&waiting, 1, child_.ExitFd() >= 0 ? 1000 : 1);
    }
    ADD_FAILURE() << "the program does not end";
    return {};
  }

  auto Child() -> ChildProcess& { return child_; }

 private:
  UniqueFd directory_;
  Pipe output_;
  ChildOptions options_;
  ChildProcess child_;
};

auto RunShell(const std::string& script, std::vector<std::string> arguments = {}) -> std::string {
  ShellCommand command(script, std::move(arguments));
  return command.Start() ? command.ReadOutput() : "not started";
}

auto CountDescriptors() -> int {
  int count = 0;
  for (int fd = 0; fd < 1024; ++fd) {
    count += fcntl(fd, F_GETFD) >= 0 ? 1 : 0;
  }
  return count;
}

void AwaitNoneAbandoned() {
  const auto deadline = Clock::now() + kPatience;
  while (ChildProcess::ReapAbandoned() > 0 && Clock::now() < deadline) {
    std::this_thread::yield();
  }
  EXPECT_EQ(ChildProcess::ReapAbandoned(), 0U);
}

auto Exists(pid_t pid) -> bool { return kill(pid, 0) == 0 || errno != ESRCH; }

TEST(ChildProcessTest, ArgumentsArriveAsTheyAreAndNoShellSeesThem) {
  const std::string script = R"(for each in "$@"; do printf '[%s]' "$each"; done)";
  EXPECT_EQ(RunShell(script, {"a b", "", "$(echo x);`id`", "*", "'\"\\", "\n"}),
            "[a b][][$(echo x);`id`][*]['\"\\][\n]");
}

TEST(ChildProcessTest, TheEnvironmentIsTheGivenOneAndNothingElse) {
  std::string variable = "NAME=a value";
  std::array<char*, 2> envp = {variable.data(), nullptr};
  ShellCommand command("/usr/bin/env");
  command.Options().envp = envp.data();
  ASSERT_TRUE(command.Start());
  const std::string seen = "\n" + command.ReadOutput();
  EXPECT_NE(seen.find("\nNAME=a value\n"), std::string::npos) << seen;
  EXPECT_EQ(seen.find("\nHOME="), std::string::npos) << seen;  // the shell adds PWD and the like
}

TEST(ChildProcessTest, RunsInTheDirectoryOfTheProgram) {
  EXPECT_EQ(RunShell("[ . -ef /bin ] && echo same"), "same\n");
}

TEST(ChildProcessTest, StandardInputIsTheGivenPipe) {
  Pipe input;
  ASSERT_EQ(OpenPipe(PipeMode::kNonBlockingWrite, input), 0);
  ShellCommand command("cat");
  command.Options().stdin_fd = input.read_end.Get();
  ASSERT_TRUE(command.Start());
  input.read_end.Reset();
  EXPECT_EQ(WritePipe(input.write_end.Get(), "through the pipe").bytes, 16U);
  input.write_end.Reset();  // an end that had leaked into the program would keep it waiting
  EXPECT_EQ(command.ReadOutput(), "through the pipe");
}

TEST(ChildProcessTest, StandardInputIsEmptyWhenNotGiven) { EXPECT_EQ(RunShell("cat"), ""); }

TEST(ChildProcessTest, StandardErrorCanBeRedirected) {
  Pipe errors;
  ASSERT_EQ(OpenPipe(PipeMode::kNonBlockingRead, errors), 0);
  ShellCommand command("echo oops >&2; echo fine");
  command.Options().stderr_fd = errors.write_end.Get();
  ASSERT_TRUE(command.Start());
  EXPECT_EQ(command.ReadOutput(), "fine\n");
  std::array<char, 64> piece;
  const IoResult result = ReadPipe(errors.read_end.Get(), piece.data(), piece.size());
  ASSERT_EQ(result.status, IoStatus::kBytes);
  EXPECT_EQ(std::string(piece.data(), result.bytes), "oops\n");
}

TEST(ChildProcessTest, NoOtherDescriptorLeaks) {
  const UniqueFd leaky(fcntl(STDERR_FILENO, F_DUPFD, 100));  // without close-on-exec
  ASSERT_TRUE(leaky);
  ASSERT_EQ(fcntl(leaky.Get(), F_GETFD), 0);
  EXPECT_EQ(RunShell("for fd in 0 1 2 $1; do [ -e /dev/fd/$fd ] && printf '%s ' $fd; done",
                     {std::to_string(leaky.Get())}),
            "0 1 2 ");
}

// Programs that different loops start at the same time must not get each other's pipes: otherwise
// each output would end only with the last program.
TEST(ChildProcessTest, ManyThreadsStartPrograms) {
  std::array<std::string, 4> outputs;
  std::vector<std::thread> threads;
  threads.reserve(outputs.size());
  for (std::string& output : outputs) {
    threads.emplace_back([&output] {
      for (int round = 0; round < 10; ++round) {
        Pipe input;
        if (OpenPipe(PipeMode::kNonBlockingWrite, input) != 0) {
          return;
        }
        ShellCommand command("cat");
        command.Options().stdin_fd = input.read_end.Get();
        if (!command.Start()) {
          return;
        }
        input.read_end.Reset();
        const std::string text = std::to_string(round);
        if (WritePipe(input.write_end.Get(), text).bytes != text.size()) {
          return;
        }
        input.write_end.Reset();
        output += command.ReadOutput();
      }
    });
  }
  for (std::thread& thread : threads) {
    thread.join();
  }
  for (const std::string& output : outputs) {
    EXPECT_EQ(output, "0123456789");
  }
}

TEST(ChildProcessTest, SignalsAreAtTheirDefaultAndUnblocked) {
  ASSERT_NE(signal(SIGPIPE, SIG_IGN), SIG_ERR);
  sigset_t block;
  sigset_t before;
  sigemptyset(&block);
  sigaddset(&block, SIGTERM);
  ASSERT_EQ(pthread_sigmask(SIG_BLOCK, &block, &before), 0);
  for (const int number : {SIGPIPE, SIGTERM}) {
    ShellCommand command("kill -$1 $$; echo survived", {std::to_string(number)});
    if (command.Start()) {
      EXPECT_EQ(command.ReadOutput(), "");
      const ExitStatus status = command.AwaitEnd();
      EXPECT_EQ(status.kind, ExitStatus::Kind::kSignaled);
      EXPECT_EQ(status.value, number);
    }
  }
  sigset_t after;
  ASSERT_EQ(pthread_sigmask(SIG_SETMASK, &before, &after), 0);
  EXPECT_EQ(sigismember(&after, SIGTERM), 1) << "Start() changed our own mask";
  EXPECT_EQ(sigismember(&after, SIGINT), 0) << "Start() changed our own mask";
  signal(SIGPIPE, SIG_DFL);
}

TEST(ChildProcessTest, TheExitDescriptorTellsOfTheEnd) {
  ShellCommand command("read line; exit 7");
  Pipe input;
  ASSERT_EQ(OpenPipe(PipeMode::kBlocking, input), 0);
  command.Options().stdin_fd = input.read_end.Get();
  ASSERT_TRUE(command.Start());
  EXPECT_EQ(command.Child().TryReap().has_value(), false);
  EXPECT_GT(command.Child().Pid(), 0);
  if (command.Child().ExitFd() >= 0) {
    pollfd waiting{command.Child().ExitFd(), POLLIN, 0};
    EXPECT_EQ(poll(&waiting, 1, 0), 0) << "it still reads";
    EXPECT_EQ(fcntl(command.Child().ExitFd(), F_GETFD), FD_CLOEXEC);
    ASSERT_EQ(WritePipe(input.write_end.Get(), "go\n").bytes, 3U);
    EXPECT_EQ(poll(&waiting, 1, 10000), 1);
  } else {
    ASSERT_EQ(WritePipe(input.write_end.Get(), "go\n").bytes, 3U);
  }
  for (int again = 0; again < 2; ++again) {
    const ExitStatus status = command.AwaitEnd();
    EXPECT_EQ(status.kind, ExitStatus::Kind::kExited);
    EXPECT_EQ(status.value, 7);
  }
  EXPECT_EQ(command.Child().Pid(), -1);
}

// The program's own child holds the pipe too; only when both are gone does the output end.
TEST(ChildProcessTest, KillTakesTheWholeGroup) {
  ShellCommand command("sleep 100 2>/dev/null & echo $!; wait");
  ASSERT_TRUE(command.Start());
  EXPECT_EQ(getpgid(command.Child().Pid()), command.Child().Pid());
  EXPECT_NE(command.ReadOutput(2), "");
  command.Child().Kill();
  command.Child().Kill();  // harmless
  command.ReadOutput();    // fails if the output doesn't end
  const ExitStatus status = command.AwaitEnd();
  EXPECT_EQ(status.kind, ExitStatus::Kind::kSignaled);
  EXPECT_EQ(status.value, SIGKILL);
  command.Child().Kill();  // after the end: nothing
}

TEST(ChildProcessTest, KillReachesWhatALeaderLeftBehind) {
  ShellCommand command("sleep 100 2>/dev/null & echo left");
  ASSERT_TRUE(command.Start());
  EXPECT_EQ(command.ReadOutput(5), "left\n");
  siginfo_t info{};
  // The shell has ended, but isn't reaped: its number still names the group.
  ASSERT_EQ(waitid(P_PID, static_cast<id_t>(command.Child().Pid()), &info, WEXITED | WNOWAIT), 0);
  command.Child().Kill();
  command.ReadOutput();
  EXPECT_EQ(command.AwaitEnd().kind, ExitStatus::Kind::kExited);
}

TEST(ChildProcessTest, TheDestructorKillsAndLeavesNoZombie) {
  pid_t pid = -1;
  {
    ShellCommand command("echo ready; exec sleep 100 2>/dev/null");
    ASSERT_TRUE(command.Start());
    EXPECT_EQ(command.ReadOutput(6), "ready\n");
    pid = command.Child().Pid();
    EXPECT_TRUE(Exists(pid));
  }
  AwaitNoneAbandoned();
  EXPECT_FALSE(Exists(pid));
}

TEST(ChildProcessTest, MovingLeavesTheProgramRunning) {
  ShellCommand command("echo ready; exec sleep 100 2>/dev/null");
  ASSERT_TRUE(command.Start());
  EXPECT_EQ(command.ReadOutput(6), "ready\n");
  const pid_t pid = command.Child().Pid();
  ChildProcess moved = std::move(command.Child());
  command.Child() = ChildProcess();
  EXPECT_EQ(command.Child().Pid(), -1);
  EXPECT_EQ(moved.Pid(), pid);
  EXPECT_FALSE(moved.TryReap());
  moved = ChildProcess();
  AwaitNoneAbandoned();
  EXPECT_FALSE(Exists(pid));
}

TEST(ChildProcessTest, WhatCannotRunSaysWhyAndLeavesNothing) {
  const UniqueFd bin = OpenDirectory("/bin");
  const UniqueFd etc = OpenDirectory("/etc");
  struct Case {
    int directory;
    std::string program;
    int error;
    SpawnStep step;
  };
  const std::vector<Case> cases = {
      {bin.Get(), "no-such-program", ENOENT, SpawnStep::kExecute},
      {etc.Get(), "passwd", EACCES, SpawnStep::kExecute},
      {-1, "sh", EBADF, SpawnStep::kDirectory},
      {bin.Get(), "", EINVAL, SpawnStep::kPrepare},
      {bin.Get(), "..", EINVAL, SpawnStep::kPrepare},
      {bin.Get(), "../bin/sh", EINVAL, SpawnStep::kPrepare},
      {bin.Get(), std::string("sh\0x", 4), EINVAL, SpawnStep::kPrepare},
  };
  const int before = CountDescriptors();
  for (const Case& each : cases) {
    ChildProcess child;
    ChildOptions options;
    options.directory_fd = each.directory;
    options.program = each.program;
    const SpawnResult result = child.Start(options);
    EXPECT_FALSE(result) << each.program;
    EXPECT_EQ(result.error, each.error) << each.program << ": " << result.ToString();
    EXPECT_EQ(result.step, each.step) << each.program << ": " << result.ToString();
    EXPECT_EQ(child.Pid(), -1);
    EXPECT_FALSE(child.TryReap());
  }
  EXPECT_EQ(CountDescriptors(), before);
  AwaitNoneAbandoned();
  EXPECT_EQ(waitpid(-1, nullptr, WNOHANG), -1) << "a zombie is left";
  const SpawnResult denied{EACCES, SpawnStep::kExecute};
  EXPECT_EQ(denied.ToString(), "execve: Permission denied");
}

TEST(ChildProcessTest, AnArgumentWithANulIsRefusedNotCut) {
  ShellCommand command("echo $1", {std::string("a\0b", 3)});
  ChildProcess child;
  EXPECT_EQ(child.Start(command.Options()).error, EINVAL);
}

TEST(ChildProcessTest, OpenFilesCanBeLimited) {
  ShellCommand command("ulimit -n; ulimit -Hn");
  command.Options().max_open_files = 17;
  ASSERT_TRUE(command.Start());
  EXPECT_EQ(command.ReadOutput(), "17\n17\n");
  rlimit ours{};
  ASSERT_EQ(getrlimit(RLIMIT_NOFILE, &ours), 0);
  EXPECT_NE(ours.rlim_cur, 17U);
}

// A server may be started with its standard descriptors closed; its pipes then get their numbers,
// here even crosswise.
TEST(ChildProcessTest, WorksWithTheStandardDescriptorsClosed) {
  ShellCommand command("cat; echo end");
  Pipe input;
  ASSERT_EQ(OpenPipe(PipeMode::kBlocking, input), 0);
  ASSERT_EQ(WritePipe(input.write_end.Get(), "in ").bytes, 3U);
  input.write_end.Reset();
  const UniqueFd saved_stdin(fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 10));
  const UniqueFd saved_stdout(fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 10));
  ASSERT_TRUE(saved_stdin && saved_stdout);

  ASSERT_EQ(dup2(command.Options().stdout_fd, STDIN_FILENO), STDIN_FILENO);
  ASSERT_EQ(dup2(input.read_end.Get(), STDOUT_FILENO), STDOUT_FILENO);
  command.Options().stdin_fd = STDOUT_FILENO;
  command.Options().stdout_fd = STDIN_FILENO;
  const bool started = command.Start();
  ASSERT_EQ(dup2(saved_stdin.Get(), STDIN_FILENO), STDIN_FILENO);
  ASSERT_EQ(dup2(saved_stdout.Get(), STDOUT_FILENO), STDOUT_FILENO);

  ASSERT_TRUE(started);
  EXPECT_EQ(command.ReadOutput(), "in end\n");
}

// Closes some of the three standard descriptors for a while. Print nothing in the meantime.
class StandardClosed {
 public:
  explicit StandardClosed(int mask) {
    for (std::size_t fd = 0; fd < saved_.size(); ++fd) {
      if ((mask >> fd & 1) != 0) {
        saved_[fd].Reset(fcntl(static_cast<int>(fd), F_DUPFD_CLOEXEC, 10));
        close(static_cast<int>(fd));
      }
    }
  }
  StandardClosed(const StandardClosed&) = delete;
  auto operator=(const StandardClosed&) -> StandardClosed& = delete;
  ~StandardClosed() {
    for (std::size_t fd = 0; fd < saved_.size(); ++fd) {
      if (saved_[fd]) {
        dup2(saved_[fd].Get(), static_cast<int>(fd));
      }
    }
  }

 private:
  std::array<UniqueFd, 3> saved_;
};

// A file that a program opens must not become its standard error, whichever of ours are closed.
TEST(ChildProcessTest, AProgramHasAllThreeWhicheverAreClosedHere) {
  constexpr const char* kScript =
      "for fd in 0 1 2; do [ -e /dev/fd/$fd ] || echo none; done\n"
      "[ -c /dev/fd/0 ] && [ -p /dev/fd/1 ] && echo fine\n"
      "echo lost >&2\n";
  for (int mask = 0; mask < 8; ++mask) {
    Pipe input;   // holds a number of the three, as any descriptor of a server may
    Pipe output;  // and so does this
    UniqueFd directory;
    ChildProcess child;
    SpawnResult result;
    {
      const StandardClosed closed(mask);
      static_cast<void>(OpenPipe(PipeMode::kBlocking, input));
      static_cast<void>(OpenPipe(PipeMode::kNonBlockingRead, output));
      directory.Reset(open("/bin", O_RDONLY | O_DIRECTORY | O_CLOEXEC));
      ChildOptions options;
      options.directory_fd = directory.Get();
      options.program = "sh";
      options.arguments = {"-c", kScript};
      options.stdout_fd = output.write_end.Get();
      result = child.Start(options);
      // Moves them out of the way of the saved descriptors.
      for (UniqueFd* const each : {&output.read_end, &output.write_end}) {
        each->Reset(fcntl(each->Get(), F_DUPFD_CLOEXEC, 20));
      }
      input = Pipe();
      directory.Reset();
    }
    ASSERT_TRUE(result) << mask << result.ToString();
    output.write_end.Reset();
    std::string text;
    pollfd waiting{output.read_end.Get(), POLLIN, 0};
    for (;;) {
      std::array<char, 256> piece;
      const IoResult read = ReadPipe(output.read_end.Get(), piece.data(), piece.size());
      if (read.status == IoStatus::kBytes) {
        text.append(piece.data(), read.bytes);
      } else if (read.status != IoStatus::kWouldBlock || poll(&waiting, 1, 10000) != 1) {
        break;
      }
    }
    EXPECT_EQ(text, "fine\n") << mask;
  }
}

}  // namespace
}  // namespace TURTLE_SERVER
