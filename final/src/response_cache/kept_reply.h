// A response that is kept for the next request for the same, as text that is ready to be sent.
//
// Date stays as it was when the response was made, and Age says how long ago that is: a client or
// another cache can calculate with both (RFC 9111, section 4.2.3).
//
// Interface:
//  * RecordedHead is the head of a response, taken apart. Its Keep() adds the body.
//
// Thread: const once it is made, so any thread may read it; Drop() and Dropped() any at any time.
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
#include "http/cache_policy.h"
#include "http/conditional.h"
#include "http/http_date.h"
#include "http/reply_fields.h"
#include "http/response.h"

namespace TURTLE_SERVER {

/// The kind of an entry.
enum class KeptKind : std::uint8_t {
  kReply,   ///< A response.
  kVaries,  ///< The names of fields, by which one of several replies is found.
  kNever,   ///< That the last reply was not to be kept: nobody needs to wait for the next one.
};

/// A response and its metadata.
class KeptReply {
 public:
  /// @param key what it is found by
  /// @param kind what it is
  /// @param expires when it is of no use any more
  KeptReply(std::string key, KeptKind kind, TimePoint expires)
      : key_(std::move(key)), kind_(kind), expires_(expires) {}
  KeptReply(const KeptReply&) = delete;
  auto operator=(const KeptReply&) -> KeptReply& = delete;

  /// Returns the key of the entry.
  [[nodiscard]] auto Key() const noexcept -> const std::string& { return key_; }

  /// Returns the kind of the entry.
  [[nodiscard]] auto Kind() const noexcept -> KeptKind { return kind_; }

  /// kVaries: the fields of the request that count.
  [[nodiscard]] auto Vary() const noexcept -> const std::vector<std::string>& { return vary_; }

  /// May it still be used at `now`?
  [[nodiscard]] auto IsFresh(TimePoint now) const noexcept -> bool {
    return now < expires_ && !dropped_.load(std::memory_order_acquire);
  }

  /// kReply: does it answer `ask` at `now`?
  [[nodiscard]] auto Answers(const CacheAsk& ask, TimePoint now) const noexcept -> bool;

  /// Returns how long ago it was made.
  [[nodiscard]] auto Age(TimePoint now) const noexcept -> std::chrono::seconds;

  /// Says that it is wrong from now on, to all who have it. Any thread.
  void Drop() const noexcept { dropped_.store(true, std::memory_order_release); }

  /// Returns the status.
  [[nodiscard]] auto Status() const noexcept -> int { return status_; }

  /// Returns the status line, with its end.
  [[nodiscard]] auto StatusLine() const noexcept -> std::string_view { return status_line_; }

  /// Returns the fields, an empty line, and the body.
  [[nodiscard]] auto Text() const noexcept -> std::string_view { return text_; }

  /// Of Text(), the part that a 304 says.
  [[nodiscard]] auto NotModifiedText() const noexcept -> std::string_view {
    return Text().substr(tag_at_, text_.size() - body_bytes_ - tag_at_);
  }

  /// Returns the length of the body, at the end of Text().
  [[nodiscard]] auto BodyBytes() const noexcept -> std::size_t { return body_bytes_; }

  /// Returns the validators for conditional requests.
  [[nodiscard]] auto GetValidators() const noexcept -> Validators;

  /// Returns the memory that it takes, about.
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
  TimePoint born_{};  // when its age was 0
  std::string status_line_;
  std::string text_;
  std::size_t tag_at_ = 0;  // in text_: from here on a 304 says the same
  std::size_t body_bytes_ = 0;
  std::string etag_;
  std::optional<HttpTime> last_modified_;
};

/// The head of a response that is being recorded.
class RecordedHead {
 public:
  /// @param head status and fields; not used after the call
  /// @param default_ttl how long the response is fresh if it doesn't say so
  /// @param clock the loop's time
  /// @param wall the same moment as HTTP knows it
  RecordedHead(const Response& head, std::chrono::seconds default_ttl, TimePoint clock,
               HttpTime wall);
  RecordedHead(const RecordedHead&) = delete;
  auto operator=(const RecordedHead&) -> RecordedHead& = delete;

  /// Returns the status.
  [[nodiscard]] auto Status() const noexcept -> int { return status_; }

  /// How the response may be kept.
  [[nodiscard]] auto GetKeeping() const noexcept -> const Keeping& { return keeping_; }

  /// Returns the response with its body, to be kept under `key`.
  [[nodiscard]] auto Keep(std::string key, std::string_view body) const
      -> std::unique_ptr<KeptReply>;

  /// Returns the names of the fields by which the response is found among others of its target,
  /// under `key`.
  [[nodiscard]] auto KeepNames(std::string key) const -> std::unique_ptr<KeptReply>;

 private:
  const int status_;
  const TimePoint clock_;
  const HttpTime wall_;
  std::string text_;
  std::string_view status_line_;
  ReplyFields fields_;  // look into text_
  Keeping keeping_;
};

}  // namespace TURTLE_SERVER
