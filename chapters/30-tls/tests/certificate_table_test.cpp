// The choice of certificates by the name that a client asks for.
#include "tls/certificate_table.h"

#include <gtest/gtest.h>

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "support/counting_new.h"

namespace TURTLE_SERVER {
namespace {

using Group = CertificateTable::Group;
using Groups = std::vector<Group>;

// Returns the certificates for a host.
auto For(const CertificateTable& table, std::string_view host) -> Group {
  return table.Groups().at(table.Find(host));
}

// Returns a name of `size` bytes, at least 6, that ends in ".a.org".
auto NameOf(std::size_t size) -> std::string { return std::string(size - 6, 'x') + ".a.org"; }

// --- names --------------------------------------------------------------------------------------

TEST(CertificateTableTest, ANameChoosesItsCertificate) {
  const CertificateTable table({{"a.org"}, {"b.org", "c.org"}});
  EXPECT_EQ(For(table, "a.org"), Group{0});
  EXPECT_EQ(For(table, "b.org"), Group{1});
  EXPECT_EQ(For(table, "c.org"), Group{1});
}

TEST(CertificateTableTest, TheFirstIsForAllOtherNames) {
  const CertificateTable table({{"a.org"}, {"b.org"}, {"*.c.org"}});
  for (const std::string_view host : {"", "d.org", "org", "xb.org", "b.org.", "www.b.org", "c.org",
                                      ".c.org", ".", "*", "b", "127.0.0.1"}) {
    EXPECT_EQ(table.Find(host), 0U) << host;
  }
  EXPECT_EQ(table.Groups().front(), Group{0});
}

TEST(CertificateTableTest, TheCaseOfTheHostDoesNotMatter) {
  const CertificateTable table({{"a.org"}, {"b-1.org"}, {"*.c.org"}});
  EXPECT_EQ(For(table, "B-1.Org"), Group{1});
  EXPECT_EQ(For(table, "WWW.C.ORG"), Group{2});
}

TEST(CertificateTableTest, AHostMayHaveASingleLabel) {
  const CertificateTable table({{"a.org"}, {"localhost"}});
  EXPECT_EQ(For(table, "localhost"), Group{1});
  EXPECT_EQ(For(table, "localhos"), Group{0});
}

TEST(CertificateTableTest, ACertificateWithoutANameIsOnlyForAllOtherNames) {
  const CertificateTable first({{}, {"b.org"}});
  EXPECT_EQ(For(first, "x.org"), Group{0});
  EXPECT_EQ(For(first, ""), Group{0});
  EXPECT_EQ(For(first, "b.org"), Group{1});
  const CertificateTable second({{"a.org"}, {}});
  EXPECT_EQ(second.Groups(), Groups{{0}});
  const CertificateTable alone(std::vector<std::vector<std::string>>(1));
  EXPECT_EQ(alone.Groups(), Groups{{0}});
  EXPECT_EQ(alone.Find("x.org"), 0U);
}

// RFC 1035, section 2.3.4.
TEST(CertificateTableTest, TheLongestNameHas253Bytes) {
  const CertificateTable table({{"b.org"}, {NameOf(253), NameOf(254)}, {"*.a.org"}});
  EXPECT_EQ(For(table, NameOf(253)), (Group{1, 2}));
  EXPECT_EQ(For(table, NameOf(252)), Group{2});
  EXPECT_EQ(For(table, NameOf(254)), Group{0});
  EXPECT_EQ(For(table, std::string(100'000, 'x')), Group{0});
}

// --- patterns -----------------------------------------------------------------------------------

TEST(CertificateTableTest, APatternStandsForOneLabel) {
  const CertificateTable table({{"b.org"}, {"*.a.org"}});
  EXPECT_EQ(For(table, "www.a.org"), Group{1});
  EXPECT_EQ(For(table, "x.a.org"), Group{1});
  EXPECT_EQ(For(table, "a.org"), Group{0});
  EXPECT_EQ(For(table, ".a.org"), Group{0});
  EXPECT_EQ(For(table, "x.www.a.org"), Group{0});
  EXPECT_EQ(For(table, "wwwa.org"), Group{0});
}

TEST(CertificateTableTest, TheNearestPatternCounts) {
  const CertificateTable table({{"c.org"}, {"*.a.org"}, {"*.b.a.org"}});
  EXPECT_EQ(For(table, "x.a.org"), Group{1});
  EXPECT_EQ(For(table, "b.a.org"), Group{1});
  EXPECT_EQ(For(table, "x.b.a.org"), Group{2});
}

TEST(CertificateTableTest, APatternIsNotForANameWhoseFirstLabelIsEmpty) {
  const CertificateTable table({{"b.org"}, {".a.org"}, {"*.a.org"}});
  EXPECT_EQ(For(table, ".a.org"), Group{1});
}

TEST(CertificateTableTest, APatternIsNoNameOfOneLabel) {
  const CertificateTable table({{"a.org"}, {"*"}});
  EXPECT_EQ(For(table, "localhost"), Group{0});
  EXPECT_EQ(For(table, "*"), Group{0});
}

// --- groups -------------------------------------------------------------------------------------

TEST(CertificateTableTest, CertificatesOfTheSameNameAreAGroup) {
  const CertificateTable table({{"b.org"}, {"a.org"}, {"c.org"}, {"a.org"}});
  EXPECT_EQ(For(table, "a.org"), (Group{1, 3}));
  EXPECT_EQ(For(table, "b.org"), Group{0});
  EXPECT_EQ(For(table, "c.org"), Group{2});
}

TEST(CertificateTableTest, CertificatesOfTheSamePatternAreAGroup) {
  const CertificateTable table({{"b.org"}, {"*.a.org"}, {"*.a.org"}});
  EXPECT_EQ(For(table, "www.a.org"), (Group{1, 2}));
}

TEST(CertificateTableTest, APatternCountsForANameThatAnotherCertificateHas) {
  const CertificateTable table({{"*.a.org"}, {"www.a.org", "a.org"}, {"*.a.org"}});
  EXPECT_EQ(For(table, "www.a.org"), (Group{0, 1, 2}));
  EXPECT_EQ(For(table, "x.a.org"), (Group{0, 2}));
  EXPECT_EQ(For(table, "a.org"), Group{1});
}

TEST(CertificateTableTest, ACertificateWithTheNameAndThePatternCountsOnce) {
  const CertificateTable table({{"www.a.org", "*.a.org"}, {"www.a.org"}});
  EXPECT_EQ(For(table, "www.a.org"), (Group{0, 1}));
  EXPECT_EQ(For(table, "x.a.org"), Group{0});
}

TEST(CertificateTableTest, ANameThatACertificateHasTwiceCountsOnce) {
  const CertificateTable table({{"b.org"}, {"a.org", "a.org"}, {"a.org"}});
  EXPECT_EQ(For(table, "a.org"), (Group{1, 2}));
}

TEST(CertificateTableTest, TheFirstGroupIsThatOfTheFirstName) {
  const CertificateTable named({{"a.org", "b.org"}, {"b.org"}, {"a.org"}});
  EXPECT_EQ(named.Groups().front(), (Group{0, 2}));
  EXPECT_EQ(For(named, "other.org"), (Group{0, 2}));
  EXPECT_EQ(For(named, "b.org"), (Group{0, 1}));
  const CertificateTable pattern({{"*.a.org"}, {"www.a.org"}, {"*.a.org"}});
  EXPECT_EQ(For(pattern, "other.org"), (Group{0, 2}));
  const CertificateTable both({{"www.a.org"}, {"*.a.org"}});
  EXPECT_EQ(For(both, "other.org"), (Group{0, 1}));
}

TEST(CertificateTableTest, EachGroupIsThereOnce) {
  const CertificateTable table(
      {{"a.org", "*.a.org"}, {"b.org", "www.b.org", "c.org"}, {"c.org", "*.a.org"}});
  EXPECT_EQ(table.Groups(), (Groups{{0}, {0, 2}, {1}, {1, 2}}));
  EXPECT_EQ(table.Find("b.org"), table.Find("www.b.org"));
}

// --- memory -------------------------------------------------------------------------------------

TEST(CertificateTableTest, FindingAllocatesNothing) {
  const std::string longest = NameOf(253);
  const CertificateTable table({{"a.org"}, {"*." + NameOf(100)}, {longest}});
  const std::string under_pattern = "www." + NameOf(100);
  ASSERT_EQ(For(table, under_pattern), Group{1});
  test::counts_allocations = true;
  const std::size_t before = test::allocations;
  for (const std::string_view host : {std::string_view("A.org"), std::string_view(under_pattern),
                                      std::string_view(longest), std::string_view("x.b.org")}) {
    static_cast<void>(table.Find(host));
  }
  EXPECT_EQ(test::allocations, before);
  test::counts_allocations = false;
}

}  // namespace
}  // namespace TURTLE_SERVER
