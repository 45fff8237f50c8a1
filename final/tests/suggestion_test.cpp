#include "app/suggestion.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace TURTLE_SERVER {
namespace {

using Names = std::vector<std::string>;

auto Nearest(const std::string& word, const Names& names) -> std::string {
  return NearestName(word, names).value_or("");
}

TEST(SuggestionTest, ALetterChangedLeftOutPutInOrSwappedIsOneStep) {
  EXPECT_EQ(EditDistance("", ""), 0U);
  EXPECT_EQ(EditDistance("port", "port"), 0U);
  EXPECT_EQ(EditDistance("pont", "port"), 1U);
  EXPECT_EQ(EditDistance("por", "port"), 1U);
  EXPECT_EQ(EditDistance("ports", "port"), 1U);
  EXPECT_EQ(EditDistance("prot", "port"), 1U);
  EXPECT_EQ(EditDistance("root", "port"), 2U);
  EXPECT_EQ(EditDistance("", "port"), 4U);
}

TEST(SuggestionTest, OnlyWhatIsNearIsSuggested) {
  const Names names{"port", "http.root_path", "worker_processes", "timeouts.cgi"};
  EXPECT_EQ(Nearest("prot", names), "port");
  EXPECT_EQ(Nearest("worker_procesess", names), "worker_processes");
  for (const char* word : {"root", "host", "", "p", "timeouts.x", "threads", "processes"}) {
    EXPECT_EQ(Nearest(word, names), "") << word;
  }
  EXPECT_EQ(Nearest(std::string(100'000, 'p'), names), "");
}

TEST(SuggestionTest, TheSameNameElsewhereIsTheBest) {
  const Names names{"part", "log.file", "access_log.file", "mysql.port", "http.root_path"};
  EXPECT_EQ(Nearest("port", names), "mysql.port") << "not the one that is a letter away";
  EXPECT_EQ(Nearest("root_path", names), "http.root_path");
  EXPECT_EQ(Nearest("htpt.root_path", names), "http.root_path");
  EXPECT_EQ(Nearest("access_log.fiel", names), "access_log.file") << "of its own group";
  EXPECT_EQ(Nearest("logfile", names), "log.file");
}

TEST(SuggestionTest, ANameOfNoGroupIsBetterThanOneOfAnother) {
  const Names names{"tls.port", "port", "http.root_path"};
  EXPECT_EQ(Nearest("http.port", names), "port");
  EXPECT_EQ(Nearest("htpt.port", {"port", "http.port"}), "http.port") << "it is a letter away";
  EXPECT_EQ(Nearest("tsl.port", names), "tls.port");
  EXPECT_EQ(Nearest("http.port", {"tls.port"}), "tls.port");
}

}  // namespace
}  // namespace TURTLE_SERVER
