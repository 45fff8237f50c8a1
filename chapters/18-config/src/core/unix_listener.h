// A listening socket with a name in the file system, unix(7): for clients on the same machine, such
// as a proxy in front of the server. There is no port to choose, and the directory's permissions
// decide which clients may connect.
//
// Interface:
//  * The constructor binds and listens, TakeSocket() gives up the socket.
//  * The destructor removes the file.
//
// The file outlives a program that was killed, and bind(2) then says that the address is in use. So
// a file that nobody listens on any more is replaced. A file with a listener is left alone, and so
// is a file that is not a socket. If two servers start on one path at the same time, both may
// succeed, and the later one gets the clients.
//
// Thread: a value.
#pragma once

#include <sys/types.h>

#include <string>

#include "core/socket.h"

namespace TURTLE_SERVER {

/// A listener on a path, and the owner of the file there.
class UnixListener {
 public:
  /// Binds and listens. Every local user that can reach the file may connect (mode 0666).
  /// @param path at most 107 bytes; throws std::invalid_argument when it can't be one
  /// @param backlog clients that may wait in the kernel to be accepted, listen(2)
  /// Throws std::system_error, which names the path, if another process listens there or the file
  /// can't be made.
  explicit UnixListener(std::string path, int backlog = SOMAXCONN);

  /// Removes the file, unless another one has replaced it.
  ~UnixListener();

  UnixListener(const UnixListener&) = delete;
  auto operator=(const UnixListener&) -> UnixListener& = delete;

  /// Returns the socket, for TurtleServer::AlsoListen(). Call it once.
  [[nodiscard]] auto TakeSocket() -> Socket { return std::move(socket_); }

  /// Returns the path on which it listens.
  [[nodiscard]] auto Path() const noexcept -> const std::string& { return path_; }

 private:
  std::string path_;
  Socket socket_;
  dev_t device_ = 0;  // with `inode_`: identifies the file that was made
  ino_t inode_ = 0;
};

}  // namespace TURTLE_SERVER
