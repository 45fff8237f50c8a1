// Fields that a response loses again.
#include <gtest/gtest.h>

#include <optional>
#include <string>
#include <string_view>

#include "http/response.h"

namespace TURTLE_SERVER {
namespace {

// Returns the fields, without the status line and the empty line.
auto FieldsOf(const Response& response) -> std::string {
  constexpr std::string_view kStart = "HTTP/1.1 204 No Content\r\n";
  std::string head;
  response.AppendHead({}, head);
  EXPECT_EQ(head.substr(0, kStart.size()), kStart);
  return head.substr(kStart.size(), head.size() - kStart.size() - 2);
}

TEST(ResponseRemoveTest, AllFieldsOfTheNameGoAndTheOthersKeepTheirOrder) {
  Response response(204);
  response.Add("A", "1").Add("B", "2").Add("A", "3").Add("C", "4").Add("A", "5");
  response.Remove("A");
  EXPECT_EQ(FieldsOf(response), "B: 2\r\nC: 4\r\n");
  EXPECT_EQ(response.Find("A"), std::nullopt);
}

TEST(ResponseRemoveTest, TheNameIsInAnyCase) {
  Response response(204);
  response.Add("X-Name", "1").Add("x-name", "2").Add("X-NAME", "3").Set("X-Other", "o");
  response.Remove("x-NAME");
  EXPECT_EQ(FieldsOf(response), "X-Other: o\r\n");
}

TEST(ResponseRemoveTest, AFieldThatIsNotThereIsNoError) {
  Response response(204);
  response.Remove("A");
  EXPECT_EQ(FieldsOf(response), "");
  response.Set("B", "b").Remove("A").Remove("");
  EXPECT_EQ(FieldsOf(response), "B: b\r\n");
}

TEST(ResponseRemoveTest, APartOfANameIsAnotherName) {
  Response response(204);
  response.Set("X-Name", "1").Set("X-Name-Longer", "2").Set("Y-X-Name", "3");
  response.Remove("X-Nam").Remove("X").Remove("Name").Remove("-Name").Remove("X-Name-");
  EXPECT_EQ(FieldsOf(response), "X-Name: 1\r\nX-Name-Longer: 2\r\nY-X-Name: 3\r\n");
  response.Remove("X-Name");
  EXPECT_EQ(FieldsOf(response), "X-Name-Longer: 2\r\nY-X-Name: 3\r\n");
}

TEST(ResponseRemoveTest, AValueIsNoName) {
  Response response(204);
  response.Set("A", "B: b").Set("C", "A: a").Set("D", "");
  response.Remove("B");
  EXPECT_EQ(FieldsOf(response), "A: B: b\r\nC: A: a\r\nD: \r\n");
  response.Remove("D").Remove("A");
  EXPECT_EQ(FieldsOf(response), "C: A: a\r\n");
}

TEST(ResponseRemoveTest, ATextThatIsNoNameRemovesNothing) {
  Response response(204);
  response.Set("A", "http://b").Set("C", "d:e:f");
  for (const char* text : {"A: http", "A:", "A: ", ":", "C: d", "C: d:e", "\r\n",
                           "A: http://b\r\nC", "A: http://b\r\nC: d", " A"}) {
    response.Remove(text);
    EXPECT_EQ(FieldsOf(response), "A: http://b\r\nC: d:e:f\r\n") << text;
    EXPECT_EQ(response.Find(text), std::nullopt) << text;
  }
}

TEST(ResponseRemoveTest, TheNameMayBeAPartOfTheResponse) {
  Response response(204);
  response.Add("B", "1").Add("Z", "2").Add("B", "3").Add("List", "B").Add("Z", "4").Add("B", "5");
  response.Remove(*response.Find("List"));
  EXPECT_EQ(FieldsOf(response), "Z: 2\r\nList: B\r\nZ: 4\r\n");
}

TEST(ResponseRemoveTest, EachLineOfAFieldIsVisitedInOrder) {
  Response response(204);
  response.Add("A", "1").Add("AA", "2").Add("a", "3, 4").Add("B", "A: 5").Add("A", "");
  std::string values;
  response.ForEach("A", [&values](std::string_view value) { values.append(value).append(";"); });
  EXPECT_EQ(values, "1;3, 4;;");
  response.Remove("A").ForEach("A", [](std::string_view) { FAIL() << "none is left"; });
}

TEST(ResponseRemoveTest, AFieldMayBeAddedAgain) {
  Response response(204);
  response.Set("A", "1").Remove("A").Add("A", "2");
  EXPECT_EQ(FieldsOf(response), "A: 2\r\n");
  response.Remove("A").Set("A", "3").Set("A", "4");
  EXPECT_EQ(FieldsOf(response), "A: 4\r\n");
}

TEST(ResponseRemoveTest, TheBodyAndTheStatusStay) {
  Response response = TextResponse(200, "A: a\r\n");
  response.Set("A", "1").Remove("A");
  EXPECT_EQ(response.Status(), 200);
  EXPECT_EQ(response.BodySize(), 6U);
  ASSERT_EQ(response.Pieces().size(), 1U);
  EXPECT_EQ(std::get<std::string>(response.Pieces()[0]), "A: a\r\n");
}

TEST(ResponseRemoveTest, AnErrorPageKeepsItsDetail) {
  Response response = ErrorResponse(404, "no such page");
  response.Remove("Content-Type");
  EXPECT_EQ(response.Find("Content-Type"), std::nullopt);
  EXPECT_EQ(response.ErrorDetail(), "no such page");
}

// The fields that the server writes by itself are not among those of the response.
TEST(ResponseRemoveTest, TheFramingStays) {
  Response response(200);
  response.Set("Date", "Thu, 01 Jan 1970 00:00:00 GMT").Body("abc");
  response.Remove("Content-Length").Remove("Connection").Remove("Transfer-Encoding").Remove("date");
  HeadContext context;
  context.date = "Sun, 06 Nov 1994 08:49:37 GMT";
  context.keep_alive = false;
  std::string head;
  response.AppendHead(context, head);
  EXPECT_EQ(head,
            "HTTP/1.1 200 OK\r\nDate: Sun, 06 Nov 1994 08:49:37 GMT\r\nContent-Length: 3\r\n"
            "Connection: close\r\n\r\n");
}

TEST(ResponseRemoveTest, ReturnsTheResponse) {
  Response response(204);
  EXPECT_EQ(&response.Remove("A"), &response);
}

}  // namespace
}  // namespace TURTLE_SERVER
