#include "process/child_process.h"

#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <new>
#include <system_error>
#include <utility>

#include "base/mutex.h"
#include "process/child_plan.h"
#include "process/pipe_io.h"

namespace TURTLE_SERVER {

namespace {

// Killed, but not yet dead when their owners went. Any loop may start a program, hence the lock.
struct Abandoned {
  Mutex mutex;
  std::vector<pid_t> pids TURTLE_GUARDED_BY(mutex);
};

auto TheAbandoned() -> Abandoned& {
  static Abandoned abandoned;
  return abandoned;
}

enum class Reaped { kRunning, kDead };

// Calls waitpid(2) without blocking. `status` is set if this call has reaped the child.
auto Reap(pid_t pid, ExitStatus& status) noexcept -> Reaped {
  int wait_status = 0;
  const pid_t found = ::waitpid(pid, &wait_status, WNOHANG);
  if (found == 0) {
    return Reaped::kRunning;
  }
  if (found == pid && WIFEXITED(wait_status)) {
    status = {ExitStatus::Kind::kExited, WEXITSTATUS(wait_status)};
  } else if (found == pid && WIFSIGNALED(wait_status)) {
    status = {ExitStatus::Kind::kSignaled, WTERMSIG(wait_status)};
  }
  return Reaped::kDead;  // ECHILD included: other code has reaped it
}

auto IsPlainName(const std::string& name) -> bool {
  return !name.empty() && name != "." && name != ".." && name.find('/') == std::string::npos;
}

auto HasNul(const std::string& text) -> bool { return text.find('\0') != std::string::npos; }

auto StepName(SpawnStep step) -> const char* {
  switch (step) {
    case SpawnStep::kPrepare:
      return "prepare";
    case SpawnStep::kFork:
      return "fork";
    case SpawnStep::kDirectory:
      return "fchdir";
    case SpawnStep::kRedirect:
      return "dup2";
    case SpawnStep::kLimit:
      return "setrlimit";
    case SpawnStep::kExecute:
      return "execve";
  }
  return "start";
}

// Returns true if descriptor 2 is a standard error that a child may inherit. If we were started
// with it closed, it still is, or a socket, say, has its number. As all our descriptors are
// close-on-exec, the program's first file would become its descriptor 2.
auto HasStandardError() -> bool {
  const int flags = ::fcntl(STDERR_FILENO, F_GETFD);
  return flags >= 0 && (flags & FD_CLOEXEC) == 0;
}

// A process started with closed standard descriptors gets pipes numbered 0 to 2. Putting such a
// pipe in place would overwrite the next, so it is moved out of the way first.
auto AboveStandard(int fd, UniqueFd& copy) -> int {
  if (fd < 0 || fd > STDERR_FILENO) {
    return fd;
  }
  copy.Reset(::fcntl(fd, F_DUPFD_CLOEXEC, STDERR_FILENO + 1));
  return copy.Get();
}

// Returns the file's or the null device's number for the child; -1 and errno.
auto OrNullDevice(int fd, UniqueFd& copy) -> int {
  if (fd >= 0) {
    return AboveStandard(fd, copy);
  }
  UniqueFd null_device(::open("/dev/null", O_RDWR | O_CLOEXEC));
  const int number = AboveStandard(null_device.Get(), copy);
  if (number >= 0 && !copy) {
    copy = std::move(null_device);
  }
  return number;
}

void FillLimits(const ChildOptions& options, ChildPlan& plan) {
  rlimit files{};
  ::getrlimit(RLIMIT_NOFILE, &files);
  plan.descriptor_bound = DescriptorBound();
  plan.limit_files = options.max_open_files.has_value();
  if (plan.limit_files) {
    const rlim_t wanted = std::min(static_cast<rlim_t>(*options.max_open_files), files.rlim_max);
    plan.files = {wanted, wanted};
  }
}

// The end of the pipe without a byte means that execve(2) has closed the other end.
auto ReadFailure(int fd, SpawnResult& failure) -> bool {
  for (;;) {
    const ssize_t count = ::read(fd, &failure, sizeof failure);
    if (count < 0 && errno == EINTR) {
      continue;
    }
    return count == sizeof failure;  // a pipe never splits so few bytes
  }
}

}  // namespace

auto SpawnResult::ToString() const -> std::string {
  return std::string(StepName(step)) + ": " + std::generic_category().message(error);
}

ChildProcess::ChildProcess(ChildProcess&& other) noexcept
    : pid_(std::exchange(other.pid_, -1)),
      exit_fd_(std::move(other.exit_fd_)),
      status_(std::exchange(other.status_, std::nullopt)) {}

auto ChildProcess::operator=(ChildProcess&& other) noexcept -> ChildProcess& {
  if (this != &other) {
    Abandon();
    pid_ = std::exchange(other.pid_, -1);
    exit_fd_ = std::move(other.exit_fd_);
    status_ = std::exchange(other.status_, std::nullopt);
  }
  return *this;
}

auto ChildProcess::Start(const ChildOptions& options) -> SpawnResult {
  Abandon();
  ReapAbandoned();
  if (!IsPlainName(options.program) || HasNul(options.program) ||
      std::any_of(options.arguments.begin(), options.arguments.end(), HasNul)) {
    return {EINVAL, SpawnStep::kPrepare};
  }

  const std::string path = "./" + options.program;
  std::vector<char*> argv;  // execve(2) promises not to write to the pointed-to data
  argv.push_back(const_cast<char*>(options.program.c_str()));
  for (const std::string& argument : options.arguments) {
    argv.push_back(const_cast<char*>(argument.c_str()));
  }
  argv.push_back(nullptr);
  char* const no_environment = nullptr;

  UniqueFd stdin_copy;
  UniqueFd stdout_copy;
  UniqueFd stderr_copy;
  UniqueFd report_copy;
  Pipe report;
  ChildPlan plan{};
  plan.directory_fd = options.directory_fd;
  plan.path = path.c_str();
  plan.argv = argv.data();
  plan.envp = options.envp != nullptr ? options.envp : &no_environment;
  plan.stdin_fd = OrNullDevice(options.stdin_fd, stdin_copy);
  if (plan.stdin_fd < 0) {
    return {errno, SpawnStep::kPrepare};
  }
  plan.stdout_fd = OrNullDevice(options.stdout_fd, stdout_copy);
  if (plan.stdout_fd < 0) {
    return {errno, SpawnStep::kPrepare};
  }
  const bool keeps_stderr = options.stderr_fd < 0 && HasStandardError();
  plan.stderr_fd = keeps_stderr ? -1 : OrNullDevice(options.stderr_fd, stderr_copy);
  if (!keeps_stderr && plan.stderr_fd < 0) {
    return {errno, SpawnStep::kPrepare};
  }
  if (const int error = OpenPipe(PipeMode::kBlocking, report); error != 0) {
    return {error, SpawnStep::kPrepare};
  }
  plan.report_fd = AboveStandard(report.write_end.Get(), report_copy);
  if (plan.report_fd < 0) {
    return {errno, SpawnStep::kPrepare};
  }
  FillLimits(options, plan);

  const pid_t pid =
      ForkChild([](const void* run) { RunPlan(*static_cast<const ChildPlan*>(run)); }, &plan);
  if (pid < 0) {
    return {errno, SpawnStep::kFork};
  }
  // Our end must be closed, or the pipe would never end.
  report.write_end.Reset();
  report_copy.Reset();
  pid_ = pid;
  SpawnResult failure;
  if (ReadFailure(report.read_end.Get(), failure)) {
    Abandon();  // it is about to end: the report was its last act
    return failure;
  }
  exit_fd_ = OpenExitFd(pid);
  return {};
}

auto ChildProcess::TryReap() noexcept -> std::optional<ExitStatus> {
  ExitStatus status;
  if (pid_ > 0 && Reap(pid_, status) == Reaped::kDead) {
    pid_ = -1;
    status_ = status;
  }
  return status_;
}

// Not const: the program is a part of this object's state.
// NOLINTNEXTLINE(readability-make-member-function-const)
void ChildProcess::Kill() noexcept {
  if (pid_ > 0) {
    ::kill(-pid_, SIGKILL);  // the number is ours as long as the child is not reaped
  }
}

void ChildProcess::Abandon() noexcept {
  Kill();
  if (pid_ > 0 && !TryReap()) {
    Abandoned& abandoned = TheAbandoned();
    const MutexLock lock(abandoned.mutex);
    try {
      abandoned.pids.push_back(pid_);
    } catch (const std::bad_alloc&) {  // then reap it here and now: it has been killed
      while (::waitpid(pid_, nullptr, 0) < 0 && errno == EINTR) {
      }
    }
  }
  pid_ = -1;
  exit_fd_.Reset();
  status_.reset();
}

auto ChildProcess::ReapAbandoned() noexcept -> std::size_t {
  Abandoned& abandoned = TheAbandoned();
  const MutexLock lock(abandoned.mutex);
  auto& pids = abandoned.pids;
  pids.erase(std::remove_if(pids.begin(), pids.end(),
                            [](pid_t pid) {
                              ExitStatus ignored;
                              return Reap(pid, ignored) == Reaped::kDead;
                            }),
             pids.end());
  return pids.size();
}

namespace {

[[noreturn]] void ReportAndExit(const ChildPlan& plan, SpawnStep step) noexcept {
  const SpawnResult failure{errno, step};
  [[maybe_unused]] const ssize_t written = ::write(plan.report_fd, &failure, sizeof failure);
  ::_exit(127);  // not exit(3): that would flush the parent's streams a second time
}

}  // namespace

auto DescriptorBound() noexcept -> int {
  rlimit files{};
  ::getrlimit(RLIMIT_NOFILE, &files);
  constexpr rlim_t kHighest = 1 << 20;  // more than any default of nr_open
  return static_cast<int>(std::min(files.rlim_cur, kHighest));
}

void ResetSignals(const sigset_t& ignored) noexcept {
  struct sigaction action {};
  sigemptyset(&action.sa_mask);  // without ::, it may be a macro
  for (int number = 1; number < NSIG; ++number) {
    action.sa_handler = sigismember(&ignored, number) == 1 ? SIG_IGN : SIG_DFL;
    ::sigaction(number, &action, nullptr);  // fails for SIGKILL, SIGSTOP and libc's own
  }
  ::sigprocmask(SIG_SETMASK, &action.sa_mask, nullptr);
}

auto PutInPlace(int fd, int place) noexcept -> bool {
  int result = 0;
  do {
    result = ::dup2(fd, place);
  } while (result < 0 && (errno == EINTR || errno == EBUSY));  // EBUSY: open(2) is about to take it
  return result >= 0;
}

void RunPlan(const ChildPlan& plan) noexcept {
  ::setpgid(0, 0);
  sigset_t none;
  sigemptyset(&none);
  ResetSignals(none);
  if (::fchdir(plan.directory_fd) != 0) {
    ReportAndExit(plan, SpawnStep::kDirectory);
  }
  if (!PutInPlace(plan.stdin_fd, STDIN_FILENO) || !PutInPlace(plan.stdout_fd, STDOUT_FILENO) ||
      (plan.stderr_fd >= 0 && !PutInPlace(plan.stderr_fd, STDERR_FILENO))) {
    ReportAndExit(plan, SpawnStep::kRedirect);
  }
  CloseOthersOnExec(plan.descriptor_bound);
  if (plan.limit_files && ::setrlimit(RLIMIT_NOFILE, &plan.files) != 0) {
    ReportAndExit(plan, SpawnStep::kLimit);
  }
  ::execve(plan.path, plan.argv, plan.envp);
  ReportAndExit(plan, SpawnStep::kExecute);
}

}  // namespace TURTLE_SERVER
