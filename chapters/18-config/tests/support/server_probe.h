// Questions to a running server of a test.
#pragma once

#include <gtest/gtest.h>

#include <future>
#include <memory>

#include "core/looper.h"
#include "support/client.h"

namespace TURTLE_SERVER::test {

/// True if a server with the handler Echo() serves this client.
inline auto IsServed(Client& client) -> bool {
  return client.Send("hello") && client.Receive(5) == "hello";
}

/// Runs `task` on the thread of a loop, and returns when it is done.
inline void RunOn(Looper& looper, const Task& task) {
  const auto done = std::make_shared<std::promise<void>>();  // shared: the loop may come too late
  ASSERT_TRUE(looper.Post([task, done] {
    task();
    done->set_value();
  }));
  ASSERT_EQ(done->get_future().wait_for(kPatience), std::future_status::ready);
}

}  // namespace TURTLE_SERVER::test
