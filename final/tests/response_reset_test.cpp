// A response that is reused.
#include <gtest/gtest.h>

#include <stdexcept>
#include <string>
#include <string_view>

#include "http/response.h"

namespace TURTLE_SERVER {
namespace {

auto HeadOf(const Response& response) -> std::string {
  std::string head;
  response.AppendHead({}, head);
  return head;
}

TEST(ResponseResetTest, NothingOfTheEarlierAnswerIsLeft) {
  Response response(404);
  response.Set("X-A", "b").Body("text");
  response.Reset(200);
  EXPECT_EQ(HeadOf(response), HeadOf(Response(200)));
  EXPECT_TRUE(response.Pieces().empty());
}

TEST(ResponseResetTest, AStatusThatIsNoneChangesNothing) {
  Response response(404);
  response.Set("X-A", "b");
  EXPECT_THROW(response.Reset(99), std::invalid_argument);
  EXPECT_THROW(response.SetStatus(1000), std::invalid_argument);
  EXPECT_EQ(response.Status(), 404);
  EXPECT_EQ(response.Find("X-A"), "b");
  response.SetStatus(403);
  EXPECT_EQ(response.Status(), 403);
}

TEST(ResponseResetTest, AFieldMayBeMadeOfAnother) {
  Response response(200);
  response.Set("X-A", std::string(100, 'a'));
  for (int i = 0; i < 20; ++i) {  // its memory moves now and then
    response.Add("X-B", *response.Find("X-A"));
  }
  response.Set("X-A", response.Find("X-A")->substr(1));
  EXPECT_EQ(response.Find("X-A"), std::string(99, 'a'));
  EXPECT_EQ(response.Find("X-B"), std::string(100, 'a'));
}

}  // namespace
}  // namespace TURTLE_SERVER
