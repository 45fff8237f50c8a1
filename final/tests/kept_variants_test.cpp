// Stored responses in the codings that clients like: each is encoded once, and then sent from
// memory.
#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "compress/compression.h"
#include "response_cache/response_cache.h"
#include "support/cached_server.h"
#include "support/counting_new.h"
#include "support/decode.h"
#include "support/http_client.h"
#include "support/running_server.h"
#include "web/reply_editor.h"
#include "web/server_response.h"

namespace TURTLE_SERVER {
namespace {

using test::CachedServer;
using test::Get;
using test::HttpClient;
using test::HttpReply;

constexpr std::array<std::string_view, 3> kCodings = {"gzip", "br", "zstd"};

auto Words(std::size_t size = 5000) -> std::string {
  std::string text;
  while (text.size() < size) {
    text += "turtles all the way down, ";
  }
  text.resize(size);
  return text;
}

// Returns text that becomes only a third shorter.
auto Digits(std::size_t size) -> std::string {
  std::string text;
  std::uint32_t state = 1;
  while (text.size() < size) {
    state = state * 1664525 + 1013904223;
    text += "0123456789abcdef"[state >> 28];
  }
  return text;
}

auto Compressing(const CompressionOptions& options = {}) -> HttpOptions {
  HttpOptions http;
  http.compression = std::make_shared<const Compression>(options);
  return http;
}

auto Accepting(std::string_view coding, std::string_view more = {}) -> std::string {
  std::string fields = coding.empty() ? "" : "Accept-Encoding: " + std::string(coding) + "\r\n";
  return fields.append(more);
}

auto Head(std::string_view fields) -> std::string {
  return std::string("HEAD / HTTP/1.1\r\nHost: t\r\n").append(fields).append("\r\n");
}

auto PlainOf(const HttpReply& reply) -> std::string {
  return test::Decode(reply.Field("Content-Encoding"), reply.body);
}

auto Tagged(const std::string& text) -> Response {
  return TextResponse(200, text).Set("ETag", "\"t\"").Set("Cache-Control", "max-age=60");
}

auto StatsOf(CachedServer& server) -> LruStats {
  return server.Server().Loop().Ask([&] { return server.Cache().Stats(); });
}

// Returns how often the loop has allocated memory while `act` runs. An encoder is an object on the
// heap, so where nothing is allocated, nothing is encoded.
template <class Act>
auto AllocationsOf(CachedServer& server, const Act& act) -> std::size_t {
  test::LoopThread& loop = server.Server().Loop();
  loop.Ask([] { test::counts_allocations = true; });
  loop.Ask([] { return std::string(100, 'x'); });
  EXPECT_GT(test::allocations.exchange(0), 0U) << "nothing is counted";
  act();
  const std::size_t count = test::allocations.exchange(0);
  loop.Ask([] { test::counts_allocations = false; });
  test::allocations = 0;
  return count;
}

class KeptVariantsTest : public testing::Test {
 protected:
  // Asks for "/", and expects the words, in this coding.
  auto Ask(std::string_view coding, std::string_view more = {}) -> HttpReply {
    HttpReply reply = client_.Ask(Get("/", Accepting(coding, more)));
    EXPECT_EQ(reply.status, 200);
    EXPECT_EQ(reply.Field("Content-Encoding"), coding);
    EXPECT_EQ(reply.Field("Vary"), "Accept-Encoding");
    EXPECT_EQ(reply.Field("Content-Length"), std::to_string(reply.body.size()));
    EXPECT_EQ(PlainOf(reply), Words());
    return reply;
  }

  CachedServer server_{[](Exchange& exchange) {
                         exchange.Reply(exchange.GetRequest().method == Method::kPost
                                            ? Response(204)
                                            : Tagged(Words()).Set("Accept-Ranges", "bytes"));
                       },
                       {},
                       Compressing()};
  HttpClient client_{server_.Port()};
};

TEST_F(KeptVariantsTest, EachClientGetsTheCodingThatItLikes) {
  for (int round = 0; round < 3; ++round) {
    for (const std::string_view coding : kCodings) {
      const HttpReply reply = Ask(coding);
      EXPECT_EQ(reply.Field("ETag"), "W/\"t\"");
      EXPECT_EQ(reply.Field("Accept-Ranges"), "") << "of the plain bytes only";
      EXPECT_EQ(reply.Field("Content-Type"), "text/plain; charset=utf-8");
    }
    const HttpReply plain = Ask("");
    EXPECT_EQ(plain.Field("ETag"), "\"t\"");
    EXPECT_EQ(plain.Field("Accept-Ranges"), "bytes");
  }
  EXPECT_EQ(server_.Calls(), 1);
}

TEST_F(KeptVariantsTest, AHitIsEncodedOnce) {
  const auto ask = [&] {
    for (const std::string_view coding : kCodings) {
      const std::string same = "If-None-Match: W/\"t\"\r\n";
      EXPECT_EQ(client_.Ask(Get("/", Accepting(coding))).Field("Content-Encoding"), coding);
      EXPECT_EQ(client_.Ask(Head(Accepting(coding)), test::Asked::kHead).status, 200);
      EXPECT_EQ(client_.Ask(Get("/", Accepting(coding, same))).status, 304);
    }
    EXPECT_EQ(client_.Ask(Get("/")).body.size(), Words().size());
    EXPECT_EQ(client_.Ask(Get("/", "If-None-Match: \"t\"\r\n")).status, 304);
  };
  ask();
  ask();
  EXPECT_EQ(AllocationsOf(server_,
                          [&] {
                            for (int i = 0; i < 100; ++i) {
                              ask();
                            }
                          }),
            0U);
  EXPECT_EQ(server_.Calls(), 1);
}

TEST_F(KeptVariantsTest, AHitGrowsOld) {
  Ask("gzip");
  const HttpReply young = Ask("gzip");
  server_.Server().Advance(std::chrono::seconds(7));
  const HttpReply old = Ask("gzip");
  EXPECT_EQ(young.Field("Age"), "0");
  EXPECT_EQ(old.Field("Age"), "7");
  EXPECT_EQ(old.Field("Date"), young.Field("Date"));
  EXPECT_EQ(old.body, young.body);
}

TEST_F(KeptVariantsTest, EitherTagGivesA304WithTheTagOfTheCoding) {
  Ask("");
  for (const std::string_view condition :
       {"If-None-Match: \"t\"\r\n", "If-None-Match: W/\"t\"\r\n"}) {
    for (const std::string_view coding : {"", "gzip", "br", "zstd"}) {
      const HttpReply reply = client_.Ask(Get("/", Accepting(coding, condition)));
      EXPECT_EQ(reply.status, 304);
      EXPECT_EQ(reply.Field("ETag"), coding.empty() ? "\"t\"" : "W/\"t\"");
      EXPECT_EQ(reply.Field("Vary"), "Accept-Encoding");
      EXPECT_EQ(reply.Field("Cache-Control"), "max-age=60");
      EXPECT_EQ(reply.Field("Age"), "0");
      EXPECT_EQ(reply.Field("Content-Encoding"), "");
    }
  }
  EXPECT_EQ(server_.Calls(), 1);
}

TEST_F(KeptVariantsTest, AHeadSaysWhatAGetWouldGet) {
  Ask("");
  for (const std::string_view coding : kCodings) {
    const HttpReply head = client_.Ask(Head(Accepting(coding)), test::Asked::kHead);
    const HttpReply get = Ask(coding);
    for (const char* field : {"Content-Encoding", "Content-Length", "Vary", "ETag", "Age"}) {
      EXPECT_EQ(head.Field(field), get.Field(field)) << field;
    }
  }
  EXPECT_EQ(server_.Calls(), 1);
}

TEST_F(KeptVariantsTest, AVariantsMemoryCounts) {
  Ask("");
  std::uint64_t bytes = StatsOf(server_).bytes;
  for (const std::string_view coding : kCodings) {
    const std::size_t size = Ask(coding).body.size();
    EXPECT_GE(StatsOf(server_).bytes, bytes + size) << coding;
    bytes = StatsOf(server_).bytes;
    Ask(coding);
    EXPECT_EQ(StatsOf(server_).bytes, bytes) << "counted twice";
  }
  EXPECT_EQ(StatsOf(server_).entries, 1U);
}

TEST(KeptVariantsChangeTest, AChangeDropsTheVariants) {
  CachedServer server(
      [number = 0](Exchange& exchange) mutable {
        const bool is_get = exchange.GetRequest().method == Method::kGet;
        exchange.Reply(is_get ? TextResponse(200, std::to_string(++number) + Words())
                              : Response(204));
      },
      {}, Compressing());
  for (const std::string number : {"1", "2", "3"}) {
    for (int i = 0; i < 3; ++i) {
      for (const std::string_view coding : kCodings) {
        EXPECT_EQ(PlainOf(server.Ask("/", Accepting(coding))), number + Words()) << coding;
      }
    }
    EXPECT_EQ(HttpClient(server.Port()).Ask("POST / HTTP/1.1\r\nHost: t\r\n\r\n").status, 204);
  }
}

TEST(KeptVariantsMemoryTest, AllIsBoundedInBytes) {
  ResponseCacheOptions options;
  options.max_bytes = 40'000;
  options.max_reply_bytes = 20'000;
  CachedServer server([](Exchange& exchange) { exchange.Reply(TextResponse(200, Digits(4000))); },
                      options, Compressing());
  for (int i = 0; i < 20; ++i) {
    for (const std::string_view coding : kCodings) {
      const HttpReply reply = server.Ask("/?" + std::to_string(i), Accepting(coding));
      EXPECT_EQ(reply.Field("Content-Encoding"), coding);
      EXPECT_LE(StatsOf(server).bytes, 40'000U);
    }
  }
  const LruStats stats = StatsOf(server);
  EXPECT_GT(stats.bytes, 20'000U);
  EXPECT_EQ(server.Keys(), stats.entries);
}

TEST(KeptVariantsMemoryTest, AVariantWithoutRoomIsSentAndNotKept) {
  ResponseCacheOptions options;
  options.max_reply_bytes = 7000;
  CachedServer server([](Exchange& exchange) { exchange.Reply(TextResponse(200, Digits(5000))); },
                      options, Compressing());
  server.Ask("/");
  const std::uint64_t bytes = StatsOf(server).bytes;
  for (int i = 0; i < 3; ++i) {
    for (const std::string_view coding : kCodings) {
      const HttpReply reply = server.Ask("/", Accepting(coding));
      EXPECT_EQ(reply.Field("Content-Encoding"), coding);
      EXPECT_EQ(PlainOf(reply), Digits(5000));
      EXPECT_EQ(StatsOf(server).bytes, bytes);
    }
    EXPECT_EQ(server.Ask("/").body, Digits(5000));
  }
  EXPECT_EQ(server.Calls(), 1) << "the plain response is still there";
}

// A response that is sent as it is, to every client.
struct Case {
  const char* what;
  Response response;
  const char* coding;
  const char* vary;
};

TEST(KeptVariantsPlainTest, SomeResponsesAreSentAsTheyAreWithoutAnotherAttempt) {
  const Case cases[] = {
      {"an image", TextResponse(200, Words()).Set("Content-Type", "image/png"), "", ""},
      {"a short body", TextResponse(200, Words(999)), "", "Accept-Encoding"},
      {"a coded body", TextResponse(200, Words()).Set("Content-Encoding", "gzip"), "gzip", ""},
      {"no-transform", TextResponse(200, Words()).Set("Cache-Control", "max-age=9, no-transform"),
       "", ""},
      {"a body that would become longer", TextResponse(200, "0123456789"), "", "Accept-Encoding"},
  };
  CompressionOptions least;
  for (const Case& each : cases) {
    least.min_bytes = each.response.BodySize() == 10 ? 1 : 1000;
    CachedServer server([&each](Exchange& exchange) { exchange.Reply(each.response); }, {},
                        Compressing(least));
    HttpClient client(server.Port());
    const auto ask = [&] {
      for (const std::string_view coding : kCodings) {
        const HttpReply reply = client.Ask(Get("/", Accepting(coding)));
        EXPECT_EQ(reply.body.size(), each.response.BodySize()) << each.what;
        EXPECT_EQ(reply.Field("Content-Encoding"), each.coding) << each.what;
        EXPECT_EQ(reply.Field("Vary"), each.vary) << each.what;
      }
    };
    ask();
    ask();
    EXPECT_EQ(AllocationsOf(server, ask), 0U) << each.what;
    EXPECT_EQ(server.Calls(), 1);
  }
}

TEST(KeptVariantsPlainTest, ASecretStaysPlainWhenItComesFromTheCache) {
  CachedServer server(
      [](Exchange& exchange) {
        exchange.KeepPlain();
        exchange.Reply(Tagged(Words()));
      },
      {}, Compressing());
  for (int i = 0; i < 3; ++i) {
    const HttpReply reply = server.Ask("/", Accepting("gzip"));
    EXPECT_EQ(reply.Field("Content-Encoding"), "");
    EXPECT_EQ(reply.body, Words());
    EXPECT_EQ(server.Ask("/", Accepting("gzip", "If-None-Match: \"t\"\r\n")).Field("ETag"),
              "\"t\"");
  }
  EXPECT_EQ(server.Calls(), 1);
}

TEST(KeptVariantsPlainTest, WithoutCompressionNothingChanges) {
  CachedServer server([](Exchange& exchange) { exchange.Reply(Tagged(Words())); });
  server.Ask("/");
  const HttpReply reply = server.Ask("/", Accepting("gzip"));
  EXPECT_EQ(reply.body, Words());
  EXPECT_EQ(reply.Field("Vary"), "");
}

TEST(KeptVariantsVaryTest, AcceptEncodingIsAddedToWhatAResponseVariesBy) {
  CachedServer server(
      [](Exchange& exchange) {
        const auto language = exchange.GetRequest().headers.Find(KnownField::kAcceptLanguage);
        exchange.Reply(TextResponse(200, std::string(language.value_or("")) + Words())
                           .Add("Vary", "Accept-Language")
                           .Add("Vary", "Cookie"));
      },
      {}, Compressing());
  for (int i = 0; i < 3; ++i) {
    for (const std::string language : {"de", "en"}) {
      for (const std::string_view coding : {"gzip", "br", ""}) {
        const HttpReply reply =
            server.Ask("/", Accepting(coding, "Accept-Language: " + language + "\r\n"));
        EXPECT_EQ(PlainOf(reply), language + Words());
        EXPECT_EQ(reply.Field("Content-Encoding"), coding);
        if (i > 0) {
          for (const char* name : {"Accept-Language", "Cookie", "Accept-Encoding"}) {
            EXPECT_NE(reply.head.find(name), std::string::npos) << reply.head;
          }
        }
      }
    }
  }
  EXPECT_EQ(server.Calls(), 2);
}

TEST(KeptVariantsVaryTest, AHandlerThatEncodesByItselfIsAskedOnceForEachClientsWish) {
  CachedServer server(
      [](Exchange& exchange) {
        const bool has_wish = exchange.GetRequest().headers.Has(KnownField::kAcceptEncoding);
        Response response = TextResponse(200, has_wish ? "coded by the handler" : Words());
        response.Set("Vary", "Accept-Encoding");
        exchange.Reply(has_wish ? response.Set("Content-Encoding", "x-own") : response);
      },
      {}, Compressing());
  for (int i = 0; i < 3; ++i) {
    const HttpReply coded = server.Ask("/", Accepting("gzip"));
    EXPECT_EQ(coded.body, "coded by the handler");
    EXPECT_EQ(coded.Field("Content-Encoding"), "x-own");
    const HttpReply plain = server.Ask("/");
    EXPECT_EQ(plain.body, Words());
    EXPECT_EQ(plain.head.find("Vary"), plain.head.rfind("Vary")) << plain.head;
  }
  EXPECT_EQ(server.Calls(), 2);
}

// The rules of a site: they add a line, or take the response apart if that doesn't do.
class Rules : public RequestHandler, public ReplyEditor {
 public:
  explicit Rules(std::unique_ptr<RequestHandler> inner) : inner_(std::move(inner)) {}

  void Handle(Exchange& exchange) override {
    exchange.Edit(this);
    inner_->Handle(exchange);
  }

  void Edit(Exchange& /*exchange*/, Response& response, Edited /*part*/) noexcept override {
    response.Set("X-Rule", "edited");
  }

  auto LinesFor(Exchange& exchange, std::string_view /*start*/, std::string_view /*text*/) noexcept
      -> std::optional<std::string_view> override {
    return exchange.GetRequest().uri.Path() == "/apart"
               ? std::nullopt
               : std::optional<std::string_view>("X-Rule: added\r\n");
  }

 private:
  const std::unique_ptr<RequestHandler> inner_;
};

TEST(KeptVariantsRulesTest, TheRulesOfASiteHoldForVariants) {
  const test::RunningServer server(
      [](HttpServer& made) {
        const HandlerFactory cached = Cached(
            {}, test::Answering([](Exchange& exchange) { exchange.Reply(Tagged(Words())); }));
        made.Mount("/",
                   [cached](Looper& looper) { return std::make_unique<Rules>(cached(looper)); });
      },
      Compressing());
  HttpClient client(server.Port());
  for (const auto& [path, rule] : {std::pair("/", "added"), std::pair("/apart", "edited")}) {
    client.Ask(Get(path));
    for (const std::string_view coding : {"gzip", "br", "zstd", ""}) {
      const HttpReply reply = client.Ask(Get(path, Accepting(coding)));
      EXPECT_EQ(reply.Field("X-Rule"), rule);
      EXPECT_EQ(reply.Field("Content-Encoding"), coding);
      EXPECT_EQ(reply.Field("ETag"), coding.empty() ? "\"t\"" : "W/\"t\"");
      EXPECT_EQ(reply.head.find("Vary"), reply.head.rfind("Vary")) << reply.head;
      EXPECT_EQ(reply.Field("Age"), "0");
      EXPECT_EQ(PlainOf(reply), Words());
      const HttpReply same = client.Ask(Get(path, Accepting(coding, "If-None-Match: \"t\"\r\n")));
      EXPECT_EQ(same.status, 304);
      EXPECT_EQ(same.Field("X-Rule"), rule);
      EXPECT_EQ(same.Field("ETag"), coding.empty() ? "\"t\"" : "W/\"t\"");
    }
  }
}

// Middleware that changes the text.
class Shouts : public RequestHandler, public ReplyFilter {
 public:
  explicit Shouts(std::unique_ptr<RequestHandler> inner) : inner_(std::move(inner)) {}

  void Handle(Exchange& exchange) override {
    exchange.Filter(this);
    inner_->Handle(exchange);
  }

  void OnReply(Exchange& /*exchange*/, ServerResponse& response) noexcept override {
    response.Text(std::string(response.Body()) + "!");
  }

 private:
  const std::unique_ptr<RequestHandler> inner_;
};

TEST(KeptVariantsFilterTest, AFilterSeesThePlainText) {
  const test::RunningServer server(
      [](HttpServer& made) {
        const HandlerFactory cached = Cached(
            {}, test::Answering([](Exchange& exchange) { exchange.Reply(Tagged(Words())); }));
        made.Mount("/",
                   [cached](Looper& looper) { return std::make_unique<Shouts>(cached(looper)); });
      },
      Compressing());
  HttpClient client(server.Port());
  for (int round = 0; round < 2; ++round) {
    for (const std::string_view coding : {"gzip", "br", ""}) {
      const HttpReply reply = client.Ask(Get("/", Accepting(coding)));
      EXPECT_EQ(reply.Field("Content-Encoding"), coding) << round;
      EXPECT_EQ(PlainOf(reply), Words() + "!") << round;
    }
  }
}

TEST(KeptVariantsLoopsTest, EachLoopHasItsVariants) {
  std::atomic<int> calls{0};
  const test::RunningServer server(
      [&](HttpServer& made) {
        made.Mount("/", Cached({}, test::Answering([&](Exchange& exchange) {
                                 ++calls;
                                 exchange.Reply(TextResponse(200, Words()));
                               })));
      },
      Compressing(), 2);
  std::vector<HttpClient> clients;
  clients.emplace_back(server.Port());
  clients.emplace_back(server.Port());  // it goes to the loop that has fewer
  for (int i = 0; i < 3; ++i) {
    for (HttpClient& client : clients) {
      for (const std::string_view coding : {"gzip", "br", "zstd", ""}) {
        const HttpReply reply = client.Ask(Get("/", Accepting(coding)));
        EXPECT_EQ(reply.Field("Content-Encoding"), coding);
        EXPECT_EQ(PlainOf(reply), Words());
      }
    }
  }
  EXPECT_EQ(calls, 1);
}

}  // namespace
}  // namespace TURTLE_SERVER
