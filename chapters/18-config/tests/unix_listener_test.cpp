// A listener on a path: it serves like any other, replaces what a dead server has left, and leaves
// other programs' files alone.
#include "core/unix_listener.h"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <stdexcept>
#include <string>
#include <system_error>

#include "core/turtle_server.h"
#include "support/handlers.h"
#include "support/log_folder.h"
#include "support/server_thread.h"
#include "support/unix_client.h"

namespace TURTLE_SERVER {
namespace {

using test::ServerThread;
using test::UnixClient;

class UnixListenerTest : public testing::Test {
 protected:
  [[nodiscard]] auto Path() const -> std::string { return folder_.Path("socket"); }

  [[nodiscard]] auto IsThere() const -> bool {
    struct stat file {};
    return ::lstat(Path().c_str(), &file) == 0;
  }

  // Returns the message that its constructor throws, "" if it throws none.
  [[nodiscard]] static auto Refusal(const std::string& path) -> std::string {
    try {
      const UnixListener listener(path);
      return "";
    } catch (const std::exception& error) {
      return error.what();
    }
  }

  test::LogFolder folder_;
};

TEST_F(UnixListenerTest, ServesAndRemovesItsFile) {
  {
    UnixListener listener(Path());
    TurtleServer server(ServerOptions{});
    server.AlsoListen(listener.TakeSocket()).OnHandle([](Connection* client) {
      if (client->Recv().exit) {
        test::Delete(client);
        return;
      }
      const std::string input = client->ReadAsString();
      client->ClearReadBuffer();
      if (!input.empty()) {  // it is called before the first byte, too
        client->WriteToWriteBuffer(client->GetPeerAddress().ToString() + input);
      }
    });
    const ServerThread running(server);
    UnixClient client(Path());
    ASSERT_TRUE(client.Connected());
    EXPECT_EQ(client.Ask("hello", 10), "unix:hello");
    EXPECT_EQ(server.LocalAddress().ToString(), "unix:");
  }
  EXPECT_FALSE(IsThere());
}

TEST_F(UnixListenerTest, EverybodyMayConnectWhoReachesTheFile) {
  const UnixListener listener(Path());
  struct stat file {};
  ASSERT_EQ(::stat(Path().c_str(), &file), 0);
  EXPECT_EQ(file.st_mode & 07777, 0666U);
}

TEST_F(UnixListenerTest, TakesOverTheFileOfADeadServer) {
  {
    UnixListener killed(Path());
    ASSERT_EQ(::link(Path().c_str(), folder_.Path("kept").c_str()), 0);
    const Socket gone = killed.TakeSocket();
  }
  ASSERT_EQ(::rename(folder_.Path("kept").c_str(), Path().c_str()), 0);
  ASSERT_FALSE(UnixClient(Path()).Connected());
  const UnixListener listener(Path());
  EXPECT_TRUE(UnixClient(Path()).Connected());
}

TEST_F(UnixListenerTest, LeavesALiveServerAlone) {
  const UnixListener alive(Path());
  EXPECT_EQ(Refusal(Path()), "bind unix:" + Path() + ": Address already in use");
  EXPECT_TRUE(UnixClient(Path()).Connected());
}

TEST_F(UnixListenerTest, LeavesAFileAlone) {
  folder_.Write("socket", "a letter");
  EXPECT_EQ(Refusal(Path()), "bind unix:" + Path() + ": Address already in use");
  EXPECT_EQ(folder_.Read("socket"), "a letter");
}

TEST_F(UnixListenerTest, LeavesItsSuccessorsFileAlone) {
  {
    const UnixListener listener(Path());
    ASSERT_EQ(::unlink(Path().c_str()), 0);
    folder_.Write("socket", "a letter");
  }
  EXPECT_EQ(folder_.Read("socket"), "a letter");
}

TEST_F(UnixListenerTest, NamesWhatCantBeAPath) {
  EXPECT_EQ(Refusal(""), "path \"\": empty");
  EXPECT_EQ(Refusal(std::string("/tmp/a\0b", 8)), "path \"/tmp/a\": a NUL byte is in it");
  const std::string longest = folder_.Path(std::string(108 - folder_.Path("x").size(), 'x'));
  EXPECT_EQ(Refusal(longest), "");
  EXPECT_EQ(Refusal(longest + 'x'), "path \"" + longest + "x\": too long for a socket, unix(7)");
  EXPECT_EQ(Refusal(folder_.Path("none/socket")),
            "bind unix:" + folder_.Path("none/socket") + ": No such file or directory");
}

}  // namespace
}  // namespace TURTLE_SERVER
