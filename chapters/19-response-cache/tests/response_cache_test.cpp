// Which responses a cache keeps, and which clients get them.
#include <fcntl.h>
#include <gtest/gtest.h>

#include <chrono>
#include <stdexcept>
#include <string>

#include "support/cached_server.h"
#include "support/site_folder.h"

namespace TURTLE_SERVER {
namespace {

using namespace std::chrono_literals;
using test::Asked;
using test::CachedServer;
using test::Get;
using test::HttpClient;
using test::HttpReply;

auto Numbered(Response (*make)(const std::string& text)) -> test::Answer {
  return [make, number = 0](Exchange& exchange) mutable {
    exchange.Reply(make("reply " + std::to_string(++number)));
  };
}

auto Plain(const std::string& text) -> Response { return TextResponse(200, text); }

auto Tagged(const std::string& text) -> Response {
  return TextResponse(200, text)
      .Set("ETag", "\"t\"")
      .Set("Last-Modified", "Sun, 06 Nov 1994 08:49:37 GMT")
      .Set("Cache-Control", "max-age=5");
}

TEST(ResponseCacheTest, TheSecondIsAnsweredWithoutTheHandler) {
  CachedServer server(Numbered(Plain));
  const HttpReply first = server.Ask("/a");
  const HttpReply second = server.Ask("/a");
  EXPECT_EQ(second.status, 200);
  EXPECT_EQ(second.body, "reply 1");
  EXPECT_TRUE(second.complete);
  EXPECT_EQ(second.Field("Age"), "0");
  EXPECT_EQ(first.Field("Age"), "");
  EXPECT_EQ(second.Field("Date"), first.Field("Date")) << "it was made then";
  EXPECT_EQ(second.Field("Content-Type"), first.Field("Content-Type"));
  EXPECT_EQ(second.Field("Content-Length"), "7");
  EXPECT_EQ(server.Ask("/b").body, "reply 2") << "another target";
  EXPECT_EQ(server.Ask("/a?b").body, "reply 3");
  EXPECT_EQ(server.Calls(), 3);
}

TEST(ResponseCacheTest, AReplyGrowsOldAndIsMadeAnew) {
  CachedServer server(Numbered(Plain));
  EXPECT_EQ(server.Ask("/").body, "reply 1");
  server.Server().Advance(9999ms);
  const HttpReply old = server.Ask("/");
  EXPECT_EQ(old.body, "reply 1");
  EXPECT_EQ(old.Field("Age"), "9");
  server.Server().Advance(1ms);
  const HttpReply made_anew = server.Ask("/");
  EXPECT_EQ(made_anew.body, "reply 2");
  EXPECT_EQ(made_anew.Field("Age"), "");
  EXPECT_EQ(server.Ask("/").Field("Age"), "0");
}

TEST(ResponseCacheTest, ItsOwnAgeIsAdded) {
  CachedServer server([](Exchange& exchange) {
    exchange.Reply(TextResponse(200, "a").Set("Age", "50").Set("Cache-Control", "max-age=60"));
  });
  server.Ask("/");
  server.Server().Advance(9s);
  const HttpReply reply = server.Ask("/");
  EXPECT_EQ(reply.Field("Age"), "59");
  EXPECT_EQ(reply.head.find("Age: 50"), std::string::npos);
  server.Server().Advance(1s);
  server.Ask("/");
  EXPECT_EQ(server.Calls(), 2);
}

TEST(ResponseCacheTest, TheHostCountsInAnyCase) {
  CachedServer server(Numbered(Plain));
  const auto ask = [&](const std::string& host) {
    return HttpClient(server.Port()).Ask("GET / HTTP/1.1\r\nHost: " + host + "\r\n\r\n").body;
  };
  EXPECT_EQ(ask("a.example"), "reply 1");
  EXPECT_EQ(ask("b.example"), "reply 2");
  EXPECT_EQ(ask("A.Example"), "reply 1");
}

TEST(ResponseCacheTest, AnOldClientIsAnsweredInItsWay) {
  CachedServer server(Numbered(Plain));
  server.Ask("/");
  HttpClient old(server.Port());
  const HttpReply reply = old.Ask("GET / HTTP/1.0\r\nHost: t\r\nConnection: keep-alive\r\n\r\n");
  EXPECT_EQ(reply.body, "reply 1");
  EXPECT_EQ(reply.Field("Connection"), "keep-alive");
  EXPECT_EQ(old.Ask("GET / HTTP/1.0\r\nHost: t\r\n\r\n").Field("Connection"), "close");
  EXPECT_TRUE(old.IsClosedByServer());
  EXPECT_EQ(server.Calls(), 1);
}

TEST(ResponseCacheTest, HeadIsAnsweredByWhatGetHasLeft) {
  CachedServer server(Numbered(Tagged));
  HttpClient client(server.Port());
  const std::string head = "HEAD / HTTP/1.1\r\nHost: t\r\n\r\n";
  EXPECT_EQ(client.Ask(head, Asked::kHead).status, 200);
  EXPECT_EQ(client.Ask(Get("/")).body, "reply 2") << "a reply to HEAD is not kept";
  const HttpReply reply = client.Ask(head, Asked::kHead);
  EXPECT_EQ(reply.Field("Content-Length"), "7");
  EXPECT_EQ(reply.Field("ETag"), "\"t\"");
  EXPECT_EQ(reply.Field("Age"), "0");
  EXPECT_EQ(client.Ask(Get("/")).body, "reply 2") << "and no body was sent before";
  EXPECT_EQ(server.Calls(), 2);
}

TEST(ResponseCacheTest, WhoHasItAlreadyIsToldSo) {
  CachedServer server(Numbered(Tagged));
  HttpClient client(server.Port());
  EXPECT_EQ(client.Ask(Get("/")).status, 200);
  for (const char* condition : {"If-None-Match: \"a\", W/\"t\"\r\n",
                                "If-Modified-Since: Sun, 06 Nov 1994 08:49:37 GMT\r\n"}) {
    const HttpReply reply = client.Ask(Get("/", condition));
    EXPECT_EQ(reply.status, 304) << condition;
    EXPECT_EQ(reply.Field("ETag"), "\"t\"");
    EXPECT_EQ(reply.Field("Cache-Control"), "max-age=5");
    EXPECT_EQ(reply.Field("Age"), "0");
    EXPECT_NE(reply.Field("Date"), "");
    EXPECT_EQ(reply.Field("Content-Type"), "");
    EXPECT_EQ(reply.Field("Content-Length"), "");
  }
  EXPECT_EQ(client.Ask(Get("/", "If-None-Match: \"u\"\r\n")).body, "reply 1");
  EXPECT_EQ(client.Ask(Get("/", "If-Modified-Since: Sun, 06 Nov 1994 08:49:36 GMT\r\n")).body,
            "reply 1");
  EXPECT_EQ(server.Calls(), 1);
}

TEST(ResponseCacheTest, AReplyInPiecesIsKeptAsAWhole) {
  CachedServer server([](Exchange& exchange) {
    exchange.BeginReply(Response(200).Set("X-A", "b"));
    exchange.Write("one, ");
    exchange.Write("two");
    exchange.End();
  });
  EXPECT_EQ(server.Ask("/").Field("Transfer-Encoding"), "chunked");
  const HttpReply reply = server.Ask("/");
  EXPECT_EQ(reply.body, "one, two");
  EXPECT_EQ(reply.Field("Transfer-Encoding"), "");
  EXPECT_EQ(reply.Field("Content-Length"), "8");
  EXPECT_EQ(reply.Field("X-A"), "b");
  EXPECT_EQ(server.Calls(), 1);
}

TEST(ResponseCacheTest, AReplyWithoutABodyIsKept) {
  CachedServer server([](Exchange& exchange) { exchange.Reply(Response(204)); });
  HttpClient client(server.Port());
  client.Ask(Get("/"));
  const HttpReply reply = client.Ask(Get("/"));
  EXPECT_EQ(reply.status, 204);
  EXPECT_EQ(reply.Field("Content-Length"), "");
  EXPECT_EQ(client.Ask(Get("/")).status, 204);
  EXPECT_EQ(server.Calls(), 1);
}

TEST(ResponseCacheTest, AStatusAndFieldsAreKept) {
  CachedServer server([](Exchange& exchange) {
    exchange.Reply(ErrorResponse(404).Add("X-A", "1").Add("X-A", "2").Set("Keep-Alive", "max=1"));
  });
  server.Ask("/");
  const HttpReply reply = server.Ask("/");
  EXPECT_EQ(reply.status, 404);
  EXPECT_NE(reply.head.find("HTTP/1.1 404 Not Found\r\n"), std::string::npos);
  EXPECT_NE(reply.head.find("X-A: 1\r\nX-A: 2\r\n"), std::string::npos);
  EXPECT_EQ(reply.Field("Keep-Alive"), "") << "speaks of one connection";
  EXPECT_EQ(server.Calls(), 1);
}

TEST(ResponseCacheTest, AReplyThatVariesIsKeptForEachValue) {
  CachedServer server([](Exchange& exchange) {
    const auto language = exchange.GetRequest().headers.Find(KnownField::kAcceptLanguage);
    exchange.Reply(
        TextResponse(200, language.value_or("none")).Set("Vary", "Accept-Language, X-A"));
  });
  for (int i = 0; i < 3; ++i) {
    EXPECT_EQ(server.Ask("/", "Accept-Language: de\r\n").body, "de");
    EXPECT_EQ(server.Ask("/", "Accept-Language: en\r\n").body, "en");
    EXPECT_EQ(server.Ask("/").body, "none");
  }
  EXPECT_EQ(server.Calls(), 3);
  server.Ask("/", "X-A: other\r\n");
  EXPECT_EQ(server.Calls(), 4);
}

TEST(ResponseCacheTest, AClientWithACookieGetsNoReplyThatDoesNotMentionIt) {
  CachedServer server(Numbered(Plain));
  EXPECT_EQ(server.Ask("/", "Cookie: a=1\r\n").body, "reply 1");
  EXPECT_EQ(server.Ask("/").body, "reply 2") << "and leaves none";
  EXPECT_EQ(server.Ask("/", "Cookie: a=1\r\n").body, "reply 3");
  EXPECT_EQ(server.Ask("/").body, "reply 2");
}

TEST(ResponseCacheTest, AReplyThatSpeaksOfKeepingIsForClientsWithCookiesToo) {
  CachedServer server(Numbered(Tagged));
  EXPECT_EQ(server.Ask("/", "Cookie: a=1\r\n").body, "reply 1");
  EXPECT_EQ(server.Ask("/", "Cookie: a=2\r\n").body, "reply 1");
  EXPECT_EQ(server.Ask("/").body, "reply 1");
}

TEST(ResponseCacheTest, NothingIsKeptForOrGivenToWhoeverHasAuthorization) {
  CachedServer server(Numbered(Tagged));
  EXPECT_EQ(server.Ask("/", "Authorization: Basic x\r\n").body, "reply 1");
  EXPECT_EQ(server.Ask("/").body, "reply 2");
  EXPECT_EQ(server.Ask("/", "Authorization: Basic x\r\n").body, "reply 3");
}

TEST(ResponseCacheTest, AReplyWithSetCookieIsForOneClient) {
  CachedServer server(
      Numbered([](const std::string& text) { return Tagged(text).Set("Set-Cookie", "a=1"); }));
  EXPECT_EQ(server.Ask("/").body, "reply 1");
  EXPECT_EQ(server.Ask("/").body, "reply 2");
}

TEST(ResponseCacheTest, AClientMayWantANewOne) {
  CachedServer server(Numbered(Plain));
  EXPECT_EQ(server.Ask("/").body, "reply 1");
  EXPECT_EQ(server.Ask("/", "Cache-Control: no-cache\r\n").body, "reply 2");
  EXPECT_EQ(server.Ask("/").body, "reply 2") << "that is the one for all from now on";
  server.Server().Advance(2s);
  EXPECT_EQ(server.Ask("/", "Cache-Control: max-age=2\r\n").body, "reply 2");
  EXPECT_EQ(server.Ask("/", "Cache-Control: max-age=1\r\n").body, "reply 3");
  EXPECT_EQ(server.Ask("/", "Cache-Control: min-fresh=10\r\n").body, "reply 3");
  EXPECT_EQ(server.Ask("/", "Cache-Control: min-fresh=11\r\n").body, "reply 4");
  EXPECT_EQ(server.Ask("/", "Cache-Control: no-store\r\n").body, "reply 5");
  EXPECT_EQ(server.Ask("/").body, "reply 4");
  EXPECT_EQ(server.Ask("/", "Cache-Control: only-if-cached\r\n").body, "reply 4");
  EXPECT_EQ(server.Ask("/b", "Cache-Control: only-if-cached\r\n").status, 504);
  EXPECT_EQ(server.Calls(), 5);
}

TEST(ResponseCacheTest, ARequestThatMayChangeSomethingDropsWhatWasKept) {
  CachedServer server([number = 0](Exchange& exchange) mutable {
    if (exchange.GetRequest().method == Method::kGet) {
      exchange.Reply(TextResponse(200, std::to_string(++number)).Set("Vary", "X-A"));
    } else if (exchange.GetRequest().method == Method::kPut) {
      exchange.Reply(ErrorResponse(403));
    } else {
      exchange.BeginReply(Response(201));
      exchange.End();
    }
  });
  const auto send = [&](const std::string& method, const std::string& target) {
    return HttpClient(server.Port()).Ask(method + " " + target + " HTTP/1.1\r\nHost: T\r\n\r\n");
  };
  EXPECT_EQ(server.Ask("/a").body, "1");
  EXPECT_EQ(server.Ask("/a", "X-A: 1\r\n").body, "2");
  EXPECT_EQ(server.Ask("/a-b").body, "3");
  EXPECT_EQ(send("PUT", "/a").status, 403);
  EXPECT_EQ(server.Ask("/a").body, "1") << "what was refused has changed nothing";
  EXPECT_EQ(send("POST", "/a").status, 201);
  EXPECT_EQ(server.Ask("/a").body, "4");
  EXPECT_EQ(server.Ask("/a", "X-A: 1\r\n").body, "5") << "a variant goes as well";
  EXPECT_EQ(server.Ask("/a-b").body, "3") << "another target doesn't";
  EXPECT_EQ(send("DELETE", "http://t/a").status, 201);
  EXPECT_EQ(server.Ask("/a").body, "6");
}

TEST(ResponseCacheTest, AChangeDropsItsTargetHoweverItIsWritten) {
  CachedServer server([number = 0](Exchange& exchange) mutable {
    const bool get = exchange.GetRequest().method == Method::kGet;
    exchange.Reply(TextResponse(200, get ? std::to_string(++number) : "done"));
  });
  const auto ask = [&](const std::string& method, const std::string& target,
                       const std::string& host = "t") {
    const std::string line = method + " " + target;
    return HttpClient(server.Port()).Ask(line + " HTTP/1.1\r\nHost: " + host + "\r\n\r\n").body;
  };
  int number = 0;
  for (const char* target : {"//a/b&c?d=e", "/./a/b&c?d=e", "/a/x/../b&c?d=e", "/%61/%62&c?d=e",
                             "/a/b%26c?d=e", "/a/b&c?%64=e", "http://T:80/a/b&c?d=e"}) {
    EXPECT_EQ(ask("GET", "/a/b&c?d=e"), std::to_string(++number));
    EXPECT_EQ(ask("GET", "/a/b&c?d=e"), std::to_string(number)) << target;
    EXPECT_EQ(ask("POST", target), "done");
  }
  EXPECT_EQ(ask("GET", "/a/b&c?d=e"), std::to_string(++number));
  EXPECT_EQ(ask("POST", "/a/b&c?d=e", "T:80"), "done");
  EXPECT_EQ(ask("GET", "/a/b&c?d=e"), std::to_string(++number));
  EXPECT_EQ(ask("GET", "//a/%62&c?d=e"), std::to_string(number)) << "it is the same resource";
  EXPECT_EQ(ask("GET", "/a/b%26c?d=e"), std::to_string(number + 1)) << "it may be another one";
  for (const char* other : {"/a/b&c?e=d", "/a/b&c", "/A/b&c?d=e", "/a/b&c/?d=e", "/a/b&c?d=e&"}) {
    EXPECT_EQ(ask("POST", other), "done");
    EXPECT_EQ(ask("GET", "/a/b&c?d=e"), std::to_string(number)) << other << " is another";
  }
}

TEST(ResponseCacheTest, OnlyTheHandlersOwnWordsAreKept) {
  CachedServer server([](Exchange& exchange) { exchange.Abort(404, {}); });
  EXPECT_EQ(server.Ask("/").status, 404);
  EXPECT_EQ(server.Ask("/").status, 404);
  EXPECT_EQ(server.Calls(), 2);
}

TEST(ResponseCacheTest, WhatIsAbortedHasChangedNothing) {
  CachedServer server([number = 0](Exchange& exchange) mutable {
    if (exchange.GetRequest().method == Method::kGet) {
      exchange.Reply(TextResponse(200, std::to_string(++number)));
    } else {
      exchange.Abort(403, {});
    }
  });
  EXPECT_EQ(server.Ask("/").body, "1");
  EXPECT_EQ(HttpClient(server.Port()).Ask("POST / HTTP/1.1\r\nHost: t\r\n\r\n").status, 403);
  EXPECT_EQ(server.Ask("/").body, "1");
}

TEST(ResponseCacheTest, AReplyByAnotherPathDropsWhatWasKept) {
  CachedServer server([number = 0](Exchange& exchange) mutable {
    if (exchange.GetRequest().method == Method::kPost) {
      exchange.ReplyFrom("/shown");
    } else {
      exchange.Reply(TextResponse(200, std::to_string(++number)));
    }
  });
  EXPECT_EQ(server.Ask("/a").body, "1");
  EXPECT_EQ(HttpClient(server.Port()).Ask("POST /a HTTP/1.1\r\nHost: t\r\n\r\n").body, "2");
  EXPECT_EQ(server.Ask("/a").body, "3");
  EXPECT_EQ(server.Ask("/shown").body, "2") << "which is kept by its own name";
}

TEST(ResponseCacheTest, WhatWasBegunBeforeAChangeIsNotKept) {
  test::Waiting waiting;
  CachedServer server([&waiting](Exchange& exchange) {
    if (exchange.GetRequest().method == Method::kGet) {
      waiting.Keep(exchange);
    } else {
      exchange.Reply(Response(204));
    }
  });
  HttpClient client(server.Port());
  client.Send(Get("/"));
  const auto waits = [&] { return waiting.Count() == 1; };
  ASSERT_TRUE(server.Server().Loop().Await(waits));
  Exchange* const before = server.Server().Loop().Ask([&] { return waiting.Last(); });
  HttpClient(server.Port()).Ask("POST / HTTP/1.1\r\nHost: t\r\n\r\n");
  HttpClient later(server.Port());
  later.Send(Get("/"));
  EXPECT_TRUE(server.Server().Loop().Await([&] { return waiting.Count() == 2; }))
      << "nobody joins who waits for it";
  later.Reset();
  ASSERT_TRUE(server.Server().Loop().Await(waits));
  server.Server().Loop().Ask([&] { before->Reply(TextResponse(200, "old")); });
  EXPECT_EQ(client.ReadReply().body, "old");
  client.Send(Get("/"));
  EXPECT_TRUE(server.Server().Loop().Await(waits)) << "the handler is asked once more";
}

TEST(ResponseCacheTest, ALongReplyIsSentAndNotKept) {
  ResponseCacheOptions options;
  options.max_reply_bytes = 2000;
  CachedServer server(
      [](Exchange& exchange) {
        const auto size = std::stoul(std::string(exchange.GetRequest().uri.Query()));
        exchange.Reply(TextResponse(200, std::string(size, 'x')));
      },
      options);
  for (int i = 0; i < 2; ++i) {
    EXPECT_EQ(server.Ask("/?500").body.size(), 500U);
    EXPECT_EQ(server.Ask("/?2000").body.size(), 2000U) << "too long with what is said of it";
    EXPECT_EQ(server.Ask("/?3000").body.size(), 3000U);
  }
  EXPECT_EQ(server.Calls(), 5);
}

TEST(ResponseCacheTest, WhatIsKeptIsBoundedInBytes) {
  ResponseCacheOptions options;
  options.max_bytes = 20'000;
  options.max_reply_bytes = 10'000;
  CachedServer server(
      [](Exchange& exchange) { exchange.Reply(TextResponse(200, std::string(3000, 'x'))); },
      options);
  for (int i = 0; i < 100; ++i) {
    server.Ask("/?" + std::to_string(i));
  }
  const LruStats stats = server.Server().Loop().Ask([&] { return server.Cache().Stats(); });
  EXPECT_LE(stats.bytes, 20'000U);
  EXPECT_GE(stats.entries, 3U);
  EXPECT_EQ(server.Keys(), stats.entries) << "of what goes, nothing is left in the table";
}

TEST(ResponseCacheTest, WhatIsHeardIsBoundedToo) {
  ResponseCacheOptions options;
  options.max_bytes = 20'000;
  options.max_reply_bytes = 15'000;
  Exchange* slow = nullptr;
  CachedServer server(
      [&slow](Exchange& exchange) {
        if (exchange.SubPath() == "/slow" && slow == nullptr) {
          slow = &exchange;
          exchange.BeginReply(Response(200));
          exchange.Write(std::string(12'000, 'x'));
        } else {
          exchange.Reply(TextResponse(200, std::string(9000, 'x')));
        }
      },
      options);
  HttpClient first(server.Port());
  first.Send(Get("/slow"));
  ASSERT_TRUE(server.Server().Loop().Await([&] { return slow != nullptr; }));
  server.Ask("/a");
  server.Ask("/a");
  EXPECT_EQ(server.Calls(), 3) << "both at once are too much";
  server.Server().Loop().Ask([&] { slow->End(); });
  EXPECT_EQ(first.ReadReply().body.size(), 12'000U);
  server.Ask("/slow");
  EXPECT_EQ(server.Calls(), 3);
  server.Ask("/a");
  server.Ask("/a");
  EXPECT_EQ(server.Calls(), 4) << "nothing is heard any more";
}

TEST(ResponseCacheTest, FilesAreLeftToTheirOwnCache) {
  test::SiteFolder folder;
  folder.Write("f", "file");
  CachedServer server([&folder](Exchange& exchange) {
    UniqueFd file(::open(folder.Path("f").c_str(), O_RDONLY | O_CLOEXEC));
    exchange.Reply(Response(200).Body(OwnFileSlice(std::move(file), 0, 4)));
  });
  EXPECT_EQ(server.Ask("/").body, "file");
  EXPECT_EQ(server.Ask("/").body, "file");
  EXPECT_EQ(server.Calls(), 2);
}

TEST(ResponseCacheTest, AnErrorThatMayPassIsNotKept) {
  CachedServer server([number = 0](Exchange& exchange) mutable {
    if (++number == 1) {
      throw std::runtime_error("fails");
    }
    exchange.Reply(TextResponse(200, "fine"));
  });
  EXPECT_EQ(server.Ask("/").status, 500);
  EXPECT_EQ(server.Ask("/").body, "fine");
  EXPECT_EQ(server.Ask("/").body, "fine");
  EXPECT_EQ(server.Calls(), 2);
}

TEST(ResponseCacheTest, PipelinedRequestsAreAnsweredInOrder) {
  CachedServer server(Numbered(Plain));
  HttpClient client(server.Port());
  client.Send(Get("/a") + Get("/a") + Get("/b") + Get("/a"));
  for (const char* body : {"reply 1", "reply 1", "reply 2", "reply 1"}) {
    EXPECT_EQ(client.ReadReply().body, body);
  }
}

}  // namespace
}  // namespace TURTLE_SERVER
