#include "http/mime.h"

#include <algorithm>
#include <array>
#include <cstddef>

#include "base/ascii.h"

namespace TURTLE_SERVER {

namespace {

struct Entry {
  std::string_view extension;
  std::string_view type;
};

constexpr auto kTypes = std::array{
    Entry{"7z", "application/x-7z-compressed"},
    Entry{"aac", "audio/aac"},
    Entry{"apng", "image/apng"},
    Entry{"atom", "application/atom+xml"},
    Entry{"avif", "image/avif"},
    Entry{"bin", "application/octet-stream"},
    Entry{"bmp", "image/bmp"},
    Entry{"bz2", "application/x-bzip2"},
    Entry{"c", "text/plain; charset=utf-8"},
    Entry{"cc", "text/plain; charset=utf-8"},
    Entry{"conf", "text/plain; charset=utf-8"},
    Entry{"cpp", "text/plain; charset=utf-8"},
    Entry{"css", "text/css; charset=utf-8"},
    Entry{"csv", "text/csv; charset=utf-8"},
    Entry{"eot", "application/vnd.ms-fontobject"},
    Entry{"epub", "application/epub+zip"},
    Entry{"flac", "audio/flac"},
    Entry{"gif", "image/gif"},
    Entry{"gz", "application/gzip"},
    Entry{"h", "text/plain; charset=utf-8"},
    Entry{"htm", "text/html; charset=utf-8"},
    Entry{"html", "text/html; charset=utf-8"},
    Entry{"ico", "image/x-icon"},
    Entry{"ics", "text/calendar; charset=utf-8"},
    Entry{"jpeg", "image/jpeg"},
    Entry{"jpg", "image/jpeg"},
    Entry{"js", "text/javascript; charset=utf-8"},
    Entry{"json", "application/json"},
    Entry{"jsonld", "application/ld+json"},
    Entry{"log", "text/plain; charset=utf-8"},
    Entry{"m4a", "audio/mp4"},
    Entry{"m4v", "video/mp4"},
    Entry{"map", "application/json"},
    Entry{"md", "text/markdown; charset=utf-8"},
    Entry{"mid", "audio/midi"},
    Entry{"mjs", "text/javascript; charset=utf-8"},
    Entry{"mov", "video/quicktime"},
    Entry{"mp3", "audio/mpeg"},
    Entry{"mp4", "video/mp4"},
    Entry{"mpeg", "video/mpeg"},
    Entry{"oga", "audio/ogg"},
    Entry{"ogg", "audio/ogg"},
    Entry{"ogv", "video/ogg"},
    Entry{"opus", "audio/ogg"},
    Entry{"otf", "font/otf"},
    Entry{"pdf", "application/pdf"},
    Entry{"png", "image/png"},
    Entry{"py", "text/plain; charset=utf-8"},
    Entry{"rss", "application/rss+xml"},
    Entry{"rtf", "application/rtf"},
    Entry{"sh", "text/plain; charset=utf-8"},
    Entry{"svg", "image/svg+xml"},
    Entry{"tar", "application/x-tar"},
    Entry{"tif", "image/tiff"},
    Entry{"tiff", "image/tiff"},
    Entry{"toml", "application/toml"},
    Entry{"ttf", "font/ttf"},
    Entry{"txt", "text/plain; charset=utf-8"},
    Entry{"vtt", "text/vtt; charset=utf-8"},
    Entry{"wasm", "application/wasm"},
    Entry{"wav", "audio/wav"},
    Entry{"weba", "audio/webm"},
    Entry{"webm", "video/webm"},
    Entry{"webmanifest", "application/manifest+json"},
    Entry{"webp", "image/webp"},
    Entry{"woff", "font/woff"},
    Entry{"woff2", "font/woff2"},
    Entry{"xhtml", "application/xhtml+xml"},
    Entry{"xml", "application/xml"},
    Entry{"xz", "application/x-xz"},
    Entry{"yaml", "application/yaml"},
    Entry{"yml", "application/yaml"},
    Entry{"zip", "application/zip"},
    Entry{"zst", "application/zstd"},
};

constexpr std::string_view kUnknown = "application/octet-stream";
constexpr std::size_t kMaxExtension = 16;

constexpr auto IsSorted() -> bool {
  for (std::size_t i = 1; i < kTypes.size(); ++i) {
    if (!(kTypes[i - 1].extension < kTypes[i].extension)) {
      return false;
    }
  }
  return true;
}
static_assert(IsSorted(), "the binary search needs the table in order");

}  // namespace

auto MimeType(std::string_view path) noexcept -> std::string_view {
  const std::string_view name = path.substr(path.rfind('/') + 1);  // npos + 1 is 0
  const std::size_t dot = name.rfind('.');
  // A name that only starts with a dot, ".profile", is hidden and has no extension.
  if (dot == std::string_view::npos || dot == 0 || name.size() - dot - 1 > kMaxExtension) {
    return kUnknown;
  }
  std::array<char, kMaxExtension> lower;
  const std::string_view extension = name.substr(dot + 1);
  std::transform(extension.begin(), extension.end(), lower.begin(), ascii::ToLower);
  const std::string_view wanted(lower.data(), extension.size());
  const auto* const found = std::lower_bound(
      kTypes.begin(), kTypes.end(), wanted,
      [](const Entry& entry, std::string_view key) { return entry.extension < key; });
  return found != kTypes.end() && found->extension == wanted ? found->type : kUnknown;
}

}  // namespace TURTLE_SERVER
