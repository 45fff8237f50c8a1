#include "core/line_reader.h"

namespace TURTLE_SERVER {

auto LineReader::Next() -> std::optional<std::string> {
  return std::nullopt;  // TODO: read, and return complete lines
}

}  // namespace TURTLE_SERVER
