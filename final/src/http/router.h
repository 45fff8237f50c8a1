// Finds the route of a path: a tree of segments, then regular expressions.
//
// Interface:
//  * Add() takes a method and a pattern, and refuses a pattern that is invalid or already there.
//  * Find() returns the route for a method and a path, with the values of its parameters; or the
//    methods that the path has; or nothing.
//
// A pattern is that of http/route_pattern.h, or a regular expression after a '~':
// "~/archive/(?P<year>\d{4})/.*", which must match the whole path. Its groups are the parameters,
// by name or by number: "1".
//
// Among several routes for one path, the one that is more precise in the first differing segment
// wins: a literal before a typed parameter, before a plain one, before a rest. Regular expressions
// come last, in the order in which they were added. A route without the method is skipped: it only
// adds to the allowed methods.
//
// A look-up allocates nothing, and visits no node of the tree twice, whatever the path. Regular
// expressions are RE2's, whose time is linear in the path; std::regex may take exponential time, or
// all of the stack. RE2 locks its cache, so every loop has its own Router.
//
// Thread: one at a time. Pure.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "http/method.h"
#include "http/route_pattern.h"
#include "http/view_shift.h"

namespace re2 {
class RE2;
}

namespace TURTLE_SERVER {

/// The parameters of a route and their values in a path. Valid as long as router and path.
class RouteParameters {
 public:
  /// Returns the value of parameter `name`, decoded; nullopt: the route has no such parameter.
  [[nodiscard]] auto Find(std::string_view name) const noexcept -> std::optional<std::string_view>;

  /// Makes it outlive router and path.
  /// @param shift from the path that was looked up to a copy of it
  /// @param names gets a copy of the names, which are looked up there from now on
  void Rebase(const ViewShift& shift, std::vector<std::string>& names) {
    if (names_ != nullptr) {
      names = *names_;
      names_ = &names;
    }
    for (std::string_view& value : values_) {
      shift(value);
    }
  }

 private:
  friend class Router;

  const std::vector<std::string>* names_ = nullptr;  // as many as count_
  std::array<std::string_view, kMaxParameters> values_{};
  std::size_t count_ = 0;
};

/// The result of a look-up.
enum class RouteResult : std::uint8_t {
  kFound,     ///< there is a route
  kNoMethod,  ///< the path has routes, but not for this method
  kNoPath,    ///< no route has this path
};

/// A route, or why there is none.
struct RouteMatch {
  RouteResult result = RouteResult::kNoPath;  ///< whether there is a route
  /// The number from Add(): the found route, or with kNoMethod the most precise one of the path.
  std::size_t route = 0;
  RouteParameters parameters{};  ///< with kFound
  MethodSet allowed{};           ///< with kNoMethod: the methods that the path has
};

/// Routes by path and method.
class Router {
 public:
  Router();
  ~Router();
  Router(Router&&) noexcept;                     ///< The other one can't be used any more.
  auto operator=(Router&&) noexcept -> Router&;  ///< As above.

  /// Adds a route.
  /// @return its number: 0 for the first, then 1
  /// @throws std::invalid_argument, and adds nothing, if `method` can't have routes (TRACE,
  ///     CONNECT), `pattern` is invalid, or the same paths have a route for this method; the text
  ///     names both
  auto Add(Method method, std::string_view pattern) -> std::size_t;

  /// Looks up `path`. HEAD finds the routes of GET.
  /// @param method of the request
  /// @param path decoded once, as Uri::Path() returns it: it refuses an encoded slash, so no
  ///     parameter contains a slash, or ends at one
  [[nodiscard]] auto Find(Method method, std::string_view path) const -> RouteMatch;

  /// Returns the methods of all routes.
  [[nodiscard]] auto Methods() const noexcept -> MethodSet { return methods_; }

 private:
  static constexpr std::size_t kNoRoute = SIZE_MAX;

  // The routes that end at one place, by method.
  struct Endpoint {
    Endpoint() { routes.fill(kNoRoute); }
    [[nodiscard]] auto RouteFor(Method method) const noexcept -> std::size_t;

    std::array<std::size_t, MethodSet::kMethods> routes{};
    MethodSet methods;
    std::size_t first = kNoRoute;  // of routes
  };

  struct Node {
    std::map<std::string, std::unique_ptr<Node>, std::less<>> literals;
    std::array<std::unique_ptr<Node>, 5> parameters;  // by SegmentKind
    Endpoint endpoint;
  };

  struct Expression {
    std::string text;
    std::unique_ptr<re2::RE2> compiled;
    Endpoint endpoint;
  };

  struct Route {
    std::string pattern;
    std::vector<std::string> names;  // of its parameters
  };

  class Search;

  auto EndpointFor(const std::vector<PatternSegment>& segments) -> Endpoint&;
  auto EndpointFor(std::string_view expression) -> Expression&;

  Node root_;
  std::vector<Expression> expressions_;
  std::vector<Route> routes_;
  MethodSet methods_;
};

}  // namespace TURTLE_SERVER
