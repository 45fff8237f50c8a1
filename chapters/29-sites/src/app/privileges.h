// Gives up root: the listeners are opened as root, and clients are served as another user.
//
//   Privileges privileges("www-data", "");
//   …                                   // listeners, which may need root
//   privileges.GiveFile("/var/log/turtle.log");
//   privileges.Drop();                  // from here on nothing needs root, and nothing has it
//
// Interface:
//  * FindIdentity() looks up a user and a group.
//  * WhyNotAsRoot() refuses to serve other machines as root, unless that is meant.
//  * MustDrop() says whether this process is to become another user.
//  * GiveFile() gives a file of root's to that user, Drop() becomes that user.
//
// A process that already is the wanted user drops nothing. So a successor of such a process starts
// with the same settings.
//
// Thread: the only one. setuid(2) alone would change one thread; libc's changes all.
#pragma once

#include <sys/types.h>

#include <functional>
#include <string>

#include "base/namespace.h"
#include "core/net_address.h"

namespace TURTLE_SERVER {

/// A user and a group.
struct Identity {
  std::string name{};  ///< Of the user; empty: a number that the system's list of users lacks.
  uid_t user = 0;      ///< The user's number.
  gid_t group = 0;     ///< The group's number.
};

/// Looks up a user and a group.
/// @param user a name, or a number
/// @param group likewise; empty: the user's own
/// @throws std::invalid_argument that begins with the key and the value: "user: 'www': …"
[[nodiscard]] auto FindIdentity(const std::string& user, const std::string& group) -> Identity;

/// Returns why this process must not listen at an address: it is root, other machines reach the
/// address, and no user is named.
/// @param address with its port
/// @param user a name, or a number; empty: none
/// @return "" if nothing speaks against it
[[nodiscard]] auto WhyNotAsRoot(const NetAddress& address, const std::string& user) -> std::string;

/// The system calls of Privileges. Each returns 0, or -1 and errno.
struct PrivilegeCalls {
  PrivilegeCalls();  ///< Those of the system.

  std::function<uid_t()> effective_user;               ///< geteuid(2)
  std::function<gid_t()> effective_group;              ///< getegid(2)
  std::function<int(const Identity&)> set_all_groups;  ///< initgroups(3)
  std::function<int(gid_t)> set_group;                 ///< setgid(2)
  std::function<int(uid_t)> set_user;                  ///< setuid(2)
};

/// The way from root to another user.
class Privileges {
 public:
  /// Changes nothing yet.
  /// @param user a name or a number; empty: the process stays what it is
  /// @param group likewise; empty: the user's own
  /// @param calls of the system, but in tests
  /// @throws std::invalid_argument, which begins with the key and the value, if there is no such
  ///     user or group, or if becoming that user needs root; or a group comes without a user
  Privileges(const std::string& user, const std::string& group, PrivilegeCalls calls = {});

  /// Returns true if Drop() has something to do: this process is root and has a user to become.
  [[nodiscard]] auto MustDrop() const noexcept -> bool { return must_drop_; }

  /// Returns true if this process has root's rights now.
  [[nodiscard]] auto IsRoot() const -> bool { return calls_.effective_user() == 0; }

  /// Gives a regular file of root's to the user, and creates it if it is missing. So the user can
  /// open it now and later, in a directory where the user can't create files. Does so only if that
  /// directory and all above it are root's, and nobody else can write to them: there, a name can't
  /// lead to another file. Errors show when the user opens the file. Unless MustDrop(), does
  /// nothing.
  /// @param path of a file; empty: none
  void GiveFile(const std::string& path) const;

  /// Becomes the user: all groups, then the group, then the user. Then makes sure that root can't
  /// come back. Unless MustDrop(), does nothing.
  /// @throws std::system_error, which names the call, if one fails; the process must end then
  /// @throws std::runtime_error if the process is not that user, or could be root again
  void Drop();

 private:
  [[nodiscard]] auto IsThatUser(const std::string& group) const -> bool;
  void RequireNoWayBack() const;

  const PrivilegeCalls calls_;
  Identity identity_;
  bool must_drop_ = false;
};

}  // namespace TURTLE_SERVER
