// A file with names and hashes of passwords, in the format of htpasswd:
//
//   # the office
//   alice:$2b$10$…
//   bob:$6$…
//
// Interface:
//  * The constructor reads the file, and refuses it as a whole for any fault.
//  * Check() returns whether a password is right.
//
// An empty line, or one that begins with '#', is skipped. `htpasswd -B FILE NAME` and
// `openssl passwd -6` write such hashes (sites/password_hash.h).
//
// A check is slow by intent, so that a stolen file is not soon a list of passwords: 50 ms are
// usual. It takes the same time for a name that the file does not have. Otherwise a client could
// find out which names exist. If the hashes have different costs, such a name gets the cost of one
// of them, always of the same.
//
// Thread: constant, any.
#pragma once

#include <cstddef>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "base/keyed_hash.h"
#include "sites/password_hash.h"

namespace TURTLE_SERVER {

/// HashPassword(), or that of a test.
using PasswordHasher =
    std::function<std::string(const std::string& password, const std::string& setting)>;

/// The names of one file.
class PasswordFile {
 public:
  /// The largest file, in bytes.
  static constexpr std::size_t kMaxBytes = std::size_t{1} << 20;

  /// The most lines, comments included.
  static constexpr std::size_t kMaxLines = 10'000;

  /// Reads a file. For each kind of hash, one cheap hash is computed, to find out whether the
  /// system knows it.
  /// @param path of a regular file
  /// @param hasher called by Check(), on several threads at once
  /// @throws std::invalid_argument, which names the file and the line, but never shows a hash;
  ///     std::system_error, which names the file, if it can't be read
  explicit PasswordFile(const std::string& path, PasswordHasher hasher = HashPassword);

  /// Returns true if the file has the name, with this password. Computes one hash in any case, so
  /// it takes some 50 ms.
  /// @param name any text
  /// @param password any text
  /// @throws std::bad_alloc
  [[nodiscard]] auto Check(std::string_view name, std::string_view password) const -> bool;

 private:
  void ReadLines(const std::string& path, std::string_view text);
  void AddLine(std::string_view line);
  void RequireKind(std::string_view hash);
  [[nodiscard]] auto Dummy(std::string_view name) const -> const std::string&;

  const PasswordHasher hasher_;
  const HashKey key_ = RandomHashKey();   // decides which hash is the dummy of a name
  std::vector<std::string_view> probed_;  // ProbeOf() of each kind in the file
  std::map<std::string, std::string, std::less<>> hashes_;  // by name
  std::vector<const std::string*> all_;                     // those of hashes_; not empty
};

}  // namespace TURTLE_SERVER
