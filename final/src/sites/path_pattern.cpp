#include "sites/path_pattern.h"

#include <re2/re2.h>

#include <stdexcept>

#include "web/prefix_map.h"

namespace TURTLE_SERVER {

auto PathPattern::Prefix(const std::string& path) -> PathPattern {
  PathPattern pattern;
  if (!path.empty() && path != "/") {
    RequirePrefix("rule", path);
    for (const std::string_view part : {"//", "/./", "/../"}) {
      if ((path + '/').find(part) != std::string::npos) {
        throw std::invalid_argument("rule \"" + path + "\": no request has such a path");
      }
    }
    pattern.prefix_ = path;
  }
  return pattern;
}

auto PathPattern::Regex(const std::string& expression) -> PathPattern {
  re2::RE2::Options options;
  options.set_log_errors(false);
  options.set_encoding(re2::RE2::Options::EncodingLatin1);  // else "." is no byte such as 0xFF
  PathPattern pattern;
  pattern.expression_ = std::make_shared<const re2::RE2>(expression, options);
  if (!pattern.expression_->ok()) {
    throw std::invalid_argument("pattern \"" + expression + "\": " + pattern.expression_->error());
  }
  pattern.groups_ = static_cast<std::size_t>(pattern.expression_->NumberOfCapturingGroups());
  if (pattern.groups_ > PathParts::kMaxGroups) {
    throw std::invalid_argument("pattern \"" + expression + "\": more than " +
                                std::to_string(PathParts::kMaxGroups) + " groups");
  }
  return pattern;
}

auto PathPattern::Includes(std::string_view path) const -> bool {
  if (expression_ == nullptr) {
    PathParts ignored;
    return Matches(path, ignored);
  }
  const re2::StringPiece text(path.data(), path.size());
  return expression_->Match(text, 0, text.size(), re2::RE2::ANCHOR_BOTH, nullptr, 0);
}

auto PathPattern::Matches(std::string_view path, PathParts& parts) const -> bool {
  if (expression_ == nullptr) {
    const bool is_under =
        path.substr(0, prefix_.size()) == prefix_ &&
        (path.size() == prefix_.size() || prefix_.empty() || path[prefix_.size()] == '/');
    if (is_under) {
      parts = {path.substr(prefix_.size()), {}};
    }
    return is_under;
  }
  std::array<re2::StringPiece, PathParts::kMaxGroups + 1> found;  // first the whole path
  const re2::StringPiece text(path.data(), path.size());
  if (!expression_->Match(text, 0, text.size(), re2::RE2::ANCHOR_BOTH, found.data(),
                          static_cast<int>(groups_ + 1))) {
    return false;
  }
  parts = {};
  for (std::size_t i = 0; i < groups_; ++i) {
    const re2::StringPiece& group = found[i + 1];
    parts.groups[i] = {group.data(), group.size()};
  }
  return true;
}

}  // namespace TURTLE_SERVER
