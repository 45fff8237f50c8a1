// Routes and a path against the reference.
//
// An input is a byte with the number of routes and the request's method. For each route, there is a
// byte with its method and its number of segments, and a byte for each segment. The path follows,
// without its first slash.
#include <array>
#include <cstddef>
#include <stdexcept>
#include <string>
#include <vector>

#include "http/router.h"
#include "reference/router.h"
#include "targets/check.h"

namespace {

using namespace TURTLE_SERVER;

constexpr std::array<Method, 4> kMethods = {Method::kGet, Method::kHead, Method::kPost,
                                            Method::kDelete};
constexpr std::array<const char*, 4> kNames = {"GET", "HEAD", "POST", "DELETE"};

// A parameter's name contains its place in the pattern: no name may occur twice.
auto Segment(unsigned char byte, std::size_t place) -> std::string {
  const std::string name = "{p" + std::to_string(place);
  const std::array<std::string, 8> all = {
      "a", "b", "12", name + "}", name + ":int}", name + ":uuid}", name + "...}", "a-b"};
  return all[byte % all.size()];
}

// Takes the first byte; 0 if there is none.
auto Take(std::string_view& input) -> unsigned char {
  if (input.empty()) {
    return 0;
  }
  const auto byte = static_cast<unsigned char>(input.front());
  input.remove_prefix(1);
  return byte;
}

auto IsAllowed(const std::string& field, const std::string& method) -> bool {
  return (", " + field + ",").find(", " + method + ",") != std::string::npos;
}

void AddRoute(Router& router, std::vector<reference::Route>& routes, std::string_view& input) {
  const unsigned char byte = Take(input);
  reference::Route route{kNames[byte % 4], {}};
  std::string pattern;
  bool rest_in_the_middle = false;
  for (std::size_t i = 0; i < 1U + byte / 4 % 5; ++i) {
    rest_in_the_middle = rest_in_the_middle || pattern.find("...") != std::string::npos;
    route.segments.push_back(Segment(Take(input), i));
    pattern += '/' + route.segments.back();
  }
  bool refused = rest_in_the_middle;
  for (const reference::Route& other : routes) {
    refused = refused || (other.method == route.method && SamePaths(other, route));
  }
  try {
    fuzz::Same("number", router.Add(kMethods[byte % 4], pattern), routes.size());
    routes.push_back(route);
    fuzz::Same("refused", false, refused);
  } catch (const std::invalid_argument&) {
    fuzz::Same("refused", true, refused);
  }
}

}  // namespace

extern "C" auto LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) -> int {
  std::string_view input = fuzz::TextOf(data, size);
  Router router;
  std::vector<reference::Route> routes;
  const unsigned char first = Take(input);
  for (int i = 0; i < first / 4 % 16; ++i) {
    AddRoute(router, routes, input);
  }
  const std::string path = '/' + std::string(input);
  const std::string method = kNames[first % 4];
  const reference::Found expected = FindRoute(routes, method, path);
  const RouteMatch match = router.Find(kMethods[first % 4], path);
  fuzz::Same("found", match.result == RouteResult::kFound, expected.route >= 0);
  if (match.result == RouteResult::kFound) {
    fuzz::Same("route", static_cast<int>(match.route), expected.route);
    std::size_t used = 0;
    const reference::Route& route = routes[match.route];
    for (std::size_t i = 0; i < route.segments.size(); ++i) {
      if (const auto value = match.parameters.Find("p" + std::to_string(i))) {
        fuzz::Same("value", *value, expected.values.at(used++));
      }
    }
    fuzz::Same("number of values", used, expected.values.size());
    return 0;
  }
  bool any = false;
  for (std::size_t i = 0; i < routes.size(); ++i) {
    any = any || expected.has_path[i];
    if (expected.has_path[i] && !IsAllowed(match.allowed.AllowField(), routes[i].method)) {
      fuzz::Fail(routes[i].method + " is not allowed");
    }
  }
  fuzz::Same("there are other methods", match.result == RouteResult::kNoMethod, any);
  return 0;
}
