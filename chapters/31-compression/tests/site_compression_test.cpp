// Rules of sites that keep responses plain: in a configuration, in a table, and on a server.
#include <gtest/gtest.h>

#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "app/config.h"
#include "app/site_settings.h"
#include "compress/compression.h"
#include "sites/site.h"
#include "sites/sites.h"
#include "support/decode.h"
#include "support/http_client.h"
#include "support/running_server.h"
#include "support/site_folder.h"

namespace TURTLE_SERVER {
namespace {

using test::HttpClient;
using test::HttpReply;
using test::RunningServer;
using Faults = std::vector<std::string>;

// --- in a configuration -------------------------------------------------------------------------

auto SettingsOf(SitesOptions& sites) -> SettingList {
  SettingList list;
  AddSites(list, sites);
  return list;
}

// The sites of a configuration whose only site has one rule with these keys.
struct Reading {
  explicit Reading(const std::string& keys)
      : faults(ReadConfig(
            R"({"sites": [{"default": "on", "root_path": "/", "rules": [{)" + keys + "}]}]}",
            "t.json", SettingsOf(sites).All())) {}

  SitesOptions sites;
  Faults faults;
};

auto CompressOf(const std::string& keys) -> std::optional<bool> {
  const Reading read(keys);
  EXPECT_EQ(read.faults, Faults()) << keys;
  return read.faults.empty() ? read.sites.at(0).rules.at(0).compress : std::nullopt;
}

TEST(SiteCompressionSettingTest, ARuleHasASwitch) {
  EXPECT_EQ(CompressOf(R"("compress": false)"), false);
  EXPECT_EQ(CompressOf(R"("compress": "off")"), false);
  EXPECT_EQ(CompressOf(R"("compress": true)"), true);
  EXPECT_EQ(CompressOf(R"("compress": "on")"), true);
  EXPECT_EQ(CompressOf(R"("path": "/a")"), std::nullopt);
}

TEST(SiteCompressionSettingTest, AMistakeIsToldWithItsKey) {
  for (
      const auto& [keys, fault] :
      {std::pair(R"("compress": "never")", R"(sites[0].rules[0].compress: "never" is not one of)"
                                           " on, off"),
       {R"("compress": 0)", "sites[0].rules[0].compress: 0 is not one of on, off"},
       {R"("compress": null)", "sites[0].rules[0].compress: null is not one of on, off"},
       {R"("compress": ["off"])", R"(sites[0].rules[0].compress: ["off"] is not one of on, off)"},
       {R"("compres": false)",
        R"("sites[0].rules[0].compres" is not a key; did you mean sites[0].rules[0].compress?)"}}) {
    EXPECT_EQ(Reading(keys).faults, Faults{std::string("t.json: ") + fault}) << keys;
  }
}

// A reload compares what is shown.
TEST(SiteCompressionSettingTest, EachValueIsShownDifferently) {
  const auto shown = [](const std::string& keys) {
    Reading read(keys);
    return SettingsOf(read.sites).All().at(0).show();
  };
  EXPECT_NE(shown(""), shown(R"("compress": "off")"));
  EXPECT_NE(shown(R"("compress": "on")"), shown(R"("compress": "off")"));
  EXPECT_EQ(shown(R"("compress": false)"), shown(R"("compress": "off")"));
}

TEST(SiteCompressionSettingTest, TheSchemaHasTheKey) {
  SitesOptions sites;
  const auto schema = nlohmann::json::parse(ConfigSchema(SettingsOf(sites).All()));
  const auto& rule = schema["properties"]["sites"]["items"]["properties"]["rules"]["items"];
  EXPECT_EQ(rule["properties"]["compress"]["enum"], nlohmann::json({"on", "off", true, false}));
}

// --- in a table ---------------------------------------------------------------------------------

auto Rule(const std::string& path, std::optional<bool> compress) -> SiteRule {
  SiteRule rule;
  rule.path = path;
  rule.compress = compress;
  return rule;
}

// A default site with these rules.
auto With(std::vector<SiteRule> rules, const std::string& root = "") -> SiteOptions {
  SiteOptions site;
  site.is_default = true;
  site.root = root;
  site.rules = std::move(rules);
  return site;
}

TEST(SiteCompressionTest, TheLastRuleWithAValueCounts) {
  const Site site(With({Rule("/", std::nullopt), Rule("/account", false),
                        Rule("/account/style", true), Rule("/account/style/own", std::nullopt)}));
  for (const auto& [path, is_plain] : {std::pair("/", false),
                                       {"/accounts", false},
                                       {"/account", true},
                                       {"/account/a", true},
                                       {"/account/style", false},
                                       {"/account/style/own", false}}) {
    EXPECT_EQ(site.KeepsPlain(site.RulesFor(path)), is_plain) << path;
  }
}

// --- on a server --------------------------------------------------------------------------------

auto Words() -> std::string {
  std::string text;
  while (text.size() < 5000) {
    text += "turtles all the way down, ";
  }
  return text;
}

auto Compressing() -> HttpOptions {
  HttpOptions http;
  http.compression = std::make_shared<const Compression>();
  return http;
}

auto Ask(HttpClient& client, const std::string& target, const std::string& more = "") -> HttpReply {
  return client.Ask(test::Get(target, "Accept-Encoding: gzip\r\n" + more));
}

auto IsPlain(const HttpReply& reply) -> testing::AssertionResult {
  const bool is_plain = reply.Field("Content-Encoding").empty() && reply.body == Words();
  return (is_plain ? testing::AssertionSuccess() : testing::AssertionFailure()) << reply.head;
}

auto IsCompressed(const HttpReply& reply) -> testing::AssertionResult {
  const bool is_compressed = reply.Field("Content-Encoding") == "gzip" &&
                             reply.Field("Vary") == "Accept-Encoding" &&
                             test::Decode("gzip", reply.body) == Words();
  return (is_compressed ? testing::AssertionSuccess() : testing::AssertionFailure()) << reply.head;
}

// The same with a cache, which has variants of its files, and without one.
class SiteCompressionFilesTest : public testing::TestWithParam<bool> {
 protected:
  SiteCompressionFilesTest() {
    folder_.Write("page.txt", Words());
    folder_.Write("account/page.txt", Words());
    folder_.Write("account/index.html", Words());
  }

  [[nodiscard]] auto Files() const -> StaticFilesOptions {
    StaticFilesOptions options;
    options.cache.max_bytes = GetParam() ? std::size_t{16} << 20 : 0;
    return options;
  }

  const test::SiteFolder folder_;
};

INSTANTIATE_TEST_SUITE_P(Cached, SiteCompressionFilesTest, testing::Bool());

TEST_P(SiteCompressionFilesTest, FilesOfARuleAreSentAsTheyAre) {
  Sites sites({With({Rule("/account", false)}, folder_.Path())});
  const RunningServer server([&](HttpServer& http) { http.Mount("/", sites.Files(Files())); },
                             Compressing());
  HttpClient client(server.Port());
  for (int i = 0; i < 3; ++i) {  // the later ones come from the cache
    EXPECT_TRUE(IsPlain(Ask(client, "/account/page.txt")));
    EXPECT_TRUE(IsPlain(Ask(client, "/account/%70age.txt")));
    EXPECT_TRUE(IsPlain(Ask(client, "/account/")));
    EXPECT_TRUE(IsCompressed(Ask(client, "/page.txt"))) << "of the same connection";
  }
}

TEST_P(SiteCompressionFilesTest, ANotModifiedOfARuleHasThePlainTag) {
  Sites sites({With({Rule("/account", false)}, folder_.Path())});
  const RunningServer server([&](HttpServer& http) { http.Mount("/", sites.Files(Files())); },
                             Compressing());
  HttpClient client(server.Port());
  const std::string tag = client.Ask(test::Get("/account/page.txt")).Field("ETag");
  EXPECT_EQ(Ask(client, "/account/page.txt").Field("ETag"), tag);
  const HttpReply reply = Ask(client, "/account/page.txt", "If-None-Match: " + tag + "\r\n");
  EXPECT_EQ(reply.status, 304);
  EXPECT_EQ(reply.Field("ETag"), tag);
}

TEST_P(SiteCompressionFilesTest, ANewTableCountsFromTheNextRequestOn) {
  Sites sites({With({Rule("/account", false)}, folder_.Path())});
  const RunningServer server([&](HttpServer& http) { http.Mount("/", sites.Files(Files())); },
                             Compressing());
  HttpClient client(server.Port());
  EXPECT_TRUE(IsPlain(Ask(client, "/account/page.txt")));
  const auto replace = [&](const std::string& path) {
    sites.Replace(
        std::make_shared<const SiteTable>(SitesOptions{With({Rule(path, false)}, folder_.Path())}));
  };
  replace("/page.txt");
  EXPECT_TRUE(IsCompressed(Ask(client, "/account/page.txt")));
  EXPECT_TRUE(IsPlain(Ask(client, "/page.txt")));
  replace("/account");
  EXPECT_TRUE(IsPlain(Ask(client, "/account/page.txt")));
}

// Responds to "/late/…" after Handle() has returned, in pieces, and to "/to/…" from another path.
void Answer(Exchange& exchange) {
  const std::string path(exchange.GetRequest().uri.Path());
  if (path.rfind("/to/", 0) == 0) {
    exchange.ReplyFrom(path.substr(3));
  } else if (path.rfind("/late/", 0) == 0) {
    exchange.OnBody([&exchange](std::string_view, bool last) {
      if (last) {
        exchange.BeginReply(Response(200).Set("Content-Type", "text/plain"));
        exchange.Write(Words());
        exchange.End();
      }
    });
  } else {
    exchange.Reply(TextResponse(path == "/account/error" ? 500 : 200, Words()));
  }
}

class SiteCompressionHandlerTest : public testing::Test {
 protected:
  void SetUp() override { client_.emplace(server_.Port()); }

  Sites sites_{SitesOptions{With({Rule("/account", false), Rule("/late/account", false)})}};
  const RunningServer server_{
      [this](HttpServer& http) { http.Mount("/", sites_.Around(test::Answering(Answer))); },
      Compressing()};
  std::optional<HttpClient> client_;
};

TEST_F(SiteCompressionHandlerTest, ResponsesOfHandlersAreKeptPlainToo) {
  EXPECT_TRUE(IsPlain(Ask(*client_, "/account/a")));
  EXPECT_TRUE(IsPlain(Ask(*client_, "/account/error")));
  EXPECT_EQ(Ask(*client_, "/account/a").Field("Vary"), "");
  EXPECT_TRUE(IsCompressed(Ask(*client_, "/a")));
}

TEST_F(SiteCompressionHandlerTest, PiecesThatComeLateAreKeptPlainToo) {
  EXPECT_TRUE(IsPlain(Ask(*client_, "/late/account")));
  EXPECT_TRUE(IsCompressed(Ask(*client_, "/late/a")));
}

// A local redirect has the rules of the path that responds.
TEST_F(SiteCompressionHandlerTest, ThePathThatRespondsDecides) {
  EXPECT_TRUE(IsPlain(Ask(*client_, "/to/account/a")));
  EXPECT_TRUE(IsCompressed(Ask(*client_, "/to/a")));
}

TEST(SiteCompressionTest, WithoutCompressionARuleChangesNothing) {
  Sites sites(SitesOptions{With({Rule("/account", true)})});
  const RunningServer server(
      [&](HttpServer& http) { http.Mount("/", sites.Around(test::Answering(Answer))); });
  HttpClient client(server.Port());
  EXPECT_TRUE(IsPlain(Ask(client, "/account/a")));
}

}  // namespace
}  // namespace TURTLE_SERVER
