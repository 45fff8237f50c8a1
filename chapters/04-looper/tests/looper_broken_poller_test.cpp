// A loop that can't wait any more: Loop() throws, and no connection is left.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <memory>
#include <system_error>
#include <thread>

#include "core/looper.h"
#include "core/wakeup.h"
#include "support/client.h"
#include "support/tcp_pair.h"

namespace TURTLE_SERVER {
namespace {

// Remembers on which thread it was destroyed.
class Witness : public ConnectionState {
 public:
  explicit Witness(std::thread::id& destroyed_on) : destroyed_on_(destroyed_on) {}
  Witness(const Witness&) = delete;
  auto operator=(const Witness&) -> Witness& = delete;
  ~Witness() override { destroyed_on_ = std::this_thread::get_id(); }

 private:
  std::thread::id& destroyed_on_;
};

// Returns the number that the next descriptor will have: a loop opens its poller first.
auto NextDescriptor() -> int {
  const UniqueFd probe(::open("/dev/null", O_RDONLY | O_CLOEXEC));
  return probe.Get();
}

TEST(LooperBrokenPoller, ItsConnectionsGoBeforeLoopThrows) {
  std::thread::id destroyed_on;
  const ConnectionCallbacks callbacks{
      [&](Connection* connection) {
        connection->SetState(std::make_unique<Witness>(destroyed_on));
        connection->WriteToWriteBuffer("farewell");
      },
      [](Connection* connection) { static_cast<void>(connection->Recv()); }};
  test::TcpPair pair = test::MakeTcpPair();
  Wakeup event;
  event.Signal();  // never cleared: it is ready in every round
  const int poller = NextDescriptor();
  Looper looper;
  looper.AddConnection(pair.server.Release(), callbacks);
  int rounds = 0;
  looper.Watch(event.Fd(), Interest::kRead, [&](const PollEvent&) {
    if (++rounds == 2) {  // by then the poller knows the connection
      const UniqueFd null_device(::open("/dev/null", O_RDONLY | O_CLOEXEC));
      ASSERT_EQ(::dup2(null_device.Get(), poller), poller);  // nobody can wait on that
    }
  });
  std::thread::id loop_thread;
  std::thread thread([&] {
    loop_thread = std::this_thread::get_id();
    EXPECT_THROW(looper.Loop(), std::system_error);
    EXPECT_EQ(destroyed_on, loop_thread) << "the state outlived the loop";
    EXPECT_EQ(looper.ConnectionCount(), 0U);
  });
  EXPECT_EQ(pair.client.ReceiveAll(), "farewell");
  EXPECT_TRUE(pair.client.Ended());
  thread.join();
}

}  // namespace
}  // namespace TURTLE_SERVER
