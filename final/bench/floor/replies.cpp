#include "replies.h"

#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>
#include <fstream>
#include <iterator>
#include <string_view>
#include <system_error>

namespace TURTLE_SERVER {

namespace {

constexpr std::string_view kClose = "Connection: close\r\n";
constexpr std::size_t kCopies = 64;  // more requests than a read usually brings

auto ReadPage(const std::string& path) -> std::string {
  std::ifstream page(path, std::ios::binary);
  if (!page) {
    throw std::system_error(errno, std::system_category(), "open " + path);
  }
  return {std::istreambuf_iterator<char>(page), std::istreambuf_iterator<char>()};
}

// As many bytes as `turtle serve` sends, in the same fields. That matters: on Linux 6.18 a response
// of up to 835 bytes with a FIN costs the server a quarter less than one of 836. Up to that size
// the client's kernel delays its acknowledgement, and sends it at the client's own expense.
auto MakeReply(const std::string& body, std::string_view connection, std::size_t copies)
    -> CannedReply {
  std::string reply = "HTTP/1.1 200 OK\r\nDate: Fri, 20 Nov 2026 00:00:00 GMT\r\n";
  reply += connection;
  reply += "Content-Length: " + std::to_string(body.size());
  reply +=
      "\r\nContent-Type: text/html; charset=utf-8\r\nAccept-Ranges: bytes\r\n"
      "ETag: \"100000-264-18ea000000000000-18ea000000000000\"\r\n"
      "Last-Modified: Thu, 19 Nov 2026 00:00:00 GMT\r\n\r\n";
  reply += body;
  CannedReply canned;
  canned.size = reply.size();
  canned.copies.reserve(reply.size() * copies);
  for (std::size_t i = 0; i < copies; ++i) {
    canned.copies += reply;
  }
  return canned;
}

auto MakeFile(const std::string& content) -> UniqueFd {
  UniqueFd file(::memfd_create("reply", MFD_CLOEXEC));
  std::size_t written = 0;
  while (written < content.size()) {
    const ssize_t count = ::write(file.Get(), content.data() + written, content.size() - written);
    if (count < 0) {
      throw std::system_error(errno, std::system_category(), "a file in memory");
    }
    written += static_cast<std::size_t>(count);
  }
  return file;
}

}  // namespace

Replies::Replies(const std::string& root) {
  const std::string small = ReadPage(root + "/small.html");
  const std::string big = ReadPage(root + "/big.html");
  small_ = MakeReply(small, "", kCopies);
  small_last_ = MakeReply(small, kClose, 1);
  big_ = MakeReply(big, "", 1);
  big_last_ = MakeReply(big, kClose, 1);
  big_file_ = MakeFile(big_.copies);
}

}  // namespace TURTLE_SERVER
