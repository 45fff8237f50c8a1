#include "sites/site.h"

#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <exception>
#include <fstream>
#include <stdexcept>
#include <system_error>
#include <utility>

#include "http/mime.h"
#include "sites/field_presets.h"

namespace TURTLE_SERVER {

namespace {

auto PatternOf(const SiteRule& rule) -> PathPattern {
  if (!rule.path.empty() && !rule.pattern.empty()) {
    throw std::invalid_argument("it has both a path and a pattern");
  }
  return rule.pattern.empty() ? PathPattern::Prefix(rule.path) : PathPattern::Regex(rule.pattern);
}

auto IsRedirectStatus(int status) noexcept -> bool {
  return (status >= 301 && status <= 303) || status == 307 || status == 308;
}

// Returns the content of a file of at most Site::kMaxPageBytes.
auto ReadPage(const std::string& path) -> std::string {
  errno = 0;
  std::ifstream file(path, std::ios::binary);
  std::string text(Site::kMaxPageBytes + 1, '\0');
  file.read(text.data(), static_cast<std::streamsize>(text.size()));
  if (!file.is_open() || file.bad()) {
    throw std::system_error(errno, std::generic_category(), "error page " + path);
  }
  text.resize(static_cast<std::size_t>(file.gcount()));
  if (text.size() > Site::kMaxPageBytes) {
    throw std::invalid_argument("error page " + path + ": longer than " +
                                std::to_string(Site::kMaxPageBytes) + " bytes");
  }
  return text;
}

// Without a slash in front, it would never be the path of a file.
void CheckFallback(const std::string& name) {
  constexpr std::string_view kPath = "$path";
  if (name.substr(0, 1) != "/" && name.substr(0, kPath.size()) != kPath) {
    throw std::invalid_argument("fallback \"" + name + "\": it begins with neither / nor $path");
  }
}

// Agrees with MethodSet::AllowField().
auto Permits(const MethodSet& methods, Method method) noexcept -> bool {
  return methods.Has(method) || (method == Method::kHead && methods.Has(Method::kGet));
}

// Returns "site example.org".
auto TitleOf(const SiteOptions& options) -> std::string {
  return "site " + (options.names.empty() ? "default" : options.names.front());
}

// Returns the mistake in a rule, with its number.
auto WrongRule(const SiteOptions& options, std::size_t rule, const std::exception& error)
    -> std::invalid_argument {
  return std::invalid_argument(TitleOf(options) + ", rule " + std::to_string(rule) + ": " +
                               error.what());
}

// Puts the fields of the presets before the rule's own ones, which win.
auto WithPresets(SiteOptions options) -> SiteOptions {
  for (std::size_t i = 0; i < options.rules.size(); ++i) {
    SiteRule& rule = options.rules[i];
    try {
      const std::vector<FieldEdit> edits = EditsOfPresets(rule.presets);
      rule.fields.insert(rule.fields.begin(), edits.begin(), edits.end());
    } catch (const std::invalid_argument& error) {
      throw WrongRule(options, i, error);
    }
  }
  return options;
}

auto Has(RuleBits rules, std::size_t rule) noexcept -> bool { return (rules >> rule & 1U) != 0; }

}  // namespace

Site::Rule::Rule(const SiteRule& rule)
    : values(rule), paths(PatternOf(rule)), allowed(rule.allow), denied(rule.deny) {
  std::for_each(rule.fields.begin(), rule.fields.end(), CheckField);
  if (rule.fallback) {
    std::for_each(rule.fallback->begin(), rule.fallback->end(), CheckFallback);
  }
  if (rule.rate) {
    rate = std::make_unique<RateTable>(*rule.rate);
  }
  if (!rule.redirect.empty()) {
    redirect.emplace(rule.redirect, paths.Groups());
  }
  if (!IsRealm(rule.realm)) {
    throw std::invalid_argument("realm \"" + rule.realm +
                                "\": not printable ASCII without quotes and backslashes");
  }
  if (!IsRedirectStatus(rule.redirect_status)) {
    throw std::invalid_argument("status " + std::to_string(rule.redirect_status) +
                                ": not one of 301, 302, 303, 307 and 308");
  }
}

Site::Site(SiteOptions options) : options_(WithPresets(std::move(options))) {
  if (options_.rules.size() > kMaxRules) {
    throw std::invalid_argument(TitleOf(options_) + ": more than " + std::to_string(kMaxRules) +
                                " rules");
  }
  std::for_each(options_.rules.begin(), options_.rules.end(),
                [this](const SiteRule& rule) { AddRule(rule); });
  CheckTypes();
  ReadPages();
}

void Site::AddRule(const SiteRule& rule) {
  try {
    std::shared_ptr<const PasswordFile> users = UsersOf(rule);
    Rule& added = rules_.emplace_back(rule);
    added.users = std::move(users);
    const RuleBits bit = RuleBits{1} << (rules_.size() - 1);
    const bool has_networks = !rule.allow.empty() || !rule.deny.empty();
    guards_ |= added.users != nullptr ? bit : 0;
    barriers_ |= added.users != nullptr || has_networks ? bit : 0;
    by_address_ |= has_networks || rule.rate ? bit : 0;
  } catch (const std::invalid_argument& error) {
    throw WrongRule(options_, rules_.size(), error);
  }
}

// A file is read once, and a password is checked with it once, however many rules name it.
auto Site::UsersOf(const SiteRule& rule) const -> std::shared_ptr<const PasswordFile> {
  if (rule.users.empty()) {
    return nullptr;
  }
  const auto same = std::find_if(rules_.begin(), rules_.end(), [&rule](const Rule& each) {
    return each.values.users == rule.users;
  });
  if (same != rules_.end()) {
    return same->users;
  }
  try {
    return std::make_shared<const PasswordFile>(rule.users);
  } catch (const std::invalid_argument& error) {
    throw std::invalid_argument("users " + std::string(error.what()));
  }
}

// A type is sent as it is, StaticFiles::TypeOf().
void Site::CheckTypes() const {
  for (const auto& [extension, type] : options_.types) {
    try {
      static_cast<void>(Response(200).Set("Content-Type", type));
    } catch (const std::invalid_argument& error) {
      throw std::invalid_argument(TitleOf(options_) + ", type of \"" + extension +
                                  "\": " + error.what());
    }
  }
}

void Site::ReadPages() {
  for (const SiteErrorPage& page : options_.error_pages) {
    if (page.status < 400 || page.status > 599) {
      throw std::invalid_argument(TitleOf(options_) + ", error page " +
                                  std::to_string(page.status) + ": not a status from 400 to 599");
    }
    if (page.file.empty()) {
      pages_.push_back({page.status, "text/plain; charset=utf-8", page.text});
    } else {
      pages_.push_back({page.status, std::string(MimeType(page.file)), ReadPage(page.file)});
    }
  }
}

auto Site::RulesFor(std::string_view path) const -> RuleBits {
  RuleBits rules = 0;
  for (std::size_t i = 0; i < rules_.size(); ++i) {
    if (rules_[i].paths.Includes(path)) {
      rules |= RuleBits{1} << i;
    }
  }
  return rules;
}

// Returns the last value that one of the rules has; nullptr: none has one.
template <typename Value>
auto Site::Last(RuleBits rules, std::optional<Value> SiteRule::*value) const noexcept
    -> const Value* {
  for (std::size_t i = rules_.size(); i-- > 0;) {
    if (Has(rules, i) && rules_[i].values.*value) {
      return &*(rules_[i].values.*value);
    }
  }
  return nullptr;
}

// The kernel no longer knows the address of a client that has reset its connection: that client
// might be in any of the denied networks.
auto Site::LetsIn(const NetAddress& client, RuleBits rules) const noexcept -> bool {
  const bool unknown = client.Family() == AF_UNSPEC;
  for (std::size_t i = 0; i < rules_.size(); ++i) {
    if (!Has(rules, i)) {
      continue;
    }
    const Rule& rule = rules_[i];
    const bool denied = unknown ? !rule.denied.Empty() : rule.denied.Contains(client);
    const bool allowed = rule.allowed.Empty() || rule.allowed.Contains(client);
    if (denied || !allowed) {
      return false;
    }
  }
  return true;
}

// Returns the longest wait that one of the rules demands. A client without an address can't be
// counted: it has reset its connection, and would not read the response.
auto Site::WaitFor(const SiteVisit& visit, RuleBits rules) const noexcept
    -> std::chrono::milliseconds {
  constexpr std::chrono::milliseconds kUnknown{1000};
  const bool unknown = visit.client.Family() == AF_UNSPEC;
  std::chrono::milliseconds wait{0};
  for (std::size_t i = 0; i < rules_.size(); ++i) {
    if (Has(rules & ~visit.counted, i) && rules_[i].rate != nullptr) {
      wait = std::max(wait, unknown ? kUnknown : rules_[i].rate->Take(visit.client, visit.now));
    }
  }
  return wait;
}

auto Site::RedirectOf(const Request& request, RuleBits rules) const -> std::optional<Response> {
  for (std::size_t i = rules_.size(); i-- > 0;) {
    const Rule& rule = rules_[i];
    PathParts parts;
    if (Has(rules, i) && rule.redirect && rule.paths.Matches(request.uri.Path(), parts)) {
      if (rule.redirect->NeedsHost() && request.host.empty()) {
        return ErrorResponse(400, "The request names no host.");
      }
      return ErrorResponse(rule.values.redirect_status)
          .Set("Location", rule.redirect->Expand(request, parts));
    }
  }
  return std::nullopt;
}

auto Site::Respond(const SiteVisit& visit, RuleBits rules) const -> std::optional<Response> {
  if (!LetsIn(visit.client, rules)) {
    return ErrorResponse(403);
  }
  if (const auto wait = WaitFor(visit, rules); wait.count() != 0) {
    const auto seconds = std::chrono::ceil<std::chrono::seconds>(wait).count();
    return ErrorResponse(429).Set("Retry-After", std::to_string(seconds));
  }
  if (std::optional<Response> redirect = RedirectOf(visit.request, rules)) {
    return redirect;
  }
  const MethodSet* const methods = Last(rules, &SiteRule::methods);
  if (methods != nullptr && !Permits(*methods, visit.request.method)) {
    const bool asks = visit.request.method == Method::kOptions;
    return (asks ? Response(204) : ErrorResponse(405)).Set("Allow", methods->AllowField());
  }
  return std::nullopt;
}

auto Site::Guards(RuleBits rules) const noexcept -> RuleBits {
  RuleBits guards = 0;
  for (RuleBits left = rules & guards_; left != 0; left &= left - 1) {
    const std::size_t guard = FirstRule(left);
    bool is_new = true;
    for (RuleBits seen = guards; seen != 0; seen &= seen - 1) {
      is_new = is_new && rules_[FirstRule(seen)].users != rules_[guard].users;
    }
    guards |= RuleBits{is_new} << guard;
  }
  return guards;
}

auto Site::Refusal(RuleBits guards, const BasicLogin& login) const -> std::optional<std::size_t> {
  for (; guards != 0; guards &= guards - 1) {
    const std::size_t guard = FirstRule(guards);
    if (!Users(guard).Check(login.Name(), login.Password())) {
      return guard;
    }
  }
  return std::nullopt;
}

auto Site::MaxBodyBytes(RuleBits rules) const noexcept -> std::optional<std::uint64_t> {
  const std::uint64_t* const most = Last(rules, &SiteRule::max_body_bytes);
  return most == nullptr ? std::nullopt : std::optional(*most);
}

auto Site::Fallback(RuleBits rules) const noexcept -> const std::vector<std::string>& {
  static const std::vector<std::string> none;
  const std::vector<std::string>* const names = Last(rules, &SiteRule::fallback);
  return names == nullptr ? none : *names;
}

auto Site::Listing(RuleBits rules) const noexcept -> bool {
  const bool* const listing = Last(rules, &SiteRule::listing);
  return listing != nullptr && *listing;
}

auto Site::KeepsPlain(RuleBits rules) const noexcept -> bool {
  const bool* const compress = Last(rules, &SiteRule::compress);
  return compress != nullptr && !*compress;
}

auto Site::Edits(RuleBits rules) const noexcept -> bool {
  bool edits = !pages_.empty();
  for (std::size_t i = 0; i < rules_.size(); ++i) {
    edits = edits || (Has(rules, i) && !rules_[i].values.fields.empty());
  }
  return edits;
}

void Site::Edit(RuleBits rules, Response& response, Edited part) const {
  const auto page = std::find_if(pages_.begin(), pages_.end(), [&](const Page& each) {
    return each.status == response.Status();
  });
  if (part == Edited::kWhole && response.ErrorDetail() && page != pages_.end()) {
    response.Set("Content-Type", page->type).Body(page->text);
  }
  for (std::size_t i = 0; i < rules_.size(); ++i) {
    if (Has(rules, i)) {
      ApplyEdits(rules_[i].values.fields, response);
    }
  }
}

auto Site::AppendLines(RuleBits rules, std::string_view start, std::string_view text,
                       std::string& lines) const -> bool {
  for (std::size_t i = 0; i < rules_.size(); ++i) {
    if (Has(rules, i) && !AppendFieldLines(rules_[i].values.fields, start, text, lines)) {
      return false;
    }
  }
  return true;
}

}  // namespace TURTLE_SERVER
