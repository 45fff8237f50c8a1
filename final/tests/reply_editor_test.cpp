// The editor of an exchange: it changes each response once, however the handler makes it.
#include "web/reply_editor.h"

#include <fcntl.h>
#include <gtest/gtest.h>

#include <functional>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/pin.h"
#include "base/unique_fd.h"
#include "response_cache/response_cache.h"
#include "sites/sites.h"
#include "support/captured_stderr.h"
#include "support/clocked_server.h"
#include "support/frame_client.h"
#include "support/frame_session.h"
#include "support/http_client.h"
#include "support/running_server.h"
#include "support/site_folder.h"
#include "web/exchange.h"
#include "web/reply_tap.h"
#include "web/server_response.h"

namespace TURTLE_SERVER {
namespace {

using test::Answer;
using test::Asked;
using test::Get;
using test::HttpClient;
using test::HttpReply;
using test::RunningServer;

constexpr const char* kReady = "X-Own: 1\r\nContent-Length: 5\r\n\r\nready";

// Adds a field, and notes how it was called.
class Editor : public ReplyEditor {
 public:
  void Edit(Exchange&, Response& response, Edited part) noexcept override {
    calls_ += part == Edited::kWhole ? "whole;" : "head;";
    seen_ = response.Find("X-Own").value_or("");
    response.Add("X-Edited", "yes");
    if (!body_.empty() && part == Edited::kWhole) {
      response.Body(body_);
    }
  }

  auto LinesFor(Exchange&, std::string_view start, std::string_view text) noexcept
      -> std::optional<std::string_view> override {
    calls_ += "lines;";
    start_ = start;
    text_ = text;
    return lines_;
  }

  // Returns the calls since the last time.
  auto TakeCalls() -> std::string { return std::exchange(calls_, ""); }

  std::optional<std::string_view> lines_ = "X-Edited: yes\r\n";
  std::string body_;   // "": the handler's
  std::string seen_;   // the field X-Own in Edit()
  std::string start_;  // of LinesFor()
  std::string text_;

 private:
  std::string calls_;
};

// Changes a response before the editor does.
class Filter : public ReplyFilter {
 public:
  void OnReply(Exchange&, ServerResponse& response) noexcept override {
    response.Set("X-Own", "filtered");
    if (!body_.empty()) {
      response.Text(body_);
    }
  }

  std::string body_;
};

// Notes what it hears.
class Tap : public ReplyTap {
 public:
  explicit Tap(std::string& heard) : heard_(heard) {}
  void OnHead(const Response& head) noexcept override {
    heard_ += head.Find("X-Edited") ? "edited head;" : "head;";
  }
  void OnBody(std::string_view bytes) noexcept override { heard_.append(bytes).append(";"); }
  void OnEnd() noexcept override { heard_ += "end;"; }

 private:
  std::string& heard_;
};

class ReplyEditorTest : public testing::Test {
 protected:
  // Requests a page from a handler with an editor.
  auto Ask(Answer answer, const std::string& request = Get("/"), Asked asked = Asked::kGet)
      -> HttpReply {
    RunningServer server([&](Exchange& exchange) {
      exchange.Edit(&editor_);
      answer(exchange);
    });
    return HttpClient(server.Port()).Ask(request, asked);
  }

  Editor editor_;
};

auto Count(std::string_view text, std::string_view part) -> int {
  int count = 0;
  for (std::size_t at = text.find(part); at != std::string_view::npos;
       at = text.find(part, at + 1)) {
    ++count;
  }
  return count;
}

void InPieces(Exchange& exchange) {
  exchange.BeginReply(std::move(Response(200).Set("X-Own", "1")));
  exchange.Write("pie");
  exchange.Write("ces");
  exchange.End();
}

TEST_F(ReplyEditorTest, ItSeesTheWholeResponse) {
  editor_.body_ = "another";
  const HttpReply reply = Ask([](Exchange& exchange) {
    Response response = TextResponse(201, "body").Set("X-Own", "1");
    exchange.Reply(response);
    EXPECT_EQ(response.Find("X-Edited"), std::nullopt) << "the handler may keep it";
  });
  EXPECT_EQ(reply.status, 201);
  EXPECT_EQ(reply.body, "another");
  EXPECT_EQ(reply.Field("X-Edited"), "yes");
  EXPECT_EQ(editor_.seen_, "1");
  EXPECT_EQ(editor_.TakeCalls(), "whole;");
}

TEST_F(ReplyEditorTest, ToHeadItsBodyIsOnlyMeasured) {
  editor_.body_ = "another";
  const HttpReply reply =
      Ask([](Exchange& exchange) { exchange.Reply(TextResponse(200, "body")); },
          "HEAD / HTTP/1.1\r\nHost: t\r\nConnection: close\r\n\r\n", Asked::kHead);
  EXPECT_EQ(reply.Field("Content-Length"), "7");
}

TEST_F(ReplyEditorTest, ItSeesTheHeadOfAResponseInPieces) {
  const HttpReply reply = Ask(InPieces);
  EXPECT_EQ(reply.body, "pieces");
  EXPECT_TRUE(reply.complete);
  EXPECT_EQ(reply.Field("X-Edited"), "yes");
  EXPECT_EQ(editor_.TakeCalls(), "head;");
}

TEST_F(ReplyEditorTest, APreparedResponseGetsItsLines) {
  for (const char* version : {"HTTP/1.1", "HTTP/1.0"}) {
    const HttpReply reply = Ask(
        [](Exchange& exchange) {
          exchange.Reply(ReadyReply{ReadyStatus::kOk, kReady, 5});
        },
        std::string("GET / ") + version + "\r\nHost: t\r\n\r\n");
    EXPECT_EQ(reply.body, "ready");
    EXPECT_EQ(reply.Field("X-Edited"), "yes");
    EXPECT_EQ(reply.Field("X-Own"), "1");
    EXPECT_EQ(editor_.start_, "");
    EXPECT_EQ(editor_.text_, kReady);
    EXPECT_EQ(editor_.TakeCalls(), "lines;");
  }
}

TEST_F(ReplyEditorTest, TheStartOfAPreparedResponseIsShownToo) {
  const char* const start = "HTTP/1.1 404 Not Found\r\nAge: 3\r\n";
  const HttpReply reply = Ask([&](Exchange& exchange) {
    exchange.Reply(404, start, {ReadyStatus::kOk, kReady, 5});
  });
  EXPECT_EQ(reply.status, 404);
  EXPECT_EQ(reply.Field("Age"), "3");
  EXPECT_EQ(reply.Field("X-Edited"), "yes");
  EXPECT_EQ(editor_.start_, start);
}

TEST_F(ReplyEditorTest, NoLinesLeaveAPreparedResponseAsItIs) {
  editor_.lines_ = "";
  const HttpReply reply = Ask([](Exchange& exchange) {
    exchange.Reply(ReadyReply{ReadyStatus::kOk, kReady, 5});
  });
  EXPECT_EQ(reply.body, "ready");
  EXPECT_EQ(reply.Field("X-Edited"), "");
}

TEST_F(ReplyEditorTest, WithoutLinesAPreparedResponseIsEditedAsAWhole) {
  editor_.lines_ = std::nullopt;
  const HttpReply reply = Ask([](Exchange& exchange) {
    exchange.Reply(ReadyReply{ReadyStatus::kOk, kReady, 5});
  });
  EXPECT_EQ(reply.body, "ready");
  EXPECT_EQ(editor_.seen_, "1");
  EXPECT_EQ(Count(reply.head, "X-Own"), 1);
  EXPECT_EQ(Count(reply.head, "Date"), 1);
  EXPECT_EQ(reply.Field("X-Edited"), "yes");
  EXPECT_EQ(editor_.TakeCalls(), "lines;whole;");
}

TEST_F(ReplyEditorTest, WithoutLinesA304KeepsItsFieldsAndAFileItsBody) {
  editor_.lines_ = std::nullopt;
  const test::SiteFolder folder;
  folder.Write("a", "of a file");
  const UniqueFd file(::open(folder.Path("a").c_str(), O_RDONLY | O_CLOEXEC));
  const HttpReply whole = Ask([&](Exchange& exchange) {
    exchange.Reply(ReadyReply{ReadyStatus::kOk, "Content-Length: 9\r\n\r\n", 9, {}, file.Get()});
  });
  EXPECT_EQ(whole.body, "of a file");
  EXPECT_EQ(whole.Field("X-Edited"), "yes");
  const HttpReply same = Ask([&](Exchange& exchange) {
    exchange.Reply(ReadyReply{ReadyStatus::kNotModified, "ETag: \"t\"\r\n\r\n", 0});
  });
  EXPECT_EQ(same.status, 304);
  EXPECT_EQ(same.Field("ETag"), "\"t\"");
  EXPECT_EQ(same.Field("X-Edited"), "yes");
}

TEST_F(ReplyEditorTest, AnErrorPageIsEditedAsWell) {
  const test::CapturedStderr errors;
  for (const int status : {500, 418}) {
    const HttpReply reply = Ask([status](Exchange& exchange) {
      if (status == 500) {
        throw std::runtime_error("broken");
      }
      exchange.Abort(status, "detail");
    });
    EXPECT_EQ(reply.status, status);
    EXPECT_EQ(reply.Field("X-Edited"), "yes");
    EXPECT_EQ(editor_.TakeCalls(), "whole;");
  }
}

TEST_F(ReplyEditorTest, ASecondResponseIsNotEdited) {
  const HttpReply reply = Ask([&](Exchange& exchange) {
    exchange.BeginReply(Response(200), 4);
    exchange.Edit(&editor_);
    EXPECT_THROW(exchange.Reply(Response(200)), std::logic_error);
    EXPECT_THROW(exchange.Reply(ReadyReply{ReadyStatus::kOk, kReady, 5}), std::logic_error);
    EXPECT_THROW(exchange.BeginReply(Response(200)), std::logic_error);
    exchange.Write("body");
    exchange.End();
  });
  EXPECT_EQ(reply.body, "body");
  EXPECT_EQ(editor_.TakeCalls(), "head;");
}

TEST_F(ReplyEditorTest, TheNextRequestOfTheConnectionHasNoEditor) {
  int requests = 0;
  RunningServer server([&](Exchange& exchange) {
    if (++requests == 1) {
      exchange.Edit(&editor_);
    }
    exchange.Reply(ReadyReply{ReadyStatus::kOk, kReady, 5});
  });
  HttpClient client(server.Port());
  EXPECT_EQ(client.Ask(Get("/")).Field("X-Edited"), "yes");
  EXPECT_EQ(client.Ask(Get("/")).Field("X-Edited"), "");
  EXPECT_EQ(editor_.TakeCalls(), "lines;");
}

TEST_F(ReplyEditorTest, AResponseMayComeLate) {
  test::Waiting waiting;
  RunningServer server([&](Exchange& exchange) {
    exchange.Edit(&editor_);
    waiting.Keep(exchange);
  });
  HttpClient client(server.Port());
  ASSERT_TRUE(client.Send(Get("/")));
  ASSERT_TRUE(server.Await([&] { return waiting.Count() == 1; }));
  server.Ask([&] { waiting.Last()->Reply(TextResponse(200, "late")); });
  EXPECT_EQ(client.ReadReply().Field("X-Edited"), "yes");
}

TEST_F(ReplyEditorTest, AnotherPathOfTheServerHasItsOwn) {
  RunningServer server([&](Exchange& exchange) {
    if (exchange.GetRequest().uri.Path() == "/first") {
      exchange.Edit(&editor_);
      exchange.ReplyFrom("/second");
    } else {
      exchange.Reply(TextResponse(200, "second"));
    }
  });
  const HttpReply reply = HttpClient(server.Port()).Ask(Get("/first"));
  EXPECT_EQ(reply.body, "second");
  EXPECT_EQ(reply.Field("X-Edited"), "");
  EXPECT_EQ(editor_.TakeCalls(), "");
}

TEST_F(ReplyEditorTest, AnUpgradeIsNotEdited) {
  LoopHttp* loop_http = nullptr;
  test::ClockedServer server([&](Looper& looper, LoopHttp& http) {
    loop_http = &http;
    http.Mount("/", test::Answering([&](Exchange& exchange) {
                 exchange.Edit(&editor_);
                 exchange.Upgrade("frames", Response(101), [&](Connection& connection) {
                   return std::make_unique<test::FrameSession>(connection, *loop_http);
                 });
               })(looper));
  });
  HttpClient client(server.Port());
  const HttpReply reply = client.Ask(Get("/", "Connection: upgrade\r\nUpgrade: frames\r\n"));
  EXPECT_EQ(reply.status, 101);
  EXPECT_EQ(reply.Field("X-Edited"), "");
  EXPECT_EQ(server.Loop().Ask([&] { return editor_.TakeCalls(); }), "");
}

TEST_F(ReplyEditorTest, OtherProtocolsSendTheLinesToo) {
  test::ClockedServer server(
      [&](Looper& looper, LoopHttp& http) {
        http.Mount("/", test::Answering([&](Exchange& exchange) {
                     exchange.Edit(&editor_);
                     exchange.Reply(ReadyReply{ReadyStatus::kOk, kReady, 5});
                   })(looper));
      },
      {},
      [](Connection& connection, LoopHttp& http) {
        return std::make_unique<test::FrameSession>(connection, http);
      });
  test::FrameClient client(server.Port());
  const test::FrameReply reply = client.Ask("GET /\r\n\r\n");
  EXPECT_EQ(reply.body, "ready");
  EXPECT_NE(reply.head.find("X-Own: 1\r\n"), std::string::npos) << reply.head;
  EXPECT_NE(reply.head.find("X-Edited: yes\r\n"), std::string::npos) << reply.head;
}

TEST_F(ReplyEditorTest, AFilterComesBeforeIt) {
  Filter filter;
  const std::vector<std::pair<Answer, const char*>> answers = {
      {[](Exchange& exchange) { exchange.Reply(TextResponse(200, "x").Set("X-Own", "1")); },
       "whole;"},
      {InPieces, "head;"},
      {[](Exchange& exchange) {
         exchange.Reply(ReadyReply{ReadyStatus::kOk, kReady, 5});
       },
       "whole;"}};
  for (const auto& [answer, calls] : answers) {
    const HttpReply reply = Ask([&filter, &answer = answer](Exchange& exchange) {
      exchange.Filter(&filter);
      answer(exchange);
    });
    EXPECT_EQ(editor_.seen_, "filtered");
    EXPECT_EQ(reply.Field("X-Own"), "filtered");
    EXPECT_EQ(Count(reply.head, "X-Edited"), 1);
    EXPECT_EQ(editor_.TakeCalls(), calls);
  }
}

TEST_F(ReplyEditorTest, AFilterThatReplacesTheBodyMakesItAWhole) {
  Filter filter;
  filter.body_ = "of the filter";
  const HttpReply reply = Ask([&](Exchange& exchange) {
    exchange.Filter(&filter);
    InPieces(exchange);
  });
  EXPECT_EQ(reply.body, "of the filter");
  EXPECT_EQ(Count(reply.head, "X-Edited"), 1);
  EXPECT_EQ(editor_.TakeCalls(), "whole;");
}

TEST_F(ReplyEditorTest, TheMiddlewareOfAGroupComesBeforeIt) {
  const RunningServer server([&](HttpServer& http) {
    Middleware middleware;
    middleware.after = [](const ServerRequest&, ServerResponse& response) {
      response.Set("X-Own", "of the group");
    };
    http.Group("/api").Use(middleware).Mount("", test::Answering([&](Exchange& exchange) {
                                               exchange.Edit(&editor_);
                                               exchange.Reply(TextResponse(200, "x"));
                                             }));
  });
  const HttpReply reply = HttpClient(server.Port()).Ask(Get("/api"));
  EXPECT_EQ(editor_.seen_, "of the group");
  EXPECT_EQ(reply.Field("X-Own"), "of the group");
  EXPECT_EQ(reply.Field("X-Edited"), "yes");
}

TEST_F(ReplyEditorTest, ATapHearsTheHandlersOwnResponse) {
  editor_.body_ = "another";
  std::string heard;
  const auto tapped = [&heard](Answer answer) {
    return [&heard, answer = std::move(answer)](Exchange& exchange) {
      exchange.Tap(std::make_unique<Tap>(heard));
      answer(exchange);
    };
  };
  const HttpReply whole =
      Ask(tapped([](Exchange& exchange) { exchange.Reply(TextResponse(200, "body")); }));
  EXPECT_EQ(whole.body, "another");
  EXPECT_EQ(std::exchange(heard, ""), "head;body;end;");
  const HttpReply pieces = Ask(tapped(InPieces));
  EXPECT_EQ(pieces.Field("X-Edited"), "yes");
  EXPECT_EQ(heard, "head;pie;ces;end;");
}

// A site with two fields around a cache.
class CachedSiteTest : public testing::Test {
 protected:
  static auto Site() -> SiteOptions {
    SiteOptions site;
    site.is_default = true;
    SiteRule rule;
    rule.fields = {{FieldEdit::Kind::kAdd, "X-Added", "1"},
                   {FieldEdit::Kind::kSet, "X-Own", "of the site"}};
    site.rules.push_back(rule);
    return site;
  }

  Sites sites_{{Site()}};
  int calls_ = 0;
  RunningServer server_{[this](HttpServer& http) {
    http.Mount("/", sites_.Around(Cached(
                        {}, test::Answering([this](Exchange& exchange) {
                          ++calls_;
                          exchange.Reply(TextResponse(200, "body").Set("X-Own", "of the handler"));
                        }))));
  }};
  HttpClient client_{server_.Port()};
};

TEST_F(CachedSiteTest, TheKeptResponseIsEditedForEachClientOnce) {
  for (int i = 0; i < 3; ++i) {
    const HttpReply reply = client_.Ask(Get("/"));
    EXPECT_EQ(reply.body, "body");
    EXPECT_EQ(reply.Field("Age").empty(), i == 0) << "the others come from the cache";
    EXPECT_EQ(Count(reply.head, "X-Added: 1\r\n"), 1) << reply.head;
    EXPECT_EQ(Count(reply.head, "X-Own: of the site\r\n"), 1) << reply.head;
    EXPECT_EQ(Count(reply.head, "of the handler"), 0) << reply.head;
    EXPECT_EQ(Count(reply.head, "Date: "), 1) << reply.head;
  }
  EXPECT_EQ(server_.Ask([&] { return calls_; }), 1);
}

// The page of the site replaces the server's own for the first client. A kept copy would no longer
// be known for one.
TEST(CachedSiteErrorTest, EachClientGetsTheErrorPageOfTheSite) {
  SiteOptions site;
  site.is_default = true;
  site.error_pages = {{404, "", "No such turtle."}};
  Sites sites({site});
  RunningServer server([&sites](HttpServer& http) {
    http.Mount("/", sites.Around(Cached({}, test::Answering([](Exchange& exchange) {
                                          exchange.Reply(ErrorResponse(404));
                                        }))));
  });
  HttpClient client(server.Port());
  for (int i = 0; i < 3; ++i) {
    const HttpReply reply = client.Ask(Get("/none"));
    EXPECT_EQ(reply.status, 404);
    EXPECT_EQ(reply.body, "No such turtle.");
  }
}

}  // namespace
}  // namespace TURTLE_SERVER
