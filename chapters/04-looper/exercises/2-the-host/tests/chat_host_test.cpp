#include <fcntl.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <csignal>
#include <string>
#include <vector>

#include "base/unique_fd.h"
#include "support/child.h"
#include "support/client.h"

namespace TURTLE_SERVER {
namespace {

using test::Client;

void Hears(Client& guest, const std::string& line) { EXPECT_EQ(guest.Receive(line.size()), line); }

// A guest that has read its own number.
void Enter(Client& guest, int number) {
  Hears(guest, "you are guest " + std::to_string(number) + "\n");
}

// That the room still works, and that nothing else was said in it.
void Talk(Client& one, Client& two) {
  ASSERT_TRUE(one.Send("hello\n"));
  Hears(two, "guest 1: hello\n");
}

TEST(ChatHost, WhatTheHostSaysGoesToAllGuests) {
  test::ExampleServer server("chat_server");
  Client one(server.Port());
  Enter(one, 1);
  Client two(server.Port());
  Enter(two, 2);
  ASSERT_TRUE(server.Write("good evening\nwelco"));
  Hears(one, "host: good evening\n");
  Hears(two, "host: good evening\n");
  Talk(one, two);
  ASSERT_TRUE(server.Write("me\n"));
  Hears(one, "host: welcome\n");
  Hears(two, "host: welcome\n");
}

TEST(ChatHost, WhenTheHostLeavesTheRoomStays) {
  test::ExampleServer server("chat_server");
  Client one(server.Port());
  Enter(one, 1);
  ASSERT_TRUE(server.Write("good night\nand"));
  server.CloseInput();
  Hears(one, "host: good night\n");
  Client two(server.Port());
  Enter(two, 2);
  Talk(one, two);
  server.Signal(SIGTERM);
  EXPECT_EQ(server.Wait(), 0);
}

TEST(ChatHost, WithoutAnInputThatCanBeWatchedThereIsNone) {
  for (const std::string input : {"/dev/null", "/etc/passwd"}) {
    test::Child server("/bin/sh",
                       {"-c", "exec \"$0\" 0 < " + input, test::ExamplePath("chat_server")});
    const std::string line = server.ReadLine();
    ASSERT_EQ(line.rfind("listening on ", 0), 0U) << line << server.ReadErrors();
    const int port = std::stoi(line.substr(line.rfind(':') + 1));
    Client one(port);
    Enter(one, 1);
    Client two(port);
    Enter(two, 2);
    Talk(one, two);
  }
}

// A terminal is often shared as standard input: a change of its mode affects all programs.
TEST(ChatHost, TheInputIsLeftAsItWas) {
  int ends[2];
  ASSERT_EQ(::pipe(ends), 0);
  const UniqueFd reader(ends[0]);
  UniqueFd writer(ends[1]);
  ::fcntl(writer.Get(), F_SETFD, FD_CLOEXEC);
  test::Child server("/bin/sh", {"-c", "exec \"$0\" 0 <&" + std::to_string(reader.Get()),
                                 test::ExamplePath("chat_server")});
  const std::string line = server.ReadLine();
  Client one(std::stoi(line.substr(line.rfind(':') + 1)));
  Enter(one, 1);
  ASSERT_EQ(::write(writer.Get(), "hello\n", 6), 6);
  Hears(one, "host: hello\n");
  EXPECT_EQ(::fcntl(reader.Get(), F_GETFL) & O_NONBLOCK, 0);
}

}  // namespace
}  // namespace TURTLE_SERVER
