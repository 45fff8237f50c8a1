// The command line of the floors.
//
// Interface:
//  * ParseFloorOptions() reads it; throws std::invalid_argument, which names the unreadable
//    argument.
//
// Thread: pure.
#pragma once

#include <cstdint>
#include <string>

namespace TURTLE_SERVER {

/// The options of a floor.
struct FloorOptions {
  std::uint16_t port = 20080;  ///< --port N, on 127.0.0.1; 0: any free one.
  std::string root = ".";      ///< --root DIR: contains small.html and big.html.
  unsigned threads = 1;        ///< --threads N, each with its own listener.
  bool deferred = false;       ///< --deferred: accept a client only when its request is there.
  bool fin = false;            ///< --fin: the FIN is sent with the last response.
  bool sendfile = false;       ///< --sendfile: the big page from a file; floor_epoll only.
  bool help = false;           ///< --help: print kFloorUsage and end.
};

/// The text of --help.
extern const char* const kFloorUsage;

/// Reads the command line, as of main().
[[nodiscard]] auto ParseFloorOptions(int argc, const char* const* argv) -> FloorOptions;

}  // namespace TURTLE_SERVER
