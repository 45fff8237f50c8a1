// The terms of compression.
#include "websocket/permessage_deflate.h"

#include <gtest/gtest.h>

namespace TURTLE_SERVER {
namespace {

auto All() -> DeflateOptions {
  DeflateOptions options;
  options.server_takeover = true;
  options.client_takeover = true;
  return options;
}

auto Answer(std::string_view offers, const DeflateOptions& options = All()) -> std::string {
  const auto terms = AgreeOnDeflate(offers, options);
  return terms ? TextOf(*terms) : "none";
}

TEST(PermessageDeflateTest, AgreesOnTheOffer) {
  EXPECT_EQ(Answer("permessage-deflate"), "permessage-deflate");
  EXPECT_EQ(Answer("Permessage-Deflate; client_max_window_bits"), "permessage-deflate");
  EXPECT_EQ(Answer("permessage-deflate; server_no_context_takeover"),
            "permessage-deflate; server_no_context_takeover");
  EXPECT_EQ(Answer("permessage-deflate;client_no_context_takeover"),
            "permessage-deflate; client_no_context_takeover");
  EXPECT_EQ(Answer("permessage-deflate; server_max_window_bits=10"),
            "permessage-deflate; server_max_window_bits=10");
  EXPECT_EQ(Answer("permessage-deflate; server_max_window_bits=\"10\""),
            "permessage-deflate; server_max_window_bits=10");
  EXPECT_EQ(Answer("permessage-deflate; client_max_window_bits=9"),
            "permessage-deflate; client_max_window_bits=9");
}

TEST(PermessageDeflateTest, TakesTheFirstOfferThatItUnderstands) {
  EXPECT_EQ(Answer("x-other, permessage-deflate; strange, permessage-deflate; "
                   "server_max_window_bits=9, permessage-deflate"),
            "permessage-deflate; server_max_window_bits=9");
  EXPECT_EQ(Answer("x-other"), "none");
  EXPECT_EQ(Answer(""), "none");
}

TEST(PermessageDeflateTest, RefusesWrongParameters) {
  EXPECT_EQ(Answer("permessage-deflate; server_max_window_bits=8"),
            "permessage-deflate; server_max_window_bits=8");
  for (const char* const parameter :
       {"server_max_window_bits", "server_max_window_bits=7", "server_max_window_bits=16",
        "server_max_window_bits=08", "server_max_window_bits=", "server_max_window_bits=1a",
        "server_no_context_takeover=1", "client_no_context_takeover=", "client_max_window_bits=7",
        "client_max_window_bits=", "unknown",
        "server_no_context_takeover; server_no_context_takeover",
        "client_max_window_bits; client_max_window_bits=9"}) {
    EXPECT_EQ(Answer(std::string("permessage-deflate; ") + parameter), "none") << parameter;
  }
}

TEST(PermessageDeflateTest, TheServerMayWantLess) {
  DeflateOptions less;  // no context in either direction
  less.server_window_bits = 11;
  less.client_window_bits = 10;
  EXPECT_EQ(Answer("permessage-deflate", less),
            "permessage-deflate; server_no_context_takeover; client_no_context_takeover; "
            "server_max_window_bits=11");
  EXPECT_EQ(Answer("permessage-deflate; client_max_window_bits; server_max_window_bits=12", less),
            "permessage-deflate; server_no_context_takeover; client_no_context_takeover; "
            "server_max_window_bits=11; client_max_window_bits=10");
  less.enabled = false;
  EXPECT_EQ(Answer("permessage-deflate", less), "none");
}

TEST(PermessageDeflateTest, TellsNoClientThatCannotBeTold) {
  DeflateOptions less = All();
  less.client_window_bits = 10;
  const auto terms = AgreeOnDeflate("permessage-deflate", less);
  ASSERT_TRUE(terms);
  EXPECT_EQ(terms->client_window_bits, 15);
  EXPECT_EQ(TextOf(*terms), "permessage-deflate");
}

TEST(PermessageDeflateTest, AClientReadsTheResponse) {
  const auto terms = ReadDeflateResponse(
      "permessage-deflate; server_no_context_takeover; client_max_window_bits=9");
  ASSERT_TRUE(terms);
  EXPECT_FALSE(terms->server_takeover);
  EXPECT_TRUE(terms->client_takeover);
  EXPECT_EQ(terms->client_window_bits, 9);
  EXPECT_FALSE(ReadDeflateResponse("permessage-deflate; client_max_window_bits"));
  EXPECT_FALSE(ReadDeflateResponse("permessage-deflate, permessage-deflate"));
  EXPECT_FALSE(ReadDeflateResponse("other"));
}

}  // namespace
}  // namespace TURTLE_SERVER
