#include "http/multipart.h"

#include <gtest/gtest.h>

#include <random>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "support/read_body.h"
#include "support/read_multipart.h"

namespace TURTLE_SERVER {
namespace {

using test::Describe;
using test::InPiecesOf;
using test::ReadMultipart;
using test::WholeForm;

auto Read(std::string_view body, const MultipartLimits& limits = {}) -> WholeForm {
  return ReadMultipart("b", {body}, limits);
}

// Returns a body with one part, whose header has the given lines.
auto WithHeader(const std::string& lines) -> std::string {
  return "--b\r\n" + lines + "\r\n\r\nx\r\n--b--\r\n";
}

// Returns its part, or one that is named after the fault.
auto PartOf(const std::string& disposition) -> MultipartPart {
  const WholeForm form = Read(WithHeader("Content-Disposition: form-data; " + disposition));
  if (form.parts.size() != 1 || form.status != 0) {
    MultipartPart none;
    none.name = form.reason;
    return none;
  }
  return form.parts[0].header;
}

// Contains a preamble, an epilogue, white space after boundaries, a file, content that looks like a
// boundary, no content, and none without the line end before the boundary.
constexpr std::string_view kExample =
    "a preamble\r\n--\r\n--b \t\r\n"
    "Content-Disposition: form-data; name=\"text\"\r\n"
    "\r\n"
    "one\r\n\r\n--\r\n--B\r\n--\r--b\n--b\r\r\n\r"
    "\r\n--b\r\n"
    "content-disposition:form-data ;filename=\"a b.txt\"; name=file; x=y\r\n"
    "Content-Type: text/plain; charset=utf-8 \r\n"
    "X-Other: \xc3\xa4\r\n"
    "\r\n"
    "--\r\n--"
    "\r\n--b\r\n"
    "Content-Disposition: form-data; name=\"empty\"\r\n\r\n"
    "\r\n--b\r\n"
    "Content-Disposition: form-data; name=\"none\"\r\n"
    "\r\n--b-- \r\n--b\r\nan epilogue";

constexpr std::string_view kExampleForm =
    "0 \n"
    "[text]() one\r\n\r\n--\r\n--B\r\n--\r--b\n--b\r\r\n\r\n"
    "[file][a b.txt](text/plain; charset=utf-8) --\r\n--\n"
    "[empty]() \n"
    "[none]() \n";

TEST(MultipartTest, Whole) { EXPECT_EQ(Describe(Read(kExample)), kExampleForm); }

TEST(MultipartTest, PiecesOfEverySize) {
  for (std::size_t size = 1; size <= kExample.size(); ++size) {
    EXPECT_EQ(Describe(ReadMultipart("b", InPiecesOf(size, kExample))), kExampleForm) << size;
  }
}

TEST(MultipartTest, EverySplitInThree) {
  for (std::size_t i = 0; i <= kExample.size(); ++i) {
    for (std::size_t j = i; j <= kExample.size(); ++j) {
      const WholeForm form = ReadMultipart(
          "b", {kExample.substr(0, i), kExample.substr(i, j - i), kExample.substr(j)});
      ASSERT_EQ(Describe(form), kExampleForm) << i << ' ' << j;
    }
  }
}

TEST(MultipartTest, NoBodyEndsBeforeItsLastBoundary) {
  const std::size_t end = kExample.find("--b--") + 5;
  for (std::size_t size = 0; size < end; ++size) {
    EXPECT_EQ(Read(kExample.substr(0, size)).status, 400) << size;
  }
  for (std::size_t size = end; size <= kExample.size(); ++size) {
    EXPECT_EQ(Read(kExample.substr(0, size)).status, 0) << size;
  }
}

TEST(MultipartTest, AFormWithoutFields) {
  EXPECT_EQ(Describe(Read("--b--")), "0 \n");
  EXPECT_EQ(Describe(Read("\r\n--b--\r\n")), "0 \n");
}

TEST(MultipartTest, ContentIsAViewIntoTheInput) {
  MultipartParser parser("b");
  const std::string body =
      "--b\r\nContent-Disposition: form-data; name=a\r\n\r\n1\r\n2\r3\r\n--b--";
  std::string_view rest = body;
  const MultipartStep part = parser.Read(rest);
  ASSERT_EQ(part.event, MultipartEvent::kPart);
  rest.remove_prefix(part.consumed);
  const MultipartStep data = parser.Read(rest);
  ASSERT_EQ(data.event, MultipartEvent::kData);
  EXPECT_EQ(data.data, "1\r\n2\r3") << "line ends don't cut it";
  EXPECT_EQ(data.data.data(), rest.data());
}

// The rest of the content doesn't wait for the next
// bytes.
TEST(MultipartTest, OnlyWhatMayBeABoundaryIsHeldBack) {
  MultipartParser parser("b");
  std::string_view rest = "--b\r\nContent-Disposition: form-data; name=a\r\n\r\nabc\r\n--";
  rest.remove_prefix(parser.Read(rest).consumed);
  const MultipartStep step = parser.Read(rest);
  EXPECT_EQ(step.data, "abc");
  EXPECT_EQ(parser.Read(rest.substr(step.consumed)).event, MultipartEvent::kMore);
  EXPECT_EQ(parser.Read("c").data, "\r\n--") << "now it is known to be content";
}

TEST(MultipartTest, BytesOfEveryKind) {
  std::mt19937 random(7578);
  for (int round = 0; round < 300; ++round) {
    std::string content(random() % 200, '\0');
    for (char& c : content) {
      c = random() % 4 == 0 ? static_cast<char>(random()) : "\r\n-b"[random() % 4];
    }
    for (std::size_t at = 0; (at = content.find("\r\n--b", at)) != std::string::npos;) {
      content[at + 4] = 'c';  // the only thing that content can't contain
    }
    if (content.substr(0, 3) == "--b") {
      content.front() = 'x';  // nor at its front
    }
    const std::string body =
        "--b\r\nContent-Disposition: form-data; name=a\r\n\r\n" + content + "\r\n--b--";
    const std::string expected = "0 \n[a]() " + content + "\n";
    ASSERT_EQ(Describe(Read(body)), expected);
    for (const std::size_t size : {1U, 2U, 3U, 5U, 8U}) {
      ASSERT_EQ(Describe(ReadMultipart("b", InPiecesOf(size, body))), expected) << size;
    }
  }
}

TEST(MultipartTest, NamesAsBrowsersSendThem) {
  EXPECT_EQ(PartOf("name=\"a b;c=d\"").name, "a b;c=d");
  EXPECT_EQ(PartOf("name=a").name, "a");
  EXPECT_EQ(PartOf("NAME=\"\"").name, "");
  EXPECT_EQ(PartOf("name=\"\xc3\xa4\xff\"").name, "\xc3\xa4\xff");
  EXPECT_EQ(PartOf("name=\"a%22b%0D%0ac\"").name, "a\"b\r\nc");
  EXPECT_EQ(PartOf(R"(name="a\"; filename="b")").name, "a\\");
  EXPECT_EQ(PartOf(R"(name="a\\b\c%22\")").name, R"(a\\b\c"\)");
  EXPECT_EQ(PartOf("name=\"50%25 %41 %2\"").name, "50%25 %41 %2")
      << "a browser writes '%' as it is";
  EXPECT_FALSE(PartOf("name=a").is_file);
}

TEST(MultipartTest, AFileNameLeadsNowhere) {
  const std::vector<std::pair<std::string, std::string>> cases = {
      {"me.jpg", "me.jpg"},
      {"", ""},
      {"a b.c.d", "a b.c.d"},
      {"\xc3\xa4.txt", "\xc3\xa4.txt"},
      {"a%22b.txt", "a\"b.txt"},
      {R"(x\)", "x_"},
      {R"(x\\)", "x__"},
      {R"(C:\a b\)", "a b_"},
      {R"(a\%22b.txt)", "\"b.txt"},
      {R"(C:\photos\me.jpg)", "me.jpg"},
      {R"(C:\\photos\\me.jpg)", "me.jpg"},
      {R"(\\server\share\me.jpg)", "me.jpg"},
      {"/etc/passwd", "passwd"},
      {"../../up.txt", "up.txt"},
      {"a/", ""},
      {"a/..", ""},
      {"..", ""},
      {".", ""},
      {"...", "..."},
      {"a%0D%0Ab", "a__b"},
      {"a\tb", "a_b"},
      {"%2e%2e%2fx", "%2e%2e%2fx"},
  };
  for (const auto& [sent, shown] : cases) {
    const MultipartPart part = PartOf("name=a; filename=\"" + sent + "\"");
    EXPECT_EQ(part.filename, shown) << sent << ": " << part.name;
    EXPECT_TRUE(part.is_file) << sent;
  }
  EXPECT_EQ(PartOf("name=a; filename=token.txt").filename, "token.txt");
  const MultipartPart escaped =
      PartOf(R"(name="b\"c"; filename="a\"b.txt\"")");  // curl --form-escape
  EXPECT_EQ(escaped.name, R"(b"c)");
  EXPECT_EQ(escaped.filename, R"(a"b.txt")");
}

TEST(MultipartTest, TheExtendedFileNameIsIgnored) {
  const MultipartPart both = PartOf("name=a; filename*=UTF-8''other; filename=mine");
  EXPECT_EQ(both.filename, "mine");
  const MultipartPart alone = PartOf("name=a; filename*=UTF-8''other");
  EXPECT_EQ(alone.name, "a");
  EXPECT_FALSE(alone.is_file);
}

TEST(MultipartTest, OnePartLeavesNothingToTheNext) {
  const WholeForm form = Read(
      "--b\r\nContent-Disposition: form-data; name=a; filename=f\r\nContent-Type: t/u\r\n\r\n1\r\n"
      "--b\r\nContent-Disposition: form-data; name=b\r\n\r\n2\r\n--b--");
  EXPECT_EQ(Describe(form), "0 \n[a][f](t/u) 1\n[b]() 2\n");
}

TEST(MultipartTest, MalformedIs400AtAnySplit) {
  const std::string good = "Content-Disposition: form-data; name=a";
  const std::vector<std::string> bodies = {
      "",
      "no boundary\r\n",
      "--b",
      "--bc\r\n",
      "--b\n",
      "--b\rx",
      "--b x",
      "--b-x",
      "--b- -",
      "--b-" + WithHeader(good).substr(3),
      "--b- " + WithHeader(good).substr(3),
      "--b--x",
      "--b--\rx",
      "--b--\n",
      "--b\r\n\r\n",
      "--b\r\nContent-Type: a/b\r\n\r\nx\r\n--b--",
      "--b\r\n" + good + "\r\n\r\nx",
      "--b\r\n" + good + "\r\n\r\nx\r\n--bc\r\n",  // a line begins with the boundary and goes on
      "--b\r\n" + good + "\r\n\r\nx\r\n--b\n",
      "--b\r\n" + good + "\r\n\r\n--bx",
      "--b\r\n" + good + "\n\r\n",
      "--b\r\n" + good + "\r\n\n",
      WithHeader(good + "\r\n folded"),
      WithHeader(good + "\r\n" + good),
      WithHeader(good + "\r\nno field"),
      WithHeader(good + "\r\n: x"),
      WithHeader(good + "\r\nA : x"),
      WithHeader(good + "\r\nA: x\ry"),
      WithHeader(good + "\r\nA: x\x7f"),
      WithHeader(good + std::string("\r\nA: \0", 6)),
      WithHeader(good + "\r\nContent-Type: a/b\r\nContent-Type: a/b"),
      WithHeader(good + "\r\nContent-Transfer-Encoding: base64"),
      WithHeader(good + "\r\ncontent-transfer-encoding: quoted-printable"),
      WithHeader("Content-Disposition:"),
      WithHeader("Content-Disposition: form-data"),
      WithHeader("Content-Disposition: form-data; filename=a"),
      WithHeader("Content-Disposition: attachment; name=a"),
      WithHeader("Content-Disposition: form-data; name=a; name=b"),
      WithHeader("Content-Disposition: form-data; name=a; Name=a"),
      WithHeader("Content-Disposition: form-data; name=a; filename=b; filename=c"),
      WithHeader("Content-Disposition: form-data; name=\"a"),
      WithHeader("Content-Disposition: form-data; name=\"a\\\"b"),
      WithHeader("Content-Disposition: form-data; name="),
      WithHeader("Content-Disposition: form-data; name=a b"),
      WithHeader("Content-Disposition: form-data; name=a; filename=a/b"),
      WithHeader("Content-Disposition: form-data, name=a"),
  };
  for (const std::string& body : bodies) {
    const WholeForm whole = Read(body);
    EXPECT_EQ(whole.status, 400) << body;
    EXPECT_NE(whole.reason, "") << body;
    for (std::size_t size = 1; size < body.size(); ++size) {
      EXPECT_EQ(Describe(ReadMultipart("b", InPiecesOf(size, body))), Describe(whole))
          << body << " by " << size;
    }
  }
}

TEST(MultipartTest, CodingsThatChangeNothing) {
  for (const char* coding : {"binary", "8bit", "7BIT"}) {
    EXPECT_EQ(Read(WithHeader(std::string("Content-Disposition: form-data; name=a\r\n"
                                          "Content-Transfer-Encoding: ") +
                              coding))
                  .status,
              0)
        << coding;
  }
}

auto Body(std::size_t parts, const std::string& content) -> std::string {
  std::string body;
  for (std::size_t i = 0; i < parts; ++i) {
    body += "--b\r\nContent-Disposition: form-data; name=a\r\n\r\n" + content + "\r\n";
  }
  return body + "--b--\r\n";
}

// Each limit: reached is fine, one above is 413, whatever the pieces are.
TEST(MultipartTest, LimitsAreExact) {
  const auto status_of = [](const std::string& body, const MultipartLimits& limits) {
    const WholeForm whole = Read(body, limits);
    for (std::size_t size = 1; size < body.size(); ++size) {
      EXPECT_EQ(Describe(ReadMultipart("b", InPiecesOf(size, body), limits)), Describe(whole))
          << size;
    }
    return whole.status;
  };
  MultipartLimits parts;
  parts.max_parts = 3;
  EXPECT_EQ(status_of(Body(3, "x"), parts), 0);
  EXPECT_EQ(status_of(Body(4, "x"), parts), 413);
  MultipartLimits content;
  content.max_part_bytes = 7;
  EXPECT_EQ(status_of(Body(2, "x\r\n--xx"), content), 0);
  EXPECT_EQ(status_of(Body(2, "x\r\n--xxx"), content), 413);
  content.max_part_bytes = 3;  // in the middle of what looked like a boundary
  EXPECT_EQ(status_of(Body(1, "x\r\n--xx"), content), 413);
  EXPECT_EQ(status_of(Body(1, "x\r\n--"), content), 413);
  content.max_part_bytes = 0;
  EXPECT_EQ(status_of(Body(2, ""), content), 0);
  EXPECT_EQ(status_of(Body(1, "x"), content), 413);
  MultipartLimits all;
  all.max_body_bytes = Body(1, "x").size();
  EXPECT_EQ(status_of(Body(1, "x"), all), 0);
  EXPECT_EQ(status_of(Body(1, "xy"), all), 413);
  EXPECT_EQ(status_of("x" + Body(1, "x") + "x", all), 413);
  all.max_body_bytes = 4;
  EXPECT_EQ(status_of("--bx, and more", all), 400) << "what comes first counts";
  MultipartLimits header;
  header.max_header_bytes =
      std::string_view("Content-Disposition: form-data; name=a\r\n\r\n").size();
  EXPECT_EQ(status_of(Body(2, "x"), header), 0);
  header.max_header_bytes -= 1;
  EXPECT_EQ(status_of(Body(1, "x"), header), 413);
  header.max_header_bytes = 10;
  EXPECT_EQ(status_of("--b" + std::string(10, ' ') + "--", header), 400);
  EXPECT_EQ(status_of("--b" + std::string(11, ' '), header), 413);
  EXPECT_EQ(status_of("--b\r\n" + std::string(11, 'x'), header), 413);
}

TEST(MultipartTest, TheBoundaryOfContentType) {
  const auto boundary_of = [](std::string_view content_type) {
    std::string boundary;
    const HeadFault fault = MultipartBoundary(content_type, boundary);
    EXPECT_EQ(std::string_view(fault.reason).empty(), !fault) << content_type;
    return fault ? std::to_string(fault.status) : boundary;
  };
  EXPECT_EQ(boundary_of("multipart/form-data; boundary=----WebKitFormBoundary7MA4YWxk"),
            "----WebKitFormBoundary7MA4YWxk");
  EXPECT_EQ(boundary_of("Multipart/Form-Data;charset=utf-8;BOUNDARY=\"a b:c?\" "), "a b:c?");
  EXPECT_EQ(boundary_of("multipart/form-data; boundary=" + std::string(70, 'x')),
            std::string(70, 'x'));
  for (const char* other : {"", "text/plain; boundary=a", "multipart/mixed; boundary=a",
                            "multipart/form-data-x; boundary=a", "x multipart/form-data"}) {
    EXPECT_EQ(boundary_of(other), "415") << other;
  }
  for (const char* bad :
       {"multipart/form-data", "multipart/form-data;", "multipart/form-data; boundary",
        "multipart/form-data; boundary=", "multipart/form-data; boundary=\"\"",
        "multipart/form-data; boundary=\"a \"", "multipart/form-data; boundary=\"a",
        "multipart/form-data; boundary=a b", "multipart/form-data; boundary=\"a\\b\"",
        "multipart/form-data; boundary=a*b", "multipart/form-data; boundary=\"\xc3\xa4\"",
        "multipart/form-data; boundary=\"a\tb\"", "multipart/form-data; boundary=a; boundary=a",
        "multipart/form-data; boundary=a; Boundary=b", "multipart/form-data; boundary=a, b"}) {
    EXPECT_EQ(boundary_of(bad), "400") << bad;
  }
  EXPECT_EQ(boundary_of("multipart/form-data; boundary=" + std::string(71, 'x')), "400");
}

TEST(MultipartTest, NoParserWithoutABoundary) {
  for (const std::string& bad :
       {std::string(), std::string("a "), std::string("a\rb"), std::string(71, 'x')}) {
    EXPECT_THROW(MultipartParser{bad}, std::invalid_argument) << bad;
  }
  const std::string longest(70, ' ');
  EXPECT_NO_THROW(MultipartParser{longest.substr(1) + "x"});
}

TEST(MultipartTest, ABoundaryMayHoldSpacesAndDashes) {
  const WholeForm form = ReadMultipart(
      "-- -", {"---- -\r\nContent-Disposition: form-data; name=a\r\n\r\n---\r\n---- ---"});
  EXPECT_EQ(Describe(form), "0 \n[a]() ---\n");
}

}  // namespace
}  // namespace TURTLE_SERVER
