#include "reference/router.h"

#include <cstddef>
#include <regex>

#include "reference/text.h"

namespace TURTLE_SERVER::reference {

namespace {

// Returns how precise a segment is: the smaller, the more precise.
auto Rank(const std::string& segment) -> int {
  if (segment.empty() || segment.front() != '{') {
    return 0;
  }
  const std::string end = segment.substr(segment.find_first_of(":.}"));
  return end == ":int}" ? 1 : end == ":uuid}" ? 2 : end == "}" ? 3 : 4;
}

auto RanksOf(const Route& route) -> std::vector<int> {
  std::vector<int> ranks;
  for (const std::string& segment : route.segments) {
    ranks.push_back(Rank(segment));
  }
  return ranks;
}

auto Split(const std::string& path) -> std::vector<std::string> {
  std::vector<std::string> segments(1);
  for (const char c : path.substr(1)) {
    if (c == '/') {
      segments.emplace_back();
    } else {
      segments.back() += c;
    }
  }
  return segments;
}

// True for a whole number from -2^63 to 2^63 - 1, in any number of digits.
auto IsInt64(std::string text) -> bool {
  const bool negative = !text.empty() && text.front() == '-';
  text.erase(0, negative ? 1 : 0);
  if (!IsAll(text, IsDigit)) {
    return false;
  }
  text.erase(0, text.find_first_not_of('0'));
  const std::string most = negative ? "9223372036854775808" : "9223372036854775807";
  return text.size() < most.size() || (text.size() == most.size() && text <= most);
}

auto IsUuid(const std::string& text) -> bool {
  static const std::regex form("[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}");
  return text.size() == 36 && std::regex_match(text, form);
}

auto Fits(const std::string& segment, const std::string& text) -> bool {
  switch (Rank(segment)) {
    case 0:
      return segment == text;
    case 1:
      return IsInt64(text);
    case 2:
      return IsUuid(text);
    default:
      return !text.empty();
  }
}

auto Match(const Route& route, const std::vector<std::string>& path,
           std::vector<std::string>& values) -> bool {
  for (std::size_t i = 0; i < route.segments.size(); ++i) {
    const std::string& segment = route.segments[i];
    if (i == path.size()) {
      return false;
    }
    if (Rank(segment) == 4) {
      std::string rest = path[i];
      for (std::size_t more = i + 1; more < path.size(); ++more) {
        rest += '/' + path[more];
      }
      values.push_back(rest);
      return true;
    }
    if (!Fits(segment, path[i])) {
      return false;
    }
    if (Rank(segment) != 0) {
      values.push_back(path[i]);
    }
  }
  return route.segments.size() == path.size();
}

auto Answers(const std::vector<Route>& routes, const Route& route, const std::string& method)
    -> bool {
  if (route.method == method || method != "HEAD") {
    return route.method == method;
  }
  for (const Route& other : routes) {
    if (other.method == "HEAD" && SamePaths(other, route)) {
      return false;  // HEAD has its own route
    }
  }
  return route.method == "GET";
}

}  // namespace

auto SamePaths(const Route& a, const Route& b) -> bool {
  bool same = RanksOf(a) == RanksOf(b);
  for (std::size_t i = 0; same && i < a.segments.size(); ++i) {
    same = Rank(a.segments[i]) != 0 || a.segments[i] == b.segments[i];
  }
  return same;
}

auto FindRoute(const std::vector<Route>& routes, const std::string& method, const std::string& path)
    -> Found {
  Found found;
  const std::vector<std::string> segments = Split(path);
  for (std::size_t i = 0; i < routes.size(); ++i) {
    std::vector<std::string> values;
    const bool matches = Match(routes[i], segments, values);
    found.has_path.push_back(matches);
    if (!matches || !Answers(routes, routes[i], method)) {
      continue;
    }
    if (found.route < 0 ||
        RanksOf(routes[i]) < RanksOf(routes[static_cast<std::size_t>(found.route)])) {
      found.route = static_cast<int>(i);
      found.values = values;
    }
  }
  return found;
}

}  // namespace TURTLE_SERVER::reference
