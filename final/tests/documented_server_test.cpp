// The echo server of the documentation, word for word: compiled as it is, and run on another port.
#include <gtest/gtest.h>

#include <future>
#include <string>
#include <thread>

#include "core/turtle_server.h"
#include "support/client.h"

// User code may reopen the namespace, to forward-declare in it and to add anything it likes.
namespace TURTLE_SERVER {
class TurtleServer;
class Connection;
class Guestbook;
}  // namespace TURTLE_SERVER

class TURTLE_SERVER::Guestbook {
 public:
  void Sign(Connection* client_conn) { last_fd_ = client_conn->GetFd(); }

 private:
  [[maybe_unused]] int last_fd_ = -1;
};

// The program itself. It would listen on port 20080 until it is killed, so it is not called.
#define main DocumentedMain
#include "support/documented_echo_server.inc"

// The same text once more, where the two names at its beginning mean any free port and a server
// that the test can reach. Everything else is the library's.
namespace documented {

std::promise<turtle::TurtleServer*> made;

namespace TURTLE_SERVER {

using namespace ::TURTLE_SERVER;

struct NetAddress : ::TURTLE_SERVER::NetAddress {
  NetAddress(const std::string& host, int /*port*/) : ::TURTLE_SERVER::NetAddress(host, 0) {}
};

struct TurtleServer : ::TURTLE_SERVER::TurtleServer {
  explicit TurtleServer(const NetAddress& local) : ::TURTLE_SERVER::TurtleServer(local) {
    made.set_value(this);
  }
};

}  // namespace TURTLE_SERVER

#include "support/documented_echo_server.inc"  // NOLINT(build/include)
#undef main

}  // namespace documented

namespace {

using turtle::test::Client;

TEST(DocumentedServer, EchoesUntilItIsStopped) {
  std::promise<int> ended;
  auto status = ended.get_future();
  std::thread program([&] { ended.set_value(documented::DocumentedMain()); });
  turtle::TurtleServer* server = documented::made.get_future().get();
  {
    Client client(server->LocalAddress().Port());
    const std::string bytes(1'000'000, 'x');
    std::thread sender([&] { EXPECT_TRUE(client.Send(bytes)); });
    EXPECT_TRUE(client.Receive(bytes.size()) == bytes);
    sender.join();
    client.FinishSending();
    EXPECT_EQ(client.ReceiveAll(), "");
    EXPECT_TRUE(client.Ended());
  }
  Client half_closes(server->LocalAddress().Port());
  ASSERT_TRUE(half_closes.Send("first data, then exit"));
  half_closes.FinishSending();
  EXPECT_EQ(half_closes.ReceiveAll(), "first data, then exit");

  server->Stop();
  ASSERT_EQ(status.wait_for(turtle::test::kPatience), std::future_status::ready);
  program.join();
  EXPECT_EQ(status.get(), 0);
}

}  // namespace
