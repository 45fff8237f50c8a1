// A link that is put in the place of a socket, between bind(2) and the change of its mode.
#include <gtest/gtest.h>

#ifdef __linux__

#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <string>
#include <system_error>

#include "core/unix_listener.h"
#include "support/log_folder.h"

namespace {

std::string place;   // NOLINT: of the socket
std::string target;  // NOLINT: of the link; empty: no link

}  // namespace

// Stands in for that of libc, in all of this program.
extern "C" auto bind(int fd, const sockaddr* address, socklen_t size) noexcept -> int {
  const auto result = static_cast<int>(::syscall(SYS_bind, fd, address, size));
  if (result == 0 && !target.empty()) {
    ::unlink(place.c_str());
    EXPECT_EQ(::symlink(target.c_str(), place.c_str()), 0);
  }
  return result;
}

namespace TURTLE_SERVER {
namespace {

auto ModeOf(const std::string& path) -> mode_t {
  struct stat file {};
  EXPECT_EQ(::lstat(path.c_str(), &file), 0);
  return file.st_mode & 0777U;
}

class UnixListenerLinkTest : public testing::Test {
 protected:
  UnixListenerLinkTest() {
    place = folder_.Path("socket");
    folder_.Write("secret", "secret");
    EXPECT_EQ(::chmod(Secret().c_str(), 0600), 0);
  }
  ~UnixListenerLinkTest() override { target.clear(); }

  [[nodiscard]] auto Secret() const -> std::string { return folder_.Path("secret"); }

  test::LogFolder folder_;
};

TEST_F(UnixListenerLinkTest, TheFileThatALinkNamesKeepsItsMode) {
  target = Secret();
  EXPECT_THROW(UnixListener{place}, std::system_error);
  EXPECT_EQ(ModeOf(Secret()), 0600U);
}

TEST_F(UnixListenerLinkTest, WithoutALinkTheSocketIsOpenToEverybody) {
  const mode_t before = ::umask(077);
  {
    const UnixListener listener(place);
    EXPECT_EQ(ModeOf(place), 0666U);
  }
  ::umask(before);
}

}  // namespace
}  // namespace TURTLE_SERVER

#endif  // __linux__
