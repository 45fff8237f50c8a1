#include "http/negotiate.h"

#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <vector>

namespace TURTLE_SERVER {
namespace {

constexpr std::string_view kHtml = "text/html";
constexpr std::string_view kPlain = "text/plain";
constexpr std::string_view kJson = "application/json";

// The type that is chosen for these Accept fields; "none".
auto Chosen(const std::vector<std::string_view>& accepts,
            const std::vector<std::string_view>& offers = {kHtml, kPlain, kJson}) -> std::string {
  Headers fields;
  fields.Add("Accept-Language", "de");
  for (const std::string_view accept : accepts) {
    fields.Add("Accept", accept);
  }
  const auto index = Negotiate(fields, offers);
  return index ? std::string(offers.at(*index)) : "none";
}

auto ChosenOf(std::string_view accept) -> std::string {
  return Chosen(std::vector<std::string_view>{accept});
}

TEST(NegotiateTest, WhoSaysNothingGetsTheFirst) {
  EXPECT_EQ(Chosen({}), kHtml);
  EXPECT_EQ(ChosenOf(""), kHtml);
  EXPECT_EQ(ChosenOf(" , ,"), kHtml);
}

TEST(NegotiateTest, WhatIsAskedFor) {
  EXPECT_EQ(ChosenOf("application/json"), kJson);
  EXPECT_EQ(ChosenOf("text/plain"), kPlain);
  EXPECT_EQ(ChosenOf("text/*"), kHtml);
  EXPECT_EQ(ChosenOf("*/*"), kHtml);
  EXPECT_EQ(ChosenOf("image/png"), "none");
  EXPECT_EQ(ChosenOf("image/*"), "none");
  EXPECT_EQ(ChosenOf("text/html5"), "none");
  EXPECT_EQ(ChosenOf("tex/*"), "none");
  EXPECT_EQ(ChosenOf("image/png, application/json"), kJson);
}

TEST(NegotiateTest, OfEqualsTheServersFirst) {
  EXPECT_EQ(ChosenOf("application/json, text/plain, text/html"), kHtml);
  EXPECT_EQ(ChosenOf("application/json;q=0.5, text/plain;q=0.5"), kPlain);
  EXPECT_EQ(ChosenOf("application/json;q=0.50, text/plain;q=0.500"), kPlain);
}

TEST(NegotiateTest, TheHighestQuality) {
  EXPECT_EQ(ChosenOf("text/html;q=0.5, application/json"), kJson);
  EXPECT_EQ(ChosenOf("text/html;q=0.5, application/json;q=0.501"), kJson);
  EXPECT_EQ(ChosenOf("text/html;q=0.9, application/json;q=1."), kJson);
  EXPECT_EQ(ChosenOf("text/html;q=0.9, application/json;q=1.000"), kJson);
  EXPECT_EQ(ChosenOf("text/html;q=0.09, application/json;q=0.1"), kJson);
  EXPECT_EQ(ChosenOf("text/html;q=0.001, text/plain;q=0"), kHtml);
}

TEST(NegotiateTest, ZeroIsNotAtAll) {
  EXPECT_EQ(ChosenOf("text/html;q=0, */*"), kPlain);
  EXPECT_EQ(ChosenOf("text/*;q=0.000, */*;q=0.1"), kJson);
  EXPECT_EQ(ChosenOf("text/html;q=0."), "none");
  EXPECT_EQ(ChosenOf("*/*;q=0"), "none");
  EXPECT_EQ(ChosenOf("*/*;q=0, text/plain"), kPlain);
}

TEST(NegotiateTest, TheMostSpecificCountsWhereverItStands) {
  EXPECT_EQ(ChosenOf("text/html;q=0.1, text/*;q=0.9, */*;q=0.5"), kPlain);
  EXPECT_EQ(ChosenOf("*/*;q=0.5, text/*;q=0.9, text/html;q=0.1"), kPlain);
  EXPECT_EQ(ChosenOf("*/*, text/*;q=0.2"), kJson);
  EXPECT_EQ(ChosenOf("text/html;q=0.1, text/html;q=0.7, text/plain;q=0.5"), kHtml);
  EXPECT_EQ(ChosenOf("text/html;q=0.7, text/html;q=0.1, text/plain;q=0.5"), kHtml);
}

TEST(NegotiateTest, ParametersFitNoOffer) {
  EXPECT_EQ(ChosenOf("text/html;level=1, application/json;q=0.1"), kJson);
  EXPECT_EQ(ChosenOf("text/html;level=1"), "none");
  EXPECT_EQ(ChosenOf("text/html;level=1, text/html;q=0.3, */*;q=0.2"), kHtml);
  EXPECT_EQ(ChosenOf("text/html;q=1;level=1, */*;q=0.2, text/plain;q=0.3"), kPlain);
  EXPECT_EQ(ChosenOf("text/html ; , application/json;q=0.1"), kHtml) << "an empty one is none";
}

TEST(NegotiateTest, ACommaWithinQuotesIsNoEnd) {
  EXPECT_EQ(ChosenOf(R"(text/html;a="b, text/plain, c";q=0.5, application/json;q=0.1)"), kJson);
  EXPECT_EQ(ChosenOf(R"(image/png;a="\", text/plain;q=1, \\", application/json;q=0.1)"), kJson);
  EXPECT_EQ(ChosenOf(R"(image/png;a=";q=1", application/json;q=0.1)"), kJson);
}

TEST(NegotiateTest, CaseAndBlanks) {
  EXPECT_EQ(ChosenOf("TEXT/HTML;Q=0.5, Application/JSON"), kJson);
  EXPECT_EQ(ChosenOf("\ttext/plain ; q=0.5 ,application/json\t;\tq=0.4 "), kPlain);
  EXPECT_EQ(Chosen({"application/json"}, {"TEXT/HTML", "Application/Json"}), "Application/Json");
}

TEST(NegotiateTest, SeveralFieldsAreOne) {
  EXPECT_EQ(Chosen({"text/html;q=0.3", "", "application/json;q=0.4, text/plain"}), kPlain);
  EXPECT_EQ(Chosen({"image/png", "application/json"}), kJson);
}

TEST(NegotiateTest, WhatIsMalformedIsPassedOver) {
  for (const std::string_view bad : {"text",
                                     "text/",
                                     "/html",
                                     "/",
                                     "*",
                                     "*/html",
                                     "text html",
                                     "text/html/x",
                                     "te xt/html",
                                     "text/ html",
                                     "text /html",
                                     "text/html;q=2",
                                     "text/html;q=1.1",
                                     "text/html;q=1.001",
                                     "text/html;q=-1",
                                     "text/html;q=.5",
                                     "text/html;q=0.1234",
                                     "text/html;q=0,5",
                                     "text/html;q=",
                                     "text/html;q",
                                     "text/html;q=x",
                                     "text/html;q= 1",
                                     "text/html;q =1",
                                     "text/html;q=00.5",
                                     "text/html;q=1e0",
                                     "text/html;=1",
                                     "text/html;a=\"",
                                     "text/html;q=0.9;q=0.8x",
                                     "text/html x",
                                     "text/html;q=\"1\" x"}) {
    EXPECT_EQ(ChosenOf(std::string("text/plain;q=0.2, ") + std::string(bad)), kPlain) << bad;
  }
  EXPECT_EQ(ChosenOf("text"), kHtml) << "as if nothing had been said";
}

TEST(NegotiateTest, WithoutAnOffer) { EXPECT_EQ(Chosen({"*/*"}, {}), "none"); }

}  // namespace
}  // namespace TURTLE_SERVER
