// The user and the named client in an access log.
#include <gtest/gtest.h>

#include <string>
#include <string_view>

#include "core/looper.h"
#include "support/tcp_pair.h"
#include "web/access_log.h"

namespace TURTLE_SERVER {
namespace {

class AccessLogUserTest : public testing::Test {
 protected:
  // Returns the lines of a request of this user, in both formats.
  auto Combined(std::string_view user) -> std::string {
    std::string line;
    AppendCombined(Line(), Record(user), line);
    return line;
  }
  auto Json(std::string_view user) -> std::string {
    std::string line;
    AppendJson(Line(), Record(user), line);
    return line;
  }

 private:
  static auto Line() -> AccessLogLine { return {"192.0.2.7", "now", 0.5, {}}; }

  [[nodiscard]] auto Record(std::string_view user) const -> ExchangeRecord {
    ExchangeRecord record{connection_, "GET / HTTP/1.1", nullptr};
    record.status = 200;
    record.user = user;
    return record;
  }

  Looper looper_;
  const ConnectionCallbacks none_{};
  const Connection connection_{Socket(), looper_, none_, 1};
};

TEST_F(AccessLogUserTest, TheThirdColumnIsTheUser) {
  const std::string rest = " [now] \"GET / HTTP/1.1\" 200 - \"-\" \"-\"\n";
  EXPECT_EQ(Combined(""), "192.0.2.7 - -" + rest);
  EXPECT_EQ(Combined("alice"), "192.0.2.7 - alice" + rest);
  EXPECT_EQ(Combined(" a  b "), "192.0.2.7 - \\x20a\\x20\\x20b\\x20" + rest);
  EXPECT_EQ(Combined("a\"b\\c\nd\t\xc3\xa9"),
            "192.0.2.7 - a\\\"b\\\\c\\x0ad\\x09\\xc3\\xa9" + rest);
}

TEST_F(AccessLogUserTest, AnObjectHasAUserIfThereIsOne) {
  EXPECT_EQ(Json("").find("user"), std::string::npos);
  EXPECT_NE(Json("alice b").find(R"("peer":"192.0.2.7","user":"alice b","request":)"),
            std::string::npos)
      << Json("alice b");
  EXPECT_NE(Json("a\"b\\c\n\xc3\xa9").find(R"("user":"a\"b\\c\u000a\u00c3\u00a9",)"),
            std::string::npos);
}

}  // namespace
}  // namespace TURTLE_SERVER
