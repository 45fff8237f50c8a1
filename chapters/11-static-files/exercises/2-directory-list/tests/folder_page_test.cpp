#include "web/folder_page.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstddef>
#include <string>
#include <system_error>

#include "base/unique_fd.h"
#include "support/site_folder.h"

namespace TURTLE_SERVER {
namespace {

class FolderPageTest : public testing::Test {
 protected:
  auto Open() const -> UniqueFd {
    return UniqueFd(::open(folder_.Path().c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  }

  static auto BodyOf(const Response& response) -> std::string { return response.Text(); }

  // The page's lines that are entries.
  auto Entries() const -> std::string {
    const UniqueFd folder = Open();
    const std::string page = BodyOf(FolderPage(folder.Get(), "/x/"));
    std::string entries;
    for (std::size_t at = page.find("<li>"); at != std::string::npos;
         at = page.find("<li>", at + 1)) {
      entries += page.substr(at, page.find('\n', at) + 1 - at);
    }
    return entries;
  }

  test::SiteFolder folder_;
};

TEST_F(FolderPageTest, IsAPageWithALinkToEachEntryInOrder) {
  folder_.Write("b.txt", "b");
  folder_.Write("a/inside", "a");
  folder_.Write("C", "");
  const UniqueFd folder = Open();
  const Response response = FolderPage(folder.Get(), "/x/");
  EXPECT_EQ(response.Status(), 200);
  EXPECT_EQ(response.Find("Content-Type"), "text/html; charset=utf-8");
  EXPECT_EQ(Entries(),
            "<li><a href=\"./C\">C</a></li>\n"
            "<li><a href=\"./a/\">a/</a></li>\n"
            "<li><a href=\"./b.txt\">b.txt</a></li>\n");
}

TEST_F(FolderPageTest, ANameIsTextAndNothingElse) {
  folder_.Write("<b>&\"'", "");
  folder_.Write("javascript:alert(1)", "");
  folder_.Write("a b?c#d%41", "");
  folder_.Write("\xc3\xa4", "");
  EXPECT_EQ(Entries(),
            "<li><a href=\"./%3Cb%3E%26%22%27\">&lt;b&gt;&amp;&quot;&#39;</a></li>\n"
            "<li><a href=\"./a%20b%3Fc%23d%2541\">a b?c#d%41</a></li>\n"
            "<li><a href=\"./javascript%3Aalert%281%29\">javascript:alert(1)</a></li>\n"
            "<li><a href=\"./%C3%A4\">\xc3\xa4</a></li>\n");
}

TEST_F(FolderPageTest, SoIsThePath) {
  const UniqueFd folder = Open();
  const std::string page = BodyOf(FolderPage(folder.Get(), "/<script>/"));
  EXPECT_NE(page.find("/&lt;script&gt;/"), std::string::npos) << page;
  EXPECT_EQ(page.find("<script>"), std::string::npos) << page;
}

TEST_F(FolderPageTest, OnlyWhatCanBeAskedForIsShown) {
  folder_.Write(".git/config", "");
  folder_.Write(".htpasswd", "");
  folder_.Write("file", "");
  folder_.Write("line\nfeed", "");
  folder_.Write("back\\slash", "");
  folder_.Link("link", "file");
  folder_.Link("link_to_folder", "deep");
  folder_.Write("deep/file", "");
  folder_.Link("way_out", "/etc/passwd");
  folder_.Link("up", "../");
  folder_.Link("broken", "nowhere");
  ASSERT_EQ(::mkfifo(folder_.Path("pipe").c_str(), 0600), 0);
  EXPECT_EQ(Entries(),
            "<li><a href=\"./deep/\">deep/</a></li>\n"
            "<li><a href=\"./file\">file</a></li>\n");
}

TEST_F(FolderPageTest, AnEmptyFolderHasAPageToo) {
  EXPECT_EQ(Entries(), "");
  const UniqueFd folder = Open();
  EXPECT_EQ(FolderPage(folder.Get(), "/").Status(), 200);
}

TEST_F(FolderPageTest, ItCanBeListedAgainAndNoDescriptorStays) {
  folder_.Write("a", "");
  const UniqueFd folder = Open();
  const UniqueFd next(::dup(folder.Get()));  // the lowest number that is free
  const std::string first = BodyOf(FolderPage(folder.Get(), "/"));
  EXPECT_NE(first.find("./a"), std::string::npos);
  folder_.Write("b", "");
  const std::string second = BodyOf(FolderPage(folder.Get(), "/"));
  EXPECT_NE(second.find("./a"), std::string::npos);
  EXPECT_NE(second.find("./b"), std::string::npos);
  EXPECT_NE(::fcntl(folder.Get(), F_GETFD), -1);
  const UniqueFd after(::dup(folder.Get()));
  EXPECT_EQ(after.Get(), next.Get() + 1);
}

TEST_F(FolderPageTest, AHugeFolderHasABoundedPage) {
  for (std::size_t i = 0; i < kMaxEntries + 5; ++i) {
    folder_.Write(std::to_string(10'000 + i), "");
  }
  std::string entries = Entries();
  std::size_t count = 0;
  for (std::size_t at = entries.find("<li>"); at != std::string::npos;
       at = entries.find("<li>", at + 1)) {
    ++count;
  }
  EXPECT_EQ(count, kMaxEntries);
}

TEST_F(FolderPageTest, WhatIsNoFolderIsAnError) {
  folder_.Write("file", "");
  const UniqueFd file(::open(folder_.Path("file").c_str(), O_RDONLY | O_CLOEXEC));
  try {
    static_cast<void>(FolderPage(file.Get(), "/"));
    ADD_FAILURE() << "a file was listed";
  } catch (const std::system_error& error) {
    EXPECT_EQ(error.code().value(), ENOTDIR);
  }
}

}  // namespace
}  // namespace TURTLE_SERVER
