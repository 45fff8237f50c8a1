#include "http/response.h"

#include <gtest/gtest.h>

#include <stdexcept>
#include <string>
#include <utility>

#include "http/html.h"

namespace TURTLE_SERVER {
namespace {

constexpr std::string_view kDate = "Sun, 06 Nov 1994 08:49:37 GMT";

auto Head(const Response& response, HeadContext context = {kDate}) -> std::string {
  std::string text;
  response.AppendHead(context, text);
  return text;
}

auto Context(int minor_version, bool keep_alive, BodyEnd end = BodyEnd::kLength) -> HeadContext {
  return {"", minor_version, keep_alive, end};
}

TEST(ResponseTest, TheHeadOfAnOrdinaryAnswer) {
  Response response(200);
  response.Set("Content-Type", "text/plain").Body("hello");
  EXPECT_EQ(Head(response),
            "HTTP/1.1 200 OK\r\nDate: Sun, 06 Nov 1994 08:49:37 GMT\r\nContent-Length: 5\r\n"
            "Content-Type: text/plain\r\n\r\n");
}

TEST(ResponseTest, TheHeadIsAppended) {
  std::string text = "before";
  Response(404).AppendHead({}, text);
  EXPECT_EQ(text, "beforeHTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n");
}

TEST(ResponseTest, AnUnknownStatusHasAnEmptyPhrase) {
  EXPECT_EQ(Head(Response(299), {}), "HTTP/1.1 299 \r\nContent-Length: 0\r\n\r\n");
}

TEST(ResponseTest, StatusesWithoutABodyAnnounceNone) {
  for (const int status : {204, 304}) {
    Response response(status);
    response.Body("must not be sent");
    EXPECT_FALSE(response.HasBody());
    for (const BodyEnd end : {BodyEnd::kLength, BodyEnd::kChunked, BodyEnd::kClose}) {
      const std::string head = Head(response, Context(1, true, end));
      EXPECT_EQ(head.find("Content-Length"), std::string::npos) << head;
      EXPECT_EQ(head.find("Transfer-Encoding"), std::string::npos) << head;
      EXPECT_EQ(head.find("Connection"), std::string::npos) << head;
    }
  }
  EXPECT_EQ(Head(Response(100), {kDate, 1, false}), "HTTP/1.1 100 Continue\r\n\r\n");
}

TEST(ResponseTest, ConnectionIsSaidWhereTheDefaultIsNotMeant) {
  const Response response(200);
  EXPECT_EQ(Head(response, Context(1, true)), "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n");
  EXPECT_EQ(Head(response, Context(1, false)),
            "HTTP/1.1 200 OK\r\nContent-Length: 0\r\nConnection: close\r\n\r\n");
  EXPECT_EQ(Head(response, Context(0, true)),
            "HTTP/1.1 200 OK\r\nContent-Length: 0\r\nConnection: keep-alive\r\n\r\n");
  EXPECT_EQ(Head(response, Context(0, false)),
            "HTTP/1.1 200 OK\r\nContent-Length: 0\r\nConnection: close\r\n\r\n");
}

TEST(ResponseTest, ABodyOfUnknownSize) {
  EXPECT_EQ(Head(Response(200), Context(1, true, BodyEnd::kChunked)),
            "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n");
  EXPECT_EQ(Head(Response(200), Context(0, true, BodyEnd::kClose)),
            "HTTP/1.1 200 OK\r\nConnection: close\r\n\r\n");
}

TEST(ResponseTest, SetReplacesAndAddAdds) {
  Response response(200);
  response.Add("Set-Cookie", "a=1").Add("set-cookie", "b=2").Set("X-Other", "o");
  EXPECT_EQ(response.Find("SET-COOKIE"), "a=1");
  response.Set("Set-cookie", "c=3");
  EXPECT_EQ(response.Find("set-cookie"), "c=3");
  EXPECT_EQ(response.Find("x-other"), "o");
  EXPECT_EQ(response.Find("x-oth"), std::nullopt);
  EXPECT_EQ(response.Find("o"), std::nullopt);
  EXPECT_EQ(Head(response, {}),
            "HTTP/1.1 200 OK\r\nContent-Length: 0\r\nX-Other: o\r\nSet-cookie: c=3\r\n\r\n");
}

TEST(ResponseTest, AFieldMayBeSetFromAnother) {
  Response response(200);
  response.Set("A", std::string(100, 'a')).Set("B", "b");
  response.Set("A", *response.Find("A") /* looks into the fields */).Add("C", *response.Find("B"));
  EXPECT_EQ(response.Find("A"), std::string(100, 'a'));
  EXPECT_EQ(response.Find("C"), "b");
}

TEST(ResponseTest, AnEmptyValueIsAValue) {
  Response response(200);
  response.Set("X-Empty", "");
  EXPECT_EQ(response.Find("X-Empty"), "");
}

TEST(ResponseTest, ADateOfItsOwnIsKept) {
  Response response(200);
  response.Set("date", "Thu, 01 Jan 1970 00:00:00 GMT");
  const std::string head = Head(response);
  EXPECT_NE(head.find("date: Thu"), std::string::npos);
  EXPECT_EQ(head.find("Date: Sun"), std::string::npos);
}

// Response splitting: text from a client must never begin a new line.
TEST(ResponseTest, NoFieldCanStartAnother) {
  Response response(200);
  response.Set("X", "kept");
  for (const char* bad : {"a\r\nSet-Cookie: x", "a\n", "\r", "a\x7f", "\x01"}) {
    EXPECT_THROW(response.Set("X", bad), std::invalid_argument) << bad;
    EXPECT_THROW(response.Add("X", bad), std::invalid_argument) << bad;
  }
  EXPECT_THROW(response.Set("X", std::string_view("a\0b", 3)), std::invalid_argument);
  for (const char* bad : {"", "X Y", "X:", "X\r\n", "\xc3\xa4", "X\t", "(X)"}) {
    EXPECT_THROW(response.Set(bad, "value"), std::invalid_argument) << bad;
  }
  EXPECT_NO_THROW(response.Set("X", "tab\tand \xc3\xa4"));
  response.Set("X", "kept");
  EXPECT_EQ(Head(response, {}), "HTTP/1.1 200 OK\r\nContent-Length: 0\r\nX: kept\r\n\r\n");
}

TEST(ResponseTest, TheFramingCannotBeContradicted) {
  Response response(200);
  for (const char* name : {"Content-Length", "transfer-encoding", "CONNECTION"}) {
    EXPECT_THROW(response.Set(name, "5"), std::invalid_argument) << name;
    EXPECT_THROW(response.Add(name, "5"), std::invalid_argument) << name;
  }
}

TEST(ResponseTest, AStatusHasThreeDigits) {
  for (const int status : {-200, 0, 99, 1000}) {
    EXPECT_THROW(Response{status}, std::invalid_argument) << status;
  }
}

TEST(ResponseTest, ABodyIsTextOrFileOrBoth) {
  Response response(200);
  response.Body("text");
  response.Body(FileSlice{3, 100, 50, Pin()});
  EXPECT_EQ(response.BodySize(), 50U);
  ASSERT_EQ(response.Pieces().size(), 1U);
  EXPECT_EQ(std::get<FileSlice>(response.Pieces()[0]).offset, 100U);
  response.AddBody("more").AddBody("").AddBody(FileSlice{3, 0, 5'000'000'000, Pin()});
  EXPECT_EQ(response.Pieces().size(), 3U);
  EXPECT_EQ(Head(response, {}), "HTTP/1.1 200 OK\r\nContent-Length: 5000000054\r\n\r\n");
  response.Body(std::string());
  EXPECT_TRUE(response.Pieces().empty());
}

TEST(ResponseTest, TextResponse) {
  const Response response = TextResponse(200, "hi");
  EXPECT_EQ(response.Find("Content-Type"), "text/plain; charset=utf-8");
  EXPECT_EQ(std::get<std::string>(response.Pieces().at(0)), "hi");
}

TEST(ResponseTest, ErrorPagesShowTheDetailAndNothingOfItIsMarkup) {
  const Response response = ErrorResponse(404, "no <script>alert('x')</script> & \"more\"");
  EXPECT_EQ(response.Status(), 404);
  EXPECT_EQ(response.Find("Content-Type"), "text/html; charset=utf-8");
  const std::string& page = std::get<std::string>(response.Pieces().at(0));
  EXPECT_NE(page.find("<h1>404 Not Found</h1>"), std::string::npos) << page;
  EXPECT_NE(page.find("<p>no &lt;script&gt;alert(&#39;x&#39;)&lt;/script&gt; &amp; "
                      "&quot;more&quot;</p>"),
            std::string::npos)
      << page;
  EXPECT_EQ(std::get<std::string>(ErrorResponse(500).Pieces().at(0)).find("<p>"),
            std::string::npos);
}

TEST(HtmlTest, EscapesExactlyWhatIsMarkup) {
  std::string all;
  for (int c = 1; c < 256; ++c) {
    all += static_cast<char>(c);
  }
  std::string escaped = "kept ";
  AppendEscaped(all, escaped);
  EXPECT_EQ(escaped.size(), 5 + all.size() + 4 + 3 + 3 + 5 + 4);
  for (const char c : {'<', '>', '"', '\''}) {
    EXPECT_EQ(escaped.find(c), std::string::npos);
  }
}

}  // namespace
}  // namespace TURTLE_SERVER
