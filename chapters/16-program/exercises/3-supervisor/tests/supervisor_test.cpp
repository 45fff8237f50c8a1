#include "app/supervisor.h"

#include <gtest/gtest.h>
#include <poll.h>
#include <pthread.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <csignal>
#include <functional>
#include <new>
#include <sstream>
#include <string>

namespace TURTLE_SERVER {
namespace {

constexpr int kPatienceMs = 20'000;

// Counters that all processes share.
class Shared {
 public:
  Shared()
      : memory_(::mmap(nullptr, sizeof(Counters), PROT_READ | PROT_WRITE,
                       MAP_SHARED | MAP_ANONYMOUS, -1, 0)),
        counters_(new (memory_) Counters()) {}
  Shared(const Shared&) = delete;
  auto operator=(const Shared&) -> Shared& = delete;
  ~Shared() { ::munmap(memory_, sizeof(Counters)); }

  auto Runs() -> std::atomic<int>& { return counters_->runs; }
  auto LastChild() -> std::atomic<int>& { return counters_->last_child; }

 private:
  struct Counters {
    std::atomic<int> runs{0};
    std::atomic<int> last_child{0};
  };
  void* memory_;
  Counters* counters_;
};

// A pipe by which a child says something.
class Line {
 public:
  Line() { EXPECT_EQ(::pipe(ends_.data()), 0); }
  Line(const Line&) = delete;
  auto operator=(const Line&) -> Line& = delete;
  ~Line() {
    ::close(ends_[0]);
    CloseWriter();
  }

  void Say(char what) const { static_cast<void>(!::write(ends_[1], &what, 1)); }
  // For the reader, which then gets the end when all writers are closed.
  void CloseWriter() {
    if (ends_[1] >= 0) {
      ::close(ends_[1]);
      ends_[1] = -1;
    }
  }
  // 0: no writer is left, or nothing came.
  [[nodiscard]] auto Hear() const -> char {
    char heard = 0;
    pollfd waiting{ends_[0], POLLIN, 0};
    return ::poll(&waiting, 1, kPatienceMs) > 0 && ::read(ends_[0], &heard, 1) == 1 ? heard : '\0';
  }

 private:
  std::array<int, 2> ends_{-1, -1};
};

// A process that supervises, so that it can be sent signals.
class Supervisor {
 public:
  explicit Supervisor(const std::function<int()>& work, std::size_t max_crashes = 3)
      : pid_(::fork()) {
    if (pid_ == 0) {
      ::alarm(30);  // a hang ends it
      std::ostringstream log;
      ::_exit(Supervise(work, max_crashes, log));
    }
  }
  Supervisor(const Supervisor&) = delete;
  auto operator=(const Supervisor&) -> Supervisor& = delete;
  ~Supervisor() {
    if (pid_ > 0) {
      ::kill(pid_, SIGKILL);
      ::waitpid(pid_, nullptr, 0);
    }
  }

  void Signal(int number) const { ::kill(pid_, number); }

  // Its exit code; -1 if a signal has ended it.
  auto Wait() -> int {
    int status = 0;
    while (::waitpid(pid_, &status, 0) < 0 && errno == EINTR) {
    }
    pid_ = -1;
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
  }

 private:
  pid_t pid_;
};

[[noreturn]] void Crash(int number) {
  ::signal(number, SIG_DFL);
  ::raise(number);
  ::_exit(99);  // not reached
}

[[noreturn]] void PauseForEver() {
  for (;;) {
    ::pause();
  }
}

TEST(SupervisorTest, TheExitCodeIsThatOfTheWork) {
  for (const int code : {0, 7}) {
    Shared shared;
    std::ostringstream log;
    EXPECT_EQ(Supervise(
                  [&] {
                    ++shared.Runs();
                    shared.LastChild() = ::getpid();
                    return code;
                  },
                  3, log),
              code);
    EXPECT_EQ(shared.Runs(), 1);
    EXPECT_NE(shared.LastChild(), ::getpid()) << "it is done in a process of its own";
    EXPECT_EQ(log.str(), "");
  }
}

TEST(SupervisorTest, ACrashStartsAnother) {
  Shared shared;
  std::ostringstream log;
  const int code = Supervise(
      [&] {
        if (++shared.Runs() < 3) {
          shared.LastChild() = ::getpid();
          Crash(SIGKILL);
        }
        return 5;
      },
      3, log);
  EXPECT_EQ(code, 5);
  EXPECT_EQ(shared.Runs(), 3);
  const std::string last =
      "process " + std::to_string(shared.LastChild()) + " was ended by signal 9\n";
  EXPECT_NE(log.str().find(last), std::string::npos) << log.str();
  EXPECT_NE(log.str().find('\n'), log.str().rfind('\n')) << "two crashes, two lines: " << log.str();
}

TEST(SupervisorTest, TooManyCrashesAreTheEnd) {
  Shared shared;
  std::ostringstream log;
  EXPECT_EQ(Supervise(
                [&]() -> int {
                  ++shared.Runs();
                  Crash(SIGKILL);
                },
                4, log),
            1);
  EXPECT_EQ(shared.Runs(), 4);
}

TEST(SupervisorTest, ASignalIsPassedOn) {
  for (const int number : {SIGTERM, SIGINT}) {
    Line line;
    Supervisor supervisor([&]() -> int {
      line.Say('r');
      PauseForEver();
    });
    line.CloseWriter();
    ASSERT_EQ(line.Hear(), 'r');
    supervisor.Signal(number);
    EXPECT_EQ(supervisor.Wait(), 128 + number);
    EXPECT_EQ(line.Hear(), '\0') << "another was started";
  }
}

TEST(SupervisorTest, TheWorkMayEndProperlyAfterASignal) {
  Line line;
  Supervisor supervisor([&] {
    sigset_t term;
    sigemptyset(&term);
    sigaddset(&term, SIGTERM);
    ::pthread_sigmask(SIG_BLOCK, &term, nullptr);
    line.Say('r');
    int number = 0;
    ::sigwait(&term, &number);
    return number == SIGTERM ? 42 : 43;
  });
  line.CloseWriter();
  ASSERT_EQ(line.Hear(), 'r');
  supervisor.Signal(SIGTERM);
  EXPECT_EQ(supervisor.Wait(), 42);
}

// The signal is there before the crash is seen, whichever of them is looked at first.
TEST(SupervisorTest, NoneIsStartedOnceItWasAskedToStop) {
  Shared shared;
  Line line;
  Supervisor supervisor([&]() -> int {
    ++shared.Runs();
    line.Say('r');
    ::kill(::getppid(), SIGTERM);
    Crash(SIGKILL);
  });
  line.CloseWriter();
  ASSERT_EQ(line.Hear(), 'r');
  const int code = supervisor.Wait();
  EXPECT_TRUE(code == 128 + SIGKILL || code == 128 + SIGTERM) << code;
  EXPECT_EQ(shared.Runs(), 1);
}

TEST(SupervisorTest, TheMaskIsWhatItWas) {
  sigset_t usr1;
  sigset_t former;
  sigemptyset(&usr1);
  sigaddset(&usr1, SIGUSR1);
  ASSERT_EQ(::pthread_sigmask(SIG_BLOCK, &usr1, &former), 0);
  const auto is_right = [] {
    sigset_t now;
    ::pthread_sigmask(SIG_BLOCK, nullptr, &now);
    return sigismember(&now, SIGUSR1) == 1 && sigismember(&now, SIGTERM) == 0 &&
           sigismember(&now, SIGINT) == 0 && sigismember(&now, SIGCHLD) == 0;
  };
  std::ostringstream log;
  EXPECT_EQ(Supervise([&] { return is_right() ? 11 : 12; }, 1, log), 11) << "in the child";
  EXPECT_TRUE(is_right()) << "afterwards";
  ::pthread_sigmask(SIG_SETMASK, &former, nullptr);
}

}  // namespace
}  // namespace TURTLE_SERVER
