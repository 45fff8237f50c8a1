// A worker with connections that are to be held; whole runs are in bench_load_run_test.cpp.
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <functional>
#include <future>
#include <string>
#include <thread>
#include <utility>

#include "bench/worker.h"
#include "support/client.h"
#include "support/raw_server.h"

namespace TURTLE_SERVER {
namespace {

constexpr std::string_view kGood = "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello";

auto HoldOne(int port) -> WorkerPlan {
  WorkerPlan plan;
  plan.server = NetAddress("127.0.0.1", static_cast<std::uint16_t>(port));
  plan.mode = LoadMode::kIdle;
  plan.requests = "GET / HTTP/1.1\r\nHost: x\r\n\r\n";
  plan.spare = 1;
  plan.timeout = std::chrono::duration_cast<std::chrono::milliseconds>(test::kPatience);
  return plan;
}

// A worker on its thread, until the server has seen enough or patience is over.
class RunningWorker {
 public:
  RunningWorker(const WorkerPlan& plan, std::function<void()> on_ready)
      : worker_(plan, shared_, {[](const std::string&) {}, std::move(on_ready)}) {
    worker_.Begin();
    thread_ = std::thread([this] { worker_.Run(); });
  }

  RunningWorker(const RunningWorker&) = delete;
  auto operator=(const RunningWorker&) -> RunningWorker& = delete;
  ~RunningWorker() { Stop(); }

  void Stop() {
    if (thread_.joinable()) {
      worker_.Stop();
      thread_.join();
    }
  }

  auto Errors(ErrorKind kind) const -> std::uint64_t {
    return worker_.Measured().tally.errors[static_cast<std::size_t>(kind)].Get();
  }

 private:
  SharedRun shared_;
  Worker worker_;
  std::thread thread_;
};

TEST(WorkerTest, AHeldConnectionThatIsSentMoreIsOpenedAnew) {
  Connection* first = nullptr;
  int requests = 0;
  std::promise<void> again;
  std::atomic<Looper*> loop{nullptr};
  test::RawServer server([&](Connection& connection) {
    connection.WriteToWriteBuffer(kGood);
    if (++requests == 1) {
      first = &connection;
      loop = connection.GetLooper();
    } else if (requests == 2) {
      again.set_value();
    }
  });
  RunningWorker worker(HoldOne(server.Port()), [&] {
    static_cast<void>(loop.load()->Post([&] {
      first->WriteToWriteBuffer("HTTP/1.1 408 Request Timeout\r\nContent-Length: 0\r\n\r\n");
      first->Send();
    }));
  });
  EXPECT_EQ(again.get_future().wait_for(test::kPatience), std::future_status::ready);
  worker.Stop();
  EXPECT_EQ(worker.Errors(ErrorKind::kProtocol), 1U);
}

TEST(WorkerTest, TellsOnceThatAllAreHeld) {
  int requests = 0;
  std::promise<void> enough;
  test::RawServer server([&](Connection& connection) {
    connection.WriteToWriteBuffer(kGood);
    connection.GetLooper()->DeleteConnection(connection.GetFd(), Closing::kAuto);
    if (++requests == 4) {
      enough.set_value();
    }
  });
  std::atomic<int> told{0};
  RunningWorker worker(HoldOne(server.Port()), [&] { ++told; });
  EXPECT_EQ(enough.get_future().wait_for(test::kPatience), std::future_status::ready);
  worker.Stop();
  EXPECT_EQ(told, 1);
  EXPECT_GE(worker.Errors(ErrorKind::kReset), 3U);
}

}  // namespace
}  // namespace TURTLE_SERVER
