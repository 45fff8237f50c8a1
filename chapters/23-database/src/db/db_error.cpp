#include "db/db_error.h"

namespace TURTLE_SERVER {

namespace {

// Puts a statement that spans several lines on one, and shortens a long one.
auto Shortened(std::string_view text) -> std::string {
  constexpr std::size_t kMaxShown = 120;
  std::string line;
  for (const char byte : text) {
    const bool blank = byte >= '\0' && byte <= ' ';
    if (!blank) {
      line += byte;
    } else if (!line.empty() && line.back() != ' ') {
      line += ' ';
    }
  }
  if (line.size() > kMaxShown) {
    line.replace(kMaxShown - 3, std::string::npos, "...");
  }
  return line;
}

}  // namespace

auto NameOf(DbErrorKind kind) noexcept -> std::string_view {
  switch (kind) {
    case DbErrorKind::kUnavailable:
      return "unavailable";
    case DbErrorKind::kBusy:
      return "busy";
    case DbErrorKind::kTimeout:
      return "timeout";
    case DbErrorKind::kConstraint:
      return "constraint";
    case DbErrorKind::kSyntax:
      return "syntax";
    case DbErrorKind::kType:
      return "type";
    case DbErrorKind::kFull:
      return "full";
    case DbErrorKind::kMisuse:
      return "misuse";
    case DbErrorKind::kOther:
      break;
  }
  return "error";
}

DbError::DbError(DbErrorKind kind, std::string_view where, std::string_view reason)
    : std::runtime_error(std::string("database, ")
                             .append(NameOf(kind))
                             .append(": ")
                             .append(Shortened(where))
                             .append(": ")
                             .append(reason)),
      kind_(kind) {}

}  // namespace TURTLE_SERVER
