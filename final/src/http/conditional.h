// Conditional requests: "only if it has changed", "only if it has not" (RFC 9110, section 13).
//
// Interface: EvaluateConditions() compares a request's five conditional fields with the validators
// of the representation to be sent, in the order of precedence of section 13.2.2.
//
// Call it only if the request would otherwise succeed: preconditions of a response that would be
// 404 anyway are ignored (section 13.2.1).
//
// Thread: pure functions.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "http/headers.h"
#include "http/http_date.h"
#include "http/method.h"

namespace TURTLE_SERVER {

/// Identifies a state of a representation (RFC 9110, section 8.8).
struct Validators {
  std::string_view opaque_tag{};            ///< with its quotes, without W/; "": no ETag
  bool strong = false;                      ///< two states never share these validators
  std::optional<HttpTime> last_modified{};  ///< of the content, to the second
  bool exists = true;                       ///< false: there is no representation yet (PUT)
  /// False: other states may have this last_modified, since its second is not over. Then
  /// AppendLastModified() gives an earlier date, and last_modified proves nothing.
  bool second_over = true;
};

/// The outcome of a request's conditions.
struct ConditionResult {
  /// How to respond.
  enum class Action : std::uint8_t {
    kServe,               ///< continue, as if there were no conditions
    kNotModified,         ///< 304
    kPreconditionFailed,  ///< 412
  };

  Action action = Action::kServe;  ///< how to respond
  bool range_applies = true;       ///< false: ignore Range, since If-Range names another state
};

/// True if a request has any of the fields that EvaluateConditions() looks at. Most have none.
[[nodiscard]] auto HasConditions(const Headers& fields) -> bool;

/// Evaluates If-Match, If-Unmodified-Since, If-None-Match, If-Modified-Since and If-Range.
/// @param method of the request: only GET and HEAD can get a 304, and only GET a range
/// @param fields of the request
/// @param validators of the representation that would be sent or changed
/// @param now the current time, for dates with a two-digit year
/// @return how to respond
[[nodiscard]] auto EvaluateConditions(Method method, const Headers& fields,
                                      const Validators& validators, HttpTime now)
    -> ConditionResult;

/// Appends the value of the Last-Modified field. While other states may get the same second, it is
/// a second earlier: a copy taken within that second then counts as older than the file.
/// @param validators with last_modified
/// @param out is appended to
void AppendLastModified(const Validators& validators, std::string& out);

/// Appends the value of the ETag field: the tag, with W/ before it if it is weak.
void AppendEtag(const Validators& validators, std::string& out);

}  // namespace TURTLE_SERVER
