// Responses of handlers, as clients with different wishes get them.
#include <gtest/gtest.h>

#include <memory>
#include <optional>
#include <string>
#include <tuple>

#include "compress/compression.h"
#include "support/decode.h"
#include "support/http_client.h"
#include "support/running_server.h"

namespace TURTLE_SERVER {
namespace {

using test::HttpClient;
using test::HttpReply;

auto Compressing(const CompressionOptions& options = {}) -> HttpOptions {
  HttpOptions http;
  http.compression = std::make_shared<const Compression>(options);
  return http;
}

auto Words(std::size_t size = 5000) -> std::string {
  std::string text;
  while (text.size() < size) {
    text += "turtles all the way down, ";
  }
  text.resize(size);
  return text;
}

auto Ask(const test::RunningServer& server, const std::string& accepts,
         const std::string& more = {}) -> HttpReply {
  const std::string field = accepts.empty() ? "" : "Accept-Encoding: " + accepts + "\r\n";
  return HttpClient(server.Port()).Ask(test::Get("/", field + more));
}

// Receives bytes up to these.
auto ReceiveUntil(test::Client& client, std::string_view end) -> std::string {
  std::string all;
  while (all.find(end) == std::string::npos) {
    const std::string next = client.Receive(1);
    if (next.empty()) {
      break;
    }
    all += next;
  }
  return all;
}

auto PlainOf(const HttpReply& reply) -> std::string {
  return test::Decode(reply.Field("Content-Encoding"), reply.body);
}

TEST(CompressedRepliesTest, AClientGetsTheCodingThatItLikes) {
  const test::RunningServer server(
      [](Exchange& exchange) { exchange.Reply(TextResponse(200, Words())); }, Compressing());
  for (const std::string coding : {"gzip", "br", "zstd", ""}) {
    const HttpReply reply = Ask(server, coding);
    EXPECT_EQ(reply.status, 200);
    EXPECT_EQ(reply.Field("Content-Encoding"), coding);
    EXPECT_EQ(reply.Field("Vary"), "Accept-Encoding") << coding;
    EXPECT_EQ(reply.Field("Content-Length"), std::to_string(reply.body.size()));
    EXPECT_EQ(PlainOf(reply), Words()) << coding;
    EXPECT_EQ(reply.body.size() < 500, !coding.empty()) << reply.body.size();
  }
}

TEST(CompressedRepliesTest, WithoutTheOptionNothingChanges) {
  const test::RunningServer server(
      [](Exchange& exchange) { exchange.Reply(TextResponse(200, Words())); });
  const HttpReply reply = Ask(server, "gzip");
  EXPECT_EQ(reply.body, Words());
  EXPECT_EQ(reply.Field("Vary"), "");
}

TEST(CompressedRepliesTest, AHeadSaysWhatAGetWouldGet) {
  const test::RunningServer server(
      [](Exchange& exchange) { exchange.Reply(TextResponse(200, Words())); }, Compressing());
  const HttpReply get = Ask(server, "gzip");
  const HttpReply head =
      HttpClient(server.Port())
          .Ask("HEAD / HTTP/1.1\r\nHost: t\r\nAccept-Encoding: gzip\r\n\r\n", test::Asked::kHead);
  for (const char* field : {"Content-Encoding", "Content-Length", "Vary", "Content-Type"}) {
    EXPECT_EQ(head.Field(field), get.Field(field)) << field;
  }
  EXPECT_EQ(head.body, "");
}

// A response, and whether it is compressed and has a Vary.
struct Case {
  const char* what;
  Response response;
  bool coded;
  bool varies;
};

TEST(CompressedRepliesTest, SomeResponsesAreLeftAsTheyAre) {
  Response typeless(200);
  typeless.Body(Words());
  Response none(204);
  const Case cases[] = {
      {"text", TextResponse(200, Words()), true, true},
      {"an error page", ErrorResponse(404, Words()), true, true},
      {"an image", TextResponse(200, Words()).Set("Content-Type", "image/png"), false, false},
      {"a picture that is text", TextResponse(200, Words()).Set("Content-Type", "image/svg+xml"),
       true, true},
      {"no type", typeless, false, false},
      {"no body", none, false, false},
      {"a short body", TextResponse(200, Words(999)), false, true},
      {"the least body", TextResponse(200, Words(1000)), true, true},
      {"a coded body", TextResponse(200, Words()).Set("Content-Encoding", "gzip"), false, false},
      {"no-transform", TextResponse(200, Words()).Set("Cache-Control", "public, no-transform"),
       false, false},
      {"no-transform in a second line",
       TextResponse(200, Words())
           .Set("Cache-Control", "public")
           .Add("Cache-Control", "No-Transform"),
       false, false},
      {"a part", TextResponse(206, Words()).Set("Content-Range", "bytes 0-4999/9999"), false, true},
      {"a long body", TextResponse(200, Words(1024 * 1024 + 1)), false, true},
  };
  for (const Case& each : cases) {
    const test::RunningServer server([&](Exchange& exchange) { exchange.Reply(each.response); },
                                     Compressing());
    const HttpReply reply =
        HttpClient(server.Port()).Ask(test::Get("/", "Accept-Encoding: br\r\n"));
    const bool was_coded = each.response.Find("Content-Encoding").has_value();
    EXPECT_EQ(reply.Field("Content-Encoding"), each.coded  ? "br"
                                               : was_coded ? "gzip"
                                                           : "")
        << each.what;
    EXPECT_EQ(reply.Field("Vary"), each.varies ? "Accept-Encoding" : "") << each.what;
  }
}

TEST(CompressedRepliesTest, VaryIsExtended) {
  const std::string own = "Vary: Accept-Encoding\r\n";
  for (const auto& [vary, more] : {std::pair("Origin", own),
                                   {"accept-encoding", ""},
                                   {"Origin, Accept-Encoding", ""},
                                   {"*", ""}}) {
    const test::RunningServer server(
        [vary = vary](Exchange& exchange) {
          exchange.Reply(TextResponse(200, Words()).Set("Vary", vary).Add("X", "next"));
        },
        Compressing());
    for (const char* coding : {"gzip", ""}) {
      const std::string head = Ask(server, coding).head;
      EXPECT_NE(head.find("Vary: " + std::string(vary) + "\r\nX: next\r\n" + more),
                std::string::npos)
          << head;
      EXPECT_EQ(head.find(own) != std::string::npos, !more.empty()) << head;
    }
  }
}

TEST(CompressedRepliesTest, EveryLineOfVaryStays) {
  const test::RunningServer server(
      [](Exchange& exchange) {
        exchange.Reply(TextResponse(200, Words()).Add("Vary", "Origin").Add("Vary", "Cookie"));
      },
      Compressing());
  const std::string head = Ask(server, "gzip").head;
  for (const char* line :
       {"\r\nVary: Origin\r\n", "\r\nVary: Cookie\r\n", "\r\nVary: Accept-Encoding\r\n"}) {
    EXPECT_NE(head.find(line), std::string::npos) << line << head;
  }
}

TEST(CompressedRepliesTest, TheTagOfCompressedBytesIsWeak) {
  const test::RunningServer server(
      [](Exchange& exchange) {
        Response response = TextResponse(200, Words());
        response.Set("ETag", "\"a\"").Set("Accept-Ranges", "bytes");
        if (exchange.GetRequest().headers.Has(KnownField::kIfNoneMatch)) {
          response = Response(304);
          response.Set("ETag", "\"a\"");
        }
        exchange.Reply(response);
      },
      Compressing());
  EXPECT_EQ(Ask(server, "").Field("ETag"), "\"a\"");
  EXPECT_EQ(Ask(server, "").Field("Accept-Ranges"), "bytes");
  EXPECT_EQ(Ask(server, "gzip").Field("ETag"), "W/\"a\"");
  EXPECT_EQ(Ask(server, "gzip").Field("Accept-Ranges"), "") << "of the plain bytes only";
  const std::string condition = "If-None-Match: W/\"a\"\r\n";
  EXPECT_EQ(Ask(server, "gzip", condition).Field("ETag"), "W/\"a\"");
  EXPECT_EQ(Ask(server, "gzip", condition).Field("Vary"), "Accept-Encoding");
  EXPECT_EQ(Ask(server, "", condition).Field("ETag"), "\"a\"");
}

TEST(CompressedRepliesTest, AClientThatHasThePlainBytesKeepsItsTag) {
  const test::RunningServer server(
      [](Exchange& exchange) { exchange.Reply(Response(304).Set("ETag", "\"a\"")); },
      Compressing());
  for (const char* tags : {R"("a")", R"("b", "a")", R"(W/"ab", "a")"}) {
    const HttpReply reply = Ask(server, "gzip", std::string("If-None-Match: ") + tags + "\r\n");
    EXPECT_EQ(reply.Field("ETag"), "\"a\"") << tags;
    EXPECT_EQ(reply.Field("Vary"), "") << "it may be an image";
  }
  const HttpReply weak =
      Ask(server, "gzip", std::string("If-None-Match: ") + R"("b", W/"a")" + "\r\n");
  EXPECT_EQ(weak.Field("ETag"), "W/\"a\"");
}

TEST(CompressedRepliesTest, ARouteSaysHowLongItsTextIs) {
  const test::RunningServer server(
      [](HttpServer& made) {
        made.Get("/text", [](const ServerRequest& /*request*/, ServerResponse& response) {
          response.Text(Words());
        });
        made.Get("/reset", [](const ServerRequest& /*request*/, ServerResponse& response) {
          response.Status(205).Text(Words());
        });
      },
      Compressing());
  for (const char* coding : {"gzip", "br", "zstd", ""}) {
    const HttpReply reply =
        HttpClient(server.Port())
            .Ask(test::Get("/text", "Accept-Encoding: " + std::string(coding) + "\r\n"));
    EXPECT_EQ(reply.Field("Content-Encoding"), coding);
    EXPECT_EQ(reply.Field("Content-Length"), std::to_string(reply.body.size()));
    EXPECT_EQ(test::Decode(coding, reply.body), Words());
  }
  const HttpReply reset =
      HttpClient(server.Port()).Ask(test::Get("/reset", "Accept-Encoding: gzip\r\n"));
  EXPECT_EQ(reset.status, 205);
  EXPECT_EQ(reset.Field("Content-Length"), "0");
  EXPECT_EQ(reset.Field("Content-Encoding"), "");
}

TEST(CompressedRepliesTest, AHandlerCanSayNo) {
  const test::RunningServer server(
      [](Exchange& exchange) {
        exchange.KeepPlain();
        exchange.Reply(TextResponse(200, Words()));
      },
      Compressing());
  HttpClient client(server.Port());
  EXPECT_EQ(client.Ask(test::Get("/", "Accept-Encoding: gzip\r\n")).body, Words());
}

TEST(CompressedRepliesTest, TheNextRequestIsCompressedAgain) {
  const test::RunningServer server(
      [](Exchange& exchange) {
        if (exchange.GetRequest().uri.Path() == "/secret") {
          exchange.KeepPlain();
        }
        exchange.Reply(TextResponse(200, Words()));
      },
      Compressing());
  HttpClient client(server.Port());
  EXPECT_EQ(client.Ask(test::Get("/secret", "Accept-Encoding: gzip\r\n")).Field("Content-Encoding"),
            "");
  EXPECT_EQ(client.Ask(test::Get("/", "Accept-Encoding: gzip\r\n")).Field("Content-Encoding"),
            "gzip");
}

TEST(CompressedRepliesTest, APieceCanBeReadBeforeTheNextIsThere) {
  const test::RunningServer server(
      [](Exchange& exchange) {
        Response head(200);
        head.Set("Content-Type", "text/event-stream");
        exchange.BeginReply(head);
        exchange.Write("data: one\n\n");
      },
      Compressing());
  test::Client client(server.Port());
  ASSERT_TRUE(client.Send(test::Get("/", "Accept-Encoding: gzip\r\n")));
  const std::string head = ReceiveUntil(client, "\r\n\r\n");
  EXPECT_NE(head.find("Content-Encoding: gzip\r\n"), std::string::npos) << head;
  const std::string size = ReceiveUntil(client, "\r\n");
  const std::string piece = client.Receive(std::stoul(size, nullptr, 16));
  EXPECT_EQ(test::DecodeStart(piece), "data: one\n\n");
}

TEST(CompressedRepliesTest, ABodyInPiecesComesBack) {
  for (const bool has_length : {false, true}) {
    const test::RunningServer server(
        [has_length](Exchange& exchange) {
          Response head(200);
          head.Set("Content-Type", "text/plain");
          exchange.BeginReply(head,
                              has_length ? std::optional<std::uint64_t>(10'000) : std::nullopt);
          exchange.Write(Words());
          exchange.Write(Words());
          exchange.End();
        },
        Compressing());
    for (const std::string coding : {"gzip", "br", "zstd", ""}) {
      const HttpReply reply = Ask(server, coding);
      EXPECT_EQ(reply.Field("Content-Encoding"), coding);
      EXPECT_EQ(PlainOf(reply), Words() + Words()) << coding;
      EXPECT_EQ(reply.Field("Content-Length"), coding.empty() && has_length ? "10000" : "");
    }
  }
}

TEST(CompressedRepliesTest, AStreamOfKnownLengthHasTheLimitsOfAWholeBody) {
  for (const auto& [size, coding] :
       {std::pair(999, ""), {1000, "gzip"}, {1024 * 1024, "gzip"}, {1024 * 1024 + 1, ""}}) {
    const std::string text = Words(size);
    const test::RunningServer server(
        [&](Exchange& exchange) {
          exchange.BeginReply(TextResponse(200, ""), text.size());
          exchange.Write(text);
          exchange.End();
        },
        Compressing());
    const HttpReply reply = Ask(server, "gzip");
    EXPECT_EQ(reply.Field("Content-Encoding"), coding) << size;
    EXPECT_TRUE(test::Decode(coding, reply.body) == text) << size;
  }
}

TEST(CompressedRepliesTest, AStreamWithoutALengthGetsTheCodingThatTakesTheLeastMemory) {
  const test::RunningServer server(
      [](Exchange& exchange) {
        exchange.BeginReply(TextResponse(200, ""), exchange.GetRequest().uri.Path() == "/known"
                                                       ? std::optional<std::uint64_t>(5000)
                                                       : std::nullopt);
        exchange.Write(Words());
        exchange.End();
      },
      Compressing());
  for (const auto& [path, accepts, coding] : {std::tuple("/", "br, gzip, zstd", "gzip"),
                                              {"/known", "br, gzip, zstd", "br"},
                                              {"/", "br, zstd", "br"},
                                              {"/", "zstd, gzip;q=0", "zstd"},
                                              {"/", "identity", ""}}) {
    HttpClient client(server.Port());
    const HttpReply reply =
        client.Ask(test::Get(path, "Accept-Encoding: " + std::string(accepts) + "\r\n"));
    EXPECT_EQ(reply.Field("Content-Encoding"), coding) << path << accepts;
    EXPECT_EQ(test::Decode(coding, reply.body), Words());
  }
}

TEST(CompressedRepliesTest, ABodyThatEndsEarlyIsCut) {
  const test::RunningServer server(
      [](Exchange& exchange) {
        Response head(200);
        head.Set("Content-Type", "text/plain");
        exchange.BeginReply(head, 10'000);
        exchange.Write(Words());
        exchange.End();
      },
      Compressing());
  HttpClient client(server.Port());
  const HttpReply reply = client.Ask(test::Get("/", "Accept-Encoding: gzip\r\n"));
  EXPECT_EQ(PlainOf(reply).substr(0, 1), "?") << "the last chunk is missing";
}

}  // namespace
}  // namespace TURTLE_SERVER
