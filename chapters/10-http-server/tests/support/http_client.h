// An HTTP client for tests: it sends bytes as they are, and reads responses one by one.
#pragma once

#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#ifdef __linux__
#include <linux/tcp.h>  // has more in tcp_info than netinet/tcp.h
#else
#include <netinet/tcp.h>
#endif

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/ascii.h"
#include "support/client.h"
#include "support/tcp_pair.h"

namespace TURTLE_SERVER::test {

/// Returns a GET of HTTP/1.1 that keeps the connection.
/// @param target exactly as it is sent
/// @param fields more field lines, each with its CR LF
inline auto Get(std::string_view target, std::string_view fields = {}) -> std::string {
  std::string request = "GET ";
  return request.append(target).append(" HTTP/1.1\r\nHost: t\r\n").append(fields).append("\r\n");
}

/// One response.
struct HttpReply {
  int status = 0;         ///< 0: no complete head arrived
  std::string head;       ///< status line and fields, with the empty line
  std::string body;       ///< without the chunks around it
  bool complete = false;  ///< the whole body arrived

  /// Returns the value of the first field `name`, in any case; "" if there is none.
  [[nodiscard]] auto Field(std::string_view name) const -> std::string {
    for (std::size_t at = head.find("\r\n"); at + 2 < head.size(); at = head.find("\r\n", at + 2)) {
      const std::string_view line = std::string_view(head).substr(at + 2);
      if (line.size() > name.size() && line[name.size()] == ':' &&
          ascii::EqualIgnoreCase(line.substr(0, name.size()), name)) {
        const std::string_view value = line.substr(0, line.find("\r\n")).substr(name.size() + 1);
        return std::string(value.substr(value.find_first_not_of(' ')));
      }
    }
    return "";
  }
};

/// The method of the request: a response to HEAD has no body, whatever its fields say.
enum class Asked : std::uint8_t { kGet, kHead };

/// A connection to a web server. Every wait ends after kPatience.
class HttpClient {
 public:
  /// Connects to a port of this machine.
  explicit HttpClient(int port) : client_(port) {
    const int at_once = 1;  // a piece must not wait for the previous one's acknowledgement
    ::setsockopt(GetFd(), IPPROTO_TCP, TCP_NODELAY, &at_once, sizeof at_once);
  }

  /// Sends bytes; false if the server doesn't take them.
  auto Send(std::string_view bytes) -> bool { return client_.Send(bytes); }

  /// Sends a request and reads the response.
  auto Ask(std::string_view request, Asked asked = Asked::kGet) -> HttpReply {
    return Send(request) ? ReadReply(asked) : HttpReply();
  }

  /// Reads the next response, even an interim one (1xx).
  auto ReadReply(Asked asked = Asked::kGet) -> HttpReply {
    HttpReply reply;
    const std::size_t end = AwaitText("\r\n\r\n", 0);
    if (end == std::string::npos || pending_.substr(0, 9) != "HTTP/1.1 ") {
      return reply;
    }
    reply.head = Take(end + 4);
    reply.status = std::stoi(reply.head.substr(9, 3));
    if (asked == Asked::kHead || reply.status < 200 || reply.status == 204 || reply.status == 304) {
      reply.complete = true;
    } else if (reply.Field("Transfer-Encoding") == "chunked") {
      reply.complete = ReadChunks(reply.body);
    } else if (const std::string length = reply.Field("Content-Length"); !length.empty()) {
      const std::size_t size = std::stoull(length);
      reply.complete = AwaitSize(size);
      reply.body = Take(size);
    } else {
      while (Fill()) {
      }
      reply.complete = Ended();
      reply.body = Take(pending_.size());
    }
    return reply;
  }

  /// Returns everything that arrives until the server ends, or for kPatience.
  auto ReadRest() -> std::string {
    while (Fill()) {
    }
    return Take(pending_.size());
  }

  /// True if the server ends the connection properly and sends nothing before that.
  auto IsClosedByServer() -> bool { return ReadRest().empty() && Ended(); }

  /// True once the server has finished sending, properly.
  [[nodiscard]] auto Ended() const -> bool { return ended_; }

  /// True once the connection was reset.
  [[nodiscard]] auto WasReset() const -> bool { return reset_; }

  /// Sends a FIN.
  void FinishSending() { client_.FinishSending(); }

  /// Closes with a RST, as a crashing peer does.
  void Reset() { client_.Reset(); }

  /// True if bytes, or the end, arrive within `limit`.
  auto HasInput(std::chrono::milliseconds limit) -> bool {
    pollfd waiting{GetFd(), POLLIN, 0};
    return !pending_.empty() || ::poll(&waiting, 1, static_cast<int>(limit.count())) > 0;
  }

#ifdef __linux__
  /// Returns in how many segments the server's bytes arrived.
  auto SegmentsReceived() -> std::size_t {
    tcp_info info{};
    socklen_t size = sizeof info;
    ::getsockopt(GetFd(), IPPROTO_TCP, TCP_INFO, &info, &size);
    return info.tcpi_data_segs_in;
  }
#endif

  /// Returns the descriptor, borrowed.
  [[nodiscard]] auto GetFd() -> int { return client_.GetSocket().GetFd(); }

 private:
  // Takes the next bytes; false at the end, after an error and after kPatience.
  auto Fill() -> bool {
    if (ended_ || reset_ || !AwaitReady(GetFd(), POLLIN)) {
      return false;
    }
    std::array<char, 65536> bytes;
    const IoResult result = client_.GetSocket().Recv(bytes.data(), bytes.size());
    ended_ = result.status == IoStatus::kEnd;
    reset_ = result.status == IoStatus::kError;
    if (result.status == IoStatus::kBytes) {
      pending_.append(bytes.data(), result.bytes);
    }
    return result.status == IoStatus::kBytes;
  }

  auto AwaitSize(std::size_t size) -> bool {
    while (pending_.size() < size && Fill()) {
    }
    return pending_.size() >= size;
  }

  // Returns where `text` begins, at `from` or later; npos if it doesn't arrive.
  auto AwaitText(std::string_view text, std::size_t from) -> std::size_t {
    std::size_t found = pending_.find(text, from);
    while (found == std::string::npos && Fill()) {
      found = pending_.find(text, from);
    }
    return found;
  }

  auto ReadChunks(std::string& body) -> bool {
    for (;;) {
      const std::size_t line = AwaitText("\r\n", 0);
      if (line == std::string::npos) {
        return false;
      }
      const std::size_t size = std::stoull(Take(line + 2), nullptr, 16);
      const bool whole = AwaitSize(size + 2);
      body += Take(size);
      if (!whole || Take(2) != "\r\n") {
        return false;
      }
      if (size == 0) {
        return true;
      }
    }
  }

  auto Take(std::size_t count) -> std::string {
    std::string taken = pending_.substr(0, count);
    pending_.erase(0, count);
    return taken;
  }

  Client client_;
  std::string pending_;
  bool ended_ = false;
  bool reset_ = false;
};

}  // namespace TURTLE_SERVER::test
