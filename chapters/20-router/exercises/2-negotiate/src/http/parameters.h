// The parameters after a field's value (RFC 9110, section 5.6.6):
//
//     multipart/form-data; boundary="a b"
//     form-data; name="photo"; filename="C:\photo.jpg"
//
// Interface:
//  * WithoutParameters() returns the text before them.
//  * TakeParameter() reads one after the other.
//
// Thread: pure functions; nothing is allocated.
#pragma once

#include <cstdint>
#include <string_view>

#include "base/namespace.h"

namespace TURTLE_SERVER {

/// One parameter, as it was sent.
struct Parameter {
  std::string_view name;   ///< A token; compared case-insensitively.
  std::string_view value;  ///< Without the surrounding quotes, but with the backslashes.
};

/// The result of TakeParameter().
enum class ParameterState : std::uint8_t {
  kTaken,  ///< A parameter.
  kEnd,    ///< There are none left.
  kBad,    ///< Something other than parameters.
};

/// The meaning of a backslash in a quoted value.
enum class Backslash : std::uint8_t {
  kEscape,  ///< It protects the byte after it, such as a quote (RFC 9110, section 5.6.4).
  kForm,    ///< In a part of a form: before a quote that does not end the value it protects that
          ///< quote, as programs write it; otherwise it is an ordinary byte, as browsers write it.
};

/// Returns the value of a field up to its first ';', without surrounding whitespace: "text/html" of
/// "text/html; charset=utf-8".
[[nodiscard]] auto WithoutParameters(std::string_view value) -> std::string_view;

/// Cuts the first parameter off.
/// @param rest a field's value from its first ';' on; becomes the text after the parameter
/// @param parameter is set if the result is kTaken
/// @param backslash decides where a quoted value ends
/// @return see ParameterState
[[nodiscard]] auto TakeParameter(std::string_view& rest, Parameter& parameter,
                                 Backslash backslash = Backslash::kEscape) -> ParameterState;

}  // namespace TURTLE_SERVER
