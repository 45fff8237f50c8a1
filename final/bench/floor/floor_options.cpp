#include "floor_options.h"

#include <charconv>
#include <stdexcept>
#include <string_view>
#include <system_error>

namespace TURTLE_SERVER {

namespace {

constexpr unsigned kMaxPort = 65535;
constexpr unsigned kMaxThreads = 256;

auto ParseNumber(std::string_view option, std::string_view text, unsigned least, unsigned most)
    -> unsigned {
  unsigned number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size() || number < least || number > most) {
    throw std::invalid_argument(std::string(option) + " " + std::string(text) + ": a number from " +
                                std::to_string(least) + " to " + std::to_string(most) +
                                " is needed");
  }
  return number;
}

}  // namespace

const char* const kFloorUsage =
    "Answers every request with a canned response, to show the cost of the kernel alone.\n"
    "  --port N      on 127.0.0.1 (20080); 0: any free one\n"
    "  --root DIR    directory of small.html and big.html (the current one)\n"
    "  --threads N   threads, each with its own listener (1)\n"
    "  --deferred    accept a client only when its request is there (TCP_DEFER_ACCEPT)\n"
    "  --fin         the end of the connection rides on the last response (MSG_MORE, then close)\n"
    "  --sendfile    the big page from a file (floor_epoll)\n";

auto ParseFloorOptions(int argc, const char* const* argv) -> FloorOptions {
  FloorOptions options;
  for (int i = 1; i < argc; ++i) {
    const std::string_view option = argv[i];
    const auto value = [&]() -> std::string_view {
      if (++i == argc) {
        throw std::invalid_argument(std::string(option) + ": a value is needed");
      }
      return argv[i];
    };
    if (option == "--port") {
      options.port = static_cast<std::uint16_t>(ParseNumber(option, value(), 0, kMaxPort));
    } else if (option == "--root") {
      options.root = value();
    } else if (option == "--threads") {
      options.threads = ParseNumber(option, value(), 1, kMaxThreads);
    } else if (option == "--deferred") {
      options.deferred = true;
    } else if (option == "--fin") {
      options.fin = true;
    } else if (option == "--sendfile") {
      options.sendfile = true;
    } else if (option == "--help") {
      options.help = true;
    } else {
      throw std::invalid_argument(std::string(option) + ": no such option");
    }
  }
  return options;
}

}  // namespace TURTLE_SERVER
