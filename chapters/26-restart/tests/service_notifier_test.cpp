// The messages that a service manager receives, on a path and on an abstract name.
#include "ops/service_notifier.h"

#include <gtest/gtest.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <array>
#include <cstddef>
#include <cstring>
#include <stdexcept>
#include <string>

#include "support/captured_stderr.h"
#include "support/log_folder.h"

namespace TURTLE_SERVER {
namespace {

// The manager's side.
class Manager {
 public:
  explicit Manager(const std::string& name) : fd_(::socket(AF_UNIX, SOCK_DGRAM, 0)) {
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    std::memcpy(address.sun_path, name.data(), name.size());
    std::size_t size = sizeof address;
    if (name.front() == '@') {
      address.sun_path[0] = '\0';
      size = offsetof(sockaddr_un, sun_path) + name.size();
    }
    const auto* const place = reinterpret_cast<const sockaddr*>(&address);
    bound_ = ::bind(fd_.Get(), place, static_cast<socklen_t>(size)) == 0;
  }

  [[nodiscard]] auto Bound() const -> bool { return bound_; }

  // Returns the next datagram, "" if there is none.
  [[nodiscard]] auto Hear() const -> std::string {
    std::array<char, 256> text{};
    const ssize_t count = ::recv(fd_.Get(), text.data(), text.size(), MSG_DONTWAIT);
    return count < 0 ? "" : std::string(text.data(), static_cast<std::size_t>(count));
  }

 private:
  UniqueFd fd_;
  bool bound_ = false;
};

void ExpectAllToBeHeard(const std::string& name) {
  const Manager manager(name);
  ASSERT_TRUE(manager.Bound()) << name;
  const ServiceNotifier notifier(name);
  EXPECT_TRUE(notifier.IsHeard());
  notifier.Ready();
  EXPECT_EQ(manager.Hear(), "READY=1");
  notifier.Reloading(std::chrono::microseconds(12'345'678));
  EXPECT_EQ(manager.Hear(), "RELOADING=1\nMONOTONIC_USEC=12345678");
  notifier.Stopping();
  EXPECT_EQ(manager.Hear(), "STOPPING=1");
  notifier.MainPid(4711);
  EXPECT_EQ(manager.Hear(), "READY=1\nMAINPID=4711");
  EXPECT_EQ(manager.Hear(), "");
}

TEST(ServiceNotifier, IsHeardAtAPath) {
  const test::LogFolder folder;
  ExpectAllToBeHeard(folder.Path("notify"));
}

#ifdef __linux__
TEST(ServiceNotifier, IsHeardByANameWithoutAFile) {
  ExpectAllToBeHeard("@turtle-test-" + std::to_string(::getpid()));
}
#endif

TEST(ServiceNotifier, WithoutAManagerNobodyIsTold) {
  const ServiceNotifier notifier;
  EXPECT_FALSE(notifier.IsHeard());
  notifier.Ready();
  notifier.Stopping();
}

TEST(ServiceNotifier, AManagerThatHasGoneCostsALineInTheLog) {
  const test::LogFolder folder;
  const ServiceNotifier notifier(folder.Path("nobody"));
  const test::CapturedStderr errors;
  notifier.Ready();
  EXPECT_NE(
      errors.Text().find("NOTIFY_SOCKET " + folder.Path("nobody") + " can't be reached: No such"),
      std::string::npos)
      << errors.Text();
}

TEST(ServiceNotifier, WhatIsNoNameIsRefused) {
  for (const std::string& name :
       {std::string("relative"), std::string("vsock:2:1234"), std::string("/"), std::string("@"),
        "/" + std::string(sizeof(sockaddr_un::sun_path), 'x')}) {
    EXPECT_THROW(ServiceNotifier{name}, std::invalid_argument) << name;
  }
}

TEST(ServiceNotifier, ItsTimeIsThatOfTheKernel) {
  const auto before = ServiceNotifier::MonotonicTime();
  EXPECT_GT(before.count(), 0);
  EXPECT_GE(ServiceNotifier::MonotonicTime(), before);
}

}  // namespace
}  // namespace TURTLE_SERVER
