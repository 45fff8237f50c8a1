// A stored response for later equal requests, as text that is ready to be sent.
//
// Date stays the time when the response was made, and Age is the time since then. A client or
// another cache can calculate with both (RFC 9111, section 4.2.3).
//
// Interface:
//  * RecordedHead is the head of a response, split into its parts. Its Keep() adds the body.
//  * Encoded() makes the same response in another coding.
//
// Thread: any, since it is const once it is made; Drop() and Dropped() at any time.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "compress/coding.h"
#include "compress/compression.h"
#include "compress/encoder.h"
#include "http/cache_policy.h"
#include "http/conditional.h"
#include "http/http_date.h"
#include "http/reply_fields.h"
#include "http/response.h"

namespace TURTLE_SERVER {

/// The kind of an entry.
enum class KeptKind : std::uint8_t {
  kReply,   ///< A response.
  kVaries,  ///< The names of fields that select one of several responses.
  kNever,   ///< A note that the last response could not be stored, so waiting is useless.
};

/// How a server that compresses sends a stored response.
enum class KeptCoding : std::uint8_t {
  kUnknown,    ///< Like any other: it was stored by a server that doesn't compress.
  kPlain,      ///< As it is.
  kNegotiable  ///< In the coding that the client likes best. Vary says so.
};

/// A response and its metadata.
class KeptReply {
 public:
  /// @param key by which it is found
  /// @param kind of the entry
  /// @param expires when it becomes useless
  KeptReply(std::string key, KeptKind kind, TimePoint expires)
      : key_(std::move(key)), kind_(kind), expires_(expires) {}
  KeptReply(const KeptReply&) = delete;
  auto operator=(const KeptReply&) -> KeptReply& = delete;

  /// Returns the key of the entry.
  [[nodiscard]] auto Key() const noexcept -> const std::string& { return key_; }

  /// Returns the kind of the entry.
  [[nodiscard]] auto Kind() const noexcept -> KeptKind { return kind_; }

  /// kVaries: returns the fields of the request that select a response.
  [[nodiscard]] auto Vary() const noexcept -> const std::vector<std::string>& { return vary_; }

  /// Returns true if it may still be used at `now`.
  [[nodiscard]] auto IsFresh(TimePoint now) const noexcept -> bool {
    return now < expires_ && !dropped_.load(std::memory_order_acquire);
  }

  /// kReply: returns true if it satisfies `ask` at `now`.
  [[nodiscard]] auto Answers(const CacheAsk& ask, TimePoint now) const noexcept -> bool;

  /// Returns the time since it was made.
  [[nodiscard]] auto Age(TimePoint now) const noexcept -> std::chrono::seconds;

  /// Marks it as outdated for all its users. Any thread.
  void Drop() const noexcept { dropped_.store(true, std::memory_order_release); }

  /// Returns the status.
  [[nodiscard]] auto Status() const noexcept -> int { return status_; }

  /// Returns the status line, with its end.
  [[nodiscard]] auto StatusLine() const noexcept -> std::string_view { return status_line_; }

  /// Returns the fields, an empty line, and the body.
  [[nodiscard]] auto Text() const noexcept -> std::string_view { return text_; }

  /// Returns the part of Text() for a 304.
  [[nodiscard]] auto NotModifiedText() const noexcept -> std::string_view {
    return Text().substr(tag_at_, text_.size() - body_bytes_ - tag_at_);
  }

  /// Returns the length of the body, at the end of Text().
  [[nodiscard]] auto BodyBytes() const noexcept -> std::size_t { return body_bytes_; }

  /// Returns how it may be sent.
  [[nodiscard]] auto GetCoding() const noexcept -> KeptCoding { return coding_; }

  /// kNegotiable: returns the same response in another coding.
  /// @param compression the server's
  /// @param coding not kIdentity
  /// @param effort how hard it tries
  /// @param wall the time on the wall clock
  /// @return nullptr: this coding is of no use. Throws std::bad_alloc.
  [[nodiscard]] auto Encoded(const Compression& compression, Coding coding, Effort effort,
                             HttpTime wall) const -> std::unique_ptr<KeptReply>;

  /// Returns the validators for conditional requests.
  [[nodiscard]] auto GetValidators() const noexcept -> Validators;

  /// Returns the approximate size of its memory, in bytes.
  [[nodiscard]] auto Weight() const noexcept -> std::size_t;

 private:
  friend class RecordedHead;

  const std::string key_;
  const KeptKind kind_;
  const TimePoint expires_;
  mutable std::atomic<bool> dropped_{false};
  std::vector<std::string> vary_;
  int status_ = 0;
  bool for_cookies_ = false;
  KeptCoding coding_ = KeptCoding::kUnknown;
  TimePoint born_{};  // when its age was 0
  std::string status_line_;
  std::string text_;
  std::size_t tag_at_ = 0;  // in text_, where the fields of a 304 begin
  std::size_t body_bytes_ = 0;
  std::string etag_;
  std::optional<HttpTime> last_modified_;
};

/// The head of a response that is being recorded.
class RecordedHead {
 public:
  /// @param head status and fields; not used after the call
  /// @param default_ttl how long the response is fresh if it does not specify that
  /// @param clock the loop's time
  /// @param wall the same time on the wall clock
  /// @param coding how it may be sent; for kNegotiable, Vary gets Accept-Encoding
  RecordedHead(const Response& head, std::chrono::seconds default_ttl, TimePoint clock,
               HttpTime wall, KeptCoding coding);
  RecordedHead(const RecordedHead&) = delete;
  auto operator=(const RecordedHead&) -> RecordedHead& = delete;

  /// Returns the status.
  [[nodiscard]] auto Status() const noexcept -> int { return status_; }

  /// Returns how the response may be stored.
  [[nodiscard]] auto GetKeeping() const noexcept -> const Keeping& { return keeping_; }

  /// Returns the response with its body, to be stored under `key`.
  [[nodiscard]] auto Keep(std::string key, std::string_view body) const
      -> std::unique_ptr<KeptReply>;

  /// Returns the names of the fields that select this response among others of its target, stored
  /// under `key`.
  [[nodiscard]] auto KeepNames(std::string key) const -> std::unique_ptr<KeptReply>;

 private:
  const int status_;
  const TimePoint clock_;
  const HttpTime wall_;
  const KeptCoding coding_;
  std::string text_;
  std::string_view status_line_;
  ReplyFields fields_;  // views of text_
  Keeping keeping_;
};

}  // namespace TURTLE_SERVER
