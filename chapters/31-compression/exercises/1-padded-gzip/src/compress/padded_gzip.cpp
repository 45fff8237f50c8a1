#include "compress/padded_gzip.h"

namespace TURTLE_SERVER {

auto PaddedGzip(std::string_view gzip, std::size_t /*count*/) -> std::string {
  return std::string(gzip);  // TODO: a name, and the bit that announces it
}

}  // namespace TURTLE_SERVER
