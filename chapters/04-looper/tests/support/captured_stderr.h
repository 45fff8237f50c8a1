// Captures the lines that are written to stderr in the meantime.
#pragma once

#include <unistd.h>

#include <array>
#include <cstdio>
#include <memory>
#include <string>
#include <system_error>

#include "base/unique_fd.h"

namespace TURTLE_SERVER::test {

/// Redirects descriptor 2 to a file for as long as it lives.
class CapturedStderr {
 public:
  CapturedStderr() : file_(std::tmpfile(), &std::fclose), stderr_(::dup(STDERR_FILENO)) {
    if (!file_ || !stderr_ || ::dup2(::fileno(file_.get()), STDERR_FILENO) < 0) {
      throw std::system_error(errno, std::generic_category(), "capture stderr");
    }
  }

  CapturedStderr(const CapturedStderr&) = delete;
  auto operator=(const CapturedStderr&) -> CapturedStderr& = delete;

  ~CapturedStderr() { ::dup2(stderr_.Get(), STDERR_FILENO); }

  /// Returns the text written so far.
  [[nodiscard]] auto Text() const -> std::string {
    std::string text;
    std::array<char, 4096> bytes;
    for (;;) {
      const ssize_t count = ::pread(::fileno(file_.get()), bytes.data(), bytes.size(),
                                    static_cast<off_t>(text.size()));
      if (count <= 0) {
        return text;
      }
      text.append(bytes.data(), static_cast<std::size_t>(count));
    }
  }

 private:
  std::unique_ptr<std::FILE, decltype(&std::fclose)> file_;
  UniqueFd stderr_;
};

}  // namespace TURTLE_SERVER::test
