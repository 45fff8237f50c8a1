// The sites of a server, by their names.
#include "sites/site_table.h"

#include <gtest/gtest.h>

#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace TURTLE_SERVER {
namespace {

auto Named(std::vector<std::string> names) -> SiteOptions {
  SiteOptions options;
  options.names = std::move(names);
  return options;
}

auto Default(std::vector<std::string> names = {}) -> SiteOptions {
  SiteOptions options = Named(std::move(names));
  options.is_default = true;
  return options;
}

auto Refusal(const SitesOptions& options) -> std::string {
  try {
    const SiteTable table(options);
  } catch (const std::invalid_argument& error) {
    return error.what();
  }
  return "";
}

TEST(SiteTableTest, EverySiteHasItsNames) {
  const SiteTable table({Named({"a.example", "www.a.example"}), Named({"*.b.example"})});
  EXPECT_EQ(table.Find("a.example"), 0U);
  EXPECT_EQ(table.Find("WWW.a.Example.:8080"), 0U);
  EXPECT_EQ(table.Find("x.y.b.example"), 1U);
  EXPECT_EQ(table.Find("b.example"), std::nullopt);
  EXPECT_EQ(table.Find(""), std::nullopt);
  ASSERT_EQ(table.All().size(), 2U);
  EXPECT_EQ(table.All()[1]->Options().names.front(), "*.b.example");
}

TEST(SiteTableTest, TheDefaultHasTheHostsOfNoSite) {
  const SiteTable table({Named({"a.example"}), Default({"b.example"}), Named({"c.example"})});
  EXPECT_EQ(table.Find("a.example"), 0U);
  EXPECT_EQ(table.Find("b.example"), 1U);
  EXPECT_EQ(table.Find("c.example"), 2U);
  EXPECT_EQ(table.Find("d.example"), 1U);
  EXPECT_EQ(table.Find(""), 1U);
}

TEST(SiteTableTest, TheDefaultNeedsNoName) {
  EXPECT_EQ(SiteTable({Default()}).Find("a.example"), 0U);
}

TEST(SiteTableTest, ThereIsOneDefault) {
  EXPECT_EQ(Refusal({Default(), Named({"a.example"}), Default({"b.example"})}),
            "two sites are the default");
}

TEST(SiteTableTest, ANameBelongsToOneSite) {
  EXPECT_NE(Refusal({Named({"a.example"}), Named({"b.example", "a.example"})}).find("a.example"),
            std::string::npos);
  EXPECT_NE(Refusal({Named({"*.a.example", "*.a.example"})}).find("*.a.example"),
            std::string::npos);
  EXPECT_EQ(Refusal({Named({"a.example"}), Named({"*.a.example"})}), "");
}

TEST(SiteTableTest, ASiteThatNoRequestCanReachIsRefused) {
  EXPECT_EQ(Refusal({Named({"a.example"}), Named({})}), "site 1: it has no name");
}

TEST(SiteTableTest, AnInvalidNameIsNamed) {
  EXPECT_NE(Refusal({Named({"A.example"})}).find("\"A.example\""), std::string::npos);
  EXPECT_NE(Refusal({Named({""})}).find("\"\""), std::string::npos);
}

TEST(SiteTableTest, AnInvalidSiteIsNamed) {
  SiteOptions options = Named({"a.example"});
  options.error_pages.push_back({200, "", "x"});
  EXPECT_NE(Refusal({Named({"b.example"}), options}).find("site a.example"), std::string::npos);
}

TEST(SiteTableTest, ATableWithoutSitesHasNone) {
  EXPECT_EQ(SiteTable(SitesOptions()).Find("a.example"), std::nullopt);
}

}  // namespace
}  // namespace TURTLE_SERVER
