// Writes one line for each request, in the format of other servers.
//
// Interface:
//  * AppendCombined() and AppendJson() write the text of one line.
//  * AccessLogTime keeps the text of the current second.
//  * AccessLog writes the lines of one loop. It collects them and hands them over as a batch, so
//    the queue's lock is taken once for a batch, not once for a request. Its Write() serves an
//    observer that chooses among several logs.
//
// Thread: the loop's.
#pragma once

#include <cstddef>
#include <cstdint>
#include <ctime>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "core/looper.h"
#include "log/log_writer.h"
#include "web/exchange_observer.h"
#include "web/peer_texts.h"

namespace TURTLE_SERVER {

/// The format of a line.
enum class AccessLogFormat : std::uint8_t {
  kCombined,  ///< The Combined Log Format of Apache httpd and nginx.
  kJson       ///< A JSON object (RFC 8259) in each line.
};

/// Formats a second, in UTC, as a line shows it. gmtime_r(3) takes a lock that all threads share,
/// so the text is formatted once a second and not for each line.
class AccessLogTime {
 public:
  /// @param format of the lines
  explicit AccessLogTime(AccessLogFormat format) noexcept : format_(format) {}

  /// Returns `31/Jan/2026:23:59:59 +0000`, or `2026-01-31T23:59:59Z` in JSON, until the next call.
  [[nodiscard]] auto At(std::time_t now) -> std::string_view;

 private:
  const AccessLogFormat format_;
  std::time_t time_ = 0;
  std::string text_;
};

/// The part of a line that is not in the record.
struct AccessLogLine {
  std::string_view peer;  ///< the client's address without its port; empty if unknown
  std::string_view time;  ///< when the response was complete, by AccessLogTime of that format
  double seconds = 0;     ///< from the complete head until then
  /// In JSON: the host that the request names, possibly empty; nullopt: the line has no such
  /// member.
  std::optional<std::string_view> host{};
};

/// Appends a line in the Combined Log Format, in UTC:
/// `127.0.0.1 - - [31/Jan/2026:23:59:59 +0000] "GET / HTTP/1.1" 200 512 "-" "curl/8.5"`.
/// Quotes and backslashes get a backslash. Control characters and bytes beyond ASCII are written as
/// a backslash, x and two digits, so no client can end the line or the quotes. A status of 0 and an
/// empty body are written as `-`. The third column is the name with which a password let the client
/// in; a space in it is escaped, too.
void AppendCombined(const AccessLogLine& line, const ExchangeRecord& record, std::string& out);

/// Appends a line as a JSON object with time, peer, host if the line has one, user if a password
/// let the client in, request, status, bytes, complete, referer, agent and seconds. Bytes beyond
/// ASCII are escaped, each as one character, because a client's bytes need not be UTF-8, and a log
/// must be.
void AppendJson(const AccessLogLine& line, const ExchangeRecord& record, std::string& out);

/// Writes a line for each request of one loop.
class AccessLog : public ExchangeObserver {
 public:
  /// Lines are handed over when this many bytes have been collected, or after 100 ms. A batch is
  /// one entry of the writer's queue, `LogWriterOptions::queue_size`.
  static constexpr std::size_t kMaxBatch = 32 * 1024;

  /// @param looper outlives this object
  /// @param writer shared by the loops; it ends with the last of them
  /// @param format of the lines
  AccessLog(Looper& looper, std::shared_ptr<LogWriter> writer, AccessLogFormat format);

  /// Hands over the lines that were collected.
  ~AccessLog() override;

  AccessLog(const AccessLog&) = delete;
  auto operator=(const AccessLog&) -> AccessLog& = delete;

  void OnBegin(const Connection& connection) noexcept override;
  void OnEnd(const ExchangeRecord& record) noexcept override;

  /// Writes the line of a request, for a server of several hosts: in JSON it names the request's
  /// host. It takes the place of OnBegin() and OnEnd().
  /// @param record the request
  /// @param peer the client's address without its port; empty if unknown
  void Write(const ExchangeRecord& record, std::string_view peer) noexcept;

 private:
  void Append(const ExchangeRecord& record, AccessLogLine line);
  void HandOver() noexcept;

  Looper& looper_;
  const std::shared_ptr<LogWriter> writer_;
  const AccessLogFormat format_;
  PeerTexts peers_;
  AccessLogTime time_;
  std::string batch_;
  TimerId timer_{};  // hands over the contents of batch_
};

}  // namespace TURTLE_SERVER
