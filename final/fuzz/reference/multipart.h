// A multipart/form-data body by the grammar: RFC 2046, section 5.1.1, and RFC 7578.
//
// Thread: pure functions.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace TURTLE_SERVER::reference {

/// One part.
struct FormPart {
  std::string name;
  std::string filename;  ///< in brackets; "" for a part that is not a file
  std::string content_type;
  std::string content;       ///< as far as it goes
  bool is_complete = false;  ///< its delimiter has arrived
};

/// Limits how much a body may contain.
struct FormDataLimits {
  std::size_t parts;
  std::size_t header_bytes;
  std::size_t part_bytes;
  std::size_t body_bytes;
};

/// The result for a body.
struct FormData {
  int status = 0;  ///< 0: complete; otherwise the status of a refusal
  std::vector<FormPart> parts;
};

/// The result for a Content-Type.
struct Boundary {
  int status = 0;  ///< 0: there is one; otherwise the status of a refusal
  std::string text;
};

/// Extracts the boundary from a Content-Type field.
auto ReadBoundary(std::string_view content_type) -> Boundary;

/// Reads a whole body.
auto ReadFormData(std::string_view boundary, std::string_view body, const FormDataLimits& limits)
    -> FormData;

}  // namespace TURTLE_SERVER::reference
