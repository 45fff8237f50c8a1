// Large files go by sendfile(2): every byte, at the reader's pace, and never one that isn't there.
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <string>

#include "support/captured_stderr.h"
#include "support/narrow_pair.h"
#include "support/static_site.h"

namespace TURTLE_SERVER {
namespace {

using test::Get;
using test::HttpClient;
using test::HttpReply;
using test::StaticSite;

constexpr std::size_t kLarge = std::size_t{24} * 1024 * 1024;  // more than two sockets hold

TEST(StaticFilesLarge, EveryByteArrives) {
  StaticSite site;
  const std::string content = test::Pattern(kLarge);
  site.Folder().Write("large.bin", content);
  HttpClient slow(site.Port());
  ASSERT_TRUE(slow.Send(Get("/large.bin") + Get("/large.bin", "Range: bytes=-100000\r\n")));
  // In the meantime, the loop has time for others.
  ASSERT_TRUE(slow.HasInput(test::kPatience));
  for (int i = 0; i < 10; ++i) {
    ASSERT_EQ(site.Ask("/none").status, 404);
  }
  const HttpReply reply = slow.ReadReply();
  EXPECT_TRUE(reply.complete);
  EXPECT_TRUE(reply.body == content);
  EXPECT_TRUE(slow.ReadReply().body == content.substr(kLarge - 100'000));
}

TEST(StaticFilesLarge, SizesAroundTheOneThatIsCopied) {
  StaticSite site;
  HttpClient client(site.Port());
  const std::size_t limit = StaticFilesOptions().max_copied_bytes;
  for (const std::size_t size : {limit - 1, limit, limit + 1}) {
    const std::string content = test::Pattern(size);
    site.Folder().Write("file.bin", content);
    const HttpReply reply = client.Ask(Get("/file.bin"));
    ASSERT_TRUE(reply.complete) << size;
    EXPECT_TRUE(reply.body == content) << size;
  }
}

TEST(StaticFilesLarge, AReplacedFileIsSentAsItWas) {
  StaticSite site;
  const std::string content = test::Pattern(kLarge);
  site.Folder().Write("large.bin", content);
  HttpClient client(site.Port());
  ASSERT_TRUE(client.Send(Get("/large.bin")));
  ASSERT_TRUE(client.HasInput(test::kPatience));
  site.Folder().Write("new.bin", "new");
  std::filesystem::rename(site.Folder().Path("new.bin"), site.Folder().Path("large.bin"));
  EXPECT_TRUE(client.ReadReply().body == content);
  EXPECT_EQ(client.Ask(Get("/large.bin")).body, "new");
}

TEST(StaticFilesLarge, AFileThatShrinksCutsTheConnection) {
  const test::CapturedStderr captured;  // captures what a server may log about it
  StaticSite site;
  const std::string content = test::Pattern(kLarge);
  site.Folder().Write("large.bin", content);
  HttpClient client(site.Port());
  ASSERT_TRUE(client.Send(Get("/large.bin") + Get("/none")));
  ASSERT_TRUE(client.HasInput(test::kPatience));
  constexpr std::size_t kLeft = std::size_t{4} * 1024 * 1024;
  ASSERT_EQ(::truncate(site.Folder().Path("large.bin").c_str(), kLeft), 0);
  const HttpReply reply = client.ReadReply();
  EXPECT_EQ(reply.status, 200);
  EXPECT_FALSE(reply.complete);
  EXPECT_LT(reply.body.size(), kLarge);
  // The part that was in the socket then may have lost its content, but nothing was added.
  const std::size_t certain = std::min(kLeft, reply.body.size());
  EXPECT_TRUE(reply.body.substr(0, certain) == content.substr(0, certain));
  EXPECT_EQ(client.ReadRest(), "");
  EXPECT_EQ(site.Ask("/none").status, 404);
}

}  // namespace
}  // namespace TURTLE_SERVER
