#include "bench/input_end.h"

#include <unistd.h>

#include <array>
#include <cerrno>
#include <system_error>
#include <utility>

namespace TURTLE_SERVER {

InputEnd::InputEnd(Looper& looper, Task task) : looper_(looper), task_(std::move(task)) {
  try {
    watch_ = looper.Watch(STDIN_FILENO, Interest::kRead, [this](const PollEvent&) { Read(); });
  } catch (const std::system_error&) {
    // not to be waited for
  }
}

InputEnd::~InputEnd() {
  if (watch_) {
    looper_.Unwatch(*watch_);
  }
}

void InputEnd::Read() {
  std::array<char, 256> ignored{};
  const ssize_t count = ::read(STDIN_FILENO, ignored.data(), ignored.size());
  if (count == 0 || (count < 0 && errno != EINTR && errno != EAGAIN)) {
    looper_.Unwatch(*watch_);
    watch_.reset();
    task_();
  }
}

}  // namespace TURTLE_SERVER
