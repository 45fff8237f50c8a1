#include "sites/password_file.h"

#include <fcntl.h>
#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <optional>
#include <stdexcept>
#include <system_error>
#include <utility>

#include "base/ascii.h"
#include "base/unique_fd.h"
#include "files/read_file.h"

namespace TURTLE_SERVER {

namespace {

[[noreturn]] void Refuse(const std::string& path, const std::string& why) {
  throw std::invalid_argument(path + ": " + why);
}

// Opens it without waiting, as a pipe's writer may never come.
auto ReadAll(const std::string& path) -> std::string {
  const UniqueFd file(::open(path.c_str(), O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC));
  struct stat status {};
  if (!file || ::fstat(file.Get(), &status) != 0) {
    throw std::system_error(errno, std::generic_category(), path);
  }
  if (!S_ISREG(status.st_mode)) {
    Refuse(path, "not a regular file");
  }
  const auto size = static_cast<std::uint64_t>(status.st_size);
  if (size > PasswordFile::kMaxBytes) {
    Refuse(path, "longer than 1 MiB");
  }
  std::optional<std::string> text = ReadFile(file.Get(), 0, size);
  if (!text) {
    Refuse(path, "it can't be read, or changes meanwhile");
  }
  return *std::move(text);
}

// Compares all bytes, wherever the first difference is.
auto IsEqual(std::string_view one, std::string_view other) noexcept -> bool {
  std::uint32_t difference = one.size() == other.size() ? 0 : 1;
  for (std::size_t i = 0; i < std::min(one.size(), other.size()); ++i) {
    difference |= static_cast<unsigned char>(one[i]) ^ static_cast<unsigned char>(other[i]);
  }
  return difference == 0;
}

}  // namespace

PasswordFile::PasswordFile(const std::string& path, PasswordHasher hasher)
    : hasher_(std::move(hasher)) {
  ReadLines(path, ReadAll(path));
  if (hashes_.empty()) {
    Refuse(path, "it has no names");
  }
  for (const auto& [name, hash] : hashes_) {
    all_.push_back(&hash);
  }
}

void PasswordFile::ReadLines(const std::string& path, std::string_view text) {
  for (std::size_t number = 1; !text.empty(); ++number) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    try {
      if (number > kMaxLines) {
        throw std::invalid_argument("more than " + std::to_string(kMaxLines) + " lines");
      }
      AddLine(text.substr(0, end));
    } catch (const std::invalid_argument& error) {
      Refuse(path + ":" + std::to_string(number), error.what());
    }
    text.remove_prefix(std::min(end + 1, text.size()));
  }
}

void PasswordFile::AddLine(std::string_view line) {
  if (line.empty() || line.front() == '#') {
    return;
  }
  if (std::any_of(line.begin(), line.end(), ascii::IsControl)) {
    throw std::invalid_argument("the line has a control character");
  }
  const std::size_t colon = line.find(':');
  if (colon == std::string_view::npos) {
    throw std::invalid_argument("the line has no colon");
  }
  if (colon == 0) {
    throw std::invalid_argument("the name is empty");
  }
  const std::string_view hash = line.substr(colon + 1);
  if (const std::string fault = HashFault(hash); !fault.empty()) {
    throw std::invalid_argument(fault);
  }
  RequireKind(hash);
  if (!hashes_.emplace(line.substr(0, colon), hash).second) {
    throw std::invalid_argument("the name is there twice");
  }
}

// Asks the system once for each kind.
void PasswordFile::RequireKind(std::string_view hash) {
  const std::string_view probe = ProbeOf(hash);
  if (std::find(probed_.begin(), probed_.end(), probe) != probed_.end()) {
    return;
  }
  const std::string_view prefix = probe.substr(0, probe.find('$', 1) + 1);
  if (hasher_("", std::string(probe)).substr(0, prefix.size()) != prefix) {
    throw std::invalid_argument("this system knows no hashes of the kind " + std::string(prefix));
  }
  probed_.push_back(probe);
}

auto PasswordFile::Dummy(std::string_view name) const -> const std::string& {
  return *all_[SipHash<1, 3>(key_, name) % all_.size()];
}

auto PasswordFile::Check(std::string_view name, std::string_view password) const -> bool {
  const auto found = hashes_.find(name);
  const bool known = found != hashes_.end();
  const std::string& hash = known ? found->second : Dummy(name);
  const bool equal = IsEqual(hasher_(std::string(password), hash), hash);
  const bool whole = password.find('\0') == std::string_view::npos;  // crypt_r(3) stops there
  return static_cast<unsigned>(equal) + static_cast<unsigned>(known) +
             static_cast<unsigned>(whole) ==
         3;
}

}  // namespace TURTLE_SERVER
