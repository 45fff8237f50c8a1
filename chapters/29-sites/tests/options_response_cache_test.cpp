// The settings of the response cache: flag, environment, file.
#include <gtest/gtest.h>

#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <vector>

#include "app/options.h"
#include "support/site_folder.h"

namespace TURTLE_SERVER {
namespace {

class OptionsResponseCacheTest : public testing::Test {
 protected:
  ~OptionsResponseCacheTest() override { ::unsetenv("USE_RESP_CACHE"); }

  static auto Parse(const std::vector<std::string>& arguments) -> CommandLine {
    std::vector<const char*> argv{"turtle"};
    for (const std::string& argument : arguments) {
      argv.push_back(argument.c_str());
    }
    argv.push_back(nullptr);
    return ParseCommandLine(static_cast<int>(argv.size()) - 1, argv.data());
  }

  auto Config(const std::string& text) -> std::string {
    folder_.Write("site.json", text);
    return folder_.Path("site.json");
  }

  test::SiteFolder folder_;
};

TEST_F(OptionsResponseCacheTest, TheFileHasSizeAndTime) {
  const CommandLine command = Parse(
      {"-f",
       Config(R"({"http": {"root_path": "/", "response_cache": true, "response_cache_size": "1M",
                                 "response_cache_time": 0}})")});
  ASSERT_EQ(command.action, CommandAction::kServe) << command.text;
  EXPECT_TRUE(command.serve.response_cache);
  EXPECT_EQ(command.serve.response_cache_size, std::uint64_t{1} << 20);
  EXPECT_EQ(command.serve.response_cache_time, std::chrono::seconds(0));
}

TEST_F(OptionsResponseCacheTest, TheEnvironmentHasRepliesKeptOrNot) {
  const std::string on = Config(R"({"http": {"root_path": "/", "response_cache": true}})");
  EXPECT_FALSE(Parse({"serve", "/"}).serve.response_cache);
  EXPECT_TRUE(Parse({"-f", on}).serve.response_cache);
  ::setenv("USE_RESP_CACHE", "1", 1);
  EXPECT_TRUE(Parse({"serve", "/"}).serve.response_cache);
  EXPECT_FALSE(Parse({"serve", "/", "--response-cache", "off"}).serve.response_cache);
  ::setenv("USE_RESP_CACHE", "0", 1);
  EXPECT_FALSE(Parse({"-f", on}).serve.response_cache);
  ::setenv("USE_RESP_CACHE", "", 1);
  EXPECT_TRUE(Parse({"-f", on}).serve.response_cache) << "that says nothing";
  ::setenv("USE_RESP_CACHE", "yes", 1);
  const CommandLine bad = Parse({"serve", "/"});
  EXPECT_EQ(bad.action, CommandAction::kFail);
  EXPECT_EQ(bad.text, "turtle: USE_RESP_CACHE: 'yes' is not 0 or 1 (see turtle --help)\n");
}

}  // namespace
}  // namespace TURTLE_SERVER
