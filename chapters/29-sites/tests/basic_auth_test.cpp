// The field Authorization, and the response that asks for it.
#include "sites/basic_auth.h"

#include <gtest/gtest.h>

#include <string>

#include "support/basic_login.h"

namespace TURTLE_SERVER {
namespace {

using test::Base64;

// Returns "name|password", or "none".
auto Parsed(const std::string& field) -> std::string {
  const auto login = BasicLogin::Parse(field);
  return login ? std::string(login->Name()) + "|" + std::string(login->Password()) : "none";
}

TEST(BasicAuthTest, TheNameEndsAtTheFirstColon) {
  EXPECT_EQ(Parsed("Basic QWxhZGRpbjpvcGVuIHNlc2FtZQ=="), "Aladdin|open sesame");  // RFC 7617
  EXPECT_EQ(Parsed("Basic dGVzdDoxMjPCow=="), "test|123\xC2\xA3");                 // there, too
  EXPECT_EQ(Parsed("Basic YTpiOmM="), "a|b:c");
  EXPECT_EQ(Parsed("Basic OnNlY3JldA=="), "|secret");
  EXPECT_EQ(Parsed("Basic YWxpY2U6"), "alice|");
  EXPECT_EQ(Parsed("Basic Og=="), "|");
  EXPECT_EQ(BasicLogin::Parse("Basic YTpiOmM=")->Text(), "a:b:c");
}

TEST(BasicAuthTest, TheSchemeHasAnyCase) {
  EXPECT_EQ(Parsed("basic YTpi"), "a|b");
  EXPECT_EQ(Parsed("BASIC   YTpi"), "a|b");
}

TEST(BasicAuthTest, AnythingElseIsRefused) {
  for (const std::string field :
       {"", "Basic", "Basic ", "BasicYTpi", "Basic\tYTpi", "Basi YTpi", "Bearer YTpi", "YTpi",
        "Digest username=\"a\"", "Basic YWxpY2U=", "Basic ====", "Basic =", "Basic YTpi YTpi",
        "Basic YTpi, Basic YTpi"}) {
    EXPECT_EQ(Parsed(field), "none") << field;
  }
}

TEST(BasicAuthTest, Base64HasOneSpelling) {
  EXPECT_EQ(Parsed("Basic YTpiYw=="), "a|bc");
  for (const std::string text :
       {"YTpiYw", "YTpiYw=", "YTpiYw===", "YTpiYx==", "YTpiY2=", "YTpiOmN=", "YTpi=", "YTp=i",
        "Y=pi", "YT-i", "YT_i", "YTp\n", "YTpi\xC3\xA4\xC3\xA4", "=TpiYw==", "YTpi===="}) {
    EXPECT_EQ(Parsed("Basic " + text), "none") << text;
  }
}

TEST(BasicAuthTest, EveryByteIsDecoded) {
  std::string password;
  for (int c = 0x20; c < 0x100; ++c) {
    password += c == 0x7f ? ' ' : static_cast<char>(c);
  }
  for (std::size_t cut = 0; cut < 3; ++cut) {
    const std::string part = password.substr(cut);
    EXPECT_EQ(Parsed("Basic " + Base64("a:" + part)), "a|" + part);
  }
}

TEST(BasicAuthTest, ControlCharactersAreRefused) {
  for (int c = 0; c < 0x100; ++c) {
    const bool control = c < 0x20 || c == 0x7f;
    const std::string password(1, static_cast<char>(c));
    EXPECT_EQ(Parsed("Basic " + Base64("a:" + password)), control ? "none" : "a|" + password) << c;
    EXPECT_EQ(Parsed("Basic " + Base64(password + "a:")) == "none", control) << c;
  }
}

TEST(BasicAuthTest, TheLengthIsLimited) {
  const std::string login = "Basic   YTpi";
  const auto field = [&login](std::size_t size) {
    std::string text = login;
    while (text.size() < size) {
      text += "YTpi";
    }
    return text;
  };
  EXPECT_NE(Parsed(field(BasicLogin::kMaxField)), "none");
  EXPECT_EQ(field(BasicLogin::kMaxField).size(), BasicLogin::kMaxField);
  EXPECT_EQ(Parsed(" " + field(BasicLogin::kMaxField)), "none");
  EXPECT_EQ(Parsed(field(BasicLogin::kMaxField + 1)), "none");
}

TEST(BasicAuthTest, OneFieldIsRead) {
  Headers fields;
  EXPECT_FALSE(BasicLogin::Of(fields).has_value());
  fields.Add("authorization", "Basic YTpi");
  ASSERT_TRUE(BasicLogin::Of(fields).has_value());
  EXPECT_EQ(BasicLogin::Of(fields)->Name(), "a");
  fields.Add("Authorization", "Basic YTpi");
  EXPECT_FALSE(BasicLogin::Of(fields).has_value());
}

TEST(BasicAuthTest, AChallengeNamesTheRealm) {
  const Response response = Challenge("the office");
  EXPECT_EQ(response.Status(), 401);
  EXPECT_EQ(response.Find("WWW-Authenticate"), "Basic realm=\"the office\", charset=\"UTF-8\"");
  EXPECT_EQ(response.Find("Cache-Control"), "no-store");
}

TEST(BasicAuthTest, ARealmIsPrintable) {
  for (const std::string& text : {std::string("office"), std::string("the office, 2nd floor"),
                                  std::string("~!"), std::string(128, 'x')}) {
    EXPECT_TRUE(IsRealm(text)) << text;
  }
  for (const std::string& text :
       {std::string(), std::string(" "), std::string(" a"), std::string("a "), std::string("a\"b"),
        std::string("a\\b"), std::string("a\tb"), std::string("a\r\nb"), std::string("a\x7f"),
        std::string("B\xC3\xBCro"), std::string(1, '\0'), std::string(129, 'x')}) {
    EXPECT_FALSE(IsRealm(text)) << text;
  }
}

}  // namespace
}  // namespace TURTLE_SERVER
