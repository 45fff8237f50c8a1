// Reads requests from standard input, in pieces, and prints what the parser finds in them.
//
//   request_printer [BYTES]      BYTES: the size of a piece, 4096 unless given
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstdint>
#include <exception>
#include <iostream>
#include <stdexcept>
#include <string>
#include <string_view>
#include <system_error>

#include "base/namespace.h"
#include "describe_request.h"
#include "http/http_parser.h"

namespace {

using turtle::HttpParser;
using turtle::ParseResult;
using turtle::ParserLimits;
using turtle::ParseState;
using turtle::Request;

auto ParseSize(std::string_view text) -> std::size_t {
  std::size_t size = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), size);
  if (error != std::errc() || end != text.data() + text.size() || size == 0 || size > 1'000'000) {
    throw std::invalid_argument("size \"" + std::string(text) + "\": not within 1 to 1000000");
  }
  return size;
}

class RequestPrinter {
 public:
  // Takes one more piece of the stream. False: nothing after it can be understood.
  auto Take(std::string_view piece) -> bool {
    input_.append(piece);
    ++pieces_;
    for (;;) {
      SkipBody();
      if (body_left_ > 0 || input_.empty()) {
        pieces_ = 0;
        return true;
      }
      const ParseResult result = parser_.Parse(input_, request_);
      switch (result.state) {
        case ParseState::kNeedMore:
          return true;
        case ParseState::kBad:
          std::cout << "refused: " << result.status << ' ' << result.reason << std::endl;
          return false;
        case ParseState::kDone:
          break;
      }
      std::cout << DescribeRequest(request_) << "  (" << result.head_bytes << " bytes in "
                << pieces_ << (pieces_ == 1 ? " piece)" : " pieces)") << std::endl;
      if (request_.framing.kind == turtle::BodyKind::kChunked) {
        std::cout << "a body in chunks: its end can't be found before chapter 13" << std::endl;
        return false;
      }
      body_left_ = request_.framing.length;
      input_.erase(0, result.head_bytes);
      pieces_ = 1;
    }
  }

  // True if the stream may end here.
  auto IsBetweenRequests() const -> bool { return input_.empty() && body_left_ == 0; }

 private:
  void SkipBody() {
    const auto count = std::min<std::uint64_t>(body_left_, input_.size());
    input_.erase(0, static_cast<std::size_t>(count));
    body_left_ -= count;
  }

  const ParserLimits limits_{};
  HttpParser parser_{limits_};
  Request request_;
  std::string input_;
  std::uint64_t body_left_ = 0;
  int pieces_ = 0;
};

auto Print(std::size_t piece_size) -> int {
  RequestPrinter printer;
  std::string piece(piece_size, '\0');
  for (;;) {
    const ssize_t count = ::read(STDIN_FILENO, piece.data(), piece.size());
    if (count < 0 && errno == EINTR) {
      continue;
    }
    if (count < 0) {
      throw std::system_error(errno, std::generic_category(), "read standard input");
    }
    if (count == 0) {
      break;
    }
    if (!printer.Take({piece.data(), static_cast<std::size_t>(count)})) {
      return 1;
    }
  }
  if (!printer.IsBetweenRequests()) {
    throw std::runtime_error("the input ends within a request");
  }
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  try {
    if (argc > 2) {
      throw std::invalid_argument("usage: request_printer [BYTES]");
    }
    return Print(argc > 1 ? ParseSize(argv[1]) : 4096);
  } catch (const std::exception& error) {
    std::cerr << "request_printer: " << error.what() << '\n';
    return 1;
  }
}
