#include "log/log_line.h"

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <ctime>

#include "base/ascii.h"

namespace TURTLE_SERVER {

namespace {

// Returns the length of the UTF-8 character at the start of `text` (RFC 3629); 0 if there is none,
// or a control character. These are of two kinds: U+009B controls a terminal, too.
auto PrintableBytes(std::string_view text) noexcept -> std::size_t {
  const auto byte = [text](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  if (byte(0) < 0x80) {
    return ascii::IsControl(text[0]) ? 0 : 1;
  }
  const std::size_t size = byte(0) >= 0xf0 ? 4 : byte(0) >= 0xe0 ? 3 : 2;
  if (byte(0) < 0xc2 || byte(0) > 0xf4 || text.size() < size) {
    return 0;
  }
  std::uint32_t character = byte(0) & (0xffU >> (size + 1));
  for (std::size_t i = 1; i < size; ++i) {
    if ((byte(i) & 0xc0U) != 0x80) {
      return 0;
    }
    character = character << 6U | (byte(i) & 0x3fU);
  }
  constexpr std::array<std::uint32_t, 3> kLeast{0xa0, 0x800, 0x10000};  // of 2, 3 and 4 bytes
  const bool is_surrogate = character >= 0xd800 && character <= 0xdfff;
  return character < kLeast[size - 2] || character > 0x10ffff || is_surrogate ? 0 : size;
}

}  // namespace

LogLine::LogLine(LogLevel level, std::string_view text,
                 std::chrono::system_clock::time_point time) noexcept {
  using std::chrono::milliseconds;
  const auto millis = std::chrono::duration_cast<milliseconds>(time.time_since_epoch()).count();
  const auto seconds = static_cast<std::time_t>(millis / 1000);
  std::tm utc{};
  gmtime_r(&seconds, &utc);  // gmtime() shares one result between all threads

  const auto room = [this] { return bytes_.size() - size_; };
  size_ = std::strftime(bytes_.data(), bytes_.size(), "%Y-%m-%dT%H:%M:%S", &utc);
  size_ += static_cast<std::size_t>(std::snprintf(bytes_.data() + size_, room(), ".%03dZ %s ",
                                                  static_cast<int>(millis % 1000),
                                                  NameOf(level).data()));
  text = text.substr(0, room() - 1);
  while (!text.empty()) {
    const std::size_t count = PrintableBytes(text);
    if (count == 0) {
      bytes_[size_] = '?';
    } else {
      text.copy(&bytes_[size_], count);
    }
    size_ += std::max<std::size_t>(count, 1);
    text.remove_prefix(std::max<std::size_t>(count, 1));
  }
  bytes_[size_++] = '\n';
}

auto CountLines(std::string_view text) noexcept -> std::uint64_t {
  std::uint64_t count = 0;
  for (auto end = text.find('\n'); end != std::string_view::npos; end = text.find('\n', end + 1)) {
    ++count;
  }
  return count;
}

auto LossLine(std::uint64_t lines) noexcept -> LogLine {
  std::array<char, 64> text{};
  std::snprintf(text.data(), text.size(), "%llu lines of log are missing here",
                static_cast<unsigned long long>(lines));
  return {LogLevel::kWarning, text.data()};
}

}  // namespace TURTLE_SERVER
