#include "app/hand_over.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <stdexcept>
#include <system_error>
#include <utility>

#include "base/wipe.h"
#include "log/log.h"
#include "log/log_line.h"
#include "ops/inherited_listeners.h"
#include "process/child_plan.h"
#include "process/pipe_io.h"

extern char** environ;  // NOLINT(readability-redundant-declaration): not every header has it

namespace TURTLE_SERVER {

namespace {

constexpr const char* kReadyVariable = "TURTLE_READY_FD";
constexpr const char* kSecretVariable = "TURTLE_SECRET_FD";
constexpr std::string_view kReady = "READY=1\n";
constexpr std::string_view kNotExecuted = "ERRNO=";
constexpr std::string_view kFailed = "FAILED=";
constexpr std::size_t kMostSaid = 1000;  // a log line has no room for more
constexpr std::size_t kMostErrno = 64;
constexpr std::chrono::milliseconds kLook{10};
constexpr std::size_t kPidDigits = 10;

// Everything between fork(2) and execve(2), prepared in advance, for the reason in
// process/child_process.h: no allocation, no lock.
struct Plan {
  const char* path;
  char* const* argv;
  char* const* envp;
  char* pid_digits;        // within envp, kPidDigits of them and a NUL byte
  const int* descriptors;  // all above their places, so that putting one in place closes no other
  std::size_t count;       // they become kFirstFd and so on
  int report_fd;           // the pipe, too; close-on-exec
  int descriptor_bound;    // above any descriptor of ours
  sigset_t ignored;        // all others get their default action
};

void WritePid(char* digits) noexcept {
  std::array<char, kPidDigits> reversed{};
  std::size_t count = 0;
  for (auto left = static_cast<unsigned long>(::getpid()); left != 0; left /= 10) {
    reversed[count++] = static_cast<char>('0' + left % 10);
  }
  for (std::size_t i = 0; i < count; ++i) {
    digits[i] = reversed[count - 1 - i];
  }
  digits[count] = '\0';
}

[[noreturn]] void ReportAndExit(const Plan& plan) noexcept {
  std::array<char, kMostErrno> text{'E', 'R', 'R', 'N', 'O', '='};
  const auto end =
      std::to_chars(text.data() + kNotExecuted.size(), text.data() + text.size(), errno);
  *end.ptr = '\n';
  [[maybe_unused]] const ssize_t written =
      ::write(plan.report_fd, text.data(), static_cast<std::size_t>(end.ptr + 1 - text.data()));
  ::_exit(127);
}

[[noreturn]] void Become(const Plan& plan) noexcept {
  CloseOthersOnExec(plan.descriptor_bound);
  for (std::size_t i = 0; i < plan.count; ++i) {
    const int place = InheritedListeners::kFirstFd + static_cast<int>(i);
    if (!PutInPlace(plan.descriptors[i], place)) {
      ReportAndExit(plan);
    }
  }
  WritePid(plan.pid_digits);
  ResetSignals(plan.ignored);
  ::execve(plan.path, plan.argv, plan.envp);
  ReportAndExit(plan);
}

auto IsOurs(std::string_view variable) -> bool {
  const std::string_view name = variable.substr(0, variable.find('='));
  return name == "LISTEN_PID" || name == "LISTEN_FDS" || name == "LISTEN_FDNAMES" ||
         name == "LISTEN_PIDFDID" || name == kReadyVariable || name == kSecretVariable;
}

// @return the variables; LISTEN_PID comes first, with room for any number
auto EnvironmentOf(const HandOverOptions& options, bool has_secret) -> std::vector<std::string> {
  const std::size_t count = options.listeners.size();
  std::vector<std::string> variables;
  variables.push_back("LISTEN_PID=" + std::string(kPidDigits, '0'));
  variables.push_back("LISTEN_FDS=" + std::to_string(count));
  std::string names;
  for (std::size_t i = 0; i < options.names.size(); ++i) {
    names += (i == 0 ? "" : ":") + options.names[i];  // an empty name counts, too
  }
  variables.push_back("LISTEN_FDNAMES=" + names);
  const std::size_t pipe = static_cast<std::size_t>(InheritedListeners::kFirstFd) + count;
  variables.push_back(kReadyVariable + ("=" + std::to_string(pipe)));
  if (has_secret) {
    variables.push_back(kSecretVariable + ("=" + std::to_string(pipe + 1)));
  }
  for (char** each = environ; *each != nullptr; ++each) {
    if (!IsOurs(*each)) {
      variables.emplace_back(*each);
    }
  }
  return variables;
}

auto PointersTo(std::vector<std::string>& texts) -> std::vector<char*> {
  std::vector<char*> pointers;
  pointers.reserve(texts.size() + 1);
  for (std::string& text : texts) {
    pointers.push_back(text.data());
  }
  pointers.push_back(nullptr);
  return pointers;
}

auto CopyAbove(int fd, int lowest) -> UniqueFd {
  UniqueFd copy(::fcntl(fd, F_DUPFD_CLOEXEC, lowest));
  if (!copy) {
    throw std::system_error(errno, std::generic_category(), "descriptor " + std::to_string(fd));
  }
  return copy;
}

auto IgnoredSignals(const std::vector<int>& early) -> sigset_t {
  sigset_t set;
  sigemptyset(&set);
  for (const int number : early) {
    sigaddset(&set, number);
  }
  struct sigaction now {};
  if (::sigaction(SIGHUP, nullptr, &now) == 0 && now.sa_handler == SIG_IGN) {
    sigaddset(&set, SIGHUP);  // inherited from nohup(1)
  }
  return set;
}

// @return the end of a pipe with the secret; empty: there is none
auto PipeWith(const std::function<std::string()>& secret) -> UniqueFd {
  std::string bytes = secret ? secret() : "";
  if (bytes.empty()) {
    return {};
  }
  const std::size_t size = bytes.size();
  Pipe pipe;
  const int error = OpenPipe(PipeMode::kNonBlockingWrite, pipe);
  // A pipe may have more room, but TakeSecret() has none.
  const bool fits = error == 0 && size <= HandOverOptions::kMostSecret &&
                    WritePipe(pipe.write_end.Get(), bytes).bytes == size;
  Wipe(bytes);
  if (error != 0) {
    throw std::system_error(error, std::generic_category(), "pipe");
  }
  if (!fits) {
    throw std::length_error("a secret of " + std::to_string(size) + " bytes");
  }
  return std::move(pipe.read_end);
}

auto Start(const HandOverOptions& options, const UniqueFd& ready) -> pid_t {
  std::vector<std::string> command = options.command;
  const char* const path = std::getenv("PATH");
  const std::string program = options.command.empty() ? "" : options.command.front();
  const std::optional<std::string> file = FindProgram(program, path == nullptr ? "" : path);
  if (!file) {
    throw std::system_error(ENOENT, std::generic_category(), "'" + program + "'");
  }
  const UniqueFd secret = PipeWith(options.secret);
  const int above = InheritedListeners::kFirstFd + static_cast<int>(options.listeners.size()) + 2;
  std::vector<UniqueFd> copies;
  for (const int fd : options.listeners) {
    copies.push_back(CopyAbove(fd, above));
  }
  copies.push_back(CopyAbove(ready.Get(), above));
  const int report = copies.back().Get();
  if (secret) {
    copies.push_back(CopyAbove(secret.Get(), above));
  }
  std::vector<int> descriptors;
  descriptors.reserve(copies.size());
  for (const UniqueFd& copy : copies) {
    descriptors.push_back(copy.Get());
  }
  std::vector<std::string> variables = EnvironmentOf(options, static_cast<bool>(secret));
  const std::vector<char*> argv = PointersTo(command);
  const std::vector<char*> envp = PointersTo(variables);
  const Plan plan{file->c_str(),
                  argv.data(),
                  envp.data(),
                  variables.front().data() + std::string_view("LISTEN_PID=").size(),
                  descriptors.data(),
                  descriptors.size(),
                  report,
                  DescriptorBound(),
                  IgnoredSignals(options.early_signals)};
  const pid_t pid =
      ForkChild([](const void* run) { Become(*static_cast<const Plan*>(run)); }, &plan);
  if (pid < 0) {
    throw std::system_error(errno, std::generic_category(), "fork");
  }
  return pid;
}

// Logs an error, as far as there is memory for its text.
template <typename MakeText>
void LogText(LogLevel level, const MakeText& text) noexcept {
  try {
    Log(level, text());
  } catch (...) {
    LogException("hand-over: the log");
  }
}

auto HowItEnded(int status) -> std::string {
  return WIFSIGNALED(status) ? "was ended by signal " + std::to_string(WTERMSIG(status))
                             : "ended with code " + std::to_string(WEXITSTATUS(status));
}

// Returns the child's report about execve(2), or "".
auto WhyNotExecuted(std::string_view said) -> std::string {
  if (said.substr(0, kNotExecuted.size()) != kNotExecuted) {
    return "";
  }
  int error = 0;
  std::from_chars(said.data() + kNotExecuted.size(), said.data() + said.size(), error);
  return std::generic_category().message(error);
}

// Returns its own explanation of the failure, as the end of a message; "" if there is none.
auto WhyFailed(std::string_view said) -> std::string {
  const std::size_t at = said.find(kFailed);
  if (at == std::string_view::npos) {
    return "";
  }
  std::string why = ". It said: ";
  for (said.remove_prefix(at + kFailed.size()); !said.empty();) {
    const std::string_view line = said.substr(0, said.find('\n'));
    said.remove_prefix(std::min(line.size() + 1, said.size()));
    why.append(line).append(said.empty() ? "" : "; ");
  }
  return why;
}

// Takes the pipe whose number is in `variable`, and removes the variable. @return empty: there is
// no such variable. Throws std::runtime_error for anything but a pipe.
auto TakePipe(const char* variable) -> UniqueFd {
  const char* const value = std::getenv(variable);
  if (value == nullptr) {
    return {};
  }
  const std::string text = value;
  ::unsetenv(variable);
  int fd = -1;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), fd);
  struct stat status {};
  const bool open = error == std::errc() && end == text.data() + text.size() &&
                    fd > STDERR_FILENO && ::fstat(fd, &status) == 0;
  if (!open || !S_ISFIFO(status.st_mode) || ::fcntl(fd, F_SETFD, FD_CLOEXEC) != 0) {
    throw std::runtime_error(std::string(variable) + "='" + text + "' is not a pipe");
  }
  return UniqueFd(fd);
}

}  // namespace

auto TakeSecret() -> std::string {
  UniqueFd pipe;
  try {
    pipe = TakePipe(kSecretVariable);
  } catch (const std::runtime_error&) {
    return {};  // a program between the two may have passed on a number that means nothing now
  }
  std::string secret;
  if (pipe && ::fcntl(pipe.Get(), F_SETFL, O_NONBLOCK) == 0) {  // all of it was written long ago
    secret.resize(HandOverOptions::kMostSecret);
    secret.resize(ReadPipe(pipe.Get(), secret.data(), secret.size()).bytes);
  }
  return secret;
}

auto FindProgram(const std::string& name, std::string_view path) -> std::optional<std::string> {
  if (name.find('/') != std::string::npos) {
    return name;
  }
  while (!name.empty() && !path.empty()) {
    const std::string_view folder = path.substr(0, path.find(':'));
    path.remove_prefix(std::min(folder.size() + 1, path.size()));
    std::string file = std::string(folder.empty() ? "." : folder) + "/" + name;
    struct stat status {};
    if (::stat(file.c_str(), &status) == 0 && S_ISREG(status.st_mode) &&
        ::access(file.c_str(), X_OK) == 0) {
      return file;
    }
  }
  return std::nullopt;
}

HandOver::HandOver(Looper& looper, HandOverOptions options, SuccessorCallback on_ready)
    : looper_(looper), options_(std::move(options)), on_ready_(std::move(on_ready)) {
  said_.reserve(kMostSaid);
}

HandOver::~HandOver() {
  Abandon();
  if (abandoned_) {
    AwaitEnd();
    Kill();
  }
  Forget();
}

void HandOver::Begin() try {
  if (pid_ > 0) {
    return;
  }
  Pipe pipe;
  if (const int error = OpenPipe(PipeMode::kNonBlockingRead, pipe); error != 0) {
    throw std::system_error(error, std::generic_category(), "pipe");
  }
  pid_ = Start(options_, pipe.write_end);
  pipe_ = std::move(pipe.read_end);
  watch_ = looper_.Watch(pipe_.Get(), Interest::kRead, [this](const PollEvent&) { OnPipe(); });
  limit_ = looper_.RunAfter(options_.time_limit, [this] { OnTimeLimit(); });
  LogText(LogLevel::kInfo,
          [this] { return "hand-over: process " + std::to_string(pid_) + " was started"; });
} catch (const std::exception& error) {
  Kill();
  std::array<char, LogLine::kMaxBytes> text{};  // logged without memory, which may be missing
  std::snprintf(text.data(), text.size(), "hand-over: %s; this process continues to serve",
                error.what());
  Log(LogLevel::kError, text.data());
}

// @return false if the other end is closed
auto HandOver::Hear() -> bool {
  std::array<char, kMostSaid> room{};
  const IoResult result = ReadPipe(pipe_.Get(), room.data(), room.size());
  if (result.status == IoStatus::kBytes) {
    said_.append(room.data(), std::min(result.bytes, kMostSaid - said_.size()));
    if (UnderWay() && !too_late_ && said_ == kReady) {
      OnReady();
    }
  }
  return result.status == IoStatus::kBytes || result.status == IoStatus::kWouldBlock;
}

// Runs as the callback of `watch_`.
void HandOver::OnPipe() {
  if (!Hear()) {
    looper_.Unwatch(*watch_);  // it has died, or is about to: exit(2) closes files first
    watch_.reset();
    LookWhetherDead();
  }
}

void HandOver::OnReady() {
  ready_ = true;
  CancelLimit();
  on_ready_(pid_);
}

void HandOver::OnTimeLimit() {
  limit_.reset();
  too_late_ = true;
  ::kill(pid_, SIGKILL);  // its number is ours until it is reaped
}

// The process ends a little later than its files are closed.
void HandOver::LookWhetherDead() {
  int status = 0;
  const pid_t found = ::waitpid(pid_, &status, WNOHANG);
  if (found == 0 || (found < 0 && errno == EINTR)) {
    LookAgain();
    return;
  }
  const LogLevel level = abandoned_ ? LogLevel::kInfo : LogLevel::kError;
  const char* const meaning = abandoned_ ? ", as it was asked to"
                              : ready_   ? ", having taken over"
                                         : "; this process continues to serve";
  LogText(level, [&] {
    const std::string not_executed = WhyNotExecuted(said_);
    const std::string what =
        !not_executed.empty() ? "'" + options_.command.front() + "': " + not_executed
        : too_late_           ? "process " + std::to_string(pid_) + " did not say within " +
                          std::to_string(options_.time_limit.count()) + " ms that it serves"
                    : "process " + std::to_string(pid_) + " " +
                          (found < 0 ? "has ended" : HowItEnded(status));
    return "hand-over: " + what + meaning + WhyFailed(said_);
  });
  Forget();
}

// Without memory for a timer, a successor that has not taken over is ended at once. One that has is
// left to the process that reaps it after us.
void HandOver::LookAgain() noexcept {
  try {
    look_ = looper_.RunAfter(kLook, [this] { LookWhetherDead(); });
  } catch (...) {
    LogException("hand-over");
    ready_ ? Forget() : Kill();
  }
}

void HandOver::Abandon() noexcept {
  if (!UnderWay()) {
    return;
  }
  try {
    Hear();
  } catch (...) {
    LogException("hand-over");
  }
  if (UnderWay()) {
    abandoned_ = true;
    CancelLimit();  // it may take longer to finish its requests
    ::kill(pid_, SIGTERM);
  }
}

// Waits until it is about to end, or for the time limit.
void HandOver::AwaitEnd() noexcept {
  using std::chrono::steady_clock;
  const auto deadline = steady_clock::now() + options_.time_limit;
  for (auto now = steady_clock::now(); now < deadline; now = steady_clock::now()) {
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(deadline - now).count();
    struct pollfd end {
      pipe_.Get(), POLLIN, 0
    };
    if (::poll(&end, 1, static_cast<int>(left)) > 0 && !Hear()) {
      return;
    }
  }
}

void HandOver::Kill() noexcept {
  if (pid_ > 0) {
    ::kill(pid_, SIGKILL);  // its number is ours until it is reaped
    while (::waitpid(pid_, nullptr, 0) < 0 && errno == EINTR) {
    }
    Forget();
  }
}

void HandOver::CancelLimit() {
  if (limit_) {
    looper_.Cancel(*limit_);
    limit_.reset();
  }
}

void HandOver::Forget() {
  if (watch_) {
    looper_.Unwatch(*watch_);
  }
  if (look_) {
    looper_.Cancel(*look_);
  }
  CancelLimit();
  look_.reset();
  watch_.reset();
  pipe_.Reset();
  said_.clear();
  pid_ = -1;
  ready_ = false;
  too_late_ = false;
  abandoned_ = false;
}

ReadyPipe::ReadyPipe() : fd_(TakePipe(kReadyVariable)) {}

void ReadyPipe::Fail(std::string_view why) const noexcept {
  std::array<char, kMostSaid> text{};
  const std::string_view part = why.substr(0, text.size() - kFailed.size());
  std::copy(part.begin(), part.end(), std::copy(kFailed.begin(), kFailed.end(), text.begin()));
  if (fd_) {  // in one write: a pipe takes it as a whole
    static_cast<void>(WritePipe(fd_.Get(), {text.data(), kFailed.size() + part.size()}));
  }
}

void ReadyPipe::Tell() const noexcept {
  if (fd_) {
    static_cast<void>(WritePipe(fd_.Get(), kReady));  // the predecessor may be gone
  }
}

}  // namespace TURTLE_SERVER
