#include "http/router.h"

#include <re2/re2.h>

#include <algorithm>
#include <stdexcept>
#include <utility>

namespace TURTLE_SERVER {

namespace {

auto NamesOf(const std::vector<PatternSegment>& segments) -> std::vector<std::string> {
  std::vector<std::string> names;
  for (const PatternSegment& segment : segments) {
    if (segment.kind != SegmentKind::kLiteral) {
      names.push_back(segment.text);
    }
  }
  return names;
}

// The name of a group without a name is its number.
auto NamesOf(const re2::RE2& expression) -> std::vector<std::string> {
  std::vector<std::string> names;
  const auto& named = expression.CapturingGroupNames();
  for (int group = 1; group <= expression.NumberOfCapturingGroups(); ++group) {
    const auto found = named.find(group);
    names.push_back(found != named.end() ? found->second : std::to_string(group));
  }
  return names;
}

auto Compile(std::string_view text) -> std::unique_ptr<re2::RE2> {
  re2::RE2::Options options;
  options.set_log_errors(false);
  auto compiled = std::make_unique<re2::RE2>(re2::StringPiece(text.data(), text.size()), options);
  if (!compiled->ok()) {
    throw std::invalid_argument(compiled->error());
  }
  if (static_cast<std::size_t>(compiled->NumberOfCapturingGroups()) > kMaxParameters) {
    throw std::invalid_argument("more than " + std::to_string(kMaxParameters) + " groups");
  }
  return compiled;
}

auto IsExpression(std::string_view pattern) -> bool {
  return !pattern.empty() && pattern.front() == '~';
}

}  // namespace

auto RouteParameters::Find(std::string_view name) const noexcept
    -> std::optional<std::string_view> {
  for (std::size_t i = 0; i < count_; ++i) {
    if ((*names_)[i] == name) {
      return values_[i];
    }
  }
  return std::nullopt;
}

// One look-up: where it is in the tree, and what it has collected on the way there.
class Router::Search {
 public:
  Search(Method method, std::string_view path, RouteMatch& match) noexcept
      : method_(method), path_(path), match_(match) {}

  auto Walk(const Node& node, std::string_view rest) noexcept -> bool;
  auto Try(const Expression& expression) -> bool;

  // Returns the first route that the search met but that lacks the method.
  [[nodiscard]] auto PassedOver() const noexcept -> std::size_t { return passed_over_; }

 private:
  static constexpr std::array kByPrecedence = {SegmentKind::kInteger, SegmentKind::kUuid,
                                               SegmentKind::kPlain};

  auto Enter(const Node& child, std::string_view rest, std::size_t slash) noexcept -> bool;
  auto Take(const Endpoint& endpoint) noexcept -> bool;
  void Push(std::string_view value) noexcept {
    match_.parameters.values_[match_.parameters.count_++] = value;
  }
  void Pop() noexcept { --match_.parameters.count_; }

  const Method method_;
  const std::string_view path_;
  RouteMatch& match_;
  std::size_t passed_over_ = kNoRoute;
};

// `rest` begins with the segment to compare with the children of `node`. @return found. If a child
// leads nowhere, the search goes back and tries the next in precedence.
auto Router::Search::Walk(const Node& node, std::string_view rest) noexcept -> bool {
  const std::size_t slash = rest.find('/');
  const std::string_view segment = rest.substr(0, slash);
  const auto literal = node.literals.find(segment);
  if (literal != node.literals.end() && Enter(*literal->second, rest, slash)) {
    return true;
  }
  for (const SegmentKind kind : kByPrecedence) {
    const Node* child = node.parameters[static_cast<std::size_t>(kind)].get();
    if (child != nullptr && FitsSegment(kind, segment)) {
      Push(segment);
      if (Enter(*child, rest, slash)) {
        return true;
      }
      Pop();
    }
  }
  const Node* tail = node.parameters[static_cast<std::size_t>(SegmentKind::kRest)].get();
  if (tail != nullptr) {
    Push(rest);
    if (Take(tail->endpoint)) {
      return true;
    }
    Pop();
  }
  return false;
}

auto Router::Search::Enter(const Node& child, std::string_view rest, std::size_t slash) noexcept
    -> bool {
  return slash == std::string_view::npos ? Take(child.endpoint)
                                         : Walk(child, rest.substr(slash + 1));
}

auto Router::Search::Try(const Expression& expression) -> bool {
  std::array<re2::StringPiece, kMaxParameters + 1> groups;  // the first is the whole match
  const int count = expression.compiled->NumberOfCapturingGroups();
  const re2::StringPiece path(path_.data(), path_.size());
  if (!expression.compiled->Match(path, 0, path_.size(), re2::RE2::ANCHOR_BOTH, groups.data(),
                                  count + 1) ||
      !Take(expression.endpoint)) {
    return false;
  }
  for (int group = 1; group <= count; ++group) {
    const re2::StringPiece& value = groups[static_cast<std::size_t>(group)];
    Push({value.data(), value.size()});  // "": a group that took no part
  }
  return true;
}

auto Router::Search::Take(const Endpoint& endpoint) noexcept -> bool {
  match_.allowed.Add(endpoint.methods);
  match_.route = endpoint.RouteFor(method_);
  if (match_.route == kNoRoute && passed_over_ == kNoRoute) {
    passed_over_ = endpoint.first;
  }
  return match_.route != kNoRoute;
}

auto Router::Endpoint::RouteFor(Method method) const noexcept -> std::size_t {
  const std::size_t own = routes[static_cast<std::size_t>(method)];
  return own == kNoRoute && method == Method::kHead ? RouteFor(Method::kGet) : own;
}

Router::Router() = default;
Router::~Router() = default;
Router::Router(Router&&) noexcept = default;
auto Router::operator=(Router&&) noexcept -> Router& = default;

auto Router::Add(Method method, std::string_view pattern) -> std::size_t {
  const std::string name(RoutableName(method));
  try {
    if (name.empty()) {
      throw std::invalid_argument("this method has no routes");
    }
    std::vector<std::string> names;
    Endpoint* endpoint = nullptr;
    if (IsExpression(pattern)) {
      Expression& expression = EndpointFor(pattern.substr(1));
      names = NamesOf(*expression.compiled);
      endpoint = &expression.endpoint;
    } else {
      const std::vector<PatternSegment> segments = ParseRoutePattern(pattern);
      names = NamesOf(segments);
      endpoint = &EndpointFor(segments);
    }
    std::size_t& route = endpoint->routes[static_cast<std::size_t>(method)];
    if (route != kNoRoute) {
      throw std::invalid_argument("the same paths as \"" + routes_[route].pattern + '"');
    }
    routes_.push_back({std::string(pattern), std::move(names)});
    route = routes_.size() - 1;
    endpoint->first = std::min(endpoint->first, route);
    endpoint->methods.Add(method);
    methods_.Add(method);
    return route;
  } catch (const std::invalid_argument& error) {
    throw std::invalid_argument("route " + name + (name.empty() ? "\"" : " \"") +
                                std::string(pattern) + "\": " + error.what());
  }
}

// Returns the end of the walk along `segments`, and creates the path on the way.
auto Router::EndpointFor(const std::vector<PatternSegment>& segments) -> Endpoint& {
  Node* node = &root_;
  for (const PatternSegment& segment : segments) {
    std::unique_ptr<Node>& child = segment.kind == SegmentKind::kLiteral
                                       ? node->literals[segment.text]
                                       : node->parameters[static_cast<std::size_t>(segment.kind)];
    if (!child) {
      child = std::make_unique<Node>();
    }
    node = child.get();
  }
  return node->endpoint;
}

auto Router::EndpointFor(std::string_view expression) -> Expression& {
  const auto found =
      std::find_if(expressions_.begin(), expressions_.end(),
                   [expression](const Expression& each) { return each.text == expression; });
  if (found != expressions_.end()) {
    return *found;
  }
  expressions_.push_back({std::string(expression), Compile(expression), Endpoint()});
  return expressions_.back();
}

auto Router::Find(Method method, std::string_view path) const -> RouteMatch {
  RouteMatch match;
  Search search(method, path, match);
  bool found = !path.empty() && search.Walk(root_, path.substr(1));
  for (std::size_t i = 0; !found && i < expressions_.size(); ++i) {
    found = search.Try(expressions_[i]);
  }
  if (found) {
    match.result = RouteResult::kFound;
    match.parameters.names_ = &routes_[match.route].names;
  } else if (!match.allowed.Empty()) {
    match.result = RouteResult::kNoMethod;
    match.route = search.PassedOver();
  }
  return match;
}

}  // namespace TURTLE_SERVER
