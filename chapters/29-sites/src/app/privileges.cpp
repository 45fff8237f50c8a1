#include "app/privileges.h"

#include <fcntl.h>
#include <grp.h>
#include <pwd.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <charconv>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <limits>
#include <optional>
#include <stdexcept>
#include <system_error>
#include <utility>

#include "base/unique_fd.h"

namespace TURTLE_SERVER {

namespace {

auto Fault(const std::string& key, const std::string& value, const std::string& reason)
    -> std::invalid_argument {
  return std::invalid_argument(key + ": '" + value + "': " + reason);
}

// The greatest number is none: for chown(2) and others it means "as it is".
auto ParseId(const std::string& text) -> std::optional<std::uint32_t> {
  std::uint32_t id = 0;
  const char* const end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, id);
  if (error != std::errc() || stop != end || id == std::numeric_limits<std::uint32_t>::max()) {
    return std::nullopt;
  }
  return id;
}

// A system call would take the text up to the NUL byte for the name.
void RequireText(const std::string& key, const std::string& text) {
  if (const std::size_t nul = text.find('\0'); nul != std::string::npos) {
    throw Fault(key, text.substr(0, nul), "a NUL byte follows, which no name has");
  }
}

// Prefers a name, as chown(1) does: a user may be called "1000".
auto FindUser(const std::string& text) -> const passwd* {
  RequireText("user", text);
  const passwd* const named = ::getpwnam(text.c_str());
  const auto id = ParseId(text);
  return named != nullptr || !id ? named : ::getpwuid(*id);
}

auto FindGroup(const std::string& text) -> gid_t {
  RequireText("group", text);
  if (const group* const named = ::getgrnam(text.c_str())) {
    return named->gr_gid;
  }
  const auto id = ParseId(text);
  if (!id) {
    throw Fault("group", text, "there is no such group");
  }
  return *id;
}

auto UserOf(const std::string& user, bool has_group) -> Identity {
  if (const passwd* const entry = FindUser(user)) {
    return {entry->pw_name, entry->pw_uid, entry->pw_gid};
  }
  const auto id = ParseId(user);
  if (!id) {
    throw Fault("user", user, "there is no such user");
  }
  if (!has_group) {
    throw Fault("user", user, "there is no such user, so its group has to be named, too");
  }
  return {"", *id, 0};
}

// A user without a name has no other groups.
auto SetAllGroups(const Identity& identity) -> int {
  if (identity.name.empty()) {
    return ::setgroups(1, &identity.group);
  }
#ifdef __APPLE__
  return ::initgroups(identity.name.c_str(), static_cast<int>(identity.group));
#else
  return ::initgroups(identity.name.c_str(), identity.group);
#endif
}

// Returns true if nobody but root can create, rename or replace files in the directory. On the way
// to another one a sticky bit is enough (/tmp): it keeps the names of root's directories.
auto IsRoots(int folder, bool is_last) noexcept -> bool {
  struct stat status {};
  if (::fstat(folder, &status) != 0 || status.st_uid != 0) {
    return false;
  }
  const bool others =
      (status.st_mode & S_IWOTH) != 0 || ((status.st_mode & S_IWGRP) != 0 && status.st_gid != 0);
  return !others || (!is_last && (status.st_mode & S_ISVTX) != 0);
}

// Opens a directory if it and all directories on the way to it are root's. Otherwise the user could
// exchange one of them for a link. @return empty: it is not, or can't be opened
auto OpenTrusted(const std::string& path) -> UniqueFd {
  std::error_code error;
  const std::filesystem::path whole = std::filesystem::canonical(path, error);
  std::filesystem::path way;
  UniqueFd folder;
  for (const std::filesystem::path& part : whole) {
    way /= part;
    folder = UniqueFd(::open(way.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
    if (!folder || !IsRoots(folder.Get(), way == whole)) {
      return UniqueFd();
    }
  }
  return error ? UniqueFd() : std::move(folder);
}

void Require(int result, const char* call) {
  if (result != 0) {
    throw std::system_error(errno, std::generic_category(), call);
  }
}

}  // namespace

auto FindIdentity(const std::string& user, const std::string& group) -> Identity {
  Identity identity = UserOf(user, !group.empty());
  if (!group.empty()) {
    identity.group = FindGroup(group);
  }
  return identity;
}

auto WhyNotAsRoot(const NetAddress& address, const std::string& user) -> std::string {
  const std::string ip = address.Ip();
  const bool is_loopback = ip.compare(0, 4, "127.") == 0 || ip == "::1";
  if (::geteuid() != 0 || is_loopback || !user.empty()) {
    return "";
  }
  return "user: root would serve other machines, at " + ip +
         ": name a user, or root if that is meant";
}

PrivilegeCalls::PrivilegeCalls()
    : effective_user(::geteuid),
      effective_group(::getegid),
      set_all_groups(SetAllGroups),
      set_group(::setgid),
      set_user(::setuid) {}

Privileges::Privileges(const std::string& user, const std::string& group, PrivilegeCalls calls)
    : calls_(std::move(calls)) {
  if (user.empty()) {
    if (!group.empty()) {
      throw Fault("group", group, "needs a user, too");
    }
    return;
  }
  identity_ = FindIdentity(user, group);
  must_drop_ = IsRoot();
  if (!must_drop_ && !IsThatUser(group)) {
    throw Fault("user", user, "only root can become another user");
  }
}

// A predecessor has set the group if the settings name one.
auto Privileges::IsThatUser(const std::string& group) const -> bool {
  return calls_.effective_user() == identity_.user &&
         (group.empty() || calls_.effective_group() == identity_.group);
}

void Privileges::GiveFile(const std::string& path) const {
  if (!must_drop_ || path.empty()) {
    return;
  }
  const std::size_t name = path.rfind('/') + 1;  // npos + 1 is 0
  const std::string parent = name == 0 ? "." : path.substr(0, name);
  const UniqueFd folder = OpenTrusted(parent);
  if (!folder) {
    return;
  }
  constexpr int kFlags =
      O_WRONLY | O_APPEND | O_CREAT | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC;
  constexpr mode_t kMode = 0640;  // as LogFile
  const UniqueFd file(::openat(folder.Get(), path.c_str() + name, kFlags, kMode));
  struct stat status {};
  if (file && ::fstat(file.Get(), &status) == 0 && S_ISREG(status.st_mode) && status.st_uid == 0 &&
      status.st_nlink == 1) {
    [[maybe_unused]] const int ignored =
        ::fchown(file.Get(), identity_.user, identity_.group);  // opening it will fail, and say so
  }
}

void Privileges::Drop() {
  if (!must_drop_) {
    return;
  }
  Require(calls_.set_all_groups(identity_), "initgroups");
  Require(calls_.set_group(identity_.group), "setgid");
  Require(calls_.set_user(identity_.user), "setuid");
  RequireNoWayBack();
  must_drop_ = false;
}

// A capability or a security bit (capabilities(7)) may keep the way open.
void Privileges::RequireNoWayBack() const {
  if (calls_.effective_user() != identity_.user || calls_.effective_group() != identity_.group) {
    throw std::runtime_error("setuid: this process has not become the user");
  }
  const bool is_root = identity_.user == 0;
  if (!is_root && (calls_.set_user(0) == 0 || (identity_.group != 0 && calls_.set_group(0) == 0))) {
    throw std::runtime_error("setuid: this process could become root again");
  }
}

}  // namespace TURTLE_SERVER
