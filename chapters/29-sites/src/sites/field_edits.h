// Changes to the fields of responses.
//
// Interface:
//  * FieldEdit is one change; CheckField() refuses an invalid one.
//  * ApplyEdits() makes the changes to a response.
//  * AppendFieldLines() makes them to a prepared response by adding lines, if that is enough.
//
// Thread: pure functions.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/namespace.h"
#include "http/response.h"

namespace TURTLE_SERVER {

/// One change to the fields of a response.
struct FieldEdit {
  /// Its kind.
  enum class Kind : std::uint8_t {
    kSet,    ///< The field gets this value alone.
    kAdd,    ///< One more field line.
    kRemove  ///< The field is left out.
  };

  Kind kind = Kind::kSet;  ///< What is done.
  std::string name;        ///< Of the field, in any case.
  std::string value;       ///< For kSet and kAdd.
};

/// Throws std::invalid_argument, which names the field, if Response::Set() would, or for
/// Content-Type and Content-Range: without the handler's own, parts of a file can't be taken apart.
/// That holds for each kind: no edit concerns a field that the server writes by itself, such as
/// Content-Length.
void CheckField(const FieldEdit& edit);

/// Makes the changes in their order.
/// @param edits pass CheckField()
/// @param response changed in place
void ApplyEdits(const std::vector<FieldEdit>& edits, Response& response);

/// Makes the changes to a response that is prepared as text, if all of them only add lines. The
/// client then sees the fields that ApplyEdits() would give it. But an added line comes before
/// those of the same name in `text`, and not after them.
/// @param edits pass CheckField()
/// @param start the response's first fields, after a status line; may be empty
/// @param text its other fields, an empty line, and its body: ReadyReply::text
/// @param lines gets the lines to send between both: "Name: value\r\n" for each. Those that earlier
///     calls have added for this response are changed as well. If it returns false, they are of no
///     use.
/// @return false if a field of the texts themselves would have to change, and for any change of
///     Date, which the server may write in front of them
[[nodiscard]] auto AppendFieldLines(const std::vector<FieldEdit>& edits, std::string_view start,
                                    std::string_view text, std::string& lines) -> bool;

}  // namespace TURTLE_SERVER
