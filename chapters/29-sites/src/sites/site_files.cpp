#include "sites/site_files.h"

#include <algorithm>
#include <utility>

#include "base/ascii.h"
#include "sites/listing.h"
#include "web/exchange.h"

namespace TURTLE_SERVER {

namespace {

constexpr std::string_view kPath = "$path";

auto With(StaticFilesOptions options, const SiteOptions& site) -> StaticFilesOptions {
  options.root = site.root;
  options.index = site.index;
  options.dot_files = site.dot_files;
  return options;
}

// Returns a name of SiteRule::fallback with the requested path in it. "$path.html" for "/a/" is
// "/a.html".
auto Candidate(std::string_view name, std::string_view path) -> std::string {
  const std::size_t at = name.find(kPath);
  if (at == std::string_view::npos) {
    return std::string(name);
  }
  if (path.size() > 1 && path.back() == '/') {
    path.remove_suffix(1);
  }
  std::string candidate(name.substr(0, at));
  return candidate.append(path).append(name.substr(at + kPath.size()));
}

// Returns true if the client would rather have JSON than a page: it names one and not the other.
auto WantsJson(const Request& request) -> bool {
  bool json = false;
  bool html = false;
  request.headers.ForEach("Accept", [&](std::string_view list) {
    while (!list.empty()) {
      std::string_view range = TakeListElement(list);
      range = ascii::TrimOws(range.substr(0, range.find(';')));
      json = json || ascii::EqualIgnoreCase(range, "application/json");
      html = html || ascii::EqualIgnoreCase(range, "text/html");
    }
  });
  return json && !html;
}

}  // namespace

SiteFiles::SiteFiles(Looper& looper, const Site& site, StaticFilesOptions options)
    : StaticFiles(looper, With(std::move(options), site.Options())), site_(site) {}

auto SiteFiles::TypeOf(std::string_view name) const -> std::string_view {
  const std::string_view file = name.substr(name.rfind('/') + 1);
  const std::size_t dot = file.rfind('.');
  if (dot != std::string_view::npos && dot != 0) {
    for (const auto& [extension, type] : site_.Options().types) {
      if (ascii::EqualIgnoreCase(file.substr(dot + 1), extension)) {
        return type;
      }
    }
  }
  return StaticFiles::TypeOf(name);
}

auto SiteFiles::OnMissing(Exchange& exchange, const std::string& /*name*/, int /*error*/) -> bool {
  const std::string_view path = exchange.SubPath();
  const RuleBits rules = site_.RulesFor(exchange.GetRequest().uri.Path());
  const bool is_directory = !path.empty() && path.back() == '/';
  if (is_directory && site_.Listing(rules) && TryListing(exchange)) {
    return true;
  }
  const std::vector<std::string>& names = site_.Fallback(rules);
  return std::any_of(names.begin(), names.end(), [&](const std::string& name) {
    const std::string candidate = Candidate(name, path);
    return MayTry(exchange, candidate, rules) && TryFile(exchange, candidate);
  });
}

// A file that a rule keeps from some clients must not be had under another path.
auto SiteFiles::MayTry(const Exchange& exchange, const std::string& candidate, RuleBits rules) const
    -> bool {
  const std::string_view requested = exchange.GetRequest().uri.Path();
  std::string path(requested.substr(0, requested.size() - exchange.SubPath().size()));
  path += candidate;
  if (path.back() == '/') {
    path += site_.Options().index;
  }
  return site_.Barriers(site_.RulesFor(path) & ~rules) == 0;
}

auto SiteFiles::TryListing(Exchange& exchange) -> bool {
  const std::string_view path = exchange.SubPath();
  const std::string name(path.size() > 1 ? path.substr(1, path.size() - 2) : ".");
  const auto listing = ReadListing(Root(), name, site_.Options().dot_files);
  if (!listing) {
    return false;
  }
  const std::string_view shown = exchange.GetRequest().uri.Path();
  const bool json = WantsJson(exchange.GetRequest());
  Response response(200);
  response.Set("Content-Type", json ? "application/json" : "text/html; charset=utf-8")
      .Set("Vary", "Accept")
      .Body(json ? ListingJson(shown, *listing) : ListingHtml(shown, *listing));
  exchange.Reply(response);
  return true;
}

}  // namespace TURTLE_SERVER
