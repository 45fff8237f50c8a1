#include "sites/redirect_target.h"

#include <algorithm>
#include <array>
#include <stdexcept>
#include <utility>

#include "base/ascii.h"
#include "http/encode_path.h"
#include "http/uri.h"

namespace TURTLE_SERVER {

namespace {

constexpr char kMayEnd = '\n';  // stands for a variable that ends the host, or is empty

constexpr const char* kNoTarget = ": not a path, and not http:// or https:// with a host";

auto BeginsWith(std::string_view text, std::string_view what) noexcept -> bool {
  return text.substr(0, what.size()) == what;
}

// Returns "http://" or "https://" if the text begins with it; otherwise "".
auto SchemeOf(std::string_view text) noexcept -> std::string_view {
  for (const std::string_view scheme : {"http://", "https://"}) {
    if (BeginsWith(text, scheme)) {
      return scheme;
    }
  }
  return {};
}

// "//example.org" would lead to another host, and so would "/\example.org" in a browser.
auto IsPath(std::string_view text) noexcept -> bool {
  return BeginsWith(text, "/") && !BeginsWith(text, "//");
}

// Visible ASCII without the characters that no URI has, RFC 3986, section 2.
auto IsUriCharacter(char c) noexcept -> bool {
  constexpr std::string_view kNever = "\"<>\\^`{|}";
  return c > ' ' && c < 0x7f && kNever.find(c) == std::string_view::npos;
}

// Returns the length of a variable with a name, such as "$host": "$hostname" is another one.
auto NameBytes(std::string_view text) noexcept -> std::size_t {
  std::size_t size = 1;
  while (size < text.size() && (ascii::IsLetter(text[size]) || text[size] == '_')) {
    ++size;
  }
  return size;
}

// Keeps one of the slashes at the beginning.
void KeepOneSlash(std::string& target) {
  const std::size_t slashes = std::min(target.find_first_not_of('/'), target.size());
  target.erase(0, slashes > 1 ? slashes - 1 : 0);
}

auto HostOf(const Request& request) noexcept -> std::string_view {
  const std::size_t bracket = request.host.rfind(']');
  return request.host.substr(
      0, request.host.find(':', bracket == std::string_view::npos ? 0 : bracket));
}

}  // namespace

RedirectTarget::RedirectTarget(std::string_view text, std::size_t groups) {
  const std::string quoted = "redirect \"" + std::string(text) + '"';
  const std::string_view scheme = SchemeOf(text);
  if (scheme.empty() && !IsPath(text)) {
    throw std::invalid_argument(quoted + kNoTarget);
  }
  if (!std::all_of(text.begin(), text.end(), IsUriCharacter)) {
    throw std::invalid_argument(quoted + ": a character that a URI can't have");
  }
  while (!text.empty()) {
    const std::size_t dollar = std::min(text.find('$'), text.size());
    pieces_.push_back({Kind::kText, 0, std::string(text.substr(0, dollar))});
    text.remove_prefix(dollar);
    if (!text.empty() && !TakeVariable(text, groups)) {
      throw std::invalid_argument(quoted + ": \"" + std::string(text.substr(0, 8)) +
                                  "\" is no variable, or the pattern has no such group");
    }
  }
  if (!scheme.empty() && !HasHost(scheme)) {
    throw std::invalid_argument(quoted + kNoTarget);
  }
}

// Returns true if the pieces begin with the scheme and a host, whatever the request. A path and a
// query may be empty: they end the host only if it ends there without them, too.
auto RedirectTarget::HasHost(std::string_view scheme) const -> bool {
  std::string start;
  for (const Piece& piece : pieces_) {
    if (piece.kind == Kind::kText) {
      start += piece.text;
    } else if (piece.kind == Kind::kHost) {
      start += "host";
    } else {
      start += piece.kind == Kind::kGroup ? '@' : kMayEnd;  // neither is in a host
    }
  }
  std::string_view rest = std::string_view(start).substr(scheme.size());
  const std::string_view host = rest.substr(0, rest.find_first_of("/?#\n"));
  rest.remove_prefix(host.size());
  rest.remove_prefix(std::min(rest.find_first_not_of(kMayEnd), rest.size()));
  const bool ends =
      rest.empty() || std::string_view("/?#").find(rest.front()) != std::string_view::npos;
  return ends && !host.empty() && IsValidHost(host);
}

// Cuts the variable off that `text` begins with. @return false if it is none
auto RedirectTarget::TakeVariable(std::string_view& text, std::size_t groups) -> bool {
  constexpr std::array<std::pair<std::string_view, Kind>, 4> kNames{{{"$host", Kind::kHost},
                                                                     {"$path", Kind::kPath},
                                                                     {"$rest", Kind::kRest},
                                                                     {"$query", Kind::kQuery}}};
  if (BeginsWith(text, "$$")) {
    pieces_.push_back({Kind::kText, 0, "$"});
    text.remove_prefix(2);
    return true;
  }
  if (text.size() > 1 && text[1] >= '1' && text[1] <= '9') {
    const auto group = static_cast<std::size_t>(text[1] - '1');
    if (group >= groups) {
      return false;
    }
    pieces_.push_back({Kind::kGroup, group});
    text.remove_prefix(2);
    return true;
  }
  for (const auto& [name, kind] : kNames) {
    if (text.substr(0, NameBytes(text)) == name) {
      pieces_.push_back({kind});
      text.remove_prefix(name.size());
      return true;
    }
  }
  return false;
}

auto RedirectTarget::NeedsHost() const noexcept -> bool {
  return std::any_of(pieces_.begin(), pieces_.end(),
                     [](const Piece& piece) { return piece.kind == Kind::kHost; });
}

auto RedirectTarget::Expand(const Request& request, const PathParts& parts) const -> std::string {
  std::string target;
  for (const Piece& piece : pieces_) {
    switch (piece.kind) {
      case Kind::kText:
        target += piece.text;
        break;
      case Kind::kHost:
        target += HostOf(request);
        break;
      case Kind::kPath:
        target += EncodePath(request.uri.Path());
        break;
      case Kind::kRest:
        target += EncodePath(parts.rest);
        break;
      case Kind::kQuery:
        if (request.uri.HasQuery()) {
          target.append("?").append(request.uri.Query());
        }
        break;
      case Kind::kGroup:
        target += EncodePath(parts.groups[piece.group]);
        break;
    }
  }
  KeepOneSlash(target);
  return target;
}

}  // namespace TURTLE_SERVER
