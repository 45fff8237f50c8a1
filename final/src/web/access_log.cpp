#include "web/access_log.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <exception>
#include <utility>

#include "base/ascii.h"
#include "core/connection.h"
#include "http/http_date.h"
#include "http/request.h"

namespace TURTLE_SERVER {

namespace {

constexpr auto kMaxDelay = std::chrono::milliseconds(100);  // of a line, until it is handed over

// Appends two digits, as printf("%02x") does.
void AppendHex(unsigned char byte, std::string& out) {
  constexpr std::string_view kDigits = "0123456789abcdef";
  out.push_back(kDigits[byte >> 4U]);
  out.push_back(kDigits[byte & 0x0fU]);
}

// Appends a client's bytes; those that could be misread become `before` and two digits.
void AppendEscaped(std::string_view text, std::string_view before, std::string& out) {
  for (const char c : text) {
    if (c == '"' || c == '\\') {
      out.push_back('\\');
      out.push_back(c);
    } else if (ascii::IsControl(c) || static_cast<unsigned char>(c) >= 0x80) {
      out.append(before);
      AppendHex(static_cast<unsigned char>(c), out);
    } else {
      out.push_back(c);
    }
  }
}

// Appends a text in quotes, or `none` if it is empty.
void AppendQuoted(std::string_view text, std::string_view before, std::string_view none,
                  std::string& out) {
  if (text.empty()) {
    out.append(none);
    return;
  }
  out.push_back('"');
  AppendEscaped(text, before, out);
  out.push_back('"');
}

// Appends a column without quotes, which a space would end.
void AppendUser(std::string_view user, std::string& out) {
  if (user.empty()) {
    out.push_back('-');
  }
  for (std::size_t space = user.find(' '); space != std::string_view::npos;
       space = user.find(' ')) {
    AppendEscaped(user.substr(0, space), "\\x", out);
    out.append("\\x20");
    user.remove_prefix(space + 1);
  }
  AppendEscaped(user, "\\x", out);
}

auto FieldOf(const ExchangeRecord& record, KnownField field) -> std::string_view {
  return record.request == nullptr ? std::string_view()
                                   : record.request->headers.Find(field).value_or("");
}

void AppendNumber(std::uint64_t number, std::string& out) { out.append(std::to_string(number)); }

// Writes a point and three decimals: printf(3) would print a comma in some locales.
void AppendSeconds(double seconds, std::string& out) {
  const auto millis = static_cast<std::uint64_t>(std::llround(std::max(seconds, 0.0) * 1000));
  AppendNumber(millis / 1000, out);
  const std::string decimals = std::to_string(1000 + millis % 1000);
  out.append(".").append(decimals, 1, 3);
}

}  // namespace

// Formats by hand, since strftime(3) would translate the month in some locales.
auto AccessLogTime::At(std::time_t now) -> std::string_view {
  if (now != time_ || text_.empty()) {
    if (format_ == AccessLogFormat::kJson) {
      std::tm utc{};
      gmtime_r(&now, &utc);
      std::array<char, 40> text{};
      text_.assign(text.data(),
                   std::strftime(text.data(), text.size(), "%Y-%m-%dT%H:%M:%SZ", &utc));
    } else {
      text_.clear();
      AppendHttpDate(HttpTime(now), text_);  // "Sun, 06 Nov 1994 08:49:37 GMT"
      const std::size_t size = text_.size();
      text_.append(text_, 5, 2).append("/").append(text_, 8, 3).append("/").append(text_, 12, 4);
      text_.append(":").append(text_, 17, 8).append(" +0000").erase(0, size);
    }
    time_ = now;
  }
  return text_;
}

void AppendCombined(const AccessLogLine& line, const ExchangeRecord& record, std::string& out) {
  constexpr std::string_view kNone = "\"-\"";
  constexpr std::string_view kBefore = "\\x";
  out.append(line.peer.empty() ? "-" : line.peer).append(" - ");
  AppendUser(record.user, out);
  out.append(" [");
  out.append(line.time).append("] ");
  AppendQuoted(record.request_line, kBefore, kNone, out);
  out.push_back(' ');
  record.status == 0 ? void(out.push_back('-'))
                     : AppendNumber(static_cast<std::uint64_t>(record.status), out);
  out.push_back(' ');
  record.body_bytes == 0 ? void(out.push_back('-')) : AppendNumber(record.body_bytes, out);
  out.push_back(' ');
  AppendQuoted(FieldOf(record, KnownField::kReferer), kBefore, kNone, out);
  out.push_back(' ');
  AppendQuoted(FieldOf(record, KnownField::kUserAgent), kBefore, kNone, out);
  out.push_back('\n');
}

void AppendJson(const AccessLogLine& line, const ExchangeRecord& record, std::string& out) {
  constexpr std::string_view kNone = "null";
  constexpr std::string_view kBefore = "\\u00";
  out.append(R"({"time":")").append(line.time).append(R"(","peer":)");
  AppendQuoted(line.peer, kBefore, kNone, out);
  if (line.host) {
    out.append(R"(,"host":)");
    AppendQuoted(*line.host, kBefore, kNone, out);
  }
  if (!record.user.empty()) {
    out.append(R"(,"user":)");
    AppendQuoted(record.user, kBefore, kNone, out);
  }
  out.append(R"(,"request":)");
  AppendQuoted(record.request_line, kBefore, kNone, out);
  out.append(R"(,"status":)");
  AppendNumber(static_cast<std::uint64_t>(record.status), out);
  out.append(R"(,"bytes":)");
  AppendNumber(record.body_bytes, out);
  out.append(record.complete ? R"(,"complete":true)" : R"(,"complete":false)");
  out.append(R"(,"referer":)");
  AppendQuoted(FieldOf(record, KnownField::kReferer), kBefore, kNone, out);
  out.append(R"(,"agent":)");
  AppendQuoted(FieldOf(record, KnownField::kUserAgent), kBefore, kNone, out);
  out.append(R"(,"seconds":)");
  AppendSeconds(line.seconds, out);
  out.append("}\n");
}

AccessLog::AccessLog(Looper& looper, std::shared_ptr<LogWriter> writer, AccessLogFormat format)
    : looper_(looper), writer_(std::move(writer)), format_(format), time_(format) {}

AccessLog::~AccessLog() { HandOver(); }

void AccessLog::OnBegin(const Connection& connection) noexcept try {
  static_cast<void>(peers_.Of(connection));
} catch (const std::exception&) {
  // out of memory: the line will have no address
}

void AccessLog::OnEnd(const ExchangeRecord& record) noexcept try {
  AccessLogLine line;
  line.peer = peers_.Of(record);
  Append(record, line);
} catch (const std::exception&) {
  HandOver();  // out of memory: one line is lost
}

void AccessLog::Write(const ExchangeRecord& record, std::string_view peer) noexcept try {
  AccessLogLine line;
  line.peer = peer;
  line.host = record.request == nullptr ? std::string_view() : record.request->host;
  Append(record, line);
} catch (const std::exception&) {
  HandOver();  // as above
}

void AccessLog::Append(const ExchangeRecord& record, AccessLogLine line) {
  const std::size_t size_before = batch_.size();
  line.time = time_.At(std::time(nullptr));
  line.seconds = std::chrono::duration<double>(looper_.Now() - record.began).count();
  try {
    format_ == AccessLogFormat::kJson ? AppendJson(line, record, batch_)
                                      : AppendCombined(line, record, batch_);
  } catch (const std::exception&) {
    batch_.resize(size_before);  // leaves no half line
    throw;
  }
  if (batch_.size() >= kMaxBatch) {
    HandOver();
  } else if (size_before == 0) {
    timer_ = looper_.RunAfter(kMaxDelay, [this] { HandOver(); });
  }
}

void AccessLog::HandOver() noexcept {
  looper_.Cancel(timer_);  // it was for this batch
  if (!batch_.empty()) {
    writer_->Write(batch_);
    batch_.clear();
  }
}

}  // namespace TURTLE_SERVER
