#include "web/route_group.h"

#include <stdexcept>

#include "web/prefix_map.h"

namespace TURTLE_SERVER {

namespace {

auto Checked(std::string prefix) -> std::string {
  if (!prefix.empty() && (prefix.front() != '/' || prefix.back() == '/')) {
    throw std::invalid_argument("group \"" + prefix + "\": not a path such as /api");
  }
  return prefix;
}

}  // namespace

RouteGroup::RouteGroup(Routes& routes, std::size_t outer, std::string prefix)
    : routes_(routes), prefix_(Checked(std::move(prefix))), number_(routes.AddGroup(outer)) {}

auto RouteGroup::Route(Method method, const std::string& pattern, RouteAction action,
                       const RouteOptions& options) -> RouteGroup& {
  if (!prefix_.empty() && !pattern.empty() && pattern.front() != '/') {
    throw std::invalid_argument("route \"" + pattern + "\" in group \"" + prefix_ +
                                "\": not a path such as /todos");
  }
  routes_.Add(method, prefix_ + pattern, std::move(action), options, number_);
  return *this;
}

auto RouteGroup::Mount(const std::string& prefix, HandlerFactory factory) -> RouteGroup& {
  if (!prefix.empty()) {
    RequirePrefix("mount", prefix);
  }
  const std::string whole = prefix_ + prefix;
  if (whole.find('{') != std::string::npos) {
    throw std::invalid_argument("mount \"" + whole + "\": a mount has no parameters");
  }
  routes_.Add({whole.empty() ? "/" : whole, std::move(factory), number_});
  return *this;
}

auto RouteGroup::Use(Middleware middleware) -> RouteGroup& {
  routes_.Use(std::move(middleware), number_);
  return *this;
}

auto RouteGroup::Group(const std::string& prefix) const -> RouteGroup {
  return {routes_, number_, prefix_ + Checked(prefix)};
}

}  // namespace TURTLE_SERVER
