// Which site a host belongs to, whatever bytes the host has.
#include "sites/host_table.h"

#include <gtest/gtest.h>

#include <cstddef>
#include <ctime>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>

#include "support/counting_new.h"

namespace TURTLE_SERVER {
namespace {

constexpr std::string_view kNul("\0", 1);

auto TableOf(std::initializer_list<const char*> names) -> HostTable {
  HostTable table;
  std::size_t site = 0;
  for (const char* name : names) {
    table.Add(name, site++);
  }
  return table;
}

// Returns a name of `size` bytes, in labels of at most 63.
auto NameOf(std::size_t size) -> std::string {
  std::string name(size, 'a');
  for (std::size_t at = 63; at + 1 < size; at += 64) {
    name[at] = '.';
  }
  return name;
}

auto Repeated(std::string_view part, std::size_t times) -> std::string {
  std::string text;
  for (std::size_t i = 0; i < times; ++i) {
    text += part;
  }
  return text;
}

auto ReasonAgainst(HostTable& table, const std::string& name) -> std::string {
  try {
    table.Add(name, 99);
  } catch (const std::invalid_argument& error) {
    return error.what();
  }
  return "none";
}

auto CpuSeconds() -> double {
  timespec time{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_nsec) / 1e9;
}

TEST(HostTableIsNameTest, NamesAndAddressesAndPatterns) {
  for (const char* name : {"example.org", "localhost", "a", "0", "xn--caf-dma.example", "a-b.c-d",
                           "_acme.example.org", "127.0.0.1", "[::1]", "[2001:db8::1]",
                           "[::ffff:192.0.2.1]", "[v1.a]", "*.example.org", "*.a", "*.a.b.c.d"}) {
    EXPECT_TRUE(HostTable::IsName(name)) << name;
  }
}

TEST(HostTableIsNameTest, NothingElseIsOne) {
  for (const char* text : {"",
                           ".",
                           "..",
                           "*",
                           "*.",
                           "*..",
                           "**.org",
                           "*.*",
                           "*.*.org",
                           "a.*.org",
                           "*a.org",
                           "a*",
                           "*example.org",
                           "example.org.",
                           "*.example.org.",
                           ".example.org",
                           "a..b",
                           "*..org",
                           "Example.org",
                           "example.orG",
                           "*.Example.org",
                           "example.org:80",
                           ":80",
                           "a b",
                           " a",
                           "a ",
                           "a/b",
                           "a@b",
                           "a%41",
                           "caf\xc3\xa9.org",
                           "\xff",
                           "-a.org",
                           "a-.org",
                           "a.-b",
                           "a.b-",
                           "-",
                           "a\r\n",
                           "a\tb",
                           "a,b",
                           "a;b",
                           "http://a",
                           "?"}) {
    EXPECT_FALSE(HostTable::IsName(text)) << text;
  }
}

TEST(HostTableIsNameTest, BracketsHoldAnIpv6AddressInLowerCase) {
  for (const char* text : {"[",
                           "]",
                           "[]",
                           "[]]",
                           "[[::1]]",
                           "[::1",
                           "::1]",
                           "::1",
                           "[::1]:80",
                           "[::1].",
                           "[::1]x",
                           "[::1]:80]",
                           "[127.0.0.1]",
                           "[example.org]",
                           "[::1::]",
                           "[::g]",
                           "[fe80::1%25eth0]",
                           "[FE80::1]",
                           "[fe80::A]",
                           "[V1.a]",
                           "*.[::1]",
                           "[*.::1]",
                           "x[::1]"}) {
    EXPECT_FALSE(HostTable::IsName(text)) << text;
  }
}

TEST(HostTableIsNameTest, ANulByteIsNoPartOfAName) {
  EXPECT_FALSE(HostTable::IsName(kNul));
  EXPECT_FALSE(HostTable::IsName(std::string("a").append(kNul)));
  EXPECT_FALSE(HostTable::IsName(std::string("a").append(kNul).append(".org")));
  EXPECT_FALSE(HostTable::IsName(std::string("*.").append(kNul)));
  EXPECT_FALSE(HostTable::IsName(std::string("[::1").append(kNul).append("]")));
}

TEST(HostTableIsNameTest, AnyOtherByteIsRefusedInTheMiddleOfALabel) {
  constexpr std::string_view kPlain = "abcdefghijklmnopqrstuvwxyz0123456789-_.";
  for (int byte = 0; byte < 256; ++byte) {
    const std::string name{'a', static_cast<char>(byte), 'b'};
    EXPECT_EQ(HostTable::IsName(name), kPlain.find(name[1]) != std::string_view::npos) << byte;
  }
}

TEST(HostTableIsNameTest, ANameHasAtMost253BytesAndALabel63) {
  EXPECT_TRUE(HostTable::IsName(NameOf(253)));
  EXPECT_FALSE(HostTable::IsName(NameOf(254)));
  EXPECT_TRUE(HostTable::IsName("*." + NameOf(251)));
  EXPECT_FALSE(HostTable::IsName("*." + NameOf(252)));
  EXPECT_TRUE(HostTable::IsName(std::string(63, 'a')));
  EXPECT_FALSE(HostTable::IsName(std::string(64, 'a')));
  EXPECT_FALSE(HostTable::IsName("a." + std::string(64, 'a')));
  EXPECT_FALSE(HostTable::IsName(std::string(64, 'a') + ".org"));
  EXPECT_FALSE(HostTable::IsName(std::string(100'000, '.')));
}

TEST(HostTableTest, AnEmptyTableHasNoSite) {
  const HostTable table;
  for (const char* host : {"", "example.org", ".", "[::1]"}) {
    EXPECT_EQ(table.Find(host), std::nullopt) << host;
  }
}

TEST(HostTableTest, AHostIsFoundInAnyCaseWithAnyPortAndADotAtItsEnd) {
  const HostTable table = TableOf({"example.org", "other.example"});
  for (const char* host : {"example.org", "EXAMPLE.org", "eXaMpLe.OrG", "example.org:80",
                           "example.org:", "example.org:65535", "example.org.", "example.org.:8080",
                           "EXAMPLE.ORG.:443"}) {
    EXPECT_EQ(table.Find(host), 0U) << host;
  }
  EXPECT_EQ(table.Find("other.example:1"), 1U);
}

TEST(HostTableTest, AHostThatOnlyLooksLikeANameIsAnother) {
  const HostTable table = TableOf({"example.org"});
  for (const char* host :
       {"", ":80", ".", "..", "example", "example.or", "example.orgs", "www.example.org",
        "example.org..", ".example.org", "example.org/", " example.org", "example.org ",
        "example,org", "example.org]", "[example.org]", "user@example.org", "ex%61mple.org"}) {
    EXPECT_EQ(table.Find(host), std::nullopt) << host;
  }
  EXPECT_EQ(table.Find(std::string("example.org").append(kNul)), std::nullopt);
  EXPECT_EQ(table.Find(std::string("example").append(kNul).append(".org")), std::nullopt);
  EXPECT_EQ(table.Find(kNul), std::nullopt);
}

// 'A' to 'Z' differ from 'a' to 'z' by one bit; so do other bytes, and those are different hosts.
TEST(HostTableTest, OnlyLettersHaveACase) {
  const HostTable table = TableOf({"a_b", "0", "z-z"});
  EXPECT_EQ(table.Find("A_B"), 0U);
  EXPECT_EQ(table.Find("a\x7f"
                       "b"),
            std::nullopt);
  EXPECT_EQ(table.Find("\x10"), std::nullopt);
  EXPECT_EQ(table.Find("z\rz"), std::nullopt);
  EXPECT_EQ(table.Find("Z-Z"), 2U);
}

TEST(HostTableTest, TheColonsOfAnAddressBeginNoPort) {
  const HostTable table = TableOf({"[::1]", "[2001:db8::1]", "127.0.0.1"});
  EXPECT_EQ(table.Find("[::1]"), 0U);
  EXPECT_EQ(table.Find("[::1]:8080"), 0U);
  EXPECT_EQ(table.Find("[::1]:"), 0U);
  EXPECT_EQ(table.Find("[2001:DB8::1]:443"), 1U);
  EXPECT_EQ(table.Find("127.0.0.1:80"), 2U);
  for (const char* host : {"::1", "[::1", "::1]", "[::2]", "[", "]", "]:80", "[]", "[]:80",
                           "[:", "]]]]", "[::1]x", "2001:db8::1", "[127.0.0.1]", "127.0.0.10"}) {
    EXPECT_EQ(table.Find(host), std::nullopt) << host;
  }
}

TEST(HostTableTest, AddressesAreComparedAsText) {
  const HostTable table = TableOf({"[::1]", "127.0.0.1"});
  EXPECT_EQ(table.Find("[0:0:0:0:0:0:0:1]"), std::nullopt);
  EXPECT_EQ(table.Find("127.1"), std::nullopt);
}

TEST(HostTableTest, APatternHasAllNamesBelowButNotItsOwn) {
  const HostTable table = TableOf({"*.example.org"});
  for (const char* host : {"www.example.org", "a.b.example.org", "WWW.Example.Org:80",
                           "a.b.c.d.e.example.org.", "xn--a.example.org"}) {
    EXPECT_EQ(table.Find(host), 0U) << host;
  }
  for (const char* host :
       {"example.org", "example.org.", "wwwexample.org", "www.example.org.evil.com", "org",
        "www.example.com", "www.example.orgs", "www.example"}) {
    EXPECT_EQ(table.Find(host), std::nullopt) << host;
  }
}

TEST(HostTableTest, AnEmptyLabelIsInNoName) {
  const HostTable table = TableOf({"*.example.org", "*.org"});
  for (const char* host : {".example.org", ".org", "..org", "a..example.org", "..example.org",
                           "a..org", ".a.org", "a.org..", ".example.org:80"}) {
    EXPECT_EQ(table.Find(host), std::nullopt) << host;
  }
}

TEST(HostTableTest, ANameWinsOverAPatternAndTheLongerPatternWins) {
  for (const bool reversed : {false, true}) {
    const HostTable table = reversed ? TableOf({"*.org", "*.example.org", "a.example.org"})
                                     : TableOf({"a.example.org", "*.example.org", "*.org"});
    const std::size_t name = reversed ? 2 : 0;
    const std::size_t any = reversed ? 0 : 2;
    EXPECT_EQ(table.Find("a.example.org"), name);
    EXPECT_EQ(table.Find("b.example.org"), 1U);
    EXPECT_EQ(table.Find("a.b.example.org"), 1U);
    EXPECT_EQ(table.Find("b.a.example.org"), 1U);
    EXPECT_EQ(table.Find("example.org"), any);
    EXPECT_EQ(table.Find("a.b.org"), any);
    EXPECT_EQ(table.Find("org"), std::nullopt);
  }
}

TEST(HostTableTest, TheLongestHostIsFoundAndALongerOneIsNot) {
  HostTable table;
  table.Add(NameOf(253), 0);
  table.Add("*.b", 1);
  EXPECT_EQ(table.Find(NameOf(253)), 0U);
  EXPECT_EQ(table.Find(NameOf(253) + ".:65535"), 0U);
  EXPECT_EQ(table.Find(NameOf(254)), std::nullopt);
  EXPECT_EQ(table.Find(NameOf(251) + ".b"), 1U);
  EXPECT_EQ(table.Find(NameOf(252) + ".b"), std::nullopt);
  EXPECT_EQ(table.Find(std::string(1'000'000, 'a') + ".b"), std::nullopt);
}

TEST(HostTableTest, AddRefusesWhatIsNoNameAndQuotesIt) {
  HostTable table;
  for (const char* name :
       {"", "*.", "*", "Example.org", "example.org.", "example.org:80", "a..b"}) {
    const std::string reason = ReasonAgainst(table, name);
    EXPECT_NE(reason.find(std::string("\"") + name + '"'), std::string::npos) << reason;
    EXPECT_EQ(table.Find(name), std::nullopt) << name;
  }
}

TEST(HostTableTest, AddRefusesASecondSiteOfANameAndKeepsTheFirst) {
  HostTable table = TableOf({"example.org", "*.example.org", "[::1]"});
  for (const char* name : {"example.org", "*.example.org", "[::1]"}) {
    const std::string reason = ReasonAgainst(table, name);
    EXPECT_NE(reason.find(std::string("\"") + name + '"'), std::string::npos) << reason;
  }
  EXPECT_EQ(table.Find("example.org"), 0U);
  EXPECT_EQ(table.Find("a.example.org"), 1U);
  EXPECT_EQ(table.Find("[::1]"), 2U);
}

TEST(HostTableTest, TwoNamesMayHaveOneSite) {
  HostTable table;
  table.Add("example.org", 7);
  table.Add("*.example.org", 7);
  EXPECT_EQ(table.Find("example.org"), 7U);
  EXPECT_EQ(table.Find("www.example.org"), 7U);
}

TEST(HostTableTest, FindAllocatesNothing) {
  const HostTable table = TableOf({"example.org", "*.example.org", "[::1]"});
  const std::string hosts[] = {"A.RATHER.LONG.NAME.OF.A.HOST.EXAMPLE.ORG:8080",
                               "example.org",
                               NameOf(253),
                               NameOf(1000),
                               Repeated(".", 250),
                               "[::1]:80"};
  std::size_t found = 0;
  test::counts_allocations = true;
  for (const std::string& host : hosts) {
    found += table.Find(host) ? 1 : 0;
  }
  test::counts_allocations = false;
  EXPECT_EQ(test::allocations, 0U);
  EXPECT_EQ(found, 3U);
}

// A host without labels, one that is looked up at each of its dots, and one that is too long.
TEST(HostTableTest, ManyDotsAreCheap) {
  HostTable table = TableOf({"*.z"});
  for (int i = 0; i < 1000; ++i) {
    table.Add("*.a.s" + std::to_string(i), 1);
  }
  const std::string hosts[] = {Repeated(".", 250), Repeated("a.", 125) + "b", Repeated("a.", 5000)};
  std::size_t found = 0;
  const double start = CpuSeconds();
  for (int i = 0; i < 1000; ++i) {
    for (const std::string& host : hosts) {
      found += table.Find(host) ? 1 : 0;
    }
  }
  EXPECT_EQ(found, 0U);
  EXPECT_LT(CpuSeconds() - start, 10.0);  // it takes a fraction of a second
  EXPECT_EQ(table.Find(Repeated("a.", 125) + "z"), 0U);
}

}  // namespace
}  // namespace TURTLE_SERVER
