// The numbers are a part of the protocol: they are the same in all versions.
// https://mariadb.com/kb/en/mariadb-error-code-reference/
#include "db/mariadb_error.h"

namespace TURTLE_SERVER {

namespace {

constexpr unsigned kDuplicateEntry = 1062;

// Returns true if the server's text is known to contain no values.
auto IsWithoutValues(unsigned code) noexcept -> bool {
  if (code >= 2000 && code < 3000) {
    return true;  // a client error: about connections
  }
  switch (code) {
    case 1040:  // too many connections
    case 1044:  // access denied: user, host, database
    case 1045:  // likewise, and "using password: YES"
    case 1048:  // a column can't be null
    case 1049:  // unknown database
    case 1053:  // the server shuts down
    case 1054:  // unknown column
    case 1064:  // syntax, with a part of the statement, which contains no values
    case 1114:  // the table is full
    case 1146:  // no such table
    case 1205:  // waited too long for a lock
    case 1213:  // deadlock
    case 1264:  // out of range for a column
    case 1364:  // a field without a default
    case 1406:  // too long for a column
    case 1451:  // foreign key: names the constraint
    case 1452:
    case 1461:  // too many prepared statements
    case 1792:  // a transaction that may only read
    case 1927:  // the connection was killed
    case 1969:  // max_statement_time
    case 4025:  // CHECK: names the constraint
      return true;
    default:
      return false;
  }
}

}  // namespace

auto MariaDbErrorKind(unsigned code) noexcept -> DbErrorKind {
  switch (code) {
    case 1020:  // the row has changed since it was read
    case 1205:
    case 1213:
    case 1615:  // the statement must be prepared again
    case 1412:  // the table was altered since the transaction began
      return DbErrorKind::kBusy;
    case 1317:  // KILL QUERY
    case 1969:
    case 3024:  // max_execution_time, of MySQL
      return DbErrorKind::kTimeout;
    case 1022:
    case 1048:
    case 1062:
    case 1153:  // larger than max_allowed_packet
    case 1169:
    case 1216:
    case 1217:
    case 1264:
    case 1265:
    case 1292:
    case 1364:
    case 1366:
    case 1406:
    case 1451:
    case 1452:
    case 1557:
    case 1690:  // a result does not fit into its type
    case 3819:
    case 4025:
      return DbErrorKind::kConstraint;
    case 1021:
    case 1114:
      return DbErrorKind::kFull;
    case 1040:
    case 1044:
    case 1045:
    case 1049:
    case 1053:
    case 1129:
    case 1130:
    case 1203:
    case 1226:
    case 1290:  // the server is read-only
    case 1461:
    case 1698:
    case 1927:
    case 4031:  // MySQL: we were silent for too long
      return DbErrorKind::kUnavailable;
    case 1054:
    case 1064:
    case 1065:
    case 1146:
    case 1149:
    case 1295:  // a statement that can't be prepared
    case 1305:
      return DbErrorKind::kSyntax;
    case 2014:  // commands out of sync
      return DbErrorKind::kMisuse;
    default:
      return code >= 2000 && code < 3000 ? DbErrorKind::kUnavailable : DbErrorKind::kOther;
  }
}

auto IsMariaDbConnectionLost(unsigned code) noexcept -> bool {
  return code == 1053 || code == 1927 || code == 4031 || (code >= 2000 && code < 3000);
}

auto MariaDbReason(unsigned code, std::string_view text) -> std::string {
  if (IsWithoutValues(code)) {
    return std::string(text);
  }
  if (code == kDuplicateEntry) {  // in "Duplicate entry '…' for key 'name'", after the value
    const std::size_t key = text.rfind(" for key ");
    return "such an entry exists" +
           (key == std::string_view::npos ? std::string() : std::string(text.substr(key)));
  }
  return "error " + std::to_string(code);
}

}  // namespace TURTLE_SERVER
