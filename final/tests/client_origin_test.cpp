// Which address and which scheme a request of a trusted proxy has.
#include "web/client_origin.h"

#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

namespace TURTLE_SERVER {
namespace {

using Fields = std::vector<std::pair<std::string, std::string>>;

auto Origin(const Fields& fields) -> ClientOrigin {
  Headers headers;
  for (const auto& [name, value] : fields) {
    headers.Add(name, value);
  }
  return OriginOf(headers, CidrSet({"10.0.0.0/8", "2001:db8:1::/48"}));
}

// Returns "192.0.2.7:0 https", "- http", "- -".
auto TextOf(const ClientOrigin& origin) -> std::string {
  const std::string scheme = !origin.is_secure ? "-" : *origin.is_secure ? "https" : "http";
  return (origin.address ? origin.address->ToString() : "-") + " " + scheme;
}

auto Forwarded(const std::string& value) -> std::string {
  return TextOf(Origin({{"Forwarded", value}}));
}

auto ForwardedFor(const std::string& value) -> std::string {
  return TextOf(Origin({{"X-Forwarded-For", value}}));
}

TEST(ClientOriginTest, TheLastAddressThatIsNoProxysIsTheClient) {
  EXPECT_EQ(ForwardedFor("192.0.2.7"), "192.0.2.7:0 -");
  EXPECT_EQ(ForwardedFor("198.51.100.1, 192.0.2.7, 10.0.0.1, 2001:db8:1::5"), "192.0.2.7:0 -");
  EXPECT_EQ(ForwardedFor("2001:db8:2::7, ::ffff:10.1.2.3"), "[2001:db8:2::7]:0 -");
  EXPECT_EQ(Forwarded(R"(for=198.51.100.1, for="[2001:db8:2::7]:4711", for=10.0.0.1)"),
            "[2001:db8:2::7]:4711 -");
  EXPECT_EQ(Forwarded("for=\"192.0.2.7:4711\""), "192.0.2.7:4711 -");
}

TEST(ClientOriginTest, OfTrustedAddressesAloneItIsTheFirst) {
  EXPECT_EQ(ForwardedFor("10.0.0.3, 10.0.0.2"), "10.0.0.3:0 -");
  EXPECT_EQ(Forwarded("for=10.0.0.3, for=10.0.0.2"), "10.0.0.3:0 -");
}

TEST(ClientOriginTest, AClientsOwnPartIsNotRead) {
  for (const char* start : {"evil", "for=\"", "for=1.1.1.1", "unknown", "\"", ",,,", "10.0.0.9"}) {
    EXPECT_EQ(ForwardedFor(start + std::string(", 192.0.2.7")), "192.0.2.7:0 -") << start;
    EXPECT_EQ(Forwarded(start + std::string(", for=192.0.2.7")), "192.0.2.7:0 -") << start;
  }
}

TEST(ClientOriginTest, AMissingOrMalformedListNamesNobody) {
  EXPECT_EQ(TextOf(Origin({})), "- -");
  EXPECT_EQ(TextOf(Origin({{"X-Real-IP", "192.0.2.7"}})), "- -");
  for (const char* list :
       {"", ",", "localhost", "192.0.2.256", "192.0.2.7, x", "192.0.2.7 10.0.0.1", "x, 10.0.0.1",
        "[192.0.2.7]", "192.0.2.7:99999", "fe80::1%eth0"}) {
    EXPECT_EQ(ForwardedFor(list), "- -") << list;
  }
  for (const char* list : {"", "192.0.2.7", "for=x", "for=192.0.2.7;for=192.0.2.7",
                           "for=192.0.2.7, proto", "by=192.0.2.7", "\", for=10.0.0.1"}) {
    EXPECT_EQ(Forwarded(list), "- -") << list;
  }
  EXPECT_EQ(TextOf(Origin({{"Forwarded", "x"}, {"X-Forwarded-For", "192.0.2.7"}})), "- -");
}

TEST(ClientOriginTest, AHiddenClientIsNobodyElse) {
  for (const char* hidden : {"unknown", "_gateway", "_a:_b"}) {
    EXPECT_EQ(ForwardedFor("192.0.2.7, " + std::string(hidden)), "- -") << hidden;
    EXPECT_EQ(Forwarded("for=192.0.2.7, for=\"" + std::string(hidden) + "\";proto=https"),
              "- https")
        << hidden;
  }
}

TEST(ClientOriginTest, TheSchemeIsThatOfTheClientsElement) {
  EXPECT_EQ(Forwarded("for=192.0.2.7;proto=https, for=10.0.0.1;proto=http"), "192.0.2.7:0 https");
  EXPECT_EQ(Forwarded("for=1.1.1.1;proto=https, for=192.0.2.7;proto=http"), "192.0.2.7:0 http");
  EXPECT_EQ(Forwarded("for=1.1.1.1;proto=https, for=192.0.2.7"), "192.0.2.7:0 -");
  EXPECT_EQ(Forwarded("proto=HTTPS"), "- https");
  EXPECT_EQ(Forwarded("for=192.0.2.7;proto=wss"), "192.0.2.7:0 -");
  EXPECT_EQ(
      TextOf(Origin({{"Forwarded", "for=192.0.2.7;proto=http"}, {"X-Forwarded-Proto", "https"}})),
      "192.0.2.7:0 http");
}

TEST(ClientOriginTest, TheOlderFieldNamesTheSchemeToo) {
  EXPECT_EQ(TextOf(Origin({{"X-Forwarded-For", "192.0.2.7"}, {"X-Forwarded-Proto", "https"}})),
            "192.0.2.7:0 https");
  EXPECT_EQ(TextOf(Origin({{"X-Forwarded-Proto", "http"}})), "- http");
  EXPECT_EQ(TextOf(Origin({{"X-Forwarded-Proto", "https, http"}})), "- http");
  EXPECT_EQ(TextOf(Origin({{"X-Forwarded-Proto", "on"}})), "- -");
}

}  // namespace
}  // namespace TURTLE_SERVER
