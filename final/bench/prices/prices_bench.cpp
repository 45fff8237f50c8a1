// The prices of single steps of a server: the calls that `final` avoids, and pairs of ways to do
// the same. The numbers are for one thread that is server and client, over loopback.
#include <benchmark/benchmark.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <string>

#include "http/http_date.h"
#include "loopback_pair.h"

namespace TURTLE_SERVER::bench {
namespace {

constexpr std::size_t kHeadBytes = 240;
constexpr std::size_t kBodyBytes = 612;
constexpr std::size_t kReplies = 16;

auto Now() -> HttpTime {
  return std::chrono::duration_cast<HttpTime>(std::chrono::system_clock::now().time_since_epoch());
}

// --- calls ---------------------------------------------------------------------------------------

// The read that only finds that there is nothing left.
void EmptyReceive(benchmark::State& state) {
  const LoopbackPair pair;
  std::array<char, 4096> bytes{};
  for (auto _ : state) {
    benchmark::DoNotOptimize(::recv(pair.Server(), bytes.data(), bytes.size(), 0));
  }
}
BENCHMARK(EmptyReceive);

void EmptyAccept(benchmark::State& state) {
  const LoopbackPair pair;
  ::fcntl(pair.Listener(), F_SETFL, O_NONBLOCK);
  for (auto _ : state) {
    benchmark::DoNotOptimize(::accept4(pair.Listener(), nullptr, nullptr, SOCK_NONBLOCK));
  }
}
BENCHMARK(EmptyAccept);

// Into the poller and out of it; a closed socket leaves without a call, but not without work.
void RegisterAndRemove(benchmark::State& state) {
  const LoopbackPair pair;
  const UniqueFd poller(::epoll_create1(EPOLL_CLOEXEC));
  epoll_event event{};
  event.events = EPOLLIN | EPOLLOUT | EPOLLRDHUP | EPOLLET;
  for (auto _ : state) {
    ::epoll_ctl(poller.Get(), EPOLL_CTL_ADD, pair.Server(), &event);
    ::epoll_ctl(poller.Get(), EPOLL_CTL_DEL, pair.Server(), nullptr);
  }
}
BENCHMARK(RegisterAndRemove);

void AskPoller(benchmark::State& state) {
  const LoopbackPair pair;
  const UniqueFd poller(::epoll_create1(EPOLL_CLOEXEC));
  epoll_event event{};
  event.events = EPOLLOUT;  // there is room, so each call has one event to report
  ::epoll_ctl(poller.Get(), EPOLL_CTL_ADD, pair.Server(), &event);
  for (auto _ : state) {
    benchmark::DoNotOptimize(::epoll_wait(poller.Get(), &event, 1, 0));
  }
}
BENCHMARK(AskPoller);

void SetNoDelay(benchmark::State& state) {
  const LoopbackPair pair;
  const int on = 1;
  for (auto _ : state) {
    ::setsockopt(pair.Server(), IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
  }
}
BENCHMARK(SetNoDelay);

void SetNonBlocking(benchmark::State& state) {
  const LoopbackPair pair;
  for (auto _ : state) {
    ::fcntl(pair.Server(), F_SETFL, ::fcntl(pair.Server(), F_GETFL) | O_NONBLOCK);
  }
}
BENCHMARK(SetNonBlocking);

// The work that the cache saves for each request.
void OpenStatReadClose(benchmark::State& state) {
  std::array<char, 32> path{"/tmp/turtle-prices-XXXXXX"};
  const UniqueFd file(::mkstemp(path.data()));
  std::array<char, kBodyBytes> bytes{};
  if (::write(file.Get(), bytes.data(), bytes.size()) != static_cast<ssize_t>(bytes.size())) {
    state.SkipWithError("no file could be written");
  }
  for (auto _ : state) {
    const UniqueFd opened(::open(path.data(), O_RDONLY | O_CLOEXEC));
    struct stat status {};
    ::fstat(opened.Get(), &status);
    benchmark::DoNotOptimize(::pread(opened.Get(), bytes.data(), bytes.size(), 0));
  }
  ::unlink(path.data());
}
BENCHMARK(OpenStatReadClose);

// --- two ways to do the same ---------------------------------------------------------------------

void ReadUntilShort(benchmark::State& state) {
  const LoopbackPair pair;
  std::array<char, 4096> bytes{};
  for (auto _ : state) {
    ::send(pair.Client(), bytes.data(), 64, 0);
    benchmark::DoNotOptimize(::recv(pair.Server(), bytes.data(), bytes.size(), 0));
  }
}
BENCHMARK(ReadUntilShort);

void ReadUntilEmpty(benchmark::State& state) {
  const LoopbackPair pair;
  std::array<char, 4096> bytes{};
  for (auto _ : state) {
    ::send(pair.Client(), bytes.data(), 64, 0);
    while (::recv(pair.Server(), bytes.data(), bytes.size(), 0) > 0) {
    }
  }
}
BENCHMARK(ReadUntilEmpty);

void OneWriteForSixteen(benchmark::State& state) {
  const LoopbackPair pair;
  const std::string replies((kHeadBytes + kBodyBytes) * kReplies, 'x');
  for (auto _ : state) {
    ::send(pair.Server(), replies.data(), replies.size(), MSG_NOSIGNAL);
    pair.Drain(replies.size());
  }
}
BENCHMARK(OneWriteForSixteen);

void SixteenWrites(benchmark::State& state) {
  const LoopbackPair pair;
  const std::string reply(kHeadBytes + kBodyBytes, 'x');
  for (auto _ : state) {
    for (std::size_t i = 0; i < kReplies; ++i) {
      ::send(pair.Server(), reply.data(), reply.size(), MSG_NOSIGNAL);
    }
    pair.Drain(reply.size() * kReplies);
  }
}
BENCHMARK(SixteenWrites);

void CopyIntoOnePiece(benchmark::State& state) {
  const LoopbackPair pair;
  const std::string head(kHeadBytes, 'h');
  const std::string body(kBodyBytes, 'b');
  std::array<char, kHeadBytes + kBodyBytes> piece{};
  for (auto _ : state) {
    std::memcpy(piece.data(), head.data(), head.size());
    std::memcpy(piece.data() + head.size(), body.data(), body.size());
    benchmark::ClobberMemory();
    ::send(pair.Server(), piece.data(), piece.size(), MSG_NOSIGNAL);
    pair.Drain(piece.size());
  }
}
BENCHMARK(CopyIntoOnePiece);

void SendTwoPieces(benchmark::State& state) {
  const LoopbackPair pair;
  std::string head(kHeadBytes, 'h');
  std::string body(kBodyBytes, 'b');
  for (auto _ : state) {
    std::array<iovec, 2> pieces{{{head.data(), head.size()}, {body.data(), body.size()}}};
    msghdr message{};
    message.msg_iov = pieces.data();
    message.msg_iovlen = pieces.size();
    ::sendmsg(pair.Server(), &message, MSG_NOSIGNAL);
    pair.Drain(head.size() + body.size());
  }
}
BENCHMARK(SendTwoPieces);

void DateEachTime(benchmark::State& state) {
  std::string text;
  for (auto _ : state) {
    text.clear();
    AppendHttpDate(Now(), text);
    benchmark::DoNotOptimize(text.data());
  }
}
BENCHMARK(DateEachTime);

void DateOnceASecond(benchmark::State& state) {
  CachedDate date;
  std::string text;
  for (auto _ : state) {
    text.assign(date.At(Now()));
    benchmark::DoNotOptimize(text.data());
  }
}
BENCHMARK(DateOnceASecond);

}  // namespace
}  // namespace TURTLE_SERVER::bench
