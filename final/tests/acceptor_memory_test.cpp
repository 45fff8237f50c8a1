// A client for which no memory is left costs the others nothing. Its own program, because it
// replaces operator new.
#include <gtest/gtest.h>

#include <cstdlib>
#include <new>
#include <string>
#include <vector>

#include "core/acceptor.h"
#include "support/captured_stderr.h"
#include "support/client.h"
#include "support/handlers.h"
#include "support/loop_thread.h"

namespace {

// This thread's next allocation of a connection's size fails.
thread_local bool fails = false;

auto Allocate(std::size_t size) noexcept -> void* {
  if (fails && size == sizeof(TURTLE_SERVER::Connection)) {
    fails = false;
    return nullptr;
  }
  return std::malloc(size == 0 ? 1 : size);
}

}  // namespace

auto operator new(std::size_t size, const std::nothrow_t&) noexcept -> void* {
  return Allocate(size);
}

auto operator new(std::size_t size) -> void* {
  if (void* memory = Allocate(size)) {
    return memory;
  }
  throw std::bad_alloc();
}

// gcc takes the inlined free(3) for a mismatch with the operator above, which it does not inline.
#pragma GCC diagnostic ignored "-Wmismatched-new-delete"
void operator delete(void* memory) noexcept { std::free(memory); }
void operator delete(void* memory, std::size_t) noexcept { std::free(memory); }

namespace TURTLE_SERVER {
namespace {

using test::Client;
using test::Echo;
using test::LoopThread;

// Three clients in one batch on `home`, which are served on `target`; the first can't be added.
void AddThreeOfWhomOneFails(LoopThread& home, LoopThread& target) {
  const ConnectionCallbacks callbacks{{}, Echo};
  test::CapturedStderr errors;
  Socket listener;
  listener.Bind(NetAddress("127.0.0.1", 0));
  listener.Listen();
  const int port = listener.LocalAddress().Port();
  Acceptor acceptor(home.Get(), std::move(listener), {&target.Get()}, callbacks);
  home.Ask([&] { acceptor.Start(); });
  std::vector<Client> clients;
  target.Ask([] { fails = true; });
  home.WhileItStandsStill([&] {
    for (int i = 0; i < 3; ++i) {
      clients.emplace_back(port);
    }
  });
  EXPECT_EQ(clients[0].ReceiveAll(), "");
  EXPECT_TRUE(clients[0].Ended() || clients[0].WasReset()) << "it would wait for ever";
  clients.emplace_back(port);  // and clients that come later
  for (std::size_t i = 1; i < clients.size(); ++i) {
    ASSERT_TRUE(clients[i].Send("hello"));
    EXPECT_EQ(clients[i].Receive(5), "hello") << "client " << i;
  }
  EXPECT_FALSE(target.Ask([] { return fails; })) << "nothing has failed";
  home.Ask([&] { acceptor.Stop(); });
  EXPECT_NE(errors.Text().find("adding a client threw"), std::string::npos);
  clients.clear();
  EXPECT_TRUE(target.Await([&] { return target.Get().ConnectionCount() == 0; }));
}

TEST(AcceptorMemory, OneClientThatCanNotBeAddedCostsTheOthersNothing) {
  LoopThread loop;
  AddThreeOfWhomOneFails(loop, loop);
}

TEST(AcceptorMemory, NorDoesOneOnAnotherLoop) {
  LoopThread home;
  LoopThread target;
  AddThreeOfWhomOneFails(home, target);
}

}  // namespace
}  // namespace TURTLE_SERVER
