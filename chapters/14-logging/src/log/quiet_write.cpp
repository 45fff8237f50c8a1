#include "log/quiet_write.h"

#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <cstddef>

#include "base/sigpipe_block.h"

namespace TURTLE_SERVER {

namespace {

#ifdef MSG_NOSIGNAL
constexpr int kFlags = MSG_DONTWAIT | MSG_NOSIGNAL;
#else
constexpr int kFlags = MSG_DONTWAIT;
#endif

template <class Call>
auto Quietly(std::size_t size, Call call) noexcept -> ssize_t {
  const SigpipeBlock block;
  ssize_t count = 0;
  do {
    count = call();
  } while (count < 0 && errno == EINTR);
  if (count != static_cast<ssize_t>(size)) {  // also after a part: the reader may have gone then
    block.TakeAway();
  }
  return count;
}

}  // namespace

auto QuietWrite(int fd, std::string_view bytes) noexcept -> ssize_t {
  return Quietly(bytes.size(), [=] { return write(fd, bytes.data(), bytes.size()); });
}

auto QuietSend(int socket, std::string_view bytes) noexcept -> ssize_t {
  return Quietly(bytes.size(), [=] { return send(socket, bytes.data(), bytes.size(), kFlags); });
}

}  // namespace TURTLE_SERVER
