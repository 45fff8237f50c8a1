// Classifies the errors of databases.
//
// A vendor has thousands of codes. A caller needs to know only one thing: what to do now. So there
// are few kinds, one for each reaction.
//
// The text names the statement and the reason, never the values: it goes to a log, and users' data
// does not belong there.
//
// Thread: a value.
#pragma once

#include <cstdint>
#include <stdexcept>
#include <string>
#include <string_view>

#include "base/namespace.h"

namespace TURTLE_SERVER {

/// The kind of an error, by the caller's reaction.
enum class DbErrorKind : std::uint8_t {
  kUnavailable,  ///< No database, or no longer: later it may be there again.
  kBusy,         ///< Another transaction uses the same rows: start over.
  kTimeout,      ///< It took too long, and was ended.
  kConstraint,   ///< The database refuses the values: unique, not null, foreign key, too long.
  kSyntax,       ///< The statement is wrong, or names something that doesn't exist.
  kType,         ///< A value is read or passed as the wrong type.
  kFull,         ///< The disk, or a limit of the database, is full.
  kMisuse,       ///< The program has called in the wrong order.
  kOther         ///< None of these.
};

/// Returns "unavailable", "busy", …: the start of an error's text.
[[nodiscard]] auto NameOf(DbErrorKind kind) noexcept -> std::string_view;

/// An operation on a database has failed.
class DbError : public std::runtime_error {
 public:
  /// @param kind what to do about it
  /// @param where the statement, or the database; a long text is shortened
  /// @param reason why, without any value
  DbError(DbErrorKind kind, std::string_view where, std::string_view reason);

  /// The kind of an error, by the caller's reaction.
  [[nodiscard]] auto Kind() const noexcept -> DbErrorKind { return kind_; }

  /// Returns true if a retry may succeed: kUnavailable, kBusy, kTimeout. For a client: 503.
  [[nodiscard]] auto IsPassing() const noexcept -> bool {
    return kind_ == DbErrorKind::kUnavailable || kind_ == DbErrorKind::kBusy ||
           kind_ == DbErrorKind::kTimeout;
  }

 private:
  DbErrorKind kind_;
};

}  // namespace TURTLE_SERVER
