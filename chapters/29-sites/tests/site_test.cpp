// One site without a server: which rules include a path, and what they say about a request.
#include "sites/site.h"

#include <gtest/gtest.h>

#include <chrono>
#include <cstdint>
#include <initializer_list>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <system_error>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include "http/http_parser.h"
#include "support/site_folder.h"

namespace TURTLE_SERVER {
namespace {

using namespace std::chrono_literals;
using Kind = FieldEdit::Kind;

static_assert(!std::is_move_constructible_v<Site>, "its rules refer to its options");

constexpr const char* kClient = "192.0.2.1";
constexpr TimePoint kStart{1h};

auto Rule(const std::string& path = "") -> SiteRule {
  SiteRule rule;
  rule.path = path;
  return rule;
}

auto Methods(std::initializer_list<Method> methods) -> MethodSet {
  MethodSet set;
  for (const Method method : methods) {
    set.Add(method);
  }
  return set;
}

auto Limit(std::uint32_t requests, std::chrono::seconds per, std::uint32_t burst) -> RateLimit {
  RateLimit limit;
  limit.requests = requests;
  limit.per = per;
  limit.burst = burst;
  return limit;
}

// A site of the rules.
auto With(std::vector<SiteRule> rules) -> SiteOptions {
  SiteOptions options;
  options.names = {"example.org"};
  options.rules = std::move(rules);
  return options;
}

auto WithPage(SiteErrorPage page) -> SiteOptions {
  SiteOptions options = With({});
  options.error_pages.push_back(std::move(page));
  return options;
}

// Returns the response of the rules to a request.
auto Ask(const Site& site, std::string_view target, std::string_view method = "GET",
         const NetAddress& client = NetAddress(kClient, 1), TimePoint now = kStart)
    -> std::optional<Response> {
  std::string head(method);
  head.append(" ").append(target).append(" HTTP/1.1\r\nHost: example.org:8080\r\n\r\n");
  Request request;
  const ParserLimits limits;
  HttpParser parser(limits);
  EXPECT_EQ(parser.Parse(head, request).state, ParseState::kDone) << head;
  return site.Respond({request, client, now}, site.RulesFor(request.uri.Path()));
}

auto Status(const std::optional<Response>& response) -> int {
  return response ? response->Status() : 0;
}

auto Field(const std::optional<Response>& response, std::string_view name) -> std::string {
  return response ? std::string(response->Find(name).value_or("")) : "";
}

auto BodyOf(const Response& response) -> std::string {
  return response.Pieces().size() == 1 ? std::get<std::string>(response.Pieces()[0]) : "";
}

// Returns the text of the exception for invalid options.
auto Refusal(SiteOptions options) -> std::string {
  try {
    const Site site(std::move(options));
  } catch (const std::invalid_argument& error) {
    return error.what();
  }
  return "";
}

auto Contains(const std::string& text, std::string_view part) -> testing::AssertionResult {
  return (text.find(part) == std::string::npos ? testing::AssertionFailure()
                                               : testing::AssertionSuccess())
         << text;
}

TEST(SiteTest, ARuleIncludesItsPathAndThoseBelow) {
  SiteRule pattern;
  pattern.pattern = "/[a-d]+/.*";
  const Site site(With({Rule(), Rule("/docs"), pattern, Rule("/")}));
  EXPECT_EQ(site.RulesFor("/"), 0b1001U);
  EXPECT_EQ(site.RulesFor("/docs"), 0b1011U);
  EXPECT_EQ(site.RulesFor("/docs/a"), 0b1011U);
  EXPECT_EQ(site.RulesFor("/docsets"), 0b1001U);
  EXPECT_EQ(site.RulesFor("/abcd/x"), 0b1101U);
  EXPECT_EQ(site.RulesFor("/x/abcd/x"), 0b1001U) << "a part of the path is not enough";
}

TEST(SiteTest, WithoutARuleTheHandlerIsToRespond) {
  const Site site(With({}));
  EXPECT_EQ(Ask(site, "/", "DELETE"), std::nullopt);
  EXPECT_EQ(site.MaxBodyBytes(0), std::nullopt);
  EXPECT_TRUE(site.Fallback(0).empty());
  EXPECT_FALSE(site.Listing(0));
  EXPECT_FALSE(site.Edits(0));
}

TEST(SiteTest, TheAddressComesBeforeTheRate) {
  SiteRule all = Rule();
  all.rate = Limit(1, 10s, 1);
  SiteRule closed = Rule("/closed");
  closed.deny = {kClient};
  const Site site(With({all, closed}));
  EXPECT_EQ(Status(Ask(site, "/closed")), 403);
  EXPECT_EQ(Status(Ask(site, "/")), 0) << "a refused client has not used its token";
  EXPECT_EQ(Status(Ask(site, "/")), 429);
  EXPECT_EQ(Status(Ask(site, "/closed")), 403);
}

TEST(SiteTest, TheRateComesBeforeTheRedirectAndThatBeforeTheMethod) {
  SiteRule rule = Rule();
  rule.rate = Limit(1, 10s, 1);
  rule.redirect = "/new";
  rule.methods = Methods({Method::kPost});
  const Site site(With({rule}));
  EXPECT_EQ(Status(Ask(site, "/")), 308);
  EXPECT_EQ(Status(Ask(site, "/")), 429);
  rule.redirect.clear();
  EXPECT_EQ(Status(Ask(Site(With({rule})), "/")), 405);
}

TEST(SiteTest, EveryRuleMustLetTheClientIn) {
  SiteRule all = Rule();
  all.allow = {"192.0.2.0/24"};
  SiteRule inner = Rule("/inner");
  inner.allow = {"192.0.2.8/30", "2001:db8::/32"};
  inner.deny = {"192.0.2.9"};
  const Site site(With({all, inner}));
  const auto status = [&](const char* path, const char* client) {
    return Status(Ask(site, path, "GET", NetAddress(client, 1)));
  };
  EXPECT_EQ(status("/", "192.0.2.1"), 0);
  EXPECT_EQ(status("/", "198.51.100.1"), 403);
  EXPECT_EQ(status("/inner", "192.0.2.8"), 0);
  EXPECT_EQ(status("/inner", "192.0.2.9"), 403) << "deny counts more than allow";
  EXPECT_EQ(status("/inner", "192.0.2.1"), 403);
  EXPECT_EQ(status("/inner", "2001:db8::1"), 403) << "the first rule does not let it in";
}

TEST(SiteTest, AnAddressThatNobodyKnowsPassesNoList) {
  SiteRule closed = Rule("/closed");
  closed.deny = {"192.0.2.0/24"};
  SiteRule open = Rule("/open");
  open.allow = {"192.0.2.0/24"};
  const Site site(With({closed, open}));
  const NetAddress gone;  // of a client that has reset its connection
  EXPECT_EQ(Status(Ask(site, "/closed", "GET", gone)), 403);
  EXPECT_EQ(Status(Ask(site, "/open", "GET", gone)), 403);
  EXPECT_EQ(Status(Ask(site, "/", "GET", gone)), 0);
}

TEST(SiteTest, AnAddressThatNobodyKnowsIsAboveEveryRate) {
  SiteRule slow = Rule();
  slow.rate = Limit(1000, 1s, 1000);
  const Site site(With({slow}));
  EXPECT_EQ(Status(Ask(site, "/", "GET", NetAddress())), 429);
}

TEST(SiteTest, OnlyRulesAboutClientsNeedTheirAddress) {
  SiteRule deny = Rule("/deny");
  deny.deny = {"192.0.2.0/24"};
  SiteRule allow = Rule("/allow");
  allow.allow = {"192.0.2.0/24"};
  SiteRule rate = Rule("/rate");
  rate.rate = Limit(1, 10s, 1);
  SiteRule get = Rule("/get");
  get.methods = Methods({Method::kGet});
  const Site site(With({deny, allow, rate, get}));
  for (const char* path : {"/deny", "/allow", "/rate"}) {
    EXPECT_TRUE(site.NeedsAddress(site.RulesFor(path))) << path;
  }
  EXPECT_FALSE(site.NeedsAddress(site.RulesFor("/get")));
  EXPECT_FALSE(site.NeedsAddress(site.RulesFor("/")));
  const RuleBits all = ~RuleBits{0};
  EXPECT_EQ(site.Barriers(all), RuleBits{3}) << "a rate keeps nobody out";
}

TEST(SiteTest, TheLongestWaitOfAllRatesIsTheClients) {
  SiteRule slow = Rule();
  slow.rate = Limit(1, 10s, 1);
  SiteRule slower = Rule("/slow");
  slower.rate = Limit(1, 60s, 1);
  SiteRule burst = Rule("/slow");
  burst.rate = Limit(1, 60s, 9);
  const Site site(With({slow, slower, burst}));
  const NetAddress client(kClient, 1);
  EXPECT_EQ(Status(Ask(site, "/slow", "GET", client)), 0);
  const auto refused = Ask(site, "/slow", "GET", client, kStart + 1s);
  EXPECT_EQ(Status(refused), 429);
  EXPECT_EQ(Field(refused, "Retry-After"), "59");
  EXPECT_EQ(Field(Ask(site, "/", "GET", client, kStart + 1s), "Retry-After"), "9");
  EXPECT_EQ(Field(Ask(site, "/", "GET", client, kStart + 9'999ms), "Retry-After"), "1")
      << "rounded up";
  EXPECT_EQ(Status(Ask(site, "/", "GET", client, kStart + 10s)), 0);
  EXPECT_EQ(Status(Ask(site, "/", "GET", NetAddress("192.0.2.2", 1), kStart + 10s)), 0)
      << "each client has its own";
}

TEST(SiteTest, TheLastValueOfARuleThatIncludesThePathCounts) {
  SiteRule all = Rule();
  all.max_body_bytes = 100;
  all.fallback = {"/index.html"};
  all.listing = true;
  all.redirect = "/all";
  all.methods = Methods({Method::kPost});
  SiteRule inner = Rule("/inner");
  inner.max_body_bytes = 7;
  inner.fallback.emplace();
  inner.listing = false;
  inner.redirect = "/inner-target";
  const Site site(With({all, inner, Rule()}));
  const RuleBits outside = site.RulesFor("/");
  EXPECT_EQ(site.MaxBodyBytes(outside), 100U);
  EXPECT_EQ(site.Fallback(outside), std::vector<std::string>{"/index.html"});
  EXPECT_TRUE(site.Listing(outside));
  EXPECT_EQ(Field(Ask(site, "/"), "Location"), "/all");
  const RuleBits inside = site.RulesFor("/inner/a");
  EXPECT_EQ(site.MaxBodyBytes(inside), 7U);
  EXPECT_TRUE(site.Fallback(inside).empty()) << "an empty list is a value";
  EXPECT_FALSE(site.Listing(inside));
  EXPECT_EQ(Field(Ask(site, "/inner/a"), "Location"), "/inner-target");
}

TEST(SiteTest, TheLastMethodsReplaceTheOthers) {
  SiteRule all = Rule();
  all.methods = Methods({Method::kGet});
  SiteRule inner = Rule("/inner");
  inner.methods = Methods({Method::kPost, Method::kPut});
  const Site site(With({all, inner}));
  EXPECT_EQ(Status(Ask(site, "/inner", "PUT")), 0);
  const auto refused = Ask(site, "/inner");
  EXPECT_EQ(Status(refused), 405);
  EXPECT_EQ(Field(refused, "Allow"), "POST, PUT, OPTIONS");
  EXPECT_EQ(Field(Ask(site, "/", "POST"), "Allow"), "GET, HEAD, OPTIONS");
}

TEST(SiteTest, HeadCountsAsGetAndOptionsIsAnsweredHere) {
  SiteRule get = Rule("/get");
  get.methods = Methods({Method::kGet});
  SiteRule post = Rule("/post");
  post.methods = Methods({Method::kPost});
  SiteRule head = Rule("/head");
  head.methods = Methods({Method::kHead});
  const Site site(With({get, post, head}));
  EXPECT_EQ(Status(Ask(site, "/get", "HEAD")), 0);
  EXPECT_EQ(Status(Ask(site, "/get", "OPTIONS")), 204);
  EXPECT_EQ(Status(Ask(site, "/post", "OPTIONS")), 204);
  EXPECT_EQ(Ask(site, "/post", "OPTIONS")->Find("Allow"), "POST, OPTIONS");
  EXPECT_EQ(Status(Ask(site, "/post", "HEAD")), 405);
  EXPECT_EQ(Status(Ask(site, "/head", "HEAD")), 0) << "the Allow field has it";
  EXPECT_EQ(Status(Ask(site, "/head", "GET")), 405);
}

TEST(SiteTest, ARedirectHasThePartsOfTheRequest) {
  SiteRule prefix = Rule("/old");
  prefix.redirect = "https://$host/new$rest$query";
  prefix.redirect_status = 302;
  SiteRule pattern;
  pattern.pattern = "/([0-9]+)/(.*)";
  pattern.redirect = "/$2?year=$1";
  const Site site(With({prefix, pattern}));
  const auto first = Ask(site, "/old/a%20b?c=d");
  EXPECT_EQ(Status(first), 302);
  EXPECT_EQ(Field(first, "Location"), "https://example.org/new/a%20b?c=d");
  const auto second = Ask(site, "/2026/turtles");
  EXPECT_EQ(Status(second), 308);
  EXPECT_EQ(Field(second, "Location"), "/turtles?year=2026");
  EXPECT_EQ(Status(Ask(site, "/older")), 0);
}

TEST(SiteTest, OnlyAStatusThatRedirectsIsOneOfARedirect) {
  for (const int status : {301, 302, 303, 307, 308}) {
    SiteRule rule = Rule();
    rule.redirect = "/new";
    rule.redirect_status = status;
    EXPECT_EQ(Status(Ask(Site(With({rule})), "/")), status);
  }
  for (const int status : {0, 200, 300, 304, 305, 306, 309, 404}) {
    SiteRule rule = Rule();
    rule.redirect = "/new";
    rule.redirect_status = status;
    EXPECT_TRUE(Contains(Refusal(With({rule})), "status " + std::to_string(status) + ": "));
  }
}

TEST(SiteTest, TheChangesToFieldsAreMadeInTheOrderOfTheTable) {
  SiteRule all = Rule();
  all.fields = {{Kind::kSet, "X-A", "1"}, {Kind::kAdd, "X-B", "2"}, {Kind::kRemove, "X-C", ""}};
  SiteRule inner = Rule("/inner");
  inner.fields = {{Kind::kSet, "x-a", "3"}, {Kind::kAdd, "X-C", "4"}};
  const Site site(With({all, inner}));
  Response response(200);
  response.Set("X-A", "0").Set("X-C", "0");
  site.Edit(site.RulesFor("/inner"), response, Edited::kWhole);
  std::string head;
  response.AppendHead({}, head);
  EXPECT_TRUE(Contains(head, "\r\nX-B: 2\r\nx-a: 3\r\nX-C: 4\r\n\r\n"));
  EXPECT_EQ(head.find("X-A"), std::string::npos);
}

TEST(SiteTest, APreparedResponseGetsTheSameChangesAsLines) {
  SiteRule all = Rule();
  all.fields = {{Kind::kSet, "X-A", "1"}, {Kind::kAdd, "X-B", "2"}};
  SiteRule inner = Rule("/inner");
  inner.fields = {{Kind::kSet, "X-A", "3"}, {Kind::kRemove, "X-C", ""}};
  const Site site(With({all, inner}));
  const RuleBits rules = site.RulesFor("/inner");
  std::string lines;
  EXPECT_TRUE(site.AppendLines(rules, "", "ETag: \"t\"\r\n\r\nX-C: in the body", lines));
  EXPECT_EQ(lines, "X-B: 2\r\nX-A: 3\r\n");
  EXPECT_FALSE(site.AppendLines(rules, "", "X-A: 0\r\n\r\n", lines)) << "it would have to change";
  EXPECT_FALSE(site.AppendLines(rules, "Age: 1\r\nX-C: 0\r\n", "\r\n", lines));
}

TEST(SiteTest, OnlyRulesWithFieldsAndErrorPagesEdit) {
  SiteRule rule = Rule("/docs");
  rule.fields = {{Kind::kSet, "X-A", "1"}};
  const Site site(With({Rule(), rule}));
  EXPECT_FALSE(site.Edits(site.RulesFor("/")));
  EXPECT_TRUE(site.Edits(site.RulesFor("/docs")));
  const Site pages(WithPage({404, "", "none"}));
  EXPECT_TRUE(pages.Edits(pages.RulesFor("/")));
}

TEST(SiteTest, ItsPageReplacesAnErrorPageAndNothingElse) {
  const Site site(WithPage({404, "", "No such turtle."}));
  Response missing = ErrorResponse(404, "detail");
  site.Edit(0, missing, Edited::kWhole);
  EXPECT_EQ(BodyOf(missing), "No such turtle.");
  EXPECT_EQ(missing.Find("Content-Type"), "text/plain; charset=utf-8");
  EXPECT_EQ(missing.Status(), 404);
  Response own = TextResponse(404, "the handler's own");
  site.Edit(0, own, Edited::kWhole);
  EXPECT_EQ(BodyOf(own), "the handler's own");
  Response other = ErrorResponse(403, "detail");
  site.Edit(0, other, Edited::kWhole);
  EXPECT_TRUE(Contains(BodyOf(other), "detail"));
  Response head = ErrorResponse(404, "detail");
  site.Edit(0, head, Edited::kHead);
  EXPECT_TRUE(Contains(BodyOf(head), "detail")) << "the body follows in pieces";
}

TEST(SiteTest, APageOfAFileHasItsTypeAndIsReadOnce) {
  const test::SiteFolder folder;
  folder.Write("404.html", "<h1>No such turtle</h1>");
  const Site site(WithPage({404, folder.Path("404.html"), "not used"}));
  folder.Write("404.html", "changed");
  Response response = ErrorResponse(404);
  site.Edit(0, response, Edited::kWhole);
  EXPECT_EQ(BodyOf(response), "<h1>No such turtle</h1>");
  EXPECT_EQ(response.Find("Content-Type"), "text/html; charset=utf-8");
}

TEST(SiteTest, APageHasItsLimit) {
  const test::SiteFolder folder;
  folder.Write("most", std::string(Site::kMaxPageBytes, 'x'));
  folder.Write("long", std::string(Site::kMaxPageBytes + 1, 'x'));
  const Site site(WithPage({500, folder.Path("most"), ""}));
  Response response = ErrorResponse(500);
  site.Edit(0, response, Edited::kWhole);
  EXPECT_EQ(response.BodySize(), Site::kMaxPageBytes);
  const std::string refusal = Refusal(WithPage({500, folder.Path("long"), ""}));
  EXPECT_TRUE(Contains(refusal, folder.Path("long") + ": longer than 65536 bytes"));
}

TEST(SiteTest, APageThatCannotBeReadIsNamed) {
  const test::SiteFolder folder;
  for (const std::string& path : {folder.Path("none.html"), folder.Path()}) {
    try {
      const Site site(WithPage({404, path, ""}));
      FAIL() << path;
    } catch (const std::system_error& error) {
      EXPECT_TRUE(Contains(error.what(), path));
      EXPECT_NE(error.code().value(), 0);
    }
  }
}

TEST(SiteTest, APageIsForAnError) {
  for (const int status : {0, 200, 304, 399, 600}) {
    const std::string refusal = Refusal(WithPage({status, "", "x"}));
    EXPECT_TRUE(Contains(refusal, "error page " + std::to_string(status) + ": "));
    EXPECT_TRUE(Contains(refusal, "site example.org")) << "there may be many";
  }
  EXPECT_EQ(Refusal(WithPage({400, "", "x"})), "");
  EXPECT_EQ(Refusal(WithPage({599, "", "x"})), "");
}

TEST(SiteTest, ThereIsABitForEachRule) {
  std::vector<SiteRule> rules(Site::kMaxRules, Rule("/a"));
  rules.back() = Rule("/last");
  rules.back().max_body_bytes = 1;
  const Site site(With(rules));
  EXPECT_EQ(site.RulesFor("/last"), RuleBits{1} << 63);
  EXPECT_EQ(site.MaxBodyBytes(site.RulesFor("/last")), 1U);
  EXPECT_EQ(site.RulesFor("/a"), ~(RuleBits{1} << 63));
  rules.push_back(Rule());
  EXPECT_TRUE(Contains(Refusal(With(rules)), "site example.org: more than 64 rules"));
}

TEST(SiteTest, AnInvalidRuleIsNamedWithItsSite) {
  SiteRule both = Rule("/a");
  both.pattern = "/b";
  SiteRule pattern;
  pattern.pattern = "(";
  SiteRule field = Rule();
  field.fields = {{Kind::kSet, "X-A", "a\r\nb"}};
  SiteRule network = Rule();
  network.allow = {"10.0.0.1/8"};
  SiteRule rate = Rule();
  rate.rate = RateLimit();
  SiteRule redirect = Rule();
  redirect.redirect = "/$1";
  for (const auto& [rule, reason] :
       {std::pair(both, "a path and a pattern"), std::pair(pattern, "pattern \"(\""),
        std::pair(Rule("docs"), "\"docs\""), std::pair(field, "X-A"),
        std::pair(network, "10.0.0.1/8"), std::pair(rate, "rate"), std::pair(redirect, "/$1")}) {
    const std::string refusal = Refusal(With({Rule(), rule}));
    EXPECT_TRUE(Contains(refusal, "site example.org, rule 1: "));
    EXPECT_TRUE(Contains(refusal, reason));
  }
  SiteOptions nameless = With({both});
  nameless.names.clear();
  EXPECT_TRUE(Contains(Refusal(nameless), "site default, rule 0: "));
}

// StaticFiles sends the type as it is.
TEST(SiteTest, ATypeMustBeTheValueOfAField) {
  SiteOptions options = With({});
  options.types = {{"wasm", "application/wasm"}};
  EXPECT_EQ(Refusal(options), "");
  options.types.emplace_back("x", "text/x\r\nSet-Cookie: a=b");
  EXPECT_TRUE(Contains(Refusal(options), "site example.org, type of \"x\": "));
}

TEST(SiteTest, AFallbackMustBeAPath) {
  SiteRule rule = Rule();
  rule.fallback = {"$path.html", "/index.html"};
  EXPECT_EQ(Refusal(With({rule})), "");
  rule.fallback = {"index.html"};
  EXPECT_TRUE(Contains(Refusal(With({rule})), "fallback \"index.html\": "));
}

}  // namespace
}  // namespace TURTLE_SERVER
