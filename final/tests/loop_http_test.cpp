// State that the sessions of one loop share.
#include "web/loop_http.h"

#include <gtest/gtest.h>

#include <memory>

namespace TURTLE_SERVER {
namespace {

class Idle : public RequestHandler {
 public:
  void Handle(Exchange&) override {}
};

class LoopHttpTest : public testing::Test {
 protected:
  auto Mount(const std::string& prefix) -> const RequestHandler* {
    auto handler = std::make_unique<Idle>();
    const RequestHandler* made = handler.get();
    loop_.Mount(prefix, std::move(handler));
    return made;
  }

  Looper looper_;
  LoopHttp loop_{looper_, HttpOptions()};
};

TEST_F(LoopHttpTest, FindsTheLongestPrefixWhateverTheOrderOfMounting) {
  const RequestHandler* middle = Mount("/a/b");
  const RequestHandler* root = Mount("/");
  const RequestHandler* deep = Mount("/a/b/c");
  EXPECT_EQ(loop_.HandlerFor("/").handler, root);
  EXPECT_EQ(loop_.HandlerFor("/").prefix_bytes, 0U);
  EXPECT_EQ(loop_.HandlerFor("/a").handler, root);
  EXPECT_EQ(loop_.HandlerFor("/a/bb").handler, root);
  EXPECT_EQ(loop_.HandlerFor("/a/b").handler, middle);
  EXPECT_EQ(loop_.HandlerFor("/a/b/").prefix_bytes, 4U);
  EXPECT_EQ(loop_.HandlerFor("/a/b/c/d").handler, deep);
  EXPECT_EQ(loop_.HandlerFor("/a/b/c/d").prefix_bytes, 6U);
}

TEST_F(LoopHttpTest, NobodyIsResponsibleForTheRest) {
  Mount("/a");
  EXPECT_EQ(loop_.HandlerFor("/").handler, nullptr);
  EXPECT_EQ(loop_.HandlerFor("/ab").handler, nullptr);
  EXPECT_EQ(loop_.HandlerFor("").handler, nullptr);
}

TEST_F(LoopHttpTest, TheDateIsAnHttpDate) {
  const std::string date(loop_.Date());
  EXPECT_EQ(date.size(), 29U);
  EXPECT_EQ(date.substr(25), " GMT");
}

}  // namespace
}  // namespace TURTLE_SERVER
