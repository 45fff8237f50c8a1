#include "core/pass_listeners.h"

#include <dirent.h>
#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <stdexcept>
#include <string>
#include <system_error>
#include <thread>
#include <utility>
#include <vector>

#include "core/net_address.h"
#include "core/socket.h"
#include "core/socket_calls.h"
#include "support/client.h"

namespace TURTLE_SERVER {
namespace {

using std::chrono::milliseconds;
constexpr milliseconds kPatience = std::chrono::duration_cast<milliseconds>(test::kPatience);

auto OpenDescriptors() -> int {
  int count = 0;
  DIR* const folder = ::opendir("/dev/fd");
  while (::readdir(folder) != nullptr) {
    ++count;
  }
  ::closedir(folder);
  return count;
}

auto Listener() -> UniqueFd {
  Socket socket;
  socket.Bind(NetAddress("127.0.0.1", 0));
  socket.Listen();
  return UniqueFd(::dup(socket.GetFd()));
}

auto PortOf(const UniqueFd& fd) -> int {
  return Socket(UniqueFd(::dup(fd.Get()))).LocalAddress().Port();
}

class PassListenersTest : public testing::Test {
 protected:
  PassListenersTest() {
    std::array<int, 2> ends{};
    EXPECT_EQ(::socketpair(AF_UNIX, SOCK_STREAM, 0, ends.data()), 0);
    old_.Reset(ends[0]);
    young_.Reset(ends[1]);
  }

  // Sends bytes, and with them so many descriptors, as any program might.
  void SendRaw(const std::string& bytes, const std::vector<int>& fds = {}) const {
    alignas(cmsghdr) std::array<char, CMSG_SPACE(8 * sizeof(int))> room{};
    iovec piece{const_cast<char*>(bytes.data()), bytes.size()};
    msghdr message{};
    message.msg_iov = &piece;
    message.msg_iovlen = 1;
    if (!fds.empty()) {
      const auto size = static_cast<socklen_t>(fds.size() * sizeof(int));
      message.msg_control = room.data();
      message.msg_controllen = CMSG_SPACE(size);
      cmsghdr* const head = CMSG_FIRSTHDR(&message);
      head->cmsg_level = SOL_SOCKET;
      head->cmsg_type = SCM_RIGHTS;
      head->cmsg_len = CMSG_LEN(size);
      std::memcpy(CMSG_DATA(head), fds.data(), size);
    }
    EXPECT_EQ(::sendmsg(old_.Get(), &message, kNoSignal), static_cast<ssize_t>(bytes.size()));
  }

  auto Fault(milliseconds patience = kPatience) const -> std::string {
    try {
      static_cast<void>(ReceiveListeners(young_.Get(), patience));
      return "none";
    } catch (const std::runtime_error& error) {
      return error.what();
    }
  }

  UniqueFd old_;
  UniqueFd young_;
};

auto Two() -> std::vector<PassedListener> {
  std::vector<PassedListener> listeners;
  listeners.push_back({Listener(), "http"});
  listeners.push_back({Listener(), std::string(255, 'x')});
  return listeners;
}

TEST_F(PassListenersTest, TheOtherEndHasThemInTheirOrder) {
  std::vector<PassedListener> sent = Two();
  const std::vector<int> ports{PortOf(sent[0].fd), PortOf(sent[1].fd)};
  SendListeners(old_.Get(), sent);
  sent.clear();  // the kernel keeps them on their way
  const std::vector<PassedListener> received = ReceiveListeners(young_.Get(), kPatience);
  ASSERT_EQ(received.size(), 2U);
  EXPECT_EQ(received[0].name, "http");
  EXPECT_EQ(received[1].name, std::string(255, 'x'));
  for (std::size_t i = 0; i < 2; ++i) {
    EXPECT_EQ(PortOf(received[i].fd), ports[i]);
    EXPECT_NE(::fcntl(received[i].fd.Get(), F_GETFD) & FD_CLOEXEC, 0);
    const test::Client client(ports[i]);  // the kernel lets it in
    EXPECT_TRUE(UniqueFd(::accept(received[i].fd.Get(), nullptr, nullptr)));
  }
}

TEST_F(PassListenersTest, AnEmptyListIsOne) {
  SendListeners(old_.Get(), {});
  SendListeners(old_.Get(), Two());
  EXPECT_EQ(ReceiveListeners(young_.Get(), kPatience).size(), 0U);
  EXPECT_EQ(ReceiveListeners(young_.Get(), kPatience).size(), 2U) << "no list reads the next";
}

TEST_F(PassListenersTest, NonBlockingEndsAreWaitedFor) {
  for (const UniqueFd* end : {&old_, &young_}) {
    ASSERT_EQ(::fcntl(end->Get(), F_SETFL, O_NONBLOCK), 0);
  }
  const int little = 1;  // the kernel makes it a few kilobytes
  ASSERT_EQ(::setsockopt(old_.Get(), SOL_SOCKET, SO_SNDBUF, &little, sizeof little), 0);
  std::vector<PassedListener> sent;
  const UniqueFd listener = Listener();
  for (std::size_t i = 0; i < kMaxPassed; ++i) {
    sent.push_back({UniqueFd(::dup(listener.Get())), std::string(255, 'x')});
  }
  std::thread sender([&] {
    try {
      SendListeners(old_.Get(), sent);
    } catch (const std::system_error& error) {
      ADD_FAILURE() << error.what();
    }
  });
  std::size_t received = 0;
  try {
    received = ReceiveListeners(young_.Get(), kPatience).size();
  } catch (const std::runtime_error& error) {
    ADD_FAILURE() << error.what();
  }
  EXPECT_EQ(received, kMaxPassed);
  young_.Reset();  // a sender that still waits finds that out
  sender.join();
}

TEST_F(PassListenersTest, ANameMayComeInPieces) {
  const UniqueFd listener = Listener();
  SendRaw("\4h", {listener.Get()});
  SendRaw("tt");
  SendRaw("p");
  SendRaw(std::string(1, '\0'));
  const std::vector<PassedListener> received = ReceiveListeners(young_.Get(), kPatience);
  ASSERT_EQ(received.size(), 1U);
  EXPECT_EQ(received[0].name, "http");
}

TEST_F(PassListenersTest, WhatIsNoListIsRefusedAndNothingStaysOpen) {
  const UniqueFd listener = Listener();
  const int before = OpenDescriptors();
  SendRaw("\4http", {listener.Get()});
  SendRaw("\4ftp!", {old_.Get()});
  EXPECT_EQ(Fault(), "passed listeners: 'ftp!' does not listen");
  EXPECT_EQ(OpenDescriptors(), before);
  SendRaw("\1a");
  EXPECT_EQ(Fault(), "passed listeners: no descriptor");
  SendRaw("a", {});  // the unread rest of that name: a length of 97
  EXPECT_EQ(Fault(), "passed listeners: no descriptor");
  EXPECT_EQ(OpenDescriptors(), before);
}

TEST_F(PassListenersTest, MoreThanOneDescriptorAtOnceIsRefusedAndClosed) {
  const UniqueFd listener = Listener();
  const int before = OpenDescriptors();
  SendRaw("\1a", {listener.Get(), listener.Get()});
  EXPECT_EQ(Fault(), "passed listeners: 2 descriptors at once");
  EXPECT_EQ(OpenDescriptors(), before);
}

TEST_F(PassListenersTest, AListHasAnEnd) {
  const UniqueFd listener = Listener();
  const int before = OpenDescriptors();
  for (std::size_t i = 0; i <= kMaxPassed; ++i) {
    SendRaw("\1a", {listener.Get()});
  }
  EXPECT_EQ(Fault(), "passed listeners: more than 64");
  EXPECT_EQ(OpenDescriptors(), before);
}

TEST_F(PassListenersTest, ASilentEndIsGivenUp) {
  const UniqueFd listener = Listener();
  const int before = OpenDescriptors();
  SendRaw("\4ht", {listener.Get()});
  EXPECT_EQ(Fault(milliseconds(20)), "passed listeners: nothing within 20 ms");
  EXPECT_EQ(OpenDescriptors(), before);
}

TEST_F(PassListenersTest, AnEndThatGoesIsNoticed) {
  const UniqueFd listener = Listener();
  SendRaw("\4http", {listener.Get()});
  old_.Reset();
  EXPECT_EQ(Fault(), "passed listeners: the other end has gone");
}

TEST_F(PassListenersTest, TheSenderIsTold) {
  std::vector<PassedListener> sent = Two();
  young_.Reset();
  EXPECT_THROW(SendListeners(old_.Get(), sent), std::system_error);
}

TEST_F(PassListenersTest, WhatCannotBeSentIsRefusedBefore) {
  const auto fault = [this](const std::vector<PassedListener>& listeners) -> std::string {
    try {
      SendListeners(old_.Get(), listeners);
      return "none";
    } catch (const std::invalid_argument& error) {
      return error.what();
    }
  };
  std::vector<PassedListener> sent = Two();
  sent[1].name.clear();
  EXPECT_EQ(fault(sent), "a name of 0 bytes: 1 to 255");
  sent[1].name.assign(256, 'x');
  EXPECT_EQ(fault(sent), "a name of 256 bytes: 1 to 255");
  EXPECT_EQ(fault(std::vector<PassedListener>(kMaxPassed + 1)), "65 listeners: at most 64");
  EXPECT_EQ(Fault(milliseconds(1)), "passed listeners: nothing within 1 ms");
}

}  // namespace
}  // namespace TURTLE_SERVER
