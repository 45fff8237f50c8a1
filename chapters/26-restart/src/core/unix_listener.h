// A listening socket with a name in the file system, unix(7): for clients on the same machine, such
// as a proxy that stands before the server. There is no port to choose, and the directory's
// permissions say which clients may connect.
//
// Interface:
//  * The constructor binds and listens, TakeSocket() gives the socket away.
//  * The destructor removes the file, unless LeaveFile() says that another process has it now.
//  * TakeFile() says that the file is this process's, when the listener came from another.
//
// The file outlives a program that was killed, and bind(2) then says that the address is in use. So
// a file that nobody listens on any more is replaced; one that somebody does is left alone, and so
// is what is no socket. Two servers that begin on one path at the same moment may both succeed, and
// the later one gets the clients.
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
  /// Binds and listens. Every local user may connect who can reach the file (mode 0666).
  /// @param path at most 107 bytes; throws std::invalid_argument when it can't be one
  /// @param backlog clients that wait in the kernel to be accepted, listen(2)
  /// Throws std::system_error, which names the path, when somebody listens there or the file can't
  /// be made.
  explicit UnixListener(std::string path, int backlog = SOMAXCONN);

  /// A listener that another process has opened and left to this one. Its file is that process's
  /// until TakeFile(): a successor that fails on the way must not take it away from the server that
  /// goes on.
  /// @param path where `listener` is bound
  /// @param listener listens already
  UnixListener(std::string path, Socket listener) noexcept;

  /// Removes the file, unless another one has taken its place, or it was left.
  ~UnixListener();

  UnixListener(const UnixListener&) = delete;
  auto operator=(const UnixListener&) -> UnixListener& = delete;

  /// The socket, for TurtleServer::AlsoListen(). To be called once.
  [[nodiscard]] auto TakeSocket() -> Socket { return std::move(socket_); }

  /// From now on the file that is there is this object's, as if it had been made here.
  void TakeFile() noexcept;

  /// From now on the file is somebody else's, who has the same listener.
  void LeaveFile() noexcept { owned_ = false; }

  /// Where it listens.
  [[nodiscard]] auto Path() const noexcept -> const std::string& { return path_; }

 private:
  std::string path_;
  Socket socket_;
  bool owned_ = true;
  dev_t device_ = 0;  // with `inode_`: the file that was made
  ino_t inode_ = 0;
};

}  // namespace TURTLE_SERVER
