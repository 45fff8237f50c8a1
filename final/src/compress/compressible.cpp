#include "compress/compressible.h"

#include <algorithm>
#include <array>

#include "base/ascii.h"
#include "http/parameters.h"

namespace TURTLE_SERVER {

namespace {

constexpr std::array<std::string_view, 14> kTypes = {
    "application/javascript",
    "application/json",
    "application/manifest",
    "application/ndjson",
    "application/rtf",
    "application/vnd.ms-fontobject",
    "application/wasm",
    "application/x-ndjson",
    "application/xml",
    "font/otf",
    "font/ttf",
    "image/bmp",
    "image/vnd.microsoft.icon",
    "image/x-icon",
};

auto EndsWith(std::string_view text, std::string_view end) noexcept -> bool {
  return text.size() >= end.size() &&
         ascii::EqualIgnoreCase(text.substr(text.size() - end.size()), end);
}

}  // namespace

auto IsCompressible(std::string_view content_type) noexcept -> bool {
  constexpr std::string_view kText = "text/";
  const std::string_view type = WithoutParameters(content_type);
  return ascii::EqualIgnoreCase(type.substr(0, kText.size()), kText) || EndsWith(type, "+json") ||
         EndsWith(type, "+xml") ||
         std::any_of(kTypes.begin(), kTypes.end(),
                     [type](std::string_view each) { return ascii::EqualIgnoreCase(type, each); });
}

}  // namespace TURTLE_SERVER
