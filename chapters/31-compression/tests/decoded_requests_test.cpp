// Requests whose bodies are compressed.
#include <gtest/gtest.h>
#include <sys/ioctl.h>

#include <atomic>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <utility>

#include "compress/compression.h"
#include "compress/make_encoder.h"
#include "support/http_client.h"
#include "support/running_server.h"
#include "web/request_body.h"
#include "web/upload.h"

namespace TURTLE_SERVER {
namespace {

using test::HttpClient;
using test::HttpReply;
using test::RunningServer;

constexpr std::size_t kMib = std::size_t{1024} * 1024;

auto Decoding(const CompressionOptions& options = {}) -> HttpOptions {
  HttpOptions http;
  http.compression = std::make_shared<const Compression>(options);
  return http;
}

auto Coded(std::string_view coding, std::string_view plain) -> std::string {
  return EncodeAll(*CodingOf(coding), Effort::kLow, plain);
}

auto Post(const std::string& target, const std::string& coding, const std::string& body,
          const std::string& more = {}) -> std::string {
  return "POST " + target + " HTTP/1.1\r\nHost: t\r\nContent-Encoding: " + coding + "\r\n" + more +
         "Content-Length: " + std::to_string(body.size()) + "\r\n\r\n" + body;
}

auto Numbers(std::size_t size) -> std::string {
  std::string text;
  for (std::size_t i = 0; text.size() < size; ++i) {
    text += std::to_string(i * i % 1'000'003) + ", ";
  }
  text.resize(size);
  return text;
}

// Echoes the body, its length or an element of it.
void AddRoutes(HttpServer& http) {
  http.Post("/echo", [](const ServerRequest& req, ServerResponse& res) { res.Text(req.Body()); });
  http.Post("/count", [](const ServerRequest& req, ServerResponse& res) {
    res.Text(std::to_string(req.Body().size()));
  });
  http.Post("/name", [](const ServerRequest& req, ServerResponse& res) {
    res.Text(req.Json().at("name").get<std::string>());
  });
}

class DecodedRequestsTest : public testing::TestWithParam<const char*> {};

INSTANTIATE_TEST_SUITE_P(All, DecodedRequestsTest, testing::Values("gzip", "br", "zstd"),
                         [](const auto& each) { return std::string(each.param); });

TEST_P(DecodedRequestsTest, ARouteGetsThePlainBody) {
  const RunningServer server(AddRoutes, Decoding());
  HttpClient client(server.Port());
  const HttpReply reply =
      client.Ask(Post("/name", GetParam(), Coded(GetParam(), R"({"name": "Ada"})"),
                      "Content-Type: application/json\r\n"));
  EXPECT_EQ(reply.status, 200);
  EXPECT_EQ(reply.body, "Ada");
}

TEST_P(DecodedRequestsTest, TheConnectionIsKeptAndRequestsMayFollowAtOnce) {
  const RunningServer server(AddRoutes, Decoding());
  HttpClient client(server.Port());
  ASSERT_TRUE(client.Send(Post("/echo", GetParam(), Coded(GetParam(), "one")) +
                          Post("/echo", "identity", "two") +
                          Post("/echo", GetParam(), Coded(GetParam(), "three"))));
  EXPECT_EQ(client.ReadReply().body, "one");
  EXPECT_EQ(client.ReadReply().body, "two");
  EXPECT_EQ(client.ReadReply().body, "three");
  EXPECT_EQ(client.Ask(Post("/echo", GetParam(), "damaged")).status, 400);
  EXPECT_EQ(client.Ask(Post("/echo", GetParam(), Coded(GetParam(), "four"))).body, "four");
}

TEST_P(DecodedRequestsTest, AChunkedBodyIsDecodedAcrossItsChunks) {
  const RunningServer server(AddRoutes, Decoding());
  HttpClient client(server.Port());
  const std::string coded = Coded(GetParam(), Numbers(3000));
  ASSERT_TRUE(client.Send(std::string("POST /echo HTTP/1.1\r\nHost: t\r\nContent-Encoding: ") +
                          GetParam() + "\r\nTransfer-Encoding: chunked\r\n\r\n"));
  for (const char byte : coded) {
    ASSERT_TRUE(client.Send(std::string("1\r\n") + byte + "\r\n"));
  }
  EXPECT_EQ(client.Ask("0\r\n\r\n").body, Numbers(3000));
}

TEST_P(DecodedRequestsTest, AFormWithAFileIsDecoded) {
  const RunningServer server(
      [](HttpServer& http) {
        http.Post("/upload", [](const ServerRequest&, const Upload& form, ServerResponse& res) {
          const UploadedPart* const part = form.Find("a");
          res.Text(part != nullptr ? part->text : "none");
        });
      },
      Decoding());
  const std::string form =
      "--b\r\nContent-Disposition: form-data; name=\"a\"\r\n\r\nvalue\r\n--b--\r\n";
  EXPECT_EQ(HttpClient(server.Port())
                .Ask(Post("/upload", GetParam(), Coded(GetParam(), form),
                          "Content-Type: multipart/form-data; boundary=b\r\n"))
                .body,
            "value");
}

TEST_P(DecodedRequestsTest, AHandlerThatHoldsGetsEveryPieceInOrder) {
  std::string all;  // on the loop's thread
  int pieces = 0;
  const RunningServer server(
      [&](HttpServer& http) {
        http.Post("/slow", [&](const ServerRequest&, const RequestBody& body,
                               const Responder& responder) {
          body.OnPiece([&, body, responder](std::string_view piece, bool last) {
            all += piece;
            ++pieces;
            body.Hold();
            if (last) {
              responder.Reply(std::move(ServerResponse().Text(std::to_string(all.size()))));
            } else {
              body.Resume();  // in a later round
            }
          });
        });
      },
      Decoding());
  HttpClient client(server.Port());
  const std::string plain = Numbers(300'000);
  EXPECT_EQ(client.Ask(Post("/slow", GetParam(), Coded(GetParam(), plain))).body, "300000");
  EXPECT_TRUE(all == plain);
  EXPECT_GE(pieces, 300'000 / static_cast<int>(BodyDecoder::kMaxPiece));
}

TEST_P(DecodedRequestsTest, AClientIsNotReadWhileItsBytesWait) {
  std::optional<RequestBody> held;
  std::string all;
  RunningServer server(
      [&](HttpServer& http) {
        http.Post("/slow",
                  [&](const ServerRequest&, const RequestBody& body, const Responder& responder) {
                    body.OnPiece([&, body, responder](std::string_view piece, bool last) {
                      all += piece;
                      if (!held) {
                        held = body;
                        body.Hold();
                      }
                      if (last) {
                        responder.Reply(ServerResponse(204));
                      }
                    });
                  });
      },
      Decoding());
  const std::string plain = std::string(300'000, '\0') + Numbers(300'000);
  const auto encoder = MakeEncoder(*CodingOf(GetParam()), Effort::kLow);
  std::string first;
  std::string rest;
  encoder->Encode(plain.substr(0, 300'000), Flush::kPiece, first);
  encoder->Encode(plain.substr(300'000), Flush::kEnd, rest);
  HttpClient client(server.Port());
  const std::string request = Post("/slow", GetParam(), first + rest);
  ASSERT_TRUE(client.Send(request.substr(0, request.size() - rest.size())));
  ASSERT_TRUE(server.Await([&] { return held.has_value(); }));
  rest = request.substr(request.size() - rest.size());
  const std::string next = rest.substr(0, 10'000);
  ASSERT_TRUE(client.Send(next));
  const auto in_kernel = [&server] {
    int bytes = 0;
    server.GetLooper().ForEachConnection(
        [&bytes](Connection* connection) { ::ioctl(connection->GetFd(), FIONREAD, &bytes); });
    return static_cast<std::size_t>(bytes);
  };
  EXPECT_TRUE(server.Await([&] { return in_kernel() == next.size(); }));
  server.Settle();
  EXPECT_EQ(server.Ask(in_kernel), next.size());
  EXPECT_LE(server.Ask([&] { return all.size(); }), BodyDecoder::kMaxPiece);
  held->Resume();
  EXPECT_EQ(client.Ask(rest.substr(next.size())).status, 204);
  EXPECT_TRUE(all == plain);
}

TEST_P(DecodedRequestsTest, OthersHaveTheirTurnWithinALongBody) {
  bool had_turn = false;  // on the loop's thread
  HttpOptions options = Decoding();
  options.body.max_body_bytes = 8 * kMib;
  const RunningServer server(
      [&](HttpServer& http) {
        http.Post("/long", [&](const ServerRequest& req, const RequestBody& body,
                               const Responder& responder) {
          Looper& looper = req.GetExchange().GetLooper();
          body.OnPiece([&, responder, is_first = true](std::string_view, bool last) mutable {
            if (std::exchange(is_first, false)) {
              EXPECT_TRUE(looper.Post([&had_turn] { had_turn = true; }));
            }
            if (last) {
              responder.Reply(std::move(ServerResponse().Text(had_turn ? "yes" : "no")));
            }
          });
        });
      },
      options);
  EXPECT_EQ(HttpClient(server.Port())
                .Ask(Post("/long", GetParam(), Coded(GetParam(), Numbers(4 * kMib))))
                .body,
            "yes");
}

TEST_P(DecodedRequestsTest, ABombIsRefused) {
  const std::string bomb = Coded(GetParam(), std::string(10 * kMib, '\0'));
  HttpOptions options = Decoding();
  options.body.max_body_bytes = 2 * kMib;
  {
    const RunningServer server(AddRoutes, options);
    const HttpReply reply =
        HttpClient(server.Port()).Ask(Post("/count", "gzip", Coded("gzip", Numbers(2 * kMib + 1))));
    EXPECT_EQ(reply.status, 413);
    EXPECT_NE(reply.body.find("more than 2097152 bytes"), std::string::npos) << reply.body;
    EXPECT_EQ(HttpClient(server.Port()).Ask(Post("/count", GetParam(), bomb)).status, 413);
  }
  options.body.max_body_bytes = 100 * kMib;
  const RunningServer server(AddRoutes, options);
  HttpClient client(server.Port());
  const HttpReply reply = client.Ask(Post("/count", GetParam(), bomb));
  EXPECT_EQ(reply.status, 413);
  EXPECT_NE(reply.body.find("more than 200 times"), std::string::npos) << reply.body;
  EXPECT_EQ(client.Ask(Post("/count", GetParam(), Coded(GetParam(), "next"))).body, "4");
}

TEST_P(DecodedRequestsTest, TheLimitOfTheRouteCountsForThePlainBytes) {
  const RunningServer server(
      [](HttpServer& http) {
        RouteOptions small;
        small.max_body_bytes = 1000;
        http.Post(
            "/small", [](const ServerRequest&, ServerResponse& res) { res.Status(204); }, small);
      },
      Decoding());
  HttpClient client(server.Port());
  EXPECT_EQ(
      client.Ask(Post("/small", GetParam(), Coded(GetParam(), std::string(1000, 'x')))).status,
      204);
  const HttpReply reply =
      client.Ask(Post("/small", GetParam(), Coded(GetParam(), std::string(1001, 'x'))));
  EXPECT_EQ(reply.status, 413);
  EXPECT_NE(reply.body.find("more than 1000 bytes"), std::string::npos) << reply.body;
}

TEST_P(DecodedRequestsTest, WhatIsDamagedOrCutShortIsRefused) {
  const RunningServer server(AddRoutes, Decoding());
  HttpClient client(server.Port());
  const std::string coded = Coded(GetParam(), Numbers(1000));
  const std::string name = GetParam();
  for (const auto& [body, reason] :
       {std::pair<std::string, std::string>(coded + "xx", "The body is not valid " + name),
        {"\xff\xff\xff\xff" + coded, "The body is not valid " + name},
        {coded.substr(0, coded.size() - 1), "The body ends within its " + name + " data"}}) {
    const HttpReply reply = client.Ask(Post("/echo", name, body));
    EXPECT_EQ(reply.status, 400);
    EXPECT_NE(reply.body.find(reason), std::string::npos) << reply.body;
  }
}

TEST_P(DecodedRequestsTest, DamageAfterTheBeginningOfTheResponseCutsIt) {
  const RunningServer server(
      [](HttpServer& http) {
        http.Post("/echo",
                  [](const ServerRequest&, const RequestBody& body, const Responder& responder) {
                    const ReplyStream reply = responder.Stream(ServerResponse());
                    body.OnPiece([reply](std::string_view piece, bool) { reply.Write(piece); });
                  });
      },
      Decoding());
  const std::string coded = Coded(GetParam(), Numbers(200'000));
  const HttpReply reply =
      HttpClient(server.Port()).Ask(Post("/echo", GetParam(), coded.substr(0, coded.size() - 1)));
  EXPECT_EQ(reply.status, 200);
  EXPECT_FALSE(reply.complete);
}

TEST_P(DecodedRequestsTest, AMountedHandlerGetsTheBytesAsTheyWereSent) {
  const RunningServer server(
      [](Exchange& exchange) {
        exchange.OnBody(
            [&exchange, all = std::string()](std::string_view piece, bool last) mutable {
              all += piece;
              if (last) {
                exchange.Reply(TextResponse(200, all));
              }
            });
      },
      Decoding());
  const std::string coded = Coded(GetParam(), "plain");
  EXPECT_EQ(HttpClient(server.Port()).Ask(Post("/", GetParam(), coded)).body, coded);
}

TEST_P(DecodedRequestsTest, OnlyAServerThatIsToldToDecodes) {
  CompressionOptions off;
  off.decode_requests = false;
  const std::string coded = Coded(GetParam(), "plain");
  for (const HttpOptions& options : {HttpOptions(), Decoding(off)}) {
    const RunningServer server(AddRoutes, options);
    HttpClient client(server.Port());
    EXPECT_EQ(client.Ask(Post("/echo", GetParam(), coded)).body, coded);
    EXPECT_EQ(client.Ask(Post("/echo", "compress", coded)).body, coded);
  }
}

TEST(DecodedRequestsTest, AnUnknownCodingIsRefusedBeforeTheBodyIsSent) {
  std::atomic<int> errors{0};
  const RunningServer server(
      [&errors](HttpServer& http) {
        Middleware watch;
        watch.error = [&errors](const ServerRequest&, ServerResponse& res, const std::exception&) {
          ++errors;
          res.Set("X-Seen", "yes");
        };
        http.Use(watch);
        AddRoutes(http);
      },
      Decoding());
  for (const std::string coding :
       {"compress", "deflate", "gzip, br", "br\r\nContent-Encoding: gzip"}) {
    HttpClient client(server.Port());
    ASSERT_TRUE(
        client.Send("POST /echo HTTP/1.1\r\nHost: t\r\nContent-Length: 3\r\n"
                    "Expect: 100-continue\r\nContent-Encoding: " +
                    coding + "\r\n\r\n"));
    const HttpReply reply = client.ReadReply();
    EXPECT_EQ(reply.status, 415) << coding << ", without a 100 before it";
    EXPECT_EQ(reply.Field("Accept-Encoding"), "gzip, br, zstd");
    EXPECT_EQ(reply.Field("X-Seen"), "yes");
  }
  EXPECT_EQ(errors, 4);
}

TEST(DecodedRequestsTest, NamesHaveAnyCaseAndIdentityIsNone) {
  const RunningServer server(AddRoutes, Decoding());
  HttpClient client(server.Port());
  for (const std::string name : {"GZIP", "x-gzip", "gzip,", "identity, gzip"}) {
    EXPECT_EQ(client.Ask(Post("/echo", name, Coded("gzip", "plain"))).body, "plain") << name;
  }
  for (const std::string name : {"identity", "Identity", "", ","}) {
    EXPECT_EQ(client.Ask(Post("/echo", name, "plain")).body, "plain") << name;
  }
  EXPECT_EQ(client.Ask(Post("/count", "gzip", "")).body, "0") << "no body has no coding";
}

TEST(DecodedRequestsTest, ABodyThatIsWaitedForIsAskedFor) {
  const RunningServer server(AddRoutes, Decoding());
  HttpClient client(server.Port());
  const std::string coded = Coded("gzip", "plain");
  const std::string request = Post("/echo", "gzip", coded, "Expect: 100-continue\r\n");
  EXPECT_EQ(client.Ask(request.substr(0, request.size() - coded.size())).status, 100);
  EXPECT_EQ(client.Ask(coded).body, "plain");
}

TEST(DecodedRequestsTest, TheFieldsStayAsTheyWereSent) {
  const RunningServer server(
      [](HttpServer& http) {
        http.Post("/fields", [](const ServerRequest& req, ServerResponse& res) {
          res.Text(std::string(req.Header("Content-Encoding").value_or("none")) + ' ' +
                   std::string(req.Header("Content-Length").value_or("none")));
        });
      },
      Decoding());
  const std::string coded = Coded("br", Numbers(3000));
  EXPECT_EQ(HttpClient(server.Port()).Ask(Post("/fields", "br", coded)).body,
            "br " + std::to_string(coded.size()));
}

TEST(DecodedRequestsTest, TheDeclaredLengthStillCounts) {
  HttpOptions options = Decoding();
  options.body.max_body_bytes = 100;
  const RunningServer server(AddRoutes, options);
  HttpClient client(server.Port());
  EXPECT_EQ(client
                .Ask("POST /echo HTTP/1.1\r\nHost: t\r\nContent-Encoding: gzip\r\n"
                     "Content-Length: 101\r\n\r\n")
                .status,
            413);
}

}  // namespace
}  // namespace TURTLE_SERVER
