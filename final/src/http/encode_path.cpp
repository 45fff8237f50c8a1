#include "http/encode_path.h"

#include "base/ascii.h"

namespace TURTLE_SERVER {

auto EncodePath(std::string_view path) -> std::string {
  constexpr std::string_view kHex = "0123456789ABCDEF";
  constexpr std::string_view kPlain = "-._~!$&'()*+,;=:@/";
  std::string encoded;
  encoded.reserve(path.size());
  for (const char c : path) {
    const auto byte = static_cast<unsigned char>(c);
    if (ascii::IsLetter(c) || ascii::IsDigit(c) || kPlain.find(c) != std::string_view::npos) {
      encoded += c;
    } else {
      encoded += {'%', kHex[byte >> 4], kHex[byte & 15]};
    }
  }
  return encoded;
}

}  // namespace TURTLE_SERVER
