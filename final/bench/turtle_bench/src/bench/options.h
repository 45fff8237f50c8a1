// The command line of `turtle-bench`.
//
// Interface:
//  * ParseBenchCommandLine() reads it and returns what to do: put a server under load, or print a
//    text and end.
//  * RequestText() returns the request for these options, HandshakeText() what comes before it.
//
// Nothing is opened or started here, and nothing is printed.
//
// Thread: pure.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "bench/load_mode.h"
#include "bench/url.h"

namespace TURTLE_SERVER {

/// The options of `turtle-bench`; every value has been checked.
struct BenchOptions {
  Url url{};                             ///< URL
  std::string url_text;                  ///< URL as it was written
  std::size_t connections = 64;          ///< -c: at least one for each thread
  std::chrono::milliseconds time{5000};  ///< -t
  std::size_t threads = 1;               ///< --threads
  LoadMode mode = LoadMode::kKeepAlive;  ///< --close, --keep-alive, --pipeline, --idle
  std::uint32_t depth = 1;               ///< --pipeline: requests at once
  double rate = 0;                       ///< --rate: requests per second; 0: as many as possible
  int minor_version = 1;                 ///< -1: HTTP/1.0, -2: HTTP/1.1
  bool to_head = false;                  ///< --head
  std::string body;                      ///< --post: what each request carries; empty: no POST
  std::vector<std::string> fields;       ///< -H: "Name: value"
  std::size_t read_size = 0;             ///< --read-size in bytes; 0: as the library reads
  std::chrono::milliseconds timeout{10'000};  ///< --timeout
  bool any_body = false;                      ///< --any-body: responses may differ
  bool echo = false;                          ///< --echo: the server sends back what it gets
  std::optional<std::size_t> websocket{};     ///< --websocket: bytes of each message; else HTTP
  bool quiet = false;                         ///< --quiet: no progress
  std::string json;                           ///< --json: a file, or "-"; empty: no JSON
  std::string ca;      ///< --ca: a file of roots, in PEM; empty: the system's
  bool verify = true;  ///< unless --insecure: the server's certificate
  bool resume = true;  ///< unless --no-resume: TLS sessions of closed connections
};

/// The program's task.
enum class BenchAction : std::uint8_t {
  kRun,    ///< Run as `options` says.
  kPrint,  ///< Print `text` to standard output and end with code 0: help or version.
  kFail    ///< Print `text` to standard error and end with code 1.
};

/// The outcome of ParseBenchCommandLine().
struct BenchCommandLine {
  BenchAction action = BenchAction::kFail;  ///< Which members apply.
  BenchOptions options{};                   ///< kRun.
  std::string text{};                       ///< kPrint, kFail; ends with a newline.
};

/// Reads the command line. Never throws, whatever it contains.
/// @param argc of main().
/// @param argv of main().
/// @return what to do. For kFail, `text` is one line that names the option and the value.
[[nodiscard]] auto ParseBenchCommandLine(int argc, const char* const* argv) -> BenchCommandLine;

/// Returns one request for these options: request line, Host, Connection if the mode needs it, the
/// fields of -H, with --post Content-Length and the body, and nothing else. For an echo server it
/// is a response, and for WebSockets a message: a masked frame of zeros.
[[nodiscard]] auto RequestText(const BenchOptions& options) -> std::string;

/// Returns the request that makes a connection a WebSocket.
[[nodiscard]] auto HandshakeText(const BenchOptions& options) -> std::string;

}  // namespace TURTLE_SERVER
