// Counts calls of operator new in this program, which is why it is its own program.
#include <gtest/gtest.h>

#include <atomic>
#include <cstdlib>
#include <new>
#include <string>
#include <string_view>

#include "bench/response_reader.h"

namespace {

std::atomic<std::size_t> allocations{0};

}  // namespace

auto operator new(std::size_t size) -> void* {
  ++allocations;
  if (void* memory = std::malloc(size == 0 ? 1 : size)) {
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

TEST(ResponseReaderAllocationTest, NoneOnceItIsWarm) {
  const std::string reply =
      "HTTP/1.1 200 OK\r\n"
      "Server: a name that is longer than a short string\r\n"
      "Content-Length: 5\r\n\r\nhello";
  const std::string chunked =
      "HTTP/1.1 200 OK\r\n"
      "Server: a name that is longer than a short string\r\n"
      "Transfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n0\r\n\r\n";
  HeadMemo memo;
  ResponseReader reader(memo);
  const auto read_all = [&] {
    bool done = true;
    for (const std::string_view text : {std::string_view(reply), std::string_view(chunked)}) {
      for (const std::size_t cut : {text.size(), text.size() - 9, std::size_t{20}}) {
        done = reader.Read(text.substr(0, cut)).state != ReplyState::kBad && done;
        if (cut != text.size()) {
          done = reader.Read(text.substr(cut)).state == ReplyState::kDone && done;
        }
        reader.Next();
      }
    }
    return done;
  };
  ASSERT_TRUE(read_all());
  const std::size_t before = allocations;
  const bool done = read_all();
  EXPECT_EQ(allocations, before);
  EXPECT_TRUE(done);
}

}  // namespace
}  // namespace TURTLE_SERVER
