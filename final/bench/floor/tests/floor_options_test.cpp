#include "floor_options.h"

#include <gtest/gtest.h>

#include <stdexcept>
#include <string>
#include <vector>

namespace TURTLE_SERVER {
namespace {

auto Parse(std::vector<const char*> words) -> FloorOptions {
  words.insert(words.begin(), "floor_epoll");
  return ParseFloorOptions(static_cast<int>(words.size()), words.data());
}

auto Complaint(const std::vector<const char*>& words) -> std::string {
  try {
    (void)Parse(words);
  } catch (const std::invalid_argument& error) {
    return error.what();
  }
  return "";
}

TEST(FloorOptions, HaveDefaults) {
  const FloorOptions options = Parse({});
  EXPECT_EQ(options.port, 20080);
  EXPECT_EQ(options.root, ".");
  EXPECT_EQ(options.threads, 1U);
  EXPECT_FALSE(options.deferred || options.fin || options.sendfile || options.help);
}

TEST(FloorOptions, AreReadInAnyOrder) {
  const FloorOptions options = Parse(
      {"--fin", "--root", "site", "--port", "0", "--sendfile", "--threads", "2", "--deferred"});
  EXPECT_EQ(options.port, 0);
  EXPECT_EQ(options.root, "site");
  EXPECT_EQ(options.threads, 2U);
  EXPECT_TRUE(options.deferred && options.fin && options.sendfile);
}

TEST(FloorOptions, AWrongOneIsNamed) {
  EXPECT_EQ(Complaint({"--port", "65536"}), "--port 65536: a number from 0 to 65535 is needed");
  EXPECT_EQ(Complaint({"--threads", "0"}), "--threads 0: a number from 1 to 256 is needed");
  EXPECT_EQ(Complaint({"--port", "80x"}), "--port 80x: a number from 0 to 65535 is needed");
  EXPECT_EQ(Complaint({"--root"}), "--root: a value is needed");
  EXPECT_EQ(Complaint({"--quick"}), "--quick: no such option");
}

}  // namespace
}  // namespace TURTLE_SERVER
