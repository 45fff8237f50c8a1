// The file of a listener that passes from one process to the next.
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <fstream>
#include <optional>
#include <string>
#include <utility>

#include "core/unix_listener.h"
#include "support/log_folder.h"
#include "support/unix_client.h"

namespace TURTLE_SERVER {
namespace {

auto IsThere(const std::string& path) -> bool {
  struct stat file {};
  return ::lstat(path.c_str(), &file) == 0;
}

TEST(UnixListenerLeft, TheFileStaysWithWhoHasTheListener) {
  const test::LogFolder folder;
  const std::string path = folder.Path("socket");
  std::optional<UnixListener> old(std::in_place, path);
  std::optional<UnixListener> successor(std::in_place, path, old->TakeSocket());
  successor->TakeFile();
  old->LeaveFile();
  old.reset();
  EXPECT_TRUE(test::UnixClient(path).Connected());
  successor.reset();
  EXPECT_FALSE(IsThere(path));
}

TEST(UnixListenerLeft, ASuccessorThatFailsLeavesTheFileToWhoServesOn) {
  const test::LogFolder folder;
  const std::string path = folder.Path("socket");
  UnixListener old(path);
  const Socket listener = old.TakeSocket();
  { const UnixListener successor(path, Socket(UniqueFd(::dup(listener.GetFd())))); }
  EXPECT_TRUE(test::UnixClient(path).Connected());
}

TEST(UnixListenerLeft, AnotherFileInItsPlaceIsLeftAlone) {
  const test::LogFolder folder;
  const std::string path = folder.Path("socket");
  UnixListener old(path);
  old.LeaveFile();
  {
    UnixListener successor(path, old.TakeSocket());
    successor.TakeFile();
    ASSERT_EQ(::unlink(path.c_str()), 0);
    std::ofstream(path) << "somebody else's";
  }
  EXPECT_TRUE(IsThere(path));
}

TEST(UnixListenerLeft, AFileThatHasGoneIsNobodys) {
  const test::LogFolder folder;
  const std::string path = folder.Path("socket");
  UnixListener old(path);
  ASSERT_EQ(::unlink(path.c_str()), 0);
  {
    UnixListener successor(path, old.TakeSocket());
    successor.TakeFile();
    std::ofstream(path) << "somebody else's";
  }
  EXPECT_TRUE(IsThere(path));
}

}  // namespace
}  // namespace TURTLE_SERVER
