#include "log/old_logs.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <string>
#include <vector>

#include "log/log_file.h"
#include "support/log_folder.h"

namespace TURTLE_SERVER {
namespace {

using test::LogFolder;
using Names = std::vector<std::string>;

// A name as it is rolled, of `day` of January.
auto Rolled(const std::string& stem, int day, const std::string& end = ".log") -> std::string {
  const std::string text = std::to_string(day);
  return stem + ".2026-01-" + (text.size() == 1 ? "0" : "") + text + "T23-59-59.123456Z" + end;
}

TEST(OldLogsTest, TheNewestStay) {
  const LogFolder folder;
  for (const int day : {3, 1, 10, 2}) {
    folder.Write(Rolled("a", day), "x");
  }
  folder.Write("a.log", "now");
  EXPECT_EQ(RemoveOldLogs(folder.Path("a.log"), 2), 2U);
  EXPECT_EQ(folder.Names(), (Names{Rolled("a", 3), Rolled("a", 10), "a.log"}));
  EXPECT_EQ(RemoveOldLogs(folder.Path("a.log"), 2), 0U);
  EXPECT_EQ(RemoveOldLogs(folder.Path("a.log"), 0), 2U);
  EXPECT_EQ(folder.Names(), Names{"a.log"});
}

TEST(OldLogsTest, WhatALogFileHasRolled) {
  const LogFolder folder;
  for (const char* const name : {"a.log", "b", ".hidden", "c.tar.log"}) {
    {
      LogFile file(folder.Path(name), 10);
      for (int i = 0; i < 5; ++i) {
        file.Append("a whole line\n");
      }
    }
    const Names before = folder.Names();
    ASSERT_EQ(before.size(), 5U) << name;
    EXPECT_EQ(RemoveOldLogs(folder.Path(name), 1), 3U) << name;
    EXPECT_EQ(folder.Names().size(), 2U) << name;
    EXPECT_NE(folder.Names(), before);
    EXPECT_EQ(RemoveOldLogs(folder.Path(name), 0), 1U) << name;
    EXPECT_EQ(folder.Names(), Names{name});
    std::filesystem::remove(folder.Path(name));
  }
}

// Compressing or copying a file gives it another time.
TEST(OldLogsTest, TheNameSaysHowOldOneIs) {
  const LogFolder folder;
  for (const int day : {1, 2, 3}) {
    folder.Write(Rolled("a", day), "x");
    const auto time = std::filesystem::file_time_type::clock::now() - std::chrono::hours(day);
    std::filesystem::last_write_time(folder.Path(Rolled("a", day)), time);
  }
  EXPECT_EQ(RemoveOldLogs(folder.Path("a.log"), 1), 2U);
  EXPECT_EQ(folder.Names(), Names{Rolled("a", 3)});
}

TEST(OldLogsTest, NothingElseIsTouched) {
  const LogFolder folder;
  const std::string good = Rolled("turtle", 5);
  Names others = {
      "turtle.log",
      "turtle.access.log",
      "turtle..log",
      Rolled("turtle.access", 5),                      // another's
      Rolled("myturtle", 5),                           // another's
      Rolled("Turtle", 5),                             // another's
      Rolled("turtle", 5, ""),                         // of a LogFile of "turtle"
      Rolled("turtle", 5, ".txt"),                     //
      Rolled("turtle", 5, ".log.gz"),                  // kept on purpose
      Rolled("turtle", 5, ".log2"),                    //
      Rolled(Rolled("turtle", 5, ""), 5),              //
      "turtle.2026-01-05T23:59:59.123456Z.log",        // ours have no colons
      "turtle.2026-01-05T23-59-59.12345Z.log",         // nor five digits
      "turtle.2026-01-05T23-59-59.1234567Z.log",       //
      "turtle.2026-01-05T23-59-5x.123456Z.log",        //
      "turtle.2026-01-05T23-59-59.123456z.log",        //
      "turtle.2026-01-05T23-59-59.123456Z-copy.log",   //
      "turtle.before-2026-01-05T23-59-59.123456Z.log"  //
  };
  for (const std::string& name : others) {
    folder.Write(name, "x");
  }
  folder.Write(Rolled("turtle", 6) + "/kept", "x");  // a directory, and not even an empty one
  others.push_back(Rolled("turtle", 6));
  std::filesystem::create_directory(folder.Path(Rolled("turtle", 7)));
  others.push_back(Rolled("turtle", 7));
  folder.Link(Rolled("turtle", 8), folder.Path("turtle.log"));
  others.push_back(Rolled("turtle", 8));
  std::sort(others.begin(), others.end());

  EXPECT_EQ(RemoveOldLogs(folder.Path("turtle.log"), 0), 0U);
  EXPECT_EQ(folder.Names(), others);
  folder.Write(good, "x");
  EXPECT_EQ(RemoveOldLogs(folder.Path("turtle.log"), 1), 0U) << "others take nobody's place";
  EXPECT_TRUE(std::filesystem::exists(folder.Path(good)));
  EXPECT_EQ(RemoveOldLogs(folder.Path("turtle.log"), 0), 1U);
  EXPECT_EQ(folder.Names(), others);
}

TEST(OldLogsTest, APathWithoutAFolderIsInThisOne) {
  const LogFolder folder;
  folder.Write(Rolled("a", 1), "x");
  folder.Write(Rolled("a", 2), "x");
  const std::filesystem::path before = std::filesystem::current_path();
  std::filesystem::current_path(folder.Path());
  EXPECT_EQ(RemoveOldLogs("a.log", 1), 1U);
  EXPECT_EQ(RemoveOldLogs("./a.log", 0), 1U);
  std::filesystem::current_path(before);
  EXPECT_EQ(folder.Names(), Names{});
}

TEST(OldLogsTest, NoFolderNoFiles) {
  const LogFolder folder;
  EXPECT_EQ(RemoveOldLogs(folder.Path("none/a.log"), 0), 0U);
  folder.Write("file", "x");
  EXPECT_EQ(RemoveOldLogs(folder.Path("file/a.log"), 0), 0U);
}

}  // namespace
}  // namespace TURTLE_SERVER
