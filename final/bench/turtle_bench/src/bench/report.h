// The results of a run, for people and for programs.
//
// Interface:
//  * Report holds the results.
//  * PrintReport() writes them as text, WriteJson() as one JSON object.
//
// Thread: pure.
#pragma once

#include <cstdint>
#include <iosfwd>
#include <string>
#include <string_view>

#include "bench/client_session.h"
#include "bench/histogram.h"
#include "bench/load_mode.h"
#include "bench/tally.h"

namespace TURTLE_SERVER {

/// The results of a run.
struct Report {
  std::string url;                       ///< as it was given
  LoadMode mode = LoadMode::kKeepAlive;  ///< how it was asked
  std::uint32_t depth = 1;               ///< requests at once
  std::size_t connections = 0;           ///< at a time
  std::size_t threads = 0;               ///< of the load generator
  double seconds = 0;                    ///< how long it took; more than 0
  double rate = 0;                       ///< required requests per second; 0: no limit
  Totals totals{};                       ///< the counts
  bool secure = false;                   ///< https: what is said about TLS applies
  TlsNames tls{};                        ///< what the last handshake has agreed on
  int connect_error = 0;                 ///< errno of the first ErrorKind::kConnect; 0: none
  std::string handshake_error;           ///< reason of the first ErrorKind::kHandshake; empty: none
  MeanMax connect{};                     ///< time until a connection was established
  MeanMax handshake{};                   ///< time from then until TLS was established
  MeanMax first_byte{};                  ///< time from a request to the first byte of its response
  Histogram latency{};                   ///< time from a request to the end of its response, ns
  double user_seconds = 0;               ///< CPU time of the load generator in its own code
  double system_seconds = 0;             ///< and in the kernel
  std::uint64_t unanswered = 0;          ///< requests under way at the end
  std::uint64_t overdue = 0;             ///< with a rate: requests that were due and not sent
};

/// Writes the report for people, some twenty lines.
void PrintReport(const Report& report, std::ostream& out);

/// Writes one JSON object and a line feed (RFC 8259). Times are in microseconds where the key says
/// `_us`, else in seconds.
void WriteJson(const Report& report, std::ostream& out);

/// Returns `text` as a JSON string, with its quotes. Bytes beyond ASCII are written unchanged.
[[nodiscard]] auto JsonString(std::string_view text) -> std::string;

/// Formats a number of bytes for people: "999 B", "1.23 kB", "45.6 MB".
[[nodiscard]] auto HumanBytes(double bytes) -> std::string;

/// Formats a time for people: "12.3 us", "4.56 ms", "1.23 s".
[[nodiscard]] auto HumanTime(double microseconds) -> std::string;

}  // namespace TURTLE_SERVER
