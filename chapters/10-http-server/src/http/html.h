// Escapes text for HTML.
//
// Thread: a pure function.
#pragma once

#include <string>
#include <string_view>

#include "base/namespace.h"

namespace TURTLE_SERVER {

/// Appends `text` so that HTML shows it as it is, in an element or in a quoted attribute: file
/// names and words of a request can't become markup.
inline void AppendEscaped(std::string_view text, std::string& out) {
  for (const char c : text) {
    switch (c) {
      case '&':
        out += "&amp;";
        break;
      case '<':
        out += "&lt;";
        break;
      case '>':
        out += "&gt;";
        break;
      case '"':
        out += "&quot;";
        break;
      case '\'':
        out += "&#39;";
        break;
      default:
        out += c;
    }
  }
}

}  // namespace TURTLE_SERVER
