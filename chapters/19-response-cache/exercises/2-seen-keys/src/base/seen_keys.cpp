#include "base/seen_keys.h"

namespace TURTLE_SERVER {

SeenKeys::SeenKeys(std::size_t /*capacity*/) {}

auto SeenKeys::Note(std::string_view /*key*/) -> bool {
  return true;  // TODO
}

auto SeenKeys::Bytes() const noexcept -> std::size_t {
  return 0;  // TODO
}

}  // namespace TURTLE_SERVER
