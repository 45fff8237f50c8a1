// The errors of a database, in words of our own.
//
// A vendor has thousands of codes. A caller needs to know one thing: what to do now. So there are
// few kinds, one for each thing to do.
//
// The text names the statement and the reason, never the values: it ends up in a log, and what
// users have written does not belong there.
//
// Thread: a value.
#pragma once

#include <cstdint>
#include <stdexcept>
#include <string>
#include <string_view>

#include "base/namespace.h"

namespace TURTLE_SERVER {

/// Returns the kind of an error: what to do about it.
enum class DbErrorKind : std::uint8_t {
  kUnavailable,  ///< No database, or no longer: later it may be there again.
  kBusy,         ///< Somebody else is at the same rows: once more, from the beginning.
  kTimeout,      ///< It took too long, and was ended.
  kConstraint,   ///< The database refuses the values: unique, not null, foreign key, too long.
  kSyntax,       ///< The statement is wrong, or names what isn't there.
  kType,         ///< A value is read or given as what it is not.
  kFull,         ///< The disk, or a limit of its, is full.
  kMisuse,       ///< The program has called in the wrong order.
  kOther         ///< None of these.
};

/// "unavailable", "busy", … as the text of an error begins.
[[nodiscard]] auto NameOf(DbErrorKind kind) noexcept -> std::string_view;

/// An operation on a database has failed.
class DbError : public std::runtime_error {
 public:
  /// @param kind what to do about it
  /// @param where the statement, or the database; long ones are shortened
  /// @param reason why, without a value in it
  DbError(DbErrorKind kind, std::string_view where, std::string_view reason);

  /// Returns the kind of an error: what to do about it.
  [[nodiscard]] auto Kind() const noexcept -> DbErrorKind { return kind_; }

  /// Returns true if the same may work later: kUnavailable, kBusy, kTimeout. To a client, 503.
  [[nodiscard]] auto IsPassing() const noexcept -> bool {
    return kind_ == DbErrorKind::kUnavailable || kind_ == DbErrorKind::kBusy ||
           kind_ == DbErrorKind::kTimeout;
  }

 private:
  DbErrorKind kind_;
};

}  // namespace TURTLE_SERVER
