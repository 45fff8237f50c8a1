// The memory of an uploaded file that has become too large for it.
#include <gtest/gtest.h>

#include <cstddef>
#include <string>

#include "support/live_memory.h"
#include "support/site_folder.h"
#include "web/upload.h"

namespace TURTLE_SERVER {
namespace {

TEST(UploadMemoryTest, AFileThatMovesToTheDiskLeavesItsMemory) {
  constexpr std::ptrdiff_t kMost = 65'536;
  const test::SiteFolder folder;
  UploadOptions options;
  options.folder = folder.Path();
  options.max_memory_file_bytes = kMost;
  const std::string head = "--b\r\nContent-Disposition: form-data; name=a; filename=f\r\n\r\n";
  const std::string content(kMost, 'x');

  Upload upload("b", options);
  ASSERT_FALSE(upload.Write(head));
  const std::ptrdiff_t before = test::live_bytes;
  ASSERT_FALSE(upload.Write(content));
  ASSERT_FALSE(upload.Find("a")->IsOnDisk()) << "exactly the limit";
  ASSERT_GE(test::live_bytes - before, kMost) << "is it counted at all?";
  ASSERT_FALSE(upload.Write("x"));
  ASSERT_TRUE(upload.Find("a")->IsOnDisk());
  EXPECT_LE(test::live_bytes - before, kMost / 2) << "it is in memory and on the disk";
}

}  // namespace
}  // namespace TURTLE_SERVER
